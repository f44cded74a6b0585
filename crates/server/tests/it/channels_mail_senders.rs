//! Replies by email whose sender is verified, and those whose sender is not: what each is worth,
//! and what the receipt says of it.

use channels::testing::dkim::{HEADERS, MailServer};
use channels::testing::dns::{DnsBehavior, NameServer};
use dialects::proof;
use serde_json::{Value, json};

use crate::channels_mail::{ADA, brings, letter, open, open_with, result, told};
use crate::client::with;
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::native::{approval, asked};
use crate::notification_steps::verified;
use crate::pages::signed_in;
use crate::receipts::{jwks, receipt};
use crate::world::World;

/// What somebody makes of an email before it comes.
type Written<'a> = Box<dyn Fn(&str) -> String + 'a>;

/// The claims of the receipt of an ask, and what they say in words.
async fn claims(world: &World, ask: &str) -> (Value, String) {
    let id = ask.rsplit('/').next().unwrap();
    let signed = receipt(&world.human(), id).await;
    let claims = proof::verify(&signed, &jwks(world).await).unwrap();
    (serde_json::to_value(&claims).unwrap(), proof::explain(&claims).join("\n"))
}

/// A server that trusts one forwarder and knows the keys of these mail servers.
async fn signing(servers: &[&MailServer], mood: DnsBehavior) -> (NameServer, Post, World) {
    let records: Vec<_> = servers.iter().map(|server| server.record("").unwrap()).collect();
    let dns = NameServer::open(&records, mood).await.unwrap();
    let (post, world) = open_with(&dns.address.to_string(), "lists.example").await;
    verified(&world.human(), &post, ADA).await;
    (dns, post, world)
}

/// Each kind of email is an answer; only a verified sender makes it worth more than a link.
#[tokio::test]
async fn the_receipt_says_how_the_sender_was_verified() {
    let own = MailServer::new("example.com", 1);
    let evil = MailServer::new("evil.example", 2);
    let list = MailServer::new("lists.example", 3);
    let stranger = MailServer::new("other.example", 4);
    let (_dns, post, world) = signing(&[&own, &evil, &list, &stranger], DnsBehavior::Answers).await;
    let browser = signed_in(&world).await.client;
    let signed = |who: &MailServer, email: &str| who.signed(email, &HEADERS).unwrap();
    let dkim = json!({ "method": "dkim", "domain": "example.com" });
    let arc = json!({ "method": "arc", "domain": "example.com", "sealer": "lists.example" });
    let cases: Vec<(&str, &str, Written<'_>, Value)> = vec![
        ("signed", ADA, Box::new(|email| signed(&own, email)), dkim),
        (
            "sealed",
            ADA,
            {
                let changed =
                    |email: &str| signed(&own, email).replace("yes", "yes\r\n-- \r\nThe list");
                Box::new(move |email| list.sealed(&changed(email), "example.com").unwrap())
            },
            arc,
        ),
        ("unsigned", ADA, Box::new(str::to_owned), Value::Null),
        ("by another domain", ADA, Box::new(|email| signed(&evil, email)), Value::Null),
        (
            "from another address",
            "eve@evil.example",
            Box::new(|email| signed(&evil, email)),
            Value::Null,
        ),
        ("changed", ADA, Box::new(|email| signed(&own, email).replace("yes", "Yes")), Value::Null),
        (
            "in part",
            ADA,
            Box::new(|email| own.signed_as(email, &HEADERS, None, true).unwrap()),
            Value::Null,
        ),
        (
            "two senders",
            ADA,
            Box::new(|email| format!("From: {ADA}\r\n{}", signed(&own, email))),
            Value::Null,
        ),
        (
            "the sender not signed",
            ADA,
            Box::new(|email| own.signed(email, &["To", "Subject", "Message-ID"]).unwrap()),
            Value::Null,
        ),
        (
            "sealed by a stranger",
            ADA,
            Box::new(|email| stranger.sealed(email, "example.com").unwrap()),
            Value::Null,
        ),
    ];
    for (n, (what, from, write, sender)) in cases.iter().enumerate() {
        let (ask, _, to) = told(&world, &post, approval()).await;
        let email = write(&letter(&format!("v{n}"), from, &to, "yes"));
        brings(&world, &email).await.is(200);
        let done = result(&world, &ask).await;
        let assurance = if sender.is_null() { "link" } else { "channel" };
        assert_eq!(done["answer"]["verdict"], "approved", "{what}");
        assert_eq!((&done["by"]["id"], &done["via"]), (&json!("user_dev"), &json!("email")));
        assert_eq!(done["assurance"], assurance, "{what}");
        let (claims, words) = claims(&world, &ask).await;
        assert_eq!(claims["assurance"], assurance, "{what}");
        assert_eq!(claims.get("sender").unwrap_or(&Value::Null), sender, "{what}");
        let page = format!("/asks/{}", ask.rsplit('/').next().unwrap());
        let page = browser.get(&page).await.is(200).text.clone();
        let (said, shown) = match sender["method"].as_str() {
            Some("dkim") => {
                ("a DKIM signature of example.com covers", "a DKIM signature of example.com")
            }
            Some(_) => {
                ("lists.example, a forwarder the operator", "the trusted forwarder lists.example")
            }
            None => ("was not verified: anyone who reads email", "the sender was not verified"),
        };
        assert!(words.contains(said), "{what}: {words}");
        assert!(page.contains(shown), "{what}: {page}");
    }
    world.end().await;
}

