//! Slack through its own API, played: what goes out, what comes back, and what goes wrong.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod failures;
mod flows;
mod sockets;

use std::time::Duration;

use channels::card::{Button, Card, Fact, Stage, Tone, Ways};
use channels::slack::{Settings, Slack};
use channels::testing::slack::Workspace;
use channels::testing::slack::inbound::Incoming;
use channels::{Channel, Heard, Parcel, Posted, Secret};
use kernel::Time;
use serde_json::Value;

fn now() -> Time {
    Time::from_millis(1_770_000_300_000)
}

async fn workspace() -> Workspace {
    Workspace::begin().await.unwrap()
}

/// Waits for answers longer than any test takes.
fn slack(settings: Settings) -> Slack {
    with_patience(settings, Duration::from_secs(20))
}

/// Soon gives up on a Slack that says nothing.
fn hasty(settings: Settings) -> Slack {
    with_patience(settings, Duration::from_millis(200))
}

fn with_patience(settings: Settings, patience: Duration) -> Slack {
    let client = reqwest::Client::builder().timeout(patience).build().unwrap();
    Slack::new(settings, client).unwrap().with_pause(Duration::from_millis(1))
}

fn button(label: &str, token: &str, tone: Tone) -> Button {
    let (label, token, word) = (label.to_owned(), token.to_owned(), "yes".to_owned());
    Button { label, token, tone, word, wants_words: false }
}

fn card(ways: Ways) -> Card {
    Card {
        title: "agent_billing asks for your approval".to_owned(),
        note: None,
        words: "Refund €120.00 to Ada?".to_owned(),
        context: None,
        facts: vec![Fact { name: "order".to_owned(), value: "4711".to_owned() }],
        until: None,
        link: "https://ask.example.com/asks/ask_1".to_owned(),
        urgent: false,
        stage: Stage::Open(ways),
    }
}

fn approval() -> Card {
    let yes = button("Approve", "tok.yes", Tone::Yes);
    let no = button("Reject", "tok.no", Tone::No);
    card(Ways { buttons: vec![yes, no], ..Ways::default() })
}

fn parcel<'a>(to: &'a str, message: &'a Value) -> Parcel<'a> {
    Parcel { to, message, key: "key-1", thread: None, token: None, now: now() }
}

async fn delivered(slack: &Slack, to: &str, card: &Card) -> Posted {
    let message = slack.render(card);
    slack.deliver(parcel(to, &message)).await.unwrap()
}

/// What a call says, once it is known to be Slack's.
fn heard(slack: &Slack, incoming: &Incoming) -> Vec<Heard> {
    slack.verify(&incoming.knock()).unwrap();
    slack.parse(&incoming.knock()).unwrap().heard
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}
