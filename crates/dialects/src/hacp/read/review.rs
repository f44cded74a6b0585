//! `review.submit`, `review.comment`. HACP-022, HACP-060, HACP-061; K-05, K-06.

use kernel::task::{Comment, NewReview, ReviewKind, Severity, TaskCommand, Verdict, Words};
use serde_json::Value;

use super::super::errors::HacpError;
use super::super::parse::Members;
use super::{Caller, Params, task_id};

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

pub(super) fn submit(params: Members<'_>, caller: Caller<'_>) -> Result<Params, HacpError> {
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
        words: Words {
            comments: params.each("comments", remark)?,
            requested_changes: params.texts("requested_changes")?.unwrap_or_default(),
        },
    };
    Ok(Params::command(TaskCommand::Review(task, Box::new(new))))
}

fn remark(comment: Members<'_>) -> Result<Comment, HacpError> {
    comment.only(&["anchor", "severity", "body"])?;
    Ok(Comment {
        anchor: comment.text("anchor")?.map(ToOwned::to_owned),
        severity: comment.required_word("severity", &SEVERITIES)?,
        body: comment.required("body")?.to_owned(),
    })
}

/// A comment is an object or a text. A text has minor severity and no anchor.
pub(super) fn comment(params: Members<'_>) -> Result<Params, HacpError> {
    params.only(&["task_id", "review_id", "comment"])?;
    let review = params.required_id("review_id", "review")?;
    let path = params.path("comment");
    let comment = match params.given("comment") {
        Some(Value::Object(comment)) => remark(Members::new(comment, &path))?,
        Some(Value::String(_)) => {
            let body = params.required("comment")?.to_owned();
            Comment { anchor: None, severity: Severity::Minor, body }
        }
        None | Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
            return Err(params.bad("comment", "a string, or an object with body and severity"));
        }
    };
    Ok(Params::Comment { task: params.id("task_id", "task")?, review, comment })
}
