//! What the checks are made of: one finding, one type, one bound.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::check::Check;
use super::finding::{Breach, Finding, Path, Severity};
use super::tape::{Kind, Node};

impl Check<'_> {
    /// A finding outside the schema.
    pub(super) fn say(
        &mut self,
        severity: Severity,
        rule: &'static str,
        path: &Path<'_>,
        message: impl Into<String>,
    ) {
        let pointer = path.to_string();
        self.found(Finding { severity, rule, pointer, schema: None, message: message.into() });
    }

    /// What the specification wants and the schema does not check: an error in strict mode alone.
    pub(super) fn beyond(&mut self, rule: &'static str, path: &Path<'_>, says: impl Into<String>) {
        self.beyond_at(rule, path.to_string(), says.into());
    }

    fn severity_beyond(&self) -> Severity {
        if self.rules.strict { Severity::Error } else { Severity::Warning }
    }

    pub(super) fn beyond_at(&mut self, rule: &'static str, pointer: String, message: String) {
        let severity = self.severity_beyond();
        self.found(Finding { severity, rule, pointer, schema: None, message });
    }

    pub(super) fn breach(
        &mut self,
        rule: &'static str,
        path: &Path<'_>,
        keyword: &'static str,
        params: Value,
        at: &str,
        message: impl Into<String>,
    ) {
        self.found(Finding {
            severity: Severity::Error,
            rule,
            pointer: path.to_string(),
            schema: Some(Breach { keyword, params, schema_path: at.to_owned() }),
            message: message.into(),
        });
    }

    /// What must be there: name, place, and what was found.
    pub(super) fn required<const N: usize>(
        &mut self,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
        fields: [(&str, &'static str, Option<Node<'_>>); N],
    ) {
        for (name, place, node) in fields {
            if node.is_none() {
                if !place.is_empty() {
                    self.missing_core.push(place);
                }
                if self.has_enough(Severity::Error) {
                    continue;
                }
                let says = format!("{name} is missing");
                self.breach(rule, path, "required", json!({ "missingProperty": name }), at, says);
            }
        }
    }

    /// The members of an object by name, the last of those given twice. What has another name is
    /// ignored, but not in strict mode.
    pub(super) fn fields<'a, const N: usize>(
        &mut self,
        node: Node<'a>,
        path: &Path<'_>,
        names: [&str; N],
    ) -> [Option<Node<'a>>; N] {
        let mut found = [None; N];
        for (name, value) in node.members() {
            match found.iter_mut().zip(names).find(|(_, known)| *known == name) {
                Some((place, _)) => *place = Some(value),
                None if self.rules.strict => {
                    let says = "nobody knows this field; strict mode takes known ones only";
                    self.beyond("HXPE-042", &Path::Member(path, &name), says);
                }
                None => {}
            }
        }
        found
    }

    /// Names given twice in one object: readers disagree which of them counts. Nearly never are
    /// there any, so a glance at length and ends of each name comes first. An escape can hide that
    /// two names are one, so such names are compared as they read.
    pub(super) fn twice(&mut self, node: Node<'_>, path: &Path<'_>) {
        let mut seen = 0_u64;
        let suspect = node.inner().step_by(2).any(|name| {
            let name = name.raw().as_bytes();
            let (Some(first), Some(last)) = (name.first(), name.last()) else { return true };
            let bit = 1 << ((name.len() * 7 + usize::from(*first) * 5 + usize::from(*last)) % 64);
            let again = seen & bit != 0 || name.contains(&b'\\');
            seen |= bit;
            again
        });
        if !suspect {
            return;
        }
        let mut names = HashSet::new();
        for (name, _) in node.members() {
            if !names.contains(&name) {
                names.insert(name);
            } else if !self.has_enough(self.severity_beyond()) {
                let says = format!("`{name}` is given twice; the last one counts");
                self.beyond("HXPE-006", &Path::Member(path, &name), says);
            }
        }
    }

    /// Whether a value is of this kind.
    pub(super) fn is(
        &mut self,
        node: Node<'_>,
        path: &Path<'_>,
        kind: Kind,
        rule: &'static str,
        at: &str,
    ) -> bool {
        let (name, words) = match kind {
            Kind::Null => ("null", "null"),
            Kind::False | Kind::True => ("boolean", "true or false"),
            Kind::Number => ("number", "a number"),
            Kind::Text => ("string", "a text"),
            Kind::List => ("array", "a list"),
            Kind::Object => ("object", "an object"),
        };
        if node.kind() == kind || (name == "boolean" && node.kind() == Kind::False) {
            return true;
        }
        if self.has_enough(Severity::Error) {
            return false;
        }
        let says = format!("this must be {words}, not {}", node.kind().words());
        self.breach(rule, path, "type", json!({ "type": name }), at, says);
        false
    }

    pub(super) fn text<'a>(
        &mut self,
        node: Node<'a>,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<Cow<'a, str>> {
        let text = node.text();
        if text.is_none() {
            self.is(node, path, Kind::Text, rule, &format!("{at}/type"));
        }
        text
    }

    /// A text that is not empty.
    pub(super) fn filled<'a>(
        &mut self,
        node: Node<'a>,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<Cow<'a, str>> {
        let text = self.text(node, path, rule, at)?;
        if text.is_empty() {
            let at = format!("{at}/minLength");
            self.breach(
                rule,
                path,
                "minLength",
                json!({ "limit": 1 }),
                &at,
                "this must not be empty",
            );
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: &str,
        rule: &'static str,
        at: &str,
    ) {
        if let Some(node) = node
            && !matches!(node.kind(), Kind::True | Kind::False)
        {
            let at = format!("{at}/properties/{name}/type");
            self.is(node, &Path::Member(of, name), Kind::True, rule, &at);
        }
    }

    /// A list of texts.
    pub(super) fn texts(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: &str,
        rule: &'static str,
        at: &str,
    ) {
        let Some(node) = node else { return };
        let path = Path::Member(of, name);
        if node.kind() != Kind::List {
            self.is(node, &path, Kind::List, rule, &format!("{at}/properties/{name}/type"));
            return;
        }
        for (n, item) in node.inner().enumerate().filter(|(_, item)| item.kind() != Kind::Text) {
            let at = format!("{at}/properties/{name}/items/type");
            self.is(item, &Path::Item(&path, n), Kind::Text, rule, &at);
        }
    }

    /// One of a few words.
    pub(super) fn one_of(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: &str,
        rule: &'static str,
        at: &str,
        words: &[&str],
    ) {
        let Some(node) = node else { return };
        let path = Path::Member(of, name);
        let Some(text) = node.text() else {
            self.is(node, &path, Kind::Text, rule, &format!("{at}/properties/{name}/type"));
            return;
        };
        if !words.contains(&&*text) {
            let says = format!("{name} must be one of {}", words.join(", "));
            let at = format!("{at}/properties/{name}/enum");
            self.breach(rule, &path, "enum", json!({ "allowedValues": words }), &at, says);
        }
    }

    pub(super) fn number(
        &mut self,
        node: Node<'_>,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<f64> {
        match node.number() {
            Some(number) if number.is_finite() => Some(number),
            Some(_) => {
                let says = "this number is larger than any reader can hold";
                let at = format!("{at}/type");
                self.breach(rule, path, "type", json!({ "type": "number" }), &at, says);
                None
            }
            None => {
                self.is(node, path, Kind::Number, rule, &format!("{at}/type"));
                None
            }
        }
    }

    /// A whole number within bounds; `3.0` is one.
    pub(super) fn whole(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: &str,
        rule: &'static str,
        at: &str,
        bounds: (u8, Option<u8>),
    ) -> Option<f64> {
        let (node, path) = (node?, Path::Member(of, name));
        let number = self.number(node, &path, rule, at)?;
        if number.fract() != 0.0 {
            let says = format!("{name} must be a whole number");
            let place = format!("{at}/type");
            self.breach(rule, &path, "type", json!({ "type": "integer" }), &place, says);
        }
        self.within(number, &path, rule, at, bounds).then_some(number)
    }

    pub(super) fn within(
        &mut self,
        number: f64,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
        (least, most): (u8, Option<u8>),
    ) -> bool {
        let (keyword, comparison, limit) = match most {
            _ if number < f64::from(least) => ("minimum", ">=", least),
            Some(most) if number > f64::from(most) => ("maximum", "<=", most),
            _ => return true,
        };
        let says = match most {
            Some(most) => format!("this must be a number from {least} to {most}"),
            None => format!("this must be {least} or more"),
        };
        let params = json!({ "comparison": comparison, "limit": limit });
        self.breach(rule, path, keyword, params, &format!("{at}/{keyword}"), says);
        false
    }
}
