//! Checkpoints that agents raise, and reviews by people.

use anyhow::bail;
use clap::Args;
use client::tasks::Operation;
use serde_json::{Value, json};

use super::{
    ChangeArgs, TaskCallerArgs, TaskCallerRole, change, given_params, listed, named, object, text,
};
use crate::cli::Exit;
use crate::cli::answer::confirm_if_needed;
use crate::cli::output::report;
use crate::cli::remote::RemoteServer;
use crate::cli::requests::native_id;
use crate::name_spelling::NameParser;

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign tasks raise task_… \"Delete the old branch?\"\n  \
    countersign tasks raise task_… \"Which tone?\" --kind choice --option warm=Warm --option dry=Dry")]
pub(super) struct CheckpointRaiseArgs {
    /// The task
    task: String,
    /// The question for the person
    prompt: String,
    /// The kind of decision: approval, choice, input or escalation
    #[arg(
        long, default_value = "approval", value_name = "KIND", hide_possible_values = true,
        value_parser = NameParser(&["approval", "choice", "input", "escalation"]),
    )]
    kind: String,
    /// An option, `ID=LABEL`; repeat it for several
    #[arg(long, value_name = "OPTION")]
    option: Vec<String>,
    /// A proposed action, `ID=SUMMARY`, which is approved separately; repeat it for several
    #[arg(long, value_name = "ACTION")]
    action: Vec<String>,
    /// When the checkpoint expires
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// The priority: low, normal, high or critical
    #[arg(long, value_name = "HOW", hide_possible_values = true, value_parser = NameParser(&["low", "normal", "high", "critical"]))]
    priority: Option<String>,
    #[command(flatten)]
    terms: ChangeArgs,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl CheckpointRaiseArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Agent)).await?;
        let option = |text: &String| {
            let (id, label) = named(text);
            json!({ "id": id, "label": label })
        };
        let action = |text: &String| {
            let (id, summary) = named(text);
            json!({ "id": id, "kind": "plan_step", "summary": summary })
        };
        let options: Vec<Value> = self.option.iter().map(option).collect();
        let actions: Vec<Value> = self.action.iter().map(action).collect();
        let params = given_params([
            ("task_id", json!(self.task)),
            ("kind", json!(self.kind)),
            ("prompt", json!(self.prompt)),
            ("options", listed(&options)),
            ("proposed_actions", listed(&actions)),
            ("expires_at", json!(self.expires)),
            ("priority", json!(self.priority)),
        ]);
        let raised = change(&server, Operation::CheckpointRaise, params, self.terms).await?;
        let id = text(&raised, "/id");
        report(
            self.caller.remote.json,
            &raised,
            &format!("{} is blocked at {id} until someone decides.", self.task),
        )?;
        Ok(Exit::Done)
    }
}

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign tasks resolve ckpt_… approve --comment \"go ahead\"\n  \
    countersign tasks resolve ckpt_… choose warm\n  \
    countersign tasks resolve ckpt_… provide \"The invoice number is 4711\"\n  \
    countersign tasks resolve ckpt_… reassign agent_other\n\n\
    Exits with 0 if the agent continues, 1 if you rejected it, 4 if the command failed.")]
pub(super) struct CheckpointResolveArgs {
    /// The checkpoint
    checkpoint: String,
    /// The decision: approve, reject, choose, provide or reassign
    #[arg(hide_possible_values = true, value_parser = NameParser(&["approve", "reject", "choose", "provide", "reassign"]))]
    action: String,
    /// The chosen option, the provided value, or the agent to reassign to
    value: Option<String>,
    /// A comment
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Approve only this proposed action; repeat it for several
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Deny this proposed action; repeat it for several
    #[arg(long, value_name = "ID")]
    deny: Vec<String>,
    /// Changed data for the agent to continue with, as a JSON object
    #[arg(long, value_name = "JSON")]
    patch: Option<String>,
    /// A version you edited, for the agent to continue with: `art_…@VERSION`
    #[arg(long, value_name = "ARTIFACT")]
    edited: Option<String>,
    /// Skip the confirmation for requests that can't be undone or are critical; --json skips it too
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    terms: ChangeArgs,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl CheckpointResolveArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let params = self.params()?;
        let server = self.caller.connect(Some(TaskCallerRole::Person)).await?;
        if !self.is_sure(&server).await? {
            return Ok(Exit::Denied);
        }
        let resolved = change(&server, Operation::CheckpointResolve, params, self.terms).await?;
        let rejected = self.action == "reject";
        let what = if rejected { "is closed" } else { "continues" };
        let sentence = format!("{} {what}.", text(&resolved, "/task_id"));
        report(self.caller.remote.json, &resolved, &sentence)?;
        Ok(if rejected { Exit::Denied } else { Exit::Done })
    }

    /// Asks for confirmation, if the checkpoint and the decision need one.
    async fn is_sure(&self, server: &RemoteServer) -> anyhow::Result<bool> {
        let verdict = match self.action.as_str() {
            "approve" => "approved",
            "choose" => "chosen",
            "provide" => "provided",
            // The agent does not proceed after these.
            _ => return Ok(true),
        };
        if self.yes || self.caller.remote.json {
            return Ok(true);
        }
        let ask =
            server.client.show(&native_id(&self.checkpoint)).await.map_err(server.with_advice())?;
        confirm_if_needed(&ask, &json!({ "answer": { "verdict": verdict } }))
    }

    fn params(&self) -> anyhow::Result<Value> {
        let wants = match self.action.as_str() {
            "choose" => Some("choice"),
            "provide" => Some("input"),
            "reassign" => Some("reassign_to"),
            _ => None,
        };
        let value = match (wants, &self.value) {
            (Some(name), Some(value)) => Some((name, json!(value))),
            (None, None) => None,
            (Some(name), None) => bail!("{} requires a {name} after it", self.action),
            (None, Some(_)) => bail!("{} takes no value; use --comment for a comment", self.action),
        };
        let edited = match self.edited.as_deref().map(|edited| edited.split_once('@')) {
            Some(Some((id, version))) => json!({ "id": id, "version": version }),
            Some(None) => bail!("--edited: expected art_…@VERSION"),
            None => Value::Null,
        };
        let mut resolution = given_params([
            ("action", json!(self.action)),
            ("comment", json!(self.comment)),
            ("approved_actions", listed(&self.only)),
            ("denied_actions", listed(&self.deny)),
            ("state_patch", object("patch", self.patch.as_deref())?),
            ("edited_artifact_ref", edited),
        ]);
        if let Some((name, value)) = value {
            resolution[name] = value;
        }
        Ok(json!({ "ckpt_id": self.checkpoint, "resolution": resolution }))
    }
}

