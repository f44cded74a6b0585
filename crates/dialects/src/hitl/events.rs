//! Events of a case, for `GET …/events` and the callback. Sections 8.5 and 9.

use kernel::ask::Ending;
use kernel::{Ask, AskEvent, AskState, DomainEvent, Event};
use serde_json::{Map, Value, json};

use super::case_id;
use super::poll::{
    changes_requested_reason, default_action, responded_by, result, submission_context,
};
use super::wire::{Answered, Signature};
use crate::hacp_decision;

/// One event as sent to clients.
#[derive(Debug, Clone, PartialEq)]
pub struct HitlEvent {
    /// The event type, such as `review.completed`.
    pub event: &'static str,
    pub data: Value,
}

/// The client event for one event of an ask; `None` for internal events (HITL-171). `engaged` says
/// whether a person worked on the case before; then no reminder is reported (HITL-160). `signature`
/// proves the result.
pub fn client_event(
    ask: &Ask,
    event: &Event,
    engaged: bool,
    signature: Option<Signature>,
) -> Option<HitlEvent> {
    let case_id = case_id(ask.id);
    let opened_at = ask.look.as_ref().map(|look| look.at);
    let DomainEvent::Ask(what) = &event.what else { return None };
    let (event, data) = match what {
        AskEvent::Opened => ("review.opened", json!({ "case_id": case_id, "opened_at": event.at })),
        AskEvent::Progressed { progress } => {
            let mut data = json!({ "case_id": case_id, "opened_at": opened_at });
            if let (Some(progress), Some(data)) = (progress, data.as_object_mut()) {
                data.insert("progress".to_owned(), json!(progress));
            }
            ("review.in_progress", data)
        }
        AskEvent::Reminded if engaged => return None,
        AskEvent::Reminded => {
            let prompt = ask.question.value().map(kernel::question::Question::prompt);
            let message = format!("Still waiting: {}", prompt.unwrap_or("this case"));
            let data = json!({ "case_id": case_id, "reminder_at": event.at, "message": message });
            ("review.reminder", data)
        }
        AskEvent::Answered { decisive: true, .. }
        | AskEvent::Defaulted { .. }
        | AskEvent::Expired { .. }
        | AskEvent::Failed { .. }
        | AskEvent::Cancelled { .. } => return final_event(ask, signature),
        AskEvent::Answered { decisive: false, .. }
        | AskEvent::AnswerHeld { .. }
        | AskEvent::AnswerWithdrawn
        | AskEvent::Asked(_)
        | AskEvent::Followed { .. }
        | AskEvent::Claimed
        | AskEvent::Assigned { .. }
        | AskEvent::Commented { .. }
        | AskEvent::ActionPicked { .. }
        | AskEvent::Escalated { .. }
        | AskEvent::Joined { .. }
        | AskEvent::Extended { .. }
        | AskEvent::Granted { .. }
        | AskEvent::CalledBack { .. }
        | AskEvent::CallbackWanted
        | AskEvent::Revoked { .. }
        | AskEvent::Erased
        | AskEvent::WordsErased(_) => return None,
    };
    Some(HitlEvent { event, data })
}

/// The event with which a case ended.
fn final_event(ask: &Ask, signature: Option<Signature>) -> Option<HitlEvent> {
    let AskState::Over { ending, .. } = &ask.state else { return None };
    let case_id = case_id(ask.id);
    let (event, data) = match &**ending {
        Ending::Completed(resolution) if ask.changes_request().is_some() => {
            let (at, reason) = (resolution.at, changes_requested_reason(ask));
            let data = json!({ "case_id": case_id, "cancelled_at": at, "reason": reason });
            ("review.cancelled", data)
        }
        Ending::Completed(resolution) => {
            let result = result(ask).map(|result| Answered { signature, ..result });
            let mut data =
                json!({ "case_id": case_id, "completed_at": resolution.at, "result": result });
            let context = submission_context(ask, resolution);
            if let (Some(context), Some(data)) = (context, data.as_object_mut()) {
                data.insert("submission_context".to_owned(), json!(context));
            }
            ("review.completed", data)
        }
        Ending::Expired { at, .. } | Ending::Failed { at } => {
            let default_action = default_action(ask);
            let data =
                json!({ "case_id": case_id, "expired_at": at, "default_action": default_action });
            ("review.expired", data)
        }
        Ending::Cancelled { at, .. } => {
            let reason = hacp_decision::cancellation_reason(ending);
            let data = json!({ "case_id": case_id, "cancelled_at": at, "reason": reason });
            ("review.cancelled", data)
        }
    };
    Some(HitlEvent { event, data })
}

/// The body of the callback, with the members that both sources require (HITL-183). `None` while
/// the case is open.
pub fn callback(ask: &Ask, name: Option<String>, signature: Option<Signature>) -> Option<Value> {
    let HitlEvent { event, data } = final_event(ask, signature)?;
    let Value::Object(data) = data else { return None };
    let mut body = Map::new();
    body.insert("event".to_owned(), json!(event));
    body.extend(data);
    let at = match ask.ending()? {
        Ending::Completed(resolution) => resolution.at,
        Ending::Expired { at, .. } | Ending::Failed { at } | Ending::Cancelled { at, .. } => *at,
    };
    body.insert("timestamp".to_owned(), json!(at));
    if let Some(by) = ask.deciding_answer().and_then(|resolution| responded_by(resolution, name)) {
        body.insert("responded_by".to_owned(), json!(by));
    }
    Some(Value::Object(body))
}
