//! `GET /hxp/v1/requests/{request_id}`, lists, the inbox, `GET /hxp`.

use dialects::hxp_execution::receipt::DEFAULT_APPLIED;
use dialects::hxp_execution::wire::{Frame, Request, Stats, Status, Verified};
use dialects::hxp_execution::{
    HxpCursor, ReceiptDetail, SocketState, advance, ask_id, cancelled, created, inbox, info, list,
    request, request_id, resolved,
};
use kernel::ask::Phase;
use kernel::command::AskCommand;
use kernel::question::{Answer, Reply};
use kernel::testing::{Cast, sent_back, yes};
use kernel::{Actor, Refusal};
use serde_json::json;

use crate::fixtures::{SEAL, STATES, bytes, full, new, pretty, staged, with};

fn reply(action: &str) -> Reply {
    let result = match action {
        "DECIDE" => "Approve",
        "APPROVE" => "rejected",
        _ => "sk-secret1",
    };
    let body = json!({"result": result, "reason": "too dear"});
    let question = new(&full(action)).question;
    dialects::hxp_execution::parse_resolve(&bytes(&body), &question).unwrap()
}

fn all_states(action: &str) -> String {
    let show = |state: &&str| {
        let (cast, id) = staged(state, &full(action), &reply(action));
        let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
        let text = pretty(&shown);
        // What a client of ours reads is what was written.
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), shown);
        text
    };
    STATES.iter().map(show).collect::<Vec<_>>().join("\n")
}

/// HXPX-011, HXPX-021, HXPX-038, HXPX-055: every state of a DECIDE, byte for byte.
#[test]
fn decide_in_every_state() {
    insta::assert_snapshot!(all_states("DECIDE"));
}

/// HXPX-011, HXPX-021, HXPX-038, HXPX-055: every state of an APPROVE, byte for byte.
#[test]
fn approve_in_every_state() {
    insta::assert_snapshot!(all_states("APPROVE"));
}

/// HXPX-011, HXPX-021, HXPX-038, HXPX-055: every state of a PROVIDE, byte for byte.
#[test]
fn provide_in_every_state() {
    insta::assert_snapshot!(all_states("PROVIDE"));
}

/// HXPX-051, HXPX-052, HXPX-054, HXPX-058: which states carry a receipt. SDKs break on others.
#[test]
fn receipts_belong_to_their_states() {
    for action in ["DECIDE", "APPROVE", "PROVIDE"] {
        for state in STATES {
            let (cast, id) = staged(state, &full(action), &reply(action));
            let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
            assert_eq!(shown.status.as_str(), state);
            let expected = matches!(state, "completed" | "failed" | "cancelled");
            assert_eq!(shown.receipt.is_some(), expected, "{action} {state}");
            if let Some(receipt) = shown.receipt {
                assert_eq!(receipt.status.as_str(), state);
            }
        }
    }
}

/// HXPX-054: a completed request has a receipt even when its answer was erased.
#[test]
fn an_erased_answer_leaves_its_receipt() {
    let (mut cast, id) = staged("completed", &full("PROVIDE"), &reply("PROVIDE"));
    cast.run(Actor::System, AskCommand::Erase(id));
    let text = pretty(&request(cast.seen(id), &SEAL, ReceiptDetail::Whole));
    assert!(!text.contains("sk-secret1") && !text.contains("API key"));
    insta::assert_snapshot!(text);
}

/// HXPX-053, HXPX-057: a default is the system's, says so, and lasted the whole timeout.
#[test]
fn a_default_taken_on_silence() {
    let mut cast = Cast::new();
    let id = cast.ask(new(&full("DECIDE")));
    cast.advance(30);
    cast.run(cast.human("olga"), AskCommand::Open(id));
    cast.advance(3600);
    cast.run(Actor::System, AskCommand::Expire(id));
    let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
    assert_eq!(shown.status, Status::Completed);
    let receipt = shown.receipt.unwrap();
    assert_eq!(receipt.result, json!("Deny"));
    assert_eq!(receipt.reason.as_deref(), Some(DEFAULT_APPLIED));
    assert_eq!(receipt.reason.as_deref(), Some("Timeout — default option applied"));
    assert_eq!((receipt.completed_by.as_str(), receipt.duration_seconds), ("system", 3600));
}

