//! JSON from an agent as key–value blocks: complete, readable, with the most important values
//! first.

use serde_json::{Map, Value};

use crate::components::wording::VisibleText;

/// A block with this many lines or more scrolls and can be expanded.
const LONG_BLOCK_LINES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The key as a label.
    pub key: VisibleText,
    pub value: FactValue,
}

/// How a value is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactValue {
    /// A value that fits on a line.
    Line(VisibleText),
    /// A URL of another site, shown in full.
    Link(VisibleText),
    /// A value that needs its own block.
    Block(TextBlock),
}

/// A text in its own block. Long texts scroll inside it and state their length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextBlock {
    /// The id of the element, unique on the page.
    pub id: String,
    pub text: VisibleText,
    /// The number of lines on a screen.
    pub lines: usize,
    /// The length as text: in lines, or in characters if there are few lines.
    pub extent: String,
    /// Whether it scrolls.
    pub long: bool,
}

impl TextBlock {
    pub fn new(id: String, text: &str) -> Self {
        let text = VisibleText::of(text);
        let lines = text.lines().max(1);
        let written = text.as_str().lines().count();
        let extent = if written > LONG_BLOCK_LINES {
            t!("text-lines", n = written)
        } else {
            t!("text-characters", n = text.as_str().chars().count())
        };
        Self { id, text, lines, extent, long: lines > LONG_BLOCK_LINES }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactList {
    /// Amounts, recipients, hosts and paths, shown in large type.
    pub headline: Vec<Fact>,
    /// The other values, in the agent's order.
    pub rows: Vec<Fact>,
}

impl FactList {
    /// Every value in `map`, once. `prefix` makes the ids of blocks unique.
    pub fn of(map: &Map<String, Value>, prefix: &str) -> Self {
        let mut facts = Self::default();
        let mut headline: Vec<(usize, Fact)> = Vec::new();
        let currency = map.iter().find(|(key, _)| key.eq_ignore_ascii_case("currency"));
        let currency =
            currency.and_then(|(_, value)| value.as_str()).filter(|text| text.len() <= 8);
        for (n, leaf) in leaves(map).iter().enumerate() {
            let value = leaf.value;
            let mut shown = shown(value, || format!("{prefix}-{n}"));
            let rank = leaf.path.last().and_then(|key| rank(key));
            if let (Some(0), FactValue::Line(line), Some(currency)) = (rank, &shown, currency)
                && (value.is_number() || line.as_str().parse::<f64>().is_ok())
            {
                shown = FactValue::Line(VisibleText::of(&format!("{line} {currency}")));
            }
            let fact = Fact { key: leaf.label(), value: shown };
            match (rank, &fact.value) {
                (Some(rank), FactValue::Line(_) | FactValue::Link(_)) => {
                    headline.push((rank, fact));
                }
                (Some(_), FactValue::Block(_)) | (None, _) => facts.rows.push(fact),
            }
        }
        headline.sort_by_key(|(rank, _)| *rank);
        facts.headline = headline.into_iter().map(|(_, fact)| fact).collect();
        facts
    }

    /// Whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.headline.is_empty() && self.rows.is_empty()
    }

    pub fn len(&self) -> usize {
        self.headline.len() + self.rows.len()
    }

    /// The approximate height in lines.
    pub fn height(&self) -> usize {
        let lines = |fact: &Fact| match &fact.value {
            FactValue::Line(_) | FactValue::Link(_) => 2,
            FactValue::Block(block) => 2 + block.lines.min(LONG_BLOCK_LINES),
        };
        self.headline.iter().chain(&self.rows).map(lines).sum()
    }

    /// Whether every fact fits on a short line and there are few of them.
    pub fn is_short(&self) -> bool {
        let short = |fact: &Fact| match &fact.value {
            FactValue::Line(words) | FactValue::Link(words) => words.as_str().chars().count() <= 48,
            FactValue::Block(_) => false,
        };
        self.len() <= 4 && self.headline.iter().chain(&self.rows).all(short)
    }
}

/// One value under a label of the server.
pub fn fact(key: &str, value: &Value, id: &str) -> Fact {
    Fact { key: VisibleText::of(key), value: shown(value, || id.to_owned()) }
}

/// Nested objects are expanded to this depth; deeper ones are shown as JSON.
const MAX_DEPTH: usize = 4;

/// A value inside an object, with its path.
pub(crate) struct Leaf<'a> {
    /// The keys that lead to the value.
    pub(crate) path: Vec<&'a str>,
    pub(crate) value: &'a Value,
}

impl Leaf<'_> {
    /// Whether its key names an amount.
    pub(crate) fn is_amount(&self) -> bool {
        self.path.last().and_then(|key| rank(key)) == Some(0)
    }

    /// The path as a label.
    pub(crate) fn label(&self) -> VisibleText {
        let parts: Vec<String> = self.path.iter().map(|key| label(key).to_string()).collect();
        VisibleText::of(&parts.join(" › "))
    }
}

/// Every value of an object in order, with nested objects expanded.
pub(crate) fn leaves(map: &Map<String, Value>) -> Vec<Leaf<'_>> {
    fn walk<'a>(map: &'a Map<String, Value>, path: &[&'a str], found: &mut Vec<Leaf<'a>>) {
        for (key, value) in map {
            let path = [path, &[key.as_str()]].concat();
            match value {
                Value::Object(inner) if !inner.is_empty() && path.len() < MAX_DEPTH => {
                    walk(inner, &path, found);
                }
                _ => found.push(Leaf { path, value }),
            }
        }
    }
    let mut found = Vec::new();
    walk(map, &[], &mut found);
    found
}

