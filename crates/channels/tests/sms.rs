//! Stories with text messages, through real HTTP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use std::time::Duration;

use channels::inbound::{DeliveryReport, InReplyTo, InboundContent};
use channels::sms::Sms;
use channels::testing::fake_platform::{CallFault, Inbound, LITTLE, PLENTY, client};
use channels::testing::sample_cards;
use channels::testing::twilio::{AUTH_TOKEN, KEY, NUMBER, SERVICE, Twilio};
use channels::twilio::{API, CONTENT, TwilioAccount, TwilioSender};
use channels::{Channel, DeliveryError, InboundMessage, OutboundMessage, SecretString};
use kernel::Time;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use serde_json::Value;

const NOW: Time = Time::LAST;
const HOOK: &str = "https://ask.example.com/channels/sms/messages?x=1";
const ADA: &str = "+491701234567";

async fn here() -> (Twilio, Sms) {
    let there = Twilio::start().await.unwrap();
    let sms = Sms::new(there.account(Some(HOOK)), client(PLENTY)).unwrap();
    (there, sms)
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "k1", thread: None, token: None, now: NOW }
}

fn inbound(sms: &Sms, inbound: &Inbound) -> Vec<InboundMessage> {
    sms.verify(&inbound.call("messages", NOW)).unwrap();
    let parsed = sms.parse(&inbound.call("messages", NOW)).unwrap();
    let (kind, body) = parsed.answer.unwrap();
    assert_eq!(kind, "text/xml");
    assert!(body.ends_with("<Response/>"), "{body}");
    parsed.inbound
}

#[tokio::test]
async fn a_question_is_asked_and_answered_with_its_code() {
    let (there, sms) = here().await;
    assert_eq!(sms.name(), "sms");
    let posted = sms.deliver(outbound(ADA, &sms.render(&sample_cards::approve()))).await.unwrap();
    let sent = there.sent().remove(0);
    let member = |name: &str| sent.iter().find(|(key, _)| key == name).unwrap().1.clone();
    assert_eq!((member("To"), member("From")), (ADA.to_owned(), NUMBER.to_owned()));
    assert_eq!(member("StatusCallback"), HOOK);
    assert!(member("Body").contains("A7 yes: Approve"), "{}", member("Body"));

    let said = inbound(&sms, &there.write(HOOK, "SM1", ADA, " A7 yes\n"));
    let [wrote] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!((wrote.id.as_str(), &wrote.from), ("SM1", &ContactMethod::Sms(ADA.into())));
    assert_eq!(
        wrote.what,
        InboundContent::Wrote { text: " A7 yes\n".into(), about: InReplyTo::Nothing }
    );
    sms.reply(wrote, "Approved. Thank you.").await.unwrap();
    sms.reply(wrote, "").await.unwrap();
    assert_eq!(there.sent().len(), 2);
    // It cannot be changed on a phone.
    sms.update(&posted, &sms.render(&sample_cards::over()), None).await.unwrap();
    assert_eq!(there.calls().len(), 2);
    assert_eq!(sms.check().await.unwrap(), format!("Twilio's account Ops sends from {NUMBER}"));
}

#[tokio::test]
async fn a_key_and_a_service_do_as_well() {
    let there = Twilio::start().await.unwrap();
    let account = TwilioAccount {
        auth_token: SecretString::new("another"),
        key: Some((KEY.0.into(), SecretString::new(KEY.1))),
        sender: TwilioSender::Service(SERVICE.into()),
        status: None,
        ..there.account(None)
    };
    let sms = Sms::new(account, client(PLENTY)).unwrap();
    sms.deliver(outbound(ADA, &sms.render(&sample_cards::approve()))).await.unwrap();
    assert!(there.sent()[0].iter().all(|(name, _)| name != "From" && name != "StatusCallback"));
}

#[tokio::test]
async fn what_became_of_it_is_said_in_words() {
    let (there, sms) = here().await;
    let became = |status: &str, error: &str| {
        let mut said = inbound(&sms, &there.became(HOOK, "SM1", ADA, status, error));
        said.pop().map(|inbound| {
            assert_eq!(inbound.from, ContactMethod::Sms(ADA.into()));
            assert_eq!(inbound.id, format!("SM1.{status}"));
            let InboundContent::Became { posted, state } = inbound.what else {
                panic!("{:?}", inbound.what)
            };
            assert_eq!(posted, "SM1");
            state
        })
    };
    let failed = |why: &str, forever| Some(DeliveryReport::Failed { why: why.into(), forever });
    for status in ["queued", "sending", "sent", "accepted", "canceled"] {
        assert_eq!(became(status, ""), None);
    }
    assert_eq!(became("delivered", ""), Some(DeliveryReport::Delivered));
    assert_eq!(became("read", ""), Some(DeliveryReport::Read));
    let landline = "that number is a landline, or its carrier does not accept messages (30006)";
    assert_eq!(became("undelivered", "30006"), failed(landline, true));
    assert_eq!(
        became("failed", "30003"),
        failed("the person's phone is off or out of reach (30003)", false)
    );
    assert_eq!(became("failed", "99999"), failed("Twilio reported error 99999", false));
    assert_eq!(became("failed", ""), failed("Twilio reported error 0", false));
}

