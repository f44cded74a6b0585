//! Envelopes of HXP eXperience beside the body: headers that say the same in short, and streams that
//! begin with one. Sections 8.2 and 8.3 of its specification.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use dialects::hxp_experience::headers::{self, Hints, NAMES};
use dialects::hxp_experience::{claims, prelude};
use kernel::Ask;
use kernel::ask::NewClaims;

/// The envelope of a request with what its headers say; without one there is none.
pub fn apply(claims: Option<Box<NewClaims>>, headers: &HeaderMap) -> Option<Box<NewClaims>> {
    let claims = claims?;
    let known = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let hints = Hints::read(known.filter(|(name, _)| NAMES.contains(name)));
    Some(if hints == Hints::default() { claims } else { claims::heeding(claims, &hints) })
}

/// Says in the headers of an answer about one ask what its envelope says.
pub fn write(ask: &Ask, answer: &mut HeaderMap) {
    let Some(view) = claims::view(ask) else { return };
    for (name, value) in headers::headers(&view) {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.insert(HeaderName::from_static(name), value);
        }
    }
}

/// The frame a stream of server-sent events about one ask begins with, if it has an envelope.
pub fn prelude_event(ask: &Ask) -> Option<String> {
    ask.envelope().map(prelude::event)
}

/// The same as the first frame of a WebSocket.
pub fn prelude_line(ask: &Ask) -> Option<String> {
    ask.envelope().map(prelude::line)
}

/// Whether a query asks for a prelude, where a client does not expect one unasked.
pub fn wants_prelude(pairs: &[(String, String)]) -> bool {
    let said = pairs.iter().rfind(|(name, _)| name == "prelude").map(|(_, value)| value.as_str());
    matches!(said, Some("1" | "true" | ""))
}