fn shown(value: &Value, id: impl FnOnce() -> String) -> FactValue {
    let line = |text: &str| FactValue::Line(VisibleText::of(text));
    match value {
        Value::Null => line(&t!("value-empty")),
        Value::Bool(true) => line(&t!("value-yes")),
        Value::Bool(false) => line(&t!("value-no")),
        Value::Number(number) => line(&number.to_string()),
        Value::String(text) if text.is_empty() => line(&t!("value-empty")),
        Value::String(text) if text.contains('\n') || text.chars().count() > 120 => {
            FactValue::Block(TextBlock::new(id(), text))
        }
        Value::String(text) => link(text).map_or_else(|| line(text), FactValue::Link),
        Value::Array(items) if items.is_empty() => line(&t!("value-none")),
        Value::Object(map) if map.is_empty() => line(&t!("value-none")),
        Value::Array(_) | Value::Object(_) => FactValue::Block(TextBlock::new(
            id(),
            &serde_json::to_string_pretty(value).unwrap_or_default(),
        )),
    }
}

/// The URL in a text, if it is safe to show as written: normalised as browsers do it, so that an
/// internationalised domain shows as Punycode, and without user information before the host.
pub(crate) fn link(text: &str) -> Option<VisibleText> {
    let plain = text.starts_with("https://") || text.starts_with("http://");
    let url = url::Url::parse(text).ok().filter(|_| plain)?;
    let honest = url.username().is_empty() && url.password().is_none() && url.has_host();
    honest.then(|| VisibleText::of(url.as_str()))
}

/// The rank of a key among the values that a person looks for first, by its last word.
fn rank(key: &str) -> Option<usize> {
    const RANKED: [&[&str]; 4] = [
        &["amount", "total", "price", "cost", "sum", "value"],
        &["recipient", "recipients", "to", "payee", "beneficiary", "account", "iban", "email"],
        &["host", "hostname", "domain", "url", "endpoint", "environment", "env", "database"],
        &["path", "file", "branch", "version", "repository", "repo", "command", "table"],
    ];
    let key = key.to_ascii_lowercase();
    let last = key.rsplit(['_', '-', '.', ' ']).next().unwrap_or(&key);
    RANKED.iter().position(|names| names.contains(&last))
}

/// `customer_email` becomes "Customer email"; a key that is not an identifier stays unchanged.
fn label(key: &str) -> VisibleText {
    let identifier = key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let mut chars = key.chars();
    match chars.next() {
        Some(first) if identifier => {
            let rest = chars.as_str().replace('_', " ");
            VisibleText::of(&format!("{}{rest}", first.to_ascii_uppercase()))
        }
        Some(_) => VisibleText::of(key),
        None => VisibleText::of(&t!("value-no-name")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(value: &Value) -> FactList {
        FactList::of(value.as_object().unwrap(), "d")
    }

    fn lines(facts: &[Fact]) -> Vec<String> {
        let value = |fact: &Fact| match &fact.value {
            FactValue::Line(words) => words.to_string(),
            FactValue::Link(words) => format!("<{words}>"),
            FactValue::Block(block) => format!("[{}]", block.lines),
        };
        facts.iter().map(|fact| format!("{}={}", fact.key, value(fact))).collect()
    }

    #[test]
    fn amounts_and_recipients_stand_out_first() {
        let facts = facts(&json!({
            "note": "late", "host": "db-1", "to": "ann@example.com", "amount": 1250.5,
            "currency": "EUR", "dry_run": false,
        }));
        assert_eq!(
            lines(&facts.headline),
            ["Amount=1250.5 EUR", "To=ann@example.com", "Host=db-1"]
        );
        assert_eq!(lines(&facts.rows), ["Note=late", "Currency=EUR", "Dry run=no"]);
    }

    #[test]
    fn nested_values_are_shown_whole() {
        let lots: Vec<u32> = (0..400).collect();
        let facts = facts(&json!({"ids": lots, "to": ["a", "b"], "X-y": {}}));
        assert_eq!(lines(&facts.rows), ["Ids=[402]", "To=[4]", "X-y=(none)"]);
        let FactValue::Block(block) = &facts.rows[0].value else { panic!() };
        assert!(block.long && block.text.as_str().contains("399"));
    }

    #[test]
    fn objects_are_taken_apart() {
        let facts = facts(&json!({"artifact": {"title": "T", "content": "a\nb", "meta": {}}}));
        assert_eq!(
            lines(&facts.rows),
            ["Artifact › Title=T", "Artifact › Content=[2]", "Artifact › Meta=(none)"]
        );
    }

    /// UX 4: a link shows its target, whatever its text says.
    #[test]
    fn addresses_lead_where_they_say() {
        let facts = facts(&json!({
            "run": "https://ci.example.com/runs/7", "lure": "https://pаypal.com/", "who":
            "https://bank.com@evil.example/", "code": "javascript:alert(1)", "see": "see http://a.b",
        }));
        assert_eq!(
            lines(&facts.rows),
            [
                "Run=<https://ci.example.com/runs/7>",
                "Lure=<https://xn--pypal-4ve.com/>",
                "Who=https://bank.com@evil.example/",
                "Code=javascript:alert(1)",
                "See=see http://a.b",
            ]
        );
    }

    #[test]
    fn nothing_hides_in_a_value_or_key() {
        let facts = facts(&json!({"a\u{200b}": "x\u{202e}y"}));
        assert_eq!(lines(&facts.rows), ["a⟨U+200B⟩=x⟨U+202E⟩y"]);
    }
}
