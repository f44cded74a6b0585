//! The `receipt` of `GET /hxp/v1/requests/{request_id}`, of resolve and of the WebSocket.
//! Section 4.

use kernel::ask::Ask;
use kernel::question::{Answer, PickMode, Question, QuestionBody, Reply};
use kernel::receipt::{Receipt as Claims, ReceiptOutcome};
use kernel::{ActorRef, AskId, HumanId};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::evidence::Seal;
use super::projection::{ABORT, RETRY, SKIP, offered, only_field};
use super::view::{action, request_id, status};
use super::wire::{Action, Receipt, Status};
use crate::hacp_decision;

/// The reason of a receipt for a default on timeout.
pub const DEFAULT_APPLIED: &str = "Timeout — default option applied";
/// The reason of a failure receipt.
pub const NOBODY_ANSWERED: &str = "Timeout — no answer";
/// The reason of a receipt whose answer was erased.
pub const ERASED: &str = "The answer was erased";
/// The prefix of the reason of a request for changes.
pub const CHANGES_REQUESTED: &str = "Changes requested: ";

/// Whether to show provided values, which are often secret: the asking agent sees them, lists hide
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptDetail {
    Whole,
    /// Replaces the results of PROVIDE.
    Redacted,
}

/// The receipt of a closed request. `None` while it is open, and also if it expired: clients take a
/// receipt beside `expired` for an answer.
pub fn receipt(ask: &Ask, seal: &Seal<'_>, detail: ReceiptDetail) -> Option<Receipt> {
    let claims = Claims::of(ask)?;
    let mut edits = None;
    let (status, by, result, reason) = match claims.outcome {
        ReceiptOutcome::Completed { reply, by, .. } => {
            edits = reply.as_ref().and_then(|reply| match &reply.answer {
                Answer::Approved { edits } => edits.clone(),
                _ => None,
            });
            let (result, said) = match &reply {
                Some(reply) => result(ask.id, ask.question.value(), reply),
                None => (Value::Null, Some(ERASED.to_owned())),
            };
            let reason = match by {
                ActorRef::System => Some(DEFAULT_APPLIED.to_owned()),
                ActorRef::Human(_)
                | ActorRef::Agent(_)
                | ActorRef::LinkHolder
                | ActorRef::Relay
                | ActorRef::Guest => said,
            };
            (status(ask), by, result, reason)
        }
        ReceiptOutcome::Expired { .. } => return None,
        ReceiptOutcome::Failed => {
            (Status::Failed, ActorRef::System, Value::Null, Some(NOBODY_ANSWERED.to_owned()))
        }
        ReceiptOutcome::Cancelled { by, .. } => (
            Status::Cancelled,
            by,
            Value::Null,
            ask.ending().and_then(hacp_decision::cancellation_reason),
        ),
    };
    // The duration of a timeout starts at creation, even if a person opened the request.
    let begun = match by {
        ActorRef::System => claims.asked_at,
        ActorRef::Human(_)
        | ActorRef::Agent(_)
        | ActorRef::LinkHolder
        | ActorRef::Relay
        | ActorRef::Guest => claims.taken_up_at,
    };
    let request_id = request_id(ask.id);
    let completed_at = claims.ended_at;
    let evidence_hash = seal.evidence(&request_id, &result, completed_at);
    let hidden =
        detail == ReceiptDetail::Redacted && action(ask) == Action::Provide && !result.is_null();
    Some(Receipt {
        request_id,
        status,
        result: if hidden { kernel::form::REDACTED.into() } else { result },
        reason,
        completed_by: name(ask, &by, seal),
        completed_at,
        duration_seconds: completed_at.seconds_since(begun),
        evidence_hash,
        edits,
    })
}

/// The name of an actor as agents see it: a pseudonym for people of a pool.
pub(super) fn name(ask: &Ask, by: &ActorRef, seal: &Seal<'_>) -> String {
    match by {
        ActorRef::Human(human) if ask.is_pooled() => pseudonym(seal.secret, ask.id, human),
        ActorRef::Human(_)
        | ActorRef::Agent(_)
        | ActorRef::LinkHolder
        | ActorRef::Relay
        | ActorRef::Guest
        | ActorRef::System => by.to_string(),
    }
}

/// The prefix of every pseudonym.
const POOL_MEMBER: &str = "pool_member_";

