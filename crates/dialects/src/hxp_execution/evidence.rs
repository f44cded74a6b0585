//! `POST /hxp/v1/receipts/verify` and the `evidence_hash` of every receipt.
//! Section 4.2.
//!
//! The specification hashes `request_id + result + completed_at + server_secret`. A string result
//! is used as it is, any other as canonical JSON (RFC 8785, which for single values is plain
//! compact JSON). An absent result is an empty string: the string `null` may be an option, but an
//! empty string is never an answer. The upstream server puts colons between the parts and always
//! writes the result as JSON. That formula can be configured, and verification accepts both.
//!
//! The agent does not have the secret, so it asks the server to verify a hash.

use kernel::audit::canonical;
use kernel::{AskId, Time};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use super::PREFIX;
use super::errors::HxpWireError;
use super::parse::object;

/// How the parts of an evidence hash are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Formula {
    /// The formula of the specification: plain concatenation.
    #[default]
    Seed,
    /// The formula of the upstream server: the result as JSON, with colons between the parts.
    Upstream,
}

/// How receipts are sealed.
#[derive(Clone, Copy)]
pub struct Seal<'a> {
    /// The server's secret. It also generates the pseudonyms of pool members.
    pub secret: &'a [u8],
    /// The formula for new hashes.
    pub formula: Formula,
}

impl std::fmt::Debug for Seal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("formula", &self.formula).finish_non_exhaustive()
    }
}

impl Seal<'_> {
    /// The evidence hash of a receipt: 64 lower-case hex digits.
    pub fn evidence(&self, request_id: &str, result: &Value, completed_at: Time) -> String {
        hex::encode(digest(self.formula, request_id, result, completed_at, self.secret))
    }
}

/// Whether this secret sealed the receipt and the receipt is unchanged.
///
/// Accepts both formulas and compares in constant time. Ids and times must be in canonical form:
/// both have a fixed length, so no character can move from one part of the concatenation to
/// another.
pub fn verify(receipt: &Map<String, Value>, secret: &[u8]) -> bool {
    let text = |key| receipt.get(key).and_then(Value::as_str);
    let (Some(id), Some(at), Some(claimed)) =
        (text("request_id"), text("completed_at"), text("evidence_hash"))
    else {
        return false;
    };
    let Some(time) = at.parse::<Time>().ok().filter(|time| time.to_string() == at) else {
        return false;
    };
    if AskId::parse_with_prefix(PREFIX, id).is_none() {
        return false;
    }
    let result = receipt.get("result").unwrap_or(&Value::Null);
    let matches =
        [Formula::Seed, Formula::Upstream].into_iter().fold(Choice::from(0), |matches, formula| {
            let expected = hex::encode(digest(formula, id, result, time, secret));
            matches | expected.as_bytes().ct_eq(claimed.as_bytes())
        });
    matches.into()
}

/// The receipt in the body of a verify call: bare, or as `{"receipt": …}` like the response of
/// resolve.
pub fn parse_verify(bytes: &[u8]) -> Result<Map<String, Value>, HxpWireError> {
    let mut body = object(bytes)?;
    match body.remove("receipt") {
        None => Ok(body),
        Some(Value::Object(receipt)) => Ok(receipt),
        Some(_) => Err(HxpWireError::field(
            400,
            super::errors::code::INVALID_BODY,
            "receipt",
            "a receipt object",
        )),
    }
}

fn digest(
    formula: Formula,
    request_id: &str,
    result: &Value,
    completed_at: Time,
    secret: &[u8],
) -> [u8; 32] {
    let (result, between) = match (formula, result) {
        (Formula::Seed, Value::String(text)) => (text.clone().into_bytes(), ""),
        (Formula::Seed, Value::Null) => (Vec::new(), ""),
        (Formula::Seed, other) => (canonical(other), ""),
        (Formula::Upstream, any) => (canonical(any), ":"),
    };
    let mut hash = Sha256::new();
    hash.update(request_id);
    hash.update(between);
    hash.update(result);
    hash.update(between);
    hash.update(completed_at.to_string());
    hash.update(between);
    hash.update(secret);
    hash.finalize().into()
}
