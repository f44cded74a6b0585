//! Stories with a program the operator runs, through real HTTP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use std::sync::Arc;
use std::time::Duration;

use channels::inbound::{DeliveryReport, InReplyTo, InboundContent, InboundMessage};
use channels::testing::fake_platform::{Call, CallFault, Inbound, LITTLE, PLENTY, client};
use channels::testing::sample_cards;
use channels::testing::webhook::{Program, SECRET};
use channels::webhook::{WebhookChannel, WebhookSettings};
use channels::{Channel, DeliveryError, OutboundMessage, SecretString};
use kernel::Time;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use serde_json::{Value, json};

const HOOK: &str = "https://ask.example.com/channels/webhook/events";

fn now() -> Time {
    Time::from_millis(1_772_000_000_000)
}

fn webhook(settings: &WebhookSettings) -> WebhookChannel {
    WebhookChannel::new(settings, client(PLENTY), Arc::new(now)).unwrap()
}

async fn here() -> (Program, WebhookChannel) {
    let there = Program::start().await.unwrap();
    let webhook = webhook(&there.settings());
    (there, webhook)
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "msg_1", thread: None, token: None, now: now() }
}

/// What the standard's own library says of a signature, whatever the time.
fn signed(call: &Call) -> String {
    let library = standardwebhooks::Webhook::new(SECRET).unwrap();
    let id = call.header("webhook-id").unwrap();
    let at = call.header("webhook-timestamp").unwrap().parse().unwrap();
    let expected = library.sign(id, at, &call.body).unwrap();
    assert_eq!(call.header("webhook-signature").unwrap(), expected);
    id.to_owned()
}

#[tokio::test]
async fn a_program_is_told_and_told_again_when_it_is_over() {
    let (there, webhook) = here().await;
    assert_eq!(webhook.name(), "webhook");
    let message = webhook.render(&sample_cards::approve());
    // Without an id of its own the message is known by ours.
    let posted = webhook.deliver(outbound("ada", &message)).await.unwrap();
    assert_eq!(posted.id, "msg_1");
    there.answers(200, json!({ "id": "card-7" }));
    let posted = webhook.deliver(outbound("ada", &message)).await.unwrap();
    assert_eq!(posted.id, "card-7");
    let over = webhook.render(&sample_cards::over());
    webhook.update(&posted, &over, None).await.unwrap();
    webhook.update(&posted, &over, None).await.unwrap();

    let ids: Vec<String> = there.calls().iter().map(signed).collect();
    assert_eq!(ids[..2], ["msg_1", "msg_1"]);
    assert_eq!(ids[2], ids[3], "a repetition is known by its id");
    assert_ne!(ids[2], ids[1]);
    let told = there.received();
    assert_eq!((&told[1]["type"], &told[1]["to"]), (&json!("asked"), &json!("ada")));
    assert_eq!(told[1]["card"]["open"]["buttons"][0]["token"], "t-yes");
    assert_eq!((&told[2]["type"], &told[2]["id"]), (&json!("updated"), &json!("card-7")));
    assert_eq!(told[2]["card"]["over"]["headline"], "Approved by Ada Lovelace");
    assert_eq!(
        webhook.check().await.unwrap(),
        "the webhook program accepts this server's signature"
    );

    // What it calls a message must be something that can be kept.
    for id in [json!(""), json!(7), json!("x".repeat(201))] {
        there.answers(200, json!({ "id": id }));
        assert_eq!(webhook.deliver(outbound("ada", &message)).await.unwrap().id, "msg_1");
    }
}

fn read(there: &Program, webhook: &WebhookChannel, body: &Value) -> Result<InboundMessage, String> {
    let inbound = there.call(HOOK, "evt_9", now(), body);
    webhook.verify(&inbound.call("events", now())).unwrap();
    let parsed = webhook.parse(&inbound.call("events", now()));
    parsed.map(|mut parsed| parsed.inbound.remove(0)).map_err(|unread| unread.0)
}

