//! A conversation that a person started with an agent, on the page of each of its requests.

pub mod new_message;

use kernel::directory::Directory;
use kernel::question::{Answer, Reply};
use kernel::{Ask, Time};

use crate::answer::outcome::{self, OutcomeView};
use crate::components::facts::TextBlock;
use crate::components::relative_time::RelativeTime;
use crate::components::wording;
use crate::site::paths;

/// The messages of both sides, in order.
#[derive(Debug, Clone)]
pub struct ConversationThread {
    pub agent: String,
    /// Whether the request of this page started it.
    pub begun: bool,
    pub lines: Vec<ConversationMessage>,
    /// Whose turn it is, as a sentence.
    pub next: String,
    /// The path to write another message to the agent.
    pub write: String,
}

/// One message of the conversation.
#[derive(Debug, Clone)]
pub struct ConversationMessage {
    /// Its number, from 1.
    pub n: usize,
    pub who: String,
    /// Whether the agent wrote it; the page marks agent text.
    pub agent: bool,
    pub at: RelativeTime,
    pub text: TextBlock,
    /// How it closed without an answer.
    pub ended: Option<String>,
    /// Its page; `None` for the current one.
    pub href: Option<String>,
    /// Whether it is waiting for an answer.
    pub waits: bool,
}

impl ConversationThread {
    /// The conversation of an ask, from the asks of its thread, each with whether it is the current
    /// page's. `None` if it is not part of a conversation that a person started.
    pub fn of(thread: &[(&Ask, bool)], directory: &Directory, now: Time) -> Option<Self> {
        let (here, _) = thread.iter().find(|(_, here)| *here)?;
        here.conversation.as_ref()?;
        let mut lines = Vec::new();
        for (ask, here) in thread {
            let href = (!here).then(|| paths::request(ask.id));
            if !ask.starts_conversation() {
                lines.push(agent_message(lines.len() + 1, ask, href, directory, now));
            }
            lines.extend(person_message(lines.len() + 1, ask, directory, now));
        }
        let agent = here.agent.to_string();
        let (last, _) = thread.last()?;
        let next = if last.is_open() {
            t!("conversation-waits", agent = agent)
        } else {
            t!("conversation-not-answered", agent = agent)
        };
        let (begun, write) = (here.starts_conversation(), paths::write_to(&here.agent));
        Some(Self { agent, begun, lines, next, write })
    }
}

fn agent_message(
    n: usize,
    ask: &Ask,
    href: Option<String>,
    directory: &Directory,
    now: Time,
) -> ConversationMessage {
    let text = ask.question.value().map(|question| match question.context() {
        Some(context) => format!("{}\n\n{context}", question.prompt()),
        None => question.prompt().to_owned(),
    });
    let outcome = OutcomeView::of(ask, directory, now).filter(|_| ask.deciding_answer().is_none());
    ConversationMessage {
        n,
        who: ask.agent.to_string(),
        agent: true,
        at: RelativeTime::new(ask.created_at, now),
        text: block(n, text.as_deref()),
        ended: outcome.map(|outcome| outcome.headline),
        href,
        waits: ask.is_open(),
    }
}

fn person_message(
    n: usize,
    ask: &Ask,
    directory: &Directory,
    now: Time,
) -> Option<ConversationMessage> {
    let resolution = ask.deciding_answer()?;
    let said = |reply: &Reply| {
        let said = match &reply.answer {
            Answer::Replied { text } => text.clone(),
            _ => outcome::brief(reply, ask.question.value()),
        };
        match &reply.comment {
            Some(comment) => format!("{said}\n\n{comment}"),
            None => said,
        }
    };
    let text = resolution.reply.value().map(said);
    Some(ConversationMessage {
        n,
        who: wording::actor_name(directory, &resolution.by),
        agent: false,
        at: RelativeTime::new(resolution.at, now),
        text: block(n, text.as_deref()),
        ended: None,
        href: None,
        waits: false,
    })
}

fn block(n: usize, text: Option<&str>) -> TextBlock {
    let id = format!("line-{n}");
    match text {
        Some(text) => TextBlock::new(id, text),
        None => TextBlock::new(id, &t!("text-part-erased")),
    }
}
