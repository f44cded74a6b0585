//! Validates a message. Violations of the published schema are always errors. Violations of the
//! specification's text beyond the schema are warnings, and errors in strict mode. Sections 5, 6
//! and 7.

use std::fmt::Arguments;

use serde_json::json;

use super::check_fields::CommaSeparated;
use super::finding::{
    ConformanceLevel, EnvelopePath, ExperienceFinding, ExperienceReport, FindingSeverity,
    SchemaViolation,
};
use super::registry::NamespaceRegistry;
use super::syntax::{is_semver, is_version, major};
use super::token_stream::{JsonKind, Name, Node, TokenStream, Unreadable};
use super::{INTENTS, VERSION, extensions, fast_path, privacy};

/// The mode and the target level of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValidationOptions {
    /// The level that the message should reach. Missing fields are reported as warnings, in strict
    /// mode as errors.
    pub level: Option<ConformanceLevel>,
    /// Whether unknown fields, loose versions and languages, duplicate names, and namespaces that
    /// redefine the envelope are errors.
    pub strict: bool,
}

/// Validates one message after another and reuses its memory.
#[derive(Debug, Default)]
pub struct Checker {
    rules: ValidationOptions,
    registry: NamespaceRegistry,
    tape: TokenStream,
}

impl Checker {
    pub fn new(rules: ValidationOptions, registry: NamespaceRegistry) -> Self {
        Self { rules, registry, tape: TokenStream::default() }
    }

    /// Validates a message. Every JSON text has a report.
    pub fn check(&mut self, message: &[u8]) -> Result<ExperienceReport, Unreadable> {
        let marked = self.tape.read(message)?;
        let mut check = Check::new(self.rules, &self.registry, true);
        check.message(marked.root());
        Ok(check.report())
    }

    /// The level that a message reaches; `None` if it is not valid. It equals the level of the
    /// report but is faster: it records no findings and skips checks that only warn.
    pub fn level(&mut self, message: &[u8]) -> Result<Option<ConformanceLevel>, Unreadable> {
        if !self.rules.strict
            && let Some(level) = fast_path::fast_level(message)
        {
            return Ok(Some(level));
        }
        let marked = self.tape.read(message)?;
        let mut check = Check::new(self.rules, &self.registry, false);
        check.message(marked.root());
        check.recommended();
        Ok(check.level())
    }
}

/// The maximum number of reported findings of each severity.
const MAX_FINDINGS: usize = 1000;

/// The recommended fields, in the order in which they are checked below.
const RECOMMENDED: [&str; 10] = [
    "/hxp/delivery/format",
    "/hxp/delivery/tone",
    "/hxp/delivery/language",
    "/hxp/cognition/load",
    "/hxp/cognition/estimated_read_seconds",
    "/hxp/cognition/chunking",
    "/hxp/transparency/verification_needed",
    "/hxp/transparency/assumptions",
    "/hxp/negotiation/intent_confirmed",
    "/hxp/negotiation/clarifying_questions",
];

/// The validation of one message.
pub(super) struct Check<'r> {
    pub(super) rules: ValidationOptions,
    pub(super) registry: &'r NamespaceRegistry,
    /// Whether the caller reads the findings.
    tells: bool,
    findings: Vec<ExperienceFinding>,
    counts: [usize; 3],
    omitted: usize,
    missing_core: Vec<&'static str>,
    /// Which of the recommended fields are present.
    pub(super) has: [bool; RECOMMENDED.len()],
    more: bool,
}

impl<'r> Check<'r> {
    fn new(rules: ValidationOptions, registry: &'r NamespaceRegistry, tells: bool) -> Self {
        Self {
            rules,
            registry,
            tells,
            findings: Vec::new(),
            counts: [0; 3],
            omitted: 0,
            missing_core: Vec::new(),
            has: [false; RECOMMENDED.len()],
            more: false,
        }
    }

    /// Whether checks beyond the schema can affect the result.
    fn warns(&self) -> bool {
        self.tells || self.rules.strict
    }

