//! Stories with `WhatsApp` through Meta, over real HTTP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use std::time::Duration;

use channels::inbound::{DeliveryReport, InReplyTo, InboundContent};
use channels::testing::fake_platform::{CallFault, Inbound, LITTLE, PLENTY, client};
use channels::testing::sample_cards;
use channels::testing::whatsapp::{
    APP_SECRET, PHONE_NUMBER_ID, TOKEN, VERIFY_TOKEN, Whatsapp, checked, signed,
};
use channels::whatsapp::{MetaSettings, MetaWhatsapp, Template, TemplateSlot};
use channels::{Channel, DeliveryError, InboundMessage, OutboundMessage, SecretString};
use kernel::Time;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use serde_json::{Value, json};

const HOOK: &str = "https://ask.example.com/channels/whatsapp/messages";
const ADA: &str = "+491701234567";
const WROTE: i64 = 1_772_000_000;

fn now() -> Time {
    Time::from_millis(WROTE * 1000).plus_seconds(60)
}

fn template() -> Template {
    let slots = vec![
        TemplateSlot::Title,
        TemplateSlot::Question,
        TemplateSlot::Until,
        TemplateSlot::Answer,
        TemplateSlot::Link,
    ];
    Template { name: "countersign_waits".into(), language: "en".into(), slots }
}

async fn here(template: Option<Template>) -> (Whatsapp, MetaWhatsapp) {
    let there = Whatsapp::start().await.unwrap();
    there.template("countersign_waits", "en", 5);
    let cloud =
        MetaWhatsapp::new(MetaSettings { template, ..there.settings() }, client(PLENTY)).unwrap();
    (there, cloud)
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "k1", thread: None, token: None, now: now() }
}

fn inbound(cloud: &MetaWhatsapp, inbound: &Inbound) -> Vec<InboundMessage> {
    cloud.verify(&inbound.call("messages", now())).unwrap();
    cloud.parse(&inbound.call("messages", now())).unwrap().inbound
}

fn text(body: &str) -> Value {
    json!({ "type": "text", "text": { "body": body } })
}

#[tokio::test]
async fn a_question_is_asked_and_answered_by_a_press() {
    let (there, cloud) = here(None).await;
    assert_eq!(cloud.name(), "whatsapp");
    let message = cloud.render(&sample_cards::approve());
    let posted = cloud
        .deliver(OutboundMessage { thread: Some("wamid.X"), ..outbound(ADA, &message) })
        .await
        .unwrap();
    assert_eq!(posted.id, "wamid.OUT1");
    let sent = there.sent().remove(0);
    assert_eq!(sent["to"], "491701234567");
    assert_eq!(sent["context"]["message_id"], "wamid.X");
    let reply = &sent["interactive"]["action"]["buttons"][0]["reply"];
    assert_eq!(*reply, json!({ "id": "t-yes", "title": "Approve" }));
    cloud.deliver(outbound(ADA, &cloud.render(&sample_cards::choose()))).await.unwrap();
    assert_eq!(there.sent()[1]["interactive"]["action"]["sections"][0]["rows"][2]["id"], "t-3");
    cloud.deliver(outbound(ADA, &cloud.render(&sample_cards::converse()))).await.unwrap();
    assert_eq!(there.sent()[2]["type"], "text");

    let press = |kind: &str| {
        let reply = json!({ "type": kind, kind: { "id": "t-yes", "title": "Approve" } });
        let what = json!({ "type": "interactive", "interactive": reply, "context": { "id": "wamid.OUT1" } });
        inbound(&cloud, &there.message(HOOK, "491701234567", WROTE, &what)).remove(0)
    };
    for kind in ["button_reply", "list_reply"] {
        let inbound = press(kind);
        assert_eq!((inbound.id.as_str(), inbound.name.as_deref()), ("wamid.IN", Some("Ada")));
        assert_eq!(inbound.from, ContactMethod::Whatsapp(ADA.into()));
        assert_eq!(inbound.at, Some(Time::from_millis(WROTE * 1000)));
        let posted = Some("wamid.OUT1".into());
        assert_eq!(inbound.what, InboundContent::Pressed { token: "t-yes".into(), posted });
    }
    let press = press("button_reply");
    cloud.reply(&press, "").await.unwrap();
    cloud.reply(&press, "Approved. Thank you.").await.unwrap();
    assert_eq!(there.sent().len(), 4);
    assert_eq!(there.sent()[3]["context"]["message_id"], "wamid.IN");
    // Nothing that was sent can be changed.
    cloud.update(&posted, &cloud.render(&sample_cards::over()), None).await.unwrap();
    assert_eq!(there.sent().len(), 4);
}

