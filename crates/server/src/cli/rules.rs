//! `countersign rules`: rules that forward your requests to another person.

use clap::{Args, Subcommand};
use dialects::native::RuleBody;
use kernel::ask::Priority;
use kernel::question::QuestionKind;
use kernel::text::reveal;
use kernel::{HumanId, RuleId};
use reqwest::Method;
use serde_json::Value;

use super::Exit;
use super::output::{report, say, table};
use super::remote::RemoteArgs;
use crate::name_spelling::parse_name;

#[derive(Args)]
pub(super) struct RulesArgs {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Subcommand)]
enum RulesCommand {
    /// List your rules, in the order in which they are tried
    List {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Add a rule: requests that match go to a delegate, if the agent asks for one
    Add {
        /// The delegate
        #[arg(long, value_name = "ID")]
        to: HumanId,
        /// Only this kind of question; repeat it for several [default: any]
        #[arg(long, value_name = "KIND", value_parser = parse_name::<QuestionKind>)]
        kind: Vec<QuestionKind>,
        /// Only this project, by id or by the agent's own label
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
        /// Only requests with this tag
        #[arg(long, value_name = "TAG")]
        tag: Option<String>,
        /// Only this priority
        #[arg(long, value_name = "PRIORITY", value_parser = parse_name::<Priority>)]
        priority: Option<Priority>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Remove a rule
    Remove {
        /// The id of the rule, as `rules list` shows it
        id: RuleId,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

impl RulesArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            RulesCommand::List { remote } => {
                let server = remote.human().await?;
                let found: Value = server.get("/api/v1/rules").await?;
                let rules = found.get("rules").and_then(Value::as_array);
                if remote.json {
                    say!("{}", serde_json::to_string(&rules)?);
                } else {
                    let rows: Vec<_> = rules.into_iter().flatten().map(row).collect();
                    table(&["ID", "DELEGATE", "KINDS", "PROJECT", "TAG", "PRIORITY"], &rows);
                }
            }
            RulesCommand::Add { to, kind, project, tag, priority, remote } => {
                let server = remote.human().await?;
                let kinds = kind.into_iter().collect();
                let body = RuleBody { kinds, project, tag, priority, delegate_to: to };
                let added: Value = server.send(Method::POST, "/api/v1/rules", &body).await?;
                report(remote.json, &added, &format!("Added {}.", cell(added.get("id"))))?;
            }
            RulesCommand::Remove { id, remote } => {
                let server = remote.human().await?;
                let path = format!("/api/v1/rules/{id}");
                let () = server.call(Method::DELETE, &path).await?;
                report(
                    remote.json,
                    &serde_json::json!({ "removed": id }),
                    &format!("Removed {id}."),
                )?;
            }
        }
        Ok(Exit::Done)
    }
}

fn row(rule: &Value) -> Vec<String> {
    let columns = ["id", "delegate_to", "kinds", "project", "tag", "priority"];
    columns.iter().map(|column| cell(rule.get(column))).collect()
}

fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => reveal(text),
        Some(Value::Array(items)) => {
            items.iter().map(|item| cell(Some(item))).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}
