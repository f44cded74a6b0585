//! `countersign ask "Deploy v2.1?" --approve --wait`

use std::time::Duration;

use anyhow::Context;
use clap::Args;
use kernel::ask::Route;
use kernel::ids::BadId;
use serde_json::{Map, Value, json};

use super::Exit;
use super::remote::RemoteArgs;
use super::render::DetailLevel;
use super::requests::{outcome, print};
use crate::name_spelling::NameParser;

#[derive(Args)]
#[command(after_help = super::OUTCOMES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct AskArgs {
    /// What to ask
    prompt: String,
    /// Ask for approval (the default)
    #[arg(long, group = "kind")]
    approve: bool,
    /// An option to choose from; repeat it for several
    #[arg(long, group = "kind", value_name = "OPTION")]
    option: Vec<String>,
    /// Ask for a value of this type: text, textarea, number, email, url, date, boolean, file
    #[arg(
        long, group = "kind", value_name = "TYPE", hide_possible_values = true,
        value_parser = NameParser(&["text", "textarea", "number", "email", "url", "date", "boolean", "file"]),
    )]
    provide: Option<String>,
    /// Ask for a reply in free text
    #[arg(long, group = "kind")]
    message: bool,
    /// Context for the person: why you ask
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Details of an approval, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with_all = ["option", "provide", "message"])]
    details: Option<String>,
    /// Let the person change the details when they approve
    #[arg(long, requires = "details", conflicts_with_all = ["option", "provide", "message"])]
    editable: bool,
    /// Who is asked: `owner` (of the agent), `delegate`, `pool` (anyone in the project), `@GROUP`, or
    /// the id of a person (`person:ID` if it reads like one of these)
    #[arg(long, value_name = "WHO", default_value = "owner", value_parser = route)]
    route: Route,
    /// A tag for rules and search; repeat it for several
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Idempotency key: repeating the command with the same key does not ask again
    #[arg(long, value_name = "KEY", value_parser = key)]
    key: Option<String>,
    /// The priority: low, normal, high or critical
    #[arg(
        long, default_value = "normal", hide_possible_values = true,
        value_parser = NameParser(&["low", "normal", "high", "critical"]),
    )]
    priority: String,
    /// Expire after this many seconds; 0 for never
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    timeout: u64,
    /// Wait for the answer and print it
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

fn key(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected at least one character".to_owned());
    }
    Ok(text.to_owned())
}

fn route(text: &str) -> Result<Route, String> {
    let bad = |error: BadId| format!("expected {}", error.expected);
    Ok(match (text, text.strip_prefix('@'), text.strip_prefix("person:")) {
        ("owner", ..) => Route::Owner,
        ("delegate", ..) => Route::Delegate,
        ("pool" | "@", ..) => Route::Pool { group: None },
        (_, Some(group), _) => Route::Pool { group: Some(group.parse().map_err(bad)?) },
        (_, None, person) => Route::Person { human: person.unwrap_or(text).parse().map_err(bad)? },
    })
}

impl AskArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.agent().await?;
        let body = json!({
            "question": self.question()?,
            "priority": self.priority,
            "timeout_seconds": self.timeout,
            "on_expiry": if self.timeout > 0 { "fail" } else { "stay_open" },
            "route": self.route,
            "tags": self.tag,
        });
        let created = match &self.key {
            Some(key) => server.client.create_as(&body, key).await,
            None => server.client.create(&body).await,
        };
        let mut ask = created.map_err(server.with_advice())?;
        if !self.wait {
            print(&ask, self.remote.json, DetailLevel::Brief)?;
            return Ok(Exit::Done);
        }
        // Programs read standard output. Standard error shows people where to answer, and the id to
        // find the request again.
        eprintln!("Created {}; waiting for an answer…", ask.id);
        if let Some(url) = ask.rest.get("url").and_then(Value::as_str) {
            eprintln!("Answer at {url}");
        }
        while !ask.is_over() {
            let day = Duration::from_hours(24);
            ask = server.client.wait(&ask.id, day).await.map_err(server.with_advice())?;
        }
        print(&ask, self.remote.json, DetailLevel::Brief)?;
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
                question["editable"] = json!(self.editable);
            }
        }
        Ok(question)
    }
}
