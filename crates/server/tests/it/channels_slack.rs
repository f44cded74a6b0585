//! Requests told and answered in Slack, from the code to the decision.

use channels::testing::slack::inbound::{self, interaction};
use channels::testing::slack::{Workspace, person};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::fake_platforms::{
    ADA, id, in_slack_as, now_says, office, posted, press, send, slack_calls, whispered,
};
use crate::fake_push_device::waits;
use crate::native::{approval, asked, yes};
use crate::notification_steps::NOTICES;
use crate::world::World;

const BOB: &str = "U0BOB";

/// Somebody is asked this, and told of it in Slack: where the ask is, and the message.
async fn told(world: &World, slack: &Workspace, question: Value) -> (String, String) {
    let before = slack.messages().len();
    let ask = asked(&world.agent(), question).await;
    let message = posted(slack, before + 1).await;
    waits(world, 0).await;
    (ask, id(&message))
}

async fn result(world: &World, ask: &str) -> Value {
    world.agent().get(ask).await.is(200)["result"].clone()
}

async fn is_pending(world: &World, ask: &str) {
    assert_eq!(world.agent().get(ask).await.is(200)["state"], "pending");
}

/// Whoever shows that a Slack account is theirs is told there, and answers there: once,
/// under their own name.
#[tokio::test]
async fn a_request_is_approved_in_slack() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let ways = world.human().get(NOTICES).await.is(200)["ways"].clone();
    assert_eq!(ways[1]["means"], "slack:U0ADA");
    for (what, so) in [("verified", true), ("carried", true), ("off", false)] {
        assert_eq!(ways[1][what], so, "{what}: {ways}");
    }
    let (ask, message) = told(&world, &slack, approval()).await;
    let body = slack.message(&message).unwrap().body.to_string();
    for part in ["Deploy?", "agent_dev", "Approve", "Reject"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    press(&world, &slack, &message, "Approve", ADA).await;
    assert!(whispered(&slack).starts_with("Recorded: "), "{}", whispered(&slack));
    let done = result(&world, &ask).await;
    assert_eq!(done["answer"], json!({ "verdict": "approved" }));
    assert_eq!(done["by"], json!({ "kind": "human", "id": "user_dev" }));
    assert_eq!((&done["via"], &done["assurance"]), (&json!("slack"), &json!("channel")));
    let over = now_says(&world, &slack, &message).await;
    assert!(over.contains("Approved by") && !over.contains("\"button\""), "{over}");
    world.end().await;
}

/// What was decided stays decided: whoever presses later learns who was first.
#[tokio::test]
async fn a_second_press_changes_nothing() {
    let (slack, world) = office().await;
    slack.person(person(BOB, "bob@example.com"));
    in_slack_as(&world.human(), &slack, ADA).await;
    in_slack_as(&world.member(), &slack, BOB).await;
    for human in ["user_dev", "user_dev_2"] {
        world.add_to_group(human, "ops").await;
    }
    let pool = json!({
        "question": { "prompt": "Who?", "kind": "approve" },
        "route": { "to": "pool", "group": "ops" },
    });
    let before = slack.messages().len();
    let ask = asked(&world.agent(), pool).await;
    posted(&slack, before + 2).await;
    let theirs = |user: &str| {
        let channel = format!("D{}", &user[1..]);
        let messages = slack.messages();
        id(messages.iter().rev().find(|message| message.channel == channel).unwrap())
    };
    let (adas, bobs) = (theirs(ADA), theirs(BOB));
    let again = slack.pressed(&adas, "Reject", ADA).unwrap();
    let late = slack.pressed(&bobs, "Reject", BOB).unwrap();
    press(&world, &slack, &adas, "Approve", ADA).await;
    let done = result(&world, &ask).await;
    for pressed in [again, late] {
        slack_calls(&world, &interaction(&pressed, world.now())).await.is(200);
        let said = whispered(&slack);
        assert!(said.contains("Approved. Answered by user_dev in Slack"), "{said}");
        assert!(said.ends_with("Your answer changed nothing."), "{said}");
        assert_eq!(result(&world, &ask).await, done);
    }
    for message in [adas, bobs] {
        let over = now_says(&world, &slack, &message).await;
        assert!(over.contains("Approved by"), "{over}");
    }
    world.end().await;
}

