//! Proofs that a person is there: what an ask wants of them. HITL 0.8, §7.6.
//!
//! Who checks a proof is outside: a provider tells the shell what a proof says ([`Facts`]). Whether
//! that is enough is judged here, in [`judge`](Policy::judge). The names of the members are those of
//! the protocol, because the policy goes back to the agent as it was taken.

mod judge;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::question::Stance;
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::time::Time;

pub use judge::{Facts, Fault, Presented, Proof, Verification};

/// The usual kind of proof.
pub const PROOF_OF_HUMAN: &str = "proof_of_human";
/// More ways than this to prove the same, or more proofs at once, are a mistake.
pub const MOST: usize = 10;

/// Which proofs an ask wants, on which paths, and how they must be bound to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// How much it insists.
    pub mode: Mode,
    /// On which paths.
    pub required_for: BTreeSet<Door>,
    /// Which proofs.
    pub requirements: Requirements,
    /// What they must say.
    pub binding: Binding,
    /// What happens without them.
    pub fallback: Fallback,
}

/// How much a policy insists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Proofs are looked at and told of; an answer needs none.
    Optional,
    /// Every answer needs them.
    Required,
    /// An answer that lets the agent go ahead needs them; whoever stops it does not.
    StepUp,
}

/// The ways an answer comes in that a policy can name. Whoever is signed in comes by neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// The agent passes it on.
    InlineSubmit,
    /// Whoever holds the link gives it.
    BrowserSubmit,
}

impl Door {
    /// The way an actor comes.
    pub fn of(actor: &Actor) -> Option<Self> {
        match actor {
            Actor::Relay { .. } => Some(Self::InlineSubmit),
            Actor::LinkHolder { .. } => Some(Self::BrowserSubmit),
            Actor::Human { .. } | Actor::Guest { .. } | Actor::Agent { .. } | Actor::System => None,
        }
    }
}

/// One of these is enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// The ways to satisfy the policy.
    pub any_of: Vec<AllOf>,
}

/// All of these are needed, each with a proof of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllOf {
    /// Each one.
    pub all_of: Vec<Requirement>,
}

/// One proof that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// `proof_of_human`, or a kind of the agent's own.
    pub proof_type: String,
    /// By whom; anybody if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How sure at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_assurance: Option<Level>,
    /// In which of these forms; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presentation_formats: Option<Vec<String>>,
}

/// How sure a provider is; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProofAssurance))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A little.
    Low,
    /// Fairly.
    Medium,
    /// Very.
    High,
}

/// What a proof must be made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// For this ask.
    pub case_id: bool,
    /// For this answer.
    pub action: bool,
    /// For this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<String>,
    /// Not longer ago than this.
    pub freshness_seconds: u64,
    /// Before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// To be used once.
    pub single_use: bool,
}

/// Where a person goes who could not prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// When no proof came.
    pub on_missing: Instead,
    /// When one came that does not do.
    pub on_invalid: Instead,
}

/// What is offered instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instead {
    /// The review page.
    BrowserReview,
    /// Nothing.
    Reject,
}

/// What a provider can prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What it is called in policies.
    pub provider: String,
    /// Which kinds of proof.
    pub proof_types: Vec<String>,
    /// In which forms.
    pub formats: Vec<String>,
    /// How sure it says it is, at best; nothing if it does not say.
    pub assurance: Option<Level>,
}

impl Policy {
    /// Whether an answer of this kind, by this way, needs proofs.
    pub fn demands(&self, door: Door, stance: Stance) -> bool {
        let insists = match self.mode {
            Mode::Optional => false,
            Mode::Required => true,
            // Whoever says no, or asks for something else first, needs to prove nothing.
            Mode::StepUp => stance.lets_proceed(),
        };
        insists && self.required_for.contains(&door)
    }

    /// The first requirement of the first way that nobody could meet, by its place, if no way can be
    /// gone at all. Nobody could ever answer such an ask.
    pub fn out_of_reach(&self, offers: &[Offer]) -> Option<String> {
        let unmet = |way: &AllOf| {
            let met = |wanted: &Requirement| offers.iter().any(|offer| wanted.is_offered_by(offer));
            way.all_of.iter().position(|wanted| !met(wanted))
        };
        let ways: Vec<Option<usize>> = self.requirements.any_of.iter().map(unmet).collect();
        if self.mode == Mode::Optional || ways.iter().any(Option::is_none) {
            return None;
        }
        let first = ways.into_iter().flatten().next().unwrap_or_default();
        Some(format!("requirements.any_of[0].all_of[{first}]"))
    }

