//! Calls to any service. Credentials are sent only to their own origin.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde_json::Value;

use super::{HitlError, Result};

/// The timeout of a poll or a submit.
const CALL: Duration = Duration::from_secs(30);

/// An HTTP client, with a credential and its origin.
#[derive(Clone)]
pub(super) struct HitlHttpClient {
    http: reqwest::Client,
    /// The origin and the header value.
    authorization: Option<(String, HeaderValue)>,
}

impl HitlHttpClient {
    pub(super) fn new() -> Result<Self> {
        let http = reqwest::Client::builder()
            .user_agent(concat!("countersign-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10))
            // A redirect could send a token to another party.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|source| HitlError::Unreachable { url: "anybody".to_owned(), source })?;
        Ok(Self { http, authorization: None })
    }

    /// Sends `value` to the origin of `url`, and to no other.
    pub(super) fn authorize(&mut self, url: &str, value: &str) -> Result<()> {
        let url = Url::parse(url).map_err(|_| HitlError::BadUrl(url.to_owned()))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            HitlError::Invalid("the authorization is not a valid header".to_owned())
        })?;
        value.set_sensitive(true);
        self.authorization = Some((url.origin().ascii_serialization(), value));
        Ok(())
    }

    /// A GET, with the caller's credential if this is its origin.
    pub(super) fn get(&self, url: &Url) -> RequestBuilder {
        let request = self.http.get(url.clone());
        match &self.authorization {
            Some((origin, value)) if *origin == url.origin().ascii_serialization() => {
                request.header(header::AUTHORIZATION, value)
            }
            _ => request,
        }
    }

    /// A POST with its own token.
    pub(super) fn post(&self, url: &Url, token: &str, body: &Value) -> RequestBuilder {
        self.http.request(Method::POST, url.clone()).bearer_auth(token).json(body).timeout(CALL)
    }

    /// Sends a request with a timeout. Anything but success and 304 is an error.
    pub(super) async fn call(&self, url: &Url, request: RequestBuilder) -> Result<Response> {
        self.open(url, request.timeout(CALL)).await
    }

    /// Sends a request without a timeout, for a stream.
    pub(super) async fn open(&self, url: &Url, request: RequestBuilder) -> Result<Response> {
        let answer = request.send().await.map_err(|source| unreachable(url, source))?;
        if answer.status().is_success() || answer.status() == 304 {
            return Ok(answer);
        }
        Err(refused(answer).await)
    }
}

async fn refused(answer: Response) -> HitlError {
    let status = answer.status();
    let retry_after = retry_after(answer.headers());
    let bytes = answer.bytes().await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // Some frameworks wrap their errors in `detail`.
    let body = body.get("detail").filter(|inner| inner.is_object()).unwrap_or(&body);
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
    let (code, review_url) = (text("error").unwrap_or_default(), text("review_url"));
    let message = text("message")
        .unwrap_or_else(|| status.canonical_reason().unwrap_or("refused").to_owned());
    match (status.as_u16(), code.as_str()) {
        (403, "verification_required") => HitlError::VerificationRequired { message, review_url },
        (403, "verification_failed") => HitlError::VerificationFailed { message, review_url },
        (status, _) => HitlError::Refused { status, code, message, retry_after, review_url },
    }
}

/// How long to wait before the next call: seconds, or a date relative to the response's own date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let after = text(header::RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| Some(rfc2822::parse(text).ok()?.timestamp());
    let (until, now): (Timestamp, Timestamp) = (moment(after)?, moment(text(header::DATE)?)?);
    Some(super::clock::between(now, until))
}

pub(super) fn unreachable(url: &Url, source: reqwest::Error) -> HitlError {
    HitlError::Unreachable { url: without_tokens(url), source: source.without_url() }
}

/// A URL without its tokens.
pub(super) fn without_tokens(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_where_they_were_meant_to_go() {
        let mut wire = HitlHttpClient::new().unwrap();
        wire.authorize("https://jobs.example/api", "Bearer key").unwrap();
        let shown = |url: &str| {
            let request = wire.get(&Url::parse(url).unwrap()).build().unwrap();
            request.headers().contains_key(header::AUTHORIZATION)
        };
        assert!(shown("https://jobs.example/reviews/1/status"));
        for other in
            ["https://reviews.example/1", "https://jobs.example:8443/1", "http://jobs.example/1"]
        {
            assert!(!shown(other), "{other}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let after = |after: &str, date: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, after.parse().unwrap());
            if let Some(date) = date {
                headers.insert(header::DATE, date.parse().unwrap());
            }
            retry_after(&headers).map(|length| length.as_secs())
        };
        let now = Some("Fri, 06 Feb 2026 10:00:00 GMT");
        assert_eq!(after("30", None), Some(30));
        assert_eq!(after("Fri, 06 Feb 2026 10:02:00 GMT", now), Some(120));
        assert_eq!(after("Fri, 06 Feb 2026 09:00:00 GMT", now), Some(0));
        assert_eq!(after("soon", now), None);
        assert_eq!(after("-5", now), None);
    }
}