    fn message(&mut self, root: Node<'_>) {
        let path = EnvelopePath::Root;
        if !self.check_kind(root, &path, JsonKind::Object, "HXPE-001", format_args!("#/type")) {
            return;
        }
        if self.warns() {
            self.report_duplicate_names(root, &path);
            self.warn_similar_names(root, &path);
        }
        let [hxp, content] = root.fields([Name::Hxp, Name::Content]);
        let required = [(Name::Hxp, "/hxp", hxp), (Name::Content, "/content", content)];
        self.required(&path, "HXPE-001", "#/required", required);
        if let Some(node) = content {
            self.content(node, &EnvelopePath::Member(&path, "content"));
        }
        if let Some(node) = hxp {
            let path = EnvelopePath::Member(&path, "hxp");
            self.envelope(node, &path);
            let remarkable =
                |node: Node<'_>| node.may_repeat() || privacy::suggests_private_data(node);
            if self.warns()
                && (privacy::may_identify(node.raw())
                    || remarkable(node)
                    || node.descendants().any(remarkable))
            {
                self.check_nested(node, &path);
            }
        }
    }

    /// Warns about names beside `hxp` and `content` that differ only in case.
    fn warn_similar_names(&mut self, root: Node<'_>, path: &EnvelopePath<'_>) {
        for node in root.children().filter(|node| node.known() == Name::Other) {
            let name = node.name();
            if name.eq_ignore_ascii_case("hxp") || name.eq_ignore_ascii_case("content") {
                let says = format_args!(
                    "`{name}` looks like a field of the message; names are lower case"
                );
                self.report_finding(
                    FindingSeverity::Warning,
                    "HXPE-002",
                    &EnvelopePath::Member(path, &name),
                    says,
                );
            }
        }
    }

    /// Checks that apply to every value of an envelope, known or not. Called only if a quick scan
    /// of the envelope found a candidate.
    fn check_nested(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        match node.kind() {
            JsonKind::Text => privacy::text(self, node, path),
            JsonKind::List => {
                for (n, item) in node.children().enumerate() {
                    self.check_nested(item, &EnvelopePath::Item(path, n));
                }
            }
            JsonKind::Object => {
                self.report_duplicate_names(node, path);
                for value in node.children() {
                    let name = value.name();
                    let path = EnvelopePath::Member(path, &name);
                    privacy::name(self, &name, &path);
                    self.check_nested(value, &path);
                }
            }
            JsonKind::Null | JsonKind::False | JsonKind::True | JsonKind::Number => {}
        }
    }

    fn content(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        if !matches!(node.kind(), JsonKind::Text | JsonKind::Object) {
            let says =
                format_args!("content must be a string or an object, not {}", node.kind().words());
            let params = || json!({ "passingSchemas": null });
            let at = format_args!("#/properties/content/oneOf");
            self.report_schema_violation("HXPE-003", path, "oneOf", params, at, says);
        }
    }

    fn envelope(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        if !self.check_kind(
            node,
            path,
            JsonKind::Object,
            "HXPE-001",
            format_args!("#/$defs/hxpEnvelope/type"),
        ) {
            return;
        }
        let [version, intent, delivery, transparency, actions, rest @ ..] = self.fields(
            node,
            path,
            [
                Name::Version,
                Name::Intent,
                Name::Delivery,
                Name::Transparency,
                Name::Actions,
                Name::Cognition,
                Name::Negotiation,
                Name::Refusal,
                Name::Safety,
                Name::Extensions,
            ],
        );
        let [cognition, negotiation, refusal, safety, added] = rest;
        let required = [
            (Name::Version, "/hxp/version", version),
            (Name::Intent, "/hxp/intent", intent),
            (Name::Delivery, "/hxp/delivery", delivery),
            (Name::Transparency, "/hxp/transparency", transparency),
            (Name::Actions, "/hxp/actions", actions),
        ];
        self.required(path, "HXPE-035", "#/$defs/hxpEnvelope/required", required);
        if let Some(node) = version {
            self.version(node, &EnvelopePath::Member(path, "version"));
        }
        let refuses =
            intent.is_some_and(|node| self.intent(node, &EnvelopePath::Member(path, "intent")));
        if let Some(node) = delivery {
            self.delivery(node, &EnvelopePath::Member(path, "delivery"));
        }
        if let Some(node) = cognition {
            self.cognition(node, &EnvelopePath::Member(path, "cognition"));
        }
        if let Some(node) = transparency {
            self.transparency(node, &EnvelopePath::Member(path, "transparency"));
        }
        if let Some(node) = actions {
            self.actions(node, &EnvelopePath::Member(path, "actions"));
        }
        if let Some(node) = negotiation {
            self.negotiation(node, &EnvelopePath::Member(path, "negotiation"));
        }
        self.refusal(refusal, refuses, path);
        if let Some(node) = safety {
            self.safety(node, &EnvelopePath::Member(path, "safety"));
        }
        if let Some(node) = added {
            let path = EnvelopePath::Member(path, "extensions");
            let at = "#/$defs/hxpEnvelope/properties/extensions/type";
            let is_object =
                self.check_kind(node, &path, JsonKind::Object, "HXPE-031", format_args!("{at}"));
            if is_object && self.warns() {
                extensions::check_extensions(self, node, &path);
            }
        }
        self.more = refusal.or(safety).or(added).is_some();
    }

