//! `countersign task replay`: the history of a task, or its state at a given time.

use std::collections::BTreeMap;

use clap::Args;
use client::tasks::Operation;
use serde_json::{Value, json};

use super::{Caller, given, look, text, timeline};
use crate::cli::Exit;
use crate::cli::output::say;
use crate::cli::remote::Server;

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign task replay task_…\n  \
    countersign task replay task_… --at 2026-11-16T12:00:00Z   (as it was at noon)")]
pub(super) struct Replay {
    /// The task
    task: String,
    /// Only up to this moment, and what the task was then
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    #[command(flatten)]
    caller: Caller,
}

impl Replay {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(None)?;
        let params = given([("task_id", json!(self.task)), ("at", json!(self.at))]);
        let told = look(&server, Operation::AuditReplay, params).await?;
        if self.caller.remote.json {
            say!("{told}");
            return Ok(Exit::Done);
        }
        let events = told.get("events").unwrap_or(&told).as_array().map_or(&[][..], Vec::as_slice);
        let prompts = prompts(&server, events).await;
        for line in timeline::tell(events, &prompts) {
            say!("{line}");
        }
        Ok(Exit::Done)
    }
}

/// The questions of the checkpoints, as far as the caller may see them: the history contains
/// only their ids.
pub(super) async fn prompts(server: &Server, events: &[Value]) -> BTreeMap<String, String> {
    let mut prompts = BTreeMap::new();
    for event in events.iter().filter(|event| text(event, "/action") == "task.checkpoint.raised") {
        let checkpoint = text(event, "/subject/id");
        let ask = checkpoint.replacen("ckpt_", "ask_", 1);
        if let Ok(ask) = server.client.show(&ask).await
            && let Some(prompt) = ask.question.as_ref().map(|question| text(question, "/prompt"))
        {
            prompts.insert(checkpoint.to_owned(), prompt.to_owned());
        }
    }
    prompts
}
