//! Envelopes on asks. Every protocol with a place for an envelope reads and shows it through this
//! module. Sections 5, 8.2 and 9.
//!
//! | protocol | sent as | shown as |
//! |---|---|---|
//! | HXP Execution, native | `hxp` | `hxp` |
//! | HITL | `hxp` | `context.hxp` |
//! | A2H | `spec.state.hxp` | `spec.state.hxp` |
//!
//! The text of an ask is the content of its envelope, so only the envelope is validated. The
//! findings are shown beside it as `hxp_verdict`.

use std::collections::{BTreeMap, BTreeSet};

use kernel::ask::NewExperienceEnvelope;
use kernel::ask::experience_envelope::{self, EnvelopeLevel as Kept, EnvelopeObjection};
use kernel::{Ask, Time};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::check::{Checker, ValidationOptions};
use super::finding::{ConformanceLevel, ExperienceReport};
use super::headers::EnvelopeHeaders;
use super::registry::NamespaceRegistry;
use super::view::EnvelopeView;

/// The member that holds an envelope.
pub const MEMBER: &str = "hxp";

/// The maximum number of findings shown with an ask; the validator shows all.
const MAX_SHOWN_FINDINGS: usize = 20;

/// The envelope is not an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("an envelope is an object")]
pub struct NotAnObject;

impl NotAnObject {
    /// The expected type, for error messages.
    pub const EXPECTED: &str = "an object, the envelope of HXP eXperience";
}

/// Reads and validates the envelope at this path of a body. It uses the original bytes, because a
/// parsed tree no longer shows duplicate names. `None` if there is no envelope or it is `null`.
pub fn read_envelope(
    body: &[u8],
    path: &[&str],
) -> Result<Option<Box<NewExperienceEnvelope>>, NotAnObject> {
    let Some(envelope) = std::str::from_utf8(body).ok().and_then(|body| member(body, path)) else {
        return Ok(None);
    };
    match serde_json::from_str(envelope) {
        Ok(Value::Object(said)) => Ok(Some(Box::new(validated_claims(envelope, said)))),
        Ok(Value::Null) => Ok(None),
        Ok(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | Err(_) => {
            Err(NotAnObject)
        }
    }
}

/// The text of a value inside an object; the last of duplicate names.
fn member<'a>(object: &'a str, path: &[&str]) -> Option<&'a str> {
    let Some((first, rest)) = path.split_first() else { return Some(object) };
    let members: BTreeMap<String, &'a RawValue> = serde_json::from_str(object).ok()?;
    member(members.get(*first)?.get(), rest)
}

fn validated_claims(envelope: &str, said: Map<String, Value>) -> NewExperienceEnvelope {
    let lenient = report(envelope, false);
    // Strict mode also reports every error of the lenient mode.
    let strict = if lenient.is_valid() { report(envelope, true) } else { lenient.clone() };
    let objection = strict.errors().next().map(|error| EnvelopeObjection {
        pointer: error.pointer.clone(),
        says: error.message.clone(),
    });
    let rules: BTreeSet<String> =
        lenient.findings.iter().map(|finding| finding.rule.to_owned()).collect();
    let finding = experience_envelope::EnvelopeFindings {
        level: lenient.level.map(|level| match level {
            ConformanceLevel::Core => Kept::Core,
            ConformanceLevel::Standard => Kept::Standard,
            ConformanceLevel::Full => Kept::Full,
        }),
        errors: lenient.errors().count(),
        warnings: lenient.warnings().count(),
        notes: lenient.notes().count(),
        rules,
    };
    NewExperienceEnvelope { content: said, finding, objection }
}

/// Combines the claims with the request's headers. A header fills in a value that the envelope
/// lacks. If they differ, the envelope takes precedence and a note says so. Headers alone are not
/// an envelope.
pub fn with_headers(
    mut claims: Box<NewExperienceEnvelope>,
    hints: &EnvelopeHeaders,
) -> Box<NewExperienceEnvelope> {
    let said = Value::Object(std::mem::take(&mut claims.content));
    let mut filled = said.clone();
    for (pointer, value) in hints.pointer_values() {
        // With duplicate names, it is unknown which other values the envelope states.
        if !claims.finding.rules.contains("HXPE-006") {
            fill(&mut filled, pointer, value);
        }
    }
    let message = Map::from_iter([(MEMBER.to_owned(), filled)]);
    let differing = hints.differences(&EnvelopeView::of(&message)).len();
    let filled = message.into_iter().next().map(|(_, filled)| filled);
    let Some(Value::Object(filled)) = filled else { return claims };
    if Value::Object(filled.clone()) == said {
        claims.content = filled;
    } else {
        *claims = validated_claims(&Value::Object(filled.clone()).to_string(), filled);
    }
    if differing > 0 {
        claims.finding.notes += differing;
        claims.finding.rules.insert("HXPE-051".to_owned());
    }
    claims
}