    /// Whether a provider can help to satisfy it.
    pub fn welcomes(&self, offer: &Offer) -> bool {
        let mut wanted = self.requirements.any_of.iter().flat_map(|way| &way.all_of);
        wanted.any(|wanted| wanted.is_offered_by(offer))
    }

    /// The refusal for one that makes no sense.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
        let few = |n: usize| (1..=MOST).contains(&n);
        let ways = &self.requirements.any_of;
        if !few(ways.len()) || !ways.iter().all(|way| few(way.all_of.len())) {
            return invalid("verification_policy.requirements", "1 to 10 ways of 1 to 10 proofs");
        }
        if self.required_for.is_empty() {
            return invalid("verification_policy.required_for", "at least one path");
        }
        let name = |text: &str| !text.is_empty() && is_short(text);
        let named = |wanted: &Requirement| {
            let formats = wanted.presentation_formats.iter().flatten();
            let mut names = formats.chain(&wanted.provider).chain([&wanted.proof_type]);
            names.all(|text| name(text))
        };
        if !ways.iter().flat_map(|way| &way.all_of).all(named) {
            let field = "verification_policy.requirements";
            return invalid(field, "names of 1 to 200 bytes, without NUL");
        }
        if !self.binding.challenge.as_deref().is_none_or(name) {
            let field = "verification_policy.binding.challenge";
            return invalid(field, "a text of 1 to 200 bytes, without NUL");
        }
        Ok(())
    }

    /// The ways to satisfy it, in words.
    pub fn wanted(&self) -> String {
        let ways = self.requirements.any_of.iter().map(|way| in_words(&way.all_of));
        ways.collect::<Vec<_>>().join(", or ")
    }
}

