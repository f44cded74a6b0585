//! A checkpoint is an ask: raised over HACP, shown and answered everywhere, and the task goes on
//! (DESIGN §11).

use kernel::{Actor, AnswerInterface, AskCommand, AskId, Assurance};
use serde_json::{Value, json};

use crate::dialect_matrix::Names;
use crate::hacp::{begun, done, inline, op, raised, refused, state};
use crate::pages::signed_in;
use crate::request_page::press;
use crate::world::World;

fn hxp(checkpoint: &str) -> String {
    checkpoint.replace("ckpt_", "hxp_")
}

fn native(checkpoint: &str) -> String {
    format!("/api/v1/asks/{}", checkpoint.replace("ckpt_", "ask_"))
}

async fn checkpoint(world: &World, id: &str, task: &str) -> Value {
    let told = done(&world.human(), "audit.replay", json!({ "task_id": task })).await;
    let resolved = told.as_array().unwrap().iter().rev().find(|event| {
        event["after"]["checkpoint"]["id"] == id
            && event["after"]["checkpoint"]["state"] != "pending"
    });
    resolved.unwrap()["after"]["checkpoint"].clone()
}

/// A checkpoint as each dialect has it, and one answer to it through each door.
struct Row {
    kind: &'static str,
    more: Value,
    /// The action over HXP while it is open.
    shown: &'static str,
    /// What is pressed on its page.
    page: &'static [(&'static str, &'static str)],
    /// What is said over HXP, and what the receipt says then.
    hxp: Value,
    native: Value,
    /// What is said over HACP, and what its resolution says then.
    hacp: Value,
    /// The result of the case: action and data.
    hitl: (&'static str, Value),
    /// And of the call: which of the two it is, and what it comes to there.
    a2h: (&'static str, Value),
    /// Where the task stands afterwards.
    then: &'static str,
}

fn rows() -> Vec<Row> {
    let options = json!({ "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] });
    vec![
        Row {
            kind: "approval",
            more: json!({}),
            shown: "APPROVE",
            page: &[("action", "approve")],
            hxp: json!("approved"),
            native: json!({ "verdict": "approved" }),
            hacp: json!({ "action": "approve" }),
            hitl: ("approve", json!({})),
            a2h: ("function_calls", json!(true)),
            then: "in_progress",
        },
        Row {
            kind: "approval",
            more: json!({}),
            shown: "APPROVE",
            page: &[("action", "reject")],
            hxp: json!("rejected"),
            native: json!({ "verdict": "rejected" }),
            hacp: json!({ "action": "reject" }),
            hitl: ("reject", json!({})),
            a2h: ("function_calls", json!(false)),
            then: "completed",
        },
        Row {
            kind: "choice",
            more: options,
            shown: "DECIDE",
            page: &[("choose", "b")],
            hxp: json!("B"),
            native: json!({ "verdict": "chosen", "options": ["b"] }),
            hacp: json!({ "action": "choose", "choice": "b" }),
            hitl: ("select", json!({ "selected": ["b"] })),
            a2h: ("human_contacts", json!("B")),
            then: "in_progress",
        },
        Row {
            kind: "input",
            more: json!({}),
            shown: "PROVIDE",
            page: &[("action", "reply"), ("reply", "8080")],
            hxp: json!("8080"),
            native: json!({ "verdict": "replied", "text": "8080" }),
            hacp: json!({ "action": "provide", "input": "8080" }),
            hitl: ("submit", json!({ "response": "8080" })),
            a2h: ("human_contacts", json!("8080")),
            then: "in_progress",
        },
        Row {
            kind: "escalation",
            more: json!({}),
            shown: "DECIDE",
            page: &[("action", "retry")],
            hxp: json!("retry"),
            native: json!({ "verdict": "retry" }),
            hacp: json!({ "action": "approve" }),
            hitl: ("retry", json!({})),
            a2h: ("human_contacts", json!("retry")),
            then: "in_progress",
        },
        Row {
            kind: "escalation",
            more: json!({}),
            shown: "DECIDE",
            page: &[("action", "abort")],
            hxp: json!("abort"),
            native: json!({ "verdict": "abort" }),
            hacp: json!({ "action": "reject" }),
            hitl: ("abort", json!({})),
            a2h: ("human_contacts", json!("abort")),
            then: "completed",
        },
    ]
}

/// HACP-050, HACP-051: the table of questions with its column of checkpoints, cell by cell:
/// whichever door is taken, every dialect tells the same, and the task goes on.
#[tokio::test]
async fn every_checkpoint_through_every_door() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    for row in rows() {
        for door in ["page", "hxp", "native", "hacp"] {
            let what = format!("{} {} through {door}", row.kind, row.native);
            let task = begun(&world, json!({})).await;
            let id = raised(&world, &task, row.kind, row.more.clone()).await;
            let names = Names::of(&id);
            let open = names.hxp(&world).await;
            assert_eq!((&open["action"], &open["status"]), (&json!(row.shown), &json!("pending")));
            assert_eq!(names.hitl(&world).await["status"], "pending", "{what}");
            let pending = names.a2h(&world, row.a2h.0).await;
            assert_eq!(pending.get("responded_at"), None, "{what}");
            match door {
                "page" => {
                    let path = format!("/asks/{}", names.ask);
                    press(&browser, &path, "answer", row.page).await.is(303);
                    world.let_answers_stand();
                    world.run_timers().await;
                }
                "hxp" => {
                    let said = json!({ "result": row.hxp });
                    world.human().resolve(&names.hxp, said).await.is(200);
                }
                "native" => {
                    let said = json!({ "answer": row.native });
                    world.human().post(&format!("{}/answer", names.native), said).await.is(200);
                }
                _ => {
                    let mut said = row.hacp.clone();
                    said["ckpt_id"] = json!(id);
                    done(&world.human(), "checkpoint.resolve", said).await;
                }
            }
            assert_eq!(state(&world, &task).await, row.then, "{what}");
            let resolved = checkpoint(&world, &id, &task).await;
            assert_eq!(resolved["state"], "resolved", "{what}");
            for (key, value) in row.hacp.as_object().unwrap() {
                assert_eq!(resolved["resolution"][key], *value, "{what}: {key}");
            }
            assert_eq!(resolved["resolution"]["by"], "user_dev", "{what}");
            assert_eq!(names.hxp(&world).await["receipt"]["result"], row.hxp, "{what}");
            let result = &names.hitl(&world).await["result"];
            let said = (&result["action"], &result["data"]);
            assert_eq!(said, (&json!(row.hitl.0), &row.hitl.1), "{what}");
            let key = if row.a2h.0 == "function_calls" { "approved" } else { "response" };
            assert_eq!(names.a2h(&world, row.a2h.0).await[key], row.a2h.1, "{what}");
            assert_eq!(names.state(&world).await, "completed", "{what}");
        }
    }
    world.end().await;
}

/// What a principal decides over HACP where the question has no such answer: no dialect shows it as
/// a result, and none says that nobody decided.
#[tokio::test]
async fn a_decision_that_is_no_answer_is_told_everywhere() {
    let world = World::dev().await;
    let options = json!({ "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] });
    let reject = json!({ "action": "reject", "comment": "never" });
    let provide = json!({ "action": "provide", "input": "neither", "comment": "ask Ann" });
    for (kind, more, said, reason, a2h, then) in [
        ("choice", &options, &reject, "Rejected: never", "Denied: never", "completed"),
        ("input", &json!({}), &reject, "Rejected: never", "Denied: never", "completed"),
        (
            "choice",
            &options,
            &provide,
            "Answered: neither\n\nask Ann",
            "neither\n\nask Ann",
            "in_progress",
        ),
    ] {
        let task = begun(&world, json!({})).await;
        let id = raised(&world, &task, kind, more.clone()).await;
        let mut said = said.clone();
        said["ckpt_id"] = json!(id);
        done(&world.human(), "checkpoint.resolve", said.clone()).await;
        assert_eq!(state(&world, &task).await, then, "{kind}");
        let resolved = checkpoint(&world, &id, &task).await;
        assert_eq!(resolved["resolution"]["action"], said["action"]);
        let names = Names::of(&id);
        let hxp = names.hxp(&world).await;
        assert_eq!(
            (&hxp["status"], &hxp["receipt"]["reason"]),
            (&json!("cancelled"), &json!(reason))
        );
        let hitl = names.hitl(&world).await;
        assert_eq!((&hitl["status"], &hitl["reason"]), (&json!("cancelled"), &json!(reason)));
        assert_eq!(hitl.get("result"), None);
        let native = world.agent().get(&names.native).await.is(200);
        assert_eq!(
            (&native["state"], &native["result"]["reason"]),
            (&json!("cancelled"), &json!(reason))
        );
        assert_eq!(native["result"]["by"]["id"], "user_dev");
        let call = names.a2h(&world, "human_contacts").await;
        assert_eq!((&call["response"], &call["outcome"]), (&json!(a2h), &json!("answered")));
    }
    world.end().await;
}

/// The table of states with its column of checkpoints: where each stands in every dialect.
#[tokio::test]
async fn every_state_of_a_checkpoint_in_every_dialect() {
    let world = World::dev().await;
    let until = json!({ "expires_at": "2026-03-01T10:00:00Z" });
    for (reached, hacp, hxp, hitl, native, a2h) in [
        ("pending", "pending", "pending", "pending", "pending", None),
        ("opened", "pending", "assigned", "opened", "opened", None),
        ("completed", "resolved", "completed", "completed", "completed", Some("answered")),
        ("changes requested", "resolved", "completed", "completed", "completed", Some("answered")),
        ("cancelled", "expired", "cancelled", "cancelled", "cancelled", Some("cancelled")),
        ("expired", "expired", "expired", "expired", "expired", Some("expired")),
    ] {
        let task = begun(&world, json!({})).await;
        let id = raised(&world, &task, "approval", until.clone()).await;
        let names = Names::of(&id);
        let answer = async |answer: Value| {
            let said = json!({ "answer": answer, "comment": "shorter" });
            world.human().post(&format!("{}/answer", names.native), said).await.is(200);
        };
        match reached {
            "opened" => {
                let ask: AskId = names.ask.parse().unwrap();
                let actor = Actor::Human {
                    id: "user_dev".parse().unwrap(),
                    via: AnswerInterface::Web,
                    assurance: Assurance::Session,
                };
                world.gateway().run(actor, AskCommand::Open(ask)).await.unwrap();
            }
            "completed" => answer(json!({ "verdict": "approved" })).await,
            "changes requested" => answer(json!({ "verdict": "changes_requested" })).await,
            "expired" => {
                world.advance(3600);
                world.run_timers().await;
            }
            "cancelled" => {
                done(&world.human(), "task.cancel", json!({ "task_id": task })).await;
            }
            _ => {}
        }
        let events = done(&world.human(), "audit.replay", json!({ "task_id": task })).await;
        let events = events.as_array().unwrap().iter().rev();
        let mut told = events.map(|event| &event["after"]["checkpoint"]);
        let told = told.find(|told| told["id"] == *id).unwrap();
        assert_eq!(told["state"], hacp, "{reached}");
        assert_eq!(names.hxp(&world).await["status"], hxp, "{reached}");
        assert_eq!(names.hitl(&world).await["status"], hitl, "{reached}");
        assert_eq!(names.state(&world).await, native, "{reached}");
        let call = names.a2h(&world, "function_calls").await;
        assert_eq!(call.get("outcome").and_then(Value::as_str), a2h, "{reached}");
        let resolution = &told["resolution"];
        if reached == "completed" {
            assert_eq!(resolution["comment"], "shorter");
        }
        if reached == "changes requested" {
            let said = (&resolution["action"], &resolution["input"]);
            assert_eq!(said, (&json!("provide"), &json!("shorter")), "the task goes on with it");
            assert_eq!(state(&world, &task).await, "in_progress");
            assert_eq!(call["approved"], false);
        }
    }
    world.end().await;
}

/// HACP-051: nobody but the principal and the reviewers decides, whichever door they come by; and
/// what was decided over HACP is over everywhere.
#[tokio::test]
async fn others_do_not_decide_and_all_learn_the_end() {
    let world = World::dev().await;
    let task = begun(&world, json!({})).await;
    let id = raised(&world, &task, "approval", json!({})).await;
    let said = json!({ "answer": { "verdict": "approved" } });
    world.member().post(&format!("{}/answer", native(&id)), said.clone()).await.is(404);
    let handed = json!({ "to": "user_dev_2" });
    world.human().post(&format!("{}/assign", native(&id)), handed).await;
    let refusal = world.member().post(&format!("{}/answer", native(&id)), said).await;
    assert!([403, 404].contains(&refusal.status), "{}", refusal.text);
    assert_eq!(state(&world, &task).await, "blocked");
    let no = json!({ "ckpt_id": id, "action": "reject", "comment": "never" });
    done(&world.human(), "checkpoint.resolve", no.clone()).await;
    assert_eq!(state(&world, &task).await, "completed");
    let request = world.agent().poll(&hxp(&id)).await.is(200);
    assert_eq!(request["status"], "completed");
    refused(op(&world.human(), "checkpoint.resolve", no).await, 412, "PRECONDITION_FAILED");
    world.end().await;
}

/// A task that is called off takes its question with it; a question withdrawn leaves its task
/// blocked.
#[tokio::test]
async fn withdrawn_on_either_side() {
    let world = World::dev().await;
    let (off, stuck) = (begun(&world, json!({})).await, begun(&world, json!({})).await);
    let (one, two) = (
        raised(&world, &off, "approval", json!({})).await,
        raised(&world, &stuck, "approval", json!({})).await,
    );
    done(&world.human(), "task.cancel", json!({ "task_id": off, "reason": "no need" })).await;
    let request = world.agent().poll(&hxp(&one)).await.is(200);
    assert_eq!(request["status"], "cancelled");
    let why = json!({ "reason": "found it myself" });
    world.agent().post(&format!("{}/cancel", native(&two)), why).await.is(200);
    assert_eq!(state(&world, &stuck).await, "blocked");
    let lapsed = checkpoint(&world, &two, &stuck).await;
    assert_eq!((&lapsed["state"], &lapsed["reason"]), (&json!("expired"), &json!("withdrawn")));
    assert_eq!(lapsed["comment"], "found it myself", "what was said is in the history");
    done(&world.human(), "task.cancel", json!({ "task_id": stuck })).await;
    world.end().await;
}

/// HACP-062: what was delivered is in the inbox of everybody who judges it, and is judged there or
/// over HACP, which makes no difference.
#[tokio::test]
async fn what_was_delivered_is_judged_anywhere() {
    let world = World::dev().await;
    let policy = json!({ "required_reviewers": ["user_dev", "user_dev_2"], "quorum": "all" });
    let spec = json!({ "spec": { "goal": "Fix it", "review_policy": policy } });
    let task = begun(&world, spec).await;
    let payload = json!({ "kind": "inline", "content": "done" });
    let delivery = json!({ "task_id": task, "type": "patch", "payload": payload });
    done(&world.agent(), "artifact.commit", delivery).await;
    let inbox = world.member().inbox("").await.is(200);
    let asked = inbox.ids()[0].replace("hxp_", "ask_");
    let waiting = done(&world.member(), "human.inbox", json!({})).await;
    assert_eq!(waiting[0]["kind"], "submit_review");
    let path = format!("/api/v1/asks/{asked}/answer");
    let good = json!({ "answer": { "verdict": "approved" } });
    world.member().post(&path, good).await.is(200);
    assert_eq!(state(&world, &task).await, "under_review");
    assert_eq!(done(&world.member(), "human.inbox", json!({})).await, json!([]));
    let mine = done(&world.human(), "human.inbox", json!({})).await;
    assert_eq!(mine[0]["kind"], "submit_review", "the others have not judged yet (K-23)");
    done(&world.human(), "review.submit", json!({ "task_id": task, "verdict": "approved" })).await;
    assert_eq!(state(&world, &task).await, "completed");
    let over = world.human().get(&format!("/api/v1/asks/{asked}")).await.is(200);
    assert_eq!(over["state"], "completed");
    world.end().await;
}

/// HACP-054: what an agent wants to do is ticked on the page or listed over an API, and what is
/// left out is denied, whoever asks afterwards.
#[tokio::test]
async fn some_of_it_is_allowed_on_a_page_and_over_an_api() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let action = |id: &str| json!({ "id": id, "kind": "shell", "summary": format!("run {id}") });
    let proposed = json!({ "proposed_actions": [action("push"), action("tag")] });
    let task = begun(&world, json!({})).await;
    for over_api in [false, true] {
        let id = raised(&world, &task, "approval", proposed.clone()).await;
        if over_api {
            let answer = json!({ "verdict": "approved", "edits": { "allow": ["tag"] } });
            let path = format!("{}/answer", native(&id));
            world.human().post(&path, json!({ "answer": answer })).await.is(200);
        } else {
            let path = format!("/asks/{}", id.replace("ckpt_", "ask_"));
            let page = browser.client.get(&path).await.is(200).text;
            assert!(page.contains("run push (shell)"), "{page}");
            let ticked = [("action", "approve"), ("edits.0", ""), ("edits.0", "tag")];
            press(&browser, &path, "answer", &ticked).await.is(303);
            world.let_answers_stand();
            world.run_timers().await;
        }
        let resolution = checkpoint(&world, &id, &task).await["resolution"].clone();
        assert_eq!(resolution["action"], "approve");
        let told = (&resolution["approved_actions"], &resolution["denied_actions"]);
        assert_eq!(told, (&json!(["tag"]), &json!(["push"])));
        assert_eq!(resolution["state_patch"], Value::Null);
        assert_eq!(state(&world, &task).await, "in_progress");
        let read = world.agent().get(&native(&id)).await.is(200);
        assert_eq!(read["result"]["answer"]["edits"]["allow"], json!(["tag"]));
    }
    world.end().await;
}

/// Whether an answer would be taken is judged with the task it is a point of: a dry run says what
/// the run would.
#[tokio::test]
async fn a_dry_run_knows_the_task() {
    let world = World::dev().await;
    let new = json!({ "type": "code", "project": "dev", "spec": { "goal": "Theirs to judge" } });
    let id = done(&world.member(), "task.create", new).await["id"].as_str().unwrap().to_owned();
    let given = json!({ "task_id": id, "agent_id": "agent_dev" });
    done(&world.member(), "task.assign", given).await;
    done(&world.agent(), "task.start", json!({ "task_id": id })).await;
    done(&world.agent(), "artifact.commit", inline(&id, "one\n")).await;
    let asks = world.human().get("/api/v1/asks?view=all").await.is(200);
    let ask = asks["asks"][0]["id"].clone();
    for (who, taken) in [(world.human(), false), (world.member(), true)] {
        let mut said = Vec::new();
        for dry_run in [true, false] {
            let body =
                json!({ "asks": [ask], "answer": { "verdict": "approved" }, "dry_run": dry_run });
            let reply = who.post("/api/v1/asks/answers", body).await.is(200);
            let result = &reply["results"][0];
            said.push((result["done"].clone(), result["code"].clone()));
        }
        assert_eq!(said[0], said[1], "what was foretold is what came");
        assert_eq!(said[0].0, taken, "{said:?}");
    }
    world.end().await;
}
