//! An envelope for those who show it: what it says, by name, and nothing it does not say. What a
//! later version added is left out, not refused. Sections 7 and 11.

use serde_json::{Map, Value};

use super::{
    ACTIONS, CHUNKING, FORMAT, HARM_RISK, INTENTS, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY,
};

/// What an envelope says. All of it is the agent's claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// The version it is written in.
    pub version: Option<String>,
    /// What the message is for.
    pub intent: Option<String>,
    /// How much is said.
    pub verbosity: Option<&'static str>,
    /// How it is laid out.
    pub format: Option<&'static str>,
    /// In which tone.
    pub tone: Option<&'static str>,
    /// In which language.
    pub language: Option<String>,
    /// How hard it is to read, from 1 to 10.
    pub load: Option<u8>,
    /// How long that takes.
    pub read_seconds: Option<u64>,
    /// How it is cut into pieces.
    pub chunking: Option<&'static str>,
    /// How sure the agent says it is, from 0 to 1.
    pub confidence: Option<f64>,
    /// Whether it says that somebody should check.
    pub verification_needed: Option<bool>,
    /// What it takes for granted.
    pub assumptions: Vec<String>,
    /// What it does not know.
    pub limits: Vec<String>,
    /// What could be done next.
    pub actions: Vec<Action>,
    /// Whether the agent made sure what was wanted.
    pub intent_confirmed: Option<bool>,
    /// What it would like to know first.
    pub questions: Vec<String>,
    /// How it refuses.
    pub refusal: Option<Refusal>,
    /// What it says of safety.
    pub safety: Option<Safety>,
    /// The namespaces of what was added.
    pub extensions: Vec<String>,
}

/// Something that could be done next.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// What kind of thing; free text.
    pub kind: String,
    /// What a button would say.
    pub label: Option<String>,
}

/// How an agent refuses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Refusal {
    /// Why.
    pub kind: Option<&'static str>,
    /// Whether for good.
    pub severity: Option<&'static str>,
    /// Whether there is something else it would do.
    pub redirect_available: Option<bool>,
}

/// What an agent says of safety.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Safety {
    /// What it goes by.
    pub alignment_source: Option<String>,
    /// How much harm it sees.
    pub harm_risk: Option<&'static str>,
    /// Whether a policy was triggered.
    pub flag: Option<bool>,
}

impl View {
    /// Reads what it can of a message, valid or not.
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
            actions: actions.filter_map(Value::as_object).filter_map(Action::of).collect(),
            intent_confirmed: yes(&negotiation, "intent_confirmed"),
            questions: texts(&negotiation, "clarifying_questions"),
            refusal: hxp.get("refusal").and_then(Value::as_object).map(|refusal| Refusal {
                kind: word(refusal, "type", REFUSAL_TYPE),
                severity: word(refusal, "severity", SEVERITY),
                redirect_available: yes(refusal, "redirect_available"),
            }),
            safety: hxp.get("safety").and_then(Value::as_object).map(|safety| Safety {
                alignment_source: text(safety, "alignment_source"),
                harm_risk: word(safety, "harm_risk", HARM_RISK),
                flag: yes(safety, "safety_flag"),
            }),
            extensions: inner(hxp, "extensions").keys().cloned().collect(),
        }
    }
}

impl Action {
    fn of(action: &Map<String, Value>) -> Option<Self> {
        let kind = text(action, "type").filter(|kind| !kind.is_empty())?;
        Some(Self { kind, label: text(action, "label") })
    }
}

/// A free word for a metric: one of those the specification recommends, else `other`. Whoever
/// counts by what agents write would count for ever.
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

/// A whole number, however it is written.
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
