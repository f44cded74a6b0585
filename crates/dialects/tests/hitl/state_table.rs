//! The states of a case as a table, printed from the code and held against what it should be.

use std::fmt::Write;

use kernel::command::AskCommand;
use kernel::testing::Cast;
use kernel::{Actor, AskId};
use serde_json::json;

use crate::fixtures::{body, made, polled, respond, with};

const STATES: [&str; 6] = ["pending", "opened", "in_progress", "completed", "expired", "cancelled"];
const STEPS: [&str; 6] = ["open", "begin", "inline submit", "respond", "time out", "cancel"];

/// HITL-110, HITL-111, HITL-112, HITL-113: every open state ends in every way, an inline answer
/// needs no page, and what is over stays. A cell is the status afterwards, `-` for no change, or
/// the refusal. C-01, C-02, C-03.
const TABLE: &str = "
            | open   | begin                | inline submit        | respond              | time out | cancel
pending     | opened | in_progress          | completed            | completed            | expired  | cancelled
opened      | -      | in_progress          | completed            | completed            | expired  | cancelled
in_progress | -      | -                    | completed            | completed            | expired  | cancelled
completed   | -      | duplicate_submission | duplicate_submission | duplicate_submission | -        | duplicate_submission
expired     | -      | case_expired         | case_expired         | case_expired         | -        | case_expired
cancelled   | -      | case_cancelled       | case_cancelled       | case_cancelled       | -        | case_cancelled
";

fn act(cast: &mut Cast, id: AskId, step: &str) -> String {
    let before = cast.seen(id).head.seq;
    let holder = || Actor::link_holder(id);
    let relay = Actor::Relay { ask: id, attested: crate::fixtures::someone() };
    let refused = |refusal| dialects::hitl::HitlWireError::refused(&refusal);
    let done = match step {
        "open" => cast.attempt(holder(), AskCommand::Open(id)).map_err(refused),
        "begin" => cast.attempt(holder(), AskCommand::Progress(id, None)).map_err(refused),
        "cancel" => cast.attempt(holder(), AskCommand::Cancel(id, None)).map_err(refused),
        "inline submit" => {
            cast.attempt(relay, AskCommand::Answer(id, kernel::testing::yes())).map_err(refused)
        }
        "respond" => {
            let late = respond(cast, id, &json!({"action": "approve"}));
            // A page that comes too late is told so before its answer is read.
            late.or_else(|error| {
                cast.seen(id).check_open(cast.now()).map_err(refused).and(Err(error))
            })
        }
        _ => {
            cast.advance(3600);
            // Nothing is due on what is over.
            let _ = cast.attempt(Actor::System, AskCommand::Expire(id));
            Ok(())
        }
    };
    match done {
        Err(error) => {
            assert_eq!(cast.seen(id).head.seq, before, "a refusal changes nothing");
            error.code.to_owned()
        }
        Ok(()) if cast.seen(id).head.seq == before => "-".to_owned(),
        Ok(()) => polled(cast.seen(id))["status"].as_str().unwrap().to_owned(),
    }
}

fn in_state(state: &str) -> (Cast, AskId) {
    let (mut cast, id) = made(&with(body("approval"), json!({ "timeout": "1h" })));
    let step = match state {
        "opened" => Some("open"),
        "in_progress" => Some("begin"),
        "completed" => Some("respond"),
        "expired" => Some("time out"),
        "cancelled" => Some("cancel"),
        _ => None,
    };
    if let Some(step) = step {
        act(&mut cast, id, step);
    }
    assert_eq!(polled(cast.seen(id))["status"], state);
    (cast, id)
}

#[test]
fn transitions() {
    let mut table = format!("| {}\n", STEPS.join(" | "));
    for state in STATES {
        table.push_str(state);
        for step in STEPS {
            let (mut cast, id) = in_state(state);
            write!(table, " | {}", act(&mut cast, id, step)).unwrap();
        }
        table.push('\n');
    }
    assert_eq!(tidy(&table), tidy(TABLE), "\n{table}");
}

/// The cells of a table, whatever the spaces between them.
fn tidy(table: &str) -> Vec<Vec<&str>> {
    table.trim().lines().map(|line| line.split('|').map(str::trim).collect()).collect()
}
