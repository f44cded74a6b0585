//! Slack through its own API, played: what goes out, what comes back, and what goes wrong.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod failures;
mod flows;
mod sockets;

use std::time::Duration;

use channels::slack::{Slack, SlackSettings};
use channels::testing::slack::Workspace;
use channels::testing::slack::inbound::Incoming;
use channels::{Channel, InboundMessage, OutboundMessage, PostedMessage, SecretString};
use kernel::Time;
use serde_json::Value;
use views::message_card::{
    AnswerOptions, ButtonTone, CardButton, CardFact, CardStage, MessageCard,
};

fn now() -> Time {
    Time::from_millis(1_770_000_300_000)
}

async fn workspace() -> Workspace {
    Workspace::begin().await.unwrap()
}

/// Waits for answers longer than any test takes.
fn slack(settings: SlackSettings) -> Slack {
    with_patience(settings, Duration::from_secs(20))
}

/// Soon gives up on a Slack that says nothing.
fn hasty(settings: SlackSettings) -> Slack {
    with_patience(settings, Duration::from_millis(200))
}

fn with_patience(settings: SlackSettings, patience: Duration) -> Slack {
    let client = reqwest::Client::builder().timeout(patience).build().unwrap();
    Slack::new(settings, client).unwrap().with_pause(Duration::from_millis(1))
}

fn button(label: &str, token: &str, tone: ButtonTone) -> CardButton {
    let (label, token, word) = (label.to_owned(), token.to_owned(), "yes".to_owned());
    CardButton { label, token, tone, word, wants_words: false }
}

fn card(ways: AnswerOptions) -> MessageCard {
    MessageCard {
        title: "agent_billing asks for your approval".to_owned(),
        note: None,
        words: "Refund €120.00 to Ada?".to_owned(),
        context: None,
        facts: vec![CardFact { name: "order".to_owned(), value: "4711".to_owned() }],
        until: None,
        link: "https://ask.example.com/asks/ask_1".to_owned(),
        urgent: false,
        stage: CardStage::Open(ways),
    }
}

fn approval() -> MessageCard {
    let yes = button("Approve", "tok.yes", ButtonTone::Yes);
    let no = button("Reject", "tok.no", ButtonTone::No);
    card(AnswerOptions { buttons: vec![yes, no], ..AnswerOptions::default() })
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "key-1", thread: None, token: None, now: now() }
}

async fn delivered(slack: &Slack, to: &str, card: &MessageCard) -> PostedMessage {
    let message = slack.render(card);
    slack.deliver(outbound(to, &message)).await.unwrap()
}

/// What a call says, once it is known to be Slack's.
fn inbound(slack: &Slack, incoming: &Incoming) -> Vec<InboundMessage> {
    slack.verify(&incoming.call()).unwrap();
    slack.parse(&incoming.call()).unwrap().inbound
}

fn secret(text: &str) -> SecretString {
    SecretString::new(text)
}
