//! Ledgers of a project, a team or the organisation.

use clap::{Args, Subcommand};
use client::tasks::Operation;
use kernel::text::reveal;
use serde_json::{Value, json};

use super::{
    ChangeArgs, TaskCallerArgs, TaskCallerRole, change, given_params, read_operation, text, value,
};
use crate::cli::Exit;
use crate::cli::output::{report, report_table, say};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign tasks ledger read project:dev release/last\n  \
    countersign tasks ledger write project:dev release/last '\"v2.1\"' --task task_…\n  \
    countersign tasks ledger history project:dev release/last")]
pub(super) struct LedgerArgs {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Subcommand)]
enum LedgerCommand {
    /// Read the value of a key; exits with 1 if it has none
    Read {
        /// The scope: `project:…`, `team:…` or `org:…`
        scope: String,
        /// The key
        key: String,
        #[command(flatten)]
        caller: TaskCallerArgs,
    },
    /// Set the value of a key
    Write {
        /// The scope: `project:…`, `team:…` or `org:…`
        scope: String,
        /// The key
        key: String,
        /// The value: JSON, or a text
        value: String,
        /// The task that sets it
        #[arg(long, value_name = "TASK")]
        task: String,
        /// Only if the key was set this many times so far
        #[arg(long, value_name = "N")]
        written: Option<u64>,
        /// Idempotency key: repeating the command with the same key sets the value once
        #[arg(long, value_name = "TEXT")]
        repeat_key: Option<String>,
        #[command(flatten)]
        caller: TaskCallerArgs,
    },
    /// List all values of a key, oldest first
    History {
        /// The scope: `project:…`, `team:…` or `org:…`
        scope: String,
        /// The key
        key: String,
        #[command(flatten)]
        caller: TaskCallerArgs,
    },
}

impl LedgerArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            LedgerCommand::Read { scope, key, caller } => {
                let server = caller.connect(None).await?;
                let params = json!({ "scope": scope, "key": key });
                let entry = read_operation(&server, Operation::LedgerRead, params).await?;
                if caller.remote.json {
                    say!("{entry}");
                } else if entry.is_null() {
                    say!("{key} has no value.");
                } else {
                    say!("{}", entry["value"]);
                }
                Ok(if entry.is_null() { Exit::Denied } else { Exit::Done })
            }
            LedgerCommand::Write { scope, key, value: said, task, written, repeat_key, caller } => {
                let server = caller.connect(Some(TaskCallerRole::Agent)).await?;
                let mut params = given_params([
                    ("scope", json!(scope)),
                    ("key", json!(key)),
                    ("by", json!(task)),
                    ("expected_revision", json!(written)),
                ]);
                params["value"] = value(&said);
                let terms = ChangeArgs { expecting: None, key: repeat_key };
                let entry = change(&server, Operation::LedgerWrite, params, terms).await?;
                let sentence = format!("{key} was written, for the {}. time.", entry["revision"]);
                report(caller.remote.json, &entry, &sentence)?;
                Ok(Exit::Done)
            }
            LedgerCommand::History { scope, key, caller } => {
                let server = caller.connect(None).await?;
                let mut entries: Vec<Value> = Vec::new();
                let mut cursor = None;
                loop {
                    let params = given_params([
                        ("scope", json!(scope)),
                        ("key", json!(key)),
                        ("cursor", json!(cursor)),
                    ]);
                    let call = server.client.tasks().list_of(Operation::LedgerHistory, params);
                    let page = call.await.map_err(server.with_advice())?;
                    entries.extend(page.items);
                    cursor = page.next;
                    if cursor.is_none() {
                        break;
                    }
                }
                report_table(caller.remote.json, &entries, &["N", "WRITTEN", "BY", "VALUE"], row)?;
                Ok(Exit::Done)
            }
        }
    }
}

fn row(entry: &Value) -> Vec<String> {
    vec![
        entry["revision"].to_string(),
        text(entry, "/written_at").to_owned(),
        text(entry, "/by").to_owned(),
        reveal(&entry["value"].to_string()),
    ]
}
