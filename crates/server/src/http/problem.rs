//! Errors of the native API: RFC 9457 problem+json. Each code has a page that explains it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::audit::NoProof;
use gateway::auth::Denied;
use kernel::Refusal;
use kernel::question::AnswerError;
use serde::Serialize;
use store::StoreError;
use utoipa::ToSchema;

use crate::http::body::BodyError;
use crate::http::conditional_headers::BadHeader;
use crate::http::request_log;

macro_rules! pages {
    ($($code:literal),* $(,)?) => {
        /// Every code with its page, as in `docs/errors`.
        pub const PAGES: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../../../../docs/errors/", $code, ".md")))),*];
    };
}

pages![
    "already-answered",
    "already-cancelled",
    "answer-mismatch",
    "assurance-too-low",
    "changed",
    "default-forbidden",
    "erased",
    "exists",
    "idempotency-mismatch",
    "immutable",
    "internal",
    "invalid-envelope",
    "invalid-field",
    "invalid-json",
    "method-not-allowed",
    "no-deadline",
    "not-allowed",
    "not-due",
    "not-found",
    "not-inline",
    "not-over",
    "not-sealed",
    "past-deadline",
    "precondition-failed",
    "quota-exceeded",
    "rate-limited",
    "stale",
    "taken",
    "timed-out",
    "too-complex",
    "too-large",
    "too-many-streams",
    "too-slow",
    "unauthorized",
    "unavailable",
    "verification-failed",
    "verification-required",
    "wrong-host",
];

/// An error as the caller sees it. Internal details go to the log.
#[derive(Debug, Clone)]
pub struct ApiProblem {
    code: &'static str,
    status: u16,
    detail: String,
    errors: Vec<FieldProblem>,
    retry_after: Option<u64>,
}

/// An error: RFC 9457, field for field.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem, example = json!({
    "type": "/errors/invalid-field", "title": "invalid field", "status": 422,
    "detail": "until: expected a time after the current deadline",
    "errors": [{ "field": "until", "expected": "a time after the current deadline" }],
}))]
pub struct ProblemBody<'a> {
    /// The URL of the page that explains the code: `/errors/<code>`.
    #[serde(rename = "type")]
    kind: String,
    /// The code as words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// A sentence that says what is wrong.
    #[schema(value_type = String)]
    detail: &'a str,
    /// The invalid fields.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<FieldProblem>, required = false)]
    errors: &'a [FieldProblem],
}

/// An invalid field.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = FieldProblem)]
pub struct FieldProblem {
    /// The path of the field, or the name of the header or parameter.
    field: String,
    /// The kind of error, for the fields of a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The accepted values.
    expected: String,
}

impl ApiProblem {
    /// A problem with a status and the name of its page.
    pub fn new(status: u16, code: &'static str) -> Self {
        Self { code, status, detail: String::new(), errors: Vec::new(), retry_after: None }
    }

    /// Sets the sentence that says what happened.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds a wrong field with its expected value.
    #[must_use]
    pub fn field(mut self, field: &str, expected: &str) -> Self {
        let (field, expected) = (field.to_owned(), expected.to_owned());
        self.errors = vec![FieldProblem { field, code: None, expected }];
        self
    }

    /// The serialised form.
    pub(super) fn wire(&self) -> ProblemBody<'_> {
        ProblemBody {
            kind: format!("/errors/{}", self.code),
            title: self.code.replace('-', " "),
            status: self.status,
            detail: &self.detail,
            errors: &self.errors,
        }
    }

    /// Whether a retry may succeed without any other change.
    pub(crate) fn is_temporary(&self) -> bool {
        self.status == 503
    }

    /// Sets the seconds after which to retry.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut answer = (status, axum::Json(self.wire())).into_response();
        let headers = answer.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if self.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }
}

impl From<Refusal> for ApiProblem {
    fn from(refusal: Refusal) -> Self {
        let status = match &refusal {
            Refusal::NotFound { .. } => 404,
            Refusal::NotAllowed { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. }
            | Refusal::SilenceTooWeak { .. }
            | Refusal::NotInline
            | Refusal::VerificationRequired { .. }
            | Refusal::VerificationFailed { .. }
            | Refusal::DefaultForbidden => 403,
            Refusal::NotOver { .. }
            | Refusal::AlreadyAnswered { .. }
            | Refusal::AlreadyCancelled { .. }
            | Refusal::TakenBy { .. }
            | Refusal::BeingAnswered { .. }
            | Refusal::Exists { .. }
            | Refusal::IdempotencyMismatch
            | Refusal::NoDeadline
            | Refusal::Precondition { .. }
            | Refusal::Immutable { .. }
            | Refusal::Stale { .. }
            | Refusal::NotDue => 409,
            Refusal::PastDeadline { .. } => 408,
            Refusal::TimedOut { .. } => 410,
            Refusal::Changed { .. } => 412,
            Refusal::Answer(_)
            | Refusal::Invalid { .. }
            | Refusal::InvalidAt { .. }
            | Refusal::TooComplex { .. }
            | Refusal::Claims { .. } => 422,
            Refusal::Quota(_) => 429,
        };
        let problem = Self::new(status, refusal.code()).detail(refusal.to_string());
        match &refusal {
            Refusal::Invalid { field, expected } => problem.field(field, expected),
            Refusal::TooComplex { field, why } => problem.field(&format!("question.{field}"), why),
            Refusal::Quota(quota) => match quota.retry_after {
                Some(seconds) => problem.retry_after(seconds),
                None => problem,
            },
            Refusal::InvalidAt { field, expected } => problem.field(field, expected),
            Refusal::Claims { pointer, says } => problem.field(pointer, says),
            Refusal::Answer(AnswerError::BadEdit { place, expected }) => {
                problem.field(&format!("edits.{place}"), expected)
            }
            Refusal::Answer(AnswerError::WrongKind { expected }) => {
                problem.field("answer.verdict", expected)
            }
            Refusal::Answer(AnswerError::Fields(errors)) => {
                let one = |error: &kernel::form::FieldError| FieldProblem {
                    field: error.key.clone(),
                    code: Some(error.code.as_str()),
                    expected: error.message.clone(),
                };
                Self { errors: errors.iter().map(one).collect(), ..problem }
            }
            _ => problem,
        }
    }
}

