//! Calls to Slack's Web API, in JSON. The token is sent in a header and nowhere else.

use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use url::Url;

use super::errors::{Whose, refused};
use crate::{DeliveryError, Secret};

/// The longest answer that is read.
const LONGEST: usize = 1024 * 1024;
/// The longest accepted `Retry-After`, in seconds.
const LONGEST_WAIT: u64 = 60 * 60;

/// The token of a call, and whose it is.
#[derive(Clone, Copy)]
pub(super) struct By<'a> {
    pub(super) whose: Whose,
    pub(super) token: &'a Secret,
}

/// Why a call failed, with Slack's error code.
pub(super) struct Refusal {
    pub(super) code: Option<String>,
    pub(super) failed: DeliveryError,
}

impl From<DeliveryError> for Refusal {
    fn from(failed: DeliveryError) -> Self {
        Self { code: None, failed }
    }
}

impl From<Refusal> for DeliveryError {
    fn from(refusal: Refusal) -> Self {
        refusal.failed
    }
}

impl Refusal {
    /// Whether it has one of these codes.
    pub(super) fn is(&self, codes: &[&str]) -> bool {
        self.code.as_deref().is_some_and(|code| codes.contains(&code))
    }
}

/// An answer, and the scopes of the token.
pub(super) struct Answer {
    pub(super) body: Value,
    pub(super) scopes: Option<String>,
}

/// Calls a method with a JSON body.
pub(super) async fn call(
    client: &Client,
    base: &Url,
    method: &str,
    body: &Value,
    by: By<'_>,
) -> Result<Answer, Refusal> {
    let request = client
        .post(address(base, method)?)
        .header("content-type", "application/json; charset=utf-8")
        .body(body.to_string());
    answered(request, method, by).await
}

/// Calls a method that takes a query and no JSON.
pub(super) async fn ask(
    client: &Client,
    base: &Url,
    method: &str,
    query: &[(&str, &str)],
    by: By<'_>,
) -> Result<Answer, Refusal> {
    answered(client.get(address(base, method)?).query(query), method, by).await
}

fn address(base: &Url, method: &str) -> Result<Url, DeliveryError> {
    base.join(method).map_err(|_| DeliveryError::never("the address of Slack's API is not one"))
}

async fn answered(
    request: reqwest::RequestBuilder,
    method: &str,
    by: By<'_>,
) -> Result<Answer, Refusal> {
    // A token that no header can carry would fail permanently.
    if by.token.reveal().is_empty() || !by.token.reveal().bytes().all(|b| b.is_ascii_graphic()) {
        return Err(refused(method, "not_authed", None, by.whose, None).into());
    }
    let response = request
        .bearer_auth(by.token.reveal())
        .send()
        .await
        .map_err(|error| unreachable(method, &error))?;
    let after = retry_after(&response);
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(
            DeliveryError::Later { why: "Slack asks to go slower".to_owned(), after }.into()
        );
    }
    if status.is_server_error() {
        let why = format!("Slack answers {method} with {status}");
        return Err(DeliveryError::Later { why, after }.into());
    }
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let scopes = header("x-oauth-scopes").map(str::to_owned);
    let body = read(response, method).await?;
    if body.get("ok").and_then(Value::as_bool) == Some(true) {
        return Ok(Answer { body, scopes });
    }
    match body.get("error").and_then(Value::as_str) {
        Some(error) => {
            let needed = body.get("needed").and_then(Value::as_str);
            let failed = refused(method, error, needed, by.whose, after);
            Err(Refusal { code: Some(error.to_owned()), failed })
        }
        // The answer is from a proxy, or not from Slack at all.
        None => {
            Err(DeliveryError::later(format!("{method} is answered with {status}, not by Slack"))
                .into())
        }
    }
}

async fn read(mut response: Response, method: &str) -> Result<Value, DeliveryError> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| unreachable(method, &error))? {
        bytes.extend_from_slice(&part);
        if bytes.len() > LONGEST {
            return Err(DeliveryError::later(format!("the answer to {method} does not end")));
        }
    }
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

/// The delay that Slack asks for.
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get("retry-after")?.to_str().ok()?;
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.min(LONGEST_WAIT)))
}

/// Why there was no answer, without the URL, which may be secret.
pub(super) fn unreachable(method: &str, error: &reqwest::Error) -> DeliveryError {
    let what = if error.is_timeout() {
        "does not answer in time"
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "broke off"
    };
    DeliveryError::later(format!("Slack {what} ({method})"))
}
