//! The Block Kit blocks of messages and modals, with Slack's limits. All text is plain. The
//! agent's text is in sections. The server's text is in headers and context blocks, which never
//! contain the agent's text.

use serde_json::{Value, json};

use super::text::{beginning, escape, length, pieces};

/// The most blocks in a message.
pub(super) const BLOCKS: usize = 50;
/// The longest text of a section.
pub(super) const SECTION: usize = 3000;
/// The longest header.
const HEADER: usize = 150;
/// The longest field of a section, and the most fields.
const FIELD: usize = 2000;
const FIELDS: usize = 10;
/// The longest label of a button or an option.
pub(super) const LABEL: usize = 75;
/// The most options in a menu.
pub(super) const OPTIONS: usize = 100;
/// The longest line from the server. No such line is longer.
pub(super) const LINE: usize = 500;

/// Plain text. Slack does not even turn `:names:` into emoji.
pub(super) fn plain(sent: impl Into<String>) -> Value {
    json!({ "type": "plain_text", "text": sent.into(), "emoji": false })
}

/// A header with the server's text.
pub(super) fn header(words: &str) -> Value {
    let sent = escape(words);
    if sent.trim().is_empty() || length(&sent) > HEADER {
        return line(words);
    }
    json!({ "type": "header", "text": plain(sent) })
}

/// A small line with the server's text.
pub(super) fn line(words: &str) -> Value {
    let sent = beginning(words, LINE);
    let sent = if sent.trim().is_empty() { "…".to_owned() } else { sent };
    json!({ "type": "context", "elements": [plain(sent)] })
}

/// A whole text from others, in as many sections as necessary.
pub(super) fn sections(words: &str) -> impl Iterator<Item = Value> {
    pieces(words, SECTION).into_iter().map(section)
}

/// One section with an escaped text.
pub(super) fn section(sent: String) -> Value {
    json!({ "type": "section", "text": plain(sent) })
}

/// Pairs of name and value. A value that is too long for a column is shown below its name.
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

/// Replaces an empty text, which Slack does not accept.
pub(super) fn or_dash(sent: String) -> String {
    if sent.trim().is_empty() { "–".to_owned() } else { sent }
}

/// An option of a menu or a list, with an escaped text.
pub(super) fn option(sent: impl Into<String>, value: impl Into<String>) -> Value {
    json!({ "text": plain(or_dash(sent.into())), "value": value.into() })
}

/// The estimated size of blocks. Slack rejects a message as `msg_blocks_too_long` somewhere above
/// 11,000 characters, and publishes neither the limit nor what counts. This therefore counts every
/// text, and an overhead per block.
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
