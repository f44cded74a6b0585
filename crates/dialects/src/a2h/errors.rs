//! Error bodies of every route: `{"detail": …, "error": {"message", "code"}}`. The hosted API sent
//! `detail`; its documentation promised `error` (A2H-013).

use kernel::Refusal;
use kernel::question::AnswerError;
use serde_json::{Value, json};

use crate::codes::codes;

/// The phrase that vendor interfaces search for when a second answer is refused (A2H-057).
pub const ANSWERED: &str = "call already has a response";

/// An error of this dialect.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct A2hWireError {
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that names the expected value.
    pub message: String,
    /// The path of the field in the body; empty for the whole body.
    field: Option<String>,
}

codes! {
    /// 422: not JSON.
    INVALID_JSON = "invalid_json";
    /// 422: a field is missing or wrong.
    INVALID_FIELD = "invalid_field";
    /// 401: the credential is missing or invalid.
    UNAUTHORIZED = "unauthorized";
    /// 403: the credential is valid but lacks permission.
    FORBIDDEN = "forbidden";
    /// 404: no such call, person or route.
    NOT_FOUND = "not_found";
    /// 405: the route has no such method.
    METHOD_NOT_ALLOWED = "method_not_allowed";
    /// 409: the call was answered before, expired or was withdrawn.
    ALREADY_RESPONDED = "already_responded";
    /// 409: the `call_id` belongs to a call with another spec.
    CALL_EXISTS = "call_exists";
    /// 409: the call's state does not allow this.
    CONFLICT = "conflict";
    /// 410: the text was erased.
    GONE = "gone";
    /// 413: the body is too large.
    TOO_LARGE = "too_large";
    /// 415: the body is not sent as JSON.
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type";
    /// 429: too many calls.
    RATE_LIMITED = "rate_limited";
    /// 500: an internal error.
    INTERNAL = "internal";
    /// 503: try again later.
    UNAVAILABLE = "unavailable";
}

