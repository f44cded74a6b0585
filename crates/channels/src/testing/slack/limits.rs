//! Slack's limits for blocks and views, by its reference for Block Kit. Stricter than Slack where
//! the reference is silent: lengths count UTF-16 units, unknown members are rejected, and no text
//! may contain markup except the server's own link.

use serde_json::Value;

/// The size at which Slack is known to reject a message as too long. Slack does not publish
/// the exact limit.
const HEAVIEST: usize = 11_000;

/// Checks the text and blocks of a message. The error has Slack's code.
pub fn message(body: &Value) -> Result<(), (&'static str, Vec<String>)> {
    let text = body.get("text").and_then(Value::as_str).unwrap_or_default();
    if text.trim().is_empty() {
        return Err(("no_text", Vec::new()));
    }
    if units(text) > 4000 {
        return Err(("msg_too_long", Vec::new()));
    }
    let mut found = Violations::default();
    if !is_escaped(text) {
        found.say("/text", "holds markup");
    }
    let blocks = body.get("blocks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    found.blocks("/blocks", blocks, 50, Surface::Message);
    if !found.0.is_empty() {
        return Err(("invalid_blocks", found.0));
    }
    if blocks.iter().map(texts).sum::<usize>() > HEAVIEST {
        return Err(("msg_blocks_too_long", Vec::new()));
    }
    Ok(())
}

/// Checks a view.
pub fn view(view: &Value) -> Result<(), (&'static str, Vec<String>)> {
    let mut found = Violations::default();
    let known = ["type", "callback_id", "private_metadata", "title", "submit", "close", "blocks"];
    found.members("/view", view, &known, &["type", "title", "blocks"]);
    if view["type"] != "modal" {
        found.say("/view/type", "is not modal");
    }
    for name in ["title", "submit", "close"] {
        found.plain(&format!("/view/{name}"), &view[name], 24);
    }
    found.text_member("/view", view, "private_metadata", 3000);
    found.text_member("/view", view, "callback_id", 255);
    let blocks = view["blocks"].as_array().map_or(&[][..], Vec::as_slice);
    if blocks.is_empty() {
        found.say("/view/blocks", "is empty");
    }
    found.blocks("/view/blocks", blocks, 100, Surface::Modal);
    if found.0.is_empty() { Ok(()) } else { Err(("invalid_arguments", found.0)) }
}

#[derive(Clone, Copy, PartialEq)]
enum Surface {
    Message,
    Modal,
}

#[derive(Default)]
struct Violations(Vec<String>);

impl Violations {
    fn say(&mut self, at: &str, what: &str) {
        self.0.push(format!("{what} [json-pointer:{at}]"));
    }

    fn members(&mut self, at: &str, value: &Value, known: &[&str], needed: &[&str]) {
        let Some(map) = value.as_object() else { return self.say(at, "is no object") };
        for name in map.keys().filter(|name| !known.contains(&name.as_str())) {
            self.say(at, &format!("has the unknown member {name}"));
        }
        for name in needed.iter().filter(|name| !map.contains_key(**name)) {
            self.say(at, &format!("lacks {name}"));
        }
    }

    fn text_member(&mut self, at: &str, value: &Value, name: &str, most: usize) {
        match &value[name] {
            Value::Null => {}
            Value::String(text) if (1..=most).contains(&units(text)) => {}
            _ => self.say(at, &format!("has {name} that is no text of 1 to {most} characters")),
        }
    }

    fn plain(&mut self, at: &str, text: &Value, most: usize) {
        if text["type"] != "plain_text" {
            self.say(at, "is not plain_text");
        }
        self.text(at, text, most);
    }

    fn text(&mut self, at: &str, text: &Value, most: usize) {
        let plain = text["type"] == "plain_text";
        let known = if plain { ["type", "text", "emoji"] } else { ["type", "text", "verbatim"] };
        self.members(at, text, &known, &["type", "text"]);
        let words = text["text"].as_str().unwrap_or_default();
        if words.trim().is_empty() || units(words) > most {
            self.say(at, &format!("is not 1 to {most} characters"));
        }
        // Hidden characters would show one text and mean another.
        if words.chars().any(kernel::text::is_hidden) {
            self.say(at, "holds hidden characters");
        }
        match plain {
            true if text["emoji"] != false => self.say(at, "makes pictures of words"),
            true if !is_escaped(words) => self.say(at, "holds markup"),
            false if text["verbatim"] != true => self.say(at, "makes links of words"),
            false if !is_link(words) => self.say(at, "holds markup beside a link"),
            _ => {}
        }
    }

    fn blocks(&mut self, at: &str, blocks: &[Value], most: usize, surface: Surface) {
        if blocks.len() > most {
            self.say(at, &format!("are more than {most}"));
        }
        let mut ids: Vec<&str> = blocks.iter().filter_map(|b| b["block_id"].as_str()).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            self.say(at, "share a block_id");
        }
        for (i, block) in blocks.iter().enumerate() {
            self.block(&format!("{at}/{i}"), block, surface);
        }
    }

    fn block(&mut self, at: &str, block: &Value, surface: Surface) {
        self.text_member(at, block, "block_id", 255);
        match block["type"].as_str().unwrap_or_default() {
            "divider" => self.members(at, block, &["type", "block_id"], &[]),
            "header" => {
                self.members(at, block, &["type", "block_id", "text"], &["text"]);
                self.plain(at, &block["text"], 150);
            }
            "section" => {
                self.members(at, block, &["type", "block_id", "text", "fields"], &[]);
                match (block.get("text"), block["fields"].as_array()) {
                    (Some(text), None) => self.text(at, text, 3000),
                    (None, Some(fields)) if (1..=10).contains(&fields.len()) => {
                        for field in fields {
                            self.text(at, field, 2000);
                        }
                    }
                    _ => self.say(at, "has neither a text nor 1 to 10 fields"),
                }
            }
            "context" => {
                self.members(at, block, &["type", "block_id", "elements"], &["elements"]);
                let elements = self.listed(at, block, "elements", 10);
                for element in elements {
                    self.text(at, element, 2000);
                }
            }
            "actions" if surface == Surface::Message => {
                self.members(at, block, &["type", "block_id", "elements"], &["elements"]);
                let elements = self.listed(at, block, "elements", 25);
                let mut ids: Vec<&Value> = elements.iter().map(|e| &e["action_id"]).collect();
                ids.sort_by_key(ToString::to_string);
                if ids.windows(2).any(|pair| pair[0] == pair[1]) {
                    self.say(at, "has elements that share an action_id");
                }
                for element in elements {
                    self.element(at, element, surface);
                }
            }
            "input" if surface == Surface::Modal => {
                let known = ["type", "block_id", "label", "hint", "optional", "element"];
                self.members(at, block, &known, &["block_id", "label", "element"]);
                self.plain(at, &block["label"], 2000);
                if let Some(hint) = block.get("hint") {
                    self.plain(at, hint, 2000);
                }
                self.element(at, &block["element"], surface);
            }
            other => self.say(at, &format!("is a {other}, which does not belong here")),
        }
    }

    fn listed<'v>(&mut self, at: &str, value: &'v Value, name: &str, most: usize) -> &'v [Value] {
        let items = value[name].as_array().map_or(&[][..], Vec::as_slice);
        if items.is_empty() || items.len() > most {
            self.say(at, &format!("has not 1 to {most} {name}"));
        }
        items
    }

    fn element(&mut self, at: &str, element: &Value, surface: Surface) {
        let kind = element["type"].as_str().unwrap_or_default();
        let own: &[&str] = match (kind, surface) {
            ("button", Surface::Message) => &["text", "value", "url", "style"],
            ("static_select", Surface::Message) => &["placeholder", "options"],
            ("static_select", Surface::Modal) => &["placeholder", "options", "initial_option"],
            ("radio_buttons", Surface::Modal) => &["options", "initial_option"],
            ("checkboxes", Surface::Modal) => &["options", "initial_options"],
            ("multi_static_select", Surface::Modal) => {
                &["placeholder", "options", "initial_options"]
            }
            ("plain_text_input", Surface::Modal) => {
                &["placeholder", "initial_value", "multiline", "min_length", "max_length"]
            }
            ("email_text_input" | "url_text_input", Surface::Modal) => {
                &["placeholder", "initial_value"]
            }
            ("number_input", Surface::Modal) => {
                &["placeholder", "initial_value", "is_decimal_allowed", "min_value", "max_value"]
            }
            ("datepicker", Surface::Modal) => &["initial_date"],
            ("datetimepicker", Surface::Modal) => &["initial_date_time"],
            _ => return self.say(at, &format!("has a {kind}, which does not belong here")),
        };
        let known: Vec<&str> = ["type", "action_id"].iter().chain(own).copied().collect();
        self.members(at, element, &known, &["action_id"]);
        self.text_member(at, element, "action_id", 255);
        self.text_member(at, element, "initial_value", 3000);
        if let Some(shown) = element.get("placeholder") {
            self.plain(at, shown, 150);
        }
        match kind {
            "button" => {
                self.plain(at, &element["text"], 75);
                self.text_member(at, element, "value", 2000);
                self.text_member(at, element, "url", 3000);
                if !matches!(element["style"].as_str(), None | Some("primary" | "danger")) {
                    self.say(at, "has an unknown style");
                }
            }
            "plain_text_input" => {
                for (name, least) in [("min_length", 0), ("max_length", 1)] {
                    let fits = |n: &Value| n.as_u64().is_some_and(|n| (least..=3000).contains(&n));
                    if element.get(name).is_some_and(|n| !fits(n)) {
                        self.say(at, &format!("has {name} that is not {least} to 3000"));
                    }
                }
            }
            _ => {}
        }
        if own.contains(&"options") {
            self.options(at, element, if own.contains(&"placeholder") { 100 } else { 10 });
        }
    }

    fn options(&mut self, at: &str, element: &Value, most: usize) {
        let options = self.listed(at, element, "options", most);
        for option in options {
            self.members(at, option, &["text", "value"], &["text", "value"]);
            self.plain(at, &option["text"], 75);
            self.text_member(at, option, "value", 150);
        }
        let first = element.get("initial_option").into_iter();
        let all = element["initial_options"].as_array().into_iter().flatten();
        if first.chain(all).any(|chosen| !options.contains(chosen)) {
            self.say(at, "begins with an option it does not have");
        }
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The length of all visible text, at any depth.
fn texts(value: &Value) -> usize {
    match value {
        Value::Object(map) => {
            let own = map.get("text").and_then(Value::as_str).map_or(0, units);
            own + map.values().map(texts).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(texts).sum(),
        _ => 0,
    }
}

/// Whether the text contains no unescaped markup.
fn is_escaped(text: &str) -> bool {
    let entity = |rest: &str| ["amp;", "lt;", "gt;"].iter().any(|name| rest.starts_with(name));
    !text.contains(['<', '>']) && text.split('&').skip(1).all(entity)
}

/// Whether a text is one link and nothing else.
fn is_link(text: &str) -> bool {
    text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).is_some_and(|inner| {
        inner.starts_with("http") && is_escaped(inner) && inner.matches('|').count() == 1
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(text: &str) -> Value {
        json!({ "type": "plain_text", "text": text, "emoji": false })
    }

    fn refused(blocks: &Value) -> Option<&'static str> {
        message(&json!({ "text": "t", "blocks": blocks })).err().map(|(error, _)| error)
    }

    /// A check is worth something only if it can fail.
    #[test]
    fn what_slack_would_refuse_is_refused() {
        let section = |text: &str| json!({ "type": "section", "text": plain(text) });
        let actions = |elements: Vec<Value>| json!([{ "type": "actions", "elements": elements }]);
        let button = |id: &str, label: &str| json!({ "type": "button", "action_id": id, "text": plain(label) });
        let menu = |n: usize| {
            let option = json!({ "text": plain("o"), "value": "v" });
            json!({ "type": "static_select", "action_id": "m", "placeholder": plain("p"),
                    "options": vec![option; n] })
        };
        let header = |text: &str| json!([{ "type": "header", "text": plain(text) }]);
        assert_eq!(refused(&json!([section(&"x".repeat(3000))])), None);
        assert_eq!(refused(&actions(vec![button("a", &"x".repeat(75)), menu(100)])), None);
        assert_eq!(refused(&header(&"x".repeat(150))), None);
        for (what, blocks) in [
            ("long", json!([section(&"x".repeat(3001))])),
            ("long as JavaScript counts", json!([section(&"🙂".repeat(1501))])),
            ("empty", json!([section("")])),
            ("blank", json!([section(" \n")])),
            ("a mention", json!([section("<!channel>")])),
            ("a bare ampersand", json!([section("a & b")])),
            ("hidden", json!([section("a\u{202e}b")])),
            (
                "pictures",
                json!([{ "type": "section", "text": { "type": "plain_text", "text": "a" } }]),
            ),
            ("many", json!(vec![section("x"); 51])),
            ("a long header", header(&"x".repeat(151))),
            ("a long button", actions(vec![button("a", &"x".repeat(76))])),
            ("the same twice", actions(vec![button("a", "x"), button("a", "y")])),
            ("many options", actions(vec![menu(101)])),
            ("no options", actions(vec![menu(0)])),
            ("many elements", actions((0..26).map(|i| button(&i.to_string(), "x")).collect())),
            ("no elements", actions(vec![])),
            ("a stranger", json!([{ "type": "video" }])),
            ("what belongs in a modal", json!([{ "type": "input", "block_id": "b" }])),
            ("more than is known", json!([{ "type": "divider", "colour": "red" }])),
            ("eleven fields", json!([{ "type": "section", "fields": vec![plain("x"); 11] }])),
        ] {
            assert_eq!(refused(&blocks), Some("invalid_blocks"), "{what}");
        }
        let heavy = json!(vec![section(&"x".repeat(2900)); 4]);
        assert_eq!(refused(&heavy), Some("msg_blocks_too_long"));
        assert_eq!(message(&json!({})).unwrap_err().0, "no_text");
        assert_eq!(message(&json!({ "text": "x".repeat(4001) })).unwrap_err().0, "msg_too_long");
    }
}
