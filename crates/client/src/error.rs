//! Errors of the client.

use std::time::Duration;

use reqwest::{Response, StatusCode, Url};
use serde_json::{Map, Value};

/// A result with [`ClientError`] as the default error.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No API key is configured.
    #[error(
        "COUNTERSIGN_API_KEY is not set; `countersign serve` prints a key at its first start, and \
         `countersign keys create --agent NAME` issues more"
    )]
    NoKey,
    /// The URL is not valid.
    #[error("{0} is not an http or https URL")]
    BadUrl(String),
    /// The server could not be reached.
    #[error("cannot reach {url}")]
    Unreachable {
        /// The URL of the call.
        url: String,
        #[source]
        source: reqwest::Error,
    },
    /// The server refused.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The name of the problem, such as `invalid-field`; empty if it has none.
        code: String,
        /// The server's message.
        message: String,
        /// When to try again, if the server names a time.
        retry_after: Option<Duration>,
        /// Further details, if an operation on a task was refused.
        details: Box<Details>,
    },
    /// The response could not be parsed.
    #[error("the server's response cannot be parsed")]
    Garbled(#[source] serde_json::Error),
    /// The server, or a proxy before it, provides no stream.
    #[error("there is no event stream at this URL")]
    NoStream,
    /// The answer does not belong to this kind of question.
    #[error("the answer {0} does not fit this kind of question")]
    Unexpected(String),
    /// There was no answer within the time to wait. The ask is still open.
    #[error("there is no answer to {ask} yet")]
    StillOpen {
        /// The id of the ask.
        ask: String,
    },
}

/// Details of a refused operation on a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details {
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Details by name, such as the invalid field or the task's current revision.
    pub known: Map<String, Value>,
    pub task: Option<String>,
}

impl Details {
    /// Reads the `error` object of HACP.
    fn of(error: &Value) -> Self {
        Self {
            retryable: error.get("retryable").and_then(Value::as_bool).unwrap_or_default(),
            known: error.get("details").and_then(Value::as_object).cloned().unwrap_or_default(),
            task: error.get("correlation_id").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

impl ClientError {
    /// Whether the same call may succeed soon.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 429 | 502..=504),
            Self::NoKey
            | Self::BadUrl(_)
            | Self::Garbled(_)
            | Self::NoStream
            | Self::Unexpected(_)
            | Self::StillOpen { .. } => false,
        }
    }

    /// The error for a response that is not a success.
    pub(crate) async fn refused(answer: Response) -> Self {
        let status = answer.status();
        let seconds = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = seconds.and_then(|text| text.parse().ok()).map(Duration::from_secs);
        let url = answer.url().clone();
        let body: Value = match answer.bytes().await {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(_) => Value::Null,
        };
        Self::from_body(status, &url, &body, retry_after)
    }

    /// The error for a status and a body.
    fn from_body(
        status: StatusCode,
        url: &Url,
        body: &Value,
        retry_after: Option<Duration>,
    ) -> Self {
        // HACP puts everything into one object.
        if let Some(error @ Value::Object(_)) = body.get("error") {
            let said = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
            let (code, message) = (said("code").to_owned(), said("message").to_owned());
            let details = Box::new(Details::of(error));
            return Self::Refused { status: status.as_u16(), code, message, retry_after, details };
        }
        // Our own API sends `type` and `detail`; HXP Execution and HITL send `error` or `code`, and
        // `message`.
        let text =
            |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let code = text("type").map(|page| page.rsplit('/').next().unwrap_or(page));
        let short = text("error").filter(|_| text("message").is_some());
        let code = code.or_else(|| text("code")).or(short).unwrap_or_default().to_owned();
        let is_ours = text("type").is_some_and(|page| page.starts_with("/errors/"))
            || (text("error").is_some() && text("message").is_some());
        let message = if status == StatusCode::NOT_FOUND && !is_ours {
            // This 404 does not mean that the ask is missing, but that no Countersign API is at
            // this URL.
            format!("no Countersign API at {url}; check COUNTERSIGN_URL")
        } else {
            let message = text("detail").or_else(|| text("message"));
            message.map_or_else(|| status.to_string(), str::to_owned)
        };
        let details = Box::default();
        Self::Refused { status: status.as_u16(), code, message, retry_after, details }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(status: StatusCode, body: &Value) -> String {
        let url = Url::parse("http://host/base/api/v1/asks").unwrap();
        ClientError::from_body(status, &url, body, None).to_string()
    }

    #[test]
    fn a_404_of_somebody_else_says_that_the_address_is_wrong() {
        for body in
            [Value::Null, json!({ "detail": "Not Found" }), json!({ "type": "about:blank" })]
        {
            let said = told(StatusCode::NOT_FOUND, &body);
            let wrong = "no Countersign API at http://host/base/api/v1/asks";
            assert_eq!(said, format!("{wrong}; check COUNTERSIGN_URL"), "{body}");
        }
    }

    #[test]
    fn what_the_server_says_is_told() {
        let native = json!({ "type": "/errors/not-found", "detail": "there is no such ask" });
        assert_eq!(told(StatusCode::NOT_FOUND, &native), "there is no such ask");
        let hxp = json!({ "error": "not_found", "message": "request not found" });
        assert_eq!(told(StatusCode::NOT_FOUND, &hxp), "request not found");
        assert_eq!(told(StatusCode::BAD_GATEWAY, &Value::Null), "502 Bad Gateway");
    }

    #[test]
    fn a_refused_operation_keeps_its_code_its_details_and_whether_to_retry() {
        let url = Url::parse("http://host/hacp/v1/ops/task.start").unwrap();
        let error = json!({
            "code": "CONFLICT", "message": "changed", "details": { "task_revision": 4 },
            "retryable": true, "correlation_id": "task_1",
        });
        let body = json!({ "error": error });
        let told = ClientError::from_body(StatusCode::CONFLICT, &url, &body, None);
        let ClientError::Refused { code, message, details, .. } = told else { panic!("{told:?}") };
        assert_eq!((code.as_str(), message.as_str()), ("CONFLICT", "changed"));
        let Details { retryable, known, task } = *details;
        assert_eq!((retryable, known["task_revision"].as_u64()), (true, Some(4)));
        assert_eq!(task.as_deref(), Some("task_1"));
    }
}