#[tokio::test]
async fn words_say_what_they_are_about() {
    let (there, cloud) = here(None).await;
    let said = |what: &Value| {
        inbound(&cloud, &there.message(HOOK, "491701234567", WROTE, what)).pop().map(|h| h.what)
    };
    let wrote = |text: &str, about| Some(InboundContent::Wrote { text: text.into(), about });
    let mut reply = text("It is fine");
    reply["context"] = json!({ "from": "1555", "id": "wamid.OUT1" });
    assert_eq!(said(&text("A7 yes")), wrote("A7 yes", InReplyTo::Nothing));
    assert_eq!(said(&reply), wrote("It is fine", InReplyTo::Posted("wamid.OUT1".into())));
    assert_eq!(said(&text("Stop")), Some(InboundContent::Stopped));
    assert_eq!(said(&text("start")), Some(InboundContent::Resumed));
    assert_eq!(said(&text("yes")), wrote("yes", InReplyTo::Nothing));
    let button = json!({ "type": "button", "button": { "payload": "t-1", "text": "Yes" } });
    assert_eq!(said(&button), Some(InboundContent::Pressed { token: "t-1".into(), posted: None }));
    // Pictures and the like say nothing that could be an answer.
    assert_eq!(said(&json!({ "type": "image", "image": { "id": "1" } })), None);
    assert_eq!(said(&json!({ "type": "reaction", "reaction": { "emoji": "👍" } })), None);
}

