//! The parts of an envelope, field by field. Section 7.

use serde_json::json;

use super::check::Check;
use super::finding::{EnvelopePath, FindingSeverity};
use super::syntax::is_language;
use super::token_stream::{JsonKind, Name, Node};
use super::{
    CHUNKING, FORMAT, HARM_RISK, NEAR_CERTAIN, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY, VERY_HARD,
};

impl Check<'_> {
    pub(super) fn delivery(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/delivery";
        if !self.check_kind(
            node,
            path,
            JsonKind::Object,
            "HXPE-011",
            format_args!("#/$defs/delivery/type"),
        ) {
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
        let path = EnvelopePath::Member(path, "language");
        let at = "#/$defs/delivery/properties/language";
        let Some(text) = self.text(node, &path, "HXPE-015", at) else { return };
        if text.chars().nth(1).is_none() {
            let says = format_args!("language must have at least two characters, such as en");
            let params = || json!({ "limit": 2 });
            let at = format_args!("{at}/minLength");
            self.report_schema_violation("HXPE-015", &path, "minLength", params, at, says);
        } else if !is_language(&text) {
            let says = format_args!("language must be a BCP 47 tag such as en, tr or en-US");
            self.report_spec_violation("HXPE-015", &path, says);
        }
    }

    pub(super) fn cognition(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/cognition";
        if !self.check_kind(
            node,
            path,
            JsonKind::Object,
            "HXPE-016",
            format_args!("#/$defs/cognition/type"),
        ) {
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
            let says = format_args!(
                "this load is very high; send such a message only to people who asked for it"
            );
            self.report_finding(
                FindingSeverity::Note,
                "HXPE-062",
                &EnvelopePath::Member(path, "load"),
                says,
            );
        }
        let name = Name::EstimatedReadSeconds;
        self.whole(seconds, path, name, "HXPE-018", of_seconds, (0, None));
        self.one_of(chunking, path, Name::Chunking, "HXPE-019", at, CHUNKING);
    }

    pub(super) fn transparency(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/transparency";
        if !self.check_kind(
            node,
            path,
            JsonKind::Object,
            "HXPE-020",
            format_args!("#/$defs/transparency/type"),
        ) {
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
            let path = EnvelopePath::Member(path, "confidence");
            let at = "#/$defs/transparency/properties/confidence";
            let number = self.number(node, &path, "HXPE-021", at)?;
            self.within(number, &path, "HXPE-021", at, (0, Some(1))).then_some(number)
        });
        self.boolean(verification, path, Name::VerificationNeeded, "HXPE-022", at);
        self.texts(assumptions, path, Name::Assumptions, "HXPE-023", at);
        self.texts(limits, path, Name::Limits, "HXPE-023", at);
        let doubted = verification.is_some_and(|node| node.kind() == JsonKind::True)
            || limits.is_some_and(|node| node.children().next().is_some());
        if doubted && sure.is_some_and(|number| number >= NEAR_CERTAIN) {
            let says = format_args!(
                "this confidence is too high for a message with verification_needed or limits"
            );
            self.report_finding(
                FindingSeverity::Note,
                "HXPE-059",
                &EnvelopePath::Member(path, "confidence"),
                says,
            );
        }
    }

    pub(super) fn actions(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/hxpEnvelope/properties/actions/type";
        if !self.check_kind(node, path, JsonKind::List, "HXPE-024", format_args!("{at}")) {
            return;
        }
        for (n, item) in node.children().enumerate() {
            let path = EnvelopePath::Item(path, n);
            if !self.check_kind(
                item,
                &path,
                JsonKind::Object,
                "HXPE-024",
                format_args!("#/$defs/action/type"),
            ) {
                continue;
            }
            let [kind, label, payload] =
                self.fields(item, &path, [Name::Type, Name::Label, Name::Payload]);
            self.required(&path, "HXPE-025", "#/$defs/action/required", [(Name::Type, "", kind)]);
            if let Some(node) = kind {
                let at = "#/$defs/action/properties/type";
                self.non_empty_text(node, &EnvelopePath::Member(&path, "type"), "HXPE-025", at);
            }
            if let Some(node) = label {
                let at = format_args!("#/$defs/action/properties/label/type");
                let path = EnvelopePath::Member(&path, "label");
                self.check_kind(node, &path, JsonKind::Text, "HXPE-026", at);
            }
            if let Some(node) = payload {
                let at = "#/$defs/action/properties/payload/type";
                let path = EnvelopePath::Member(&path, "payload");
                self.check_kind(node, &path, JsonKind::Object, "HXPE-026", format_args!("{at}"));
            }
        }
    }

    pub(super) fn negotiation(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/negotiation";
        if !self.check_kind(
            node,
            path,
            JsonKind::Object,
            "HXPE-027",
            format_args!("#/$defs/negotiation/type"),
        ) {
            return;
        }
        let [confirmed, questions] =
            self.fields(node, path, [Name::IntentConfirmed, Name::ClarifyingQuestions]);
        [self.has[8], self.has[9]] = [confirmed.is_some(), questions.is_some()];
        self.boolean(confirmed, path, Name::IntentConfirmed, "HXPE-027", at);
        self.texts(questions, path, Name::ClarifyingQuestions, "HXPE-027", at);
    }

    pub(super) fn refusal(
        &mut self,
        node: Option<Node<'_>>,
        refuses: bool,
        path: &EnvelopePath<'_>,
    ) {
        let at = "#/$defs/refusal";
        let Some(node) = node else {
            if refuses {
                let says = format_args!(
                    "an envelope with the intent refuse should have a refusal with type and \
                     severity"
                );
                self.report_finding(FindingSeverity::Warning, "HXPE-029", path, says);
            }
            return;
        };
        let path = EnvelopePath::Member(path, "refusal");
        if !self.check_kind(
            node,
            &path,
            JsonKind::Object,
            "HXPE-028",
            format_args!("#/$defs/refusal/type"),
        ) {
            return;
        }
        let [kind, severity, redirect] =
            self.fields(node, &path, [Name::Type, Name::Severity, Name::RedirectAvailable]);
        self.one_of(kind, &path, Name::Type, "HXPE-028", at, REFUSAL_TYPE);
        self.one_of(severity, &path, Name::Severity, "HXPE-028", at, SEVERITY);
        self.boolean(redirect, &path, Name::RedirectAvailable, "HXPE-028", at);
        if !refuses {
            let says = format_args!("the envelope has a refusal, but its intent is not refuse");
            self.report_finding(FindingSeverity::Note, "HXPE-029", &path, says);
        }
    }

    pub(super) fn safety(&mut self, node: Node<'_>, path: &EnvelopePath<'_>) {
        let at = "#/$defs/safety";
        if !self.check_kind(
            node,
            path,
            JsonKind::Object,
            "HXPE-030",
            format_args!("#/$defs/safety/type"),
        ) {
            return;
        }
        let [source, risk, flag] =
            self.fields(node, path, [Name::AlignmentSource, Name::HarmRisk, Name::SafetyFlag]);
        if let Some(node) = source {
            let at = format_args!("#/$defs/safety/properties/alignment_source/type");
            let path = EnvelopePath::Member(path, "alignment_source");
            self.check_kind(node, &path, JsonKind::Text, "HXPE-030", at);
        }
        self.one_of(risk, path, Name::HarmRisk, "HXPE-030", at, HARM_RISK);
        self.boolean(flag, path, Name::SafetyFlag, "HXPE-030", at);
    }
}