    fn version(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/hxpEnvelope/properties/version";
        let Some(text) = self.text(node, path, "HXPE-007", at) else { return };
        if text == VERSION {
            return;
        }
        if !is_version(&text) {
            let says = format_args!(
                "version must be three numbers separated by dots, without leading zeros, such as \
                 1.0.0"
            );
            let params = || json!({ "pattern": PATTERN });
            self.report_schema_violation(
                "HXPE-007",
                path,
                "pattern",
                params,
                format_args!("{at}/pattern"),
                says,
            );
            return;
        }
        if !is_semver(&text) {
            let says = format_args!(
                "the part of version after the three numbers does not follow Semantic Versioning: \
                 it has empty parts or leading zeros"
            );
            self.report_spec_violation("HXPE-008", path, says);
        }
        if major(&text) != "1" {
            let says = format_args!(
                "version {text} has an unsupported major version; this checker supports major \
                 version 1"
            );
            self.report_spec_violation("HXPE-009", path, says);
        }
    }

    /// Checks the intent, and returns whether it is to refuse.
    fn intent(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) -> bool {
        let at = "#/$defs/hxpEnvelope/properties/intent";
        let Some(text) = self.non_empty_text(node, path, "HXPE-010", at) else { return false };
        if !node.is_among(&INTENTS) {
            let says = format_args!(
                "this intent is not one of the recommended intents ({})",
                CommaSeparated(&INTENTS)
            );
            self.report_finding(FindingSeverity::Note, "HXPE-010", path, says);
        }
        text == "refuse"
    }

    /// Records a missing required field.
    pub(super) fn record_missing(&mut self, place: &'static str) {
        if self.tells && !place.is_empty() {
            self.missing_core.push(place);
        }
    }

    /// Records a finding if the caller reads findings and the limit for its severity is not
    /// reached: a large message can have an unlimited number of them.
    pub(super) fn record_finding(
        &mut self,
        severity: FindingSeverity,
        rule: &'static str,
        path: &EnvelopePath<'_>,
        schema: impl FnOnce() -> Option<SchemaViolation>,
        message: Arguments<'_>,
    ) {
        let [errors, warnings, notes] = &mut self.counts;
        let count = match severity {
            FindingSeverity::Error => errors,
            FindingSeverity::Warning => warnings,
            FindingSeverity::Note => notes,
        };
        *count += 1;
        if *count > MAX_FINDINGS {
            self.omitted += 1;
        } else if self.tells {
            let (pointer, message) = (path.pointer(), message.to_string());
            self.findings.push(ExperienceFinding {
                severity,
                rule,
                pointer,
                schema: schema(),
                message,
            });
        }
    }

    /// Reports recommended fields that are missing for the target level.
    fn recommended(&mut self) {
        if self.rules.level.is_none_or(|level| level < ConformanceLevel::Standard) {
            return;
        }
        for (place, has) in RECOMMENDED.into_iter().zip(self.has) {
            if !has {
                let says = format_args!("a message of this level should have {place}");
                self.report_spec_violation("HXPE-036", &EnvelopePath::Place(place), says);
            }
        }
    }

    fn level(&self) -> Option<ConformanceLevel> {
        let [errors, ..] = self.counts;
        (errors == 0).then_some(match (self.has.contains(&false), self.more) {
            (true, _) => ConformanceLevel::Core,
            (false, false) => ConformanceLevel::Standard,
            (false, true) => ConformanceLevel::Full,
        })
    }

    fn report(mut self) -> ExperienceReport {
        self.recommended();
        let mut missing_standard = Vec::new();
        if self.has.contains(&false) {
            missing_standard.reserve(RECOMMENDED.len());
            let lacking = RECOMMENDED.into_iter().zip(self.has).filter(|(_, has)| !has);
            missing_standard.extend(lacking.map(|(place, _)| place));
        }
        let level = self.level();
        let Self { findings, omitted, missing_core, .. } = self;
        ExperienceReport { level, missing_core, missing_standard, findings, omitted }
    }
}

/// The published pattern, for error messages.
const PATTERN: &str =
    "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-[0-9A-Za-z-.]+)?(?:\\+[0-9A-Za-z-.]+)?$";
