//! A message with an HXP eXperience envelope, as a reader would see it: the agent's claims, its
//! text, and the findings, each at its place.

use askama::Template;
use dialects::hxp_experience::view::{AgentRefusal, EnvelopeAction, SafetyClaims};
use dialects::hxp_experience::{
    ConformanceLevel, EnvelopeView, ExperienceFinding, ExperienceReport, FindingSeverity,
    Unreadable, ValidationOptions,
};
use serde_json::{Map, Value};

use crate::components::facts::TextBlock;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The maximum number of findings in one place.
const MOST: usize = 100;

/// The submitted message and its result.
#[derive(Debug, Default)]
pub struct EnvelopePage {
    pub message: String,
    /// The rules for the check.
    pub rules: ValidationOptions,
    /// The result, once there is one.
    pub verdict: Option<Result<ExperienceReport, Unreadable>>,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, looked: &EnvelopePage) -> String {
    let report = looked.verdict.as_ref().and_then(|verdict| verdict.as_ref().ok());
    let message: Option<Map<String, Value>> =
        report.and_then(|_| serde_json::from_str(&looked.message).ok());
    let mut left: Vec<&ExperienceFinding> =
        report.iter().flat_map(|report| &report.findings).collect();
    let claims = message.as_ref().map(|message| claims(&EnvelopeView::of(message), &mut left));
    let content = message.as_ref().and_then(|message| message.get("content")).map(|content| {
        let text = match content {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        TextBlock::new("content".to_owned(), &text)
    });
    let count = |severity| {
        report.map_or(0, |report| {
            report.findings.iter().filter(|one| one.severity == severity).count()
        })
    };
    render(&EnvelopeTemplate {
        frame,
        looked,
        unreadable: looked.verdict.as_ref().and_then(|verdict| verdict.as_ref().err()),
        report,
        errors: count(FindingSeverity::Error),
        warnings: count(FindingSeverity::Warning),
        claims: claims.unwrap_or_default(),
        content,
        more: left.len().saturating_sub(MOST),
        elsewhere: left.into_iter().take(MOST).map(FindingView::of).collect(),
    })
}

#[derive(Template)]
#[template(path = "envelope/envelope.html")]
struct EnvelopeTemplate<'a> {
    frame: &'a PageContext,
    looked: &'a EnvelopePage,
    unreadable: Option<&'a Unreadable>,
    report: Option<&'a ExperienceReport>,
    errors: usize,
    warnings: usize,
    claims: Vec<EnvelopeClaim>,
    content: Option<TextBlock>,
    elsewhere: Vec<FindingView>,
    more: usize,
}

impl EnvelopeTemplate<'_> {
    fn levels(&self) -> impl Iterator<Item = (ConformanceLevel, bool)> {
        ConformanceLevel::ALL
            .into_iter()
            .map(|level| (level, self.looked.rules.level == Some(level)))
    }

    /// The conformance level, in words.
    fn reached(&self) -> &'static str {
        match self.report.and_then(|report| report.level) {
            Some(ConformanceLevel::Core) => "It has what every message must have (Core).",
            Some(ConformanceLevel::Standard) => "It has all that is recommended (Standard).",
            Some(ConformanceLevel::Full) => "It has all that is recommended and more (Full).",
            None => "It reaches no level.",
        }
    }
}

/// One claim of the agent, with its findings.
struct EnvelopeClaim {
    name: &'static str,
    values: Vec<VisibleText>,
    remarks: Vec<FindingView>,
}

/// A finding, as the page shows it.
struct FindingView {
    class: &'static str,
    severity: &'static str,
    rule: &'static str,
    place: VisibleText,
    message: VisibleText,
}

impl FindingView {
    fn of(finding: &ExperienceFinding) -> Self {
        let (class, severity) = match finding.severity {
            FindingSeverity::Error => ("error", "Error"),
            FindingSeverity::Warning => ("hint", "Warning"),
            FindingSeverity::Note => ("hint", "Note"),
        };
        let place = if finding.pointer.is_empty() { "the message" } else { &finding.pointer };
        Self {
            class,
            severity,
            rule: finding.rule,
            place: VisibleText::of(place),
            message: VisibleText::of(&finding.message),
        }
    }
}