impl From<StoreError> for ApiProblem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => refusal.into(),
            StoreError::Unavailable(source) => {
                request_log::note_unavailable(&source);
                Self::new(503, "unavailable")
                    .detail(
                        "the database is temporarily unavailable; try again, with the same \
                         Idempotency-Key if you sent one",
                    )
                    .retry_after(1)
            }
            StoreError::Damaged { what, source } => {
                tracing::error!(error = %source, what, "stored data is damaged and cannot be \
                     read; run countersign audit verify");
                Self::new(500, "internal").detail(
                    "internal error: stored data cannot be read; the server's log has the details",
                )
            }
        }
    }
}

impl From<NoProof> for ApiProblem {
    fn from(why: NoProof) -> Self {
        match why {
            NoProof::NotFound => Refusal::NotFound { what: "event" }.into(),
            NoProof::NotSealed => Self::new(409, "not-sealed")
                .detail("the block of this event is not sealed yet; try again later"),
            NoProof::Broken => {
                tracing::error!(
                    "a sealed block does not prove an event that it covers; run countersign audit \
                     verify"
                );
                Self::new(500, "internal").detail("the stored block does not prove this event")
            }
            NoProof::Store(error) => error.into(),
        }
    }
}

impl From<Denied> for ApiProblem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Missing => Self::new(401, "unauthorized")
                .detail("missing credential; send one as `Authorization: Bearer …`"),
            Denied::Unknown => Self::new(401, "unauthorized").detail(
                "this credential is unknown, expired, revoked, or not accepted by this path",
            ),
            Denied::TooFast(wait) => Self::new(429, "rate-limited")
                .detail(
                    "too many requests with this credential; retry after the seconds in \
                     Retry-After",
                )
                .retry_after(wait.as_secs().max(1)),
            Denied::TooManyStreams => Self::new(429, "too-many-streams")
                .detail("too many open streams with this credential; close one first")
                .retry_after(5),
            Denied::Unavailable => Self::new(503, "unavailable")
                .detail("the keys of this token's issuer cannot be fetched; try again later")
                .retry_after(5),
        }
    }
}

impl From<BadHeader> for ApiProblem {
    fn from(BadHeader { name, expected }: BadHeader) -> Self {
        Self::new(400, "invalid-field")
            .detail(format!("{name}: expected {expected}"))
            .field(name, expected)
    }
}

impl From<BodyError> for ApiProblem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => {
                Self::new(413, "too-large").detail("the body exceeds this server's size limit")
            }
            BodyError::BrokenOff => Self::new(400, "invalid-json").detail("the body is incomplete"),
            BodyError::TooSlow => {
                Self::new(408, "too-slow").detail("the body took too long to arrive")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page() {
        let refusals = [
            Refusal::NotFound { what: "request" },
            Refusal::NotAllowed { why: "x" },
            Refusal::Changed { version: 2 },
            Refusal::IdempotencyMismatch,
            Refusal::NoDeadline,
            Refusal::NotDue,
            Refusal::DefaultForbidden,
            Refusal::NotInline,
            Refusal::VerificationRequired { wants: String::new(), page: true },
            Refusal::VerificationFailed { why: String::new(), page: true },
            Refusal::Exists { what: "key" },
            Refusal::Answer(AnswerError::Empty),
            Refusal::Invalid { field: "a", expected: "b" },
            Refusal::Claims { pointer: String::new(), says: String::new() },
            Refusal::TooComplex { field: "form", why: String::new() },
            Refusal::Quota(kernel::quota::QuotaExceeded::new(
                kernel::quota::Metric::Uploads,
                kernel::quota::AccountKind::Person,
                1,
                kernel::Time::from_millis(0),
            )),
            Refusal::TimedOut { at: kernel::Time::from_millis(0) },
            Refusal::TakenBy { by: "mark".parse().unwrap() },
            Refusal::BeingAnswered { by: "mark".parse().unwrap() },
            Refusal::AlreadyAnswered {
                by: kernel::ActorRef::System,
                at: kernel::Time::from_millis(0),
            },
            Refusal::AlreadyCancelled {
                by: kernel::ActorRef::System,
                at: kernel::Time::from_millis(0),
            },
            Refusal::SilenceTooWeak { need: kernel::Assurance::Session },
            Refusal::ApprovalTooWeak {
                have: kernel::Assurance::AgentAttested,
                need: kernel::Assurance::Session,
            },
            Refusal::AssuranceTooLow {
                have: kernel::Assurance::Link,
                need: kernel::Assurance::Session,
            },
        ];
        for refusal in refusals {
            assert!(PAGES.iter().any(|(code, _)| *code == refusal.code()), "{}", refusal.code());
        }
        for (code, page) in PAGES {
            assert!(page.starts_with(&format!("# {code}\n")), "docs/errors/{code}.md");
        }
    }

    #[test]
    fn the_field_and_what_was_expected_are_named() {
        let problem = ApiProblem::from(Refusal::Invalid { field: "timeout", expected: "a number" });
        let shown = serde_json::to_value(problem.wire()).unwrap();
        assert_eq!(shown["type"], "/errors/invalid-field");
        assert_eq!(shown["errors"][0]["field"], "timeout");
        assert_eq!(shown["status"], 422);
    }
}
