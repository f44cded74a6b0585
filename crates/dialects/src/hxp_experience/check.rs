//! Judging a message: what the published schema says, always; what the specification's sentences
//! say beyond it, as warnings, and as errors in strict mode. Sections 5, 6 and 7.

use serde_json::json;

use super::finding::{Finding, Level, Path, Report, Severity};
use super::registry::Registry;
use super::syntax::{is_language, is_semver, is_version, major};
use super::tape::{Kind, Node, Tape, Unreadable};
use super::{
    CHUNKING, FORMAT, HARM_RISK, INTENTS, NEAR_CERTAIN, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY,
    VERSION, VERY_HARD, extensions, privacy,
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
        let root = self.tape.read(message)?;
        let mut check = Check::new(self.rules, &self.registry);
        check.message(root);
        Ok(check.report())
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
    findings: Vec<Finding>,
    told: [usize; 3],
    omitted: usize,
    pub(super) missing_core: Vec<&'static str>,
    has: [bool; RECOMMENDED.len()],
    more: bool,
}

impl<'r> Check<'r> {
    fn new(rules: Rules, registry: &'r Registry) -> Self {
        Self {
            rules,
            registry,
            findings: Vec::new(),
            told: [0; 3],
            omitted: 0,
            missing_core: Vec::new(),
            has: [false; RECOMMENDED.len()],
            more: false,
        }
    }

    fn message(&mut self, root: Node<'_>) {
        let path = Path::Root;
        if !self.is(root, &path, Kind::Object, "HXPE-001", "#/type") {
            return;
        }
        self.twice(root, &path);
        let (mut hxp, mut content) = (None, None);
        for (name, node) in root.members() {
            match &*name {
                "hxp" => hxp = Some(node),
                "content" => content = Some(node),
                other
                    if other.eq_ignore_ascii_case("hxp")
                        || other.eq_ignore_ascii_case("content") =>
                {
                    let says = format!(
                        "`{other}` is easily taken for a field of the message; names are lower case"
                    );
                    self.say(Severity::Warning, "HXPE-002", &Path::Member(&path, other), says);
                }
                _ => {}
            }
        }
        let required = [("hxp", "/hxp", hxp), ("content", "/content", content)];
        self.required(&path, "HXPE-001", "#/required", required);
        if let Some(node) = content {
            self.content(node, &Path::Member(&path, "content"));
        }
        if let Some(node) = hxp {
            let path = Path::Member(&path, "hxp");
            self.envelope(node, &path);
            self.below(node, &path);
        }
    }