#[tokio::test]
async fn stop_means_stop_and_yes_is_an_answer() {
    let (there, sms) = here().await;
    let said = |text: &str, kind: Option<&str>| {
        let mut form = vec![("MessageSid", "SM1"), ("From", ADA), ("Body", text)];
        form.extend(kind.map(|kind| ("OptOutType", kind)));
        let said = inbound(&sms, &there.inbound(HOOK, &form));
        let ids: std::collections::BTreeSet<String> = said.iter().map(|h| h.id.clone()).collect();
        assert_eq!(ids.len(), said.len(), "each has an id of its own");
        said.into_iter().map(|inbound| inbound.what).collect::<Vec<_>>()
    };
    let wrote = |text: &str| InboundContent::Wrote { text: text.into(), about: InReplyTo::Nothing };
    for word in
        ["STOP", " stop ", "StopAll", "unsubscribe", "CANCEL", "end", "Quit", "optout", "revoke"]
    {
        assert_eq!(said(word, None), [InboundContent::Stopped], "{word}");
    }
    for word in ["start", "UNSTOP"] {
        assert_eq!(said(word, None), [InboundContent::Resumed], "{word}");
    }
    assert_eq!(said("yes", None), [wrote("yes")]);
    assert_eq!(said("please stop", None), [wrote("please stop")]);
    assert_eq!(said("A7 end", None), [wrote("A7 end")]);
    // As Twilio says, where it keeps a list of words itself.
    assert_eq!(said("ARRET", Some("STOP")), [InboundContent::Stopped]);
    assert_eq!(said("START", Some("START")), [InboundContent::Resumed]);
    assert_eq!(said("Yes", Some("START")), [InboundContent::Resumed, wrote("Yes")]);
    assert_eq!(said("INFO", Some("HELP")), []);
    assert_eq!(said(" ", None), []);
}

#[tokio::test]
async fn only_twilio_is_believed() {
    let (there, sms) = here().await;
    let inbound = there.write(HOOK, "SM1", ADA, "A7 yes");
    let forged = |inbound: &Inbound| sms.verify(&inbound.call("messages", NOW)).unwrap_err();
    let change = |from: &str, to: &str| {
        let body = String::from_utf8(inbound.body.clone()).unwrap().replace(from, to).into_bytes();
        Inbound { body, ..inbound.clone() }
    };
    forged(&change("yes", "no"));
    forged(&change("4917", "4918"));
    forged(&Inbound { url: HOOK.replace("x=1", "x=2"), ..inbound.clone() });
    forged(&Inbound { headers: vec![], ..inbound.clone() });
    let twice = [inbound.headers.clone(), inbound.headers.clone()].concat();
    forged(&Inbound { headers: twice, ..inbound.clone() });
    let other = TwilioAccount { auth_token: SecretString::new("another"), ..there.account(None) };
    let other = Sms::new(other, client(PLENTY)).unwrap();
    other.verify(&inbound.call("messages", NOW)).unwrap_err();
    // Twilio leaves a port out at times; anything else of the address counts.
    let ported = Inbound { url: HOOK.replace(".com/", ".com:8443/"), ..inbound.clone() };
    sms.verify(&ported.call("messages", NOW)).unwrap();
}

#[tokio::test]
async fn what_cannot_be_read_says_what_was_expected() {
    let (_there, sms) = here().await;
    let parse = |body: &[u8]| {
        let body = Inbound { method: "POST", url: HOOK.into(), headers: vec![], body: body.into() };
        sms.parse(&body.call("messages", NOW)).map(|parsed| parsed.inbound)
    };
    let cases: [(&[u8], &str); 7] = [
        (b"", "MessageSid"),
        (b"\xff\xfe%00%ff", "MessageSid"),
        (b"MessageSid=SM1", "From"),
        (b"MessageSid=SM1&MessageSid=SM2&From=%2B491701234567", "MessageSid"),
        (b"MessageStatus=failed", "MessageSid"),
        (b"MessageStatus=sent&MessageSid=SM1", "To"),
        (b"{\"MessageSid\":1}", "MessageSid"),
    ];
    for (body, expected) in cases {
        assert_eq!(parse(body).unwrap_err().0, format!("expected {expected} in Twilio's form"));
    }
    // A short code is nobody.
    assert_eq!(parse(b"MessageSid=SM1&From=12345&Body=hi"), Ok(vec![]));
}

