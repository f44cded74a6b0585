//! Messages that begin a conversation with an agent: an email to the person's address for that
//! agent, or text in a chat. The command is the same as on the page. Messages that answer a request
//! do not come here.

use channels::email::{Invitation, OpenedAddress};
use channels::{SenderClaim, UnverifiedSender, slack};
use dialects::conversation_origin::{ConversationOrigin, EmailOrigin, SlackOrigin};
use gateway::CommandConditions;
use kernel::audit::Digest;
use kernel::command::PersonMessage;
use kernel::directory::{ContactMethod, Directory, Human};
use kernel::{Actor, AgentId, AskCommand, Assurance, HumanId, Refusal, SenderVerification};
use serde_json::Value;
use store::{Idempotency, StoreError};

use super::{Answerer, InboundResult, IncomingMessage};
use crate::channel_actor::via;
use views::site::paths;
use views::t;

/// How many agents a reply names to a person who may write to several.
const MAX_NAMED_AGENTS: usize = 10;

/// The first message of a conversation.
struct FirstMessage<'a> {
    human: &'a HumanId,
    agent: &'a AgentId,
    text: String,
    origin: Option<ConversationOrigin>,
    /// How the sender was verified, if it came by email.
    sender: Option<Result<SenderVerification, UnverifiedSender>>,
    /// Whether the message is deduplicated forever, and not for a day.
    lasting: bool,
}

impl IncomingMessage<'_> {
    /// Who may write to which agent, if the email was sent to an address for that.
    pub(super) fn invitation_of(&self, token: &str) -> Option<Invitation> {
        match self.inbound.channels.email.as_ref()?.open_reply_address(token)? {
            OpenedAddress::Invitation(invitation) => Some(invitation),
            OpenedAddress::Reply(_) => None,
        }
    }

    /// An email to an agent. It counts as written by the owner of the address that it was sent to,
    /// whatever sender it names. The reply goes to that owner, so that they learn of an email they
    /// did not write.
    pub(super) async fn begin_by_email(
        &self,
        invitation: Invitation,
        body: &str,
        sender: &Result<SenderClaim, UnverifiedSender>,
    ) -> Result<InboundResult, StoreError> {
        let directory = self.inbound.gateway.directory();
        let agent = directory.agents().find(|agent| invitation.is_to(&agent.id));
        let human = directory.humans().find(|human| human.active && invitation.is_of(&human.id));
        let Some((agent, human)) = agent.zip(human) else {
            return Ok(InboundResult::Refused(t!("reply-old-address")));
        };
        let said = |name: &str| {
            let said = self.message.place.get(name).and_then(Value::as_str).unwrap_or_default();
            said.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (subject, message_id) = (said("subject"), said("message_id"));
        let text = EmailOrigin::email_text(&subject, body);
        let origin = EmailOrigin {
            from: self.message.from.address().unwrap_or_default().to_owned(),
            to: self
                .inbound
                .channels
                .email
                .as_ref()
                .and_then(|email| email.reply_address_without_token())
                .unwrap_or_default(),
            subject,
            message_id: if message_id.is_empty() { message_id } else { format!("<{message_id}>") },
        };
        let (human_id, agent) = (human.id.clone(), agent.id.clone());
        let to = verified_email(human).unwrap_or_else(|| self.message.from.clone());
        let origin = Some(ConversationOrigin::Email(origin));
        let sender = Some(self.sender(&human_id, sender).await);
        let first =
            FirstMessage { human: &human_id, agent: &agent, text, origin, sender, lasting: true };
        Ok(match self.begin(first).await? {
            InboundResult::Accepted(words) | InboundResult::Refused(words) => {
                InboundResult::Written(words, to)
            }
            result @ (InboundResult::Written(..)
            | InboundResult::InvalidForm(_)
            | InboundResult::Silent) => result,
        })
    }

    /// Text in a chat that answers nothing. It begins a conversation if it names an agent; in Slack
    /// also if the person can write to one agent only. An unknown person gets no reply.
    pub(super) async fn begin_by_chat(
        &self,
        text: &str,
        mentioned: bool,
    ) -> Result<InboundResult, StoreError> {
        let Some(human) = self.known_sender().await.filter(|human| human.active) else {
            return Ok(InboundResult::Silent);
        };
        if text.is_empty() {
            return Ok(InboundResult::Silent);
        }
        if let Some(begun) = self.begin_with_named_agent(&human, text).await? {
            return Ok(begun);
        }
        let directory = self.inbound.gateway.directory();
        let open: Vec<AgentId> = directory
            .agents_open_to(&human)
            .map(|agent| agent.id.clone())
            .take(MAX_NAMED_AGENTS + 1)
            .collect();
        if let [only] = open.as_slice()
            && self.channel.name() == slack::NAME
            && is_a_sentence(text)
        {
            return self.begin(self.typed(&human.id, only, text)).await;
        }
        let names: Vec<&str> = open.iter().take(MAX_NAMED_AGENTS).map(AgentId::as_str).collect();
        let (more, none, names) =
            (open.len() > MAX_NAMED_AGENTS, names.is_empty(), names.join(", "));
        Ok(InboundResult::Refused(match (mentioned, none, more) {
            (true, true, _) => t!("reply-no-agent"),
            (true, false, false) => t!("reply-name-agent", names = names),
            (true, false, true) => t!("reply-name-agent-others", names = names),
            (false, true, _) => t!("reply-unknown-request"),
            (false, false, false) => t!("reply-unknown-or-agent", names = names),
            (false, false, true) => t!("reply-unknown-or-agent-others", names = names),
        }))
    }

    /// Begins a conversation with the agent that the text names first, if it names one.
    pub(super) async fn begin_with_named_agent(
        &self,
        human: &Human,
        text: &str,
    ) -> Result<Option<InboundResult>, StoreError> {
        let found = addressee(&self.inbound.gateway.directory(), human, text);
        let Some((agent, rest)) = found else { return Ok(None) };
        self.begin(self.typed(&human.id, &agent, rest)).await.map(Some)
    }

    fn typed<'a>(&self, human: &'a HumanId, agent: &'a AgentId, text: &str) -> FirstMessage<'a> {
        let origin = self.slack_origin();
        FirstMessage { human, agent, text: text.to_owned(), origin, sender: None, lasting: false }
    }

    /// The Slack message.
    fn slack_origin(&self) -> Option<ConversationOrigin> {
        let said = |name: &str| {
            self.message.place.get(name).and_then(Value::as_str).map(ToOwned::to_owned)
        };
        let ContactMethod::Slack(user) = &self.message.from else { return None };
        let (channel, ts, user) = (said("channel")?, said("ts")?, user.clone());
        Some(ConversationOrigin::Slack(SlackOrigin { team: said("team"), channel, user, ts }))
    }

    /// Begins the conversation, once however often the message is delivered, even if its text
    /// changes.
    async fn begin(&self, first: FirstMessage<'_>) -> Result<InboundResult, StoreError> {
        let FirstMessage { human, agent, text, origin, sender, lasting } = first;
        let from = &self.message.from;
        let idempotency = Idempotency {
            scope: format!("wrote:{}", from.kind()),
            key: Digest::of(self.message.id.as_bytes()).to_string(),
            fingerprint: Digest::of_json(&(agent, human)),
            lasting,
        };
        let answerer = sender.map(|sender| Answerer::by_email(human.clone(), sender));
        let Answerer { actor, sender } = answerer.unwrap_or_else(|| {
            let (id, via) = (human.clone(), via(from));
            Actor::Human { id, via, assurance: Assurance::Channel }.into()
        });
        let sender = sender.and_then(Result::ok);
        let terms = CommandConditions {
            idempotency: Some(idempotency),
            sender,
            ..CommandConditions::default()
        };
        let metadata = origin.map(|origin| origin.to_metadata()).unwrap_or_default();
        let command = AskCommand::Write(agent.clone(), Box::new(PersonMessage { text, metadata }));
        match self.inbound.gateway.run_with_conditions(terms, actor, command).await {
            Ok(outcome) => Ok(match outcome.ask.filter(|_| !outcome.replayed) {
                Some(ask) => {
                    let page = self.inbound.links.page(&paths::request(ask.id));
                    InboundResult::Accepted(t!("reply-begun", agent = agent.as_str(), page = page))
                }
                None => InboundResult::Silent,
            }),
            Err(StoreError::Refused(refusal)) => {
                Ok(InboundResult::Refused(refused(agent, &refusal)))
            }
            Err(error) => Err(error),
        }
    }
}

