//! Judging a message: what the published schema says, always; what the specification's sentences
//! say beyond it, as warnings, and as errors in strict mode. Sections 5, 6 and 7.

use std::fmt::Arguments;

use serde_json::json;

use super::finding::{Breach, Finding, Level, Path, Report, Severity};
use super::registry::Registry;
use super::syntax::{is_semver, is_version, major};
use super::tape::{Kind, Name, Node, Tape, Unreadable};
use super::tools::Words;
use super::{INTENTS, VERSION, extensions, glance, privacy};

/// How strictly, and held against which level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// The level the message should have. What it lacks is then said: as warnings, in strict mode
    /// as errors.
    pub level: Option<Level>,
    /// Whether unknown fields, loose versions and languages, names given twice and namespaces that
    /// redefine the envelope are errors.
    pub strict: bool,
}

/// Judges messages, one after another, with one piece of memory.
#[derive(Debug, Default)]
pub struct Checker {
    rules: Rules,
    registry: Registry,
    tape: Tape,
}

impl Checker {
    /// A checker with these rules, for these namespaces.
    pub fn new(rules: Rules, registry: Registry) -> Self {
        Self { rules, registry, tape: Tape::default() }
    }

    /// Judges one message. Whatever is JSON has a report.
    pub fn check(&mut self, message: &[u8]) -> Result<Report, Unreadable> {
        let marked = self.tape.read(message)?;
        let mut check = Check::new(self.rules, &self.registry, true);
        check.message(marked.root());
        Ok(check.report())
    }

