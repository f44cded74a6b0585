//! What an agent says about its own message: its confidence, its assumptions, and possible next
//! actions. This is the HXP eXperience envelope, stored as received.
//!
//! The kernel stores the envelope and the findings about it. The dialect knows what a valid
//! envelope looks like. The statements are unverified, and no decision depends on them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Ask;
use crate::audit::{Erasable, Salts};
use crate::refusal::Refusal;
use crate::text::{is_storable, is_storable_json};

/// An envelope as an agent sent it, with the findings about it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewExperienceEnvelope {
    /// The envelope, as received.
    pub content: Map<String, Value>,
    /// The findings of a lenient consumer, which accepts everything it can understand.
    pub finding: EnvelopeFindings,
    /// The first reason why a strict project refuses the envelope, if there is one.
    pub objection: Option<EnvelopeObjection>,
}

/// The envelope of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperienceEnvelope {
    /// The envelope, as received.
    #[serde(rename = "said")]
    pub content: Erasable<Map<String, Value>>,
    /// The findings about it. They contain none of its text, so they stay when the envelope is
    /// erased.
    pub finding: EnvelopeFindings,
    /// Whether the project was strict when the envelope arrived.
    #[serde(default)]
    pub strict: bool,
}

/// The findings about an envelope, without any of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeFindings {
    /// How complete the envelope is; `None` if it is not valid.
    pub level: Option<EnvelopeLevel>,
    /// The number of errors in the envelope.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The number of informational notes.
    pub notes: usize,
    /// The numbers of the rules that the findings refer to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub rules: BTreeSet<String>,
}

impl EnvelopeFindings {
    /// Whether the envelope is valid.
    pub fn is_valid(&self) -> bool {
        self.level.is_some()
    }
}

/// The completeness of an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnvelopeLevel))]
#[serde(rename_all = "snake_case")]
pub enum EnvelopeLevel {
    /// The required fields.
    Core,
    /// The required and all recommended fields.
    Standard,
    /// Recommended and some optional fields.
    Full,
}

/// Why a strict project refuses an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeObjection {
    /// The place of the error, as a JSON Pointer that begins with `/hxp`.
    pub pointer: String,
    /// The reason, as a sentence.
    pub says: String,
}

/// How a project handles envelopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Envelopes))]
pub enum EnvelopePolicy {
    /// Any envelope; errors are recorded.
    #[default]
    Lenient,
    /// Only valid envelopes; a request with an invalid one is refused.
    Strict,
}

