//! Calls that are said by an app the agent brings, and how they look in Slack.

use channels::testing::slack::inbound::{event, wrote};
use channels::testing::slack::{BOT_TOKEN, Fault, OTHER_TOKEN, Workspace};
use kernel::AskId;
use kernel::audit::Digest;
use serde_json::{Value, json};

use crate::a2h::{A2H, call, make, native, refused};
use crate::client::{Client, Reply, with};
use crate::fake_platforms::{ADA, id, in_slack_as, now_says, office, posted, press, slack_calls};
use crate::fake_push_device::waits;
use crate::world::{World, eventually, logged};

/// A function call for the channel of the people who operate, with these members.
fn in_ops(call_id: &str, more: Value) -> Value {
    let slack = with(json!({ "channel_or_user_id": "C0OPS" }), more);
    with(call(call_id), json!({ "spec": { "channel": { "slack": slack } } }))
}

/// A key of the agent's, issued with these members.
async fn key(world: &World, more: Value) -> Client {
    let new = with(json!({ "agent": "agent_dev" }), more);
    let issued = world.human().post("/api/v1/keys", new).await.is(201);
    world.bearer(issued["secret"].as_str().unwrap())
}

/// What is kept of a token, as it lies there.
async fn kept(world: &World, made: &Reply) -> Option<Vec<u8>> {
    let ask: AskId = native(made).rsplit('/').next().unwrap().parse().unwrap();
    world.gateway().store().peek_secret(ask, Digest::of(b"bot token")).await.unwrap()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// A2H-031, A2H-084: the token speaks for that call, lies encrypted as long as it is needed, and is
/// nowhere else.
#[tokio::test]
async fn an_agents_own_app_says_it_and_says_that_it_is_over() {
    let (slack, world) = office().await;
    let agent = key(&world, json!({ "own_app": true })).await;
    let body = in_ops("c1", json!({ "bot_token": OTHER_TOKEN }));
    let made = make(&agent, "function_calls", body.clone()).await;
    let message = posted(&slack, 1).await;
    assert_eq!(message.token, OTHER_TOKEN);
    waits(&world, 0).await;
    let lies = kept(&world, &made).await.expect("kept until it is over");
    assert!(!contains(&lies, OTHER_TOKEN));
    // Made again it is the same call, and leaves nothing behind.
    let again = make(&agent, "function_calls", body).await;
    assert_eq!(native(&again), native(&made));
    press(&world, &slack, &id(&message), "Approve", ADA).await;
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by"), "{over}");
    let updates = slack.calls_of("chat.update");
    assert_eq!(updates.last().unwrap().token.as_deref(), Some(OTHER_TOKEN));
    assert_eq!(kept(&world, &made).await, None, "gone with the ask");
    for shown in [
        made.text.clone(),
        agent.get(&format!("{A2H}/function_calls/c1")).await.is(200).text,
        agent.get(&native(&made)).await.is(200).text,
        world.human().get(&format!("{}/messages", native(&made))).await.is(200).text,
        logged(),
    ] {
        assert!(!shown.contains(OTHER_TOKEN), "{shown}");
    }
    for (_, record) in
        world.gateway().store().records(store::FeedQuery::After(0), 1000).await.unwrap()
    {
        let values: String = record.contents.iter().map(ToString::to_string).collect();
        assert!(!record.body.contains(OTHER_TOKEN) && !values.contains(OTHER_TOKEN));
    }
    for file in std::fs::read_dir(world.folder()).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            assert!(!contains(&std::fs::read(&file).unwrap(), OTHER_TOKEN), "{}", file.display());
        }
    }
    // The next call without one is said by the server's own app.
    make(&agent, "function_calls", in_ops("c2", json!({}))).await;
    assert_eq!(posted(&slack, 2).await.token, BOT_TOKEN);
    waits(&world, 0).await;
    world.end().await;
}

/// An app of the agent's own reads what it says: a link in such a message proves no more than the
/// agent's word, although it went to somebody who verified the address.
#[tokio::test]
async fn a_link_said_by_an_agents_own_app_is_the_agents_word() {
    let (slack, world) = office().await;
    world.human().put("/api/v1/people/zoe", json!({ "name": "Zoe" })).await.saved();
    let issued = world.human().post("/api/v1/keys", json!({ "human": "zoe" })).await.is(201);
    let zoe = world.bearer(issued["secret"].as_str().unwrap());
    in_slack_as(&zoe, &slack, ADA).await;
    let agent = key(&world, json!({ "own_app": true })).await;
    for (name, more, assurance) in [
        ("ours", json!({}), "link"),
        ("own", json!({ "bot_token": OTHER_TOKEN }), "agent-attested"),
    ] {
        let had = slack.messages().len();
        let to = with(json!({ "channel_or_user_id": ADA }), more);
        let new = with(call(name), json!({ "spec": { "channel": { "slack": to } } }));
        let made = make(&agent, "function_calls", new).await;
        let said = posted(&slack, had + 1).await.body.to_string();
        waits(&world, 0).await;
        let path = said.split_once("/review/").unwrap().1;
        let end = path.find(|c: char| !(c.is_ascii_alphanumeric() || "_-?=.".contains(c)));
        let (case, token) = path[..end.unwrap()].split_once("?token=").unwrap();
        let form = [("token", token), ("action", "approve")];
        world.anonymous().post_form(&format!("/review/{case}"), &form).await.is(200);
        let seen = agent.get(&native(&made)).await.is(200);
        assert_eq!(seen["result"]["assurance"], assurance, "{name}");
        waits(&world, 0).await;
    }
    world.end().await;
}