/// Slack says things twice when it is in doubt; they are heard once.
#[tokio::test]
async fn what_slack_says_twice_is_one_answer() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let (ask, message) = told(&world, &slack, approval()).await;
    let pressed = interaction(&slack.pressed(&message, "Approve", ADA).unwrap(), world.now());
    let (one, other) = tokio::join!(slack_calls(&world, &pressed), slack_calls(&world, &pressed));
    assert_eq!((one.status, other.status), (200, 200));
    slack_calls(&world, &pressed).await.is(200);
    assert_eq!(result(&world, &ask).await["answer"]["verdict"], "approved");
    assert!(whispered(&slack).starts_with("Recorded: "), "{}", whispered(&slack));
    let trail = world.human().get(&format!("{ask}/audit")).await.is(200);
    assert_eq!(trail.text.matches("\"answered\"").count(), 1, "{}", trail.text);
    world.end().await;
}

/// A button is not a permission: whoever was not asked changes nothing.
#[tokio::test]
async fn whoever_was_not_asked_is_refused_politely() {
    let (slack, world) = office().await;
    slack.person(person(BOB, "bob@example.com"));
    in_slack_as(&world.human(), &slack, ADA).await;
    let (ask, message) = told(&world, &slack, approval()).await;
    // Somebody Slack knows and we do not; then somebody we know, who was not asked.
    press(&world, &slack, &message, "Approve", BOB).await;
    assert!(whispered(&slack).contains("was not sent to you"), "{}", whispered(&slack));
    is_pending(&world, &ask).await;
    in_slack_as(&world.member(), &slack, BOB).await;
    press(&world, &slack, &message, "Approve", BOB).await;
    assert!(whispered(&slack).contains("was not sent to you"), "{}", whispered(&slack));
    is_pending(&world, &ask).await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.end().await;
}

/// Tokens that we did not make, or made for another ask, say nothing.
#[tokio::test]
async fn a_forged_button_says_nothing() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let (ask, message) = told(&world, &slack, approval()).await;
    let (other, _) = told(&world, &slack, approval()).await;
    let good = slack.pressed(&message, "Approve", ADA).unwrap();
    let token = good["actions"][0]["value"].as_str().unwrap();
    let ulid = |ask: &str| ask.rsplit("ask_").next().unwrap().to_owned();
    for forged in [
        token.replace(&ulid(&ask), &ulid(&other)),
        token.replacen(".0.", ".1.", 1),
        format!("{token}x"),
        "x".to_owned(),
        "..".to_owned(),
    ] {
        let mut pressed = good.clone();
        pressed["actions"][0]["value"] = json!(forged);
        slack_calls(&world, &interaction(&pressed, world.now())).await.is(200);
        assert!(whispered(&slack).contains("no longer valid"), "{forged}: {}", whispered(&slack));
    }
    for ask in [ask, other] {
        is_pending(&world, &ask).await;
        world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    }
    world.end().await;
}

/// A2H-083: what Slack did not sign, or signed long ago, is not looked at; its challenge is
/// answered, also where apps were told to call that were set up for HumanLayer.
#[tokio::test]
async fn what_slack_did_not_sign_is_not_heard() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let (ask, message) = told(&world, &slack, approval()).await;
    let pressed = slack.pressed(&message, "Approve", ADA).unwrap();
    let good = interaction(&pressed, world.now());
    let mut forged = good.clone();
    forged.headers.last_mut().unwrap().1 = format!("v0={}", "0".repeat(64));
    let mut bare = good.clone();
    bare.headers.truncate(1);
    let mut changed = good.clone();
    changed.body.push(b'&');
    let early: kernel::Time = "2026-03-01T08:54:00Z".parse().unwrap();
    let late: kernel::Time = "2026-03-01T09:06:00Z".parse().unwrap();
    for call in [forged, bare, changed, interaction(&pressed, early), interaction(&pressed, late)] {
        let refused = slack_calls(&world, &call).await.is(401);
        assert!(!refused.text.is_empty());
    }
    is_pending(&world, &ask).await;
    // What is signed and no use is said to be; nothing breaks.
    for payload in [json!({}), json!({ "type": "block_actions" }), json!([]), Value::Null] {
        let reply: Reply = slack_calls(&world, &interaction(&payload, world.now())).await;
        assert!(matches!(reply.status, 200 | 400), "{payload}: {}", reply.status);
    }
    let challenge = json!({ "type": "url_verification", "challenge": "3eZbrw1a" });
    let answered = slack_calls(&world, &inbound::event(&challenge, world.now())).await.is(200);
    assert_eq!(answered.text, "3eZbrw1a");
    let call = inbound::event(&challenge, world.now());
    let anybody = world.anonymous();
    let answered = send(&anybody, "/humanlayer/v1/slack/events", &call.headers, &call.body).await;
    assert_eq!(answered.is(200).text, "3eZbrw1a");
    world.anonymous().post("/channels/telegram/updates", json!({})).await.problem(404, "not-found");
    slack_calls(&world, &good).await.is(200);
    assert_eq!(result(&world, &ask).await["answer"]["verdict"], "approved");
    world.end().await;
}

