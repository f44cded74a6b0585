//! A2H v1alpha1, and the API of HumanLayer 0.7.9's SDKs: `/a2h/v1/…`, `/humanlayer/v1/…`.
//!
//! | file | route |
//! |---|---|
//! | `create` | `POST /function_calls`, `POST /human_contacts`, `POST /contact_requests` |
//! | `view` | every call in its current state |
//! | `respond` | `POST /agent/…/respond`, `POST /agent/…/escalate_email` |
//! | `channel` | `spec.channel` with its email and Slack settings, `GET /channels`, `POST /channels/validate` |
//! | `options` | `reject_options`, `response_options` |
//! | `message`, `schema`, `schema_limits` | `POST /messages`, `GET /messages/{uid}`: `proto.a2h.dev/v1alpha1` |
//! | `conversation` | `GET /conversations`, `GET /conversations/{uid}`, `GET /contact_channel/{id}`, and webhooks |
//! | `humans` | `/humans`, `/humans/search`, `/humans/{id}` |
//! | `wire`, [`errors`] | types and codes |
//!
//! A function call is an approval: `fn` is the action and `kwargs` its details. A human contact is
//! a free message, or a choice if it has `response_options`. Requirements are numbered A2H-…;
//! [where the sources
//! disagree](https://github.com/countersign/countersign/blob/main/docs/adr/0031-a2h-where-sources-disagree.md)
//! records the decisions.

pub mod channel;
pub mod conversation;
pub mod create;
pub mod errors;
pub mod humans;
pub mod message;
pub mod options;
mod parse;
pub mod respond;
mod schema;
mod schema_limits;
pub mod view;
pub mod wire;

pub use channel::{BotToken, Medium, channels, validate_channel};
pub use channel::{EmailOptions, RecipientField, copy_count, email_options, is_copied};
pub use channel::{is_sent_by_own_app, wants_plain_text};
pub use conversation::{contact_channel, new_conversation};
pub use create::{CallRecipient, NewCall, parse_function_call, parse_human_contact};
pub use errors::{A2hWireError, CODES};
pub use humans::{HumanBody, human, humans, parse_human};
pub use message::{NewA2hMessage, message, parse_message};
pub use respond::{EmailEscalation, parse_escalation};
pub use respond::{read_contact_response, read_function_response};
pub use view::{CallContext, call};

use kernel::ask::Dialect;
use kernel::question::QuestionKind as Question;
use kernel::{Ask, AskId};
use serde_json::{Map, Value};

/// The metadata member that stores data without a kernel equivalent.
const METADATA_KEY: &str = "a2h";

/// The prefix of an ask's own id, which replaces a `call_id` if the ask came from another dialect.
const PREFIX: &str = "ask_";

/// The two kinds of call, and the messages of `v1alpha1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// The agent asks for approval of an action.
    FunctionCall,
    /// The agent sends a message or asks a question.
    HumanContact,
    /// Like a human contact, with a schema for the answer.
    Message,
}

impl CallKind {
    /// The kind as stored, and as a path segment.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FunctionCall => "function_calls",
            Self::HumanContact => "human_contacts",
            Self::Message => "messages",
        }
    }

    /// The kind of an ask: the one it was created with, or the one that fits its question.
    pub fn of(ask: &Ask) -> Self {
        let asked = stored_members(ask).and_then(|kept| kept.get("kind")?.as_str());
        let all = [Self::FunctionCall, Self::HumanContact, Self::Message];
        let known = asked.and_then(|name| all.into_iter().find(|kind| kind.as_str() == name));
        known.unwrap_or(match ask.kind {
            Question::Approve | Question::Confirm => Self::FunctionCall,
            Question::Choose | Question::Provide | Question::Escalate | Question::Converse => {
                Self::HumanContact
            }
        })
    }

    /// The kinds of question that map to this kind.
    pub fn questions(self) -> &'static [Question] {
        match self {
            Self::FunctionCall => &[Question::Approve, Question::Confirm],
            Self::HumanContact | Self::Message => {
                &[Question::Choose, Question::Provide, Question::Escalate, Question::Converse]
            }
        }
    }
}

/// The stored data of this dialect.
fn stored_members(ask: &Ask) -> Option<&Map<String, Value>> {
    if ask.dialect != Dialect::A2h {
        return None;
    }
    ask.metadata.value()?.get(METADATA_KEY)?.as_object()
}

/// The id of a call: the caller's own, or the ask's id if the ask came from another dialect.
pub fn call_id(ask: &Ask) -> String {
    let given = stored_members(ask).and_then(|kept| kept.get("call_id")?.as_str());
    given.map_or_else(|| ask.id.with_prefix(PREFIX), ToOwned::to_owned)
}

/// The ask that a Countersign id names.
pub fn ask_id(call_id: &str) -> Option<AskId> {
    AskId::parse_with_prefix(PREFIX, call_id)
}