/// Why no conversation began.
fn refused(agent: &AgentId, refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotAllowed { .. } => {
            t!("reply-agent-refuses", agent = agent.as_str())
        }
        Refusal::NotFound { .. } => {
            t!("reply-agent-forbidden", agent = agent.as_str())
        }
        Refusal::Invalid { field: "text", expected } => {
            t!("reply-message-invalid", agent = agent.as_str(), expected = expected)
        }
        refusal => t!("reply-not-sent", agent = agent.as_str(), why = refusal.to_string()),
    }
}

/// The verified email address of a person, if there is one.
fn verified_email(human: &Human) -> Option<ContactMethod> {
    human
        .usable_contact_methods()
        .into_iter()
        .find(|means| matches!(means, ContactMethod::Email(_)))
}

/// The agent that a text names first, of those this person may write to, and the rest of the text:
/// `agent_dev: please refund` or `agent_dev please refund`.
fn addressee<'t>(
    directory: &Directory,
    human: &Human,
    text: &'t str,
) -> Option<(AgentId, &'t str)> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = first.trim_start_matches('@').trim_end_matches([':', ',']);
    let agent = [name, &name.to_lowercase()].into_iter().find_map(|name| {
        directory.agent(&name.parse().ok()?).filter(|agent| agent.accepts_messages_from(human))
    })?;
    (agent.conversations || first.ends_with(':')).then(|| (agent.id.clone(), rest.trim()))
}

/// One word alone is more likely a late answer than a message to an agent.
fn is_a_sentence(text: &str) -> bool {
    text.split_whitespace().nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_begins_nothing() {
        for (text, so) in [("yes", false), (" 2 ", false), ("please refund", true), ("a\nb", true)]
        {
            assert_eq!(is_a_sentence(text), so, "{text}");
        }
    }
}
