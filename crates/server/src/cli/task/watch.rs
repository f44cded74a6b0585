//! `countersign task watch`: the events of a task, live.

use clap::Args;
use client::tasks::Operation;
use serde_json::{Value, json};

use super::{Caller, look, replay, text, timeline};
use crate::cli::Exit;
use crate::cli::output::say;

#[derive(Args)]
#[command(
    after_help = "Exits with 0 if it was completed, 1 if it was rejected, 3 if it was called off, \
    4 if something went wrong."
)]
pub(super) struct Watch {
    /// The task
    task: String,
    #[command(flatten)]
    caller: Caller,
}

impl Watch {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(None)?;
        let mut events = server.client.tasks().events(None);
        // Connect before reading the past, so that no event is missed in between.
        events.ready().await.map_err(server.because())?;
        let params = json!({ "task_id": self.task });
        let past = look(&server, Operation::AuditReplay, params).await?;
        let past = past.as_array().map_or(&[][..], Vec::as_slice);
        let mut seen = 0;
        let mut over = None;
        for event in past {
            seen = event["seq"].as_u64().unwrap_or(seen);
            let ended = self.told(&server, event).await;
            // Events after the end do not change the outcome.
            over = over.or(ended);
        }
        loop {
            if let Some(exit) = over {
                return Ok(exit);
            }
            let event = events.next().await.map_err(server.because())?.event;
            if event.task_id.is_some_and(|id| id.to_string() == self.task) && event.seq > seen {
                seen = event.seq;
                over = self.told(&server, &serde_json::to_value(&event)?).await;
            }
        }
    }

    /// Prints one event. Returns the outcome if the task ended.
    async fn told(&self, server: &crate::cli::remote::Server, event: &Value) -> Option<Exit> {
        if self.caller.remote.json {
            say!("{event}");
        } else {
            let prompts = replay::prompts(server, std::slice::from_ref(event)).await;
            for line in timeline::line(event, &prompts) {
                say!("{line}");
            }
        }
        match (text(event, "/action"), text(event, "/after/state")) {
            ("task.cancelled", _) => Some(Exit::Cancelled),
            (_, "completed") if text(event, "/action") == "task.checkpoint.resolved" => {
                Some(Exit::Denied)
            }
            (_, "completed") => Some(Exit::Done),
            (_, "rejected") => Some(Exit::Denied),
            _ => None,
        }
    }
}