/// Where a project wants a verified sender, a reply without is refused and told why and what to do;
/// the next one, signed, is taken.
#[tokio::test]
async fn a_project_may_want_verified_senders() {
    let own = MailServer::new("example.com", 1);
    let (_dns, post, world) = signing(&[&own], DnsBehavior::Answers).await;
    let strict = with(approval(), json!({ "assurance": "channel" }));
    let (ask, sent, to) = told(&world, &post, strict).await;
    assert!(sent.source().contains("reply to this email"), "{}", sent.source());
    brings(&world, &letter("u1", ADA, &to, "yes")).await.is(200);
    assert_eq!(world.agent().get(&ask).await["state"], "pending");
    let told = post.letters().pop().unwrap();
    let source = told.source().replace("=\r\n", "");
    for part in ["has no DKIM signature", "Sign in and answer on its page", "/asks/"] {
        assert!(source.contains(part), "{part}: {source}");
    }
    let signed = own.signed(&letter("u2", ADA, &to, "yes"), &HEADERS).unwrap();
    brings(&world, &signed).await.is(200);
    assert_eq!(result(&world, &ask).await["assurance"], "channel");
    waits(&world, 0).await;
    world.end().await;
}

/// Where senders are not verified, an email does not invite a reply that would be refused.
#[tokio::test]
async fn no_reply_is_offered_that_would_be_refused() {
    let (post, world) = open().await;
    verified(&world.human(), &post, ADA).await;
    let strict = with(approval(), json!({ "assurance": "channel" }));
    asked(&world.agent(), strict).await;
    let source = post.letter(2).await.source();
    assert!(
        !source.contains("\r\nReply-To") && !source.contains("reply to this email"),
        "{source}"
    );
    waits(&world, 0).await;
    world.end().await;
}

/// A signature that expired by the clock of this server proves nothing.
#[tokio::test]
async fn an_expired_signature_proves_nothing() {
    let own = MailServer::new("example.com", 1);
    let (_dns, post, world) = signing(&[&own], DnsBehavior::Answers).await;
    let (ask, _, to) = told(&world, &post, approval()).await;
    let email = letter("e1", ADA, &to, "yes");
    let signed = own.signed_as(&email, &HEADERS, Some(60), false).unwrap();
    // The signature is dated by the machine, so the clock of the server has to pass that.
    let (_, until) = signed.split_once("x=").unwrap();
    let until: i64 = until.split(';').next().unwrap().trim().parse().unwrap();
    let behind = until - world.now().millis() / 1000;
    world.advance(u64::try_from(behind.max(0)).unwrap() + 1);
    brings(&world, &signed).await.is(200);
    assert_eq!(result(&world, &ask).await["assurance"], "link");
    world.end().await;
}

/// A DNS that fails loses no answer.
#[tokio::test]
async fn without_a_dns_an_answer_is_taken_as_link() {
    let own = MailServer::new("example.com", 1);
    let (dns, post, world) = signing(&[&own], DnsBehavior::Fails).await;
    let (ask, _, to) = told(&world, &post, approval()).await;
    let signed = own.signed(&letter("d1", ADA, &to, "yes"), &HEADERS).unwrap();
    brings(&world, &signed).await.is(200);
    assert_eq!(result(&world, &ask).await["assurance"], "link");
    assert!((1..=4).contains(&dns.asked()), "asked {} times", dns.asked());
    // Nothing is looked up for a sender who is not the person.
    let asked = dns.asked();
    let (ask, _, to) = told(&world, &post, approval()).await;
    let eve = MailServer::new("evil.example", 9);
    let signed = eve.signed(&letter("d2", "eve@evil.example", &to, "yes"), &HEADERS).unwrap();
    brings(&world, &signed).await.is(200);
    assert_eq!(
        (result(&world, &ask).await["assurance"].clone(), dns.asked()),
        (json!("link"), asked)
    );
    world.end().await;
}
