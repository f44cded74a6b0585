//! The claims of an envelope by name, for display. Members of later versions are left out, not
//! rejected. Sections 7 and 11.

use serde_json::{Map, Value};

use super::{
    ACTIONS, CHUNKING, FORMAT, HARM_RISK, INTENTS, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY,
};

/// The claims of an envelope. The agent makes all of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnvelopeView {
    /// The protocol version.
    pub version: Option<String>,
    /// The purpose of the message.
    pub intent: Option<String>,
    pub verbosity: Option<&'static str>,
    pub format: Option<&'static str>,
    pub tone: Option<&'static str>,
    pub language: Option<String>,
    /// How hard the message is to read, from 1 to 10.
    pub load: Option<u8>,
    /// The estimated reading time.
    pub read_seconds: Option<u64>,
    /// How the message is divided.
    pub chunking: Option<&'static str>,
    /// The agent's confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// Whether the agent says that a person should verify the message.
    pub verification_needed: Option<bool>,
    pub assumptions: Vec<String>,
    /// The limits of the agent's knowledge.
    pub limits: Vec<String>,
    /// The suggested next actions.
    pub actions: Vec<EnvelopeAction>,
    /// Whether the agent confirmed the intent.
    pub intent_confirmed: Option<bool>,
    /// Questions that the agent would like answered first.
    pub questions: Vec<String>,
    /// The agent's refusal.
    pub refusal: Option<AgentRefusal>,
    /// The agent's safety claims.
    pub safety: Option<SafetyClaims>,
    /// The namespaces of extensions.
    pub extensions: Vec<String>,
}

/// A suggested next action.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvelopeAction {
    /// The kind of action; free text.
    pub kind: String,
    /// The label of a button.
    pub label: Option<String>,
}

/// The refusal of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentRefusal {
    /// The reason for the refusal.
    pub kind: Option<&'static str>,
    /// Whether the refusal is final.
    pub severity: Option<&'static str>,
    /// Whether the agent offers an alternative.
    pub redirect_available: Option<bool>,
}

/// The safety claims of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SafetyClaims {
    /// The policy that the agent follows.
    pub alignment_source: Option<String>,
    /// The risk of harm.
    pub harm_risk: Option<&'static str>,
    /// Whether a policy was triggered.
    pub flag: Option<bool>,
}

impl EnvelopeView {
    /// Reads the known claims of a message, valid or not.
    pub fn of(message: &Map<String, Value>) -> Self {
        let nothing = Map::new();
        let inner = |of: &Map<String, Value>, name: &str| {
            of.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
        };
        let hxp = message.get("hxp").and_then(Value::as_object).unwrap_or(&nothing);
        let (delivery, cognition) = (inner(hxp, "delivery"), inner(hxp, "cognition"));
        let (transparency, negotiation) = (inner(hxp, "transparency"), inner(hxp, "negotiation"));
        let actions = hxp.get("actions").and_then(Value::as_array).into_iter().flatten();
        Self {
            version: text(hxp, "version"),
            intent: text(hxp, "intent").filter(|intent| !intent.is_empty()),
            verbosity: word(&delivery, "verbosity", VERBOSITY),
            format: word(&delivery, "format", FORMAT),
            tone: word(&delivery, "tone", TONE),
            language: text(&delivery, "language"),
            load: whole(&cognition, "load")
                .and_then(|load| u8::try_from(load).ok())
                .filter(|load| (1..=10).contains(load)),
            read_seconds: whole(&cognition, "estimated_read_seconds"),
            chunking: word(&cognition, "chunking", CHUNKING),
            confidence: transparency
                .get("confidence")
                .and_then(Value::as_f64)
                .filter(|confidence| (0.0..=1.0).contains(confidence)),
            verification_needed: yes(&transparency, "verification_needed"),
            assumptions: texts(&transparency, "assumptions"),
            limits: texts(&transparency, "limits"),
            actions: actions.filter_map(Value::as_object).filter_map(EnvelopeAction::of).collect(),
            intent_confirmed: yes(&negotiation, "intent_confirmed"),
            questions: texts(&negotiation, "clarifying_questions"),
            refusal: hxp.get("refusal").and_then(Value::as_object).map(|refusal| AgentRefusal {
                kind: word(refusal, "type", REFUSAL_TYPE),
                severity: word(refusal, "severity", SEVERITY),
                redirect_available: yes(refusal, "redirect_available"),
            }),
            safety: hxp.get("safety").and_then(Value::as_object).map(|safety| SafetyClaims {
                alignment_source: text(safety, "alignment_source"),
                harm_risk: word(safety, "harm_risk", HARM_RISK),
                flag: yes(safety, "safety_flag"),
            }),
            extensions: inner(hxp, "extensions").keys().cloned().collect(),
        }
    }
}

impl EnvelopeAction {
    fn of(action: &Map<String, Value>) -> Option<Self> {
        let kind = text(action, "type").filter(|kind| !kind.is_empty())?;
        Some(Self { kind, label: text(action, "label") })
    }
}

/// A label for a metric: a word that the specification recommends, otherwise `other`. Free text
/// from agents would create an unlimited number of time series.
pub fn label(word: &str) -> &'static str {
    INTENTS.iter().chain(&ACTIONS).find(|known| **known == word).copied().unwrap_or("other")
}

fn text(of: &Map<String, Value>, name: &str) -> Option<String> {
    of.get(name).and_then(Value::as_str).map(ToOwned::to_owned)
}

fn texts(of: &Map<String, Value>, name: &str) -> Vec<String> {
    let items = of.get(name).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

fn yes(of: &Map<String, Value>, name: &str) -> Option<bool> {
    of.get(name).and_then(Value::as_bool)
}

fn word(
    of: &Map<String, Value>,
    name: &str,
    words: &'static [&'static str],
) -> Option<&'static str> {
    let given = of.get(name).and_then(Value::as_str)?;
    words.iter().find(|word| **word == given).copied()
}

/// A non-negative integer in any notation.
fn whole(of: &Map<String, Value>, name: &str) -> Option<u64> {
    let number = of.get(name)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is whole and not negative; beyond the largest it stays the largest"
    )]
    let written = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
    number.as_u64().or_else(|| number.as_f64().and_then(written))
}
