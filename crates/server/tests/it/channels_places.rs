//! Requests put where the agent wants them: who may answer there, and what happens when nobody can
//! be reached.

use channels::testing::slack::inbound::{self, interaction};
use channels::testing::slack::{Fault, person};
use serde_json::{Value, json};

use crate::a2h::{A2H, call, make, native};
use crate::client::with;
use crate::fake_platforms::{
    ADA, id, in_slack_as, now_says, office, posted, press, slack_calls, whispered,
};
use crate::fake_push_device::waits;
use crate::native::{ASKS, approval, asked, yes};
use crate::pages::signed_in;

/// A function call for this place in Slack.
fn for_slack(call_id: &str, slack: &Value) -> Value {
    with(call(call_id), json!({ "spec": { "channel": { "slack": slack } } }))
}

/// A2H-030, A2H-063, A2H-081: it is put in the channel, below the message the agent named; nobody
/// else is told, and whoever is there answers as a guest.
#[tokio::test]
async fn a_call_is_put_in_the_channel_the_agent_names() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let place = json!({ "channel_or_user_id": "C0OPS", "thread_ts": "1770000000.000100" });
    let made = make(&world.agent(), "function_calls", for_slack("c1", &place)).await;
    let message = posted(&slack, 2).await;
    assert_eq!(
        (&*message.channel, message.thread_ts.as_deref()),
        ("C0OPS", Some("1770000000.000100"))
    );
    waits(&world, 0).await;
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(slack.messages().len(), 2, "nobody else is told");
    let got = world.agent().get(&format!("{A2H}/function_calls/c1")).await.is(200);
    assert_eq!(got["status"]["slack_message_ts"], message.ts, "{got:?}");
    press(&world, &slack, &id(&message), "Approve", "U0EVE").await;
    let seen = world.agent().get(&native(&made)).await.is(200)["result"].clone();
    assert_eq!(seen["by"], json!({ "kind": "guest" }), "{seen}");
    assert_eq!((&seen["via"], &seen["assurance"]), (&json!("slack"), &json!("agent-attested")));
    assert_eq!(seen["attested"]["platform_user_id"], "U0EVE");
    let got = world.agent().get(&format!("{A2H}/function_calls/c1")).await.is(200);
    assert_eq!(got["status"]["approved"], true);
    assert_eq!(got["status"]["user_info"], json!({ "name": "u0eve", "source": "slack" }));
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by"), "{over}");
    world.end().await;
}

/// A2H-082: who was not named is told so, and the call goes on waiting.
#[tokio::test]
async fn only_those_the_agent_named_may_answer() {
    let (slack, world) = office().await;
    slack.person(person("U0BOB", "bob@example.com"));
    let place = json!({ "channel_or_user_id": "C0OPS", "allowed_responder_ids": [ADA] });
    let made = make(&world.agent(), "function_calls", for_slack("c1", &place)).await;
    let message = id(&posted(&slack, 1).await);
    waits(&world, 0).await;
    let (channel, ts) = message.split_once('/').unwrap();
    for user in ["U0BOB", "U0EVE"] {
        press(&world, &slack, &message, "Approve", user).await;
        assert!(whispered(&slack).contains("was not sent to you"), "{}", whispered(&slack));
        let wrote = inbound::wrote(&format!("Ev{user}"), channel, Some(ts), user, "yes");
        slack_calls(&world, &inbound::event(&wrote, world.now())).await.is(200);
    }
    assert_eq!(world.agent().get(&native(&made)).await.is(200)["state"], "pending");
    let got = world.agent().get(&format!("{A2H}/function_calls/c1")).await.is(200);
    assert_eq!(got["status"]["approved"], Value::Null);
    let wrote = inbound::wrote("Ev9", channel, Some(ts), ADA, "no, too expensive");
    slack_calls(&world, &inbound::event(&wrote, world.now())).await.is(200);
    let got = world.agent().get(&format!("{A2H}/function_calls/c1")).await.is(200);
    assert_eq!(
        (&got["status"]["approved"], &got["status"]["comment"]),
        (&json!(false), &json!("too expensive"))
    );
    waits(&world, 0).await;
    world.end().await;
}

/// A modal lies on no message: whoever sends it is judged like whoever opened it.
#[tokio::test]
async fn a_guest_gives_a_reason_in_a_modal() {
    let (slack, world) = office().await;
    let placed = json!({
        "question": { "prompt": "Pay?", "kind": "approve", "reject_requires_reason": true },
        "place": { "to": "slack:C0OPS", "only": [ADA] },
    });
    let ask = asked(&world.agent(), placed).await;
    let message = id(&posted(&slack, 1).await);
    waits(&world, 0).await;
    press(&world, &slack, &message, "Reject", ADA).await;
    assert_eq!(slack.views().len(), 1, "{:#?}", slack.calls());
    let stolen = slack.submitted("U0EVE", &[("Why?", json!("hm"))]).unwrap();
    let sent = slack.submitted(ADA, &[("Why?", json!("too much"))]).unwrap();
    slack_calls(&world, &interaction(&stolen, world.now())).await.is(200);
    assert_eq!(world.agent().get(&ask).await.is(200)["state"], "pending");
    slack_calls(&world, &interaction(&sent, world.now())).await.is(200);
    let done = world.agent().get(&ask).await.is(200)["result"].clone();
    assert_eq!((&done["comment"], &done["by"]["kind"]), (&json!("too much"), &json!("guest")));
    waits(&world, 0).await;
    world.end().await;
}

