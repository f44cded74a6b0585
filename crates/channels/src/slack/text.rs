//! Text to and from Slack. Outgoing text is plain and acts as no markup: in Slack, `&`, `<` and
//! `>` are special everywhere, so they are sent as entities. Incoming text is decoded to what
//! the person typed.

use kernel::text::reveal;
use serde_json::{Value, json};

/// The length of a text for Slack's limits. Slack does not define the unit, so this is the
/// largest candidate: UTF-16 units of the escaped text.
pub(super) fn length(sent: &str) -> usize {
    sent.encode_utf16().count()
}

/// Escapes a text so that Slack shows it as written, including hidden characters.
pub(super) fn escape(text: &str) -> String {
    let mut sent = String::with_capacity(text.len());
    for c in reveal(text).chars() {
        push(&mut sent, c);
    }
    sent
}

fn push(sent: &mut String, c: char) {
    match c {
        '&' => sent.push_str("&amp;"),
        '<' => sent.push_str("&lt;"),
        '>' => sent.push_str("&gt;"),
        _ => sent.push(c),
    }
}

fn width(c: char) -> usize {
    match c {
        '&' => 5,
        '<' | '>' => 4,
        _ => c.len_utf16(),
    }
}

/// Escapes a text and splits it into parts of at most this length, at line ends where possible.
/// Parts of only whitespace are left out, because Slack accepts no empty text.
pub(super) fn pieces(text: &str, most: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut piece, mut so_far) = (String::new(), 0);
    for line in reveal(text).split_inclusive('\n') {
        let whole: usize = line.chars().map(width).sum();
        if so_far > 0 && so_far + whole > most {
            pieces.push(std::mem::take(&mut piece));
            so_far = 0;
        }
        for c in line.chars() {
            if so_far + width(c) > most {
                pieces.push(std::mem::take(&mut piece));
                so_far = 0;
            }
            push(&mut piece, c);
            so_far += width(c);
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

/// The escaped beginning of a text. Ends with `…` if the text is longer.
pub(super) fn beginning(text: &str, most: usize) -> String {
    let shown = reveal(text);
    let whole: usize = shown.chars().map(width).sum();
    if whole <= most {
        return escape(&shown);
    }
    let (mut sent, mut so_far) = (String::new(), 1);
    for c in shown.chars() {
        so_far += width(c);
        if so_far > most {
            break;
        }
        push(&mut sent, c);
    }
    sent.push('…');
    sent
}

/// A URL of the server as a link in Slack's markup.
pub(super) fn link(url: &str, words: &str) -> String {
    let url = url.replace('|', "%7C").replace('<', "%3C").replace('>', "%3E").replace('&', "&amp;");
    format!("<{url}|{}>", escape(words).replace('|', "/"))
}

/// The text that a person typed, decoded from Slack's markup: `<https://a.example|a.example>` is a
/// URL that Slack turned into a link, `<@U1|ada>` a mention.
pub(super) fn decode_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(&unescape(before));
        let Some((marked, behind)) = after.split_once('>') else {
            plain.push('<');
            rest = after;
            continue;
        };
        plain.push_str(&unescape(&decode_reference(marked)));
        rest = behind;
    }
    plain.push_str(&unescape(rest));
    plain
}

/// Decodes the text between `<` and `>`.
fn decode_reference(marked: &str) -> String {
    let (target, label) = match marked.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (marked, None),
    };
    let named = |sign: &str, id: &str| {
        let name = label.unwrap_or(id);
        if name.starts_with(sign) { name.to_owned() } else { format!("{sign}{name}") }
    };
    match target.chars().next() {
        Some('@') => named("@", &target[1..]),
        Some('#') => named("#", &target[1..]),
        // `!here` and similar have no label. The label of a date is the date itself.
        Some('!') if target.starts_with("!date") => label.unwrap_or_default().to_owned(),
        Some('!') => named("@", target[1..].split('^').next_back().unwrap_or_default()),
        _ => match label {
            None => target.strip_prefix("mailto:").unwrap_or(target).to_owned(),
            Some(label) if target.contains(label) => label.to_owned(),
            Some(label) => format!("{label} ({target})"),
        },
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

// The Block Kit blocks of messages and modals, with Slack's limits. All text is plain. The
// agent's text is in sections. The server's text is in headers and context blocks, which never
// contain the agent's text.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_goes_out_is_markup() {
        for (words, sent) in [
            ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
            ("<!channel> <@U1>", "&lt;!channel&gt; &lt;@U1&gt;"),
            ("&lt;", "&amp;lt;"),
            ("pay\u{202e}lap", "pay⟨U+202E⟩lap"),
        ] {
            assert_eq!(escape(words), sent);
            assert_eq!(decode_markup(sent), reveal(words), "and it reads back");
        }
    }

    #[test]
    fn pieces_hold_everything_and_break_between_lines() {
        assert_eq!(pieces("", 10), Vec::<String>::new());
        assert_eq!(pieces(" \n ", 10), Vec::<String>::new());
        assert_eq!(pieces("abc\ndef\nghi", 8), ["abc\ndef\n", "ghi"]);
        assert_eq!(pieces("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        // An entity is never split, and a character outside the basic plane counts twice.
        assert_eq!(pieces("ab&cd", 6), ["ab", "&amp;c", "d"]);
        assert_eq!(pieces("🙂🙂🙂", 4), ["🙂🙂", "🙂"]);
    }

    #[test]
    fn a_beginning_says_that_there_is_more() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abcd", 3), "ab…");
        assert_eq!(beginning("a&bcdef", 7), "a&amp;…");
        for (text, most) in [("&&&&&&", 7), ("🙂🙂🙂", 4), ("", 1)] {
            assert!(length(&beginning(text, most)) <= most, "{text}");
        }
    }

    #[test]
    fn a_link_stays_one() {
        assert_eq!(
            link("https://a.example/?x=1&y=<|>", "a|b"),
            "<https://a.example/?x=1&amp;y=%3C%7C%3E|a/b>"
        );
    }

    #[test]
    fn what_was_typed_is_read_as_it_was_typed() {
        for (sent, read) in [
            ("yes", "yes"),
            ("a &amp;amp; b &lt;c&gt;", "a &amp; b <c>"),
            ("see <https://a.example/x>", "see https://a.example/x"),
            ("<http://a.example|a.example> it is", "a.example it is"),
            ("<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"),
            ("<https://evil.example|bank.example>", "bank.example (https://evil.example)"),
            ("<mailto:ada@example.com|ada@example.com>", "ada@example.com"),
            ("ask <@U123>, <@U1|ada>, <#C1|general>", "ask @U123, @ada, #general"),
            ("<!here> <!subteam^S1|@ops> <!subteam^S1>", "@here @ops @S1"),
            ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
            ("2 < 3", "2 < 3"),
            ("<", "<"),
            ("<>", ""),
            ("<|>", ""),
            ("<@>", "@"),
        ] {
            assert_eq!(decode_markup(sent), read, "{sent}");
        }
    }
}