/// Sets a value that is missing, such as `/delivery/verbosity`, in an existing object or a new one.
fn fill(envelope: &mut Value, pointer: &str, value: Value) {
    let Some((group, name)) = pointer.rsplit_once('/') else { return };
    let object = match (group.trim_start_matches('/'), envelope.as_object_mut()) {
        ("", object) => object,
        (group, Some(whole)) => {
            whole.entry(group).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
        }
        (_, None) => None,
    };
    if let Some(object) = object {
        object.entry(name).or_insert(value);
    }
}

fn report(envelope: &str, strict: bool) -> ExperienceReport {
    let message = format!(r#"{{"hxp":{envelope},"content":""}}"#);
    let mut checker =
        Checker::new(ValidationOptions { level: None, strict }, NamespaceRegistry::default());
    // The envelope was parsed before, so it is JSON. Otherwise it would not be a message.
    checker.check(message.as_bytes()).unwrap_or_else(|_| ExperienceReport {
        level: None,
        missing_core: Vec::new(),
        missing_standard: Vec::new(),
        findings: Vec::new(),
        omitted: 0,
    })
}

/// The claims in the envelope of an ask; `None` if it has none.
pub fn view(ask: &Ask) -> Option<EnvelopeView> {
    let envelope = ask.envelope()?;
    let message = Map::from_iter([(MEMBER.to_owned(), Value::Object(envelope.clone()))]);
    Some(EnvelopeView::of(&message))
}

/// The result of checking the envelope of an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnvelopeVerdict))]
pub struct EnvelopeVerdict {
    /// Whether it is valid against the published schema.
    pub valid: bool,
    /// The level of completeness; `null` if it is not valid.
    pub level: Option<Kept>,
    /// Whether the project is strict.
    pub strict: bool,
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The number of notes.
    pub notes: usize,
    /// The rules that the findings are about.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub rules: BTreeSet<String>,
    /// The first errors and warnings as sentences; absent without findings or after an erasure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<EnvelopeFindingView>,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnvelopeFinding))]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeFindingView {
    /// The rule.
    pub rule: String,
    /// The location, as a JSON Pointer that starts with `/hxp`.
    pub instance_path: String,
    /// What is wrong, or what to do.
    pub message: String,
}

/// An action of the agent that a person picked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = PickedAction))]
pub struct PickedActionView {
    /// The index of the action in the envelope, counted from 0.
    pub action: usize,
    /// The type of the action; `null` after an erasure.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The payload that the agent attached to the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub payload: Option<Value>,
    /// When it was picked.
    pub at: Time,
}

impl PickedActionView {
    /// All actions chosen on an ask, in order.
    pub fn all(ask: &Ask) -> Vec<Self> {
        let one = |picked: &kernel::ask::PickedAction| {
            let action = ask.action(picked.action);
            let kind = action.and_then(|action| action.get("type")?.as_str());
            Self {
                action: picked.action,
                kind: kind.map(ToOwned::to_owned),
                payload: action.and_then(|action| action.get("payload").cloned()),
                at: picked.at,
            }
        };
        ask.picked.iter().map(one).collect()
    }
}

impl EnvelopeVerdict {
    /// The findings about the envelope of this ask, if it has one.
    pub fn of(ask: &Ask) -> Option<Self> {
        let kept = ask.claims.as_ref()?;
        let finding = &kept.finding;
        let wrong = finding.errors + finding.warnings > 0;
        let findings = ask.envelope().filter(|_| wrong).map(|envelope| {
            let report = report(&json!(envelope).to_string(), false);
            let told = report.errors().chain(report.warnings()).take(MAX_SHOWN_FINDINGS);
            told.map(|finding| EnvelopeFindingView {
                rule: finding.rule.to_owned(),
                instance_path: finding.pointer.clone(),
                message: finding.message.clone(),
            })
            .collect()
        });
        Some(Self {
            valid: finding.is_valid(),
            level: finding.level,
            strict: kept.strict,
            errors: finding.errors,
            warnings: finding.warnings,
            notes: finding.notes,
            rules: finding.rules.clone(),
            findings: findings.unwrap_or_default(),
        })
    }
}
