//! `countersign ask "Deploy v2.1?" --approve --wait`

use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value, json};

use super::Exit;
use super::remote::Remote;
use super::render::Detail;
use super::show::{outcome, print};

#[derive(Args)]
#[command(after_help = super::OUTCOMES)]
pub(super) struct Ask {
    /// What to ask
    prompt: String,
    /// Ask for a yes or no (the default)
    #[arg(long, group = "kind")]
    approve: bool,
    /// Ask to choose one of these; give it several times
    #[arg(long, group = "kind", value_name = "OPTION")]
    option: Vec<String>,
    /// Ask for a value of this type: text, textarea, number, email, url, date, boolean,
    /// file
    #[arg(
        long, group = "kind", value_name = "TYPE", hide_possible_values = true,
        value_parser = ["text", "textarea", "number", "email", "url", "date", "boolean", "file"],
    )]
    provide: Option<String>,
    /// Ask for a free answer
    #[arg(long, group = "kind")]
    message: bool,
    /// Why you ask
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Details of an approval, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with_all = ["option", "provide", "message"])]
    details: Option<String>,
    /// low, normal, high or critical
    #[arg(
        long, default_value = "normal", hide_possible_values = true,
        value_parser = ["low", "normal", "high", "critical"],
    )]
    priority: String,
    /// Run out after this many seconds; 0 for never
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    timeout: u64,
    /// Wait for the answer and print it
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Ask {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent()?;
        let body = json!({
            "question": self.question()?,
            "priority": self.priority,
            "timeout_seconds": self.timeout,
            "on_expiry": if self.timeout > 0 { "fail" } else { "stay_open" },
        });
        let mut ask = server.client.create(&body).await.map_err(server.because())?;
        if !self.wait {
            print(&ask, self.remote.json, Detail::Brief)?;
            return Ok(Exit::Done);
        }
        // Programs read standard output; this is for whoever looks on, and for finding it again.
        eprintln!("Asked as {}; waiting for an answer…", ask.id);
        while !ask.is_over() {
            let day = Duration::from_hours(24);
            ask = server.client.wait(&ask.id, day).await.map_err(server.because())?;
        }
        print(&ask, self.remote.json, Detail::Brief)?;
        Ok(outcome(&ask))
    }

    fn question(&self) -> anyhow::Result<Value> {
        let mut question = json!({ "prompt": self.prompt });
        if let Some(context) = &self.context {
            question["context"] = json!(context);
        }
        if !self.option.is_empty() {
            let options: Vec<_> =
                self.option.iter().map(|one| json!({ "id": one, "label": one })).collect();
            question["kind"] = json!("choose");
            question["options"] = json!(options);
            question["pick"] = json!("one");
        } else if let Some(kind) = &self.provide {
            let field =
                json!({ "key": "value", "label": self.prompt, "type": kind, "required": true });
            question["kind"] = json!("provide");
            question["form"] = json!({ "fields": [field] });
        } else if self.message {
            question["kind"] = json!("converse");
        } else {
            question["kind"] = json!("approve");
            if let Some(details) = &self.details {
                let details: Map<String, Value> =
                    serde_json::from_str(details).context("--details: expected a JSON object")?;
                question["details"] = json!(details);
            }
        }
        Ok(question)
    }
}
