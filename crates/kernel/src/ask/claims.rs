//! What an agent says of its own message: how sure it is, what it takes for granted, what could be
//! done next. The HXP eXperience envelope, kept as it came.
//!
//! The kernel keeps the envelope and what was found about it; what an envelope must look like is its
//! dialect's to know. Nobody has checked what it says, and nothing is decided by it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Ask;
use crate::audit::{Erasable, Salts};
use crate::refusal::Refusal;
use crate::text::{is_storable, is_storable_json};

/// An envelope as an agent sent it, with what was found about it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewClaims {
    /// The envelope, as it came.
    pub said: Map<String, Value>,
    /// What a consumer finds, who takes all that can be understood.
    pub finding: Finding,
    /// What a strict project has against it first.
    pub objection: Option<Objection>,
}

/// The envelope of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    /// The envelope, as it came.
    pub said: Erasable<Map<String, Value>>,
    /// What was found about it. It stays when the envelope is erased: it holds none of its words.
    pub finding: Finding,
    /// Whether the project was strict when it came.
    #[serde(default)]
    pub strict: bool,
}

/// What was found about an envelope, without any of its words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How much it tells; nothing if it is not valid.
    pub level: Option<Level>,
    /// How many things stand against it.
    pub errors: usize,
    /// How many somebody should look at.
    pub warnings: usize,
    /// How many are worth knowing.
    pub notes: usize,
    /// Which rules they are about, by number.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub rules: BTreeSet<String>,
}

impl Finding {
    /// Whether the envelope is one.
    pub fn is_valid(&self) -> bool {
        self.level.is_some()
    }
}

/// How much an envelope tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnvelopeLevel))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What every envelope must have.
    Core,
    /// And all that is recommended.
    Standard,
    /// And something of what is possible.
    Full,
}

/// Why a strict project does not take an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// What it is about, as a JSON Pointer that begins with `/hxp`.
    pub pointer: String,
    /// A sentence.
    pub says: String,
}

/// How a project takes envelopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Envelopes {
    /// Whatever there is of them; what is wrong is noted.
    #[default]
    Lenient,
    /// Only such as the specification wants; a request with another is refused.
    Strict,
}

impl Envelopes {
    /// Whether this is what nobody needs to say.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl NewClaims {
    /// The refusal for an envelope that cannot be kept, or that the project does not take.
    pub(crate) fn check(&self, envelopes: Envelopes) -> Result<(), Refusal> {
        let stored = |(key, value): (&String, &Value)| is_storable(key) && is_storable_json(value);
        if !self.said.iter().all(stored) {
            return Err(Refusal::Invalid {
                field: "hxp",
                expected: "texts without NUL characters",
            });
        }
        match (&self.objection, envelopes) {
            (Some(Objection { pointer, says }), Envelopes::Strict) => {
                Err(Refusal::Claims { pointer: pointer.clone(), says: says.clone() })
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// As the ask keeps them.
    pub(crate) fn kept(&self, envelopes: Envelopes, salts: &mut Salts) -> Box<Claims> {
        Box::new(Claims {
            said: Erasable::new(self.said.clone(), salts),
            finding: self.finding.clone(),
            strict: envelopes == Envelopes::Strict,
        })
    }
}

impl Ask {
    /// The envelope its agent sent with it; none once it was erased.
    pub fn envelope(&self) -> Option<&Map<String, Value>> {
        self.claims.as_ref()?.said.value()
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

    fn claims(valid: bool) -> Box<NewClaims> {
        let said = json!({ "intent": "decide", "later": { "unknown": 3.0 } });
        let objection = Objection { pointer: "/hxp/later".into(), says: "nobody knows it".into() };
        Box::new(NewClaims {
            said: said.as_object().unwrap().clone(),
            finding: Finding {
                level: valid.then_some(Level::Core),
                errors: usize::from(!valid),
                rules: ["HXPE-042".to_owned()].into(),
                ..Finding::default()
            },
            objection: (!valid).then_some(objection),
        })
    }

    fn saying(claims: Box<NewClaims>) -> NewAsk {
        NewAsk { claims: Some(claims), ..new_ask() }
    }

    /// HXPE-005, HXPE-058: what came is kept, and the record says what was found in the same event.
    #[test]
    fn an_envelope_is_kept_as_it_came_with_what_was_found() {
        let mut cast = Cast::new();
        for valid in [true, false] {
            let id = cast.ask(saying(claims(valid)));
            let kept = cast.seen(id).claims.as_ref().unwrap();
            assert_eq!(cast.seen(id).envelope(), Some(&claims(valid).said));
            assert_eq!((kept.finding.is_valid(), kept.strict), (valid, false));
            let recorded = &cast.records().last().unwrap().body;
            assert!(recorded.contains("HXPE-042"), "{recorded}");
            assert!(!recorded.contains("unknown"), "its words are beside the record: {recorded}");
        }
    }

    /// HXPE-058: a project may want only what the specification wants; nothing changes otherwise.
    #[test]
    fn a_strict_project_refuses_what_is_wrong_and_names_it() {
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { envelopes: Envelopes::Strict, ..plain };
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
        odd.said.insert("limits".to_owned(), json!(["\0"]));
        let refused = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(saying(odd))));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "hxp", .. })), "{refused:?}");
    }

    /// The words go, what was found stays, and the chain holds.
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

    /// What was stored before there were envelopes reads as it did, and is written as it was.
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