/// HXPX-056: who answered for a pool is hidden, the same within a request, another in the next.
#[test]
fn people_of_a_pool_are_anonymous() {
    let mut names = Vec::new();
    for _ in 0..2 {
        let mut cast = Cast::new();
        if names.len() == 1 {
            cast.ask(new(&full("APPROVE")));
        }
        let id = cast.ask(new(&with(full("APPROVE"), "role", json!("pool"))));
        cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
        let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
        let text = pretty(&shown);
        assert!(!text.contains("mark"), "{text}");
        let name = shown.receipt.unwrap().completed_by;
        let digits = name.strip_prefix("pool_member_").unwrap();
        assert!(digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let again = request(cast.seen(id), &SEAL, ReceiptDetail::Whole).receipt.unwrap();
        assert_eq!(again.completed_by, name);
        names.push(name);
    }
    assert_ne!(names[0], names[1]);
}

/// HXPX-057: from being taken up, else from creation.
#[test]
fn durations_begin_when_somebody_takes_it_up() {
    let (cast, id) = staged("completed", &full("APPROVE"), &yes());
    let opened = request(cast.seen(id), &SEAL, ReceiptDetail::Whole).receipt.unwrap();
    assert_eq!(opened.duration_seconds, 60);
    let mut cast = Cast::new();
    let id = cast.ask(new(&full("APPROVE")));
    cast.advance(45);
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let inline = request(cast.seen(id), &SEAL, ReceiptDetail::Whole).receipt.unwrap();
    assert_eq!((inline.duration_seconds, inline.completed_by.as_str()), (45, "olga"));
}

/// HXPX-019, HXPX-020, HXPX-037, HXPX-067: the 201.
#[test]
fn created_says_where_to_look() {
    let mut cast = Cast::new();
    let id = cast.ask(new(&full("DECIDE")));
    insta::assert_snapshot!(pretty(&created(cast.seen(id), "wss://example.com/")));
    let open = with(full("DECIDE"), "timeout_seconds", json!(0));
    let id = cast.ask(new(&open));
    assert_eq!(created(cast.seen(id), "ws://localhost:3402").expires_at, None);
    assert_eq!(ask_id(&request_id(id)), Some(id));
    assert_eq!(ask_id(&id.to_string()), None);
}

/// HXPX-018: without a label an agent of this protocol is `unknown`.
#[test]
fn an_agent_without_a_label_is_unknown() {
    let mut cast = Cast::new();
    let id = cast.ask(new(&json!({"action": "APPROVE", "payload": {"item": "x"}})));
    let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
    assert_eq!((shown.agent_id.as_str(), shown.project_id), ("unknown", None));
    assert!(shown.metadata.is_empty());
    let id = cast.ask(kernel::testing::new_ask());
    assert_eq!(request(cast.seen(id), &SEAL, ReceiptDetail::Whole).agent_id, "bot");
}

/// HXPX-006, HXPX-036, HXPX-039, HXPX-041: lists hide what was provided, inboxes say who asks.
#[test]
fn lists_and_inboxes() {
    let (cast, id) = staged("completed", &full("PROVIDE"), &reply("PROVIDE"));
    let ask = cast.seen(id);
    let listed = list([ask], 12, Some(HxpCursor::after(ask)), &SEAL);
    let boxed = inbox([ask], 6, 3, None, &SEAL);
    let (list, inbox) = (pretty(&listed), pretty(&boxed));
    assert!(!list.contains("sk-secret1") && !inbox.contains("sk-secret1"));
    assert!(pretty(&request(ask, &SEAL, ReceiptDetail::Whole)).contains("sk-secret1"));
    insta::assert_snapshot!(format!("{list}\n{inbox}"));

    let (cast, id) = staged("completed", &full("DECIDE"), &reply("DECIDE"));
    let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Redacted);
    assert_eq!(shown.receipt.unwrap().result, json!("Approve"), "only PROVIDE is hidden");
    let (cast, id) = staged("failed", &full("PROVIDE"), &reply("PROVIDE"));
    let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Redacted);
    assert_eq!(shown.receipt.unwrap().result, json!(null), "nothing is not hidden");
}

