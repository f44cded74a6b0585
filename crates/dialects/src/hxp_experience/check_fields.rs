//! The building blocks of the checks: one finding, one type, one bound. Messages are formatted only
//! if the caller reads them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Arguments};

use kernel::spelling::suggestion;
use serde_json::{Value, json};

use super::check::Check;
use super::finding::{EnvelopePath, FindingSeverity, SchemaViolation};
use super::token_stream::{JsonKind, Name, Node};

/// Words separated by commas.
pub(super) struct CommaSeparated<'w>(pub(super) &'w [&'w str]);

impl fmt::Display for CommaSeparated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.0.iter();
        f.write_str(words.next().copied().unwrap_or_default())?;
        words.try_for_each(|word| write!(f, ", {word}"))
    }
}

impl Check<'_> {
    /// Reports a finding outside the schema.
    pub(super) fn report_finding(
        &mut self,
        severity: FindingSeverity,
        rule: &'static str,
        path: &EnvelopePath<'_>,
        message: Arguments<'_>,
    ) {
        self.record_finding(severity, rule, path, || None, message);
    }

    /// Reports a violation of the specification that the schema does not check: an error only in
    /// strict mode.
    pub(super) fn report_spec_violation(
        &mut self,
        rule: &'static str,
        path: &EnvelopePath<'_>,
        says: Arguments<'_>,
    ) {
        let severity =
            if self.rules.strict { FindingSeverity::Error } else { FindingSeverity::Warning };
        self.report_finding(severity, rule, path, says);
    }

    #[cold]
    pub(super) fn report_schema_violation(
        &mut self,
        rule: &'static str,
        path: &EnvelopePath<'_>,
        keyword: &'static str,
        params: impl FnOnce() -> Value,
        at: Arguments<'_>,
        message: Arguments<'_>,
    ) {
        let schema =
            || Some(SchemaViolation { keyword, params: params(), schema_path: at.to_string() });
        self.record_finding(FindingSeverity::Error, rule, path, schema, message);
    }

    /// Checks required members: name, path, and the value found.
    #[inline]
    pub(super) fn required<const N: usize>(
        &mut self,
        path: &EnvelopePath<'_>,
        rule: &'static str,
        at: &str,
        fields: [(Name, &'static str, Option<Node<'_>>); N],
    ) {
        for (name, place, node) in fields {
            if node.is_none() {
                self.record_missing(place);
                let name = name.text();
                let params = || json!({ "missingProperty": name });
                let says = format_args!("{name} is missing");
                self.report_schema_violation(
                    rule,
                    path,
                    "required",
                    params,
                    format_args!("{at}"),
                    says,
                );
            }
        }
    }

    /// The members of an object by name; the last of duplicates. Other members are ignored, except
    /// in strict mode.
    #[inline]
    pub(super) fn fields<'a, const N: usize>(
        &mut self,
        node: Node<'a>,
        path: &EnvelopePath<'_>,
        names: [Name; N],
    ) -> [Option<Node<'a>>; N] {
        if self.rules.strict {
            for unknown in node.children().filter(|node| !names.contains(&node.known())) {
                let name = unknown.name();
                let says = format_args!("unknown field; strict mode accepts known fields only");
                self.report_spec_violation("HXPE-042", &EnvelopePath::Member(path, &name), says);
            }
        }
        node.fields(names)
    }

    /// Reports duplicate names in an object: readers disagree on which one counts. They are rare,
    /// and the reader has marked the objects that may have them. An escape can hide that two names
    /// are equal, so the decoded names are compared.
    pub(super) fn report_duplicate_names(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        if !node.may_repeat() {
            return;
        }
        let mut names = HashSet::new();
        for value in node.children() {
            let name = value.name();
            if names.contains(&name) {
                let says = format_args!("`{name}` occurs twice; the last one counts");
                self.report_spec_violation("HXPE-006", &EnvelopePath::Member(path, &name), says);
            } else {
                names.insert(name);
            }
        }
    }

    /// Whether a value is of this type.
    #[inline]
    pub(super) fn check_kind(
        &mut self,
        node: Node<'_>,
        path: &EnvelopePath<'_>,
        kind: JsonKind,
        rule: &'static str,
        at: Arguments<'_>,
    ) -> bool {
        let fits = node.kind() == kind;
        if !fits {
            self.report_wrong_kind(node, path, kind, rule, at);
        }
        fits
    }

    /// Reports that a value is not of this type.
    #[cold]
    fn report_wrong_kind(
        &mut self,
        node: Node<'_>,
        path: &EnvelopePath<'_>,
        kind: JsonKind,
        rule: &'static str,
        at: Arguments<'_>,
    ) {
        let (name, words) = match kind {
            JsonKind::Null => ("null", "null"),
            JsonKind::False | JsonKind::True => ("boolean", "true or false"),
            JsonKind::Number => ("number", "a number"),
            JsonKind::Text => ("string", "a string"),
            JsonKind::List => ("array", "a list"),
            JsonKind::Object => ("object", "an object"),
        };
        let says = format_args!("this must be {words}, not {}", node.kind().words());
        self.report_schema_violation(rule, path, "type", || json!({ "type": name }), at, says);
    }

    #[inline]
    pub(super) fn text<'a>(
        &mut self,
        node: Node<'a>,
        path: &EnvelopePath<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<Cow<'a, str>> {
        let text = node.text();
        if text.is_none() {
            self.report_wrong_kind(node, path, JsonKind::Text, rule, format_args!("{at}/type"));
        }
        text
    }

    /// A string that is not empty.
    #[inline]
    pub(super) fn non_empty_text<'a>(
        &mut self,
        node: Node<'a>,
        path: &EnvelopePath<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<Cow<'a, str>> {
        let text = self.text(node, path, rule, at)?;
        if text.is_empty() {
            let params = || json!({ "limit": 1 });
            let says = format_args!("this must not be empty");
            self.report_schema_violation(
                rule,
                path,
                "minLength",
                params,
                format_args!("{at}/minLength"),
                says,
            );
            return None;
        }
        Some(text)
    }

    #[inline]
    pub(super) fn boolean(
        &mut self,
        node: Option<Node<'_>>,
        of: &EnvelopePath<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
    ) {
        if let Some(node) = node
            && !matches!(node.kind(), JsonKind::True | JsonKind::False)
        {
            let name = name.text();
            let at = format_args!("{at}/properties/{name}/type");
            self.report_wrong_kind(node, &EnvelopePath::Member(of, name), JsonKind::True, rule, at);
        }
    }

    /// A list of strings.
    #[inline]
    pub(super) fn texts(
        &mut self,
        node: Option<Node<'_>>,
        of: &EnvelopePath<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
    ) {
        let Some(node) = node else { return };
        let name = name.text();
        let path = EnvelopePath::Member(of, name);
        if !self.check_kind(
            node,
            &path,
            JsonKind::List,
            rule,
            format_args!("{at}/properties/{name}/type"),
        ) {
            return;
        }
        for (n, item) in node.children().enumerate() {
            let at = format_args!("{at}/properties/{name}/items/type");
            self.check_kind(item, &EnvelopePath::Item(&path, n), JsonKind::Text, rule, at);
        }
    }

    /// One of these words.
    #[inline]
    pub(super) fn one_of(
        &mut self,
        node: Option<Node<'_>>,
        of: &EnvelopePath<'_>,
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
        let path = EnvelopePath::Member(of, name);
        if node.kind() == JsonKind::Text {
            let given = node.text().unwrap_or_default();
            let meant = suggestion(&given, words.iter().copied());
            let says = format_args!("{name} must be one of {}{meant}", CommaSeparated(words));
            let params = || json!({ "allowedValues": words });
            let at = format_args!("{at}/properties/{name}/enum");
            self.report_schema_violation(rule, &path, "enum", params, at, says);
        } else {
            let at = format_args!("{at}/properties/{name}/type");
            self.report_wrong_kind(node, &path, JsonKind::Text, rule, at);
        }
    }

    #[inline]
    pub(super) fn number(
        &mut self,
        node: Node<'_>,
        path: &EnvelopePath<'_>,
        rule: &'static str,
        at: &str,
    ) -> Option<f64> {
        match node.number() {
            Some(number) if number.is_finite() => Some(number),
            Some(_) => {
                let says = format_args!("this number exceeds the range of a 64-bit float");
                let params = || json!({ "type": "number" });
                self.report_schema_violation(
                    rule,
                    path,
                    "type",
                    params,
                    format_args!("{at}/type"),
                    says,
                );
                None
            }
            None => {
                self.report_wrong_kind(
                    node,
                    path,
                    JsonKind::Number,
                    rule,
                    format_args!("{at}/type"),
                );
                None
            }
        }
    }

    /// An integer within bounds; `3.0` is one.
    #[inline]
    pub(super) fn whole(
        &mut self,
        node: Option<Node<'_>>,
        of: &EnvelopePath<'_>,
        name: Name,
        rule: &'static str,
        at: &str,
        bounds: (u8, Option<u8>),
    ) -> Option<f64> {
        let name = name.text();
        let (node, path) = (node?, EnvelopePath::Member(of, name));
        let number = self.number(node, &path, rule, at)?;
        if number.fract() != 0.0 {
            let says = format_args!("{name} must be a whole number");
            let params = || json!({ "type": "integer" });
            self.report_schema_violation(
                rule,
                &path,
                "type",
                params,
                format_args!("{at}/type"),
                says,
            );
        }
        self.within(number, &path, rule, at, bounds).then_some(number)
    }

    pub(super) fn within(
        &mut self,
        number: f64,
        path: &EnvelopePath<'_>,
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
            self.report_schema_violation(rule, path, keyword, params, at, says);
        } else {
            let says = format_args!("this must be {least} or more");
            self.report_schema_violation(rule, path, keyword, params, at, says);
        }
        false
    }
}