#[derive(Args)]
pub(super) struct CheckpointExpireArgs {
    /// The checkpoint
    checkpoint: String,
    #[command(flatten)]
    terms: ChangeArgs,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl CheckpointExpireArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Person)).await?;
        let params = json!({ "ckpt_id": self.checkpoint });
        let expired = change(&server, Operation::CheckpointExpire, params, self.terms).await?;
        report(
            self.caller.remote.json,
            &expired,
            &format!("{} is closed without a decision.", self.checkpoint),
        )?;
        Ok(Exit::Done)
    }
}

#[derive(Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "Examples:\n  \
    countersign tasks review task_… approved\n  \
    countersign tasks review task_… changes_requested --change \"Name the contributors\" \\\n    \
    --comment \"L12:major:this describes the previous release\"\n\n\
    Exits with 0 if you approved it, 1 if not.")]
pub(super) struct ReviewArgs {
    /// The task
    task: String,
    /// The verdict: approved, `changes_requested` or rejected
    #[arg(hide_possible_values = true, value_parser = NameParser(&["approved", "changes_requested", "rejected"]))]
    verdict: String,
    /// A required change; repeat it for several
    #[arg(long, value_name = "TEXT")]
    change: Vec<String>,
    /// A comment on a part: `ANCHOR:SEVERITY:TEXT`; repeat it for several
    #[arg(long, value_name = "REMARK", value_parser = remark)]
    comment: Vec<Value>,
    /// The artifact to review [default: the last delivery]
    #[arg(long, value_name = "ID")]
    artifact: Option<String>,
    /// The version to review
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// The kind of delivery: plan or deliverable
    #[arg(long, value_name = "KIND", hide_possible_values = true, value_parser = NameParser(&["plan", "deliverable"]))]
    kind: Option<String>,
    #[command(flatten)]
    terms: ChangeArgs,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

fn remark(text: &str) -> Result<Value, String> {
    let expected = "expected ANCHOR:SEVERITY:WORDS, with blocker, major, minor or nit";
    let parts: Vec<&str> = text.splitn(3, ':').collect();
    let [anchor, severity, body] = parts[..] else { return Err(expected.to_owned()) };
    if !["blocker", "major", "minor", "nit"].contains(&severity) {
        return Err(expected.to_owned());
    }
    let anchor = Some(anchor).filter(|anchor| !anchor.is_empty());
    Ok(json!({ "anchor": anchor, "severity": severity, "body": body }))
}

impl ReviewArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Person)).await?;
        let params = given_params([
            ("task_id", json!(self.task)),
            ("verdict", json!(self.verdict)),
            ("requested_changes", listed(&self.change)),
            ("comments", listed(&self.comment)),
            ("art_id", json!(self.artifact)),
            ("version", json!(self.version)),
            ("kind", json!(self.kind)),
        ]);
        let review = change(&server, Operation::ReviewSubmit, params, self.terms).await?;
        let (id, verdict) = (text(&review, "/id"), self.verdict.replace('_', " "));
        report(self.caller.remote.json, &review, &format!("{}: {verdict}, as {id}.", self.task))?;
        Ok(if self.verdict == "approved" { Exit::Done } else { Exit::Denied })
    }
}

#[derive(Args)]
pub(super) struct ReviewCommentArgs {
    /// The review
    review: String,
    /// The comment
    #[arg(value_name = "TEXT")]
    words: String,
    /// The part that it is about
    #[arg(long, value_name = "PLACE")]
    anchor: Option<String>,
    /// The severity: blocker, major, minor or nit
    #[arg(
        long, default_value = "minor", value_name = "SEVERITY", hide_possible_values = true,
        value_parser = NameParser(&["blocker", "major", "minor", "nit"]),
    )]
    severity: String,
    #[command(flatten)]
    terms: ChangeArgs,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl ReviewCommentArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(Some(TaskCallerRole::Person)).await?;
        let said = given_params([
            ("anchor", json!(self.anchor)),
            ("severity", json!(self.severity)),
            ("body", json!(self.words)),
        ]);
        let params = json!({ "review_id": self.review, "comment": said });
        let added = change(&server, Operation::ReviewComment, params, self.terms).await?;
        report(self.caller.remote.json, &added, &format!("Added to {}.", self.review))?;
        Ok(Exit::Done)
    }
}
