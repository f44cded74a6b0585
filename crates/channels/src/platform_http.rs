//! How HTTP calls to platforms fail, for all channels.

use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::Value;
use url::Url;

use crate::DeliveryError;

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: usize = 1 << 20;

/// The answer of a platform.
pub(crate) struct PlatformResponse {
    pub(crate) status: StatusCode,
    /// The delay that the platform asked for before the next call.
    pub(crate) after: Option<Duration>,
    /// Null if the body is not JSON.
    pub(crate) body: Value,
}

/// Reads an answer. The error says why there is none.
pub(crate) async fn read_response(
    platform: &str,
    sent: Result<Response, reqwest::Error>,
) -> Result<PlatformResponse, DeliveryError> {
    let mut response = sent.map_err(|error| connection_error(platform, &error))?;
    let status = response.status();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let after = header("retry-after").and_then(|after| retry_delay(after, header("date")));
    let mut bytes = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| connection_error(platform, &error))?
    {
        if bytes.len() + chunk.len() > LONGEST_ANSWER {
            return Err(DeliveryError::later(format!(
                "the response of {platform} exceeds the size limit"
            )));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(PlatformResponse { status, after, body: serde_json::from_slice(&bytes).unwrap_or_default() })
}

/// The delay of a `Retry-After` header. If it is a date, the delay counts from the `Date` of the
/// answer, because clocks differ.
fn retry_delay(after: &str, date: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = after.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| jiff::fmt::rfc2822::parse(text.trim()).ok().map(|at| at.timestamp());
    moment(after)?.duration_since(moment(date?)?).try_into().ok()
}

/// Why there was no answer. Leaves out the URL, which may contain a token.
fn connection_error(platform: &str, error: &reqwest::Error) -> DeliveryError {
    let what = if error.is_timeout() {
        "did not respond in time"
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "closed the connection"
    };
    DeliveryError::later(format!("{platform} {what}"))
}

impl PlatformResponse {
    /// The error if the cause is load or an outage of the platform, judged by the status alone.
    pub(crate) fn temporary_error(&self, platform: &str) -> Option<DeliveryError> {
        let what = match self.status.as_u16() {
            429 => "limits the rate of messages".to_owned(),
            408 | 425 | 500.. => format!("reported an internal error ({})", self.status.as_u16()),
            _ => return None,
        };
        Some(DeliveryError::Later { why: format!("{platform} {what}"), after: self.after })
    }
}

/// A URL below another one, whose path is kept.
pub(crate) fn join_path(base: &Url, path: &str) -> String {
    format!("{}/{path}", base.as_str().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_as_long_as_was_said() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let cases = [
            ("17", None, Some(17)),
            (" 0 ", date, Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", date, Some(30)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", date, None),
            ("Sun, 06 Nov 1994 08:50:07 GMT", None, None),
            ("soon", date, None),
            ("-1", date, None),
        ];
        for (after, date, seconds) in cases {
            assert_eq!(retry_delay(after, date), seconds.map(Duration::from_secs), "{after}");
        }
    }

    #[test]
    fn below_an_address_its_path_is_kept() {
        for base in ["https://x.example", "https://x.example/"] {
            assert_eq!(join_path(&base.parse().unwrap(), "a/b"), "https://x.example/a/b");
        }
        assert_eq!(
            join_path(&"https://x.example/v1/".parse().unwrap(), "a"),
            "https://x.example/v1/a"
        );
    }
}