    /// What holds for everything in an envelope, known or not.
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
                for (name, value) in node.members() {
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
            let says = format!("content is a text or an object, not {}", node.kind().words());
            let params = json!({ "passingSchemas": null });
            self.breach("HXPE-003", path, "oneOf", params, "#/properties/content/oneOf", says);
        }
    }

    fn envelope(&mut self, node: Node<'_>, path: &Path<'_>) {
        if !self.is(node, path, Kind::Object, "HXPE-001", "#/$defs/hxpEnvelope/type") {
            return;
        }
        let [version, intent, delivery, transparency, actions, rest @ ..] = self.fields(
            node,
            path,
            [
                "version",
                "intent",
                "delivery",
                "transparency",
                "actions",
                "cognition",
                "negotiation",
                "refusal",
                "safety",
                "extensions",
            ],
        );
        let [cognition, negotiation, refusal, safety, added] = rest;
        let required = [
            ("version", "/hxp/version", version),
            ("intent", "/hxp/intent", intent),
            ("delivery", "/hxp/delivery", delivery),
            ("transparency", "/hxp/transparency", transparency),
            ("actions", "/hxp/actions", actions),
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
            if self.is(node, &path, Kind::Object, "HXPE-031", at) {
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
            let says = "version is three numbers with dots and without leading zeros, as 1.0.0";
            let params = json!({ "pattern": PATTERN });
            self.breach("HXPE-007", path, "pattern", params, &format!("{at}/pattern"), says);
            return;
        }
        if !is_semver(&text) {
            let says = "what follows the three numbers of version is not as Semantic Versioning has \
                        it: no empty parts, no leading zeros";
            self.beyond("HXPE-008", path, says);
        }
        if major(&text) != "1" {
            let says =
                format!("version {text} is of another major version; 1 is what is known here");
            self.beyond("HXPE-009", path, says);
        }
    }

    /// Whether the intent is to refuse.
    fn intent(&mut self, node: Node<'_>, path: &Path<'_>) -> bool {
        let at = "#/$defs/hxpEnvelope/properties/intent";
        let Some(text) = self.filled(node, path, "HXPE-010", at) else { return false };
        if !INTENTS.contains(&&*text) {
            let says = format!("this intent is none of those recommended ({})", INTENTS.join(", "));
            self.say(Severity::Note, "HXPE-010", path, says);
        }
        text == "refuse"
    }

    fn delivery(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/delivery";
        if !self.is(node, path, Kind::Object, "HXPE-011", "#/$defs/delivery/type") {
            return;
        }
        let [verbosity, format, tone, language] =
            self.fields(node, path, ["verbosity", "format", "tone", "language"]);
        let required = [("verbosity", "/hxp/delivery/verbosity", verbosity)];
        self.required(path, "HXPE-012", "#/$defs/delivery/required", required);
        self.one_of(verbosity, path, "verbosity", "HXPE-012", at, VERBOSITY);
        [self.has[0], self.has[1], self.has[2]] =
            [format.is_some(), tone.is_some(), language.is_some()];
        self.one_of(format, path, "format", "HXPE-013", at, FORMAT);
        self.one_of(tone, path, "tone", "HXPE-014", at, TONE);
        let Some(node) = language else { return };
        let path = Path::Member(path, "language");
        let at = "#/$defs/delivery/properties/language";
        let Some(text) = self.text(node, &path, "HXPE-015", at) else { return };
        if text.chars().nth(1).is_none() {
            let says = "language has at least two characters, as en";
            let params = json!({ "limit": 2 });
            self.breach("HXPE-015", &path, "minLength", params, &format!("{at}/minLength"), says);
        } else if !is_language(&text) {
            let says = "language is not a BCP 47 tag, as en, tr or en-US";
            self.beyond("HXPE-015", &path, says);
        }
    }

    fn cognition(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/cognition";
        if !self.is(node, path, Kind::Object, "HXPE-016", "#/$defs/cognition/type") {
            return;
        }
        let [load, seconds, chunking] =
            self.fields(node, path, ["load", "estimated_read_seconds", "chunking"]);
        [self.has[3], self.has[4], self.has[5]] =
            [load.is_some(), seconds.is_some(), chunking.is_some()];
        let (of_load, of_seconds) = (
            "#/$defs/cognition/properties/load",
            "#/$defs/cognition/properties/estimated_read_seconds",
        );
        let hard = self.whole(load, path, "load", "HXPE-017", of_load, (1, Some(10)));
        if hard.is_some_and(|load| load >= VERY_HARD) {
            let says = "this is very hard to read; send it only to whoever asked for that";
            self.say(Severity::Note, "HXPE-062", &Path::Member(path, "load"), says);
        }
        let name = "estimated_read_seconds";
        self.whole(seconds, path, name, "HXPE-018", of_seconds, (0, None));
        self.one_of(chunking, path, "chunking", "HXPE-019", at, CHUNKING);
    }

    fn transparency(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/transparency";
        if !self.is(node, path, Kind::Object, "HXPE-020", "#/$defs/transparency/type") {
            return;
        }
        let [confidence, verification, assumptions, limits] =
            self.fields(node, path, ["confidence", "verification_needed", "assumptions", "limits"]);
        let required = [("confidence", "/hxp/transparency/confidence", confidence)];
        self.required(path, "HXPE-021", "#/$defs/transparency/required", required);
        [self.has[6], self.has[7]] = [verification.is_some(), assumptions.is_some()];
        let sure = confidence.and_then(|node| {
            let path = Path::Member(path, "confidence");
            let at = "#/$defs/transparency/properties/confidence";
            let number = self.number(node, &path, "HXPE-021", at)?;
            self.within(number, &path, "HXPE-021", at, (0, Some(1))).then_some(number)
        });
        self.boolean(verification, path, "verification_needed", "HXPE-022", at);
        self.texts(assumptions, path, "assumptions", "HXPE-023", at);
        self.texts(limits, path, "limits", "HXPE-023", at);
        let doubted = verification.is_some_and(|node| node.kind() == Kind::True)
            || limits.is_some_and(|node| node.inner().next().is_some());
        if doubted && sure.is_some_and(|number| number >= NEAR_CERTAIN) {
            let says = "so much confidence does not go with what the message itself says against it: \
                        verification_needed, or limits";
            self.say(Severity::Note, "HXPE-059", &Path::Member(path, "confidence"), says);
        }
    }

    fn actions(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/hxpEnvelope/properties/actions/type";
        if !self.is(node, path, Kind::List, "HXPE-024", at) {
            return;
        }
        for (n, item) in node.inner().enumerate() {
            let path = Path::Item(path, n);
            if !self.is(item, &path, Kind::Object, "HXPE-024", "#/$defs/action/type") {
                continue;
            }
            let [kind, label, payload] = self.fields(item, &path, ["type", "label", "payload"]);
            self.required(&path, "HXPE-025", "#/$defs/action/required", [("type", "", kind)]);
            if let Some(node) = kind {
                let at = "#/$defs/action/properties/type";
                self.filled(node, &Path::Member(&path, "type"), "HXPE-025", at);
            }
            if let Some(node) = label {
                let at = "#/$defs/action/properties/label";
                self.text(node, &Path::Member(&path, "label"), "HXPE-026", at);
            }
            if let Some(node) = payload {
                let at = "#/$defs/action/properties/payload/type";
                let path = Path::Member(&path, "payload");
                self.is(node, &path, Kind::Object, "HXPE-026", at);
            }
        }
    }

    fn negotiation(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/negotiation";
        if !self.is(node, path, Kind::Object, "HXPE-027", "#/$defs/negotiation/type") {
            return;
        }
        let [confirmed, questions] =
            self.fields(node, path, ["intent_confirmed", "clarifying_questions"]);
        [self.has[8], self.has[9]] = [confirmed.is_some(), questions.is_some()];
        self.boolean(confirmed, path, "intent_confirmed", "HXPE-027", at);
        self.texts(questions, path, "clarifying_questions", "HXPE-027", at);
    }

    fn refusal(&mut self, node: Option<Node<'_>>, refuses: bool, path: &Path<'_>) {
        let at = "#/$defs/refusal";
        let Some(node) = node else {
            if refuses {
                let says = "whoever refuses should say how: add refusal with type and severity";
                self.say(Severity::Warning, "HXPE-029", path, says);
            }
            return;
        };
        let path = Path::Member(path, "refusal");
        if !self.is(node, &path, Kind::Object, "HXPE-028", "#/$defs/refusal/type") {
            return;
        }
        let [kind, severity, redirect] =
            self.fields(node, &path, ["type", "severity", "redirect_available"]);
        self.one_of(kind, &path, "type", "HXPE-028", at, REFUSAL_TYPE);
        self.one_of(severity, &path, "severity", "HXPE-028", at, SEVERITY);
        self.boolean(redirect, &path, "redirect_available", "HXPE-028", at);
        if !refuses {
            let says = "there is a refusal, but the intent is not refuse";
            self.say(Severity::Note, "HXPE-029", &path, says);
        }
    }

    fn safety(&mut self, node: Node<'_>, path: &Path<'_>) {
        let at = "#/$defs/safety";
        if !self.is(node, path, Kind::Object, "HXPE-030", "#/$defs/safety/type") {
            return;
        }
        let [source, risk, flag] =
            self.fields(node, path, ["alignment_source", "harm_risk", "safety_flag"]);
        if let Some(node) = source {
            let at = "#/$defs/safety/properties/alignment_source";
            self.text(node, &Path::Member(path, "alignment_source"), "HXPE-030", at);
        }
        self.one_of(risk, path, "harm_risk", "HXPE-030", at, HARM_RISK);
        self.boolean(flag, path, "safety_flag", "HXPE-030", at);
    }

    /// Takes a finding, unless there are enough of its kind: a large message can be wrong in more
    /// places than anybody reads.
    pub(super) fn found(&mut self, finding: Finding) {
        if !self.has_enough(finding.severity) {
            *self.told(finding.severity) += 1;
            self.findings.push(finding);
        }
    }

    /// Whether there are enough findings of a kind; then one more is only counted. Asked before a
    /// sentence is made wherever a message can be wrong a million times.
    pub(super) fn has_enough(&mut self, of: Severity) -> bool {
        let enough = *self.told(of) >= MOST;
        self.omitted += usize::from(enough);
        enough
    }

    fn told(&mut self, of: Severity) -> &mut usize {
        let [errors, warnings, notes] = &mut self.told;
        match of {
            Severity::Error => errors,
            Severity::Warning => warnings,
            Severity::Note => notes,
        }
    }

    fn report(mut self) -> Report {
        let lacking = RECOMMENDED.iter().zip(self.has).filter(|(_, has)| !has);
        let missing_standard: Vec<&'static str> = lacking.map(|(&place, _)| place).collect();
        if self.rules.level.is_some_and(|level| level >= Level::Standard) {
            for place in &missing_standard {
                let says = format!("a message of this level should have {place}");
                self.beyond_at("HXPE-036", (*place).to_owned(), says);
            }
        }
        let Self { findings, omitted, missing_core, more, .. } = self;
        let mut report = Report { level: None, missing_core, missing_standard, findings, omitted };
        if report.is_valid() {
            report.level = Some(match (report.missing_standard.is_empty(), more) {
                (false, _) => Level::Core,
                (true, false) => Level::Standard,
                (true, true) => Level::Full,
            });
        }
        report
    }
}

/// The published pattern, for whoever is told that it was not met.
const PATTERN: &str =
    "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-[0-9A-Za-z-.]+)?(?:\\+[0-9A-Za-z-.]+)?$";
