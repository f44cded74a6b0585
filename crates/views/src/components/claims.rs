//! The agent's claims about its own message, on every page that shows a request: its confidence,
//! its assumptions, its suggested actions. The page marks all of them as the agent's claims.

use dialects::hxp_experience::claims::view;
use dialects::hxp_experience::view::{AgentRefusal, EnvelopeAction, SafetyClaims};
use dialects::hxp_experience::{EnvelopeView, is_language};
use kernel::Ask;

use crate::components::wording::VisibleText;
use crate::locale;

/// Longer lists are cut with a note; the whole envelope is in the API.
const MOST: usize = 50;
/// More buttons than this are too many to read.
const MOST_ACTIONS: usize = 12;

/// The part of an envelope that pages show.
#[derive(Debug, Clone, Default)]
pub struct ClaimsView {
    /// The language of the agent's text, for screen readers.
    pub lang: Option<String>,
    /// Whether the agent asks a person to verify the message.
    pub verify: bool,
    /// Its stated confidence as a percentage.
    pub sure: Option<String>,
    /// The stated effort to read the message.
    pub effort: Option<String>,
    /// What the agent refuses, and how severely.
    pub refusal: Option<VisibleText>,
    /// The agent's statement about safety.
    pub safety: Option<VisibleText>,
    pub assumptions: TextList,
    /// The limits of its knowledge.
    pub limits: TextList,
    /// The questions it would like answered first.
    pub questions: TextList,
    /// The suggested next actions.
    pub actions: Vec<SuggestedAction>,
    /// How many further actions are not shown.
    pub more_actions: usize,
}

/// The form target for picking an action, and the token that authorises it.
#[derive(Debug, Clone)]
pub struct SuggestedActionForm {
    pub href: String,
    /// The name and value of the hidden input.
    pub proof: (&'static str, String),
}

/// A list of the agent's texts.
#[derive(Debug, Clone, Default)]
pub struct TextList {
    /// The first items, each in full.
    pub items: Vec<VisibleText>,
    /// How many further items are not shown.
    pub more: usize,
}

/// A suggested next action.
#[derive(Debug, Clone)]
pub struct SuggestedAction {
    /// Its index in the envelope.
    pub place: usize,
    /// The label of the button: the agent's text, or ours for a known kind.
    pub say: VisibleText,
    /// Whether the label is ours.
    pub ours: bool,
    /// Whether a person picked it.
    pub picked: bool,
}

impl ClaimsView {
    /// The claims of the agent of this ask; `None` if it makes none.
    pub fn of(ask: &Ask) -> Option<Self> {
        let view = view(ask)?;
        let offers = suggested_actions(ask);
        Some(Self {
            lang: view.language.clone().filter(|tag| is_language(tag)),
            verify: view.verification_needed == Some(true),
            sure: view.confidence.map(percent),
            effort: effort(&view),
            refusal: refusal(&view),
            safety: view.safety.as_ref().and_then(safety),
            assumptions: TextList::of(&view.assumptions),
            limits: TextList::of(&view.limits),
            questions: TextList::of(&view.questions),
            more_actions: offers.len().saturating_sub(MOST_ACTIONS),
            actions: offers.into_iter().take(MOST_ACTIONS).collect(),
        })
    }

    /// Whether there are no claims to show.
    pub fn is_empty(&self) -> bool {
        self.sure.is_none()
            && !self.verify
            && self.effort.is_none()
            && self.refusal.is_none()
            && self.safety.is_none()
            && self.assumptions.items.is_empty()
            && self.limits.items.is_empty()
            && self.questions.items.is_empty()
            && self.actions.is_empty()
    }

