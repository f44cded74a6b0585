//! `countersign show ID`

use clap::Args;
use kernel::text::reveal;
use serde_json::Value;

use super::Exit;
use super::remote::{Remote, explain};

#[derive(Args)]
pub(super) struct Show {
    /// The request, under any prefix: ask_…, hxp_…
    id: String,
    #[command(flatten)]
    remote: Remote,
}

impl Show {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let client = self.remote.either()?;
        let ask = client.show(&plain(&self.id)).await.map_err(explain)?;
        print_ask(&ask, self.remote.json)?;
        Ok(Exit::Done)
    }
}

/// The id our own API knows, whichever dialect's prefix it came with.
pub(super) fn plain(id: &str) -> String {
    match id.split_once('_') {
        Some((_, ulid)) => format!("ask_{ulid}"),
        None => format!("ask_{id}"),
    }
}

/// Prints a request for people or for programs.
pub(super) fn print_ask(ask: &client::Ask, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(ask)?);
        return Ok(());
    }
    println!("{}  {}", ask.id, ask.state);
    if let Some(question) = &ask.question {
        println!("  {}", reveal(text(question, "prompt")));
        let context = text(question, "context");
        if !context.is_empty() {
            println!("  {}", reveal(context));
        }
    }
    if let Some(answer) = answer_text(ask) {
        println!("  → {answer}");
    }
    if let Some(receipt) = &ask.receipt {
        let by = receipt.pointer("/outcome/by/id").and_then(Value::as_str).unwrap_or("nobody");
        let at = text(receipt, "ended_at");
        println!("  by {by} at {at}");
    }
    Ok(())
}

/// What was answered, in one line.
fn answer_text(ask: &client::Ask) -> Option<String> {
    let reply = ask.receipt.as_ref()?.pointer("/outcome/reply")?;
    let answer = reply.get("answer")?;
    let said = match ask.verdict()? {
        "chosen" => list(answer.get("options")?),
        "confirmed" => "confirmed".to_owned(),
        "provided" => answer.get("values")?.to_string(),
        "replied" => text(answer, "text").to_owned(),
        other => other.replace('_', " "),
    };
    let comment = text(reply, "comment");
    let note = if comment.is_empty() { String::new() } else { format!(" ({comment})") };
    Some(reveal(&format!("{said}{note}")))
}

fn list(value: &Value) -> String {
    let items: Vec<&str> =
        value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    items.join(", ")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The exit code a finished request stands for.
pub(super) fn outcome(ask: &client::Ask) -> Exit {
    match ask.state.as_str() {
        "expired" | "failed" => Exit::Expired,
        "cancelled" => Exit::Cancelled,
        "completed" => match ask.verdict() {
            Some("rejected" | "declined" | "changes_requested" | "abort") => Exit::Denied,
            _ => Exit::Done,
        },
        _ => Exit::Done,
    }
}
