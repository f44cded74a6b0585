//! `countersign demo`: a scripted agent asks one question of each kind and prints the answers.

use std::time::Duration;

use clap::Args;
use client::Ask;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::Exit;
use super::output::say;
use super::remote::{RemoteArgs, RemoteServer};
use super::render::DetailLevel;
use super::requests::print;

#[derive(Args)]
pub(super) struct DemoArgs {
    /// Do not wait for the answers
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl DemoArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent().await?;
        let mut asked = Vec::new();
        for body in script() {
            let ask = server.client.create(&body).await.map_err(server.with_advice())?;
            if !self.remote.json {
                print(&ask, false, DetailLevel::Brief)?;
            }
            asked.push(ask);
        }
        if self.no_wait {
            if self.remote.json {
                say!("{}", serde_json::to_string(&asked)?);
            }
            return Ok(Exit::Done);
        }
        if !self.remote.json {
            say!("\nSix questions asked. Answer them with `countersign inbox`; waiting…\n");
        }
        let waiting = asked.into_iter().map(|ask| wait_until_closed(&server, ask));
        let mut ends = stream::iter(waiting).buffer_unordered(6);
        while let Some(ended) = ends.next().await {
            print(&ended?, self.remote.json, DetailLevel::Brief)?;
        }
        Ok(Exit::Done)
    }
}

async fn wait_until_closed(server: &RemoteServer, mut ask: Ask) -> anyhow::Result<Ask> {
    while !ask.is_over() {
        let hour = Duration::from_hours(1);
        ask = server.client.wait(&ask.id, hour).await.map_err(server.with_advice())?;
    }
    Ok(ask)
}

fn script() -> Vec<Value> {
    vec![
        json!({
            "priority": "high",
            "question": {
                "kind": "approve",
                "prompt": "Refund €120.00 to Ada Lovelace for order 4711?",
                "context": "The parcel was lost; the carrier confirmed it this morning.",
                "details": {
                    "amount": "€120.00", "recipient": "ada@example.com", "order": 4711,
                },
            },
        }),
        json!({
            "question": {
                "kind": "choose",
                "prompt": "Which plan should I book for the new region?",
                "pick": "one",
                "options": [
                    { "id": "starter", "label": "Starter, €9 a month" },
                    { "id": "team", "label": "Team, €49 a month" },
                    { "id": "none", "label": "None for now" },
                ],
            },
        }),
        json!({
            "question": {
                "kind": "provide",
                "prompt": "I need the details of the launch event.",
                "form": { "fields": [
                    { "key": "venue", "label": "Venue", "type": "text", "required": true },
                    { "key": "day", "label": "Day", "type": "date", "required": true },
                    { "key": "guests", "label": "Guests", "type": "number",
                      "validation": { "min": 1, "max": 500 } },
                    { "key": "catering", "label": "With catering", "type": "boolean" },
                ] },
            },
        }),
        json!({
            "question": {
                "kind": "confirm",
                "prompt": "Send the newsletter to 3,204 subscribers now?",
                "items": [{ "id": "de", "label": "1,870 in German" },
                          { "id": "en", "label": "1,334 in English" }],
                "yes": "Send it now", "no": "Do not send",
            },
        }),
        json!({
            "priority": "critical",
            "question": {
                "kind": "escalate",
                "prompt": "The nightly backup failed twice. What now?",
                "error": { "step": "upload", "message": "connection reset after 12 GB" },
            },
        }),
        json!({
            "question": {
                "kind": "converse",
                "prompt": "The customer asks whether we ship to Iceland. What shall I answer?",
            },
        }),
    ]
}
