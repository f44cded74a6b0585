//! Streams that start with an envelope: exactly one frame before the content. Section 8.3. The
//! specification defines no wire format; these two are our own: named server-sent events, and JSON
//! lines.

use serde_json::{Map, Value, json};

/// The event that holds the envelope.
pub const EVENT: &str = "hxp";

/// The events that hold pieces of the content.
pub const CONTENT: &str = "content";

/// The event that ends the stream.
pub const DONE: &str = "done";

/// The prelude as one line: the first of a stream of lines, or the first frame of a WebSocket.
pub fn line(envelope: &Map<String, Value>) -> String {
    json!({ "hxp": envelope }).to_string()
}

/// The prelude as a server-sent event. Compact JSON has no line breaks outside strings and escapes
/// those inside, so the data cannot start another field.
pub fn event(envelope: &Map<String, Value>) -> String {
    format!("event: {EVENT}\ndata: {}\n\n", line(envelope))
}

/// The envelope of a first line, if it is a prelude. A stream without a prelude is plain content.
pub fn read(first: &str) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut frame)) = serde_json::from_str(first) else { return None };
    match (frame.remove("hxp"), frame.is_empty()) {
        (Some(Value::Object(envelope)), true) => Some(envelope),
        _ => None,
    }
}

/// A stream as one message: the prelude and all content after it.
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
