//! Messages that a platform took and that did not arrive: nobody waits for their readers to stay
//! silent.

use channels::testing::email;
use channels::testing::twilio::{AUTH_TOKEN, NUMBER, SID, Twilio};
use serde_json::json;
use server::config::{SecretString, Settings};

use crate::channels_phone::{STATUS, ours, text, texted};
use crate::fake_platforms::{added, calls, send, shown};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::native::{approval, asked, yes};
use crate::notification_steps::{NOTICES, verified};
use crate::world::{World, dev};

const NUMBER_OF_ADA: &str = "+4930123456";
const ADDRESS_OF_ADA: &str = "ada@example.com";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Texts and letters; Ada has a number and an address, tried in this order.
async fn both(order: [&str; 2]) -> (Twilio, Post, World) {
    let (twilio, post) = (Twilio::start().await.unwrap(), Post::open(&[]).await);
    let settings = Settings {
        twilio_account: Some(SID.to_owned()),
        twilio_auth_token: Some(SecretString::new(AUTH_TOKEN)),
        twilio_sms_from: Some(NUMBER.to_owned()),
        twilio_api: Some(twilio.base().into()),
        mail_replies: Some("ask@example.com".to_owned()),
        mail_inbound: Some(SecretString::new(format!("signed:{SECRET}"))),
        ..post.carrying(dev())
    };
    let world = World::with(settings).await;
    let me = world.human();
    let number = json!({ "via": "sms", "number": NUMBER_OF_ADA });
    let way = added(&me, number, &format!("sms:{NUMBER_OF_ADA}")).await;
    shown(&me, &way, || text(&twilio)).await;
    verified(&me, &post, ADDRESS_OF_ADA).await;
    me.put(NOTICES, json!({ "order": order })).await.is(200);
    (twilio, post, world)
}

/// The carrier says what became of the text with this number.
async fn became(world: &World, twilio: &Twilio, n: usize, to: &str, status: &str) {
    let sid = format!("SM{n:032x}");
    let call = twilio.became(&ours(world, STATUS), &sid, to, status, "30003");
    calls(world, STATUS, &call).await.is(200);
}

/// A2H-128: the next of the prioritised channels, at once.
#[tokio::test]
async fn a_text_that_did_not_arrive_is_followed_by_the_next_means_at_once() {
    let (twilio, post, world) = both(["sms:+4930123456", "email:ada@example.com"]).await;
    let letters = post.letters().len();
    let ask = asked(&world.agent(), approval()).await;
    texted(&twilio, 2).await;
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), letters, "the text comes first");
    // Said twice, as carriers do: told once.
    for _ in 0..2 {
        became(&world, &twilio, 2, NUMBER_OF_ADA, "undelivered").await;
        waits(&world, 0).await;
        assert_eq!(post.letter(letters + 1).await.to, ADDRESS_OF_ADA);
    }
    world.advance(7_200);
    waits(&world, 0).await;
    assert_eq!((twilio.sent().len(), post.letters().len()), (2, letters + 1));
    let seen = world.human().get(&format!("{ask}/messages")).await.is(200);
    let state_of = |channel: &str| {
        let messages = seen["messages"].as_array().unwrap().iter();
        messages.clone().find(|one| one["channel"] == channel).unwrap()["state"].clone()
    };
    assert_eq!((state_of("sms"), state_of("email")), (json!("failed"), json!("sent")));
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 0).await;
    world.end().await;
}

/// Whoever was told by another means since is not told by a third for it; what is over is not told.
#[tokio::test]
async fn what_comes_too_late_changes_nothing() {
    let (twilio, post, world) = both(["sms:+4930123456", "email:ada@example.com"]).await;
    let letters = post.letters().len();
    let ask = asked(&world.agent(), approval()).await;
    texted(&twilio, 2).await;
    waits(&world, 1).await;
    world.advance(7_200);
    waits(&world, 0).await;
    assert_eq!(post.letter(letters + 1).await.to, ADDRESS_OF_ADA);
    became(&world, &twilio, 2, NUMBER_OF_ADA, "undelivered").await;
    waits(&world, 0).await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    let other = asked(&world.agent(), approval()).await;
    texted(&twilio, 3).await;
    world.human().post(&format!("{other}/answer"), yes()).await.is(200);
    became(&world, &twilio, 3, NUMBER_OF_ADA, "undelivered").await;
    world.advance(7_200);
    waits(&world, 0).await;
    assert_eq!((twilio.sent().len(), post.letters().len()), (3, letters + 1));
    world.end().await;
}

#[tokio::test]
async fn a_letter_that_came_back_is_followed_by_the_next_means_at_once() {
    let (twilio, post, world) = both(["email:ada@example.com", "sms:+4930123456"]).await;
    let (letters, texts) = (post.letters().len(), twilio.sent().len());
    let ask = asked(&world.agent(), approval()).await;
    let to = post.letter(letters + 1).await.header("Reply-To");
    waits(&world, 1).await;
    let bounce = format!(
        "Message-ID: <bounce@mx.example.com>\r\nFrom: MAILER-DAEMON@mx.example.com\r\nTo: {to}\r\n\
         Return-Path: <>\r\nSubject: Undelivered\r\nAuto-Submitted: auto-replied\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; \
         boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nNobody here.\r\n--b\r\n\
         Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n\
         Final-Recipient: rfc822; {ADDRESS_OF_ADA}\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b--\r\n"
    );
    let call = email::webhook(SECRET, "msg_1", &bounce, world.now());
    let inbound = "/channels/email/inbound";
    send(&world.anonymous(), inbound, &call.headers, &call.body).await.is(200);
    waits(&world, 0).await;
    assert!(texted(&twilio, texts + 1).await.contains("Deploy?"));
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 0).await;
    world.end().await;
}

/// Where the agent wanted it put nobody was reached: whoever answers for the agent is told instead.
#[tokio::test]
async fn a_place_where_nothing_arrives_is_the_owners() {
    let (twilio, post, world) = both(["email:ada@example.com", "sms:+4930123456"]).await;
    let letters = post.letters().len();
    let place = json!({ "place": { "to": "sms:+4930999999" } });
    let ask = asked(&world.agent(), crate::client::with(approval(), place)).await;
    texted(&twilio, 2).await;
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), letters);
    became(&world, &twilio, 2, "+4930999999", "undelivered").await;
    waits(&world, 1).await;
    assert_eq!(post.letter(letters + 1).await.to, ADDRESS_OF_ADA);
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.advance(7_200);
    waits(&world, 0).await;
    world.end().await;
}