impl A2hWireError {
    /// An error that is about no field.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), field: None }
    }

    /// 422: one field is invalid.
    pub fn field(field: &str, expected: &str) -> Self {
        let named = if field.is_empty() { "body" } else { field };
        Self::at(field, code::INVALID_FIELD, format!("{named}: expected {expected}"))
    }

    /// 422 at one field of the body.
    pub(super) fn at(field: &str, code: &'static str, message: String) -> Self {
        Self { status: 422, code, message, field: Some(field.to_owned()) }
    }

    /// The JSON body of the response.
    pub fn body(&self) -> Value {
        let detail = match &self.field {
            Some(field) => json!([{ "loc": place(field), "msg": self.message, "type": self.code }]),
            None => json!(self.message),
        };
        json!({ "detail": detail, "error": { "message": self.message, "code": self.code } })
    }

    /// The field that the error is about, if any.
    pub fn field_path(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// 401: the credential is missing or invalid.
    pub fn unauthorized() -> Self {
        Self::new(
            401,
            code::UNAUTHORIZED,
            "missing, unknown, expired or revoked key; send a valid key as Authorization: Bearer \
             <key>",
        )
    }

    /// 403: only an administrator may do this (A2H-127).
    pub fn admins_only() -> Self {
        Self::new(403, code::FORBIDDEN, "only an administrator can do this")
    }

    /// 403: this key may not pass on answers (A2H-044).
    pub fn no_respond_scope() -> Self {
        let message = "this key cannot pass on answers; use a key issued with `respond`, or let a \
                       person answer";
        Self::new(403, code::FORBIDDEN, message)
    }

    /// 403: this key may not bring its own Slack app (A2H-084).
    pub fn no_own_app_scope() -> Self {
        let message = "this key cannot use a `bot_token`; leave it out to use the server's Slack \
                       app, or ask an administrator for a key with `own_app`";
        Self::new(403, code::FORBIDDEN, message)
    }

    /// 404: the call does not exist, or the caller may not see it.
    pub fn no_call() -> Self {
        Self::new(404, code::NOT_FOUND, "call not found")
    }

    /// 404: the person does not exist, or the caller may not see them.
    pub fn no_human() -> Self {
        Self::new(404, code::NOT_FOUND, "human not found")
    }

    /// 404: the conversation does not exist, or is with another agent.
    pub fn no_conversation() -> Self {
        let message = "channel_id: conversation not found; expected the channel_id of a \
                       NewConversation";
        Self::new(404, code::NOT_FOUND, message)
    }

    /// 404: no route has this path.
    pub fn no_route() -> Self {
        Self::new(404, code::NOT_FOUND, "unknown path; check the URL")
    }

    /// 405: the route has no such method.
    pub fn method_not_allowed() -> Self {
        Self::new(405, code::METHOD_NOT_ALLOWED, "this path does not support this method")
    }

    /// 410: the text was erased.
    pub fn gone() -> Self {
        Self::new(410, code::GONE, "the text of this call was erased")
    }

    /// 413: the body is too large.
    pub fn too_large() -> Self {
        Self::new(413, code::TOO_LARGE, "the body exceeds this server's size limit")
    }

    /// 415: the body is not sent as JSON.
    pub fn not_sent_as_json() -> Self {
        let message = "unsupported Content-Type; send the body as application/json";
        Self::new(415, code::UNSUPPORTED_MEDIA_TYPE, message)
    }

    /// 429: too many calls.
    pub fn rate_limited() -> Self {
        Self::new(
            429,
            code::RATE_LIMITED,
            "too many requests; retry after the seconds in Retry-After",
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

    /// Translates a refusal of the kernel. It names no person: the agent may not know who answered
    /// for a pool.
    pub fn refused(refusal: &Refusal) -> Self {
        let over =
            |how: String| Self::new(409, code::ALREADY_RESPONDED, format!("{ANSWERED}: {how}"));
        match refusal {
            Refusal::NotFound { what: "person" } => Self::no_human(),
            Refusal::NotFound { what: "conversation" } => Self::no_conversation(),
            Refusal::NotFound { .. } => Self::no_call(),
            Refusal::AlreadyAnswered { at, .. } => over(format!("it was answered at {at}")),
            Refusal::AlreadyCancelled { at, .. } => over(format!("it was cancelled at {at}")),
            Refusal::TimedOut { at } => over(format!("it expired at {at}")),
            Refusal::NotAllowed { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. }
            | Refusal::NotInline
            | Refusal::VerificationRequired { .. }
            | Refusal::VerificationFailed { .. } => {
                Self::new(403, code::FORBIDDEN, refusal.to_string())
            }
            Refusal::Answer(error) => Self::answer(error),
            Refusal::Invalid { field, expected } => Self::field(wire_name(field), expected),
            Refusal::TooComplex { why, .. } => {
                Self::at("spec.response_schema", code::INVALID_FIELD, why.clone())
            }
            Refusal::Quota(_) => Self::new(429, code::RATE_LIMITED, refusal.to_string()),
            Refusal::InvalidAt { field, expected } => Self::field(field, expected),
            Refusal::Claims { pointer, says } => {
                let place = format!("spec.state{}", pointer.replace('/', "."));
                Self::at(&place, code::INVALID_FIELD, format!("/spec/state{pointer}: {says}"))
            }
            Refusal::IdempotencyMismatch => {
                let message = "this call_id was already used with a different spec";
                Self::new(409, code::CALL_EXISTS, message)
            }
            Refusal::TakenBy { .. } | Refusal::BeingAnswered { .. } => {
                Self::new(409, code::CONFLICT, "another person has claimed this request")
            }
            Refusal::NotOver { .. }
            | Refusal::Exists { .. }
            | Refusal::Changed { .. }
            | Refusal::Precondition { .. }
            | Refusal::Immutable { .. }
            | Refusal::PastDeadline { .. }
            | Refusal::Stale { .. }
            | Refusal::NoDeadline
            | Refusal::DefaultForbidden
            | Refusal::SilenceTooWeak { .. }
            | Refusal::NotDue => Self::new(409, code::CONFLICT, refusal.to_string()),
        }
    }

    /// 422: the answer does not fit the question.
    fn answer(error: &AnswerError) -> Self {
        let field = match error {
            AnswerError::UnknownOption | AnswerError::WrongCount { .. } => "response_option_name",
            AnswerError::ReasonRequired | AnswerError::BadText { field: "comment", .. } => {
                "comment"
            }
            AnswerError::Empty | AnswerError::Fields(_) => "response",
            AnswerError::WrongKind { .. }
            | AnswerError::NotEditable
            | AnswerError::BadEdit { .. }
            | AnswerError::BadText { .. } => "",
        };
        Self::at(field, code::INVALID_FIELD, error.to_string())
    }
}

/// The path of a field, as FastAPI writes it.
fn place(field: &str) -> Vec<Value> {
    let steps = field.split(['.', '[']).map(|step| step.trim_end_matches(']'));
    let step = |step: &str| step.parse::<u64>().map_or_else(|_| json!(step), |n| json!(n));
    let steps = steps.filter(|step| !step.is_empty()).map(step);
    [json!("body")].into_iter().chain(steps).collect()
}

/// Translates the kernel's field names to those of this protocol.
fn wire_name(field: &str) -> &str {
    match field {
        "route.human" => "spec.channel.human_id",
        "place" => "spec.channel",
        "prompt" => "spec",
        "details" => "spec.kwargs",
        "metadata" => "spec.state",
        "hxp" => "spec.state.hxp",
        "reject_options" => "spec.reject_options",
        "options" => "spec.response_options",
        "text" => "escalation_msg",
        "about.description" => "description",
        "contacts" => "prioritizedContactChannels",
        other => other,
    }
}
