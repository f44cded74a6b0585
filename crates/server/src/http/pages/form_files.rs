//! Files in the forms of pages. A refused file is named beside its field with the reason, and
//! all other input is kept.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use gateway::answer_files;
use kernel::question::{Question, QuestionBody};
use kernel::quota::{Metric, QuotaExceeded};
use kernel::{Actor, Ask, Refusal, Time};
use views::SubmittedForm;
use views::answer_form::problem::{FormProblems, ProblemLocation};
use views::components::relative_time::RelativeTime;
use views::components::wording::{VisibleText, size};
use views::t;

use crate::http::uploads::AnswerUploads;

/// Files that were refused.
pub(super) struct RejectedFiles {
    /// The refused files, each with its reason.
    pub(super) problem: FormProblems,
    /// The status of the response: too large, or over a quota.
    pub(super) status: StatusCode,
    /// The seconds until a retry may succeed, if known.
    pub(super) wait: Option<u64>,
}

/// A file could not be stored because of an internal error, which is logged.
pub(super) struct FileNotStored;

impl AnswerUploads {
    /// Stores the files of a form. Refused files are removed from the form.
    pub(super) async fn store_files(
        &self,
        ask: &Ask,
        actor: &Actor,
        form: &mut SubmittedForm,
        files: Vec<Bytes>,
        too_large: &[String],
    ) -> Result<Option<RejectedFiles>, FileNotStored> {
        let mut problem = FormProblems::default();
        let (mut status, mut wait) = (StatusCode::PAYLOAD_TOO_LARGE, None);
        for name in too_large {
            let most = size(self.config.upload_limit as u64);
            let message = t!("problem-file-too-large", size = most);
            report_field_problem(&mut problem, ask, name, message);
        }
        for ((name, file), bytes) in std::mem::take(&mut form.files).into_iter().zip(files) {
            match self.answer_files.store(ask, actor, bytes).await {
                Ok(()) => form.files.push((name, file)),
                Err(answer_files::AnswerFileError::Refused(Refusal::Quota(exceeded))) => {
                    (status, wait) = (StatusCode::TOO_MANY_REQUESTS, exceeded.retry_after);
                    report_field_problem(
                        &mut problem,
                        ask,
                        &name,
                        quota_message(&exceeded, self.gateway.now()),
                    );
                }
                Err(_) => return Err(FileNotStored),
            }
        }
        Ok((!problem.problems.is_empty()).then_some(RejectedFiles { problem, status, wait }))
    }
}

/// The message for an exceeded quota: which quota it is, and what the person can do.
fn quota_message(exceeded: &QuotaExceeded, now: Time) -> String {
    let QuotaExceeded { metric, per, limit, resets_at, .. } = exceeded;
    let per = per.as_str();
    // Files count against these two quotas.
    let exceeded = match metric {
        Metric::StoredBytes => t!("problem-file-quota-bytes", limit = size(*limit), per = per),
        _ => t!("problem-file-quota-uploads", limit = *limit, per = per),
    };
    let then = match resets_at {
        Some(at) => t!("problem-file-quota-later", when = RelativeTime::new(*at, now).words),
        None => t!("problem-file-quota-ask"),
    };
    format!("{exceeded} {then}")
}

/// Reports the problem beside the field.
fn report_field_problem(problem: &mut FormProblems, ask: &Ask, name: &str, message: String) {
    let key = name.strip_prefix("field.").unwrap_or(name);
    let form = match ask.question.value().map(Question::body) {
        Some(QuestionBody::Provide { form }) => Some(form),
        _ => None,
    };
    let field = form.and_then(|form| form.fields().find(|field| field.key() == key));
    let label = field.map(|field| VisibleText::of(field.label()));
    problem.add(ProblemLocation::Field(key.to_owned()), label, message);
}

/// Adds `Retry-After` if the wait is known.
pub(super) fn with_retry_after(mut page: Response, wait: Option<u64>) -> Response {
    if let Some(seconds) = wait {
        page.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
    page
}
