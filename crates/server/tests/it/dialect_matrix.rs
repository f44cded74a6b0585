//! The tables of what one ask is in each dialect, cell by cell: every question and every state,
//! asked in one dialect, answered through each door, watched in the others.

use kernel::form::FormProgress;
use kernel::{Actor, AskCommand, Command};
use serde_json::{Value, json};

use crate::client::{approve, decide, provide};
use crate::hitl::schemas::holds;
use crate::hitl::{Case, approval, inline, of, with};
use crate::native::ASKS;
use crate::review_page::Page;
use crate::world::World;

/// One ask under the names each dialect has for it.
pub(crate) struct Names {
    pub(crate) native: String,
    pub(crate) hxp: String,
    hitl: String,
    pub(crate) ask: String,
}

impl Names {
    pub(crate) fn of(id: &str) -> Self {
        let (_, ulid) = id.split_once('_').unwrap();
        Self {
            native: format!("{ASKS}/ask_{ulid}"),
            hxp: format!("hxp_{ulid}"),
            hitl: format!("/hitl/v1/reviews/review_{ulid}/status"),
            ask: format!("ask_{ulid}"),
        }
    }

    pub(crate) async fn hitl(&self, world: &World) -> Value {
        let poll = world.agent().get(&self.hitl).await.is(200).json;
        holds("0.7", "poll-response", &poll);
        poll
    }

    pub(crate) async fn hxp(&self, world: &World) -> Value {
        world.agent().poll(&self.hxp).await.is(200).json
    }

    pub(crate) async fn a2h(&self, world: &World, kind: &str) -> Value {
        let path = format!("/a2h/v1/{kind}/{}", self.ask);
        world.agent().get(&path).await.is(200)["status"].clone()
    }

    pub(crate) async fn state(&self, world: &World) -> Value {
        world.agent().get(&self.native).await.is(200)["state"].clone()
    }
}

