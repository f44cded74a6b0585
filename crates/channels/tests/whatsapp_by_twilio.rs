//! Stories with `WhatsApp` through Twilio, over real HTTP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use channels::inbound::{DeliveryReport, InReplyTo, InboundContent};
use channels::testing::fake_platform::{Inbound, PLENTY, client};
use channels::testing::sample_cards;
use channels::testing::twilio::{NUMBER, Twilio};
use channels::whatsapp::{Template, TemplateSlot, TwilioWhatsapp};
use channels::{Channel, DeliveryError, InboundMessage, OutboundMessage};
use kernel::Time;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use serde_json::Value;

const HOOK: &str = "https://ask.example.com/channels/whatsapp/messages";
const ADA: &str = "+491701234567";
const FROM: &str = "whatsapp:+491701234567";
const SID: &str = "HX00000000000000000000000000000abc";

fn now() -> Time {
    Time::from_millis(1_772_000_000_000)
}

fn template() -> Template {
    let slots =
        vec![TemplateSlot::Title, TemplateSlot::Question, TemplateSlot::Answer, TemplateSlot::Link];
    Template { name: SID.into(), language: String::new(), slots }
}

async fn here(template: Option<Template>) -> (Twilio, TwilioWhatsapp) {
    let there = Twilio::start().await.unwrap();
    there.template(SID, 4);
    let carried = TwilioWhatsapp::new(there.account(Some(HOOK)), template, client(PLENTY)).unwrap();
    (there, carried)
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "k1", thread: None, token: None, now: now() }
}

fn inbound(carried: &TwilioWhatsapp, inbound: &Inbound) -> Vec<InboundMessage> {
    carried.verify(&inbound.call("messages", now())).unwrap();
    carried.parse(&inbound.call("messages", now())).unwrap().inbound
}

fn member(sent: &[(String, String)], name: &str) -> String {
    sent.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap_or_default()
}

#[tokio::test]
async fn a_question_is_laid_out_pressed_and_cleared_away() {
    let (there, carried) = here(None).await;
    assert_eq!(carried.name(), "whatsapp");
    let posted =
        carried.deliver(outbound(ADA, &carried.render(&sample_cards::approve()))).await.unwrap();
    let sent = there.sent().remove(0);
    assert_eq!(
        (member(&sent, "To"), member(&sent, "From")),
        (FROM.into(), format!("whatsapp:{NUMBER}"))
    );
    assert_eq!(member(&sent, "ContentSid"), posted.place["content"].as_str().unwrap());
    insta::assert_json_snapshot!("laid-out", there.laid_out());

    let form = [
        ("MessageSid", "SM9"),
        ("From", FROM),
        ("To", "whatsapp:+15005550006"),
        ("Body", "Approve"),
        ("MessageType", "button"),
        ("ButtonText", "Approve"),
        ("ButtonPayload", "t-yes"),
        ("OriginalRepliedMessageSid", posted.id.as_str()),
        ("ProfileName", "Ada"),
        ("WaId", "491701234567"),
    ];
    let said = inbound(&carried, &there.inbound(HOOK, &form));
    let [press] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(
        (&press.from, press.name.as_deref()),
        (&ContactMethod::Whatsapp(ADA.into()), Some("Ada"))
    );
    assert_eq!(
        press.what,
        InboundContent::Pressed { token: "t-yes".into(), posted: Some(posted.id.clone()) }
    );
    carried.reply(press, "").await.unwrap();
    carried.reply(press, "Thank you.").await.unwrap();
    assert_eq!(member(&there.sent()[1], "Body"), "Thank you.");

    // Over: what was laid out goes, once or again.
    let over = carried.render(&sample_cards::over());
    carried.update(&posted, &over, None).await.unwrap();
    carried.update(&posted, &over, None).await.unwrap();
    assert_eq!(there.laid_out(), Vec::<Value>::new());
    let list =
        carried.deliver(outbound(ADA, &carried.render(&sample_cards::choose()))).await.unwrap();
    insta::assert_json_snapshot!("list", there.laid_out());
    carried.update(&list, &over, None).await.unwrap();
    let plain =
        carried.deliver(outbound(ADA, &carried.render(&sample_cards::converse()))).await.unwrap();
    assert_eq!(plain.place, Value::Null);
    carried.update(&plain, &over, None).await.unwrap();
}

