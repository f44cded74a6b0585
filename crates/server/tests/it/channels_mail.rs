//! Requests answered by writing back: what counts is the address a letter was sent to.

use channels::testing::email;
use channels::testing::webhook::SECRET;
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::client::{Reply, with};
use crate::fake_platforms::send;
use crate::fake_push_device::waits;
use crate::fake_smtp_server::{Letter, Post};
use crate::native::{approval, asked, yes};
use crate::notification_steps::verified;
use crate::pages::signed_in;
use crate::world::{World, dev, eventually};

pub(crate) const ADA: &str = "ada@example.com";

/// A server whose letters can be answered.
pub(crate) async fn open() -> (Post, World) {
    open_with("off", "").await
}

/// The same, with this `mail_dns` and these trusted forwarders.
pub(crate) async fn open_with(dns: &str, sealers: &str) -> (Post, World) {
    let post = Post::open(&[]).await;
    let settings = Settings {
        mail_dns: Some(dns.to_owned()),
        mail_arc_sealers: Some(sealers.to_owned()),
        mail_replies: Some("ask@example.com".to_owned()),
        mail_inbound: Some(SecretString::new(format!("signed:{SECRET}"))),
        ..post.carrying(dev())
    };
    let world = World::with(settings).await;
    (post, world)
}

/// Somebody writes.
pub(crate) fn letter(id: &str, from: &str, to: &str, words: &str) -> String {
    format!(
        "Message-ID: <{id}@example.com>\r\nFrom: {from}\r\nTo: {to}\r\nSubject: Re: it\r\n\
         Date: Sun, 01 Mar 2026 09:01:00 +0000\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{words}\r\n"
    )
}

/// A provider brings a letter.
pub(crate) async fn brings(world: &World, letter: &str) -> Reply {
    let call = email::webhook(SECRET, "msg_1", letter, world.now());
    send(&world.anonymous(), "/channels/email/inbound", &call.headers, &call.body).await
}

/// Somebody is asked this and written to: where the ask is, the letter, and where answers go.
pub(crate) async fn told(world: &World, post: &Post, question: Value) -> (String, Letter, String) {
    let had = post.letters().len();
    let ask = asked(&world.agent(), question).await;
    let letter = post.letter(had + 1).await;
    let to = letter.header("Reply-To");
    waits(world, 0).await;
    (ask, letter, to)
}

pub(crate) async fn result(world: &World, ask: &str) -> Value {
    world.agent().get(ask).await.is(200)["result"].clone()
}

/// A2H-092: the words on the first line are the answer, what is below it the comment.
#[tokio::test]
async fn a_letter_is_answered_by_writing_back() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let quoted = "yes\r\n\r\nOn Sunday the gateway wrote:\r\n> Deploy?";
    for (words, answer, comment) in [
        (quoted, json!({ "verdict": "approved" }), Value::Null),
        ("No, too expensive", json!({ "verdict": "rejected" }), json!("too expensive")),
        ("No.\r\nNot this week.", json!({ "verdict": "rejected" }), json!("Not this week.")),
    ] {
        let (ask, sent, to) = told(&world, &post, approval()).await;
        assert!(to.starts_with("ask+") && to.ends_with("@example.com"), "{to}");
        assert!(sent.source().contains("reply to this email"), "{}", sent.source());
        let id = format!("r{}", post.letters().len());
        brings(&world, &letter(&id, ADA, &to, words)).await.is(200);
        let done = result(&world, &ask).await;
        assert_eq!((&done["answer"], &done["comment"]), (&answer, &comment), "{words}");
        assert_eq!(done["by"], json!({ "kind": "human", "id": "user_dev" }));
        assert_eq!((&done["via"], &done["assurance"]), (&json!("email"), &json!("link")));
        let had = post.letters().len();
        // Told so, once however often the letter is brought.
        let told = post.letters().pop().unwrap();
        assert!(told.source().contains("Recorded: "), "{}", told.source());
        assert_eq!(told.header("Auto-Submitted"), "auto-generated");
        brings(&world, &letter(&id, ADA, &to, words)).await.is(200);
        assert_eq!(result(&world, &ask).await, done);
        assert!(post.letters().len() <= had + 1);
    }
    waits(&world, 0).await;
    world.end().await;
}

