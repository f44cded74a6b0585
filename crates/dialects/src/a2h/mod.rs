//! A2H v1alpha1, and what the SDKs of HumanLayer 0.7.9 speak: `/a2h/v1/…`, `/humanlayer/v1/…`.
//!
//! | file | route |
//! |---|---|
//! | `create` | `POST /function_calls`, `POST /human_contacts`, `POST /contact_requests` |
//! | `view` | every call as it stands |
//! | `respond` | `POST /agent/…/respond` |
//! | `escalate` | `POST /agent/…/escalate_email` |
//! | `channel` | `spec.channel`, `GET /channels`, `POST /channels/validate` |
//! | `options` | `reject_options`, `response_options` |
//! | `message`, `schema`, `budget` | `POST /messages`, `GET /messages/{uid}`: `proto.a2h.dev/v1alpha1` |
//! | `conversation` | `GET /conversations`, `GET /conversations/{uid}`, `GET /contact_channel/{id}`, and what webhooks tell |
//! | `email`, `slack` | what a call wants of the message that asks it |
//! | `humans` | `/humans`, `/humans/search`, `/humans/{id}` |
//! | `wire`, [`errors`] | types and codes |
//!
//! A function call is an approval: `fn` is what is to be done and `kwargs` its details. A human contact
//! is a free message, or a choice where it has `response_options`. Requirements are numbered A2H-…;
//! [where the sources disagree](https://github.com/countersign/countersign/blob/main/docs/adr/0031-a2h-where-sources-disagree.md)
//! says what was chosen.

mod budget;
pub mod channel;
pub mod conversation;
pub mod create;
mod email;
pub mod errors;
pub mod escalate;
pub mod humans;
pub mod message;
pub mod options;
mod parse;
pub mod respond;
mod schema;
mod slack;
pub mod view;
pub mod wire;

pub use channel::{BotToken, Medium, channels, validated};
pub use conversation::{contact_channel, new_conversation};
pub use create::{Addressed, NewCall, parse_function_call, parse_human_contact};
pub use email::{EmailWish, RecipientField, copies, email_wish, is_copied};
pub use errors::{CODES, WireError};
pub use escalate::{Escalation, parse_escalation};
pub use humans::{HumanBody, human, humans, parse_human};
pub use message::{NewMessage, message, parse_message};
pub use respond::{read_contact_response, read_function_response};
pub use slack::{by_own_app, wants_plain_text};
pub use view::{Beside, call};

use kernel::ask::Dialect;
use kernel::question::Kind as Question;
use kernel::{Ask, AskId};
use serde_json::{Map, Value};

/// Where an ask's metadata keeps what the kernel has no word for.
const KEPT: &str = "a2h";

/// The prefix of an ask's own id, which stands in for a `call_id` where another dialect asked.
const PREFIX: &str = "ask_";

/// The two kinds of call, and the messages of `v1alpha1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// May the agent do this?
    FunctionCall,
    /// The agent has something to say or to ask.
    HumanContact,
    /// The same, and the answer has a shape.
    Message,
}

impl Kind {
    /// As it is stored, and as the name of its calls in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FunctionCall => "function_calls",
            Self::HumanContact => "human_contacts",
            Self::Message => "messages",
        }
    }

    /// What an ask is here: what it was asked as, or what its question comes to.
    pub fn of(ask: &Ask) -> Self {
        let asked = kept(ask).and_then(|kept| kept.get("kind")?.as_str());
        let all = [Self::FunctionCall, Self::HumanContact, Self::Message];
        let known = asked.and_then(|name| all.into_iter().find(|kind| kind.as_str() == name));
        known.unwrap_or(match ask.kind {
            Question::Approve | Question::Confirm => Self::FunctionCall,
            Question::Choose | Question::Provide | Question::Escalate | Question::Converse => {
                Self::HumanContact
            }
        })
    }

    /// The kinds of question that can be of this kind here.
    pub fn questions(self) -> &'static [Question] {
        match self {
            Self::FunctionCall => &[Question::Approve, Question::Confirm],
            Self::HumanContact | Self::Message => {
                &[Question::Choose, Question::Provide, Question::Escalate, Question::Converse]
            }
        }
    }
}

/// What the metadata of an ask keeps for this dialect.
fn kept(ask: &Ask) -> Option<&Map<String, Value>> {
    if ask.dialect != Dialect::A2h {
        return None;
    }
    ask.metadata.value()?.get(KEPT)?.as_object()
}

/// The name a call has here: the caller's own, or its id where another dialect asked.
pub fn call_id(ask: &Ask) -> String {
    let given = kept(ask).and_then(|kept| kept.get("call_id")?.as_str());
    given.map_or_else(|| ask.id.shown_as(PREFIX), ToOwned::to_owned)
}

/// The ask behind an id of ours.
pub fn ask_id(call_id: &str) -> Option<AskId> {
    AskId::read_as(PREFIX, call_id)
}
