//! An agent with many open asks and one connection: it learns of every answer as it comes.
//!
//! `COUNTERSIGN_API_KEY=dev-agent-key cargo run -p countersign-client --example many`

use std::collections::BTreeMap;

use client::Client;

#[tokio::main(flavor = "current_thread")]
async fn main() -> client::Result<()> {
    let prompts = ["Send the newsletter?", "Delete the old logs?", "Order more paper?"];
    for (prompt, verdict) in verdicts(&Client::from_env()?, &prompts).await? {
        println!("{prompt} {verdict}");
    }
    Ok(())
}

/// Asks everything at once and waits for every answer on one stream.
pub(crate) async fn verdicts(
    countersign: &Client,
    prompts: &[&str],
) -> client::Result<BTreeMap<String, String>> {
    // Before anything is asked, so that no answer is missed.
    let mut events = countersign.events(None);
    events.ready().await?;
    let mut open = BTreeMap::new();
    for prompt in prompts {
        let sent = countersign.ask(*prompt).approve().send().await?;
        open.insert(sent.id().to_owned(), (*prompt).to_owned());
    }
    let mut verdicts = BTreeMap::new();
    while !open.is_empty() {
        let event = events.next().await?;
        if event.ask.is_over()
            && let Some(prompt) = open.remove(&event.ask.id)
        {
            let verdict = event.ask.verdict().unwrap_or(event.ask.state.as_str());
            verdicts.insert(prompt, verdict.to_owned());
        }
    }
    Ok(verdicts)
}
