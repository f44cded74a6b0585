//! Streams that begin with an envelope: one frame before the content, exactly one, and first.
//! Section 8.3. The specification names no wire format; these are ours, and each says so itself:
//! server-sent events of their own names, and lines of JSON.

use serde_json::{Map, Value, json};

/// The event that holds the envelope.
pub const EVENT: &str = "hxp";

/// The events that hold pieces of the content.
pub const CONTENT: &str = "content";

/// The event that ends it.
pub const DONE: &str = "done";

/// The prelude as one line: the first of a stream of lines, or the first frame of a WebSocket.
pub fn line(envelope: &Map<String, Value>) -> String {
    json!({ "hxp": envelope }).to_string()
}

/// The prelude as a server-sent event. JSON has no line breaks outside texts and escapes those
/// inside, so no field of an event can begin within.
pub fn event(envelope: &Map<String, Value>) -> String {
    format!("event: {EVENT}\ndata: {}\n\n", line(envelope))
}

/// The envelope of a first line, if it is a prelude. A stream without one is plain content.
pub fn read(first: &str) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut frame)) = serde_json::from_str(first) else { return None };
    match (frame.remove("hxp"), frame.is_empty()) {
        (Some(Value::Object(envelope)), true) => Some(envelope),
        _ => None,
    }
}

/// A stream as the one message it was: the prelude, and all that came after it.
pub fn joined<'a>(
    envelope: Map<String, Value>,
    pieces: impl IntoIterator<Item = &'a str>,
) -> Map<String, Value> {
    let content: String = pieces.into_iter().collect();
    Map::from_iter([
        ("hxp".to_owned(), Value::Object(envelope)),
        ("content".to_owned(), Value::String(content)),
    ])
}