/// HXPX-040, HXPX-042, HXPX-044, HXPX-045, HXPX-065: the small bodies.
#[test]
fn small_bodies() {
    let (cast, id) = staged("cancelled", &full("DECIDE"), &reply("DECIDE"));
    let (done, other) = staged("completed", &full("APPROVE"), &reply("APPROVE"));
    let (open, waiting) = staged("pending", &full("APPROVE"), &reply("APPROVE"));
    assert_eq!(resolved(open.seen(waiting), &SEAL), None);
    insta::assert_snapshot!(
        [
            pretty(&cancelled(cast.seen(id))),
            pretty(&resolved(done.seen(other), &SEAL).unwrap()),
            pretty(&info()),
            pretty(&Stats { total: 3, pending: 1, completed: 2, ..Stats::default() }),
            pretty(&Verified { valid: true }),
        ]
        .join("\n")
    );
}

/// HXPX-013, HXPX-014: every role and priority is shown as it was sent.
#[test]
fn roles_and_priorities_are_shown_as_sent() {
    for role in ["owner", "delegate", "pool"] {
        for priority in ["low", "normal", "high", "critical"] {
            let body = with(full("APPROVE"), "role", json!(role));
            let mut cast = Cast::new();
            let id = cast.ask(new(&with(body, "priority", json!(priority))));
            let shown =
                serde_json::to_value(request(cast.seen(id), &SEAL, ReceiptDetail::Whole)).unwrap();
            assert_eq!((&shown["role"], &shown["priority"]), (&json!(role), &json!(priority)));
        }
    }
}

/// HXPX-021: six states, there and back.
#[test]
fn statuses_are_phases() {
    for phase in Phase::ALL {
        let status = Status::from(phase);
        assert_eq!(status.phase(), phase);
        assert_eq!(Status::named(status.as_str()), Some(status));
        assert_eq!(serde_json::to_value(status).unwrap(), json!(status.as_str()));
        assert!(STATES.contains(&status.as_str()));
    }
    assert_eq!(Status::named("Pending"), None);
}

/// DESIGN §11: a request for changes is a rejection that begins with the request. Only an approval
/// takes one: DECIDE and PROVIDE are never `completed` without a result, and a record of before
/// that was refused has failed.
#[test]
fn requested_changes_are_a_rejection_with_a_reason() {
    let reply = || Reply { answer: Answer::CHANGES, comment: Some("smaller, please".into()) };
    let (cast, id) = staged("completed", &full("APPROVE"), &reply());
    let shown = request(cast.seen(id), &SEAL, ReceiptDetail::Whole);
    let (said, receipt) = (Some("Changes requested: smaller, please"), shown.receipt.unwrap());
    assert_eq!((shown.status, &receipt.result), (Status::Completed, &json!("rejected")));
    assert_eq!(receipt.reason.as_deref(), said);
    for action in ["DECIDE", "PROVIDE"] {
        let (mut cast, id) = staged("pending", &full(action), &reply());
        let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, Box::new(reply())));
        assert!(matches!(refused, Err(Refusal::Answer(_))), "{action}: {refused:?}");
        let before = sent_back(cast.seen(id), "smaller, please");
        let shown = request(&before, &SEAL, ReceiptDetail::Whole);
        let receipt = shown.receipt.unwrap();
        assert_eq!((shown.status, receipt.status), (Status::Failed, Status::Failed));
        assert_eq!((&receipt.result, receipt.reason.as_deref()), (&json!(null), said));
        let step = advance(&SocketState::default(), &before, &SEAL);
        assert!(matches!(step.frames.as_slice(), [Frame::Failed { .. }]), "{step:?}");
    }
}
