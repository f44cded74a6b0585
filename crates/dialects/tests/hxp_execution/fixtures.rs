//! What the tests share: a cast with asks in every state, and text to compare.

use dialects::hxp_execution::{Formula, Seal, parse_create};
use kernel::command::{AskCommand, NewAsk, NewOnExpiry};
use kernel::question::{Question, QuestionBody, Reply};
use kernel::testing::{Cast, new_ask};
use kernel::{Actor, Ask, AskId};
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) const SEAL: Seal<'_> = Seal { secret: b"server-secret", formula: Formula::Seed };

pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

pub(crate) fn new(value: &Value) -> NewAsk {
    parse_create(&bytes(value)).unwrap()
}

/// A create body of each action with everything filled in.
pub(crate) fn full(action: &str) -> Value {
    let payload = match action {
        "DECIDE" => json!({
            "question": "Approve $99/mo Stripe plan?",
            "options": ["Approve", "Deny"],
            "context": "Required for payment processing in Project Alpha.",
            "default_option": "Deny",
        }),
        "APPROVE" => json!({
            "item": "Deploy to production",
            "details": {"service": "api", "replicas": 3},
            "context": "All checks are green.",
            "reject_requires_reason": true,
        }),
        _ => json!({
            "prompt": "Which API key?",
            "input_type": "text",
            "context": "To send mail.",
            "validation": {"pattern": "sk-[a-z0-9]+", "min": 5, "max": 40},
            "placeholder": "sk-…",
        }),
    };
    json!({
        "action": action,
        "role": "owner",
        "priority": "high",
        "timeout_seconds": 3600,
        "fallback": if action == "DECIDE" { "default" } else { "fail" },
        "agent_id": "agent_alpha_01",
        "project_id": "project_alpha",
        "metadata": {"agent_framework": "langgraph", "agent_task": "billing"},
        "payload": payload,
    })
}

pub(crate) fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

/// How an ask is brought to each state, in the order of the specification's states.
pub(crate) const STATES: [&str; 6] =
    ["pending", "assigned", "completed", "expired", "failed", "cancelled"];

/// An ask from a create body in the named state, ended 90 s after it was asked and 60 s after
/// olga opened it, timeouts aside.
pub(crate) fn staged(state: &str, body: &Value, reply: &Reply) -> (Cast, AskId) {
    let mut cast = Cast::new();
    let mut new = new(body);
    if state == "expired" {
        new.on_expiry = NewOnExpiry::Report(kernel::ask::DefaultAction::Skip);
    } else if state == "failed" {
        new.on_expiry = NewOnExpiry::Fail;
    }
    let id = cast.ask(new);
    cast.advance(30);
    if state != "pending" {
        cast.run(cast.human("olga"), AskCommand::Open(id));
    }
    cast.advance(60);
    match state {
        "completed" => {
            cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply.clone())));
        }
        "expired" | "failed" => {
            cast.advance(3600);
            cast.run(Actor::System, AskCommand::Expire(id));
        }
        "cancelled" => {
            let reason = Some("no longer needed".to_owned());
            cast.run(cast.agent("bot"), AskCommand::Cancel(id, reason));
        }
        _ => {}
    }
    (cast, id)
}

/// An ask of our own API with this question.
pub(crate) fn native(body: QuestionBody) -> NewAsk {
    let question = Question::new("What now?", Some("It is late.".into()), body).unwrap();
    NewAsk { question, ..new_ask() }
}

/// An ask of our own API, answered by olga with `reply`.
pub(crate) fn answered(body: QuestionBody, reply: Reply) -> Ask {
    let mut cast = Cast::new();
    let id = cast.ask(native(body));
    cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply)));
    cast.seen(id).clone()
}

pub(crate) fn pretty<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap()
}
