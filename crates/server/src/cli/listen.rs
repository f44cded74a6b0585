//! `countersign listen --forward-to URL`: forwards events to a local address, as webhooks.
//!
//! The server cannot reach a developer's computer, so the command reads the event stream and makes
//! the calls itself: the body, the headers and the signature of Standard Webhooks, with a secret of
//! its own. The stream of an agent resumes where it was interrupted, so no event is missed while
//! the command runs.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use channels::standard_webhooks::sign;
use clap::Args;
use client::{Ask, Event};
use gateway::clock::OsClock;
use kernel::Topic;
use kernel::audit::Digest;
use kernel::text::reveal;
use serde_json::{Value, json};
use store::Clock as _;
use url::Url;

use super::Exit;
use super::output::{Style, complain, say, styled};
use super::remote::RemoteArgs;
use crate::config::SecretString;
use crate::name_spelling::parse_name;

/// How long a delivery may take, as for webhook endpoints.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The delays before a delivery is tried again.
const RETRY_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(15)];

#[derive(Args)]
#[command(after_help = "Example:\n  \
    countersign listen --forward-to http://localhost:8080/hook\n\n\
    The calls have the headers and the signature of a webhook. The signing secret is printed at the \
    start; it stays the same as long as the credential does. For an agent, set COUNTERSIGN_API_KEY: \
    its stream resumes after an interruption. A person's stream is live: events during an \
    interruption are not forwarded.")]
pub(super) struct ListenArgs {
    /// The address to forward to
    #[arg(long, value_name = "URL")]
    forward_to: Url,
    /// An event to forward, such as `ask.answered`; repeat it for several [default: those that
    /// webhook endpoints receive by default]
    #[arg(long, value_name = "EVENT", value_parser = parse_name::<Topic>)]
    event: Vec<Topic>,
    /// Begin after this position of the stream, as printed [default: from now on]
    #[arg(long, value_name = "POSITION")]
    after: Option<u64>,
    #[command(flatten)]
    remote: RemoteArgs,
}

/// The result of a delivery.
struct Delivery {
    status: Option<u16>,
    error: Option<String>,
    attempts: usize,
    took: Duration,
}

impl ListenArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent_or_human().await?;
        let key = signing_key(&server.credential);
        let mut events = server.client.events(self.after);
        events.ready().await.map_err(server.with_advice())?;
        let secret = format!("whsec_{}", BASE64_STANDARD.encode(key));
        let position = events.position().unwrap_or_default();
        if self.remote.json {
            let to = self.forward_to.as_str();
            say!("{}", json!({ "secret": secret, "forward_to": to, "position": position }));
        } else {
            say!("Signing secret: {secret}");
            say!("Forwarding events of {} to {}.", server.url, self.forward_to);
        }
        let wanted: &[Topic] = if self.event.is_empty() { &Topic::DEFAULT } else { &self.event };
        let http = reqwest::Client::builder()
            .timeout(DELIVERY_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        loop {
            let raw = events.next_raw().await.map_err(server.with_advice())?;
            let event: Event = serde_json::from_value(raw.clone())?;
            let Some(topic) = topic(&event).filter(|topic| wanted.contains(topic)) else {
                continue;
            };
            let delivery = self.deliver(&http, &key, &event, body(topic, &raw)?).await?;
            self.report(topic, &event, &delivery);
        }
    }

    /// Makes the call. A receiver that does not answer is tried again: it may just be restarting.
    async fn deliver(
        &self,
        http: &reqwest::Client,
        key: &[u8],
        event: &Event,
        body: Vec<u8>,
    ) -> anyhow::Result<Delivery> {
        // Every attempt has the same id, so that the receiver can deduplicate.
        let id = format!("msg_listen_{}", event.position);
        let started = Instant::now();
        let mut delivery =
            Delivery { status: None, error: None, attempts: 0, took: Duration::ZERO };
        let mut delays = RETRY_DELAYS.iter();
        loop {
            let seconds = OsClock.now().millis().div_euclid(1000).to_string();
            let signature = sign(key, &id, &seconds, &body);
            let request = http
                .post(self.forward_to.clone())
                .header("content-type", "application/json")
                .header("webhook-id", &id)
                .header("webhook-timestamp", seconds)
                .header("webhook-signature", signature)
                .body(body.clone());
            delivery.attempts += 1;
            match request.send().await {
                Ok(answer) => {
                    delivery.status = Some(answer.status().as_u16());
                    delivery.error = None;
                }
                Err(error) => {
                    delivery.status = None;
                    delivery.error = Some(super::remote::root(&error));
                }
            }
            delivery.took = started.elapsed();
            let taken = delivery.status.is_some_and(|status| (200..300).contains(&status));
            // Only a receiver that is not there, or says it is busy, is worth another try.
            let passing = delivery.status.is_none_or(|status| matches!(status, 429 | 502..=504));
            match delays.next().filter(|_| !taken && passing) {
                Some(delay) => tokio::time::sleep(*delay).await,
                None => return Ok(delivery),
            }
        }
    }

    fn report(&self, topic: Topic, event: &Event, delivery: &Delivery) {
        let Delivery { status, error, attempts, took } = delivery;
        let millis = took.as_millis();
        if self.remote.json {
            say!(
                "{}",
                json!({
                    "event": topic, "ask": event.ask.id, "position": event.position,
                    "status": status, "error": error, "attempts": attempts, "millis": millis,
                })
            );
            return;
        }
        let (style, result) = match (status, error) {
            (Some(status), _) if (200..300).contains(status) => (Style::Good, status.to_string()),
            (Some(status), _) => (Style::Bad, status.to_string()),
            (None, error) => (Style::Bad, reveal(error.as_deref().unwrap_or("no response"))),
        };
        let again = if *attempts > 1 { format!(", {attempts} attempts") } else { String::new() };
        let rest =
            format!("  {topic}  {}  {millis} ms{again}  position {}", event.ask.id, event.position);
        styled(style, &result, &rest);
        if matches!(style, Style::Bad) {
            complain!("countersign: {} did not accept {topic}", self.forward_to);
        }
    }
}

