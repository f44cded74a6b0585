//! Asked over A2H, answered through every door, watched in every other dialect.

use serde_json::{Value, json};

use crate::a2h::{A2H, call, contact, make, native};
use crate::pages::{csrf, signed_in};
use crate::world::World;

/// One ask under the names each dialect has for it, and what each says of it.
async fn told(world: &World, ask_id: &str) -> (Value, Value) {
    let ulid = ask_id.strip_prefix("ask_").unwrap();
    let hxp = world.agent().poll(&format!("hxp_{ulid}")).await.is(200).json;
    let hitl =
        world.agent().get(&format!("/hitl/v1/reviews/review_{ulid}/status")).await.is(200).json;
    (hxp, hitl)
}

/// Presses a button on the page of an ask, and gives the page it was on.
async fn press(world: &World, ask_id: &str, button: (&str, &str)) -> String {
    let browser = signed_in(world).await;
    let page = browser.client.get(&format!("/asks/{ask_id}")).await.is(200);
    let token = csrf(&page);
    let form = [("csrf", token.as_str()), button];
    let sent = browser.client.post_form(&format!("/asks/{ask_id}/answer"), &form).await;
    assert!(matches!(sent.status, 200 | 303), "{}", sent.text);
    world.let_answers_stand();
    page.text
}

#[tokio::test]
async fn a_function_call_is_answered_through_every_door() {
    let world = World::dev().await;
    let agent = world.agent();
    for door in ["page", "hxp", "native", "respond"] {
        let mut body = call(&format!("call-{door}"));
        body["spec"]["reject_options"] = json!([{"name": "later", "title": "Not now"}]);
        let made = make(&agent, "function_calls", body).await;
        let ask_id = made["status"]["ask_id"].as_str().unwrap().to_owned();
        let (open, _) = told(&world, &ask_id).await;
        assert_eq!(
            (&open["action"], &open["payload"]["details"]),
            (&json!("APPROVE"), &json!({"amount": 7}))
        );
        let reason = match door {
            "page" => {
                let shown = press(&world, &ask_id, ("reject", "later")).await;
                assert!(shown.contains("name=\"reject\" value=\"later\""), "{shown}");
                Some("later")
            }
            "hxp" => {
                let id = ask_id.replace("ask_", "hxp_");
                world.human().resolve(&id, json!({ "result": "rejected" })).await.is(200);
                None
            }
            "native" => {
                let said = json!({ "answer": { "verdict": "rejected", "option": "later" } });
                world.human().post(&format!("{}/answer", native(&made)), said).await.is(200);
                Some("later")
            }
            _ => {
                let said = json!({ "approved": false, "reject_option_name": "later" });
                let path = format!("{A2H}/agent/function_calls/call-{door}/respond");
                agent.post(&path, said).await.is(200);
                Some("later")
            }
        };
        let over = agent.get(&format!("{A2H}/function_calls/call-{door}")).await.is(200);
        assert_eq!(over["status"]["approved"], false, "{door}");
        assert_eq!(over["status"]["reject_option_name"].as_str(), reason, "{door}");
        let (hxp, hitl) = told(&world, &ask_id).await;
        assert_eq!(hxp["receipt"]["result"], "rejected", "{door}");
        assert_eq!(hitl["result"]["action"], "reject", "{door}");
        assert_eq!(hitl["result"]["data"]["option"].as_str(), reason, "{door}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_human_contact_is_answered_through_every_door() {
    let world = World::dev().await;
    let agent = world.agent();
    for door in ["page", "hxp", "native", "respond"] {
        let mut body = contact(&format!("c-{door}"));
        body["spec"]["response_options"] = json!([{"name": "a", "title": "First"}, {"name": "b"}]);
        let made = make(&agent, "human_contacts", body).await;
        let ask_id = made["status"]["ask_id"].as_str().unwrap().to_owned();
        let (open, _) = told(&world, &ask_id).await;
        assert_eq!(open["action"], "DECIDE");
        match door {
            "page" => drop(press(&world, &ask_id, ("choose", "a")).await),
            "hxp" => {
                let id = ask_id.replace("ask_", "hxp_");
                drop(world.human().resolve(&id, json!({ "result": "First" })).await.is(200));
            }
            "native" => {
                let said = json!({ "answer": { "verdict": "chosen", "options": ["a"] } });
                drop(world.human().post(&format!("{}/answer", native(&made)), said).await.is(200));
            }
            _ => {
                let said = json!({ "response": "First", "response_option_name": "a" });
                let path = format!("{A2H}/agent/human_contacts/c-{door}/respond");
                drop(agent.post(&path, said).await.is(200));
            }
        }
        let over = agent.get(&format!("{A2H}/human_contacts/c-{door}")).await.is(200);
        let status = (&over["status"]["response"], &over["status"]["response_option_name"]);
        assert_eq!(status, (&json!("First"), &json!("a")), "{door}");
        let (hxp, hitl) = told(&world, &ask_id).await;
        assert_eq!(hxp["receipt"]["result"], "First", "{door}");
        assert_eq!(hitl["result"]["data"]["selected"], json!(["a"]), "{door}");
    }
    world.end().await;
}
