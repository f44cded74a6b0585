//! Judging a message: what the published schema says, always; what the specification's sentences
//! say beyond it, as warnings, and as errors in strict mode. Sections 5, 6 and 7.

use std::fmt::Arguments;

use serde_json::json;

use super::finding::{Breach, Finding, Level, Path, Report, Severity};
use super::registry::Registry;
use super::syntax::{is_language, is_semver, is_version, major};
use super::tape::{Kind, Name, Node, Tape, Unreadable};
use super::tools::Words;
use super::{
    CHUNKING, FORMAT, HARM_RISK, INTENTS, NEAR_CERTAIN, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY,
    VERSION, VERY_HARD, extensions, glance, privacy,
};

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
    has: [bool; RECOMMENDED.len()],
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

    fn delivery(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/delivery";
        if !self.is(node, path, Kind::Object, "HXPE-011", format_args!("#/$defs/delivery/type")) {
            return;
        }
        let [verbosity, format, tone, language] =
            self.fields(node, path, [Name::Verbosity, Name::Format, Name::Tone, Name::Language]);
        let required = [(Name::Verbosity, "/hxp/delivery/verbosity", verbosity)];
        self.required(path, "HXPE-012", "#/$defs/delivery/required", required);
        self.one_of(verbosity, path, Name::Verbosity, "HXPE-012", at, VERBOSITY);
        [self.has[0], self.has[1], self.has[2]] =
            [format.is_some(), tone.is_some(), language.is_some()];
        self.one_of(format, path, Name::Format, "HXPE-013", at, FORMAT);
        self.one_of(tone, path, Name::Tone, "HXPE-014", at, TONE);
        let Some(node) = language else { return };
        let path = Path::Member(path, "language");
        let at = "#/$defs/delivery/properties/language";
        let Some(text) = self.text(node, &path, "HXPE-015", at) else { return };
        if text.chars().nth(1).is_none() {
            let says = format_args!("language has at least two characters, as en");
            let params = || json!({ "limit": 2 });
            let at = format_args!("{at}/minLength");
            self.breach("HXPE-015", &path, "minLength", params, at, says);
        } else if !is_language(&text) {
            let says = format_args!("language is not a BCP 47 tag, as en, tr or en-US");
            self.beyond("HXPE-015", &path, says);
        }
    }

    fn cognition(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/cognition";
        if !self.is(node, path, Kind::Object, "HXPE-016", format_args!("#/$defs/cognition/type")) {
            return;
        }
        let [load, seconds, chunking] =
            self.fields(node, path, [Name::Load, Name::EstimatedReadSeconds, Name::Chunking]);
        [self.has[3], self.has[4], self.has[5]] =
            [load.is_some(), seconds.is_some(), chunking.is_some()];
        let (of_load, of_seconds) = (
            "#/$defs/cognition/properties/load",
            "#/$defs/cognition/properties/estimated_read_seconds",
        );
        let hard = self.whole(load, path, Name::Load, "HXPE-017", of_load, (1, Some(10)));
        if hard.is_some_and(|load| load >= VERY_HARD) {
            let says =
                format_args!("this is very hard to read; send it only to whoever asked for that");
            self.say(Severity::Note, "HXPE-062", &Path::Member(path, "load"), says);
        }
        let name = Name::EstimatedReadSeconds;
        self.whole(seconds, path, name, "HXPE-018", of_seconds, (0, None));
        self.one_of(chunking, path, Name::Chunking, "HXPE-019", at, CHUNKING);
    }

    fn transparency(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/transparency";
        if !self.is(node, path, Kind::Object, "HXPE-020", format_args!("#/$defs/transparency/type"))
        {
            return;
        }
        let [confidence, verification, assumptions, limits] = self.fields(
            node,
            path,
            [Name::Confidence, Name::VerificationNeeded, Name::Assumptions, Name::Limits],
        );
        let required = [(Name::Confidence, "/hxp/transparency/confidence", confidence)];
        self.required(path, "HXPE-021", "#/$defs/transparency/required", required);
        [self.has[6], self.has[7]] = [verification.is_some(), assumptions.is_some()];
        let sure = confidence.and_then(|node| {
            let path = Path::Member(path, "confidence");
            let at = "#/$defs/transparency/properties/confidence";
            let number = self.number(node, &path, "HXPE-021", at)?;
            self.within(number, &path, "HXPE-021", at, (0, Some(1))).then_some(number)
        });
        self.boolean(verification, path, Name::VerificationNeeded, "HXPE-022", at);
        self.texts(assumptions, path, Name::Assumptions, "HXPE-023", at);
        self.texts(limits, path, Name::Limits, "HXPE-023", at);
        let doubted = verification.is_some_and(|node| node.kind() == Kind::True)
            || limits.is_some_and(|node| node.inner().next().is_some());
        if doubted && sure.is_some_and(|number| number >= NEAR_CERTAIN) {
            let says = format_args!(
                "so much confidence does not go with what the message itself says against it: \
                 verification_needed, or limits"
            );
            self.say(Severity::Note, "HXPE-059", &Path::Member(path, "confidence"), says);
        }
    }

    fn actions(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/hxpEnvelope/properties/actions/type";
        if !self.is(node, path, Kind::List, "HXPE-024", format_args!("{at}")) {
            return;
        }
        for (n, item) in node.inner().enumerate() {
            let path = Path::Item(path, n);
            if !self.is(item, &path, Kind::Object, "HXPE-024", format_args!("#/$defs/action/type"))
            {
                continue;
            }
            let [kind, label, payload] =
                self.fields(item, &path, [Name::Type, Name::Label, Name::Payload]);
            self.required(&path, "HXPE-025", "#/$defs/action/required", [(Name::Type, "", kind)]);
            if let Some(node) = kind {
                let at = "#/$defs/action/properties/type";
                self.filled(node, &Path::Member(&path, "type"), "HXPE-025", at);
            }
            if let Some(node) = label {
                let at = format_args!("#/$defs/action/properties/label/type");
                let path = Path::Member(&path, "label");
                self.is(node, &path, Kind::Text, "HXPE-026", at);
            }
            if let Some(node) = payload {
                let at = "#/$defs/action/properties/payload/type";
                let path = Path::Member(&path, "payload");
                self.is(node, &path, Kind::Object, "HXPE-026", format_args!("{at}"));
            }
        }
    }

    fn negotiation(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/negotiation";
        if !self.is(node, path, Kind::Object, "HXPE-027", format_args!("#/$defs/negotiation/type"))
        {
            return;
        }
        let [confirmed, questions] =
            self.fields(node, path, [Name::IntentConfirmed, Name::ClarifyingQuestions]);
        [self.has[8], self.has[9]] = [confirmed.is_some(), questions.is_some()];
        self.boolean(confirmed, path, Name::IntentConfirmed, "HXPE-027", at);
        self.texts(questions, path, Name::ClarifyingQuestions, "HXPE-027", at);
    }

    fn refusal(&mut self, node: Option<Node<'_>>, refuses: bool, path: &Path<'_>) {
        let at = "#/$defs/refusal";
        let Some(node) = node else {
            if refuses {
                let says = format_args!(
                    "whoever refuses should say how: add refusal with type and severity"
                );
                self.say(Severity::Warning, "HXPE-029", path, says);
            }
            return;
        };
        let path = Path::Member(path, "refusal");
        if !self.is(node, &path, Kind::Object, "HXPE-028", format_args!("#/$defs/refusal/type")) {
            return;
        }
        let [kind, severity, redirect] =
            self.fields(node, &path, [Name::Type, Name::Severity, Name::RedirectAvailable]);
        self.one_of(kind, &path, Name::Type, "HXPE-028", at, REFUSAL_TYPE);
        self.one_of(severity, &path, Name::Severity, "HXPE-028", at, SEVERITY);
        self.boolean(redirect, &path, Name::RedirectAvailable, "HXPE-028", at);
        if !refuses {
            let says = format_args!("there is a refusal, but the intent is not refuse");
            self.say(Severity::Note, "HXPE-029", &path, says);
        }
    }

    fn safety(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/safety";
        if !self.is(node, path, Kind::Object, "HXPE-030", format_args!("#/$defs/safety/type")) {
            return;
        }
        let [source, risk, flag] =
            self.fields(node, path, [Name::AlignmentSource, Name::HarmRisk, Name::SafetyFlag]);
        if let Some(node) = source {
            let at = format_args!("#/$defs/safety/properties/alignment_source/type");
            let path = Path::Member(path, "alignment_source");
            self.is(node, &path, Kind::Text, "HXPE-030", at);
        }
        self.one_of(risk, path, Name::HarmRisk, "HXPE-030", at, HARM_RISK);
        self.boolean(flag, path, Name::SafetyFlag, "HXPE-030", at);
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