    /// The level one message reaches; none if it is not valid. The same as the report would say, for
    /// whoever does not read why: nothing is written down, and what could only be a warning is not
    /// looked for.
    pub fn level(&mut self, message: &[u8]) -> Result<Option<Level>, Unreadable> {
        if !self.rules.strict
            && let Some(level) = glance::level(message)
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

/// So many errors are told, so many warnings, and so many notes.
const MOST: usize = 1000;

/// What should be there, in the order it is asked for below.
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

/// One message being judged.
pub(super) struct Check<'r> {
    pub(super) rules: Rules,
    pub(super) registry: &'r Registry,
    /// Whether somebody wants to read what is found.
    tells: bool,
    findings: Vec<Finding>,
    counts: [usize; 3],
    omitted: usize,
    missing_core: Vec<&'static str>,
    /// Which of those recommended are there.
    pub(super) has: [bool; RECOMMENDED.len()],
    more: bool,
}

impl<'r> Check<'r> {
    fn new(rules: Rules, registry: &'r Registry, tells: bool) -> Self {
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

    /// Whether warnings of what is beyond the schema matter to anybody.
    fn warns(&self) -> bool {
        self.tells || self.rules.strict
    }

    fn message(&mut self, root: Node<'_>) {
        let path = Path::Root;
        if !self.is(root, &path, Kind::Object, "HXPE-001", format_args!("#/type")) {
            return;
        }
        if self.warns() {
            self.twice(root, &path);
            self.look_alikes(root, &path);
        }
        let [hxp, content] = root.fields([Name::Hxp, Name::Content]);
        let required = [(Name::Hxp, "/hxp", hxp), (Name::Content, "/content", content)];
        self.required(&path, "HXPE-001", "#/required", required);
        if let Some(node) = content {
            self.content(node, &Path::Member(&path, "content"));
        }
        if let Some(node) = hxp {
            let path = Path::Member(&path, "hxp");
            self.envelope(node, &path);
            let remarkable = |node: Node<'_>| node.may_repeat() || privacy::may_be_told(node);
            if self.warns()
                && (privacy::may_identify(node.raw())
                    || remarkable(node)
                    || node.all_below().any(remarkable))
            {
                self.below(node, &path);
            }
        }
    }

    /// Names beside envelope and content that are nearly theirs.
    fn look_alikes(&mut self, root: Node<'_>, path: &Path<'_>) {
        for node in root.inner().filter(|node| node.known() == Name::Other) {
            let name = node.name();
            if name.eq_ignore_ascii_case("hxp") || name.eq_ignore_ascii_case("content") {
                let says = format_args!(
                    "`{name}` is easily taken for a field of the message; names are lower case"
                );
                self.say(Severity::Warning, "HXPE-002", &Path::Member(path, &name), says);
            }
        }
    }

    /// What holds for everything in an envelope, known or not. Only called where a glance at all of
    /// it found something.
    fn below(&mut self, node: Node<'_>, path: &Path<'_>) {
        match node.kind() {
            Kind::Text => privacy::text(self, node, path),
            Kind::List => {
                for (n, item) in node.inner().enumerate() {
                    self.below(item, &Path::Item(path, n));
                }
            }
            Kind::Object => {
                self.twice(node, path);
                for value in node.inner() {
                    let name = value.name();
                    let path = Path::Member(path, &name);
                    privacy::name(self, &name, &path);
                    self.below(value, &path);
                }
            }
            Kind::Null | Kind::False | Kind::True | Kind::Number => {}
        }
    }

    fn content(&mut self, node: Node<'_>, path: &Path<'_>) {
        if !matches!(node.kind(), Kind::Text | Kind::Object) {
            let says = format_args!("content is a text or an object, not {}", node.kind().words());
            let params = || json!({ "passingSchemas": null });
            let at = format_args!("#/properties/content/oneOf");
            self.breach("HXPE-003", path, "oneOf", params, at, says);
        }
    }

    fn envelope(&mut self, node: Node<'_>, path: &Path<'_>) {
        if !self.is(node, path, Kind::Object, "HXPE-001", format_args!("#/$defs/hxpEnvelope/type"))
        {
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
            self.version(node, &Path::Member(path, "version"));
        }
        let refuses = intent.is_some_and(|node| self.intent(node, &Path::Member(path, "intent")));
        if let Some(node) = delivery {
            self.delivery(node, &Path::Member(path, "delivery"));
        }
        if let Some(node) = cognition {
            self.cognition(node, &Path::Member(path, "cognition"));
        }
        if let Some(node) = transparency {
            self.transparency(node, &Path::Member(path, "transparency"));
        }
        if let Some(node) = actions {
            self.actions(node, &Path::Member(path, "actions"));
        }
        if let Some(node) = negotiation {
            self.negotiation(node, &Path::Member(path, "negotiation"));
        }
        self.refusal(refusal, refuses, path);
        if let Some(node) = safety {
            self.safety(node, &Path::Member(path, "safety"));
        }
        if let Some(node) = added {
            let path = Path::Member(path, "extensions");
            let at = "#/$defs/hxpEnvelope/properties/extensions/type";
            let is_object = self.is(node, &path, Kind::Object, "HXPE-031", format_args!("{at}"));
            if is_object && self.warns() {
                extensions::look(self, node, &path);
            }
        }
        self.more = refusal.or(safety).or(added).is_some();
    }

    fn version(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/hxpEnvelope/properties/version";
        let Some(text) = self.text(node, path, "HXPE-007", at) else { return };
        if text == VERSION {
            return;
        }
        if !is_version(&text) {
            let says = format_args!(
                "version is three numbers with dots and without leading zeros, as 1.0.0"
            );
            let params = || json!({ "pattern": PATTERN });
            self.breach("HXPE-007", path, "pattern", params, format_args!("{at}/pattern"), says);
            return;
        }
        if !is_semver(&text) {
            let says = format_args!(
                "what follows the three numbers of version is not as Semantic Versioning has it: no \
                 empty parts, no leading zeros"
            );
            self.beyond("HXPE-008", path, says);
        }
        if major(&text) != "1" {
            let says =
                format_args!("version {text} is of another major version; 1 is what is known here");
            self.beyond("HXPE-009", path, says);
        }
    }

    /// Whether the intent is to refuse.
    fn intent(&mut self, node: Node<'_>, path: &Path<'_>) -> bool {
        let at = "#/$defs/hxpEnvelope/properties/intent";
        let Some(text) = self.filled(node, path, "HXPE-010", at) else { return false };
        if !node.is_among(&INTENTS) {
            let says =
                format_args!("this intent is none of those recommended ({})", Words(&INTENTS));
            self.say(Severity::Note, "HXPE-010", path, says);
        }
        text == "refuse"
    }

    /// Notes what must be there and is not.
    pub(super) fn lacks(&mut self, place: &'static str) {
        if self.tells && !place.is_empty() {
            self.missing_core.push(place);
        }
    }

    /// Takes a finding. It is written down if somebody reads it and there are not enough of its kind:
    /// a large message can be wrong in more places than anybody reads.
    pub(super) fn found(
        &mut self,
        severity: Severity,
        rule: &'static str,
        path: &Path<'_>,
        schema: impl FnOnce() -> Option<Breach>,
        message: Arguments<'_>,
    ) {
        let [errors, warnings, notes] = &mut self.counts;
        let count = match severity {
            Severity::Error => errors,
            Severity::Warning => warnings,
            Severity::Note => notes,
        };
        *count += 1;
        if *count > MOST {
            self.omitted += 1;
        } else if self.tells {
            let (pointer, message) = (path.pointer(), message.to_string());
            self.findings.push(Finding { severity, rule, pointer, schema: schema(), message });
        }
    }

    /// Says what a message of the level it is held against should have.
    fn recommended(&mut self) {
        if self.rules.level.is_none_or(|level| level < Level::Standard) {
            return;
        }
        for (place, has) in RECOMMENDED.into_iter().zip(self.has) {
            if !has {
                let says = format_args!("a message of this level should have {place}");
                self.beyond("HXPE-036", &Path::Place(place), says);
            }
        }
    }

    fn level(&self) -> Option<Level> {
        let [errors, ..] = self.counts;
        (errors == 0).then_some(match (self.has.contains(&false), self.more) {
            (true, _) => Level::Core,
            (false, false) => Level::Standard,
            (false, true) => Level::Full,
        })
    }

    fn report(mut self) -> Report {
        self.recommended();
        let mut missing_standard = Vec::new();
        if self.has.contains(&false) {
            missing_standard.reserve(RECOMMENDED.len());
            let lacking = RECOMMENDED.into_iter().zip(self.has).filter(|(_, has)| !has);
            missing_standard.extend(lacking.map(|(place, _)| place));
        }
        let level = self.level();
        let Self { findings, omitted, missing_core, .. } = self;
        Report { level, missing_core, missing_standard, findings, omitted }
    }
}

/// The published pattern, for whoever is told that it was not met.
const PATTERN: &str =
    "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-[0-9A-Za-z-.]+)?(?:\\+[0-9A-Za-z-.]+)?$";
