//! Proofs that a person is present: what an ask demands. HITL 0.8, §7.6.
//!
//! The kernel does not check the proofs themselves: a provider reports the facts of a proof to the
//! server ([`ProofFacts`]). [`judge`](VerificationPolicy::judge) decides whether they are
//! sufficient. The names of the members are those of the protocol, because the policy is returned
//! to the agent as received.

mod judge;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::question::AnswerKind;
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::time::Time;

pub use judge::{PresentedProof, Proof, ProofFacts, ProofFault, Verification};

/// The most common type of proof.
pub const PROOF_OF_HUMAN: &str = "proof_of_human";
/// The maximum number of alternatives, and of proofs in one of them.
pub const MOST: usize = 10;

/// The proofs an ask demands, on which paths, and how they must be bound to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerificationPolicy {
    /// For which answers proofs are required.
    pub mode: VerificationMode,
    /// The paths on which proofs are required.
    pub required_for: BTreeSet<SubmitPath>,
    /// The required proofs.
    pub requirements: Requirements,
    /// The required bindings of a proof.
    pub binding: ProofBinding,
    /// What to offer if the proofs are not sufficient.
    pub fallback: Fallback,
}

/// For which answers a policy requires proofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerificationMode {
    /// Proofs are checked and reported, but an answer needs none.
    Optional,
    /// Every answer needs them.
    Required,
    /// An answer that lets the agent proceed needs them; one that stops it does not.
    StepUp,
}

/// The paths of an answer that a policy can name. A signed-in person uses neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmitPath {
    /// The agent passes the answer on.
    InlineSubmit,
    /// The holder of the link gives the answer.
    BrowserSubmit,
}

impl SubmitPath {
    /// The path an actor uses; `None` if no policy applies to it.
    pub fn of(actor: &Actor) -> Option<Self> {
        match actor {
            Actor::Relay { .. } => Some(Self::InlineSubmit),
            Actor::LinkHolder { .. } => Some(Self::BrowserSubmit),
            Actor::Human { .. } | Actor::Guest { .. } | Actor::Agent { .. } | Actor::System => None,
        }
    }
}

/// The alternatives of a policy; one is enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// The ways to satisfy the policy.
    pub any_of: Vec<AllOf>,
}

/// One alternative: all of its requirements must be met, each with its own proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllOf {
    /// The requirements of this alternative.
    pub all_of: Vec<Requirement>,
}

/// One required proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// `proof_of_human`, or a type of the agent's own.
    pub proof_type: String,
    /// The provider; absent for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The minimum assurance level, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_assurance: Option<ProofAssurance>,
    /// The accepted formats; absent for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presentation_formats: Option<Vec<String>>,
}

/// How sure a provider is; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProofAssurance))]
#[serde(rename_all = "snake_case")]
pub enum ProofAssurance {
    /// A little.
    Low,
    /// Fairly.
    Medium,
    /// Very.
    High,
}

/// The required bindings of a proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofBinding {
    /// Whether it must be bound to this ask.
    pub case_id: bool,
    /// Whether it must be bound to this answer.
    pub action: bool,
    /// The challenge it must answer, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<String>,
    /// The maximum age of a proof, in seconds.
    pub freshness_seconds: u64,
    /// The time after which no proof is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// Whether a proof can be used only once.
    pub single_use: bool,
}

/// What to offer a person whose proofs are not sufficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// What to offer if no proof was presented.
    pub on_missing: FallbackAction,
    /// What to offer if a proof is not accepted.
    pub on_invalid: FallbackAction,
}

/// The alternative that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackAction {
    /// The person can answer on the review page.
    BrowserReview,
    /// There is no alternative.
    Reject,
}

/// What a provider can prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderOffer {
    /// The name of the provider in policies.
    pub provider: String,
    /// The types of proof it supports.
    pub proof_types: Vec<String>,
    /// The formats it supports.
    pub formats: Vec<String>,
    /// The highest assurance level it states; `None` if it states none.
    pub assurance: Option<ProofAssurance>,
}

