//! Neither yes nor no: changes are asked for, the agent asks again, and both know of each other.
//! Or the person makes the change themselves, where the agent can take it.

use serde_json::{Value, json};

use crate::native::{ASKS, approval, asked};
use crate::world::World;

fn changes(comment: &str) -> Value {
    json!({ "answer": { "verdict": "changes_requested" }, "comment": comment })
}

/// Only an approval takes a request for changes, and never without saying why; every other question
/// refuses it in every dialect, and nothing looks like a result.
#[tokio::test]
async fn only_an_approval_can_be_sent_back() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let choice = |id: &str| json!({ "id": id, "label": id });
    let field = json!({ "key": "k", "label": "K", "type": "text", "required": true });
    for question in [
        json!({ "kind": "approve" }),
        json!({ "kind": "choose", "pick": "one", "options": [choice("a"), choice("b")] }),
        json!({ "kind": "provide", "form": { "fields": [field] } }),
        json!({ "kind": "confirm", "items": [], "yes": "Go", "no": "Stop" }),
        json!({ "kind": "escalate" }),
        json!({ "kind": "converse" }),
    ] {
        let mut question = question;
        question["prompt"] = json!("So?");
        let path = asked(&agent, json!({ "question": question })).await;
        let silent = json!({ "answer": { "verdict": "changes_requested" } });
        human.post(&format!("{path}/answer"), silent).await.problem(422, "answer-mismatch");
        let answered = human.post(&format!("{path}/answer"), changes("smaller")).await;
        let hxp = path.replace(&format!("{ASKS}/ask_"), "hxp_");
        if question["kind"] != "approve" {
            let problem = answered.problem(422, "answer-mismatch");
            assert!(problem.text.contains("only an approval"), "{}", problem.text);
            assert_eq!(problem["errors"][0]["field"], "answer.verdict", "{}", problem.text);
            assert_eq!(agent.get(&path).await.is(200)["state"], "pending");
            assert_eq!(agent.poll(&hxp).await.is(200)["status"], "pending");
            // HITL has no such action but for approvals, and says which there are.
            let review = path.replace(&format!("{ASKS}/ask_"), "/hitl/v1/reviews/review_");
            let poll = agent.get(&format!("{review}/status")).await.is(200);
            assert_eq!((&poll["status"], &poll["result"]), (&json!("pending"), &json!(null)));
            continue;
        }
        answered.is(200);
        let seen = agent.get(&path).await.is(200);
        assert_eq!(seen["result"]["answer"], json!({ "verdict": "changes_requested" }));
        assert_eq!(seen["result"]["comment"], "smaller");
        let receipt = agent.poll(&hxp).await.is(200)["receipt"].clone();
        assert_eq!(
            (&receipt["result"], &receipt["reason"]),
            (&json!("rejected"), &json!("Changes requested: smaller"))
        );
    }
    world.end().await;
}

/// One thread over three rounds and two protocols, read from anywhere in it.
#[tokio::test]
async fn a_thread_is_read_in_both_directions() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let first = asked(&agent, approval()).await;
    human.post(&format!("{first}/answer"), changes("cheaper")).await.is(200);
    let first_id = first.rsplit_once('/').unwrap().1.to_owned();
    let mut again = approval();
    again["follows"] = json!(first_id);
    let second = asked(&agent, again.clone()).await;
    agent.post(ASKS, again).await.problem(409, "exists");
    human.post(&format!("{second}/answer"), changes("later")).await.is(200);
    let second_hxp = second.replace(&format!("{ASKS}/ask_"), "hxp_");
    let body = json!({
        "action": "APPROVE", "payload": { "item": "Deploy?" }, "previous_request_id": second_hxp,
    });
    let third = agent.ask(body).await;
    assert_eq!(agent.poll(&third).await["previous_request_id"], json!(second_hxp));
    assert_eq!(agent.poll(&second_hxp).await["next_request_id"], json!(third));
    let ids = [first_id, second_hxp.replace("hxp_", "ask_"), third.replace("hxp_", "ask_")];
    for id in &ids {
        for reader in [&agent, &human] {
            let thread = reader.get(&format!("{ASKS}/{id}/thread")).await.is(200);
            let rounds = thread["asks"].as_array().unwrap();
            let read: Vec<&str> = rounds.iter().map(|ask| ask["id"].as_str().unwrap()).collect();
            assert_eq!(read, ids);
        }
    }
    let stranger = world.bearer("dev-agent-key-2");
    stranger.get(&format!("{ASKS}/{}/thread", ids[0])).await.problem(404, "not-found");
    for wrong in [json!("ask_1"), json!(7)] {
        let body = json!({
            "action": "APPROVE", "payload": { "item": "Deploy?" }, "previous_request_id": wrong,
        });
        let refused = agent.post("/hxp/v1/requests", body).await.is(400);
        assert!(
            refused["message"].as_str().unwrap().contains("previous_request_id"),
            "{refused:?}"
        );
    }
    world.end().await;
}

