//! The page to write to an agent.

use askama::Template;
use kernel::ask::write_message::LONGEST;
use kernel::directory::{Agent, Directory, Human};
use kernel::{AgentId, Refusal};

use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The maximum number of agents in the list.
const CHOICES: usize = 200;

/// The values that were entered before.
#[derive(Debug, Clone, Default)]
pub struct MessageDraft {
    pub agent: String,
    pub text: String,
    /// Why it was not sent.
    pub refused: Option<Refusal>,
}

/// Renders the page as HTML. `once` makes the message idempotent; `mail` returns the email address
/// of an agent.
pub fn page(
    frame: &PageContext,
    me: &Human,
    directory: &Directory,
    once: &str,
    draft: &MessageDraft,
    mail: impl Fn(&AgentId) -> Option<String>,
) -> String {
    let choice = |agent: &Agent| {
        let (id, project) = (agent.id.to_string(), agent.project.to_string());
        let label = t!("message-agent", agent = id, project = project);
        (id, label)
    };
    let mut agents: Vec<_> = directory.agents_open_to(me).take(CHOICES).map(choice).collect();
    // An agent that was chosen on its own page is offered even if the list is too long
    // to contain it.
    let named = draft.agent.parse().ok().and_then(|id| directory.agent(&id));
    let named =
        named.filter(|agent| agent.conversations && agent.accepts_messages_from(me)).map(choice);
    agents.extend(named.filter(|named| !agents.contains(named)));
    let only = agents.len() == 1;
    let address = |(id, _): &(String, String)| Some((id.clone(), mail(&id.parse().ok()?)?));
    let addresses = agents.iter().filter_map(address).collect();
    render(&NewMessagePage { frame, agents, addresses, only, once, longest: LONGEST, draft })
}

#[derive(Template)]
#[template(path = "conversation/write.html")]
struct NewMessagePage<'a> {
    frame: &'a PageContext,
    agents: Vec<(String, String)>,
    /// The agents' email addresses.
    addresses: Vec<(String, String)>,
    only: bool,
    once: &'a str,
    longest: usize,
    draft: &'a MessageDraft,
}

impl NewMessagePage<'_> {
    fn agent_wrong(&self) -> Option<String> {
        match self.draft.refused {
            Some(Refusal::NotFound { .. }) => Some(t!("message-choose-listed")),
            Some(Refusal::NotAllowed { .. }) => Some(t!("message-conversations-off")),
            _ => None,
        }
    }

    fn text_wrong(&self) -> Option<String> {
        match self.draft.refused {
            Some(Refusal::Invalid { .. }) => Some(t!("message-length", max = self.longest)),
            _ => None,
        }
    }

    /// A problem with neither field.
    fn wrong(&self) -> Option<String> {
        match &self.draft.refused {
            Some(Refusal::IdempotencyMismatch) => Some(t!("message-sent-before")),
            Some(_) if self.agent_wrong().is_none() && self.text_wrong().is_none() => {
                Some(t!("message-refused"))
            }
            Some(_) | None => None,
        }
    }
}