#[tokio::test]
async fn failures_say_what_to_do_and_when() {
    let (there, sms) = here().await;
    let message = sms.render(&sample_cards::approve());
    let never = [
        (21_610, "replied STOP"),
        (21_408, "Geo permissions"),
        (21_606, "does not belong to this account"),
        (21_608, "trial account"),
        (21_211, "no one can be reached"),
        (12_345, "error 12345"),
    ];
    for (code, words) in never {
        there.refuse(ADA, code);
        let failed = sms.deliver(outbound(ADA, &message)).await.unwrap_err();
        let DeliveryError::Never { why } = failed else { panic!("{failed}") };
        assert!(why.contains(words), "{code}: {why}");
    }
    there.refuse(ADA, 21_611);
    assert!(matches!(sms.deliver(outbound(ADA, &message)).await, Err(DeliveryError::Later { .. })));
    for to in ["ada", "", "0170 1234567", "whatsapp:+491701234567"] {
        assert!(
            matches!(sms.deliver(outbound(to, &message)).await, Err(DeliveryError::Never { .. })),
            "{to}"
        );
    }
    let hasty = Sms::new(there.account(None), client(LITTLE)).unwrap();
    let later = [
        (CallFault::Busy(9), Some(9)),
        (CallFault::Broken(503), None),
        (CallFault::Hang, None),
        (CallFault::Drop, None),
    ];
    for (trouble, seconds) in later {
        there.fail_next(trouble);
        let sms = if trouble == CallFault::Hang { &hasty } else { &sms };
        let failed = sms.deliver(outbound("+4930123456", &message)).await.unwrap_err();
        let DeliveryError::Later { after, .. } = failed else { panic!("{trouble:?}: {failed}") };
        assert_eq!(after, seconds.map(Duration::from_secs));
    }
    let stranger = TwilioAccount { auth_token: SecretString::new("wrong"), ..there.account(None) };
    let stranger = Sms::new(stranger, client(PLENTY)).unwrap();
    let Err(DeliveryError::Never { why }) = stranger.check().await else { panic!("it was let in") };
    assert!(why.contains("auth token"), "{why}");
    assert!(!format!("{sms:?}").contains(AUTH_TOKEN));
}

fn account() -> TwilioAccount {
    TwilioAccount {
        api: API.parse().unwrap(),
        content: CONTENT.parse().unwrap(),
        sid: channels::testing::twilio::SID.into(),
        auth_token: SecretString::new(AUTH_TOKEN),
        key: None,
        sender: TwilioSender::Number(NUMBER.into()),
        status: None,
    }
}

#[test]
fn half_a_setting_is_refused() {
    let wrong = [
        TwilioAccount { sid: "AC1".into(), ..account() },
        TwilioAccount { auth_token: SecretString::new(""), ..account() },
        TwilioAccount { key: Some(("AC".into(), SecretString::new("x"))), ..account() },
        TwilioAccount { key: Some((KEY.0.into(), SecretString::new(""))), ..account() },
        TwilioAccount { sender: TwilioSender::Number("5005550006".into()), ..account() },
        TwilioAccount { sender: TwilioSender::Service("MG1".into()), ..account() },
    ];
    for account in wrong {
        Sms::new(account, reqwest::Client::new()).unwrap_err();
    }
}

/// At most three pieces of 153 or 67, no address but ours, and no answer to half a question.
#[test]
fn every_card_is_short() {
    let sms = Sms::new(account(), reqwest::Client::new()).unwrap();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) };
    proptest!(config, |(card in random::card())| {
        let message = sms.render(&card);
        let text = message["body"].as_str().unwrap();
        prop_assert!(text.encode_utf16().count() <= 459, "{text}");
        if text.chars().any(|c| c > '\u{7ff}') {
            prop_assert!(text.encode_utf16().count() <= 201, "{text}");
        }
        prop_assert!(text.ends_with(sample_cards::LINK));
        prop_assert_eq!(text.matches("://").count() - text.matches("[://").count(), 1);
        let ours = |begin: &str| text.lines().any(|line| line.starts_with(begin));
        let shortened = ours("The message shows only part of the request.");
        prop_assert!(!(ours("Answer with") && shortened), "{text}");
    });
}
