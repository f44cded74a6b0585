//! Text messages, Telegram, ntfy and the operator's own program: told, answered, stopped.

use channels::testing::fake_platform::Inbound;
use channels::testing::twilio::{AUTH_TOKEN, NUMBER, SID, Twilio};
use channels::testing::{ntfy, telegram, webhook};
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::client::Reply;
use crate::fake_platforms::{added, calls, shown};
use crate::fake_push_device::waits;
use crate::native::{approval, asked, yes};
use crate::notification_steps::NOTICES;
use crate::world::{World, dev, eventually};

pub(crate) const NUMBER_OF_ADA: &str = "+4930123456";
const ADA: &str = NUMBER_OF_ADA;
const INBOUND: &str = "/channels/sms/inbound";
pub(crate) const STATUS: &str = "/channels/sms/status";

async fn result(world: &World, ask: &str) -> Value {
    world.agent().get(ask).await.is(200)["result"].clone()
}

/// Twilio, and a server whose owner has shown that a number is theirs.
pub(crate) async fn with_twilio() -> (Twilio, World) {
    let twilio = Twilio::start().await.unwrap();
    let settings = Settings {
        twilio_account: Some(SID.to_owned()),
        twilio_auth_token: Some(SecretString::new(AUTH_TOKEN)),
        twilio_sms_from: Some(NUMBER.to_owned()),
        twilio_api: Some(twilio.base().into()),
        ..dev()
    };
    let world = World::with(settings).await;
    let me = world.human();
    let way = added(&me, json!({ "via": "sms", "number": ADA }), &format!("sms:{ADA}")).await;
    shown(&me, &way, || text(&twilio)).await;
    (twilio, world)
}

/// The text that was sent last.
pub(crate) fn text(twilio: &Twilio) -> Option<String> {
    let sent = twilio.sent().pop()?;
    sent.into_iter().find(|(name, _)| name == "Body").map(|(_, body)| body)
}

/// The text that was sent when there are so many.
pub(crate) async fn texted(twilio: &Twilio, times: usize) -> String {
    eventually("a text", async || twilio.sent().len() >= times).await;
    assert_eq!(twilio.sent().len(), times, "{:#?}", twilio.sent());
    text(twilio).unwrap()
}

/// What an answer begins with.
fn code(text: &str) -> String {
    let line = text.lines().find(|line| line.ends_with(" yes: Approve"));
    line.unwrap_or_else(|| panic!("{text}")).split(' ').next().unwrap().to_owned()
}

pub(crate) fn ours(world: &World, path: &str) -> String {
    let mut url = world.app().core.config.public_url.clone();
    url.set_path(path);
    url.into()
}

/// Somebody writes a text.
pub(crate) async fn write(
    world: &World,
    twilio: &Twilio,
    sid: &str,
    from: &str,
    words: &str,
) -> Reply {
    let call = twilio.write(&ours(world, INBOUND), sid, from, words);
    calls(world, INBOUND, &call).await.is(200)
}

/// A2H-093: a code before the word says what is answered; without one, what waits alone is.
#[tokio::test]
async fn a_text_is_answered_with_its_code_and_a_word() {
    let (twilio, world) = with_twilio().await;
    let first = asked(&world.agent(), approval()).await;
    let told = texted(&twilio, 2).await;
    assert!(told.contains("Deploy?"), "{told}");
    let second = asked(&world.agent(), approval()).await;
    let other = texted(&twilio, 3).await;
    waits(&world, 0).await;
    assert_ne!(code(&told), code(&other));
    // Two wait: without a code nobody can tell.
    write(&world, &twilio, "SM1", ADA, "yes").await;
    let how = texted(&twilio, 4).await;
    assert!(how.contains("which request") && how.contains("code"), "{how}");
    for ask in [&first, &second] {
        assert_eq!(result(&world, ask).await, Value::Null);
    }
    write(&world, &twilio, "SM2", ADA, &format!("{} yes", code(&told).to_lowercase())).await;
    assert!(texted(&twilio, 5).await.starts_with("Recorded: Approved"));
    let done = result(&world, &first).await;
    assert_eq!(done["answer"], json!({ "verdict": "approved" }));
    assert_eq!((&done["via"], &done["by"]["id"]), (&json!("sms"), &json!("user_dev")));
    assert_eq!(done["assurance"], "channel");
    assert_eq!(result(&world, &second).await, Value::Null);
    // The same text brought again is the same answer.
    write(&world, &twilio, "SM2", ADA, &format!("{} yes", code(&told))).await;
    assert_eq!(result(&world, &first).await, done);
    // One waits: a word is enough. Somebody else's word is nothing, and gets no answer.
    let before = twilio.sent().len();
    write(&world, &twilio, "SM3", "+4930999999", &format!("{} yes", code(&other))).await;
    write(&world, &twilio, "SM4", "+4930999999", "yes").await;
    assert_eq!(twilio.sent().len(), before);
    assert_eq!(result(&world, &second).await, Value::Null);
    write(&world, &twilio, "SM5", ADA, "No, not today").await;
    let done = result(&world, &second).await;
    assert_eq!(
        (&done["answer"]["verdict"], &done["comment"]),
        (&json!("rejected"), &json!("not today"))
    );
    waits(&world, 0).await;
    world.end().await;
}

