//! A 202 response that requires a person. Sections 2 and 2.1 of the protocol.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{HitlError, Result};

/// A case as the service sent it. Its tokens are never printed.
#[derive(Clone)]
pub struct Case {
    /// The protocol version of the service.
    pub spec_version: String,
    pub case_id: String,
    /// The page where the person decides. Everyone who has this URL can decide, so send it only to
    /// that person.
    pub review_url: String,
    /// The question for the person.
    pub prompt: String,
    /// The service's text for the person, if it sent one beside the prompt.
    pub message: Option<String>,
    pub review_type: ReviewType,
    /// Details that belong to the prompt.
    pub context: Map<String, Value>,
    /// The service's data beside the case.
    pub data: Option<Value>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// What the agent does without an answer.
    pub default_action: String,
    /// When to remind the person.
    pub reminders: Vec<Timestamp>,
    /// The case that this one continues.
    pub previous_case_id: Option<String>,
    /// The only actions that may be submitted inline; `None` if the type determines them.
    pub inline_actions: Option<Vec<String>>,
    /// How long to wait before the first poll, if the service says so.
    pub retry_after: Option<Duration>,
    pub(super) poll_url: Url,
    pub(super) events_url: Option<Url>,
    pub(super) submit: Option<(Url, String)>,
}

/// The kind of decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewType {
    /// `approve`, `edit` or `reject`.
    Approval,
    /// `select`.
    Selection,
    /// `submit`. Custom types are treated like this.
    Input,
    /// `confirm` or `cancel`.
    Confirmation,
    /// `retry`, `skip` or `abort`.
    Escalation,
    /// A custom type of the service, treated as input (HITL-009).
    Custom(String),
}

impl ReviewType {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "approval" => Self::Approval,
            "selection" => Self::Selection,
            "input" => Self::Input,
            "confirmation" => Self::Confirmation,
            "escalation" => Self::Escalation,
            custom if custom.starts_with("x-") => Self::Custom(custom.to_owned()),
            _ => return None,
        })
    }

    /// How to treat the type: a custom type is an input.
    #[must_use]
    pub fn treated_as(&self) -> Self {
        match self {
            Self::Custom(_) => Self::Input,
            known => known.clone(),
        }
    }
}

impl Case {
    /// The case in a response. `None` if the service needs no person (another status, or a 202 for
    /// something else); an error if it does but the rest is invalid.
    pub fn recognise(status: u16, body: &Value) -> Result<Option<Self>> {
        let asks = body.get("status").and_then(Value::as_str) == Some("human_input_required");
        if status != 202 || !asks || body.get("hitl").is_none() {
            return Ok(None);
        }
        Self::read(body).map(Some)
    }

    /// Reads the whole response of a service and returns its case; respects `Retry-After`.
    pub async fn of(answer: reqwest::Response) -> Result<(Value, Option<Self>)> {
        let (status, url) = (answer.status().as_u16(), answer.url().clone());
        let retry_after = super::http_client::retry_after(answer.headers());
        let bytes =
            answer.bytes().await.map_err(|source| super::http_client::unreachable(&url, source))?;
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let mut case = Self::recognise(status, &body)?;
        if let Some(case) = &mut case {
            case.retry_after = retry_after;
        }
        Ok((body, case))
    }

    /// Reads a case from a stored body, regardless of its status.
    pub fn read(body: &Value) -> Result<Self> {
        let hitl = body.get("hitl").cloned().unwrap_or_default();
        let wire: CaseBody = serde_json::from_value(hitl)
            .map_err(|error| HitlError::Malformed(format!("the hitl object: {error}")))?;
        let review_type = ReviewType::named(&wire.kind)
            .ok_or_else(|| HitlError::Malformed(format!("{:?} is not a review type", wire.kind)))?;
        address(&wire.review_url)?;
        let events_url = wire.events_url.as_deref().map(address).transpose()?;
        let submit = match (wire.submit_url, wire.submit_token) {
            (Some(url), Some(token)) => Some((address(&url)?, token)),
            (None, None) => None,
            _ => {
                let said = "submit_url and submit_token must be present together";
                return Err(HitlError::Malformed(said.to_owned()));
            }
        };
        let text = |name: &str| {
            body.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
        };
        Ok(Self {
            spec_version: wire.spec_version,
            case_id: wire.case_id,
            poll_url: address(&wire.poll_url)?,
            review_url: wire.review_url,
            prompt: wire.prompt,
            message: text("message").map(str::to_owned),
            review_type,
            context: wire.context.unwrap_or_default(),
            data: body.get("data").cloned(),
            created_at: wire.created_at,
            expires_at: wire.expires_at,
            default_action: wire.default_action.unwrap_or_else(|| "skip".to_owned()),
            reminders: match wire.reminder_at {
                None => Vec::new(),
                Some(ReminderField::One(at)) => vec![at],
                Some(ReminderField::Many(times)) => times,
            },
            previous_case_id: wire.previous_case_id,
            inline_actions: wire.inline_actions,
            retry_after: None,
            events_url,
            submit,
        })
    }