#[tokio::test]
async fn what_the_program_says_is_heard() {
    let (there, webhook) = here().await;
    let inbound = |body: Value| read(&there, &webhook, &body).unwrap();
    let press =
        inbound(json!({ "from": "ada", "name": "Ada", "pressed": "t-yes", "about": "card-7",
        "at": "2026-03-01T09:00:00Z" }));
    assert_eq!((press.id.as_str(), &press.from), ("evt_9", &ContactMethod::Webhook("ada".into())));
    assert_eq!(
        press.what,
        InboundContent::Pressed { token: "t-yes".into(), posted: Some("card-7".into()) }
    );
    assert_eq!(press.at, Some("2026-03-01T09:00:00Z".parse().unwrap()));
    assert_eq!(inbound(json!({ "id": "e1", "from": "ada", "pressed": "t" })).id, "e1");
    let said = |body: Value| inbound(body).what;
    let text = "fine".to_owned();
    assert_eq!(
        said(json!({ "from": "ada", "wrote": "fine" })),
        InboundContent::Wrote { text: text.clone(), about: InReplyTo::Nothing }
    );
    assert_eq!(
        said(json!({ "from": "ada", "wrote": "fine", "about": "c" })),
        InboundContent::Wrote { text, about: InReplyTo::Posted("c".into()) }
    );
    let values = json!({ "iban": "DE1" }).as_object().unwrap().clone();
    assert_eq!(
        said(
            json!({ "from": "ada", "submitted": { "token": "t-form", "values": { "iban": "DE1" } } })
        ),
        InboundContent::Submitted { token: "t-form".into(), values }
    );
    assert_eq!(said(json!({ "from": "ada", "wants": "nothing" })), InboundContent::Stopped);
    assert_eq!(said(json!({ "from": "ada", "wants": "notices" })), InboundContent::Resumed);
    let became = |state: Value| {
        let mut body = json!({ "from": "ada", "about": "c" });
        body.as_object_mut().unwrap().extend(state.as_object().unwrap().clone());
        match said(body) {
            InboundContent::Became { posted, state } if posted == "c" => state,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(became(json!({ "became": "delivered" })), DeliveryReport::Delivered);
    assert_eq!(became(json!({ "became": "read" })), DeliveryReport::Read);
    assert_eq!(
        became(json!({ "became": "failed", "why": "gone", "forever": true })),
        DeliveryReport::Failed { why: "gone".into(), forever: true }
    );

    webhook.reply(&press, "").await.unwrap();
    webhook.reply(&press, "Thank you.").await.unwrap();
    let answered = there.received().remove(0);
    assert_eq!((&answered["type"], &answered["about"]), (&json!("said"), &json!("evt_9")));
    assert_eq!(answered["words"], "Thank you.");
}

#[tokio::test]
async fn what_cannot_be_read_says_what_was_expected() {
    let (there, webhook) = here().await;
    let one = "expected one of pressed, submitted, wrote, became and wants";
    let cases = [
        (json!({ "from": "ada" }), one),
        (json!({ "from": "ada", "danced": true }), one),
        (json!({ "from": "ada", "pressed": "t", "wrote": "x" }), one),
        (json!({ "from": "ada", "became": "read" }), "expected `about`"),
        (json!({ "from": "a b", "wrote": "x" }), "expected `from`"),
        (json!({ "from": "", "wrote": "x" }), "expected `from`"),
        (json!({ "wrote": "x" }), "missing field `from`"),
        (json!({ "from": "ada", "became": "lost", "about": "c" }), "unknown variant"),
        (json!({ "from": "ada", "submitted": { "token": "t" } }), "missing field `values`"),
        (json!(null), "expected a person's action"),
    ];
    for (body, expected) in cases {
        let unread = read(&there, &webhook, &body).unwrap_err();
        assert!(unread.contains(expected), "{body}: {unread}");
    }
    for body in [&b""[..], b"\xff", b"{", b"[[[[", b"\0"] {
        let inbound =
            Inbound { method: "POST", url: HOOK.into(), headers: vec![], body: body.into() };
        webhook.parse(&inbound.call("events", now())).unwrap_err();
    }
}

#[tokio::test]
async fn only_who_knows_the_secret_is_believed_and_only_now() {
    let (there, webhook) = here().await;
    let inbound = there.call(HOOK, "evt_9", now(), &json!({ "from": "ada", "pressed": "t-yes" }));
    let verify = |inbound: &Inbound, at: Time| webhook.verify(&inbound.call("events", at));
    let before = |seconds: i64| Time::from_millis(now().millis() - seconds * 1000);
    verify(&inbound, now().plus_seconds(300)).unwrap();
    verify(&inbound, before(300)).unwrap();
    verify(&inbound, now().plus_seconds(301)).unwrap_err();
    verify(&inbound, before(301)).unwrap_err();
    let with = |name: &str, value: Option<&str>| {
        let mut headers = inbound.headers.clone();
        headers.retain(|(key, _)| key != name);
        headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        verify(&Inbound { headers, ..inbound.clone() }, now())
    };
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        with(name, None).unwrap_err();
        with(name, Some("")).unwrap_err();
        let twice = [inbound.headers.clone(), inbound.headers.clone()].concat();
        verify(&Inbound { headers: twice, ..inbound.clone() }, now()).unwrap_err();
    }
    with("webhook-id", Some("evt_8")).unwrap_err();
    with("webhook-timestamp", Some("1772000001")).unwrap_err();
    with("webhook-timestamp", Some("soon")).unwrap_err();
    with("webhook-timestamp", Some("-9223372036854775808")).unwrap_err();
    verify(&Inbound { body: b"{}".to_vec(), ..inbound.clone() }, now()).unwrap_err();
    // While a secret is being replaced, both sign.
    let mine = inbound.headers[2].1.clone();
    with("webhook-signature", Some(&format!("v1,AAAA v1a,BBBB {mine}"))).unwrap();
    with("webhook-signature", Some("v1,AAAA v1a,BBBB")).unwrap_err();
    with("webhook-signature", Some(mine.trim_start_matches("v1,"))).unwrap_err();
    // The standard's own library signs the same.
    let library = standardwebhooks::Webhook::new(SECRET).unwrap();
    assert_eq!(library.sign("evt_9", 1_772_000_000, &inbound.body).unwrap(), mine);
}

#[tokio::test]
async fn failures_say_what_to_do_and_when() {
    let (there, webhook) = here().await;
    let message = webhook.render(&sample_cards::approve());
    for (status, words) in
        [(401, "same secret"), (404, "no program"), (410, "no program"), (422, "(422)")]
    {
        there.answers(status, Value::Null);
        let failed = webhook.deliver(outbound("ada", &message)).await.unwrap_err();
        let DeliveryError::Never { why } = failed else { panic!("{failed}") };
        assert!(why.contains(words), "{status}: {why}");
    }
    let hasty = WebhookChannel::new(&there.settings(), client(LITTLE), Arc::new(now)).unwrap();
    let later = [
        (CallFault::Busy(9), Some(9)),
        (CallFault::Broken(502), None),
        (CallFault::Hang, None),
        (CallFault::Drop, None),
    ];
    for (trouble, seconds) in later {
        there.fail_next(trouble);
        let webhook = if trouble == CallFault::Hang { &hasty } else { &webhook };
        let failed = webhook.deliver(outbound("ada", &message)).await.unwrap_err();
        let DeliveryError::Later { after, .. } = failed else { panic!("{trouble:?}: {failed}") };
        assert_eq!(after, seconds.map(Duration::from_secs));
    }
    assert!(matches!(
        webhook.deliver(outbound("a b", &message)).await,
        Err(DeliveryError::Never { .. })
    ));
    let shown = format!("{webhook:?} {:?}", there.settings());
    assert!(!shown.contains("MfKQ9r8"), "{shown}");
}

#[test]
fn half_a_setting_is_refused() {
    for (url, secret) in [("ftp://x/", SECRET), ("https://x/", "whsec_"), ("https://x/", "secret")]
    {
        let settings =
            WebhookSettings { url: url.parse().unwrap(), secret: SecretString::new(secret) };
        WebhookChannel::new(&settings, reqwest::Client::new(), Arc::new(now)).unwrap_err();
    }
}

/// Every card is told whole.
#[test]
fn every_card_is_taken() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (there, webhook) = runtime.block_on(here());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) };
    proptest!(config, |(card in random::card())| {
        let message = webhook.render(&card);
        let sent = runtime.block_on(webhook.deliver(outbound("ada", &message)));
        prop_assert!(sent.is_ok(), "{sent:?} {message}");
        let told = there.received().pop().unwrap();
        prop_assert_eq!(&told["card"]["words"], &json!(card.words));
    });
}