/// A2H-084: only an administrator issues keys that may, and any other is told what to do.
#[tokio::test]
async fn a_key_without_the_scope_brings_no_app() {
    let (slack, world) = office().await;
    let plain = key(&world, json!({})).await;
    let body = in_ops("c1", json!({ "bot_token": OTHER_TOKEN }));
    let told = plain.post(&format!("{A2H}/function_calls"), body).await;
    let told = refused(told, 403, "forbidden");
    assert!(told.text.contains("own_app") && !told.text.contains(OTHER_TOKEN), "{}", told.text);
    refused(plain.get(&format!("{A2H}/function_calls/c1")).await, 404, "not_found");
    // An empty one is none.
    make(&plain, "function_calls", in_ops("c2", json!({ "bot_token": "" }))).await;
    assert_eq!(posted(&slack, 1).await.token, BOT_TOKEN);
    let bad = in_ops("c3", json!({ "bot_token": "xoxb with spaces" }));
    let bad = world.agent().post(&format!("{A2H}/function_calls"), bad).await;
    let bad = refused(bad, 422, "invalid_field");
    assert!(bad.text.contains("bot_token") && !bad.text.contains("spaces"), "{}", bad.text);
    // Whoever owns an agent issues its keys, but none of these.
    world.add_agent("clerk", "dev", "user_dev_2").await;
    let keys = "/api/v1/keys";
    world.member().post(keys, json!({ "agent": "clerk" })).await.is(201);
    let new = json!({ "agent": "clerk", "own_app": true });
    world.member().post(keys, new.clone()).await.is(403);
    let issued = world.human().post(keys, new).await.is(201);
    assert_eq!(issued["own_app"], true);
    let human = json!({ "human": "user_dev", "own_app": true });
    world.human().post(keys, human).await.is(422);
    waits(&world, 0).await;
    world.end().await;
}

/// A token Slack does not take, and a call that ends before it could be said: the owner is told
/// where there is something to tell, and nothing is kept.
#[tokio::test]
async fn what_was_lent_in_vain_is_given_back() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let agent = world.agent();
    let body = in_ops("c1", json!({ "bot_token": "xoxb-of-nobody" }));
    let made = make(&agent, "function_calls", body).await;
    let message = posted(&slack, 2).await;
    assert_eq!((&*message.token, message.channel.starts_with('D')), (BOT_TOKEN, true));
    waits(&world, 0).await;
    assert_eq!(kept(&world, &made).await, None);
    let seen = world.human().get(&format!("{}/messages", native(&made))).await.is(200);
    assert!(!seen.text.contains("of-nobody"), "{}", seen.text);
    let failed = |one: &&Value| one["state"] == "failed";
    let failed = seen["messages"].as_array().unwrap().iter().find(failed).unwrap();
    assert!(failed["error"].as_str().unwrap().contains("the agent's bot token"), "{failed}");

    let tries = slack.calls_of("chat.postMessage").len();
    slack.next(Fault::Slower(60));
    let body = in_ops("c2", json!({ "bot_token": OTHER_TOKEN }));
    let made = make(&agent, "function_calls", body).await;
    eventually("a try", async || slack.calls_of("chat.postMessage").len() == tries + 1).await;
    waits(&world, 1).await;
    assert!(kept(&world, &made).await.is_some());
    world.human().post(&format!("{}/answer", native(&made)), crate::native::yes()).await.is(200);
    world.advance(60);
    waits(&world, 0).await;
    assert_eq!(kept(&world, &made).await, None);
    world.end().await;
}

/// Somebody writes below a message.
async fn write_below(world: &World, message: &str, user: &str, words: &str) {
    let (channel, ts) = message.split_once('/').unwrap();
    let written = wrote("Ev1", channel, Some(ts), user, words);
    slack_calls(world, &event(&written, world.now())).await.is(200);
}

/// A2H-085: plain text where the agent wants no blocks, with what to write instead of what to
/// press; and blocks everywhere else.
#[tokio::test]
async fn without_blocks_a_call_is_plain_text_and_is_answered_in_words() {
    let (slack, world) = office().await;
    let agent = world.agent();
    let of = |slack: &Workspace| slack.messages().pop().unwrap().body;
    for (n, blocks) in [Value::Null, json!(true)].into_iter().enumerate() {
        let more = json!({ "experimental_slack_blocks": blocks });
        make(&agent, "function_calls", in_ops(&format!("b{n}"), more)).await;
        posted(&slack, n + 1).await;
        assert!(of(&slack)["blocks"].is_array());
    }
    let more = json!({ "experimental_slack_blocks": false });
    let made = make(&agent, "function_calls", in_ops("plain", more)).await;
    let message = posted(&slack, 3).await;
    assert_eq!(message.body.get("blocks"), None);
    let text = message.body["text"].as_str().unwrap();
    for words in ["pay", "reply in this thread", "yes: Approve", "no: Reject", "/review/"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    waits(&world, 0).await;
    write_below(&world, &id(&message), "U0EVE", "yes").await;
    let got = agent.get(&format!("{A2H}/function_calls/plain")).await.is(200);
    assert_eq!(got["status"]["approved"], true, "{}", got.text);
    assert_eq!(native(&made), native(&got));
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by") && !over.contains("\"blocks\""), "{over}");
    world.end().await;
}
