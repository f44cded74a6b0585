//! `checkpoint.raise`, `checkpoint.resolve`, `checkpoint.expire`. HACP-050 to HACP-055; K-14, K-17.

use kernel::ask::{NewExperienceEnvelope, Priority};
use kernel::task::{
    AnchoredComment, CheckpointKind, CheckpointOption, Evidence, NewCheckpoint, NewResolution,
    NewReview, ProposedAction, ResolutionAction, ResolutionDetails, ReviewKind, ReviewText, Risk,
    Severity, TaskCommand, Verdict, VersionRef,
};
use serde_json::Value;

use super::super::super::hxp_experience::claims::{NotAnObject, read_envelope};
use super::super::errors::HacpError;
use super::super::names::{check_caller, find_agent};
use super::super::parse::Members;
use super::{HacpCaller, OperationParams, checkpoint_id, task_id};

const RISKS: [(&str, Risk); 3] =
    [("low", Risk::Low), ("medium", Risk::Medium), ("high", Risk::High)];

const KINDS: [(&str, CheckpointKind); 4] = [
    ("approval", CheckpointKind::Approval),
    ("choice", CheckpointKind::Choice),
    ("input", CheckpointKind::Input),
    ("escalation", CheckpointKind::Escalation),
];

const PRIORITIES: [(&str, Priority); 4] = [
    ("low", Priority::Low),
    ("normal", Priority::Normal),
    ("high", Priority::High),
    ("critical", Priority::Critical),
];

pub(super) fn raise(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    let first = ["task_id", "kind", "prompt", "options", "context", "expires_at"];
    caller.only(params, &first, &["proposed_actions", "priority", "hxp"])?;
    let task = task_id(params)?;
    // Only the principal interrupts, and only with `task.interrupt` (HACP-053).
    if params.present("kind").and_then(Value::as_str) == Some("interrupt") {
        return Err(params.bad(
            "kind",
            "approval, choice, input or escalation: only task.interrupt makes an interrupt",
        ));
    }
    let new = NewCheckpoint {
        kind: params.required_word("kind", &KINDS)?,
        prompt: params.required("prompt")?.to_owned(),
        options: params.each("options", option)?,
        context: params.each("context", evidence)?,
        proposed_actions: params.each("proposed_actions", proposed_action)?,
        expires_at: params.time("expires_at")?,
        priority: params.word("priority", &PRIORITIES)?.unwrap_or_default(),
        claims: claims(params)?,
    };
    Ok(OperationParams::command(TaskCommand::Raise(task, Box::new(new))))
}

fn option(option: Members<'_>) -> Result<CheckpointOption, HacpError> {
    option.only(&["id", "label", "risk"])?;
    Ok(CheckpointOption {
        id: option.required("id")?.to_owned(),
        label: option.required("label")?.to_owned(),
        risk: option.word("risk", &RISKS)?,
    })
}

/// The specification does not define evidence. This accepts a kind with an id or content.
fn evidence(shown: Members<'_>) -> Result<Evidence, HacpError> {
    shown.only(&["kind", "id", "version", "content"])?;
    if shown.present("id").is_none() && shown.present("content").is_none() {
        return Err(shown.bad("content", "an artifact to show, or its ID"));
    }
    Ok(Evidence {
        kind: shown.required("kind")?.to_owned(),
        id: shown.text("id")?.map(ToOwned::to_owned),
        version: shown.text("version")?.map(ToOwned::to_owned),
        content: shown.present("content").cloned(),
    })
}

fn proposed_action(action: Members<'_>) -> Result<ProposedAction, HacpError> {
    action.only(&["id", "kind", "summary", "detail", "risk", "permission_scope"])?;
    Ok(ProposedAction {
        id: action.required("id")?.to_owned(),
        kind: action.required("kind")?.to_owned(),
        summary: action.required("summary")?.to_owned(),
        detail: action.object("detail")?.cloned(),
        risk: action.word("risk", &RISKS)?,
        permission_scope: action.text("permission_scope")?.map(|scope| scope.trim().to_owned()),
    })
}

const ACTIONS: [(&str, ResolutionAction); 5] = [
    ("approve", ResolutionAction::Approve),
    ("reject", ResolutionAction::Reject),
    ("choose", ResolutionAction::Choose),
    ("provide", ResolutionAction::Provide),
    ("reassign", ResolutionAction::Reassign),
];

const RESOLUTION: [&str; 5] = ["action", "choice", "input", "reassign_to", "comment"];
const RESOLUTION_LATER: [&str; 4] =
    ["approved_actions", "denied_actions", "state_patch", "edited_artifact_ref"];

pub(super) fn resolve(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    let path = params.path("resolution");
    let said = if let Some(resolution) = params.object("resolution")? {
        params.only(&["ckpt_id", "resolution"])?;
        let resolution = Members::new(resolution, &path);
        caller.only(resolution, &[&RESOLUTION[..], &["by"]].concat(), &RESOLUTION_LATER)?;
        if let Some(name) = resolution.text("by")? {
            check_caller(caller.actor, &resolution.path("by"), name)?;
        }
        resolution
    } else {
        let first = [&["ckpt_id", "resolution"], &RESOLUTION[..]].concat();
        caller.only(params, &first, &RESOLUTION_LATER)?;
        params
    };
    let checkpoint = checkpoint_id(params)?;
    let new = resolution(said, caller)?;
    Ok(OperationParams::command(TaskCommand::Resolve(checkpoint, Box::new(new))))
}

