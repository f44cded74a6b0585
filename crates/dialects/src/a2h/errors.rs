//! Error bodies of every route: `{"detail": …, "error": {"message", "code"}}`. The first is what the
//! hosted API sent, the second what its documents promised (A2H-013).

use kernel::Refusal;
use kernel::question::AnswerError;
use serde_json::{Value, json};

use crate::codes::codes;

/// What vendor interfaces look for in the refusal of a second answer (A2H-057).
pub const ANSWERED: &str = "call already has a response";

/// Why a call was refused, as this dialect says it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct WireError {
    /// The HTTP status.
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that says what was expected.
    pub message: String,
    /// What it is about, in the body; the whole of it if empty.
    field: Option<String>,
}

codes! {
    /// 422: not JSON.
    INVALID_JSON = "invalid_json";
    /// 422: a field is missing or wrong.
    INVALID_FIELD = "invalid_field";
    /// 401: no credential, or not a good one.
    UNAUTHORIZED = "unauthorized";
    /// 403: known, but not allowed.
    FORBIDDEN = "forbidden";
    /// 404: no such call, person or route.
    NOT_FOUND = "not_found";
    /// 405: the route has no such method.
    METHOD_NOT_ALLOWED = "method_not_allowed";
    /// 409: somebody answered before, it ran out or was withdrawn.
    ALREADY_RESPONDED = "already_responded";
    /// 409: the `call_id` belongs to a call with another spec.
    CALL_EXISTS = "call_exists";
    /// 409: it is in a state in which this cannot be done.
    CONFLICT = "conflict";
    /// 410: its words were erased.
    GONE = "gone";
    /// 413: the body is too large.
    TOO_LARGE = "too_large";
    /// 415: the body is not sent as JSON.
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type";
    /// 429: too many calls.
    RATE_LIMITED = "rate_limited";
    /// 500: our fault.
    INTERNAL = "internal";
    /// 503: try again later.
    UNAVAILABLE = "unavailable";
}

impl WireError {
    /// An error that is its sentence.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), field: None }
    }

    /// 422 about one field.
    pub fn field(field: &str, expected: &str) -> Self {
        let named = if field.is_empty() { "body" } else { field };
        Self::at(field, code::INVALID_FIELD, format!("{named}: expected {expected}"))
    }

    /// 422 at one place of the body.
    pub(super) fn at(field: &str, code: &'static str, message: String) -> Self {
        Self { status: 422, code, message, field: Some(field.to_owned()) }
    }

    /// The JSON that is sent.
    pub fn body(&self) -> Value {
        let detail = match &self.field {
            Some(field) => json!([{ "loc": place(field), "msg": self.message, "type": self.code }]),
            None => json!(self.message),
        };
        json!({ "detail": detail, "error": { "message": self.message, "code": self.code } })
    }

    /// The field it is about, if it is about one.
    pub fn about(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// 401.
    pub fn unauthorized() -> Self {
        Self::new(401, code::UNAUTHORIZED, "a valid key is needed: Authorization: Bearer <key>")
    }

    /// 403: an agent where only an administrator may be (A2H-127).
    pub fn admins_only() -> Self {
        Self::new(403, code::FORBIDDEN, "only an administrator can do this")
    }

    /// 403: a key that may not pass on answers (A2H-044).
    pub fn no_respond_scope() -> Self {
        let message =
            "this key may not pass on answers; people answer, or a key issued with `respond`";
        Self::new(403, code::FORBIDDEN, message)
    }

    /// 403 for a key that may not bring an app of its own (A2H-084).
    pub fn no_own_app_scope() -> Self {
        let message = "this key may not bring a `bot_token`: leave it out and the server's own app \
                       speaks, or have an administrator issue a key with `own_app`";
        Self::new(403, code::FORBIDDEN, message)
    }

    /// 404 for a call that is not there, or not for the caller.
    pub fn no_call() -> Self {
        Self::new(404, code::NOT_FOUND, "there is no such call")
    }

    /// 404 for a person who is not there, or not for the caller.
    pub fn no_human() -> Self {
        Self::new(404, code::NOT_FOUND, "there is no such human")
    }

    /// 404 for a conversation nobody began, or not with the caller.
    pub fn no_conversation() -> Self {
        let message = "channel_id: there is no such conversation; expected the channel_id of a \
                       NewConversation";
        Self::new(404, code::NOT_FOUND, message)
    }

    /// 404 for a path that leads nowhere.
    pub fn no_route() -> Self {
        Self::new(404, code::NOT_FOUND, "there is nothing at this path")
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::new(405, code::METHOD_NOT_ALLOWED, "this path has no such method")
    }

    /// 410.
    pub fn gone() -> Self {
        Self::new(410, code::GONE, "the words of this call were erased")
    }

    /// 413.
    pub fn too_large() -> Self {
        Self::new(413, code::TOO_LARGE, "the body is too large")
    }

    /// 415.
    pub fn not_sent_as_json() -> Self {
        let message = "the body must be sent as application/json";
        Self::new(415, code::UNSUPPORTED_MEDIA_TYPE, message)
    }

    /// 429.
    pub fn rate_limited() -> Self {
        Self::new(429, code::RATE_LIMITED, "too many calls, wait a little")
    }

    /// 500. What went wrong is in the log, not in the body.
    pub fn internal() -> Self {
        Self::new(500, code::INTERNAL, "something went wrong here, and it was noted")
    }

    /// 503.
    pub fn unavailable() -> Self {
        Self::new(503, code::UNAVAILABLE, "the service cannot answer now, try again")
    }

    /// What the kernel refused. Nobody is named: whoever answered a pool is not told.
    pub fn refused(refusal: &Refusal) -> Self {
        let over =
            |how: String| Self::new(409, code::ALREADY_RESPONDED, format!("{ANSWERED}: {how}"));
        match refusal {
            Refusal::NotFound { what: "person" } => Self::no_human(),
            Refusal::NotFound { what: "conversation" } => Self::no_conversation(),
            Refusal::NotFound { .. } => Self::no_call(),
            Refusal::AlreadyAnswered { at, .. } => over(format!("it was answered at {at}")),
            Refusal::AlreadyCancelled { at, .. } => over(format!("it was cancelled at {at}")),
            Refusal::TimedOut { at } => over(format!("nobody answered until {at}")),
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
                let message = "this call_id belongs to a call with another spec";
                Self::new(409, code::CALL_EXISTS, message)
            }
            Refusal::TakenBy { .. } | Refusal::BeingAnswered { .. } => {
                Self::new(409, code::CONFLICT, "somebody has taken this on")
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

    /// 422: an answer that does not answer the question.
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

/// The kernel's names of fields under those of this protocol.
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