/// Whoever has the address has read the letter; who they say they are means nothing.
#[tokio::test]
async fn the_address_is_what_counts() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let (ask, _, to) = told(&world, &post, approval()).await;
    let (local, domain) = to.split_once('@').unwrap();
    let changed = if local.ends_with('a') { "b" } else { "a" };
    let had = post.letters().len();
    for wrong in [
        format!("{}{changed}@{domain}", &local[..local.len() - 1]),
        format!("{}@{domain}", &local[..local.len() - 1]),
        "ask@example.com".to_owned(),
        format!("ask+{}@{domain}", "a".repeat(56)),
    ] {
        brings(&world, &letter("w1", ADA, &wrong, "yes")).await.is(200);
    }
    assert_eq!(world.agent().get(&ask).await["state"], "pending");
    assert_eq!(post.letters().len(), had, "and nobody learns that we are here");
    // Not signed by the provider, nothing is looked at.
    let mut call = email::webhook(SECRET, "msg_1", &letter("w2", ADA, &to, "yes"), world.now());
    call.body.push(b' ');
    let path = "/channels/email/inbound";
    send(&world.anonymous(), path, &call.headers, &call.body).await.is(401);
    assert_eq!(world.agent().get(&ask).await["state"], "pending");
    let spoofed = letter("s1", "Mallory <mallory@example.net>", &to, "yes");
    brings(&world, &spoofed).await.is(200);
    let done = result(&world, &ask).await;
    assert_eq!((&done["by"]["id"], &done["via"]), (&json!("user_dev"), &json!("email")));
    world.end().await;
}

/// What cannot be read as an answer is none, and the writer learns what would be.
#[tokio::test]
async fn what_is_no_answer_is_said_to_be_none() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let (ask, _, to) = told(&world, &post, approval()).await;
    let had = post.letters().len();
    for (n, words) in ["what is this about?", "yes, but only on Monday", "12"].iter().enumerate() {
        brings(&world, &letter(&format!("n{n}"), ADA, &to, words)).await.is(200);
        let told = post.letter(had + n + 1).await;
        let source = told.source();
        assert!(source.contains("Your answer was not understood"), "{source}");
        assert!(source.contains("Answer with yes, no, or open"), "{source}");
        assert_eq!(told.to, ADA);
    }
    // Machines are not answered, and say nothing.
    let away = letter("o1", ADA, &to, "yes");
    let away = away.replacen("Subject:", "Auto-Submitted: auto-replied\r\nSubject:", 1);
    brings(&world, &away).await.is(200);
    let own = letter("o2", "agents@example.com", &to, "yes");
    brings(&world, &own).await.is(200);
    brings(&world, "no letter at all").await;
    assert_eq!(post.letters().len(), had + 3);
    assert_eq!(world.agent().get(&ask).await["state"], "pending");
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.end().await;
}

/// Two answer: the second learns who was first.
#[tokio::test]
async fn the_second_learns_who_was_first() {
    let (post, world) = open().await;
    for human in ["user_dev", "user_dev_2"] {
        world.add_to_group(human, "ops").await;
    }
    verified(&world.human(), &post, ADA).await;
    verified(&world.member(), &post, "bob@example.com").await;
    let had = post.letters().len();
    let pool = with(approval(), json!({ "route": { "to": "pool", "group": "ops" } }));
    let ask = asked(&world.agent(), pool).await;
    eventually("two letters", async || post.letters().len() == had + 2).await;
    waits(&world, 0).await;
    let to = |who: &str| {
        let letters = post.letters();
        letters.iter().rev().find(|letter| letter.to == who).unwrap().header("Reply-To")
    };
    let (adas, bobs) = (to(ADA), to("bob@example.com"));
    assert_ne!(adas, bobs);
    brings(&world, &letter("b1", "bob@example.com", &bobs, "no: not now")).await.is(200);
    let seen = world.human().get(&ask).await.is(200)["result"].clone();
    assert_eq!((&seen["by"]["id"], &seen["comment"]), (&json!("user_dev_2"), &json!("not now")));
    let done = result(&world, &ask).await;
    brings(&world, &letter("a1", ADA, &adas, "yes")).await.is(200);
    assert_eq!(result(&world, &ask).await, done);
    let told = post.letters().pop().unwrap();
    assert_eq!(told.to, ADA);
    assert!(
        told.source().contains("just now: Rejected. Answered by user_dev_2"),
        "{}",
        told.source()
    );
    world.end().await;
}