/// The claims of an envelope, in the order that a reader needs. Removes the findings that belong to
/// them from `left`.
fn claims(view: &EnvelopeView, left: &mut Vec<&ExperienceFinding>) -> Vec<EnvelopeClaim> {
    let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
    let word = |value: Option<&str>| one(value.map(ToOwned::to_owned));
    let yes = |value: Option<bool>| word(value.map(|yes| if yes { "yes" } else { "no" }));
    let percent = |confidence: f64| format!("{} %", (confidence * 1000.0).round() / 10.0);
    let rows: Vec<(&'static str, &str, Vec<String>)> = vec![
        ("What it is for", "/hxp/intent", one(view.intent.clone())),
        (
            "How sure the agent says it is",
            "/hxp/transparency/confidence",
            one(view.confidence.map(percent)),
        ),
        (
            "Should be verified",
            "/hxp/transparency/verification_needed",
            yes(view.verification_needed),
        ),
        ("Assumes", "/hxp/transparency/assumptions", view.assumptions.clone()),
        ("Does not know", "/hxp/transparency/limits", view.limits.clone()),
        ("Refuses", "/hxp/refusal", view.refusal.as_ref().map(refusal).unwrap_or_default()),
        ("Safety", "/hxp/safety", view.safety.as_ref().map(safety).unwrap_or_default()),
        ("Asks first", "/hxp/negotiation/clarifying_questions", view.questions.clone()),
        (
            "Made sure what was wanted",
            "/hxp/negotiation/intent_confirmed",
            yes(view.intent_confirmed),
        ),
        (
            "How hard to read",
            "/hxp/cognition/load",
            one(view.load.map(|load| format!("{load} of 10"))),
        ),
        (
            "How long to read",
            "/hxp/cognition/estimated_read_seconds",
            one(view.read_seconds.map(|n| format!("{n} s"))),
        ),
        ("Cut into pieces", "/hxp/cognition/chunking", word(view.chunking)),
        ("How much", "/hxp/delivery/verbosity", word(view.verbosity)),
        ("Laid out as", "/hxp/delivery/format", word(view.format)),
        ("Tone", "/hxp/delivery/tone", word(view.tone)),
        ("Language", "/hxp/delivery/language", one(view.language.clone())),
        ("Offers", "/hxp/actions", view.actions.iter().map(action).collect()),
        ("Added by", "/hxp/extensions", view.extensions.clone()),
        ("Version", "/hxp/version", one(view.version.clone())),
    ];
    let mut claims = Vec::new();
    for (name, place, values) in rows {
        let belongs = |finding: &&ExperienceFinding| {
            let rest = finding.pointer.strip_prefix(place);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (mine, others): (Vec<&ExperienceFinding>, Vec<&ExperienceFinding>) =
            left.iter().partition(|one| belongs(one));
        if values.is_empty() && mine.is_empty() {
            continue;
        }
        // If there are very many findings, the rest are listed with those that belong to no claim.
        let shown = mine.len().min(MOST);
        let (mine, rest) = mine.split_at(shown);
        *left = [others, rest.to_vec()].concat();
        let values = values.iter().take(MOST).map(|value| VisibleText::of(value)).collect();
        let remarks = mine.iter().map(|finding| FindingView::of(finding)).collect();
        claims.push(EnvelopeClaim { name, values, remarks });
    }
    claims
}

fn action(action: &EnvelopeAction) -> String {
    match &action.label {
        Some(label) => format!("{label} ({})", action.kind),
        None => action.kind.clone(),
    }
}

fn refusal(refusal: &AgentRefusal) -> Vec<String> {
    let kind = refusal.kind.map(|kind| format!("because of: {kind}"));
    let severity = refusal.severity.map(|severity| match severity {
        "hard" => "for good".to_owned(),
        _ => "open to talk".to_owned(),
    });
    let redirect = refusal.redirect_available.map(|is| {
        let says = if is { "would do something else" } else { "offers nothing else" };
        says.to_owned()
    });
    let said: Vec<String> = [kind, severity, redirect].into_iter().flatten().collect();
    if said.is_empty() { vec!["yes".to_owned()] } else { said }
}

fn safety(safety: &SafetyClaims) -> Vec<String> {
    let source = safety.alignment_source.as_ref().map(|source| format!("goes by: {source}"));
    let risk = safety.harm_risk.map(|risk| format!("risk of harm: {risk}"));
    let flag = safety.flag.map(|flag| {
        let says = if flag { "a policy was triggered" } else { "no policy was triggered" };
        says.to_owned()
    });
    [source, risk, flag].into_iter().flatten().collect()
}
