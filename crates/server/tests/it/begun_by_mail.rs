//! Conversations people begin by mail: the address is theirs, and it is what counts.

use serde_json::{Value, json};

use crate::a2h::A2H;
use crate::channels_mail::{brings, letter, open};
use crate::client::Client;
use crate::conversations::opened;
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::fake_webhook_receiver::Hook;
use crate::notification_steps::verified;
use crate::pages::signed_in;
use crate::webhooks::endpoint;
use crate::world::World;

const BOB: &str = "bob@example.com";
const ADDRESS: &str = "/api/v1/agents/agent_dev/address";

/// A server that hears letters, an agent that takes conversations, and somebody whose mail is
/// known.
async fn written_to() -> (Post, World, String) {
    let (post, world) = open().await;
    opened(&world).await;
    verified(&world.member(), &post, BOB).await;
    let address = address(&world.member()).await;
    (post, world, address)
}

async fn address(who: &Client) -> String {
    who.get(ADDRESS).await.is(200)["email"].as_str().unwrap().to_owned()
}

async fn begun(world: &World) -> Vec<Value> {
    let list = world.agent().get("/api/v1/conversations").await.is(200);
    list["asks"].as_array().unwrap().clone()
}

/// The same letter, about something else.
fn about(subject: &str, letter: &str) -> String {
    letter.replacen("Subject: Re: it", &format!("Subject: {subject}"), 1)
}

/// A2H-113, A2H-110: from the letter to the agent's webhook, to its answer below the letter, and
/// back.
#[tokio::test]
async fn a_letter_to_an_agent_begins_a_conversation() {
    let (post, world, to) = written_to().await;
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({ "format": "humanlayer" })).await;
    let newer = Hook::open(&[]).await;
    endpoint(&world, &newer.url, json!({ "format": "humanlayer-v1beta3" })).await;
    let had = post.letters().len();
    let words = "Please refund it.\r\n\r\nOn Sunday somebody wrote:\r\n> no\r\n-- \r\nBob";
    let sent = about("Order 7", &letter("m1", &format!("Bob <{BOB}>"), &to, words));
    brings(&world, &sent).await.is(200);

    let conversation = begun(&world).await.remove(0);
    let id = conversation["id"].as_str().unwrap();
    let said = &conversation["result"];
    assert_eq!(said["answer"]["text"], "Order 7\n\nPlease refund it.");
    assert_eq!(said["by"], json!({ "kind": "human", "id": "user_dev_2" }));
    assert_eq!((&said["via"], &said["assurance"]), (&json!("email"), &json!("link")));
    // Told that it was sent, below what they sent.
    let told = post.letter(had + 1).await;
    assert!(told.source().contains("agent_dev has your message"), "{}", told.source());
    assert_eq!((told.to.as_str(), told.header("Subject")), (BOB, "Re: Order 7".to_owned()));
    assert_eq!(told.header("In-Reply-To"), "<m1@example.com>");

    hook.heard_times(1).await;
    newer.heard_times(1).await;
    let token = to.split(['+', '@']).nth(1).unwrap();
    for heard in [&hook.heard()[0].1, &newer.heard()[0].1] {
        let heard = String::from_utf8(heard.to_vec()).unwrap();
        assert!(!heard.contains(token), "nobody writes as somebody else: {heard}");
    }
    assert!(!conversation.to_string().contains(token), "{conversation}");
    let told: Value = serde_json::from_slice(&hook.heard()[0].1).unwrap();
    assert_eq!(told["type"], "agent_email.received");
    for (name, value) in [
        ("from_address", BOB),
        ("to_address", "ask@example.com"),
        ("subject", "Order 7"),
        ("body", "Please refund it."),
        ("message_id", "<m1@example.com>"),
        ("contact_channel_id", id),
        ("agent_name", "agent_dev"),
    ] {
        assert_eq!(told["event"][name], value, "{name}");
    }
    let newer: Value = serde_json::from_slice(&newer.heard()[0].1).unwrap();
    assert_eq!(newer["type"], "conversation.created");
    assert_eq!(newer["event"]["email"]["body"], "Please refund it.");

    // The agent goes on below the letter, and whoever wrote it answers by writing back.
    let had = post.letters().len();
    let spec = json!({ "message": "All of it?", "channel_id": id });
    let message = json!({"apiVersion": "proto.a2h.dev/v1alpha1", "kind": "Message", "metadata": {"uid": "m"}, "spec": spec});
    world.agent().post(&format!("{A2H}/messages"), message).await.is(200);
    let asked = post.letter(had + 1).await;
    assert_eq!((asked.to.as_str(), asked.header("Subject")), (BOB, "Re: Order 7".to_owned()));
    assert_eq!(asked.header("In-Reply-To"), "<m1@example.com>");
    assert_eq!(asked.header("References"), "<m1@example.com>");
    waits(&world, 0).await;
    brings(&world, &letter("m2", BOB, &asked.header("Reply-To"), "Yes, all")).await.is(200);
    let over = world.agent().get(&format!("{A2H}/messages/m")).await.is(200);
    assert_eq!(over["status"]["humanMessage"], "Yes, all");
    assert_eq!(begun(&world).await.len(), 1);
    // What was said, and where, goes together.
    world.human().post(&format!("/api/v1/asks/{id}/erase"), json!({})).await.is(200);
    let erased = world.human().get(&format!("/api/v1/asks/{id}")).await.is(200);
    assert!(!erased.text.contains(BOB) && !erased.text.contains("Order 7"), "{}", erased.text);
    world.end().await;
}

