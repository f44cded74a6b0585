//! The blocks of Block Kit that messages and sheets are made of, and what Slack takes of each. Everything
//! is plain text: what an agent wrote stands in sections, what we say in headers and context, which an
//! agent's words never get into.

use serde_json::{Value, json};

use super::text::{beginning, escape, length, pieces};

/// Most blocks in a message.
pub(super) const BLOCKS: usize = 50;
/// Most characters in the text of a section.
pub(super) const SECTION: usize = 3000;
/// Most characters in a header.
const HEADER: usize = 150;
/// Most characters in one field of a section, and most fields.
const FIELD: usize = 2000;
const FIELDS: usize = 10;
/// Most characters on a button, or in an option of a menu.
pub(super) const LABEL: usize = 75;
/// Most options in a menu.
pub(super) const OPTIONS: usize = 100;
/// How much of a line of ours is shown; it is never more.
pub(super) const LINE: usize = 500;

/// Text as it is, without even making pictures of `:names:`.
pub(super) fn plain(sent: impl Into<String>) -> Value {
    json!({ "type": "plain_text", "text": sent.into(), "emoji": false })
}

/// What it is all about, in our words.
pub(super) fn header(words: &str) -> Value {
    let sent = escape(words);
    if sent.trim().is_empty() || length(&sent) > HEADER {
        return line(words);
    }
    json!({ "type": "header", "text": plain(sent) })
}

/// A line of ours, small.
pub(super) fn line(words: &str) -> Value {
    let sent = beginning(words, LINE);
    let sent = if sent.trim().is_empty() { "…".to_owned() } else { sent };
    json!({ "type": "context", "elements": [plain(sent)] })
}

/// Somebody's words, whole, in as many sections as they need.
pub(super) fn sections(words: &str) -> impl Iterator<Item = Value> {
    pieces(words, SECTION).into_iter().map(section)
}

/// One section, of words that are escaped already.
pub(super) fn section(sent: String) -> Value {
    json!({ "type": "section", "text": plain(sent) })
}

/// Names beside values. What is too long to stand in a column stands below its name.
pub(super) fn table<'a>(facts: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut fields = Vec::new();
    for (name, value) in facts {
        let (short_name, short_value) = (escape(name), escape(value));
        if length(&short_name) <= FIELD && length(&short_value) <= FIELD {
            fields.extend([short_name, short_value].map(|sent| plain(or_dash(sent))));
            if fields.len() == FIELDS {
                blocks.push(json!({ "type": "section", "fields": std::mem::take(&mut fields) }));
            }
            continue;
        }
        if !fields.is_empty() {
            blocks.push(json!({ "type": "section", "fields": std::mem::take(&mut fields) }));
        }
        blocks.extend(sections(name));
        blocks.extend(sections(value));
    }
    if !fields.is_empty() {
        blocks.push(json!({ "type": "section", "fields": fields }));
    }
    blocks
}

/// Slack takes no empty text.
pub(super) fn or_dash(sent: String) -> String {
    if sent.trim().is_empty() { "–".to_owned() } else { sent }
}

/// An entry of a menu or a list, of words that are escaped already.
pub(super) fn option(sent: impl Into<String>, value: impl Into<String>) -> Value {
    json!({ "text": plain(or_dash(sent.into())), "value": value.into() })
}

/// How heavy blocks are. Slack refuses a message as `msg_blocks_too_long` somewhere above 11,000
/// characters of text and does not publish where, nor what it counts: so every text counts, and each
/// block some more.
pub(super) fn weight(blocks: &[Value]) -> usize {
    fn texts(value: &Value) -> usize {
        match value {
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| match value {
                    Value::String(text) if key == "text" => length(text),
                    _ => texts(value),
                })
                .sum(),
            Value::Array(items) => items.iter().map(texts).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }
    blocks.iter().map(|block| texts(block) + 60).sum()
}