/// Refused for good, its owner is told instead, and the request says why.
#[tokio::test]
async fn where_nobody_can_be_reached_the_owner_is() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let placed = with(approval(), json!({ "place": { "to": "slack:C0SECRET" } }));
    let ask = asked(&world.agent(), placed).await;
    let message = posted(&slack, 2).await;
    assert_eq!(message.channel, "D0ADA");
    waits(&world, 0).await;
    let path = format!("{ask}/messages");
    let seen = world.human().get(&path).await.is(200)["messages"].clone();
    assert_eq!(seen.as_array().unwrap().len(), 2, "{seen}");
    let at = |state: &str| {
        seen.as_array().unwrap().iter().find(|one| one["state"] == state).unwrap().clone()
    };
    let (failed, sent) = (at("failed"), at("sent"));
    assert_eq!((&failed["channel"], &failed["to"]), (&json!("slack"), &Value::Null));
    assert!(failed["error"].as_str().unwrap().contains("invite"), "{failed}");
    assert_eq!((&sent["to"], &sent["why"]), (&json!("user_dev"), &json!("asked")));
    // The agent learns that it went out, not to whom, nor what went wrong.
    let told = world.agent().get(&path).await.is(200);
    assert_eq!(told["messages"].as_array().unwrap().len(), 2);
    for hidden in ["user_dev", "error", "invite", "C0SECRET", "U0ADA"] {
        assert!(!told.text.contains(hidden), "{hidden}: {}", told.text);
    }
    world.agent_2().get(&path).await.problem(404, "not-found");
    world.member().get(&path).await.problem(404, "not-found");
    world.anonymous().get(&path).await.problem(401, "unauthorized");
    let browser = signed_in(&world).await.client;
    let page = browser.get(&format!("/asks/{}", ask.rsplit('/').next().unwrap())).await.is(200);
    for words in
        ["Notifications", "Slack, the address that the agent chose</bdi>: <strong>failed", "invite"]
    {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
    press(&world, &slack, &id(&message), "Approve", ADA).await;
    assert_eq!(world.agent().get(&ask).await.is(200)["result"]["by"]["id"], "user_dev");
    waits(&world, 0).await;
    world.end().await;
}

/// A place that is away for a while is tried again; nobody else is bothered meanwhile.
#[tokio::test]
async fn a_place_that_is_away_is_tried_again() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    for fault in [Fault::Slower(120), Fault::Status(503)] {
        slack.next(fault);
    }
    let placed = with(approval(), json!({ "place": { "to": "slack:C0OPS" } }));
    let ask = asked(&world.agent(), placed).await;
    waits(&world, 1).await;
    world.advance(119);
    waits(&world, 1).await;
    assert_eq!(slack.calls_of("chat.postMessage").len(), 2, "no earlier than it was asked to");
    world.advance(1);
    waits(&world, 1).await;
    assert_eq!(slack.calls_of("chat.postMessage").len(), 3);
    let seen = world.human().get(&format!("{ask}/messages")).await.is(200);
    assert_eq!(seen["messages"][0]["state"], "waiting", "{}", seen.text);
    world.advance(60);
    waits(&world, 0).await;
    let message = posted(&slack, 2).await;
    assert_eq!(message.channel, "C0OPS");
    let seen = world.human().get(&format!("{ask}/messages")).await.is(200);
    assert_eq!(
        (&seen["messages"][0]["state"], &seen["messages"][1]),
        (&json!("sent"), &Value::Null)
    );
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by"), "{over}");
    world.end().await;
}

/// What is no place is refused by the name of its field, and nothing is asked.
#[tokio::test]
async fn what_is_no_place_is_refused() {
    let (slack, world) = office().await;
    for (place, field) in [
        (json!("slack:C0OPS"), "place"),
        (json!({}), "place"),
        (json!({ "to": "fax:1" }), "place.to"),
        (json!({ "to": "slack:general" }), "place.to"),
        (json!({ "to": "email:nobody" }), "place.to"),
        (json!({ "to": 7 }), "place.to"),
        (json!({ "to": "devices" }), "place"),
        (json!({ "to": "slack:C0OPS", "only": [""] }), "place"),
        (json!({ "to": "slack:C0OPS", "only": "U1" }), "place.only"),
        (json!({ "to": "slack:C0OPS", "thread": "" }), "place"),
        (json!({ "to": "slack:C0OPS", "more": 1 }), "place.more"),
    ] {
        let body = with(approval(), json!({ "place": place.clone() }));
        let refused = world.agent().post(ASKS, body).await.problem(422, "invalid-field");
        let named = refused["errors"][0]["field"].as_str().unwrap_or_default();
        assert!(named.starts_with(field), "{place}: {}", refused.text);
        assert!(!refused["errors"][0]["expected"].as_str().unwrap_or_default().is_empty());
    }
    let listed = world.agent().get(ASKS).await.is(200);
    assert_eq!(listed["asks"], json!([]), "{}", listed.text);
    assert_eq!(slack.calls().len(), 0);
    asked(&world.agent(), approval()).await;
    waits(&world, 0).await;
    world.end().await;
}