/// Where a reason is wanted, Slack asks for it; it is the comment of the answer.
#[tokio::test]
async fn a_reason_is_asked_for_in_a_modal() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let question = json!({ "question": {
        "prompt": "Pay?", "kind": "approve", "reject_requires_reason": true,
    }});
    let (ask, message) = told(&world, &slack, question).await;
    press(&world, &slack, &message, "Reject", ADA).await;
    is_pending(&world, &ask).await;
    assert_eq!(slack.views().len(), 1, "{:#?}", slack.calls());
    let empty = slack.submitted(ADA, &[("Why?", json!("  "))]).unwrap();
    let answered = slack_calls(&world, &interaction(&empty, world.now())).await.is(200);
    let said = slack.complaints(&answered.json).unwrap_or_else(|| panic!("{}", answered.text));
    assert_eq!(said, [("Why?".to_owned(), "Please give a reason, in a few words.".to_owned())]);
    is_pending(&world, &ask).await;
    let sent = slack.submitted(ADA, &[("Why?", json!("far too much"))]).unwrap();
    slack_calls(&world, &interaction(&sent, world.now())).await.is(200);
    let done = result(&world, &ask).await;
    assert_eq!(
        (&done["answer"], &done["comment"]),
        (&json!({ "verdict": "rejected" }), &json!("far too much"))
    );
    assert_eq!((&done["via"], &done["assurance"]), (&json!("slack"), &json!("channel")));
    let over = now_says(&world, &slack, &message).await;
    assert!(over.contains("far too much"), "{over}");
    // Sent again, it is told who was first.
    slack_calls(&world, &interaction(&sent, world.now())).await.is(200);
    assert_eq!(result(&world, &ask).await, done);
    world.end().await;
}

/// A form that was filled in wrongly stays open and says what is wrong below each field; nothing
/// was taken, and the same form is sent again.
#[tokio::test]
async fn what_is_wrong_in_a_form_is_said_in_the_form() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let form = json!({ "fields": [
        { "key": "size", "label": "Size", "type": "number", "required": true },
        { "key": "code", "label": "Code", "type": "text", "validation": { "pattern": "[A-Z]{3}" } },
        { "key": "post", "label": "Postcode", "type": "text", "validation": { "pattern": "[0-9]{5}" } },
        { "key": "note", "label": "Note", "type": "textarea" },
    ]});
    let provide = json!({ "question": { "prompt": "How much?", "kind": "provide", "form": form } });
    let (ask, message) = told(&world, &slack, provide).await;
    press(&world, &slack, &message, "Fill in the form", ADA).await;
    let wrong = [("Size", json!("3")), ("Code", json!("x")), ("Postcode", json!("1"))];
    let sent = slack.submitted(ADA, &wrong).unwrap();
    let answered = slack_calls(&world, &interaction(&sent, world.now())).await.is(200);
    let said = slack.complaints(&answered.json).unwrap_or_else(|| panic!("{}", answered.text));
    let labels: Vec<&str> = said.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Code", "Postcode"], "{said:?}");
    assert!(said.iter().all(|(_, words)| words.contains("expected format")), "{said:?}");
    is_pending(&world, &ask).await;
    let right = [("Size", json!("3")), ("Note", json!("by noon"))];
    let sent = slack.submitted(ADA, &right).unwrap();
    slack_calls(&world, &interaction(&sent, world.now())).await.is(200);
    let done = result(&world, &ask).await;
    assert_eq!(done["answer"]["values"], json!({ "size": 3, "note": "by noon" }), "{done}");
    world.end().await;
}