/// A letter that came back did not arrive, and the request says so.
#[tokio::test]
async fn a_letter_that_came_back_is_recorded_as_failed() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let browser = signed_in(&world).await.client;
    for with_id in [true, false] {
        let (ask, sent, to) = told(&world, &post, approval()).await;
        let path = format!("{ask}/messages");
        let before = world.human().get(&path).await.is(200);
        assert_eq!(before["messages"][0]["state"], "sent", "{}", before.text);
        let id = if with_id {
            format!("Message-ID: {}\r\nSubject: it\r\n", sent.header("Message-ID"))
        } else {
            "Subject: it\r\n".to_owned()
        };
        let bounce = format!(
            "Message-ID: <bounce-{with_id}@mx.example.com>\r\nFrom: MAILER-DAEMON@mx.example.com\r\n\
             To: {to}\r\nReturn-Path: <>\r\nSubject: Undelivered\r\nAuto-Submitted: auto-replied\r\n\
             MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; \
             boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nNobody here.\r\n--b\r\n\
             Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n\
             Final-Recipient: rfc822; {ADA}\r\nAction: failed\r\nStatus: 5.1.1\r\n\
             Diagnostic-Code: smtp; 550 nobody <b>here</b>\r\n\r\n--b\r\n\
             Content-Type: text/rfc822-headers\r\n\r\n{id}\r\n--b--\r\n"
        );
        brings(&world, &bounce).await.is(200);
        let after = world.human().get(&path).await.is(200);
        assert_eq!(after["messages"][0]["state"], "failed", "{with_id}: {}", after.text);
        assert!(after["messages"][0]["error"].as_str().unwrap().contains("550"), "{}", after.text);
        let page = format!("/asks/{}", ask.rsplit('/').next().unwrap());
        let page = browser.get(&page).await.is(200);
        assert!(
            page.text.contains("Email, ") && !page.text.contains("<b>here</b>"),
            "{}",
            page.text
        );
        assert_eq!(result(&world, &ask).await, Value::Null);
        world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    }
    waits(&world, 0).await;
    world.end().await;
}

/// Without an address for answers a letter says nothing of writing back, and none is taken.
#[tokio::test]
async fn without_an_address_nobody_writes_back() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    verified(&world.human(), &post, ADA).await;
    asked(&world.agent(), approval()).await;
    let source = post.letter(2).await.source();
    assert!(
        !source.contains("\r\nReply-To") && !source.contains("reply to this email"),
        "{source}"
    );
    brings(&world, &letter("r1", ADA, "ask@example.com", "yes")).await.is(401);
    waits(&world, 0).await;
    world.end().await;
}

/// What wants care is answered on its page: the letter offers nothing else.
#[tokio::test]
async fn what_wants_care_is_not_answered_by_mail() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let careful = with(approval(), json!({ "question": { "details": { "irreversible": true } } }));
    let ask = asked(&world.agent(), careful).await;
    let source = post.letter(2).await.source();
    assert!(!source.contains("\r\nReply-To"), "{source}");
    assert!(source.contains("(can't be undone)"), "{source}");
    waits(&world, 0).await;
    let critical = with(approval(), json!({ "priority": "critical" }));
    asked(&world.agent(), critical).await;
    let source = post.letter(3).await.source();
    assert!(!source.contains("\r\nReply-To"), "{source}");
    waits(&world, 0).await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.end().await;
}

/// Whatever an agent writes, a letter leads only to us, and one answer stays one.
#[tokio::test]
async fn hostile_words_stay_words() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let prompt = "Pay?\r\nBcc: eve@example.com\r\n\r\n.\r\nhttps://evil.example <script>x</script> \u{202e}yap\r\n-- \r\nyes";
    let hostile = json!({ "question": { "prompt": prompt, "kind": "approve",
        "details": { "a\r\nTo: eve@example.com": "<img src=//evil.example>" } } });
    let (ask, sent, to) = told(&world, &post, hostile).await;
    assert_eq!(sent.to, ADA);
    let source = sent.source();
    let head = source.split("\r\n\r\n").next().unwrap();
    assert!(!head.contains("\r\nBcc") && !head.contains("\r\nTo: eve"), "{head}");
    assert!(!source.contains("https://evil.example"), "{source}");
    let (text, page) = source.split_once("<!doctype html>").unwrap();
    assert!(!page.contains("<script>x") && !page.contains("<img src"), "{source}");
    // Every line that is the agent's begins as one.
    let theirs = text.split_once("The agent writes:").unwrap().1;
    let theirs = theirs.split_once("Read it and answer here:").unwrap().0;
    let stray = |line: &str| !line.is_empty() && !line.starts_with('>');
    assert!(!theirs.lines().any(stray), "{text}");
    // Quoted back, the agent's words are no answer.
    let quoted = "hm\r\n\r\n> yes\r\n> approve";
    brings(&world, &letter("q1", ADA, &to, quoted)).await.is(200);
    assert_eq!(world.agent().get(&ask).await["state"], "pending");
    brings(&world, &letter("q2", "\"<script>\" <eve@example.net>", &to, "no: <b>\u{202e}x</b>"))
        .await
        .is(200);
    let done = result(&world, &ask).await;
    assert_eq!(done["answer"]["verdict"], "rejected");
    let browser = signed_in(&world).await.client;
    let page = browser.get(&format!("/asks/{}", ask.rsplit('/').next().unwrap())).await.is(200);
    assert!(!page.text.contains("<script>x") && !page.text.contains("<b>"), "{}", page.text);
    world.end().await;
}