/// A2H-113: who a letter says it is from means nothing; what is not theirs begins nothing, and what
/// was heard is not heard again, whatever it says and however late.
#[tokio::test]
async fn whose_address_it_is_writes() {
    let (post, world, to) = written_to().await;
    let had = post.letters().len();
    let spoofed = letter("s1", "Mallory <mallory@example.net>", &to, "Pay me");
    brings(&world, &spoofed).await.is(200);
    let said = begun(&world).await.remove(0);
    assert_eq!(said["result"]["by"]["id"], "user_dev_2");
    assert_eq!(post.letter(had + 1).await.to, BOB, "so that they learn of it");
    for again in [spoofed.clone(), spoofed.replace("Pay me", "Pay me twice")] {
        brings(&world, &again).await.is(200);
        world.advance(200_000);
    }
    brings(&world, &spoofed).await.is(200);
    let (local, domain) = to.split_once('@').unwrap();
    let changed = if local.ends_with('a') { "b" } else { "a" };
    let forged = format!("{}{changed}@{domain}", &local[..local.len() - 1]);
    for wrong in [forged.as_str(), "ask@example.com", "ask+agent_dev@example.com"] {
        brings(&world, &letter("f1", BOB, wrong, "hi")).await.is(200);
    }
    let mine = letter("f2", BOB, &to, "I am away until Monday");
    for machine in [
        mine.replacen("Subject:", "Auto-Submitted: auto-replied\r\nSubject:", 1),
        mine.replacen("Subject:", "Precedence: list\r\nSubject:", 1),
        mine.replacen(&format!("From: {BOB}"), "From: agents@example.com", 1),
        about("", &letter("f3", BOB, &to, "> nothing but a quote")),
        format!(
            "Message-ID: <b1@mx>\r\nFrom: MAILER-DAEMON@mx.example.com\r\nTo: {to}\r\nReturn-Path: <>\r\n\
             Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n--b\r\n\
             Content-Type: text/plain\r\n\r\nNobody.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\
             Reporting-MTA: dns; mx\r\n\r\nFinal-Recipient: rfc822; {BOB}\r\nAction: failed\r\n\
             Status: 5.1.1\r\n\r\n--b--\r\n"
        ),
    ] {
        brings(&world, &machine).await.is(200);
    }
    assert_eq!(begun(&world).await.len(), 1);
    assert_eq!(post.letters().len(), had + 1, "and nobody is told of it");
    // What is too long is said to be; what is only a subject is enough.
    brings(&world, &letter("h1", BOB, &to, &"word ".repeat(200_000))).await.is(200);
    let long = post.letter(had + 2).await;
    assert!(long.source().contains("1 to 10000 characters"), "{}", long.source());
    brings(&world, &about("Stop the batch", &letter("o1", BOB, &to, ""))).await.is(200);
    let begun = begun(&world).await;
    assert_eq!(begun.len(), 2);
    assert_eq!(begun[0]["result"]["answer"]["text"], "Stop the batch");
    world.end().await;
}

/// An address is somebody's own, for one agent, for as long as they may write to it.
#[tokio::test]
async fn an_address_is_good_while_its_holder_may_write() {
    let (post, world, to) = written_to().await;
    let own = address(&world.human()).await;
    assert_ne!(own, to);
    assert_eq!(address(&world.member()).await, to, "the same every time");
    world.add_agent("clerk", "dev", "user_dev_2").await;
    world.agent().get(ADDRESS).await.problem(403, "not-allowed");
    world.member().get("/api/v1/agents/clerk/address").await.problem(403, "not-allowed");
    for foreign in ["agent_dev_2", "nobody", "%00"] {
        let path = format!("/api/v1/agents/{foreign}/address");
        world.member().get(&path).await.problem(404, "not-found");
    }
    let browser = signed_in(&world).await.client;
    let page = browser.get("/write").await.is(200);
    assert!(page.text.contains(&format!("mailto:{own}")) && !page.text.contains(&to));

    let told = async |n: &str, words: &str| {
        let had = post.letters().len();
        brings(&world, &letter(n, BOB, &to, "hello there")).await.is(200);
        let source = post.letter(had + 1).await.source();
        assert!(source.contains(words), "{source}");
    };
    let agent =
        |open: bool| json!({ "project": "dev", "owner": "user_dev", "conversations": open });
    world.human().put("/api/v1/agents/agent_dev", agent(false)).await.is(200);
    told("n1", "agent_dev does not accept conversations").await;
    world.human().put("/api/v1/agents/agent_dev", agent(true)).await.is(200);
    world.change("user_dev_2", |human| human.projects.clear()).await;
    told("n2", "You can no longer write to agent_dev").await;
    world.change("user_dev_2", |human| human.active = false).await;
    told("n3", "This address is no longer valid").await;
    assert_eq!(begun(&world).await, Vec::<Value>::new());
    world.end().await;
}

/// Where no mail is heard, none is offered.
#[tokio::test]
async fn without_mail_there_is_no_address() {
    let world = World::dev().await;
    opened(&world).await;
    assert_eq!(world.member().get(ADDRESS).await.is(200).json, json!({ "email": null }));
    let browser = signed_in(&world).await.client;
    assert!(!browser.get("/write").await.is(200).text.contains("By email"));
    world.end().await;
}
