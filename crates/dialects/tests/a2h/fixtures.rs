//! What the tests share: calls of both kinds, as the SDKs send them.

use dialects::a2h::{self, A2hWireError, CallContext, CallKind, NewCall};
use kernel::command::AskCommand;
use kernel::question::{Answer, Reply};
use kernel::testing::Cast;
use kernel::{Actor, Ask, AskId};
use serde_json::{Value, json};

/// A function call as the Python SDK sends it: every key, unset ones `null` (A2H-065).
pub(crate) fn function_call() -> Value {
    json!({
        "run_id": "agent-3q", "call_id": "call-x1",
        "spec": {
            "fn": "process_payment", "kwargs": {"amount": 100.5, "to": null},
            "channel": {
                "slack": null, "sms": null, "whatsapp": null,
                "email": {
                    "address": "ap@example.com", "context_about_user": "Accounts payable",
                    "additional_recipients": [{"address": "boss@example.com", "context_about_user": null, "field": "cc"}],
                    "subject": "Invoice 7", "references_message_id": null, "in_reply_to_message_id": "m-1",
                    "experimental_subject_line": "Invoice 7", "experimental_references_message_id": null,
                    "experimental_in_reply_to_message_id": "m-1", "template": null,
                },
            },
            "reject_options": [
                {"name": "later", "title": "Not now", "description": "Ask again", "prompt_fill": "try tomorrow", "interactive": false},
                {"name": "never", "title": null, "description": null, "prompt_fill": null, "interactive": true},
            ],
            "state": {"n": [1, null, 2.5]},
        },
        "status": null,
    })
}

/// A human contact as the TypeScript SDK sends it: only what is set (A2H-069).
pub(crate) fn human_contact() -> Value {
    json!({
        "run_id": "ts agent-1", "call_id": "human_call-1",
        "spec": {"msg": "The refund tool fails with 500. Can you help?"},
    })
}

pub(crate) fn with(mut value: Value, path: &str, new: Value) -> Value {
    let (parent, key) = path.rsplit_once('/').unwrap();
    value.pointer_mut(parent).unwrap()[key] = new;
    value
}

pub(crate) fn without(mut value: Value, path: &str) -> Value {
    let (parent, key) = path.rsplit_once('/').unwrap();
    value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
    value
}

pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

pub(crate) fn parse(kind: CallKind, value: &Value) -> Result<NewCall, A2hWireError> {
    match kind {
        CallKind::FunctionCall => a2h::parse_function_call(&bytes(value)),
        CallKind::HumanContact | CallKind::Message => a2h::parse_human_contact(&bytes(value)),
    }
}

pub(crate) fn made(kind: CallKind, value: &Value) -> (Cast, AskId) {
    let mut cast = Cast::new();
    let new = parse(kind, value).unwrap_or_else(|error| panic!("{error}: {value}"));
    let id = cast.ask(new.ask);
    (cast, id)
}

pub(crate) fn shown(ask: &Ask) -> Value {
    a2h::call(ask, CallContext { name: Some("Olga".to_owned()), ..CallContext::default() }).unwrap()
}

pub(crate) fn say(cast: &mut Cast, id: AskId, answer: Answer, comment: Option<&str>) {
    let reply = Reply { answer, comment: comment.map(ToOwned::to_owned) };
    cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply)));
}

/// As an agent passes it on.
pub(crate) fn relay(cast: &mut Cast, id: AskId, body: &Value) -> Result<(), A2hWireError> {
    let ask = cast.seen(id);
    let agent = ask.agent.clone();
    let (reply, attested) = match CallKind::of(ask) {
        CallKind::FunctionCall => {
            a2h::read_function_response(&bytes(body), ask.question.value().unwrap(), &agent)?
        }
        CallKind::HumanContact | CallKind::Message => {
            a2h::read_contact_response(&bytes(body), ask, &agent)?
        }
    };
    let relay = Actor::Relay { ask: id, attested };
    let said = cast.attempt(relay, AskCommand::Answer(id, Box::new(reply)));
    said.map_err(|refusal| A2hWireError::refused(&refusal))
}