#[tokio::test]
async fn after_a_day_only_the_template_is_sent() {
    let (there, cloud) = here(Some(template())).await;
    let message = cloud.render(&sample_cards::approve());
    let kinds =
        || there.sent().iter().map(|m| m["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    // Nobody knows whether they wrote, and the template always arrives.
    cloud.deliver(outbound(ADA, &message)).await.unwrap();
    assert_eq!(kinds(), ["template"]);
    insta::assert_json_snapshot!("template", there.sent()[0]);
    inbound(&cloud, &there.message(HOOK, "491701234567", WROTE, &text("hello")));
    cloud.deliver(outbound(ADA, &message)).await.unwrap();
    assert_eq!(kinds(), ["template", "interactive"]);
    let tomorrow =
        OutboundMessage { now: now().plus_seconds(24 * 60 * 60), ..outbound(ADA, &message) };
    cloud.deliver(tomorrow).await.unwrap();
    assert_eq!(kinds(), ["template", "interactive", "template"]);
    // We thought it was open, and Meta says it is not.
    there.refuse("491701234567", 131_047);
    cloud.deliver(outbound(ADA, &message)).await.unwrap();
    assert_eq!(kinds().last().unwrap(), "template");
}

#[tokio::test]
async fn without_a_template_nobody_is_reached_after_a_day() {
    let (there, cloud) = here(None).await;
    there.refuse("491701234567", 131_047);
    let failed =
        cloud.deliver(outbound(ADA, &cloud.render(&sample_cards::approve()))).await.unwrap_err();
    let DeliveryError::Never { why } = failed else { panic!("{failed}") };
    assert!(why.contains("24 hours") && why.contains("template"), "{why}");
    assert!(cloud.check().await.unwrap().contains("Without a template"));
    let (_there, cloud) = here(Some(template())).await;
    assert_eq!(cloud.check().await.unwrap(), "WhatsApp sends from +1 555-078-3881 as Ops");
}

#[tokio::test]
async fn what_became_of_it_is_said_in_words() {
    let (there, cloud) = here(None).await;
    let became = |status: &str, errors: &Value| {
        let call = there.status_update(HOOK, "wamid.OUT1", "491701234567", status, errors);
        inbound(&cloud, &call).pop().map(|inbound| {
            assert_eq!(inbound.id, format!("wamid.OUT1.{status}"));
            let InboundContent::Became { posted, state } = inbound.what else {
                panic!("{:?}", inbound.what)
            };
            assert_eq!(posted, "wamid.OUT1");
            state
        })
    };
    let none = json!([]);
    assert_eq!(became("sent", &none), None);
    assert_eq!(became("delivered", &none), Some(DeliveryReport::Delivered));
    assert_eq!(became("read", &none), Some(DeliveryReport::Read));
    let failed = |code: u64| match became("failed", &json!([{ "code": code, "title": "?" }])) {
        Some(DeliveryReport::Failed { why, forever }) => (why, forever),
        other => panic!("{other:?}"),
    };
    assert!(failed(131_047).0.contains("template"));
    assert!(failed(131_026).1, "nobody is there");
    assert_eq!(failed(1_234_567), ("Meta reported error 1234567: ?".to_owned(), false));
    let unsaid =
        Some(DeliveryReport::Failed { why: "no reason given by Meta".into(), forever: false });
    assert_eq!(became("failed", &none), unsaid);
    // It does not mean that they wrote.
    let (there, cloud) = here(Some(template())).await;
    inbound(&cloud, &there.status_update(HOOK, "wamid.OUT1", "491701234567", "read", &none));
    cloud.deliver(outbound(ADA, &cloud.render(&sample_cards::approve()))).await.unwrap();
    assert_eq!(there.sent()[0]["type"], "template");
}

#[tokio::test]
async fn only_meta_is_believed() {
    let (there, cloud) = here(None).await;
    let inbound = there.message(HOOK, "491701234567", WROTE, &text("A7 yes"));
    let forged = |inbound: &Inbound| cloud.verify(&inbound.call("messages", now())).unwrap_err();
    let mut body = inbound.body.clone();
    body.push(b' ');
    forged(&Inbound { body, ..inbound.clone() });
    forged(&Inbound { headers: vec![], ..inbound.clone() });
    forged(&Inbound {
        headers: [inbound.headers.clone(), inbound.headers.clone()].concat(),
        ..inbound.clone()
    });
    let header = |value: &str| vec![("x-hub-signature-256".to_owned(), value.to_owned())];
    for value in ["", "sha256=", "sha1=00"] {
        forged(&Inbound { headers: header(value), ..inbound.clone() });
    }

    // Meta's first call wants its challenge back, if it knows what we chose.
    let greeting = there.verification(HOOK, VERIFY_TOKEN);
    cloud.verify(&greeting.call("messages", now())).unwrap();
    let parsed = cloud.parse(&greeting.call("messages", now())).unwrap();
    assert_eq!(parsed.answer, Some(("text/plain", "1158201444".to_owned())));
    assert_eq!(parsed.inbound, []);
    forged(&there.verification(HOOK, "guessed"));
    let twice = format!("{}&hub.verify_token={VERIFY_TOKEN}", greeting.url);
    forged(&Inbound { url: twice, ..greeting.clone() });
    let script = greeting.url.replace("1158201444", "%3Cscript%3E");
    forged(&Inbound { url: script, ..greeting.clone() });
    // Nobody gets past a signature with it.
    forged(&Inbound { body: b"{}".to_vec(), ..greeting });
}

#[tokio::test]
async fn what_meta_says_is_read() {
    let (there, cloud) = here(None).await;
    let parse = |body: &[u8]| {
        let inbound = signed(HOOK, body.into());
        cloud.parse(&inbound.call("messages", now())).map(|parsed| parsed.inbound)
    };
    for body in [
        r#"{"object":"page","entry":[]}"#,
        r#"{"object":"whatsapp_business_account"}"#,
        r#"{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"account_update","value":1}]}]}"#,
    ] {
        assert_eq!(parse(body.as_bytes()), Ok(vec![]), "{body}");
    }
    for body in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"object":1}"#,
        "\u{0}",
        r#"{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{}}]}]}"#,
    ] {
        assert!(
            parse(body.as_bytes()).unwrap_err().0.starts_with("expected a notification"),
            "{body}"
        );
    }
    assert!(parse(&[0xff]).is_err());
    // Another number of the same app, and somebody who is none.
    let news = json!({ "messages": [{ "from": "491701234567", "id": "1", "timestamp": "1", "text": { "body": "x" } }] });
    assert_eq!(inbound(&cloud, &there.inbound(HOOK, "1", &news)), []);
    assert_eq!(inbound(&cloud, &there.message(HOOK, "nobody", WROTE, &text("x"))), []);
    let hidden = json!({
        "contacts": [{ "profile": {}, "user_id": "DE.1" }],
        "messages": [{ "from_user_id": "DE.1", "id": "1", "timestamp": "1", "text": { "body": "x" } }],
        "statuses": [{ "id": "1", "status": "read", "timestamp": "1" }],
    });
    assert_eq!(inbound(&cloud, &there.inbound(HOOK, PHONE_NUMBER_ID, &hidden)), []);
}