/// A pseudonym for a pool member. A person has the same pseudonym within one ask and another in the
/// next. Without the secret, it cannot be linked to the person.
pub fn pseudonym(secret: &[u8], ask: AskId, human: &HumanId) -> String {
    let mut hash = Sha256::new();
    for part in
        [b"pool-member".as_slice(), secret, &ask.ulid().to_bytes(), human.as_str().as_bytes()]
    {
        // The lengths separate the parts.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut digits = hex::encode(hash.finalize());
    digits.truncate(8);
    format!("{POOL_MEMBER}{digits}")
}

/// Whether a name is the pseudonym of a pool member.
pub fn is_pseudonym(name: &HumanId) -> bool {
    name.as_str().starts_with(POOL_MEMBER)
}

/// The answer in this protocol: the result and the comment.
fn result(ask: AskId, question: Option<&Question>, reply: &Reply) -> (Value, Option<String>) {
    let body = question.map(Question::body);
    let comment = reply.comment.clone();
    let noted = |note: Option<String>| match (note, comment.clone()) {
        (Some(note), Some(comment)) => Some(format!("{comment} ({note})")),
        (note, comment) => note.or(comment),
    };
    let changed = |what: &str, map: &Map<String, Value>| format!("{what}: {}", json!(map));
    match &reply.answer {
        Answer::Approved { edits } => {
            let note = edits.as_ref().map(|edits| changed("with these changed details", edits));
            (json!("approved"), noted(note))
        }
        Answer::Rejected { option } => {
            let note = option.as_ref().map(|option| format!("for the reason {option}"));
            (json!("rejected"), noted(note))
        }
        // Only an approval can be rejected. For other questions the word could be taken for an
        // option or for the provided value, so there is no result and the request failed.
        Answer::ChangesRequested { edits } => {
            let result = match body {
                Some(QuestionBody::Approve { .. }) | None => json!("rejected"),
                Some(
                    QuestionBody::Choose { .. }
                    | QuestionBody::Provide { .. }
                    | QuestionBody::Confirm { .. }
                    | QuestionBody::Escalate { .. }
                    | QuestionBody::Converse,
                ) => Value::Null,
            };
            let note = edits.as_ref().map(|edits| changed("such as these", edits));
            (result, Some(format!("{CHANGES_REQUESTED}{}", noted(note).unwrap_or_default())))
        }
        Answer::Chosen { options: ids } => (chosen(body, ids), comment),
        Answer::Provided { values } => {
            let only = match body {
                Some(QuestionBody::Provide { form }) => only_field(form),
                Some(_) | None => None,
            };
            let result = match only {
                Some(field) => {
                    values.get(field.key()).map_or(Value::Null, |value| shown_value(ask, value))
                }
                None => Value::Object(values.as_map().clone()),
            };
            (result, comment)
        }
        Answer::Confirmed { items } => match body {
            Some(QuestionBody::Confirm { items: all, yes, .. }) => {
                let note = (items.len() < all.len()).then(|| format!("only {}", items.join(", ")));
                (json!(yes), noted(note))
            }
            Some(_) | None => (json!("yes"), comment),
        },
        Answer::Declined => match body {
            Some(QuestionBody::Confirm { no, .. }) => (json!(no), comment),
            Some(_) | None => (json!("no"), comment),
        },
        Answer::Retry { params } => {
            let note = (!params.is_empty()).then(|| changed("with these parameters", params));
            (json!(RETRY), noted(note))
        }
        Answer::Skip => (json!(SKIP), comment),
        Answer::Abort => (json!(ABORT), comment),
        Answer::Replied { text } => (json!(text), comment),
    }
}

/// A provided value. For an uploaded file it is the path where the agent's key can fetch it,
/// relative like `poll_url`.
fn shown_value(ask: AskId, value: &Value) -> Value {
    match value.get("sha256").and_then(Value::as_str) {
        Some(digest) => json!(format!("/api/v1/asks/{ask}/files/{digest}")),
        None => value.clone(),
    }
}

/// The chosen options as offered: one string, or a list if several may be chosen.
fn chosen(body: Option<&QuestionBody>, ids: &[String]) -> Value {
    let (texts, many) = match body {
        Some(QuestionBody::Choose { options, pick, .. }) => {
            let chosen = offered(options.choices()).filter(|(_, choice)| ids.contains(&choice.id));
            (chosen.map(|(text, _)| text).collect(), *pick == PickMode::Many)
        }
        Some(_) | None => (ids.iter().map(String::as_str).collect::<Vec<_>>(), ids.len() != 1),
    };
    match texts.as_slice() {
        [one] if !many => json!(one),
        several => json!(several),
    }
}