impl VerificationPolicy {
    /// Whether an answer of this kind on this path needs proofs.
    pub fn requires_proofs(&self, door: SubmitPath, stance: AnswerKind) -> bool {
        let insists = match self.mode {
            VerificationMode::Optional => false,
            VerificationMode::Required => true,
            // An answer that stops the agent, or asks for changes first, needs no proof.
            VerificationMode::StepUp => stance.lets_proceed(),
        };
        insists && self.required_for.contains(&door)
    }

    /// The path of the first requirement that no provider can meet, if no alternative can be
    /// satisfied. Such an ask could never be answered.
    pub fn unsatisfiable(&self, offers: &[ProviderOffer]) -> Option<String> {
        let unmet = |way: &AllOf| {
            let met = |wanted: &Requirement| offers.iter().any(|offer| wanted.is_offered_by(offer));
            way.all_of.iter().position(|wanted| !met(wanted))
        };
        let ways: Vec<Option<usize>> = self.requirements.any_of.iter().map(unmet).collect();
        if self.mode == VerificationMode::Optional || ways.iter().any(Option::is_none) {
            return None;
        }
        let first = ways.into_iter().flatten().next().unwrap_or_default();
        Some(format!("requirements.any_of[0].all_of[{first}]"))
    }

    /// Whether a provider can help to satisfy it.
    pub fn can_use(&self, offer: &ProviderOffer) -> bool {
        let mut wanted = self.requirements.any_of.iter().flat_map(|way| &way.all_of);
        wanted.any(|wanted| wanted.is_offered_by(offer))
    }

    /// Refuses a policy that is not valid.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
        let few = |n: usize| (1..=MOST).contains(&n);
        let ways = &self.requirements.any_of;
        if !few(ways.len()) || !ways.iter().all(|way| few(way.all_of.len())) {
            return invalid(
                "verification_policy.requirements",
                "1 to 10 alternatives of 1 to 10 proofs each",
            );
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
            return invalid(field, "names of 1 to 200 bytes without NUL characters");
        }
        if !self.binding.challenge.as_deref().is_none_or(name) {
            let field = "verification_policy.binding.challenge";
            return invalid(field, "a string of 1 to 200 bytes without NUL characters");
        }
        Ok(())
    }

    /// The alternatives that satisfy it, as text.
    pub fn describe(&self) -> String {
        let ways = self.requirements.any_of.iter().map(|way| describe_all(&way.all_of));
        ways.collect::<Vec<_>>().join(", or ")
    }
}

