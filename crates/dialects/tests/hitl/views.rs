//! The body of a poll in every state, for every type.

use dialects::hitl::wire::Signature;
use dialects::hitl::{HitlVersion, poll};
use kernel::command::AskCommand;
use kernel::form::FormProgress;
use kernel::testing::Cast;
use kernel::{Actor, AskId};
use serde_json::{Value, json};

use crate::fixtures::{TYPES, answer, body, made, new, polled, respond, someone, with};
use crate::schemas::holds;

const STATES: [&str; 7] =
    ["pending", "reminded", "opened", "in_progress", "completed", "expired", "cancelled"];

fn case(kind: &str, version: &str) -> Value {
    let more = json!({
        "spec_version": version, "timeout": "1h", "default_action": "abort",
        "reminder_at": "2026-02-06T10:01:00Z",
    });
    with(body(kind), more)
}

/// A case brought to a state, as whoever holds the link brings it there.
fn in_state(state: &str, kind: &str, version: &str) -> (Cast, AskId) {
    let (mut cast, id) = made(&case(kind, version));
    let holder = || Actor::link_holder(id);
    if state != "pending" {
        cast.advance(60);
        cast.run(Actor::System, AskCommand::Remind(id));
    }
    if !matches!(state, "pending" | "reminded" | "expired") {
        cast.advance(60);
        cast.run(holder(), AskCommand::Open(id));
    }
    let progress =
        FormProgress { current_step: 2, total_steps: 3, completed_fields: 4, total_fields: 9 };
    match state {
        "in_progress" => cast.run(holder(), AskCommand::Progress(id, Some(progress))),
        "completed" => {
            cast.run(holder(), AskCommand::Progress(id, Some(progress)));
            cast.advance(60);
            respond(&mut cast, id, &answer(kind)).unwrap();
        }
        "expired" => {
            cast.advance(3600);
            cast.run(Actor::System, AskCommand::Expire(id));
        }
        "cancelled" => cast.run(holder(), AskCommand::Cancel(id, Some("not mine".to_owned()))),
        _ => {}
    }
    (cast, id)
}

/// HITL-090, HITL-091, HITL-092, HITL-093, HITL-094, HITL-095, HITL-099, HITL-100, HITL-102,
/// HITL-103, HITL-106, HITL-107, HITL-150: every state by the schemas, and exactly. C-05.
#[test]
fn every_state_of_every_type() {
    for version in ["0.7", "0.8"] {
        for kind in TYPES {
            for state in STATES {
                let (cast, id) = in_state(state, kind, version);
                let polled = polled(cast.seen(id));
                holds(version, "poll-response", &polled);
                assert_eq!(polled["result"].is_object(), state == "completed", "{state}");
                assert_eq!(polled["progress"].is_object(), state == "in_progress", "{state}");
                if (version, kind) == ("0.7", "approval") || state == "completed" {
                    insta::assert_json_snapshot!(format!("poll_{version}_{kind}_{state}"), polled);
                }
            }
        }
    }
}

/// HITL-105, HITL-227: 0.8 says how a case was answered.
#[test]
fn how_it_was_answered() {
    let case = with(body("approval"), json!({ "spec_version": "0.8" }));
    let (mut cast, id) = made(&case);
    let relay = Actor::Relay { ask: id, attested: someone() };
    cast.run(relay, AskCommand::Answer(id, kernel::testing::yes()));
    assert_eq!(HitlVersion::of(cast.seen(id)), HitlVersion::V08);
    let polled = polled(cast.seen(id));
    holds("0.8", "poll-response", &polled);
    let expected = json!({
        "mode": "inline_submit", "submitted_via": "slack_block_action",
        "submitted_by": {"platform": "slack", "platform_user_id": "U1", "display_name": "Ann"},
    });
    assert_eq!(polled["submission_context"], expected);
}

/// HITL-098, HITL-101: a signature and a name, where they are known.
#[test]
fn signed_and_named() {
    let (mut cast, id) = made(&body("approval"));
    cast.run(cast.human("olga"), AskCommand::Answer(id, kernel::testing::yes()));
    let signature = Signature {
        algorithm: "EdDSA",
        value: "a.b.c".to_owned(),
        signed_at: cast.now(),
        signer: "https://countersign.example/.well-known/jwks.json".to_owned(),
    };
    let polled = poll(cast.seen(id), Some("Olga".to_owned()), Some(signature));
    let polled = serde_json::to_value(polled).unwrap();
    for version in ["0.7", "0.8"] {
        holds(version, "poll-response", &polled);
    }
    insta::assert_json_snapshot!("poll_signed", polled);
    // Whoever held the link has no name, whatever anybody says.
    let (mut cast, id) = made(&body("approval"));
    respond(&mut cast, id, &answer("approval")).unwrap();
    let polled = serde_json::to_value(poll(cast.seen(id), Some("Olga".to_owned()), None)).unwrap();
    assert_eq!(polled["responded_by"], Value::Null);
}

/// HITL-104, HITL-140, HITL-141: the first case of two learns of the second.
#[test]
fn rounds_are_linked() {
    let (mut cast, first) = made(&body("approval"));
    respond(&mut cast, first, &json!({"action": "edit", "data": {"feedback": "shorter"}})).unwrap();
    let before = polled(cast.seen(first));
    assert_eq!(before["result"]["action"], "edit");
    let id = dialects::hitl::case_id(first);
    let second = cast.ask(new(&with(body("approval"), json!({ "previous_case_id": id }))));
    let after = polled(cast.seen(first));
    assert_eq!(after["next_case_id"], dialects::hitl::case_id(second));
    holds("0.7", "poll-response", &after);
    let hitl = &crate::fixtures::shown(cast.seen(second))["hitl"];
    assert_eq!(hitl["previous_case_id"], id);
    holds("0.7", "hitl-object", hitl);
}

/// What was erased is said to be that, and a schema still holds.
#[test]
fn erased_words_are_gone() {
    for state in ["completed", "cancelled", "expired"] {
        let (mut cast, id) = in_state(state, "x-acme-compare", "0.7");
        cast.run(Actor::System, AskCommand::Erase(id));
        let polled = polled(cast.seen(id));
        holds("0.7", "poll-response", &polled);
        assert!(!polled.to_string().contains("not mine") && !polled.to_string().contains("salary"));
    }
}
