//! The commands of an ask.

use super::answer::PasskeyAnswer;
use super::{AskToken, CallbackResult};
use crate::command::{NewAsk, Nudge, PersonMessage};
use crate::form::FormProgress;
use crate::ids::{AgentId, AskId, HumanId};
use crate::question::Reply;
use crate::time::Time;
use crate::verification::PresentedProof;

/// A command about an ask.
#[derive(Debug, Clone)]
pub enum AskCommand {
    /// An agent asks.
    Create(Box<NewAsk>),
    /// A person writes to an agent and starts a conversation.
    Write(AgentId, Box<PersonMessage>),
    /// An agent continues a conversation that a person started.
    Reply(AskId, Box<NewAsk>),
    /// A person opens an ask.
    Open(AskId),
    /// A person began to answer.
    Progress(AskId, Option<FormProgress>),
    /// A person takes an ask from a pool.
    Claim(AskId),
    /// Assign an ask to a person, with an optional note.
    Assign(AskId, HumanId, Option<String>),
    /// Comment on an ask.
    Comment(AskId, String),
    /// A person picks one of the actions the agent offers, by its index.
    Pick(AskId, usize),
    /// A person answers.
    Answer(AskId, Box<Reply>),
    /// A person answers, with proofs that a person is present.
    AnswerWithProofs(AskId, Box<Reply>, Vec<PresentedProof>),
    /// A person answers and confirms it with a passkey.
    AnswerWithPasskey(AskId, Box<Reply>, Box<PasskeyAnswer>),
    /// A person answers and can undo the answer for as long as their profile says.
    HoldAnswer(AskId, Box<Reply>),
    /// A person takes back their held answer.
    UndoAnswer(AskId),
    /// A held answer can no longer be undone and takes effect.
    CommitHeld(AskId),
    /// Withdraw an ask.
    Cancel(AskId, Option<String>),
    /// A deadline passed.
    Expire(AskId),
    /// A reminder is due.
    Remind(AskId),
    /// An escalation step is due.
    Escalate(AskId),
    /// The agent cannot wait: notify the assignees again, and more people.
    Nudge(AskId, Nudge),
    /// Move a deadline.
    Extend(AskId, Time),
    /// More tokens were created for an ask.
    Grant(AskId, Vec<AskToken>),
    /// Record the result of a callback to the agent.
    NoteCallback(AskId, CallbackResult),
    /// Call the agent back again about its closed ask.
    CallBack(AskId),
    /// Revoke the receipt of a closed ask.
    Revoke(AskId, String),
    /// Erase the text of a closed ask.
    Erase(AskId),
    /// Erase what an erased person wrote on an ask, open or closed.
    EraseWords(AskId, HumanId),
}

impl AskCommand {
    /// The command's name in logs and metrics.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "ask",
            Self::Write(..) => "write",
            Self::Reply(..) => "reply",
            Self::Open(_) => "open",
            Self::Progress(..) => "progress",
            Self::Claim(_) => "claim",
            Self::Assign(..) => "assign",
            Self::Comment(..) => "comment",
            Self::Pick(..) => "pick",
            Self::Answer(..) | Self::AnswerWithProofs(..) | Self::AnswerWithPasskey(..) => "answer",
            Self::HoldAnswer(..) => "hold_answer",
            Self::UndoAnswer(_) => "undo_answer",
            Self::CommitHeld(_) => "commit_held",
            Self::Cancel(..) => "cancel",
            Self::Expire(_) => "expire",
            Self::Remind(_) => "remind",
            Self::Escalate(_) => "escalate",
            Self::Nudge(..) => "urge",
            Self::Extend(..) => "extend",
            Self::Grant(..) => "grant",
            Self::NoteCallback(..) => "note_callback",
            Self::CallBack(_) => "call_back",
            Self::Revoke(..) => "revoke",
            Self::Erase(_) => "erase",
            Self::EraseWords(..) => "erase_words",
        }
    }

    /// Whether the command creates an ask, under the fresh id of the envelope.
    pub fn creates_ask(&self) -> bool {
        self.ask().is_none()
    }

    /// The ask the command is about; `None` if it creates one.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Open(id)
            | Self::Progress(id, _)
            | Self::Claim(id)
            | Self::Assign(id, ..)
            | Self::Comment(id, _)
            | Self::Pick(id, _)
            | Self::Answer(id, _)
            | Self::AnswerWithProofs(id, ..)
            | Self::AnswerWithPasskey(id, ..)
            | Self::HoldAnswer(id, _)
            | Self::UndoAnswer(id)
            | Self::CommitHeld(id)
            | Self::Cancel(id, _)
            | Self::Expire(id)
            | Self::Remind(id)
            | Self::Escalate(id)
            | Self::Nudge(id, _)
            | Self::Extend(id, _)
            | Self::Grant(id, _)
            | Self::NoteCallback(id, _)
            | Self::CallBack(id)
            | Self::Revoke(id, _)
            | Self::EraseWords(id, _)
            | Self::Erase(id) => Some(*id),
            Self::Create(_) | Self::Write(..) | Self::Reply(..) => None,
        }
    }
}
