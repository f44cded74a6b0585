//! `countersign ask "Deploy v2.1?" --approve --wait`

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::Exit;
use super::remote::{Remote, explain};
use super::show::{outcome, print_ask};

#[derive(Args)]
pub(super) struct Ask {
    /// What to ask
    prompt: String,
    /// Ask for a yes or no (the default)
    #[arg(long, group = "kind")]
    approve: bool,
    /// Ask to choose one of these; give it several times
    #[arg(long, group = "kind", value_name = "OPTION")]
    option: Vec<String>,
    /// Ask for a value of this type: text, number, email, url, date, file
    #[arg(long, group = "kind", value_name = "TYPE")]
    provide: Option<String>,
    /// Ask for a free answer
    #[arg(long, group = "kind")]
    message: bool,
    /// Why you ask
    #[arg(long)]
    context: Option<String>,
    /// Details of an approval, as a JSON object
    #[arg(long, value_name = "JSON")]
    details: Option<String>,
    /// low, normal, high or critical
    #[arg(long, default_value = "normal")]
    priority: String,
    /// Run out after this many seconds
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
        let client = self.remote.agent()?;
        let body = json!({
            "question": self.question()?,
            "priority": self.priority,
            "timeout_seconds": self.timeout,
            "on_expiry": if self.timeout > 0 { "fail" } else { "stay_open" },
        });
        let ask = client.ask(&body).await.map_err(explain)?;
        if !self.wait {
            print_ask(&ask, self.remote.json)?;
            return Ok(Exit::Done);
        }
        if !self.remote.json {
            eprintln!("Asked as {}; waiting for an answer…", ask.id);
        }
        let day = Duration::from_hours(24);
        let mut ended = ask;
        while !ended.is_over() {
            ended = client.wait(&ended.id, day).await.map_err(explain)?;
        }
        print_ask(&ended, self.remote.json)?;
        Ok(outcome(&ended))
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
                question["details"] = serde_json::from_str(details)?;
            }
        }
        Ok(question)
    }
}
