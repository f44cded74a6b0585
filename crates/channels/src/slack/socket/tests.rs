//! Tests of the socket protocol, with a paused clock.

use std::sync::Mutex;

use async_trait::async_trait;
use tokio::io::{DuplexStream, duplex};
use tokio::time::Instant;

use super::*;
use crate::inbound::InboundContent;
use crate::testing::slack::inbound;

/// Accepts inbound messages, after a delay or never.
#[derive(Default)]
struct Listener {
    takes: Duration,
    refuses: bool,
    answers: Option<Value>,
    inbound: Mutex<Vec<InboundMessage>>,
}

#[async_trait]
impl InboundHandler for Listener {
    async fn handle(&self, inbound: InboundMessage) -> Result<Option<Value>, DeliveryError> {
        sleep(self.takes).await;
        if self.refuses {
            return Err(DeliveryError::later("the store is away"));
        }
        self.inbound.lock().unwrap().push(inbound);
        Ok(self.answers.clone())
    }
}

type Side = WebSocketStream<DuplexStream>;

async fn pair() -> (Side, Side) {
    let (ours, theirs) = duplex(64 * 1024);
    (
        WebSocketStream::from_raw_socket(ours, Role::Client, None).await,
        WebSocketStream::from_raw_socket(theirs, Role::Server, None).await,
    )
}

fn envelope(id: &str) -> Message {
    let payload = inbound::wrote("Ev1", "D0ADA", None, "U0ADA", "yes");
    Message::text(
        json!({ "type": "events_api", "envelope_id": id, "payload": payload }).to_string(),
    )
}

async fn say(slack: &mut Side, said: &Value) {
    slack.send(Message::text(said.to_string())).await.unwrap();
}

/// Sends these messages and returns how the connection ends, and the acknowledgements.
async fn after(handler: &Listener, said: &[Message], end: &Value) -> (ConnectionEnd, Vec<String>) {
    let (mut ours, mut slack) = pair().await;
    for message in said {
        slack.send(message.clone()).await.unwrap();
    }
    say(&mut slack, end).await;
    let end = serve(&mut ours, handler, &mut false).await;
    drop(ours);
    let mut acknowledged = Vec::new();
    while let Some(Ok(Message::Text(text))) = slack.next().await {
        acknowledged.push(text.to_string());
    }
    (end, acknowledged)
}

fn refresh() -> Value {
    json!({ "type": "disconnect", "reason": "refresh_requested" })
}

#[tokio::test(start_paused = true)]
async fn only_what_was_taken_is_acknowledged() {
    let acknowledged = vec!["{\"envelope_id\":\"e1\"}".to_owned()];
    let quick = Listener { takes: Duration::from_secs(2), ..Listener::default() };
    let slow = Listener { takes: Duration::from_secs(3), ..Listener::default() };
    let broken = Listener { refuses: true, ..Listener::default() };
    for (what, handler, expected) in [
        ("in time", &quick, acknowledged.clone()),
        ("too late", &slow, Vec::new()),
        ("refused", &broken, Vec::new()),
    ] {
        let began = Instant::now();
        let (end, found) = after(handler, &[envelope("e1")], &refresh()).await;
        assert_eq!((end, found), (ConnectionEnd::Refresh, expected), "{what}");
        assert!(began.elapsed() < Duration::from_secs(3), "{what}: Slack waits no longer");
    }
    let inbound = quick.inbound.lock().unwrap();
    assert!(matches!(&inbound[0].what, InboundContent::Wrote { text, .. } if text == "yes"));
}

/// An answer that the platform waits for is sent with the acknowledgement.
#[tokio::test(start_paused = true)]
async fn an_answer_goes_with_the_acknowledgement() {
    let answer = json!({ "response_action": "errors", "errors": { "size": "At most 5." } });
    let handler = Listener { answers: Some(answer.clone()), ..Listener::default() };
    let (_, acknowledged) = after(&handler, &[envelope("e1")], &refresh()).await;
    let said: Value = serde_json::from_str(&acknowledged[0]).unwrap();
    assert_eq!(said, json!({ "envelope_id": "e1", "payload": answer }));
}

