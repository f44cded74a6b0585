//! A message with an HXP eXperience envelope, as a reader would see it: the agent's claims, its
//! text, and the findings, each at its place.

use askama::Template;
use dialects::hxp_experience::view::{AgentRefusal, EnvelopeAction, SafetyClaims};
use dialects::hxp_experience::{
    ConformanceLevel, EnvelopeView, ExperienceFinding, ExperienceReport, FindingSeverity,
    Unreadable, ValidationOptions,
};
use dialects::nesting::DEEPEST;
use serde_json::{Map, Value};

use crate::components::facts::TextBlock;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, locale, render};

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
    fn reached(&self) -> String {
        match self.report.and_then(|report| report.level) {
            Some(ConformanceLevel::Core) => t!("envelope-core"),
            Some(ConformanceLevel::Standard) => t!("envelope-standard"),
            Some(ConformanceLevel::Full) => t!("envelope-full"),
            None => t!("envelope-no-level"),
        }
    }
}

/// Why the message cannot be read, as a sentence.
fn unreadable_reason(why: &Unreadable) -> String {
    match why {
        Unreadable::NotText { at } => t!("envelope-not-utf8", at = at),
        Unreadable::NotJson { line, column, .. } => {
            t!("envelope-not-json", line = line, column = column)
        }
        Unreadable::TooDeep => t!("envelope-too-deep", levels = DEEPEST),
        Unreadable::TooLong => t!("envelope-too-large"),
    }
}

/// One claim of the agent, with its findings.
struct EnvelopeClaim {
    name: String,
    values: Vec<VisibleText>,
    remarks: Vec<FindingView>,
}

/// A finding, as the page shows it.
struct FindingView {
    class: &'static str,
    severity: String,
    rule: &'static str,
    place: VisibleText,
    message: VisibleText,
}

impl FindingView {
    fn of(finding: &ExperienceFinding) -> Self {
        let (class, severity) = match finding.severity {
            FindingSeverity::Error => ("error", t!("envelope-finding-error")),
            FindingSeverity::Warning => ("hint", t!("envelope-finding-warning")),
            FindingSeverity::Note => ("hint", t!("envelope-finding-note")),
        };
        let place = match finding.pointer.as_str() {
            "" => t!("envelope-whole-message"),
            pointer => pointer.to_owned(),
        };
        Self {
            class,
            severity,
            rule: finding.rule,
            place: VisibleText::of(&place),
            message: VisibleText::of(&finding.message),
        }
    }
}

/// The claims of an envelope, in the order that a reader needs. Removes the findings that belong to
/// them from `left`.
fn claims(view: &EnvelopeView, left: &mut Vec<&ExperienceFinding>) -> Vec<EnvelopeClaim> {
    let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
    let word = |value: Option<&str>| one(value.map(ToOwned::to_owned));
    let yes = |value: Option<bool>| {
        one(value.map(|yes| if yes { t!("envelope-yes") } else { t!("envelope-no") }))
    };
    let percent = |confidence: f64| t!("envelope-percent", value = tenths(confidence * 100.0));
    let rows: Vec<(String, &str, Vec<String>)> = vec![
        (t!("envelope-intent"), "/hxp/intent", one(view.intent.clone())),
        (
            t!("envelope-confidence"),
            "/hxp/transparency/confidence",
            one(view.confidence.map(percent)),
        ),
        (
            t!("envelope-verification"),
            "/hxp/transparency/verification_needed",
            yes(view.verification_needed),
        ),
        (t!("envelope-assumptions"), "/hxp/transparency/assumptions", view.assumptions.clone()),
        (t!("envelope-limits"), "/hxp/transparency/limits", view.limits.clone()),
        (
            t!("envelope-refusal"),
            "/hxp/refusal",
            view.refusal.as_ref().map(refusal).unwrap_or_default(),
        ),
        (
            t!("envelope-safety"),
            "/hxp/safety",
            view.safety.as_ref().map(safety).unwrap_or_default(),
        ),
        (t!("envelope-questions"), "/hxp/negotiation/clarifying_questions", view.questions.clone()),
        (
            t!("envelope-intent-confirmed"),
            "/hxp/negotiation/intent_confirmed",
            yes(view.intent_confirmed),
        ),
        (
            t!("envelope-load"),
            "/hxp/cognition/load",
            one(view.load.map(|load| t!("envelope-of-ten", value = load))),
        ),
        (
            t!("envelope-reading-time"),
            "/hxp/cognition/estimated_read_seconds",
            one(view.read_seconds.map(|n| t!("envelope-seconds", value = n))),
        ),
        (t!("envelope-chunking"), "/hxp/cognition/chunking", word(view.chunking)),
        (t!("envelope-verbosity"), "/hxp/delivery/verbosity", word(view.verbosity)),
        (t!("envelope-format"), "/hxp/delivery/format", word(view.format)),
        (t!("envelope-tone"), "/hxp/delivery/tone", word(view.tone)),
        (t!("envelope-language"), "/hxp/delivery/language", one(view.language.clone())),
        (t!("envelope-actions"), "/hxp/actions", view.actions.iter().map(action).collect()),
        (t!("envelope-extensions"), "/hxp/extensions", view.extensions.clone()),
        (t!("envelope-version"), "/hxp/version", one(view.version.clone())),
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

/// A decimal number with at most one decimal place, as the reader's language writes it.
fn tenths(value: f64) -> String {
    let digits = ((value * 10.0).round() / 10.0).to_string();
    locale::decimal(&digits).unwrap_or(digits)
}

fn action(action: &EnvelopeAction) -> String {
    match &action.label {
        Some(label) => format!("{label} ({})", action.kind),
        None => action.kind.clone(),
    }
}

fn refusal(refusal: &AgentRefusal) -> Vec<String> {
    let kind = refusal.kind.map(|kind| t!("envelope-refusal-reason", kind = kind));
    let severity = refusal.severity.map(|severity| match severity {
        "hard" => t!("envelope-refusal-hard"),
        _ => t!("envelope-refusal-soft"),
    });
    let redirect = refusal
        .redirect_available
        .map(|is| if is { t!("envelope-redirects") } else { t!("envelope-no-redirect") });
    let said: Vec<String> = [kind, severity, redirect].into_iter().flatten().collect();
    if said.is_empty() { vec![t!("envelope-yes")] } else { said }
}

fn safety(safety: &SafetyClaims) -> Vec<String> {
    let source =
        safety.alignment_source.as_ref().map(|source| t!("envelope-policy", policy = source));
    let risk = safety.harm_risk.map(|risk| t!("envelope-risk", risk = risk));
    let flag = safety.flag.map(|flag| {
        if flag { t!("envelope-policy-triggered") } else { t!("envelope-policy-not-triggered") }
    });
    [source, risk, flag].into_iter().flatten().collect()
}