#[tokio::test]
async fn words_say_what_they_are_about() {
    let (there, carried) = here(None).await;
    let said = |body: &str, more: &[(&str, &str)]| {
        let mut form = vec![("MessageSid", "SM9"), ("From", FROM), ("Body", body)];
        form.extend(more);
        inbound(&carried, &there.inbound(HOOK, &form))
            .into_iter()
            .map(|h| h.what)
            .collect::<Vec<_>>()
    };
    let wrote = |text: &str, about| InboundContent::Wrote { text: text.into(), about };
    let above = [("OriginalRepliedMessageSid", "SM1")];
    assert_eq!(said("A7 yes", &[]), [wrote("A7 yes", InReplyTo::Nothing)]);
    assert_eq!(said("fine", &above), [wrote("fine", InReplyTo::Posted("SM1".into()))]);
    assert_eq!(said("STOP", &above), [InboundContent::Stopped]);
    assert_eq!(
        said("yes", &[("OptOutType", "START")]),
        [InboundContent::Resumed, wrote("yes", InReplyTo::Nothing)]
    );
    assert_eq!(said("", &[("NumMedia", "1")]), []);
    let row = [("ListId", "t-3"), ("ListTitle", "3")];
    assert_eq!(said("3", &row), [InboundContent::Pressed { token: "t-3".into(), posted: None }]);
    // A text message to the same number is not WhatsApp.
    assert_eq!(inbound(&carried, &there.write(HOOK, "SM9", ADA, "hello")), []);
    let became =
        inbound(&carried, &there.became(HOOK, "SM1", FROM, "undelivered", "63016")).remove(0);
    assert_eq!(became.from, ContactMethod::Whatsapp(ADA.into()));
    let InboundContent::Became { state: DeliveryReport::Failed { why, forever: false }, .. } =
        became.what
    else {
        panic!("{became:?}")
    };
    assert!(why.contains("24 hours") && why.contains("template"), "{why}");
}

#[tokio::test]
async fn after_a_day_only_the_template_is_sent() {
    let (there, carried) = here(Some(template())).await;
    let message = carried.render(&sample_cards::approve());
    carried.deliver(outbound(ADA, &message)).await.unwrap();
    assert_eq!(member(&there.sent()[0], "ContentSid"), SID);
    insta::assert_snapshot!("variables", member(&there.sent()[0], "ContentVariables"));
    inbound(&carried, &there.write(HOOK, "SM9", FROM, "hello"));
    carried.deliver(outbound(ADA, &message)).await.unwrap();
    assert_ne!(member(&there.sent()[1], "ContentSid"), SID);
    let tomorrow =
        OutboundMessage { now: now().plus_seconds(24 * 60 * 60), ..outbound(ADA, &message) };
    carried.deliver(tomorrow).await.unwrap();
    assert_eq!(member(&there.sent()[2], "ContentSid"), SID);
}

/// Two braces are a place to be filled at Twilio, and what keeps them apart takes room.
#[tokio::test]
async fn nothing_an_agent_writes_is_a_place_to_be_filled() {
    let (there, carried) = here(None).await;
    for words in ["{{1}}".to_owned(), "{{{{1}}}}".to_owned(), "{".repeat(700)] {
        let mut card = views::message_card::MessageCard { words, ..sample_cards::approve() };
        let views::message_card::CardStage::Open(ways) = &mut card.stage else {
            panic!("it is open")
        };
        ways.buttons[0].label = "{{{2}}} and more of it".into();
        let message = carried.render(&card);
        assert!(!message["body"].as_str().unwrap().contains("{{"), "{message}");
        carried.deliver(outbound(ADA, &message)).await.unwrap();
    }
    // The last one has no room for anything to press.
    assert_eq!(there.laid_out().len(), 2);
}

#[tokio::test]
async fn what_is_refused_is_not_left_lying() {
    let (there, carried) = here(None).await;
    let message = carried.render(&sample_cards::approve());
    for (code, words) in
        [(63_016, "template"), (63_003, "no one can be reached"), (21_656, "variables")]
    {
        there.refuse(FROM, code);
        let failed = carried.deliver(outbound(ADA, &message)).await.unwrap_err();
        let DeliveryError::Never { why } = failed else { panic!("{failed}") };
        assert!(why.contains(words), "{why}");
        assert_eq!(there.laid_out(), Vec::<Value>::new());
    }
    assert!(
        TwilioWhatsapp::new(
            there.account(None),
            Some(Template { name: "x".into(), ..template() }),
            reqwest::Client::new()
        )
        .is_err()
    );
    assert!(carried.check().await.unwrap().contains(NUMBER));
}

/// Every card is taken, free or as a template.
#[test]
fn every_card_is_taken() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (there, carried) = runtime.block_on(here(Some(template())));
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) };
    proptest!(config, |(card in random::card())| {
        let message = carried.render(&card);
        let sent = runtime.block_on(async {
            inbound(&carried, &there.write(HOOK, "SM9", FROM, "hello"));
            carried.deliver(outbound(ADA, &message)).await?;
            carried.deliver(outbound("+4930123456", &message)).await
        });
        prop_assert!(sent.is_ok(), "{sent:?} {message}");
    });
}