/// A kind of question as each dialect has it.
struct Row {
    question: Value,
    /// Action and, for PROVIDE, the type of its input.
    shown: (&'static str, Value),
    /// What a person says over HXP, and what the receipt says then.
    hxp: Value,
    /// The same over our own API.
    native: Value,
    /// The result of the case: action and data.
    hitl: (&'static str, Value),
    /// And of the call: which of the two it is, and what it comes to there.
    a2h: (&'static str, Value),
}

fn choices(n: usize) -> Value {
    (0..n).map(|n| json!({ "id": format!("o{n}"), "label": format!("Option {n}") })).collect()
}

fn field(key: &str, kind: &str) -> Value {
    json!({ "key": key, "label": key, "type": kind })
}

fn rows() -> Vec<Row> {
    let ask = |more: Value| with(json!({ "prompt": "Well?" }), more);
    let choose = |n, pick| ask(json!({ "kind": "choose", "options": choices(n), "pick": pick }));
    let form = |fields: Value| ask(json!({ "kind": "provide", "form": { "fields": fields } }));
    let confirm =
        |items: Value| json!({ "kind": "confirm", "items": items, "yes": "Go", "no": "Stop" });
    let none = Value::Null;
    vec![
        Row {
            question: ask(json!({ "kind": "approve" })),
            shown: ("APPROVE", none.clone()),
            hxp: json!("approved"),
            native: json!({ "verdict": "approved" }),
            hitl: ("approve", json!({})),
            a2h: ("function_calls", json!(true)),
        },
        Row {
            question: ask(json!({ "kind": "approve" })),
            shown: ("APPROVE", none.clone()),
            hxp: json!("rejected"),
            native: json!({ "verdict": "rejected" }),
            hitl: ("reject", json!({})),
            a2h: ("function_calls", json!(false)),
        },
        Row {
            question: choose(6, "one"),
            shown: ("DECIDE", none.clone()),
            hxp: json!("Option 5"),
            native: json!({ "verdict": "chosen", "options": ["o5"] }),
            hitl: ("select", json!({ "selected": ["o5"] })),
            a2h: ("human_contacts", json!("Option 5")),
        },
        Row {
            question: choose(7, "one"),
            shown: ("PROVIDE", json!("selection")),
            hxp: json!("Option 6"),
            native: json!({ "verdict": "chosen", "options": ["o6"] }),
            hitl: ("select", json!({ "selected": ["o6"] })),
            a2h: ("human_contacts", json!("Option 6")),
        },
        Row {
            question: choose(3, "many"),
            shown: ("PROVIDE", json!("selection")),
            hxp: json!(["Option 0", "Option 2"]),
            native: json!({ "verdict": "chosen", "options": ["o0", "o2"] }),
            hitl: ("select", json!({ "selected": ["o0", "o2"] })),
            a2h: ("human_contacts", json!("[\"o0\",\"o2\"]")),
        },
        Row {
            question: form(json!([field("n", "number")])),
            shown: ("PROVIDE", json!("number")),
            hxp: json!(7),
            native: json!({ "verdict": "provided", "values": { "n": 7 } }),
            hitl: ("submit", json!({ "n": 7 })),
            a2h: ("human_contacts", json!("7")),
        },
        Row {
            question: form(json!([field("a", "text"), field("b", "boolean")])),
            shown: ("PROVIDE", json!("text")),
            hxp: json!({ "a": "x", "b": true }),
            native: json!({ "verdict": "provided", "values": { "a": "x", "b": true } }),
            hitl: ("submit", json!({ "a": "x", "b": true })),
            a2h: ("human_contacts", json!("{\"a\":\"x\",\"b\":true}")),
        },
        Row {
            question: ask(confirm(json!([{ "id": "m", "label": "Mail" }]))),
            shown: ("DECIDE", none.clone()),
            hxp: json!("Go"),
            native: json!({ "verdict": "confirmed", "items": ["m"] }),
            hitl: ("confirm", json!({ "confirmed_items": ["m"] })),
            a2h: ("function_calls", json!(true)),
        },
        Row {
            question: ask(confirm(json!([]))),
            shown: ("DECIDE", none.clone()),
            hxp: json!("Stop"),
            native: json!({ "verdict": "declined" }),
            hitl: ("cancel", json!({})),
            a2h: ("function_calls", json!(false)),
        },
        Row {
            question: ask(json!({ "kind": "escalate", "error": { "title": "It broke" } })),
            shown: ("DECIDE", none.clone()),
            hxp: json!("skip"),
            native: json!({ "verdict": "skip" }),
            hitl: ("skip", json!({})),
            a2h: ("human_contacts", json!("skip")),
        },
        Row {
            question: ask(json!({ "kind": "converse" })),
            shown: ("PROVIDE", json!("text")),
            hxp: json!("words"),
            native: json!({ "verdict": "replied", "text": "words" }),
            hitl: ("submit", json!({ "response": "words" })),
            a2h: ("human_contacts", json!("words")),
        },
    ]
}

/// The table of questions: whichever of two doors is taken, every dialect tells the same.
#[tokio::test]
async fn every_question_in_every_dialect() {
    let world = World::dev().await;
    for row in rows() {
        for door in ["hxp", "native"] {
            let made = world.agent().post(ASKS, json!({ "question": row.question })).await.is(201);
            let names = Names::of(made["id"].as_str().unwrap());
            let what = format!("{} through {door}", row.question);
            let open = names.hxp(&world).await;
            let shown = (&open["action"], &open["payload"]["input_type"]);
            assert_eq!(shown, (&json!(row.shown.0), &row.shown.1), "{what}");
            assert_eq!(names.hitl(&world).await["status"], "pending", "{what}");
            let pending = names.a2h(&world, row.a2h.0).await;
            assert_eq!(pending.get("responded_at"), None, "{what}");
            if door == "hxp" {
                let said = json!({ "result": row.hxp });
                world.human().resolve(&names.hxp, said).await.is(200);
            } else {
                let said = json!({ "answer": row.native });
                world.human().post(&format!("{}/answer", names.native), said).await.is(200);
            }
            let receipt = &names.hxp(&world).await["receipt"];
            assert_eq!(receipt["result"], row.hxp, "{what}");
            let result = &names.hitl(&world).await["result"];
            let said = (&result["action"], &result["data"]);
            assert_eq!(said, (&json!(row.hitl.0), &row.hitl.1), "{what}");
            let key = if row.a2h.0 == "function_calls" { "approved" } else { "response" };
            assert_eq!(names.a2h(&world, row.a2h.0).await[key], row.a2h.1, "{what}");
            let answer = &world.agent().get(&names.native).await["result"]["answer"];
            for (key, value) in row.native.as_object().unwrap() {
                assert_eq!(&answer[key], value, "{what}");
            }
        }
    }
    world.end().await;
}

/// Asked over HXP, in each of its actions and inputs, watched as a case.
#[tokio::test]
async fn asked_over_hxp_watched_over_hitl() {
    let world = World::dev().await;
    for (asked, said, action, data) in [
        (approve("Deploy"), json!("rejected"), "reject", json!({ "feedback": "so" })),
        (decide("Which?", &["A", "B"]), json!("B"), "select", json!({ "selected": ["B"] })),
        (provide("text"), json!("words"), "submit", json!({ "result": "words" })),
        (provide("number"), json!(1.5), "submit", json!({ "result": 1.5 })),
        (provide("email"), json!("a@b.example"), "submit", json!({ "result": "a@b.example" })),
        (
            provide("url"),
            json!("https://a.example"),
            "submit",
            json!({ "result": "https://a.example" }),
        ),
    ] {
        let names = Names::of(&world.agent().ask(asked).await);
        assert_eq!(names.hitl(&world).await["expires_at"], "9999-12-31T23:59:59Z");
        world.human().resolve(&names.hxp, json!({ "result": said, "reason": "so" })).await.is(200);
        let over = names.hitl(&world).await;
        assert_eq!(over["result"]["action"], action);
        for (key, value) in data.as_object().unwrap() {
            assert_eq!(&over["result"]["data"][key], value, "{said}");
        }
        assert!(over["result"]["signature"]["value"].is_string(), "{said}");
    }
    world.end().await;
}

/// Asked as a case of each type, answered through the page, the link's API, HXP, our own API and
/// inline; watched over HXP.
#[tokio::test]
async fn asked_over_hitl_answered_through_every_door() {
    let world = World::dev().await;
    // Type, what it is over HXP, and the same answer: on the page, over HITL, over HXP, over ours.
    let types = [
        (
            "approval",
            "APPROVE",
            vec![("action", "approve")],
            json!({ "action": "approve" }),
            json!("approved"),
            json!({ "verdict": "approved" }),
        ),
        (
            "selection",
            "PROVIDE",
            vec![("option", "b"), ("action", "choose")],
            json!({ "action": "select", "data": { "selected": ["b"] } }),
            json!(["B"]),
            json!({ "verdict": "chosen", "options": ["b"] }),
        ),
        (
            "input",
            "PROVIDE",
            vec![("action", "provide"), ("field.name", "Ann"), ("field.pin", "7")],
            json!({ "action": "submit", "data": { "name": "Ann", "pin": "7" } }),
            json!({ "name": "Ann", "pin": "7" }),
            json!({ "verdict": "provided", "values": { "name": "Ann", "pin": "7" } }),
        ),
        (
            "confirmation",
            "DECIDE",
            vec![("action", "confirm")],
            json!({ "action": "confirm", "data": { "confirmed_items": ["m"] } }),
            json!("Confirm"),
            json!({ "verdict": "confirmed", "items": ["m"] }),
        ),
        (
            "escalation",
            "DECIDE",
            vec![("action", "retry")],
            json!({ "action": "retry" }),
            json!("retry"),
            json!({ "verdict": "retry" }),
        ),
    ];
    for (kind, action, page, hitl, hxp, native) in types {
        let mut seen = Vec::new();
        for door in ["page", "respond", "inline", "hxp", "native"] {
            let case = Case::make(&world, of(kind)).await;
            let names = Names::of(&case.id);
            let open = names.hxp(&world).await;
            assert_eq!(open["action"], action, "{kind}");
            match door {
                "page" => {
                    let (opened, _) = Page::open(&world, &case).await;
                    let sent = opened.post(&page).await;
                    assert!(matches!(sent.status, 200 | 303), "{kind}: {}", sent.text);
                }
                "respond" => drop(case.respond(hitl.clone()).await.is(200)),
                // Only where a button says enough.
                "inline" if case.hitl["submit_url"].is_null() => {
                    assert!(matches!(kind, "selection" | "input"), "{kind}");
                    world.agent().cancel(&names.hxp).await.is(200);
                    continue;
                }
                "inline" => {
                    let said = inline(hitl["action"].as_str().unwrap());
                    let said = with(said, json!({ "data": hitl["data"].as_object() }));
                    drop(case.submit(said).await.is(200));
                }
                "hxp" => {
                    drop(world.human().resolve(&names.hxp, json!({ "result": hxp })).await.is(200));
                }
                _ => {
                    let said = json!({ "answer": native });
                    world.human().post(&format!("{}/answer", names.native), said).await.is(200);
                }
            }
            let what = format!("{kind} through {door}");
            let over = case.status().await;
            assert_eq!(over["result"]["action"], hitl["action"], "{what}");
            let receipt = names.hxp(&world).await["receipt"].clone();
            assert_eq!(receipt["result"], hxp, "{what}");
            seen.push(over["result"]["data"].clone());
        }
        assert!(seen.iter().all(|data| *data == seen[0]), "{kind}: {seen:?}");
    }
    world.end().await;
}

/// The table of states, each reached in the dialect that has a word for it and watched in the
/// others.
#[tokio::test]
async fn every_state_in_every_dialect() {
    let world = World::dev().await;
    let timed = |fallback: &str| {
        with(approve("x"), json!({ "timeout_seconds": 3600, "fallback": fallback }))
    };
    for (state, hxp, hitl, native) in [
        ("pending", "pending", "pending", "pending"),
        ("opened", "assigned", "opened", "opened"),
        ("in progress", "assigned", "in_progress", "in_progress"),
        ("completed", "completed", "completed", "completed"),
        ("changes requested", "completed", "completed", "completed"),
        ("expired", "expired", "expired", "expired"),
        ("failed", "failed", "expired", "failed"),
        ("cancelled", "cancelled", "cancelled", "cancelled"),
    ] {
        let id = match state {
            "failed" => world.agent().ask(timed("fail")).await,
            _ => Case::make(&world, with(approval(), json!({ "timeout": "1h" }))).await.id,
        };
        let names = Names::of(&id);
        let ask = id.split_once('_').map(|(_, ulid)| format!("ask_{ulid}")).unwrap();
        let ask: kernel::AskId = ask.parse().unwrap();
        let holder = || Actor::link_holder(ask);
        let run = async |command| world.gateway().run(holder(), command).await.unwrap();
        match state {
            "opened" => drop(run(Command::Ask(AskCommand::Open(ask))).await),
            "in progress" => {
                run(Command::Ask(AskCommand::Open(ask))).await;
                let far = FormProgress {
                    current_step: 1,
                    total_steps: 1,
                    completed_fields: 0,
                    total_fields: 1,
                };
                run(Command::Ask(AskCommand::Progress(ask, Some(far)))).await;
            }
            "completed" => drop(
                world.human().resolve(&names.hxp, json!({ "result": "approved" })).await.is(200),
            ),
            "changes requested" => {
                let said =
                    json!({ "answer": { "verdict": "changes_requested" }, "comment": "shorter" });
                world.human().post(&format!("{}/answer", names.native), said).await.is(200);
            }
            "expired" | "failed" => world.advance(3600),
            "cancelled" => drop(world.agent().cancel(&names.hxp).await.is(200)),
            _ => {}
        }
        let (over_hxp, over_hitl) = (names.hxp(&world).await, names.hitl(&world).await);
        let told =
            (over_hxp["status"].clone(), over_hitl["status"].clone(), names.state(&world).await);
        assert_eq!(told, (json!(hxp), json!(hitl), json!(native)), "{state}");
        let over_a2h = names.a2h(&world, "function_calls").await;
        let told = (over_a2h.get("approved"), over_a2h.get("outcome").and_then(Value::as_str));
        let (yes, no) = (json!(true), json!(false));
        let expected = match state {
            "pending" | "opened" | "in progress" => (None, None),
            "completed" => (Some(&yes), Some("answered")),
            "changes requested" => (Some(&no), Some("answered")),
            other => (Some(&no), Some(other)),
        };
        assert_eq!(told, expected, "{state}");
        match state {
            "changes requested" => {
                let receipt = &over_hxp["receipt"];
                assert_eq!(receipt["result"], "rejected");
                assert!(
                    receipt["reason"].as_str().unwrap().starts_with("Changes requested: shorter")
                );
                assert_eq!(over_hitl["result"]["action"], "edit");
            }
            "expired" => {
                assert_eq!(over_hitl["default_action"], "skip");
                let late = world.human().resolve(&names.hxp, json!({ "result": "approved" })).await;
                assert_eq!(late.status, 408, "{}", late.text);
            }
            "failed" => {
                assert!(over_hxp["receipt"].is_object());
                assert_eq!(over_hitl["default_action"], "abort");
            }
            _ => {}
        }
        assert_eq!(over_hitl["result"].is_object(), hitl == "completed", "{state}");
    }
    world.end().await;
}
