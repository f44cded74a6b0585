//! Error bodies of every route: `{error, message, details?}`.
//! Section 5.3 and the codes the upstream server sends.

use kernel::form::FieldError;
use kernel::question::AnswerError;
use kernel::{ActorRef, Refusal};
use serde_json::{Value, json};

use super::wire::ErrorBody;
use crate::codes::codes;

/// An error of this dialect.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct HxpWireError {
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that names the expected value.
    pub message: String,
    /// The field, and the expected value.
    pub details: Option<Value>,
}

codes! {
    /// 400: the body is not JSON.
    INVALID_JSON = "invalid_json";
    /// 400: the body is JSON, but not an object.
    INVALID_BODY = "invalid_body";
    /// 400: `action` is invalid.
    INVALID_ACTION = "invalid_action";
    /// 400: `role` is invalid.
    INVALID_ROLE = "invalid_role";
    /// 400: `priority` is invalid.
    INVALID_PRIORITY = "invalid_priority";
    /// 400: `fallback` is invalid, or the project does not allow it.
    INVALID_FALLBACK = "invalid_fallback";
    /// 400: `timeout_seconds` is invalid.
    INVALID_TIMEOUT = "invalid_timeout";
    /// 400: `agent_id` is not a short text.
    INVALID_AGENT_ID = "invalid_agent_id";
    /// 400: `project_id` is not a short text.
    INVALID_PROJECT_ID = "invalid_project_id";
    /// 400: `metadata` is not an object, or its tags or group are invalid.
    INVALID_METADATA = "invalid_metadata";
    /// 400: a member of `payload` is invalid.
    INVALID_PAYLOAD = "invalid_payload";
    /// 400: `hxp` is no envelope, or the project does not accept it.
    INVALID_HXP = "invalid_hxp";
    /// 400: a delegation rule is invalid.
    INVALID_RULE = "invalid_rule";
    /// 400: a resolution has no result.
    MISSING_RESULT = "missing_result";
    /// 422: the result does not fit the question.
    INVALID_RESULT = "invalid_result";
    /// 422: a rejection has no reason.
    REASON_REQUIRED = "reason_required";
    /// 400: `limit` of a query is invalid.
    INVALID_LIMIT = "invalid_limit";
    /// 400: `status` of a query is invalid.
    INVALID_STATUS = "invalid_status";
    /// 400: `cursor` of a query is invalid.
    INVALID_CURSOR = "invalid_cursor";
    /// 401: the credential is missing or wrong.
    UNAUTHORIZED = "unauthorized";
    /// 403: the credential is valid but lacks permission.
    FORBIDDEN = "forbidden";
    /// 404: no such request or route.
    NOT_FOUND = "not_found";
    /// 405: the route has no such method.
    METHOD_NOT_ALLOWED = "method_not_allowed";
    /// 408: the request timed out.
    EXPIRED = "expired";
    /// 409: the request was already answered, cancelled or taken.
    CONFLICT = "conflict";
    /// 409: the idempotency key was used for another request.
    IDEMPOTENCY_CONFLICT = "idempotency_conflict";
    /// 413: the body is too large.
    TOO_LARGE = "too_large";
    /// 429: too many calls.
    RATE_LIMITED = "rate_limited";
    /// 500: an internal error.
    INTERNAL = "internal";
    /// 503: try again later.
    UNAVAILABLE = "unavailable";
}