impl EnvelopePolicy {
    /// Whether this is the default, which is not serialized.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl NewExperienceEnvelope {
    /// Refuses an envelope that cannot be stored, or that the project does not accept.
    pub(crate) fn check(&self, envelopes: EnvelopePolicy) -> Result<(), Refusal> {
        let stored = |(key, value): (&String, &Value)| is_storable(key) && is_storable_json(value);
        if !self.content.iter().all(stored) {
            return Err(Refusal::Invalid {
                field: "hxp",
                expected: "strings without NUL characters",
            });
        }
        match (&self.objection, envelopes) {
            (Some(EnvelopeObjection { pointer, says }), EnvelopePolicy::Strict) => {
                Err(Refusal::Claims { pointer: pointer.clone(), says: says.clone() })
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// The claims as the ask stores them.
    pub(crate) fn to_stored(
        &self,
        envelopes: EnvelopePolicy,
        salts: &mut Salts,
    ) -> Box<ExperienceEnvelope> {
        Box::new(ExperienceEnvelope {
            content: Erasable::new(self.content.clone(), salts),
            finding: self.finding.clone(),
            strict: envelopes == EnvelopePolicy::Strict,
        })
    }
}

impl Ask {
    /// The envelope the agent sent with the ask; `None` if there was none or it was erased.
    pub fn envelope(&self) -> Option<&Map<String, Value>> {
        self.claims.as_ref()?.content.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::{AskCommand, DirectoryCommand, NewAsk};
    use crate::directory::NewProject;
    use crate::testing::{Cast, new_ask};
    use serde_json::json;

    fn claims(valid: bool) -> Box<NewExperienceEnvelope> {
        let said = json!({ "intent": "decide", "later": { "unknown": 3.0 } });
        let objection =
            EnvelopeObjection { pointer: "/hxp/later".into(), says: "nobody knows it".into() };
        Box::new(NewExperienceEnvelope {
            content: said.as_object().unwrap().clone(),
            finding: EnvelopeFindings {
                level: valid.then_some(EnvelopeLevel::Core),
                errors: usize::from(!valid),
                rules: ["HXPE-042".to_owned()].into(),
                ..EnvelopeFindings::default()
            },
            objection: (!valid).then_some(objection),
        })
    }

    fn saying(claims: Box<NewExperienceEnvelope>) -> NewAsk {
        NewAsk { claims: Some(claims), ..new_ask() }
    }

    /// HXPE-005, HXPE-058: the envelope is stored as received, and the same event records the
    /// findings.
    #[test]
    fn an_envelope_is_kept_as_it_came_with_what_was_found() {
        let mut cast = Cast::new();
        for valid in [true, false] {
            let id = cast.ask(saying(claims(valid)));
            let kept = cast.seen(id).claims.as_ref().unwrap();
            assert_eq!(cast.seen(id).envelope(), Some(&claims(valid).content));
            assert_eq!((kept.finding.is_valid(), kept.strict), (valid, false));
            let recorded = &cast.records().last().unwrap().body;
            assert!(recorded.contains("HXPE-042"), "{recorded}");
            assert!(!recorded.contains("unknown"), "its words are beside the record: {recorded}");
        }
    }

    /// HXPE-058: a project may accept only valid envelopes; nothing else changes.
    #[test]
    fn a_strict_project_refuses_what_is_wrong_and_names_it() {
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { envelopes: EnvelopePolicy::Strict, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let before = cast.records().len();
        let refused =
            cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(saying(claims(false)))));
        let (pointer, says) = ("/hxp/later".to_owned(), "nobody knows it".to_owned());
        assert_eq!(refused, Err(Refusal::Claims { pointer, says }));
        assert_eq!(cast.records().len(), before);
        let id = cast.ask(saying(claims(true)));
        assert!(cast.seen(id).claims.as_ref().unwrap().strict);
    }

    #[test]
    fn what_no_store_takes_is_refused() {
        let mut cast = Cast::new();
        let mut odd = claims(true);
        odd.content.insert("limits".to_owned(), json!(["\0"]));
        let refused = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(saying(odd))));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "hxp", .. })), "{refused:?}");
    }

    /// The text is erased, the findings stay, and the chain still verifies.
    #[test]
    fn an_envelope_is_forgotten_with_the_words_of_its_ask() {
        let mut cast = Cast::new();
        let id = cast.ask(saying(claims(true)));
        cast.run(cast.agent("bot"), AskCommand::Cancel(id, None));
        cast.run(Actor::System, AskCommand::Erase(id));
        assert_eq!(cast.seen(id).envelope(), None);
        assert!(cast.seen(id).claims.as_ref().unwrap().finding.is_valid());
        let stored = serde_json::to_string(cast.seen(id)).unwrap();
        assert!(!stored.contains("unknown"), "{stored}");
    }

    /// Asks stored before envelopes existed are read and written unchanged.
    #[test]
    fn an_ask_without_an_envelope_is_stored_as_ever() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let stored = serde_json::to_string(cast.seen(id)).unwrap();
        assert!(!stored.contains("claims"), "{stored}");
        let acme = cast.directory().project(&"acme".parse().unwrap()).unwrap();
        assert!(!serde_json::to_string(acme).unwrap().contains("envelopes"));
    }
}