    /// The text for the person: the message, otherwise the prompt.
    pub fn text(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.prompt)
    }

    /// Whether answers may be submitted inline.
    pub fn is_inline(&self) -> bool {
        self.submit.is_some()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("case_id", &self.case_id)
            .field("review_type", &self.review_type)
            .field("prompt", &self.prompt)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// A URL that may be called: https, or http on this machine (HITL-242).
fn address(text: &str) -> Result<Url> {
    let url =
        Url::parse(text).map_err(|_| HitlError::BadUrl("the URL that it names".to_owned()))?;
    let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1"));
    if url.scheme() == "https" || (url.scheme() == "http" && local) {
        return Ok(url);
    }
    Err(HitlError::BadUrl(super::http_client::without_tokens(&url)))
}

#[derive(Deserialize)]
struct CaseBody {
    spec_version: String,
    case_id: String,
    review_url: String,
    poll_url: String,
    events_url: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    prompt: String,
    created_at: Timestamp,
    expires_at: Timestamp,
    default_action: Option<String>,
    context: Option<Map<String, Value>>,
    reminder_at: Option<ReminderField>,
    previous_case_id: Option<String>,
    inline_actions: Option<Vec<String>>,
    submit_url: Option<String>,
    submit_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ReminderField {
    One(Timestamp),
    Many(Vec<Timestamp>),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body() -> Value {
        json!({
            "status": "human_input_required",
            "message": "Pick a job.",
            "hitl": {
                "spec_version": "0.7", "case_id": "review_1", "type": "selection", "prompt": "Which?",
                "review_url": "https://jobs.example/review/1?token=r",
                "poll_url": "https://jobs.example/reviews/1/status",
                "submit_url": "https://jobs.example/reviews/1/submit", "submit_token": "secret-of-the-bot",
                "created_at": "2026-02-06T10:00:00Z", "expires_at": "2026-02-07T10:00:00Z",
                "reminder_at": "2026-02-06T12:00:00Z", "new_in_0.9": true,
            },
        })
    }

    /// HITL-002, HITL-003.
    #[test]
    fn only_a_202_that_says_so_is_a_case() {
        assert!(Case::recognise(202, &body()).unwrap().is_some());
        assert!(Case::recognise(200, &body()).unwrap().is_none());
        assert!(Case::recognise(202, &json!({ "status": "queued" })).unwrap().is_none());
        assert!(
            Case::recognise(202, &json!({ "status": "human_input_required" })).unwrap().is_none()
        );
        assert!(Case::recognise(202, &Value::Null).unwrap().is_none());
    }

    #[test]
    fn defaults_and_what_is_told() {
        let case = Case::recognise(202, &body()).unwrap().unwrap();
        assert_eq!((case.text(), case.default_action.as_str()), ("Pick a job.", "skip"));
        assert_eq!(case.reminders.len(), 1);
        let mut bare = body();
        bare["message"] = json!(" ");
        bare["hitl"]["type"] = json!("x-acme-compare");
        let case = Case::read(&bare).unwrap();
        assert_eq!(case.text(), "Which?");
        assert_eq!(case.review_type.treated_as(), ReviewType::Input);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (field, value) in [
            ("type", json!("guess")),
            ("poll_url", json!("http://jobs.example/status")),
            ("review_url", json!("javascript:alert(1)")),
            ("expires_at", json!("tomorrow")),
            ("case_id", json!(7)),
            ("submit_token", Value::Null),
            ("events_url", json!("ftp://jobs.example")),
        ] {
            let mut wrong = body();
            wrong["hitl"][field] = value;
            let error = Case::recognise(202, &wrong).unwrap_err();
            assert!(matches!(error, HitlError::Malformed(_) | HitlError::BadUrl(_)), "{field}");
        }
    }

    #[test]
    fn tokens_are_not_printed() {
        let printed = format!("{:?}", Case::read(&body()).unwrap());
        assert!(!printed.contains("secret-of-the-bot") && !printed.contains("token"), "{printed}");
    }
}