impl HxpWireError {
    /// An error without details.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), details: None }
    }

    /// An error about one field.
    pub fn field(status: u16, code: &'static str, field: &str, expected: &str) -> Self {
        let details = Some(json!({"field": field, "expected": expected}));
        Self { status, code, message: format!("{field}: expected {expected}"), details }
    }

    /// The JSON body of the response.
    pub fn body(&self) -> ErrorBody {
        let error = self.code.to_owned();
        ErrorBody { error, message: self.message.clone(), details: self.details.clone() }
    }

    /// 401: the credential is missing or wrong, for agents and people alike.
    pub fn unauthorized() -> Self {
        Self::new(
            401,
            code::UNAUTHORIZED,
            "missing, unknown, expired or revoked credential; send a valid one as Authorization: \
             Bearer <credential>",
        )
    }

    /// 404: no route has this path.
    pub fn no_route() -> Self {
        Self::new(404, code::NOT_FOUND, "unknown path; check the URL")
    }

    /// 404: the request does not exist, or the caller may not see it.
    pub fn no_request() -> Self {
        Self::new(404, code::NOT_FOUND, "request not found")
    }

    /// 405: the route has no such method.
    pub fn method_not_allowed() -> Self {
        Self::new(405, code::METHOD_NOT_ALLOWED, "this path does not support this method")
    }

    /// 413: the body is too large.
    pub fn too_large() -> Self {
        Self::new(413, code::TOO_LARGE, "the body exceeds this server's size limit")
    }

    /// 429: too many calls.
    pub fn rate_limited() -> Self {
        Self::new(
            429,
            code::RATE_LIMITED,
            "too many requests with this credential; retry after the seconds in Retry-After; \
             retry after the seconds in Retry-After",
        )
    }

    /// 500: an internal error. The cause is in the log, not in the body.
    pub fn internal() -> Self {
        Self::new(500, code::INTERNAL, "internal error; the server's log has the details")
    }

    /// 503: try again later.
    pub fn unavailable() -> Self {
        Self::new(503, code::UNAVAILABLE, "the service is temporarily unavailable; try again")
    }

    /// Translates a refusal of the kernel. People of a pool are not named: pass whether the ask [is
    /// pooled](kernel::Ask::is_pooled).
    pub fn refused(refusal: &Refusal, pooled: bool) -> Self {
        match refusal {
            Refusal::NotFound { .. } => Self::new(404, code::NOT_FOUND, refusal.to_string()),
            Refusal::DefaultForbidden | Refusal::SilenceTooWeak { .. } => {
                Self::field(400, code::INVALID_FALLBACK, "fallback", "pause or fail")
                    .with_message(format!("fallback: {refusal}"))
            }
            Refusal::NotAllowed { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. }
            | Refusal::NotInline
            | Refusal::VerificationRequired { .. }
            | Refusal::VerificationFailed { .. } => {
                Self::new(403, code::FORBIDDEN, refusal.to_string())
            }
            Refusal::AlreadyAnswered { by, at } => {
                let message = match by {
                    ActorRef::Human(_)
                    | ActorRef::Agent(_)
                    | ActorRef::LinkHolder
                    | ActorRef::Relay
                    | ActorRef::Guest
                        if pooled =>
                    {
                        format!("already answered at {at}")
                    }
                    ActorRef::Human(_)
                    | ActorRef::Agent(_)
                    | ActorRef::LinkHolder
                    | ActorRef::Relay
                    | ActorRef::Guest => refusal.to_string(),
                    ActorRef::System => format!("the default was taken at {at}"),
                };
                Self::new(409, code::CONFLICT, message)
            }
            Refusal::AlreadyCancelled { at, .. } if pooled => {
                Self::new(409, code::CONFLICT, format!("cancelled at {at}"))
            }
            Refusal::TakenBy { .. } | Refusal::BeingAnswered { .. } if pooled => {
                Self::new(409, code::CONFLICT, "another person has claimed this request")
            }
            Refusal::AlreadyCancelled { .. }
            | Refusal::TakenBy { .. }
            | Refusal::BeingAnswered { .. }
            | Refusal::NotOver { .. }
            | Refusal::Exists { .. }
            | Refusal::Changed { .. }
            | Refusal::Precondition { .. }
            | Refusal::Immutable { .. }
            | Refusal::PastDeadline { .. }
            | Refusal::Stale { .. }
            | Refusal::NoDeadline
            | Refusal::NotDue => Self::new(409, code::CONFLICT, refusal.to_string()),
            Refusal::TimedOut { .. } => Self::new(408, code::EXPIRED, refusal.to_string()),
            Refusal::Answer(error) => Self::answer(error),
            Refusal::Invalid { field, expected } => {
                let code = match *field {
                    "timeout_seconds" => code::INVALID_TIMEOUT,
                    "metadata" | "tags" => code::INVALID_METADATA,
                    "rules" | "project_id" | "tag" => code::INVALID_RULE,
                    "hxp" => code::INVALID_HXP,
                    _ => code::INVALID_PAYLOAD,
                };
                Self::field(400, code, field, expected)
            }
            Refusal::TooComplex { .. } => {
                Self::new(400, code::INVALID_PAYLOAD, format!("payload.{refusal}"))
            }
            Refusal::Quota(quota) => {
                let details = json!({
                    "quota": quota.name(), "limit": quota.limit, "resets_at": quota.resets_at,
                });
                let error = Self::new(429, code::RATE_LIMITED, refusal.to_string());
                Self { details: Some(details), ..error }
            }
            Refusal::InvalidAt { field, expected } => {
                Self::field(400, code::INVALID_PAYLOAD, field, expected)
            }
            Refusal::Claims { pointer, .. } => {
                let details = json!({"field": pointer});
                let error = Self::new(400, code::INVALID_HXP, refusal.to_string());
                Self { details: Some(details), ..error }
            }
            Refusal::IdempotencyMismatch => {
                Self::new(409, code::IDEMPOTENCY_CONFLICT, refusal.to_string())
            }
        }
    }

    /// Translates the refusal of a cancel. An expired ask is a conflict here, because only an
    /// answer can be late.
    pub fn cancel_refused(refusal: &Refusal, pooled: bool) -> Self {
        match refusal {
            Refusal::TimedOut { .. } => Self::new(409, code::CONFLICT, refusal.to_string()),
            other => Self::refused(other, pooled),
        }
    }

    /// 422: the answer does not fit its question. `details.fields` names the fields.
    pub fn answer(error: &AnswerError) -> Self {
        let (field, why) = match error {
            AnswerError::ReasonRequired => {
                let expected = "a reason for the rejection";
                return Self::field(422, code::REASON_REQUIRED, "reason", expected)
                    .with_message(error.to_string());
            }
            AnswerError::Fields(errors) => return Self::fields(errors),
            AnswerError::UnknownOption => ("result", "not_an_option"),
            AnswerError::WrongCount { .. } => ("result", "wrong_count"),
            AnswerError::Empty => ("result", "required"),
            AnswerError::BadText { field: "comment", .. } => ("reason", "wrong_type"),
            AnswerError::WrongKind { .. }
            | AnswerError::NotEditable
            | AnswerError::BadEdit { .. }
            | AnswerError::BadText { .. } => ("result", "wrong_type"),
        };
        Self::result(field, why, &error.to_string())
    }

    /// 422 about one member of a resolution.
    pub(super) fn result(field: &str, why: &str, message: &str) -> Self {
        let details = json!({"fields": [{"field": field, "code": why, "message": message}]});
        let message = format!("{field}: {message}");
        Self { status: 422, code: code::INVALID_RESULT, message, details: Some(details) }
    }

    fn fields(errors: &[FieldError]) -> Self {
        let message: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let field = |error: &FieldError| json!({"field": error.key, "code": error.code.as_str(), "message": error.message});
        let fields: Vec<Value> = errors.iter().map(field).collect();
        Self {
            status: 422,
            code: code::INVALID_RESULT,
            message: message.join("; "),
            details: Some(json!({"fields": fields})),
        }
    }

    fn with_message(self, message: String) -> Self {
        Self { message, ..self }
    }
}