fn in_words<'r>(wanted: impl IntoIterator<Item = &'r Requirement>) -> String {
    wanted.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

impl Requirement {
    /// Whether a provider could meet it.
    fn is_offered_by(&self, offer: &Offer) -> bool {
        self.provider.as_ref().is_none_or(|name| *name == offer.provider)
            && offer.proof_types.contains(&self.proof_type)
            && offer.formats.iter().any(|format| self.takes(format))
            && self.min_assurance.is_none_or(|least| offer.assurance >= Some(least))
    }

    fn takes(&self, format: &str) -> bool {
        let formats = self.presentation_formats.as_ref();
        formats.is_none_or(|formats| formats.iter().any(|one| one == format))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.proof_type)?;
        if let Some(provider) = &self.provider {
            write!(f, " by {provider}")?;
        }
        if let Some(formats) = &self.presentation_formats {
            write!(f, " as {}", formats.join(" or "))?;
        }
        self.min_assurance.map_or(Ok(()), |least| write!(f, " of at least {least} assurance"))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn wants(provider: Option<&str>, least: Option<Level>) -> Requirement {
        Requirement {
            proof_type: PROOF_OF_HUMAN.to_owned(),
            provider: provider.map(ToOwned::to_owned),
            min_assurance: least,
            presentation_formats: None,
        }
    }

    pub(crate) fn policy(ways: Vec<Vec<Requirement>>) -> Policy {
        let any_of = ways.into_iter().map(|all_of| AllOf { all_of }).collect();
        Policy {
            mode: Mode::Required,
            required_for: [Door::InlineSubmit, Door::BrowserSubmit].into(),
            requirements: Requirements { any_of },
            binding: Binding {
                case_id: true,
                action: true,
                challenge: Some("c1".to_owned()),
                freshness_seconds: 300,
                expires_at: None,
                single_use: true,
            },
            fallback: Fallback { on_missing: Instead::BrowserReview, on_invalid: Instead::Reject },
        }
    }

    fn offer(provider: &str, assurance: Option<Level>) -> Offer {
        Offer {
            provider: provider.to_owned(),
            proof_types: vec![PROOF_OF_HUMAN.to_owned()],
            formats: vec!["jwt".to_owned()],
            assurance,
        }
    }

    /// HITL-220, C-23: what each mode insists on.
    #[test]
    fn modes() {
        use Door::{BrowserSubmit, InlineSubmit};
        let both = policy(vec![vec![wants(None, None)]]);
        let only = |mode| Policy { mode, required_for: [InlineSubmit].into(), ..both.clone() };
        for (mode, stance, demanded) in [
            (Mode::Optional, Stance::Approve, false),
            (Mode::Required, Stance::Approve, true),
            (Mode::Required, Stance::Reject, true),
            (Mode::StepUp, Stance::Approve, true),
            (Mode::StepUp, Stance::Confirm, true),
            (Mode::StepUp, Stance::Skip, true),
            (Mode::StepUp, Stance::Reject, false),
            (Mode::StepUp, Stance::Change, false),
            (Mode::StepUp, Stance::Decline, false),
            (Mode::StepUp, Stance::Abort, false),
        ] {
            assert_eq!(only(mode).demands(InlineSubmit, stance), demanded, "{mode:?} {stance:?}");
            assert!(!only(mode).demands(BrowserSubmit, stance), "not listed: {mode:?}");
        }
    }

    /// HITL-221: any provider will do unless one is named; what nobody can prove is told by its place.
    #[test]
    fn what_no_provider_can_prove() {
        use Level::{High, Medium};
        let acme = [offer("acme", Some(Medium))];
        let mute = [offer("acme", None)];
        let reach =
            |ways: Vec<Vec<Requirement>>, offers: &[Offer]| policy(ways).out_of_reach(offers);
        assert_eq!(reach(vec![vec![wants(None, None)]], &acme), None);
        assert_eq!(reach(vec![vec![wants(Some("acme"), Some(Medium))]], &acme), None);
        let first = Some("requirements.any_of[0].all_of[0]".to_owned());
        assert_eq!(reach(vec![vec![wants(Some("other"), None)]], &acme), first);
        assert_eq!(reach(vec![vec![wants(None, Some(High))]], &acme), first);
        assert_eq!(reach(vec![vec![wants(None, Some(Level::Low))]], &mute), first);
        assert_eq!(reach(vec![vec![wants(None, None)]], &[]), first);
        let second = vec![vec![wants(None, None), wants(Some("other"), None)]];
        let place = Some("requirements.any_of[0].all_of[1]".to_owned());
        assert_eq!(reach(second, &acme), place);
        let either = vec![vec![wants(Some("other"), None)], vec![wants(Some("acme"), None)]];
        assert_eq!(reach(either, &acme), None);
        for (kind, formats) in
            [("x-passport", None), (PROOF_OF_HUMAN, Some(vec!["zkp".to_owned()]))]
        {
            let odd = Requirement {
                proof_type: kind.to_owned(),
                presentation_formats: formats,
                ..wants(None, None)
            };
            assert_eq!(reach(vec![vec![odd.clone()]], &acme), first, "{odd}");
            assert!(!policy(vec![vec![odd]]).welcomes(&acme[0]));
        }
        let loose = Policy { mode: Mode::Optional, ..policy(vec![vec![wants(None, None)]]) };
        assert_eq!(loose.out_of_reach(&[]), None, "nobody needs it");
    }

    /// HITL-220: bounds of what an agent may want.
    #[test]
    fn a_policy_has_bounds() {
        let one = || vec![wants(None, None)];
        assert_eq!(policy(vec![one()]).check(), Ok(()));
        let nameless = Requirement { proof_type: String::new(), ..wants(None, None) };
        let mut challenge = policy(vec![one()]);
        challenge.binding.challenge = Some(String::new());
        let nowhere = Policy { required_for: BTreeSet::new(), ..policy(vec![one()]) };
        for wrong in [
            policy(vec![]),
            policy(vec![vec![]]),
            policy(vec![one(); MOST + 1]),
            policy(vec![vec![wants(None, None); MOST + 1]]),
            policy(vec![vec![nameless]]),
            policy(vec![vec![wants(Some("a\0b"), None)]]),
            challenge,
            nowhere,
        ] {
            assert!(matches!(wrong.check(), Err(Refusal::Invalid { .. })), "{wrong:?}");
        }
    }

    #[test]
    fn what_is_wanted_in_words() {
        let jwt = Requirement {
            presentation_formats: Some(vec!["jwt".to_owned(), "zkp".to_owned()]),
            ..wants(Some("acme"), Some(Level::High))
        };
        let both = policy(vec![vec![jwt, wants(None, None)], vec![wants(Some("b"), None)]]);
        let words = "proof_of_human by acme as jwt or zkp of at least high assurance \
                     and proof_of_human, or proof_of_human by b";
        assert_eq!(both.wanted(), words);
    }
}