/// What Twilio did not sign is not heard.
#[tokio::test]
async fn a_forged_text_is_not_heard() {
    let (twilio, world) = with_twilio().await;
    let ask = asked(&world.agent(), approval()).await;
    texted(&twilio, 2).await;
    waits(&world, 0).await;
    let mut forged = twilio.write(&ours(&world, INBOUND), "SM1", ADA, "yes");
    forged.body.extend_from_slice(b"&x=1");
    calls(&world, INBOUND, &forged).await.problem(401, "unauthorized");
    let elsewhere = twilio.write("https://evil.example/channels/sms/inbound", "SM1", ADA, "yes");
    calls(&world, INBOUND, &elsewhere).await.problem(401, "unauthorized");
    assert_eq!(result(&world, &ask).await, Value::Null);
    world.end().await;
}

/// Whoever writes STOP is texted no more, and START lets it begin again; both show.
#[tokio::test]
async fn stop_and_start_are_heard() {
    let (twilio, world) = with_twilio().await;
    let off = async || world.human().get(NOTICES).await.is(200)["ways"][1]["off"].clone();
    assert_eq!(off().await, false);
    write(&world, &twilio, "SM1", ADA, " stop ").await;
    assert_eq!(off().await, true);
    asked(&world.agent(), approval()).await;
    waits(&world, 0).await;
    assert_eq!(twilio.sent().len(), 1, "the code, and nothing since");
    write(&world, &twilio, "SM2", "+4930999999", "START").await;
    assert_eq!(off().await, true);
    write(&world, &twilio, "SM3", ADA, "Start").await;
    assert_eq!(off().await, false);
    asked(&world.agent(), approval()).await;
    texted(&twilio, 2).await;
    waits(&world, 0).await;
    world.end().await;
}

/// What carriers say of a text is shown with the request, whatever order it comes in.
#[tokio::test]
async fn what_became_of_a_text_is_shown() {
    let (twilio, world) = with_twilio().await;
    for (status, error, state) in
        [("delivered", "", "delivered"), ("undelivered", "30003", "failed")]
    {
        let before = twilio.sent().len();
        let ask = asked(&world.agent(), approval()).await;
        texted(&twilio, before + 1).await;
        waits(&world, 0).await;
        let sid = format!("SM{:032x}", before + 1);
        for status in [status, "sent", "queued"] {
            let call = twilio.became(&ours(&world, STATUS), &sid, ADA, status, error);
            calls(&world, STATUS, &call).await.is(200);
        }
        let seen = world.human().get(&format!("{ask}/messages")).await.is(200);
        assert_eq!(seen["messages"][0]["state"], state, "{}", seen.text);
        assert_eq!(seen["messages"][0]["error"].is_string(), state == "failed", "{}", seen.text);
        world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    }
    waits(&world, 0).await;
    world.end().await;
}

/// Telegram is asked what there is; what is pressed there is an answer, and the message then says
/// so.
#[tokio::test]
async fn a_request_is_answered_in_telegram() {
    const ADA: i64 = 77;
    let there = telegram::Telegram::start().await.unwrap();
    there.chat(ADA);
    let settings = Settings {
        telegram_token: Some(SecretString::new(telegram::TOKEN)),
        telegram_api: Some(there.base().into()),
        ..dev()
    };
    let world = World::with(settings).await;
    let me = world.human();
    let way = added(&me, json!({ "via": "telegram", "id": "77" }), "telegram:77").await;
    let said = |n: i64| there.message(ADA, n).map(|message| message["text"].to_string());
    shown(&me, &way, || said(1)).await;
    let ask = asked(&world.agent(), approval()).await;
    eventually("a message", async || said(2).is_some()).await;
    waits(&world, 0).await;
    let message = there.message(ADA, 2).unwrap();
    let button = &message["reply_markup"]["inline_keyboard"][0][0];
    assert_eq!(button["text"], "Approve", "{message:#}");
    let data = button["callback_data"].as_str().unwrap();
    // Somebody else pressed first, and was not asked.
    let _: Inbound = there.press(78, ADA, 2, data);
    eventually("a toast", async || there.answered().len() == 1).await;
    assert!(there.answered()[0]["text"].as_str().unwrap().contains("was not sent to you"));
    assert_eq!(result(&world, &ask).await, Value::Null);
    let _: Inbound = there.press(ADA, ADA, 2, data);
    eventually("a toast", async || there.answered().len() == 2).await;
    let done = result(&world, &ask).await;
    assert_eq!((&done["via"], &done["by"]["id"]), (&json!("telegram"), &json!("user_dev")));
    assert_eq!(done["assurance"], "channel");
    waits(&world, 0).await;
    let over = said(2).unwrap();
    assert!(over.contains("Approved by"), "{over}");
    assert!(there.message(ADA, 2).unwrap()["reply_markup"]["inline_keyboard"][0].is_null());
    // A reply in words, to the message.
    let ask = asked(&world.agent(), approval()).await;
    eventually("a message", async || said(3).is_some()).await;
    waits(&world, 0).await;
    let _: Inbound = there.write(ADA, "no: not now", Some(3));
    eventually("an answer", async || !result(&world, &ask).await.is_null()).await;
    assert_eq!(result(&world, &ask).await["comment"], "not now");
    waits(&world, 0).await;
    world.end().await;
}

