//! Platforms played on loopback, and what people do there.

use channels::testing::fake_platform::Inbound;
use channels::testing::slack::inbound::{self, Incoming};
use channels::testing::slack::{BOT_TOKEN, Message, SIGNING_SECRET, Workspace};
use reqwest::Method;
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::client::{Client, Reply};
use crate::fake_push_device::waits;
use crate::notification_steps::CONTACTS;
use crate::world::{World, dev, eventually};

/// Ada, as Slack knows her.
pub(crate) const ADA: &str = "U0ADA";

/// A workspace, and a server that is set up for it.
pub(crate) async fn office() -> (Workspace, World) {
    let slack = Workspace::begin().await.unwrap();
    let world = World::with(in_slack(&slack, dev())).await;
    (slack, world)
}

/// These settings, with Slack.
pub(crate) fn in_slack(slack: &Workspace, settings: Settings) -> Settings {
    Settings {
        slack_bot_token: Some(SecretString::new(BOT_TOKEN)),
        slack_signing_secret: Some(SecretString::new(SIGNING_SECRET)),
        slack_api: slack.base().map(Into::into),
        ..settings
    }
}

/// Adds an address of somebody's; its id.
pub(crate) async fn added(who: &Client, contact: Value, means: &str) -> String {
    let added = who.post(CONTACTS, contact).await.is(201);
    let ways = added["ways"].as_array().unwrap();
    let way = ways.iter().find(|way| way["means"] == means).unwrap();
    way["id"].as_str().unwrap().to_owned()
}

/// Has a code sent to an address, and enters what came.
pub(crate) async fn shown(who: &Client, id: &str, came: impl Fn() -> Option<String>) {
    who.post(&format!("{CONTACTS}/{id}/code"), json!({})).await.is(204);
    let code = code_in(&came().unwrap());
    who.post(&format!("{CONTACTS}/{id}/verify"), json!({ "code": code })).await.is(200);
}

/// The code in some words.
pub(crate) fn code_in(text: &str) -> String {
    let mut words = text.split(|c: char| !c.is_ascii_digit());
    words.find(|word| word.len() == 6).unwrap_or_else(|| panic!("{text}")).to_owned()
}

/// Somebody shows that they are this one in Slack.
pub(crate) async fn in_slack_as(who: &Client, slack: &Workspace, id: &str) {
    let way = added(who, json!({ "via": "slack", "id": id }), &format!("slack:{id}")).await;
    shown(who, &way, || slack.messages().pop().map(|message| message.body.to_string())).await;
}

/// The last message, when so many lie there.
pub(crate) async fn posted(slack: &Workspace, times: usize) -> Message {
    eventually("a message in Slack", async || slack.messages().len() >= times).await;
    assert_eq!(slack.messages().len(), times, "{:#?}", slack.messages());
    slack.messages().pop().unwrap()
}

/// `channel/ts`
pub(crate) fn id(message: &Message) -> String {
    format!("{}/{}", message.channel, message.ts)
}

/// Slack calls.
pub(crate) async fn slack_calls(world: &World, call: &Incoming) -> Reply {
    let path = format!("/channels/slack/{}", call.name);
    send(&world.anonymous(), &path, &call.headers, &call.body).await
}

/// Another platform calls.
pub(crate) async fn calls(world: &World, path: &str, call: &Inbound) -> Reply {
    send(&world.anonymous(), path, &call.headers, &call.body).await
}

/// A call, byte by byte.
pub(crate) async fn send(
    client: &Client,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Reply {
    let call = client.request(Method::POST, path).body(body.to_vec());
    Reply::of(headers.iter().fold(call, |call, (name, value)| call.header(name, value))).await
}

/// Somebody presses what has this label, at a moment of their own.
pub(crate) async fn press(
    world: &World,
    slack: &Workspace,
    message: &str,
    label: &str,
    user: &str,
) -> Value {
    let mut pressed = slack.pressed(message, label, user).unwrap();
    let stamp = format!("1770000{}.123456", 300 + slack.calls().len());
    pressed["actions"][0]["action_ts"] = json!(stamp);
    slack_calls(world, &inbound::interaction(&pressed, world.now())).await.is(200);
    pressed
}

/// What was last said to whoever pressed, in `response_url` or where only they see it.
pub(crate) fn whispered(slack: &Workspace) -> String {
    let whispers = |call: &&channels::testing::slack::Call| {
        matches!(call.method.as_str(), "response_url" | "chat.postEphemeral")
    };
    let last = slack.calls().iter().rev().find(whispers).map(|call| call.body.clone());
    let last = last.unwrap_or_else(|| panic!("{:#?}", slack.calls()));
    last["text"].as_str().unwrap().to_owned()
}

/// What a message says when its request is over and everything is told.
pub(crate) async fn now_says(world: &World, slack: &Workspace, message: &str) -> String {
    waits(world, 0).await;
    slack.message(message).unwrap().body.to_string()
}