/// Typed, validated, and the agent gets both: what it sent and what was approved.
#[tokio::test]
async fn an_approval_with_edits_brings_both_back() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let details = json!({ "amount": 40, "to": "Ada" });
    let field = json!({ "key": "amount", "label": "Amount", "type": "number", "validation": { "max": 40 } });
    let ask = |editable: Value| {
        json!({ "question": { "kind": "approve", "prompt": "Refund?", "details": details,
            "editable": editable } })
    };
    let edited = |edits: Value| json!({ "answer": { "verdict": "approved", "edits": edits } });
    for (editable, edits, wrong, fields) in [
        (json!(false), None, json!({ "amount": 30 }), vec![]),
        (
            json!(true),
            Some(json!({ "to": "Eve" })),
            json!({ "amount": "30" }),
            vec!["edits.amount"],
        ),
        (json!(true), Some(json!({ "amount": 30 })), json!({ "more": 1 }), vec!["edits.more"]),
        (
            json!({ "fields": [field] }),
            Some(json!({ "amount": 30 })),
            json!({ "amount": 41 }),
            vec!["amount"],
        ),
        (
            json!({ "fields": [field] }),
            Some(json!({ "amount": 1 })),
            json!({ "to": "Eve" }),
            vec!["edits.to"],
        ),
    ] {
        let path = asked(&agent, ask(editable)).await;
        let refused = human.post(&format!("{path}/answer"), edited(wrong)).await;
        let problem = refused.problem(422, "answer-mismatch");
        let named: Vec<&str> = problem["errors"]
            .as_array()
            .map(|all| all.iter().map(|one| one["field"].as_str().unwrap()).collect())
            .unwrap_or_default();
        assert_eq!(named, fields);
        let Some(edits) = edits else { continue };
        human.post(&format!("{path}/answer"), edited(edits.clone())).await.is(200);
        let mut whole = details.clone();
        whole.as_object_mut().unwrap().extend(edits.as_object().unwrap().clone());
        let seen = agent.get(&path).await.is(200);
        assert_eq!(seen["question"]["details"], details);
        assert_eq!(seen["result"]["answer"], json!({ "verdict": "approved", "edits": whole }));
        let hxp = agent.poll(&path.replace(&format!("{ASKS}/ask_"), "hxp_")).await.is(200);
        assert_eq!(hxp["payload"]["details"], details);
        assert_eq!(hxp["receipt"]["result"], "approved");
        assert_eq!(hxp["receipt"]["edits"], whole);
    }
    let lost = json!({ "question": { "kind": "approve", "prompt": "Refund?",
        "editable": { "fields": [field] } } });
    agent.post(ASKS, lost).await.problem(422, "invalid-field");
    // Declared over the other protocol, too.
    let body = json!({
        "action": "APPROVE",
        "payload": { "item": "Refund?", "details": details, "editable": true },
    });
    let id = agent.ask(body).await;
    let path = format!("{ASKS}/{}/answer", id.replace("hxp_", "ask_"));
    human.post(&path, edited(json!({ "amount": 5 }))).await.is(200);
    assert_eq!(agent.poll(&id).await["receipt"]["edits"], json!({ "amount": 5, "to": "Ada" }));
    let body = json!({ "action": "APPROVE", "payload": { "item": "Refund?", "editable": "yes" } });
    agent.post("/hxp/v1/requests", body).await.is(400);
    world.end().await;
}