/// ntfy tells, and leads to the page: anybody may listen to a topic, so nothing is answered there.
#[tokio::test]
async fn ntfy_leads_to_the_page() {
    let there = ntfy::Ntfy::start().await.unwrap();
    let settings = Settings {
        ntfy_url: Some(there.base().into()),
        ntfy_token: Some(SecretString::new(ntfy::TOKEN)),
        ..dev()
    };
    let world = World::with(settings).await;
    let me = world.human();
    let way = added(&me, json!({ "via": "ntfy", "topic": "ada" }), "ntfy:ada").await;
    shown(&me, &way, || there.published().pop().map(|one| one["message"].to_string())).await;
    let ask = asked(&world.agent(), approval()).await;
    eventually("a notice", async || there.published().len() == 2).await;
    waits(&world, 0).await;
    let notice = there.published().pop().unwrap();
    let page = ours(&world, &format!("/asks/{}", ask.rsplit('/').next().unwrap()));
    assert_eq!((&notice["topic"], &notice["click"]), (&json!("ada"), &json!(page)));
    assert!(notice["message"].as_str().unwrap().contains("Deploy?"), "{notice}");
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 0).await;
    let shown = there.shown();
    assert!(shown[0].to_string().contains("Approved by"), "{shown:#?}");
    world.end().await;
}

/// A program of the operator's is told what there is to say, and says what people answer.
#[tokio::test]
async fn the_operators_program_tells_and_answers() {
    const EVENTS: &str = "/channels/webhook/events";
    let there = webhook::Program::start().await.unwrap();
    let settings = Settings {
        channel_webhook_url: Some(there.base().into()),
        channel_webhook_secret: Some(SecretString::new(webhook::SECRET)),
        ..dev()
    };
    let world = World::with(settings).await;
    let me = world.human();
    let way = added(&me, json!({ "via": "webhook", "id": "ada" }), "webhook:ada").await;
    shown(&me, &way, || there.received().pop().map(|one| one["card"]["words"].to_string())).await;
    let ask = asked(&world.agent(), approval()).await;
    eventually("a call", async || there.received().len() == 2).await;
    waits(&world, 0).await;
    let told = there.received().pop().unwrap();
    assert_eq!((&told["type"], &told["to"]), (&json!("asked"), &json!("ada")));
    let token = &told["card"]["open"]["buttons"][0]["token"];
    let says = async |id: &str, body: Value| {
        let call = there.call(&ours(&world, EVENTS), id, world.now(), &body);
        calls(&world, EVENTS, &call).await
    };
    says("e1", json!({ "from": "eve", "pressed": token, "about": told["id"] })).await.is(200);
    assert_eq!(result(&world, &ask).await, Value::Null);
    says("e2", json!({ "from": "ada", "danced": true })).await.problem(400, "invalid-field");
    for _ in 0..2 {
        says("e3", json!({ "from": "ada", "pressed": token, "about": told["id"] })).await.is(200);
    }
    let done = result(&world, &ask).await;
    assert_eq!((&done["via"], &done["by"]["id"]), (&json!("webhook"), &json!("user_dev")));
    waits(&world, 0).await;
    let told = there.received();
    let updated = told.iter().find(|one| one["type"] == "updated").unwrap();
    assert!(updated["card"]["over"].to_string().contains("Approved by"), "{updated:#}");
    let mut forged =
        there.call(&ours(&world, EVENTS), "e4", world.now(), &json!({ "from": "ada" }));
    forged.body.push(b' ');
    calls(&world, EVENTS, &forged).await.problem(401, "unauthorized");
    world.end().await;
}