fn resolution(said: Members<'_>, caller: HacpCaller<'_>) -> Result<NewResolution, HacpError> {
    let reassign_to = said.text("reassign_to")?.map(|name| {
        let missing = || HacpError::missing(&said.path("reassign_to"), "agent");
        find_agent(caller.directory, name).ok_or_else(missing)
    });
    Ok(NewResolution {
        action: said.required_word("action", &ACTIONS)?,
        reassign_to: reassign_to.transpose()?,
        details: ResolutionDetails {
            choice: said.text("choice")?.map(ToOwned::to_owned),
            input: said.present("input").map(input_text),
            comment: said.text("comment")?.map(ToOwned::to_owned),
            approved_actions: said.texts("approved_actions")?.unwrap_or_default(),
            denied_actions: said.texts("denied_actions")?.unwrap_or_default(),
            state_patch: said.object("state_patch")?.cloned(),
            edited_artifact_ref: edited(said)?,
        },
    })
}

/// An input is a text; a form is the text of its values.
fn input_text(input: &Value) -> String {
    input.as_str().map_or_else(|| input.to_string(), ToOwned::to_owned)
}

fn edited(said: Members<'_>) -> Result<Option<VersionRef>, HacpError> {
    let Some(artifact) = said.object("edited_artifact_ref")? else { return Ok(None) };
    let path = said.path("edited_artifact_ref");
    let artifact = Members::new(artifact, &path);
    artifact.only(&["id", "version"])?;
    let id = artifact.required_id("id", "artifact")?;
    Ok(Some(VersionRef { id, version: artifact.required("version")?.to_owned() }))
}

pub(super) fn expire(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["ckpt_id"])?;
    Ok(OperationParams::command(TaskCommand::Lapse(checkpoint_id(params)?)))
}

/// The agent's envelope for its message. Duplicate members were rejected before.
fn claims(params: Members<'_>) -> Result<Option<Box<NewExperienceEnvelope>>, HacpError> {
    let Some(envelope) = params.object("hxp")? else { return Ok(None) };
    let text = serde_json::to_vec(envelope).unwrap_or_default();
    read_envelope(&text, &[]).map_err(|NotAnObject| params.bad("hxp", NotAnObject::EXPECTED))
}

// `review.submit`, `review.comment`. HACP-022, HACP-060, HACP-061; K-05, K-06.

const VERDICTS: [(&str, Verdict); 3] = [
    ("approved", Verdict::Approved),
    ("changes_requested", Verdict::ChangesRequested),
    ("rejected", Verdict::Rejected),
];

const SEVERITIES: [(&str, Severity); 4] = [
    ("blocker", Severity::Blocker),
    ("major", Severity::Major),
    ("minor", Severity::Minor),
    ("nit", Severity::Nit),
];

pub(super) fn submit(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    let first = ["task_id", "art_id", "artifact_id", "verdict", "comments", "requested_changes"];
    caller.only(params, &first, &["version", "artifact_version", "kind"])?;
    let task = task_id(params)?;
    let artifact = params.either("art_id", "artifact_id")?;
    let version = params.either("version", "artifact_version")?;
    let kinds = [("plan", ReviewKind::Plan), ("deliverable", ReviewKind::Deliverable)];
    let new = NewReview {
        artifact: params.id(artifact, "artifact")?,
        version: params.text(version)?.map(ToOwned::to_owned),
        kind: params.word("kind", &kinds)?.unwrap_or_default(),
        verdict: params.required_word("verdict", &VERDICTS)?,
        text: ReviewText {
            comments: params.each("comments", remark)?,
            requested_changes: params.texts("requested_changes")?.unwrap_or_default(),
        },
    };
    Ok(OperationParams::command(TaskCommand::Review(task, Box::new(new))))
}

fn remark(comment: Members<'_>) -> Result<AnchoredComment, HacpError> {
    comment.only(&["anchor", "severity", "body"])?;
    Ok(AnchoredComment {
        anchor: comment.text("anchor")?.map(ToOwned::to_owned),
        severity: comment.required_word("severity", &SEVERITIES)?,
        body: comment.required("body")?.to_owned(),
    })
}

/// A comment is an object or a text. A text has minor severity and no anchor.
pub(super) fn comment(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "review_id", "comment"])?;
    let review = params.required_id("review_id", "review")?;
    let path = params.path("comment");
    let comment = match params.present("comment") {
        Some(Value::Object(comment)) => remark(Members::new(comment, &path))?,
        Some(Value::String(_)) => {
            let body = params.required("comment")?.to_owned();
            AnchoredComment { anchor: None, severity: Severity::Minor, body }
        }
        None | Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
            return Err(params.bad("comment", "a string, or an object with body and severity"));
        }
    };
    Ok(OperationParams::Comment { task: params.id("task_id", "task")?, review, comment })
}