    /// The main claims in one line, for lists and messages; `None` if there are none.
    pub fn line(&self) -> Option<String> {
        let sure = self.sure.as_ref().map(|percent| t!("claims-confidence-of", percent = percent));
        let verify = self.verify.then(|| t!("claims-verify"));
        let limits = match self.limits.items.len() + self.limits.more {
            0 => None,
            n => Some(t!("claims-limits-count", n = n)),
        };
        let refuses = self.refusal.as_ref().map(|_| t!("claims-refuses"));
        let parts: Vec<String> =
            [refuses, sure, verify, limits, self.effort.clone()].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

impl TextList {
    /// How many further items there are.
    pub fn more_words(&self) -> String {
        t!("list-more", n = self.more)
    }

    fn of(texts: &[String]) -> Self {
        let said = texts.iter().filter(|text| !text.trim().is_empty());
        let all: Vec<VisibleText> = said.map(|text| VisibleText::of(text.trim())).collect();
        let more = all.len().saturating_sub(MOST);
        Self { items: all.into_iter().take(MOST).collect(), more }
    }
}

/// Whether the agent asks a person to verify the message. Such a request is answered only on its
/// own page, where all of it is shown.
pub fn wants_verification(ask: &Ask) -> bool {
    view(ask).is_some_and(|view| view.verification_needed == Some(true))
}

fn percent(confidence: f64) -> String {
    let percent = format!("{}", (confidence * 1000.0).round() / 10.0);
    t!("percent", n = locale::decimal(&percent).unwrap_or(percent))
}

fn effort(view: &EnvelopeView) -> Option<String> {
    let load = view.load.map(|load| t!("claims-complexity", load = load));
    let time = view.read_seconds.map(|seconds| match seconds {
        0..=90 => t!("claims-seconds-to-read", n = seconds),
        _ => t!("claims-minutes-to-read", n = seconds.div_ceil(60)),
    });
    let parts: Vec<String> = [load, time].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The refusal in sentences, also if the agent gives only the intent.
fn refusal(view: &EnvelopeView) -> Option<VisibleText> {
    let refuses = view.intent.as_deref() == Some("refuse");
    let AgentRefusal { kind, severity, redirect_available } = match &view.refusal {
        Some(refusal) => refusal.clone(),
        None if refuses => AgentRefusal::default(),
        None => return None,
    };
    let why = match kind {
        Some("safety") => t!("refusal-safety"),
        Some("legal") => t!("refusal-legal"),
        Some("capability") => t!("refusal-capability"),
        Some("policy") => t!("refusal-policy"),
        Some(_) | None => t!("refusal-unknown"),
    };
    let firm = match severity {
        Some("hard") => Some(t!("refusal-hard")),
        Some(_) => Some(t!("refusal-soft")),
        None => None,
    };
    let instead = match redirect_available {
        Some(true) => Some(t!("refusal-redirect")),
        Some(false) => Some(t!("refusal-no-redirect")),
        None => None,
    };
    let sentences: Vec<String> = [Some(why), firm, instead].into_iter().flatten().collect();
    Some(VisibleText::of(&sentences.join(" ")))
}

fn safety(safety: &SafetyClaims) -> Option<VisibleText> {
    let risk = match safety.harm_risk {
        Some("high") => Some(t!("safety-high-risk")),
        Some("medium") => Some(t!("safety-some-risk")),
        Some(_) | None => None,
    };
    let flag = safety.flag.filter(|flag| *flag).map(|_| t!("safety-policy"));
    let said: Vec<String> = [risk, flag].into_iter().flatten().collect();
    (!said.is_empty()).then(|| VisibleText::of(&said.join(" ")))
}

/// All actions, by their index in the envelope.
fn suggested_actions(ask: &Ask) -> Vec<SuggestedAction> {
    let all = ask.envelope().and_then(|envelope| envelope.get("actions")?.as_array());
    let places = 0..all.map_or(0, Vec::len);
    let offer = |place: usize| {
        let action = ask.action(place)?;
        let text = |name: &str| action.get(name).and_then(serde_json::Value::as_str);
        let label = text("label").filter(|label| !label.trim().is_empty()).map(ToOwned::to_owned);
        let action = EnvelopeAction { kind: text("type")?.to_owned(), label };
        let picked = ask.picked.iter().any(|picked| picked.action == place);
        let (say, ours) = action_label(&action);
        Some(SuggestedAction { place, say, ours, picked })
    };
    places.filter_map(offer).collect()
}

/// The label of a button, and whether it is ours.
fn action_label(action: &EnvelopeAction) -> (VisibleText, bool) {
    if let Some(label) = &action.label {
        return (VisibleText::of(label.trim()), false);
    }
    let known = match action.kind.as_str() {
        "ask_followup" => t!("action-ask-followup"),
        "refine_request" => t!("action-refine-request"),
        "simplify" => t!("action-simplify"),
        "expand" => t!("action-expand"),
        "generate_variant" => t!("action-generate-variant"),
        "compare_options" => t!("action-compare-options"),
        "verify_sources" => t!("action-verify-sources"),
        "create_plan" => t!("action-create-plan"),
        "export_schema" => t!("action-export-schema"),
        "show_examples" => t!("action-show-examples"),
        other => return (VisibleText::of(other), false),
    };
    (VisibleText::of(&known), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::command::NewAsk;
    use kernel::testing::{Cast, claims, new_ask};
    use serde_json::{Value, json};

    fn shown(said: &Value) -> Option<ClaimsView> {
        let mut cast = Cast::new();
        let mut sent = claims();
        sent.content = said.as_object().unwrap().clone();
        let id = cast.ask(NewAsk { claims: Some(sent), ..new_ask() });
        ClaimsView::of(cast.seen(id))
    }

    /// HXPE-058: claims are shown as numbers and words, and nothing is shown for absent claims.
    #[test]
    fn claims_are_put_into_words() {
        let said = json!({
            "intent": "decide",
            "delivery": { "language": "de" },
            "cognition": { "load": 8, "estimated_read_seconds": 150 },
            "transparency": { "confidence": 0.725, "verification_needed": true, "limits": ["a", " ", "b"] },
            "actions": [{ "type": "simplify" }, { "label": "no type" }, { "type": "x", "label": "Do x" }],
        });
        let claims = shown(&said).unwrap();
        assert_eq!(claims.sure.as_deref(), Some("72.5 %"));
        assert_eq!(claims.effort.as_deref(), Some("complexity 8/10, 3 min to read"));
        assert!(claims.verify && claims.lang.as_deref() == Some("de"));
        assert_eq!(claims.limits.items.len(), 2);
        let offers: Vec<_> =
            claims.actions.iter().map(|one| (one.place, one.say.to_string())).collect();
        assert_eq!(offers, [(0, "Simplify it".to_owned()), (2, "Do x".to_owned())]);
        assert_eq!(
            claims.line().as_deref(),
            Some(
                "confidence 72.5 % · should be verified · 2 limits · complexity 8/10, 3 min to read"
            )
        );
    }

    /// HXPE-048: invalid values and values from a later version are left out; nothing is invented.
    #[test]
    fn what_is_wrong_says_nothing() {
        let said = json!({
            "delivery": { "language": "not a tag!!" },
            "cognition": { "load": 99 },
            "transparency": { "confidence": 7, "limits": "all" },
            "refusal": 3, "actions": {}, "negotiation": { "clarifying_questions": [1, ""] },
        });
        let claims = shown(&said).unwrap();
        assert!(claims.is_empty() && claims.lang.is_none() && claims.line().is_none());
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        assert!(ClaimsView::of(cast.seen(id)).is_none());
    }

    /// HXPE-028, HXPE-029: a refusal is explained with the details it gives.
    #[test]
    fn refusals_are_explained() {
        for (said, words) in [
            (json!({ "intent": "refuse" }), "The agent refuses. It gives no reason."),
            (
                json!({ "refusal": { "type": "legal", "severity": "hard", "redirect_available": false } }),
                "The agent refuses for legal reasons. It will not do it in any form. It has no alternative.",
            ),
            (
                json!({ "intent": "refuse", "refusal": { "type": "policy", "severity": "soft", "redirect_available": true } }),
                "The agent refuses because of a policy. The refusal can be discussed. It offers an alternative.",
            ),
        ] {
            let refusal = shown(&said).unwrap().refusal.map(|words| words.to_string());
            assert_eq!(refusal.as_deref(), Some(words), "{said}");
        }
    }

    #[test]
    fn lists_say_that_they_go_on() {
        let many: Vec<Value> = (0..120).map(|n| json!(format!("limit {n}"))).collect();
        let offers: Vec<Value> = (0..20).map(|_| json!({ "type": "expand" })).collect();
        let claims =
            shown(&json!({ "transparency": { "limits": many }, "actions": offers })).unwrap();
        assert_eq!((claims.limits.items.len(), claims.limits.more), (50, 70));
        assert_eq!((claims.actions.len(), claims.more_actions), (12, 8));
    }
}
