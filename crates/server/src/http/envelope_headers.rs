//! HXP eXperience envelopes outside the body: headers with a summary of the envelope, and streams
//! that begin with one. Sections 8.2 and 8.3 of the specification.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use dialects::hxp_experience::headers::{self, EnvelopeHeaders, NAMES};
use dialects::hxp_experience::{claims, prelude};
use kernel::Ask;
use kernel::ask::NewExperienceEnvelope;

/// Merges the envelope headers into a request's envelope. Without an envelope they are ignored.
pub fn apply(
    claims: Option<Box<NewExperienceEnvelope>>,
    headers: &HeaderMap,
) -> Option<Box<NewExperienceEnvelope>> {
    let claims = claims?;
    let known = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let hints = EnvelopeHeaders::read(known.filter(|(name, _)| NAMES.contains(name)));
    Some(if hints == EnvelopeHeaders::default() {
        claims
    } else {
        claims::with_headers(claims, &hints)
    })
}

/// Adds the headers that summarise the ask's envelope to a response about it.
pub fn write(ask: &Ask, answer: &mut HeaderMap) {
    let Some(view) = claims::view(ask) else { return };
    for (name, value) in headers::headers(&view) {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.insert(HeaderName::from_static(name), value);
        }
    }
}

/// The first frame of a server-sent event stream about one ask, if the ask has an envelope.
pub fn prelude_event(ask: &Ask) -> Option<String> {
    ask.envelope().map(prelude::event)
}

/// The same as the first message of a WebSocket.
pub fn prelude_line(ask: &Ask) -> Option<String> {
    ask.envelope().map(prelude::line)
}

/// Whether the query asks for a prelude, for streams whose clients expect none by default.
pub fn wants_prelude(pairs: &[(String, String)]) -> bool {
    let said = pairs.iter().rfind(|(name, _)| name == "prelude").map(|(_, value)| value.as_str());
    matches!(said, Some("1" | "true" | ""))
}
