//! The building blocks of the checks: one finding, one type, one bound. Messages are formatted only
//! if the caller reads them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Arguments};

use serde_json::{Value, json};

use super::check::Check;
use super::finding::{Breach, Path, Severity};
use super::tape::{Kind, Name, Node};

/// Words separated by commas.
pub(super) struct Words<'w>(pub(super) &'w [&'w str]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.0.iter();
        f.write_str(words.next().copied().unwrap_or_default())?;
        words.try_for_each(|word| write!(f, ", {word}"))
    }
}

impl Check<'_> {
    /// Reports a finding outside the schema.
    pub(super) fn say(
        &mut self,
        severity: Severity,
        rule: &'static str,
        path: &Path<'_>,
        message: Arguments<'_>,
    ) {
        self.found(severity, rule, path, || None, message);
    }

    /// Reports a violation of the specification that the schema does not check: an error only in
    /// strict mode.
    pub(super) fn beyond(&mut self, rule: &'static str, path: &Path<'_>, says: Arguments<'_>) {
        let severity = if self.rules.strict { Severity::Error } else { Severity::Warning };
        self.say(severity, rule, path, says);
    }

    #[cold]
    pub(super) fn breach(
        &mut self,
        rule: &'static str,
        path: &Path<'_>,
        keyword: &'static str,
        params: impl FnOnce() -> Value,
        at: Arguments<'_>,
        message: Arguments<'_>,
    ) {
        let schema = || Some(Breach { keyword, params: params(), schema_path: at.to_string() });
        self.found(Severity::Error, rule, path, schema, message);
    }

    /// Checks required members: name, path, and the value found.
    #[inline]
    pub(super) fn required<const N: usize>(
        &mut self,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
        fields: [(Name, &'static str, Option<Node<'_>>); N],
    ) {
        for (name, place, node) in fields {
            if node.is_none() {
                self.lacks(place);
                let name = name.text();
                let params = || json!({ "missingProperty": name });
                let says = format_args!("{name} is missing");
                self.breach(rule, path, "required", params, format_args!("{at}"), says);
            }
        }
    }

    /// The members of an object by name; the last of duplicates. Other members are ignored, except
    /// in strict mode.
    #[inline]
    pub(super) fn fields<'a, const N: usize>(
        &mut self,
        node: Node<'a>,
        path: &Path<'_>,
        names: [Name; N],
    ) -> [Option<Node<'a>>; N] {
        if self.rules.strict {
            for unknown in node.inner().filter(|node| !names.contains(&node.known())) {
                let name = unknown.name();
                let says =
                    format_args!("nobody knows this field; strict mode takes known ones only");
                self.beyond("HXPE-042", &Path::Member(path, &name), says);
            }
        }
        node.fields(names)
    }

    /// Reports duplicate names in an object: readers disagree on which one counts. They are rare,
    /// and the reader has marked the objects that may have them. An escape can hide that two names
    /// are equal, so the decoded names are compared.
    pub(super) fn twice(&mut self, node: Node<'_>, path: &Path<'_>) {
        if !node.may_repeat() {
            return;
        }
        let mut names = HashSet::new();
        for value in node.inner() {
            let name = value.name();
            if names.contains(&name) {
                let says = format_args!("`{name}` is given twice; the last one counts");
                self.beyond("HXPE-006", &Path::Member(path, &name), says);
            } else {
                names.insert(name);
            }
        }
    }

    /// Whether a value is of this type.
    #[inline]
    pub(super) fn is(
        &mut self,
        node: Node<'_>,
        path: &Path<'_>,
        kind: Kind,
        rule: &'static str,
        at: Arguments<'_>,
    ) -> bool {
        let fits = node.kind() == kind;
        if !fits {
            self.is_not(node, path, kind, rule, at);
        }
        fits
    }

    /// Reports that a value is not of this type.
    #[cold]
    fn is_not(
        &mut self,
        node: Node<'_>,
        path: &Path<'_>,
        kind: Kind,
        rule: &'static str,
        at: Arguments<'_>,
    ) {
        let (name, words) = match kind {
            Kind::Null => ("null", "null"),
            Kind::False | Kind::True => ("boolean", "true or false"),
            Kind::Number => ("number", "a number"),
            Kind::Text => ("string", "a text"),
            Kind::List => ("array", "a list"),
            Kind::Object => ("object", "an object"),
        };
        let says = format_args!("this must be {words}, not {}", node.kind().words());
        self.breach(rule, path, "type", || json!({ "type": name }), at, says);
    }

    #[inline]
    pub(super) fn text<'a>(
        &mut self,
        node: Node<'a>,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<Cow<'a, str>> {
        let text = node.text();
        if text.is_none() {
            self.is_not(node, path, Kind::Text, rule, format_args!("{at}/type"));
        }
        text
    }

    /// A string that is not empty.
    #[inline]
    pub(super) fn filled<'a>(
        &mut self,
        node: Node<'a>,
        path: &Path<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<Cow<'a, str>> {
        let text = self.text(node, path, rule, at)?;
        if text.is_empty() {
            let params = || json!({ "limit": 1 });
            let says = format_args!("this must not be empty");
            self.breach(rule, path, "minLength", params, format_args!("{at}/minLength"), says);
            return None;
        }
        Some(text)
    }

    #[inline]
    pub(super) fn boolean(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
    ) {
        if let Some(node) = node
            && !matches!(node.kind(), Kind::True | Kind::False)
        {
            let name = name.text();
            let at = format_args!("{at}/properties/{name}/type");
            self.is_not(node, &Path::Member(of, name), Kind::True, rule, at);
        }
    }

    /// A list of strings.
    #[inline]
    pub(super) fn texts(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
    ) {
        let Some(node) = node else { return };
        let name = name.text();
        let path = Path::Member(of, name);
        if !self.is(node, &path, Kind::List, rule, format_args!("{at}/properties/{name}/type")) {
            return;
        }
        for (n, item) in node.inner().enumerate() {
            let at = format_args!("{at}/properties/{name}/items/type");
            self.is(item, &Path::Item(&path, n), Kind::Text, rule, at);
        }
    }

    /// One of these words.
    #[inline]
    pub(super) fn one_of(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
        words: &[&str],
    ) {
        let Some(node) = node else { return };
        if node.is_among(words) {
            return;
        }
        let name = name.text();
        let path = Path::Member(of, name);
        if node.kind() == Kind::Text {
            let says = format_args!("{name} must be one of {}", Words(words));
            let params = || json!({ "allowedValues": words });
            let at = format_args!("{at}/properties/{name}/enum");
            self.breach(rule, &path, "enum", params, at, says);
        } else {
            let at = format_args!("{at}/properties/{name}/type");
            self.is_not(node, &path, Kind::Text, rule, at);
        }
    }

    #[inline]
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
                let says = format_args!("this number is larger than any reader can hold");
                let params = || json!({ "type": "number" });
                self.breach(rule, path, "type", params, format_args!("{at}/type"), says);
                None
            }
            None => {
                self.is_not(node, path, Kind::Number, rule, format_args!("{at}/type"));
                None
            }
        }
    }

    /// An integer within bounds; `3.0` is one.
    #[inline]
    pub(super) fn whole(
        &mut self,
        node: Option<Node<'_>>,
        of: &Path<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
        bounds: (u8, Option<u8>),
    ) -> Option<f64> {
        let name = name.text();
        let (node, path) = (node?, Path::Member(of, name));
        let number = self.number(node, &path, rule, at)?;
        if number.fract() != 0.0 {
            let says = format_args!("{name} must be a whole number");
            let params = || json!({ "type": "integer" });
            self.breach(rule, &path, "type", params, format_args!("{at}/type"), says);
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
        let params = || json!({ "comparison": comparison, "limit": limit });
        let at = format_args!("{at}/{keyword}");
        if let Some(most) = most {
            let says = format_args!("this must be a number from {least} to {most}");
            self.breach(rule, path, keyword, params, at, says);
        } else {
            let says = format_args!("this must be {least} or more");
            self.breach(rule, path, keyword, params, at, says);
        }
        false
    }
}