/// Unreadable and irrelevant payloads would otherwise be repeated.
#[tokio::test(start_paused = true)]
async fn what_says_nothing_is_acknowledged_too() {
    let handler = Listener::default();
    let said = [
        json!({ "type": "interactive", "envelope_id": "e1", "payload": { "type": "block_actions" } }),
        json!({ "type": "slash_commands", "envelope_id": "e2", "payload": {} }),
        json!({ "type": "hello" }),
        json!([1]),
    ]
    .map(|said| Message::text(said.to_string()));
    let (end, acknowledged) =
        after(&handler, &said, &json!({ "type": "disconnect", "reason": "link_disabled" })).await;
    assert_eq!(end, ConnectionEnd::Disabled);
    assert_eq!(acknowledged, ["{\"envelope_id\":\"e1\"}", "{\"envelope_id\":\"e2\"}"]);
    assert!(handler.inbound.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_asked_once_and_given_up() {
    let (mut ours, slack) = pair().await;
    let began = Instant::now();
    assert_eq!(serve(&mut ours, &Listener::default(), &mut false).await, ConnectionEnd::Lost);
    assert_eq!(began.elapsed(), 2 * SILENCE);
    drop(slack);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_answers_is_kept() {
    let (mut ours, mut slack) = pair().await;
    let handler = Listener::default();
    let (mut greeted, began) = (false, Instant::now());
    let answering = async {
        // Reading answers the pings.
        for _ in 0..3 {
            let _ = timeout(10 * SILENCE, slack.next()).await;
        }
        say(&mut slack, &json!({ "type": "hello" })).await;
        say(&mut slack, &refresh()).await;
        std::future::pending::<ConnectionEnd>().await
    };
    let end = tokio::select! {
        end = serve(&mut ours, &handler, &mut greeted) => end,
        end = answering => end,
    };
    assert_eq!((end, greeted), (ConnectionEnd::Refresh, true));
    assert!(began.elapsed() > 2 * SILENCE, "it was quiet for long enough to be given up");
}

/// The server opens sockets only at Slack's hosts, whatever URL it receives.
#[test]
fn sockets_are_slacks() {
    let slack = |base: &str| {
        let bot_token = SecretString::new("xoxb-1");
        let (signing_secret, app_token) = (None, Some(SecretString::new("xapp-1")));
        let base = Some(base.parse().unwrap());
        let settings = super::super::SlackSettings { bot_token, signing_secret, app_token, base };
        Slack::new(settings, reqwest::Client::new()).unwrap()
    };
    for (base, url, expected) in [
        (
            "https://slack.com/api/",
            "wss://wss-primary.slack.com/link/?ticket=1",
            Some("https://wss-primary.slack.com/link/?ticket=1"),
        ),
        ("https://slack.com/api/", "wss://slack.com/link", Some("https://slack.com/link")),
        ("https://slack.com/api/", "ws://wss-primary.slack.com/link", None),
        ("https://slack.com/api/", "wss://slack.com.evil.example/link", None),
        ("https://slack.com/api/", "wss://evilslack.com/link", None),
        ("https://slack.com/api/", "wss://wss-primary.slack.com:22/link", None),
        ("https://slack.com/api/", "https://wss-primary.slack.com/link", None),
        ("https://slack.com/api/", "ws://127.0.0.1/link", None),
        ("http://127.0.0.1:9/api/", "ws://127.0.0.1:9/link", Some("http://127.0.0.1:9/link")),
        ("http://127.0.0.1:9/api/", "ws://127.0.0.1:10/link", None),
    ] {
        let found = slack(base).over_http(url.parse().unwrap());
        assert_eq!(found.as_ref().map(Url::as_str), expected, "{url}");
    }
}