fn describe_all<'r>(wanted: impl IntoIterator<Item = &'r Requirement>) -> String {
    wanted.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

impl Requirement {
    /// Whether a provider could meet it.
    fn is_offered_by(&self, offer: &ProviderOffer) -> bool {
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

impl fmt::Display for ProofAssurance {
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

    pub(crate) fn wants(provider: Option<&str>, least: Option<ProofAssurance>) -> Requirement {
        Requirement {
            proof_type: PROOF_OF_HUMAN.to_owned(),
            provider: provider.map(ToOwned::to_owned),
            min_assurance: least,
            presentation_formats: None,
        }
    }

    pub(crate) fn policy(ways: Vec<Vec<Requirement>>) -> VerificationPolicy {
        let any_of = ways.into_iter().map(|all_of| AllOf { all_of }).collect();
        VerificationPolicy {
            mode: VerificationMode::Required,
            required_for: [SubmitPath::InlineSubmit, SubmitPath::BrowserSubmit].into(),
            requirements: Requirements { any_of },
            binding: ProofBinding {
                case_id: true,
                action: true,
                challenge: Some("c1".to_owned()),
                freshness_seconds: 300,
                expires_at: None,
                single_use: true,
            },
            fallback: Fallback {
                on_missing: FallbackAction::BrowserReview,
                on_invalid: FallbackAction::Reject,
            },
        }
    }

    fn offer(provider: &str, assurance: Option<ProofAssurance>) -> ProviderOffer {
        ProviderOffer {
            provider: provider.to_owned(),
            proof_types: vec![PROOF_OF_HUMAN.to_owned()],
            formats: vec!["jwt".to_owned()],
            assurance,
        }
    }

    /// HITL-220, C-23: what each mode insists on.
    #[test]
    fn modes() {
        use SubmitPath::{BrowserSubmit, InlineSubmit};
        let both = policy(vec![vec![wants(None, None)]]);
        let only =
            |mode| VerificationPolicy { mode, required_for: [InlineSubmit].into(), ..both.clone() };
        for (mode, stance, demanded) in [
            (VerificationMode::Optional, AnswerKind::Approve, false),
            (VerificationMode::Required, AnswerKind::Approve, true),
            (VerificationMode::Required, AnswerKind::Reject, true),
            (VerificationMode::StepUp, AnswerKind::Approve, true),
            (VerificationMode::StepUp, AnswerKind::Confirm, true),
            (VerificationMode::StepUp, AnswerKind::Skip, true),
            (VerificationMode::StepUp, AnswerKind::Reject, false),
            (VerificationMode::StepUp, AnswerKind::Change, false),
            (VerificationMode::StepUp, AnswerKind::Decline, false),
            (VerificationMode::StepUp, AnswerKind::Abort, false),
        ] {
            assert_eq!(
                only(mode).requires_proofs(InlineSubmit, stance),
                demanded,
                "{mode:?} {stance:?}"
            );
            assert!(!only(mode).requires_proofs(BrowserSubmit, stance), "not listed: {mode:?}");
        }
    }

    /// HITL-221: any provider is accepted unless one is named; a requirement that no provider can
    /// meet is reported by its path.
    #[test]
    fn what_no_provider_can_prove() {
        use ProofAssurance::{High, Medium};
        let acme = [offer("acme", Some(Medium))];
        let mute = [offer("acme", None)];
        let reach = |ways: Vec<Vec<Requirement>>, offers: &[ProviderOffer]| {
            policy(ways).unsatisfiable(offers)
        };
        assert_eq!(reach(vec![vec![wants(None, None)]], &acme), None);
        assert_eq!(reach(vec![vec![wants(Some("acme"), Some(Medium))]], &acme), None);
        let first = Some("requirements.any_of[0].all_of[0]".to_owned());
        assert_eq!(reach(vec![vec![wants(Some("other"), None)]], &acme), first);
        assert_eq!(reach(vec![vec![wants(None, Some(High))]], &acme), first);
        assert_eq!(reach(vec![vec![wants(None, Some(ProofAssurance::Low))]], &mute), first);
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
            assert!(!policy(vec![vec![odd]]).can_use(&acme[0]));
        }
        let loose = VerificationPolicy {
            mode: VerificationMode::Optional,
            ..policy(vec![vec![wants(None, None)]])
        };
        assert_eq!(loose.unsatisfiable(&[]), None, "nobody needs it");
    }

    /// HITL-220: limits of what an agent may demand.
    #[test]
    fn a_policy_has_bounds() {
        let one = || vec![wants(None, None)];
        assert_eq!(policy(vec![one()]).check(), Ok(()));
        let nameless = Requirement { proof_type: String::new(), ..wants(None, None) };
        let mut challenge = policy(vec![one()]);
        challenge.binding.challenge = Some(String::new());
        let nowhere = VerificationPolicy { required_for: BTreeSet::new(), ..policy(vec![one()]) };
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
            ..wants(Some("acme"), Some(ProofAssurance::High))
        };
        let both = policy(vec![vec![jwt, wants(None, None)], vec![wants(Some("b"), None)]]);
        let words = "proof_of_human by acme as jwt or zkp of at least high assurance \
                     and proof_of_human, or proof_of_human by b";
        assert_eq!(both.describe(), words);
    }
}