/// A2H-086, A2H-087: choices are buttons, forms are modals, and a conversation is the thread below
/// its message.
#[tokio::test]
async fn each_kind_is_answered_in_slack() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let choose = json!({ "question": { "prompt": "Which?", "kind": "choose", "pick": "one", "options": [
        { "id": "a", "label": "Small & <blue>" }, { "id": "b", "label": "Large" },
    ]}});
    let (ask, message) = told(&world, &slack, choose).await;
    press(&world, &slack, &message, "Small & <blue>", ADA).await;
    assert_eq!(
        result(&world, &ask).await["answer"],
        json!({ "verdict": "chosen", "options": ["a"] })
    );

    let form = json!({ "fields": [
        { "key": "size", "label": "Size", "type": "number", "required": true },
        { "key": "note", "label": "Note", "type": "textarea" },
    ]});
    let provide = json!({ "question": { "prompt": "How much?", "kind": "provide", "form": form } });
    let (ask, message) = told(&world, &slack, provide).await;
    let body = slack.message(&message).unwrap().body;
    let blocks = body["blocks"].as_array().unwrap().clone();
    let elements = blocks.iter().filter_map(|block| block["elements"].as_array()).flatten();
    let label = elements.filter(|element| element["value"].is_string());
    let mut label = label.map(|element| element["text"]["text"].as_str().unwrap().to_owned());
    let label = label.next_back().unwrap_or_else(|| panic!("{body:#}"));
    press(&world, &slack, &message, &label, ADA).await;
    let sent = slack.submitted(ADA, &[("Size", json!("3")), ("Note", json!("by noon"))]).unwrap();
    slack_calls(&world, &interaction(&sent, world.now())).await.is(200);
    let done = result(&world, &ask).await;
    assert_eq!(done["answer"]["values"], json!({ "size": 3, "note": "by noon" }), "{done}");

    let converse = json!({ "question": { "prompt": "What now?", "kind": "converse" } });
    let (ask, message) = told(&world, &slack, converse).await;
    let (channel, ts) = message.split_once('/').unwrap();
    let wrote = inbound::wrote("Ev1", channel, Some(ts), ADA, "Use <the> other & go");
    for _ in 0..2 {
        slack_calls(&world, &inbound::event(&wrote, world.now())).await.is(200);
    }
    let done = result(&world, &ask).await;
    assert_eq!(done["answer"], json!({ "verdict": "replied", "text": "Use <the> other & go" }));
    assert_eq!((&done["via"], &done["by"]["id"]), (&json!("slack"), &json!("user_dev")));
    let over = now_says(&world, &slack, &message).await;
    assert!(over.contains("user_dev"), "{over}");
    world.end().await;
}

/// Whoever verified nothing is known by the address Slack had them confirm, where the request was
/// put.
#[tokio::test]
async fn people_are_recognised_by_the_address_slack_confirmed() {
    let (slack, world) = office().await;
    let me = json!({ "id": "user_dev", "admin": true, "projects": ["dev", "dev2"],
        "email": "Ada@example.com" });
    world.human().save("people", me).await.is(200);
    let placed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" }, "place": { "to": "slack:C0OPS" },
    });
    let (ask, message) = told(&world, &slack, placed.clone()).await;
    press(&world, &slack, &message, "Approve", ADA).await;
    let done = result(&world, &ask).await;
    assert_eq!(done["by"], json!({ "kind": "human", "id": "user_dev" }));
    assert_eq!((&done["via"], &done["assurance"]), (&json!("slack"), &json!("channel")));
    // An address nobody confirmed makes a guest of them.
    let mut doubtful = person(ADA, "ada@example.com");
    doubtful["is_email_confirmed"] = json!(false);
    slack.person(doubtful);
    let (ask, message) = told(&world, &slack, placed).await;
    press(&world, &slack, &message, "Approve", ADA).await;
    let done = result(&world, &ask).await;
    assert_eq!(
        (&done["by"]["kind"], &done["assurance"]),
        (&json!("guest"), &json!("agent-attested"))
    );
    waits(&world, 0).await;
    world.end().await;
}
