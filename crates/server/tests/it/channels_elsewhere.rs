//! Channels by their other ways in: WhatsApp through Meta and through Twilio, Telegram that calls,
//! Slack over a socket, letters by Mailgun, by Postmark and handed over by a mail server.

use channels::testing::email::{self, Call};
use channels::testing::fake_platform::Inbound;
use channels::testing::slack::{APP_TOKEN, BOT_TOKEN, Workspace};
use channels::testing::telegram::{self, Telegram};
use channels::testing::twilio::{AUTH_TOKEN, NUMBER, SID, Twilio};
use channels::testing::whatsapp::{self, Whatsapp};
use serde_json::{Value, json};
use server::config::{SecretString, Settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::channels_phone::ours;
use crate::fake_platforms::{ADA, added, calls, id, in_slack_as, now_says, posted, send, shown};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::native::{approval, asked};
use crate::notification_steps::verified;
use crate::world::{World, dev, eventually};

const NUMBER_OF_ADA: &str = "+491701234567";
const MESSAGES: &str = "/channels/whatsapp/messages";

async fn result(world: &World, ask: &str) -> Value {
    world.agent().get(ask).await.is(200)["result"].clone()
}

/// Ada answered it, and the platform says so.
async fn answered_by_ada(world: &World, ask: &str, via: &str) {
    eventually("an answer", async || !result(world, ask).await.is_null()).await;
    let done = result(world, ask).await;
    assert_eq!((&done["via"], &done["by"]["id"]), (&json!(via), &json!("user_dev")), "{done}");
    // The sender of an unsigned email is not verified.
    let assurance = if via == "email" { "link" } else { "channel" };
    assert_eq!(done["assurance"], assurance);
}

async fn with_number(world: &World, came: impl Fn() -> Option<String>) {
    let contact = json!({ "via": "whatsapp", "number": NUMBER_OF_ADA });
    let way = added(&world.human(), contact, &format!("whatsapp:{NUMBER_OF_ADA}")).await;
    shown(&world.human(), &way, came).await;
}

/// Meta looks whether its calls are wanted, then brings a press; a call it did not sign is not
/// heard.
#[tokio::test]
async fn a_request_is_answered_in_whatsapp_through_meta() {
    let there = Whatsapp::start().await.unwrap();
    let settings = Settings {
        whatsapp_phone_id: Some(whatsapp::PHONE_NUMBER_ID.to_owned()),
        whatsapp_token: Some(SecretString::new(whatsapp::TOKEN)),
        whatsapp_app_secret: Some(SecretString::new(whatsapp::APP_SECRET)),
        whatsapp_verify_token: Some(SecretString::new(whatsapp::VERIFY_TOKEN)),
        whatsapp_api: Some(there.settings().graph.into()),
        ..dev()
    };
    let world = World::with(settings).await;
    let greet = |token: &str| {
        let query = "hub.mode=subscribe&hub.challenge=1158201444";
        format!("{MESSAGES}?{query}&hub.verify_token={token}")
    };
    let greeted = world.anonymous().get(&greet(whatsapp::VERIFY_TOKEN)).await.is(200);
    assert_eq!(greeted.text, "1158201444");
    world.anonymous().get(&greet("guessed")).await.is(401);

    with_number(&world, || there.sent().pop().map(|sent| sent["text"].to_string())).await;
    let ask = asked(&world.agent(), approval()).await;
    eventually("a message", async || there.sent().len() == 2).await;
    waits(&world, 0).await;
    let sent = there.sent().pop().unwrap();
    let button = &sent["interactive"]["action"]["buttons"][0]["reply"];
    assert_eq!(button["title"], "Approve", "{sent:#}");
    let press = json!({
        "type": "interactive", "context": { "id": "wamid.OUT2" },
        "interactive": { "type": "button_reply", "button_reply": button },
    });
    let now = world.now().millis() / 1000;
    let from = NUMBER_OF_ADA.trim_start_matches('+');
    let pressed = there.message(&ours(&world, MESSAGES), from, now, &press);
    let forged = Inbound { body: [&pressed.body[..], b" "].concat(), ..pressed.clone() };
    calls(&world, MESSAGES, &forged).await.is(401);
    assert_eq!(result(&world, &ask).await, Value::Null);
    // Said twice, as Meta does when it is in doubt: answered once.
    for _ in 0..2 {
        calls(&world, MESSAGES, &pressed).await.is(200);
        answered_by_ada(&world, &ask, "whatsapp").await;
    }
    waits(&world, 0).await;
    world.end().await;
}

#[tokio::test]
async fn a_request_is_answered_in_whatsapp_through_twilio() {
    let there = Twilio::start().await.unwrap();
    let settings = Settings {
        twilio_account: Some(SID.to_owned()),
        twilio_auth_token: Some(SecretString::new(AUTH_TOKEN)),
        twilio_whatsapp_from: Some(NUMBER.to_owned()),
        twilio_api: Some(there.base().into()),
        twilio_content_api: Some(there.base().into()),
        ..dev()
    };
    let world = World::with(settings).await;
    let member = |name: &str| {
        let sent = there.sent().pop()?;
        sent.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    };
    with_number(&world, || member("Body")).await;
    let ask = asked(&world.agent(), approval()).await;
    eventually("a message", async || there.sent().len() == 2).await;
    waits(&world, 0).await;
    assert_eq!(member("To").unwrap(), format!("whatsapp:{NUMBER_OF_ADA}"));
    let laid_out = there.laid_out().pop().unwrap();
    let actions =
        laid_out["types"].as_object().unwrap().values().next().unwrap()["actions"].clone();
    assert_eq!(actions[0]["title"], "Approve", "{laid_out:#}");
    let from = format!("whatsapp:{NUMBER_OF_ADA}");
    let form = [
        ("MessageSid", "SM9"),
        ("From", from.as_str()),
        ("To", "whatsapp:+15005550006"),
        ("Body", "Approve"),
        ("ButtonText", "Approve"),
        ("ButtonPayload", actions[0]["id"].as_str().unwrap()),
    ];
    let pressed = there.inbound(&ours(&world, MESSAGES), &form);
    let elsewhere = there.inbound("https://elsewhere.example.com/", &form);
    calls(&world, MESSAGES, &elsewhere).await.is(401);
    assert_eq!(result(&world, &ask).await, Value::Null);
    calls(&world, MESSAGES, &pressed).await.is(200);
    answered_by_ada(&world, &ask, "whatsapp").await;
    waits(&world, 0).await;
    assert_eq!(there.laid_out(), Vec::<Value>::new(), "there is nothing to press any more");
    world.end().await;
}

/// The server tells Telegram where to call, and takes only calls with the secret.
#[tokio::test]
async fn telegram_calls_where_it_was_told_to() {
    const UPDATES: &str = "/channels/telegram/updates";
    let there = Telegram::start().await.unwrap();
    there.chat(77);
    let settings = Settings {
        telegram_token: Some(SecretString::new(telegram::TOKEN)),
        telegram_webhook_secret: Some(SecretString::new("hush-hush")),
        telegram_api: Some(there.base().into()),
        public_url: Some("https://ask.example.com".parse().unwrap()),
        ..dev()
    };
    let world = World::with(settings).await;
    let me = world.human();
    let way = added(&me, json!({ "via": "telegram", "id": "77" }), "telegram:77").await;
    let said = |n: i64| there.message(77, n).map(|message| message["text"].to_string());
    shown(&me, &way, || said(1)).await;
    let ask = asked(&world.agent(), approval()).await;
    eventually("a message", async || said(2).is_some()).await;
    waits(&world, 0).await;
    let message = there.message(77, 2).unwrap();
    let data = &message["reply_markup"]["inline_keyboard"][0][0]["callback_data"];
    let mut pressed = there.press(77, 77, 2, data.as_str().unwrap());
    eventually("that Telegram knows where", async || {
        pressed = there.press(77, 77, 2, data.as_str().unwrap());
        pressed.url == format!("https://ask.example.com{UPDATES}")
    })
    .await;
    let mut forged = pressed.clone();
    forged.headers.retain(|(name, _)| name == "content-type");
    calls(&world, UPDATES, &forged).await.is(401);
    assert_eq!(result(&world, &ask).await, Value::Null);
    calls(&world, UPDATES, &pressed).await.is(200);
    answered_by_ada(&world, &ask, "telegram").await;
    waits(&world, 0).await;
    assert!(said(2).unwrap().contains("Approved by"));
    world.end().await;
}

/// Without an address Slack could call: what is pressed comes over a socket, and is acknowledged.
#[tokio::test]
async fn slack_is_heard_over_a_socket() {
    let slack = Workspace::begin().await.unwrap();
    let settings = Settings {
        slack_bot_token: Some(SecretString::new(BOT_TOKEN)),
        slack_app_token: Some(SecretString::new(APP_TOKEN)),
        slack_api: slack.base().map(Into::into),
        ..dev()
    };
    let world = World::with(settings).await;
    slack.socket_opened().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let ask = asked(&world.agent(), approval()).await;
    let message = posted(&slack, 2).await;
    waits(&world, 0).await;
    let pressed = slack.pressed(&id(&message), "Approve", ADA).unwrap();
    slack.say("interactive", "e1", &pressed);
    assert_eq!(slack.acknowledged().await.as_deref(), Some("e1"));
    answered_by_ada(&world, &ask, "slack").await;
    let over = now_says(&world, &slack, &id(&message)).await;
    assert!(over.contains("Approved by"), "{over}");
    // A connection that broke off is made again.
    slack.drop_socket();
    slack.socket_opened().await;
    let ask = asked(&world.agent(), approval()).await;
    let message = posted(&slack, 3).await;
    waits(&world, 0).await;
    slack.say("interactive", "e2", &slack.pressed(&id(&message), "Reject", ADA).unwrap());
    assert_eq!(slack.acknowledged().await.as_deref(), Some("e2"));
    answered_by_ada(&world, &ask, "slack").await;
    waits(&world, 0).await;
    world.end().await;
}

/// Somebody writes "yes" to this address.
fn yes_to(address: &str) -> String {
    format!(
        "Message-ID: <r1@example.com>\r\nFrom: ada@example.com\r\nTo: {address}\r\nSubject: Re: it\r\n\
         Date: Sun, 01 Mar 2026 09:01:00 +0000\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nyes\r\n"
    )
}

/// A server whose letters are answered by these means.
async fn answered_by(settings: Settings) -> (Post, World, String, String) {
    let post = Post::open(&[]).await;
    let settings =
        Settings { mail_replies: Some("ask@example.com".to_owned()), ..post.carrying(settings) };
    let world = World::with(settings).await;
    verified(&world.human(), &post, "ada@example.com").await;
    let ask = asked(&world.agent(), approval()).await;
    let to = post.letter(2).await.header("Reply-To");
    waits(&world, 0).await;
    (post, world, ask, to)
}

#[tokio::test]
async fn letters_come_in_by_the_posts_of_providers() {
    type Brings = fn(&str, &World) -> (Call, Call);
    let by_mailgun: Brings = |to, world| {
        let brings = |key| email::mailgun(key, to, &yes_to(to), world.now());
        (brings("key-of-nobody"), brings("key-of-ours"))
    };
    let by_postmark: Brings = |to, _| {
        let brings = |password| email::postmark("ask", password, to, &yes_to(to));
        (brings("guessed"), brings("long-password"))
    };
    for (inbound, path, brings) in [
        ("mailgun:key-of-ours", "/channels/email/inbound-mime", by_mailgun),
        ("postmark:ask:long-password", "/channels/email/inbound", by_postmark),
    ] {
        let settings = Settings { mail_inbound: Some(SecretString::new(inbound)), ..dev() };
        let (_post, world, ask, to) = answered_by(settings).await;
        let (forged, real) = brings(&to, &world);
        let client = world.anonymous();
        send(&client, path, &forged.headers, &forged.body).await.is(401);
        assert_eq!(result(&world, &ask).await, Value::Null, "{inbound}");
        send(&client, path, &real.headers, &real.body).await.is(200);
        answered_by_ada(&world, &ask, "email").await;
        waits(&world, 0).await;
        world.end().await;
    }
}

/// One line to a mail server, and what it says to it.
async fn line(server: &mut BufReader<TcpStream>, say: &str) -> String {
    server.get_mut().write_all(format!("{say}\r\n").as_bytes()).await.unwrap();
    said(server).await
}

/// The last line of what a mail server says.
async fn said(server: &mut BufReader<TcpStream>) -> String {
    loop {
        let mut line = String::new();
        assert!(server.read_line(&mut line).await.unwrap() > 0, "it hung up");
        if line.as_bytes().get(3) != Some(&b'-') {
            return line;
        }
    }
}

/// A mail server hands letters over, each recipient answered for by itself; what is nobody's is
/// refused there and then.
#[tokio::test]
async fn letters_are_handed_over_by_a_mail_server() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let settings = Settings { mail_listen: Some(format!("lmtp://{free}")), ..dev() };
    let (_post, world, ask, to) = answered_by(settings).await;
    let mut server = BufReader::new(TcpStream::connect(free).await.unwrap());
    assert!(said(&mut server).await.starts_with("220"));
    assert!(line(&mut server, "LHLO mx.example.com").await.starts_with("250"));
    assert!(line(&mut server, "MAIL FROM:<ada@example.com>").await.starts_with("250"));
    let nobody = line(&mut server, "RCPT TO:<somebody@example.com>").await;
    assert!(nobody.starts_with("550"), "{nobody}");
    assert!(line(&mut server, &format!("RCPT TO:<{to}>")).await.starts_with("250"));
    assert!(line(&mut server, "DATA").await.starts_with("354"));
    let taken = line(&mut server, &format!("{}.", yes_to(&to))).await;
    assert!(taken.starts_with("250"), "{taken}");
    answered_by_ada(&world, &ask, "email").await;
    assert!(line(&mut server, "QUIT").await.starts_with("221"));
    waits(&world, 0).await;
    world.end().await;
}