#[tokio::test]
async fn failures_say_what_to_do_and_when() {
    let (there, cloud) = here(None).await;
    let message = cloud.render(&sample_cards::approve());
    let never = [
        (190, "system user"),
        (131_026, "does not use WhatsApp"),
        (131_030, "test number"),
        (131_042, "payment"),
        (132_001, "template"),
        (999, "Meta refused the call (400): refused as told"),
    ];
    for (code, words) in never {
        there.refuse("491701234567", code);
        let failed = cloud.deliver(outbound(ADA, &message)).await.unwrap_err();
        let DeliveryError::Never { why } = failed else { panic!("{failed}") };
        assert!(why.contains(words), "{code}: {why}");
    }
    for code in [4, 130_429, 131_016, 131_056] {
        there.refuse("491701234567", code);
        let sent = cloud.deliver(outbound(ADA, &message)).await;
        assert!(matches!(sent, Err(DeliveryError::Later { .. })), "{code}: {sent:?}");
    }
    let hasty = MetaWhatsapp::new(there.settings(), client(LITTLE)).unwrap();
    let later = [
        (CallFault::Busy(9), Some(9)),
        (CallFault::Broken(503), None),
        (CallFault::Hang, None),
        (CallFault::Drop, None),
    ];
    for (trouble, seconds) in later {
        there.fail_next(trouble);
        let cloud = if trouble == CallFault::Hang { &hasty } else { &cloud };
        let failed = cloud.deliver(outbound("+4930123456", &message)).await.unwrap_err();
        let DeliveryError::Later { after, .. } = failed else { panic!("{trouble:?}: {failed}") };
        assert_eq!(after, seconds.map(Duration::from_secs));
    }
    for to in ["ada", "", "491701234567"] {
        assert!(
            matches!(cloud.deliver(outbound(to, &message)).await, Err(DeliveryError::Never { .. })),
            "{to}"
        );
    }
    let refused = |settings: MetaSettings| async {
        let cloud = MetaWhatsapp::new(settings, client(PLENTY)).unwrap();
        match cloud.check().await {
            Err(DeliveryError::Never { why }) => why,
            other => panic!("{other:?}"),
        }
    };
    let why = refused(MetaSettings { token: SecretString::new("old"), ..there.settings() }).await;
    assert!(why.contains("access token"), "{why}");
    let why = refused(MetaSettings { phone_number_id: "1".into(), ..there.settings() }).await;
    assert!(why.contains("phone number ID"), "{why}");
    let shown = format!("{cloud:?}");
    assert!(
        [TOKEN, APP_SECRET, VERIFY_TOKEN].iter().all(|secret| !shown.contains(secret)),
        "{shown}"
    );
}

#[tokio::test]
async fn half_a_setting_is_refused() {
    let (there, _) = here(None).await;
    let nameless = Template { name: String::new(), ..template() };
    let wrong = [
        MetaSettings { phone_number_id: "+15550783881".into(), ..there.settings() },
        MetaSettings { token: SecretString::new(""), ..there.settings() },
        MetaSettings { app_secret: SecretString::new(""), ..there.settings() },
        MetaSettings { verify_token: SecretString::new(""), ..there.settings() },
        MetaSettings { template: Some(nameless), ..there.settings() },
    ];
    for settings in wrong {
        MetaWhatsapp::new(settings, client(PLENTY)).unwrap_err();
    }
    assert_eq!(there.settings().phone_number_id, PHONE_NUMBER_ID);
}

/// Every card is taken, free or as a template.
#[test]
fn every_card_is_taken() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (there, cloud) = runtime.block_on(here(Some(template())));
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) };
    proptest!(config, |(card in random::card())| {
        let message = cloud.render(&card);
        let sent = runtime.block_on(async {
            // The window of the one is open, of the other not.
            inbound(&cloud, &there.message(HOOK, "491701234567", WROTE, &text("hello")));
            cloud.deliver(outbound(ADA, &message)).await?;
            cloud.deliver(outbound("+4930123456", &message)).await
        });
        prop_assert!(sent.is_ok(), "{sent:?} {message}");
    });
    assert!(there.sent().iter().all(|message| checked(message).is_ok()));
}
