//! Server-sent events and callbacks.

use dialects::hitl::{HitlEvent, callback, client_event};
use kernel::actor::Actor;
use kernel::command::AskCommand;
use kernel::form::FormProgress;
use kernel::testing::Cast;
use kernel::{AskEvent, AskId, DomainEvent};
use serde_json::{Value, json};

use crate::fixtures::{answer, body, made, respond, with};

/// What a stream would tell of a case, from its beginning.
fn story(cast: &Cast, id: AskId) -> Vec<Value> {
    let mut engaged = false;
    let mut said = Vec::new();
    for event in cast.record_of(id) {
        let line = client_event(cast.seen(id), &event, engaged, None);
        said.extend(line.map(|HitlEvent { event, data }| json!({ "event": event, "data": data })));
        engaged |= matches!(event.what, DomainEvent::Ask(AskEvent::Progressed { .. }));
    }
    said
}

fn timed(kind: &str) -> Value {
    with(
        body(kind),
        json!({ "timeout": "1h", "reminder_at": ["2026-02-06T10:01:00Z", "2026-02-06T10:05:00Z"] }),
    )
}

/// HITL-138, HITL-161, HITL-171: what is told, and with which members. C-18.
#[test]
fn what_is_told_of_a_case() {
    let (mut cast, id) = made(&timed("approval"));
    let holder = || Actor::link_holder(id);
    cast.advance(60);
    cast.run(Actor::System, AskCommand::Remind(id));
    cast.run(cast.human("olga"), AskCommand::Claim(id));
    cast.run(holder(), AskCommand::Open(id));
    let progress =
        FormProgress { current_step: 1, total_steps: 2, completed_fields: 1, total_fields: 4 };
    cast.run(holder(), AskCommand::Progress(id, None));
    cast.run(holder(), AskCommand::Progress(id, Some(progress)));
    cast.advance(300);
    // HITL-160: somebody works on it, so the agent is not told to send the link again.
    cast.run(Actor::System, AskCommand::Remind(id));
    respond(&mut cast, id, &answer("approval")).unwrap();
    cast.run(cast.agent("bot"), AskCommand::Comment(id, "thanks".to_owned()));
    insta::assert_json_snapshot!("events_completed", story(&cast, id));
}

/// HITL-151, HITL-171, HITL-181, HITL-183: the three endings, as an event and as a callback. C-19.
#[test]
fn endings_are_told_alike() {
    for ending in ["completed", "expired", "cancelled"] {
        let (mut cast, id) = made(&timed("confirmation"));
        assert_eq!(callback(cast.seen(id), None, None), None, "it is still open");
        match ending {
            "completed" => respond(&mut cast, id, &answer("confirmation")).unwrap(),
            "expired" => {
                cast.advance(3600);
                cast.run(Actor::System, AskCommand::Expire(id));
            }
            _ => {
                cast.run(Actor::link_holder(id), AskCommand::Cancel(id, Some("no".to_owned())));
            }
        }
        let body = callback(cast.seen(id), Some("Olga".to_owned()), None).unwrap();
        let event = story(&cast, id).pop().unwrap();
        assert_eq!(
            (&body["event"], event["event"].as_str().unwrap()),
            (&json!(format!("review.{ending}")), format!("review.{ending}").as_str())
        );
        for (key, value) in event["data"].as_object().unwrap() {
            assert_eq!(&body[key], value, "{key}");
        }
        assert_eq!(body["timestamp"], body[format!("{ending}_at")]);
        insta::assert_json_snapshot!(format!("callback_{ending}"), body);
    }
}