/// The key that signs, derived from the credential: it is the same after a restart, and reveals
/// nothing about the credential.
fn signing_key(credential: &SecretString) -> [u8; 32] {
    Digest::of(format!("countersign listen\0{}", credential.reveal()).as_bytes()).0
}

/// The webhook event of a stream event; `None` if webhooks have none.
fn topic(event: &Event) -> Option<Topic> {
    let started = starts_conversation(&event.ask);
    Some(match event.event.as_str() {
        // A new conversation is one delivery, once it is complete.
        "asked" if started => return None,
        "asked" => Topic::Created,
        "opened" => Topic::Opened,
        "claimed" | "assigned" => Topic::Claimed,
        "commented" => Topic::Commented,
        "action_picked" => Topic::ActionPicked,
        "escalated" | "joined" => Topic::Escalated,
        // A vote that does not decide leaves the request open.
        "answered" if !event.ask.is_over() => return None,
        "answered" if started => Topic::Started,
        "answered" if event.ask.verdict() == Some("changes_requested") => Topic::ChangesRequested,
        "answered" => Topic::Answered,
        "defaulted" => Topic::Defaulted,
        "expired" | "failed" => Topic::Expired,
        "cancelled" => Topic::Cancelled,
        "revoked" => Topic::Revoked,
        _ => return None,
    })
}

/// Whether the request is the beginning of a conversation that a person started.
fn starts_conversation(ask: &Ask) -> bool {
    let opening = ask.rest.get("conversation").and_then(|begun| begun.get("id"));
    opening.and_then(Value::as_str) == Some(&ask.id)
}

/// The body of a webhook: the request as the stream shows it.
fn body(topic: Topic, raw: &Value) -> serde_json::Result<Vec<u8>> {
    let body = json!({ "type": topic, "timestamp": raw["at"], "data": { "ask": raw["ask"] } });
    serde_json::to_vec(&body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, ask: &Value) -> Event {
        let at = "2026-11-19T09:00:00.000Z";
        let event = json!({ "position": 7, "event": name, "at": at, "ask": ask });
        serde_json::from_value(event).unwrap()
    }

    fn ask(state: &str, verdict: Option<&str>) -> Value {
        let result = verdict.map(|verdict| {
            json!({ "at": "2026-11-19T09:00:00.000Z", "outcome": "completed",
                    "answer": { "verdict": verdict }, "by": { "kind": "human", "id": "ada" } })
        });
        json!({ "id": "ask_1", "state": state, "kind": "approve", "question": {}, "result": result })
    }

    #[test]
    fn events_are_those_of_webhooks() {
        let of = |name: &str, ask: Value| topic(&event(name, &ask));
        assert_eq!(of("asked", ask("pending", None)), Some(Topic::Created));
        assert_eq!(of("answered", ask("pending", None)), None);
        assert_eq!(of("answered", ask("completed", Some("approved"))), Some(Topic::Answered));
        assert_eq!(
            of("answered", ask("completed", Some("changes_requested"))),
            Some(Topic::ChangesRequested)
        );
        assert_eq!(of("failed", ask("failed", None)), Some(Topic::Expired));
        assert_eq!(of("reminded", ask("pending", None)), None);
        let mut begun = ask("completed", Some("replied"));
        begun["conversation"] = json!({ "id": "ask_1" });
        assert_eq!(of("asked", begun.clone()), None);
        assert_eq!(of("answered", begun), Some(Topic::Started));
    }

    #[test]
    fn the_key_depends_on_the_credential() {
        let key = |text: &str| signing_key(&SecretString::new(text));
        assert_eq!(key("a"), key("a"));
        assert_ne!(key("a"), key("b"));
    }
}
