//! `/hxp/ws/{request_id}`.

use std::fmt::Write as _;

use dialects::hxp_execution::wire::Frame;
use dialects::hxp_execution::{SocketState, advance};
use kernel::command::AskCommand;
use kernel::testing::{Cast, yes};
use serde_json::json;

use crate::fixtures::{SEAL, STATES, full, new, staged, with};

/// HXPX-068, HXPX-069: a late subscriber gets where the ask stands, and no more once it is over.
#[test]
fn late_subscribers_in_every_state() {
    let mut lines = String::new();
    for state in STATES {
        let (cast, id) = staged(state, &full("APPROVE"), &yes());
        let step = advance(&SocketState::Nothing, cast.seen(id), &SEAL);
        let ended = !matches!(state, "pending" | "assigned");
        assert_eq!(step.close, ended, "{state}");
        assert_eq!(step.seen == SocketState::End, ended, "{state}");
        writeln!(lines, "{state}: {}", serde_json::to_string(&step.frames).unwrap()).unwrap();
        let again = advance(&step.seen, cast.seen(id), &SEAL);
        assert!(again.frames.is_empty(), "nothing is sent twice: {state}");
        assert_eq!(again.close, ended);
    }
    insta::assert_snapshot!(lines);
}

/// HXPX-068: the whole walk of a subscriber who was there from the beginning.
#[test]
fn a_subscriber_follows_an_ask() {
    let mut cast = Cast::new();
    let id = cast.ask(new(&full("APPROVE")));
    let step = advance(&SocketState::Nothing, cast.seen(id), &SEAL);
    assert_eq!((step.frames.len(), step.close), (0, false));
    cast.run(cast.human("olga"), AskCommand::Open(id));
    let step = advance(&step.seen, cast.seen(id), &SEAL);
    assert_eq!(step.frames, [Frame::Assigned { assigned_to: "olga".into() }]);
    let step = advance(&step.seen, cast.seen(id), &SEAL);
    assert!(step.frames.is_empty());
    cast.run(cast.human("olga"), AskCommand::Assign(id, kernel::testing::human("mark"), None));
    let step = advance(&step.seen, cast.seen(id), &SEAL);
    assert_eq!(step.frames, [Frame::Assigned { assigned_to: "mark".into() }]);
    cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
    let step = advance(&step.seen, cast.seen(id), &SEAL);
    let [Frame::Completed { receipt }] = step.frames.as_slice() else { panic!() };
    assert_eq!((&receipt.result, receipt.completed_by.as_str()), (&json!("approved"), "mark"));
    assert!(step.close);
}

/// HXPX-056, HXPX-068: who took it from a pool is the same pseudonym as who answered.
#[test]
fn pools_stay_anonymous_on_the_socket() {
    let mut cast = Cast::new();
    let id = cast.ask(new(&with(full("APPROVE"), "role", json!("pool"))));
    cast.run(cast.human("nina"), AskCommand::Claim(id));
    let step = advance(&SocketState::Nothing, cast.seen(id), &SEAL);
    let [Frame::Assigned { assigned_to }] = step.frames.as_slice() else { panic!() };
    assert!(assigned_to.starts_with("pool_member_"));
    cast.run(cast.human("nina"), AskCommand::Answer(id, yes()));
    let end = advance(&step.seen, cast.seen(id), &SEAL);
    let [Frame::Completed { receipt }] = end.frames.as_slice() else { panic!() };
    assert_eq!(receipt.completed_by, *assigned_to);
}
