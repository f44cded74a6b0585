//! A checkpoint is an ask: raised over HACP, shown and answered everywhere, and the task goes on
//! (DESIGN §11).

use serde_json::{Value, json};

use crate::hacp::{begun, done, op, raised, refused, state};
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

/// HACP-050, HACP-051: every kind, answered over our own API, is resolved in HACP's words and resumes
/// the task.
#[tokio::test]
async fn answered_over_our_own_api() {
    let world = World::dev().await;
    let options = json!({ "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] });
    for (kind, more, answer, comment, then, resolution) in [
        (
            "approval",
            json!({}),
            json!({ "verdict": "approved" }),
            "fine",
            "in_progress",
            json!({ "action": "approve", "comment": "fine" }),
        ),
        (
            "approval",
            json!({}),
            json!({ "verdict": "rejected" }),
            "no",
            "completed",
            json!({ "action": "reject", "comment": "no" }),
        ),
        (
            "approval",
            json!({}),
            json!({ "verdict": "changes_requested" }),
            "smaller",
            "in_progress",
            json!({ "action": "provide", "input": "smaller" }),
        ),
        (
            "choice",
            options,
            json!({ "verdict": "chosen", "options": ["b"] }),
            "so",
            "in_progress",
            json!({ "action": "choose", "choice": "b" }),
        ),
        (
            "input",
            json!({}),
            json!({ "verdict": "replied", "text": "8080" }),
            "so",
            "in_progress",
            json!({ "action": "provide", "input": "8080" }),
        ),
        (
            "escalation",
            json!({}),
            json!({ "verdict": "retry" }),
            "so",
            "in_progress",
            json!({ "action": "approve" }),
        ),
        (
            "escalation",
            json!({}),
            json!({ "verdict": "abort" }),
            "so",
            "completed",
            json!({ "action": "reject" }),
        ),
    ] {
        let task = begun(&world, json!({})).await;
        let id = raised(&world, &task, kind, more).await;
        let inbox = world.human().inbox("").await.is(200);
        assert_eq!(inbox.ids(), [hxp(&id)], "{kind}");
        let said = json!({ "answer": answer, "comment": comment });
        world.human().post(&format!("{}/answer", native(&id)), said).await.is(200);
        assert_eq!(state(&world, &task).await, then, "{kind}");
        let resolved = checkpoint(&world, &id, &task).await;
        assert_eq!(resolved["state"], "resolved");
        for (key, value) in resolution.as_object().unwrap() {
            assert_eq!(resolved["resolution"][key], *value, "{kind} {key}");
        }
        assert_eq!(resolved["resolution"]["by"], "user_dev");
    }
    world.end().await;
}

/// The same checkpoint over HXP Execution and as a HITL case, and resolved over HXP.
#[tokio::test]
async fn watched_and_answered_in_other_dialects() {
    let world = World::dev().await;
    let options = json!({ "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] });
    for (kind, more, action, review, said) in [
        ("approval", json!({}), "APPROVE", "approval", json!("approved")),
        ("choice", options, "DECIDE", "selection", json!("B")),
        ("input", json!({}), "PROVIDE", "input", json!("8080")),
    ] {
        let task = begun(&world, json!({})).await;
        let id = raised(&world, &task, kind, more).await;
        let request = world.agent().poll(&hxp(&id)).await.is(200);
        assert_eq!((&request["action"], &request["status"]), (&json!(action), &json!("pending")));
        let case = format!("/hitl/v1/reviews/{}/status", id.replace("ckpt_", "review_"));
        let open = world.agent().get(&case).await.is(200);
        assert_eq!(open["status"], "pending", "{kind}");
        world.human().resolve(&hxp(&id), json!({ "result": said })).await.is(200);
        assert_eq!(state(&world, &task).await, "in_progress", "{kind}");
        let over = world.agent().get(&case).await.is(200);
        assert_eq!(over["status"], "completed", "{kind}: {review}");
        let call = format!(
            "/a2h/v1/{}/{}",
            if kind == "approval" { "function_calls" } else { "human_contacts" },
            id.replace("ckpt_", "ask_")
        );
        let call = world.agent().get(&call).await.is(200);
        assert!(call["status"]["responded_at"].is_string(), "{kind}: {}", call.text);
    }
    world.end().await;
}

/// HACP-051: nobody but the principal and the reviewers decides, whichever door they come by; and what
/// was decided over HACP is over everywhere.
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

/// A task that is called off takes its question with it; a question withdrawn leaves its task blocked.
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
    world.agent().cancel(&hxp(&two)).await.is(200);
    assert_eq!(state(&world, &stuck).await, "blocked");
    let lapsed = checkpoint(&world, &two, &stuck).await;
    assert_eq!((&lapsed["state"], &lapsed["reason"]), (&json!("expired"), &json!("withdrawn")));
    done(&world.human(), "task.cancel", json!({ "task_id": stuck })).await;
    world.end().await;
}

/// HACP-062: what was delivered is in the inbox of everybody who judges it, and is judged there or over
/// HACP, which makes no difference.
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

/// HACP-054: what an agent wants to do is ticked on the page or listed over an API, and what is left out
/// is denied, whoever asks afterwards.
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
