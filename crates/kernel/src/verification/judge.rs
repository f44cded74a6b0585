//! Checks presented proofs against a policy. Each proof counts once, for one requirement.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{AllOf, FallbackAction, ProofAssurance, Requirement, VerificationPolicy, describe_all};
use crate::audit::Digest;
use crate::refusal::Refusal;
use crate::time::Time;

/// How far a provider's clock may be ahead of the server's, in milliseconds.
const SKEW_MILLIS: i64 = 60_000;

/// A proof that came with an answer, and the result of its provider. The server makes it; the
/// kernel never receives the proof itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedProof {
    /// The claimed type of proof.
    pub proof_type: String,
    /// The provider of the proof.
    pub provider: String,
    /// The format of the proof.
    pub format: String,
    /// The facts the provider confirmed, or why the proof is not valid.
    pub found: Result<ProofFacts, String>,
}

/// The facts of a proof that its provider confirms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofFacts {
    /// Identifies equivalent proofs, however they are encoded.
    pub digest: Digest,
    /// The assurance level the provider states, if any.
    pub assurance: Option<ProofAssurance>,
    /// Whether it is bound to this ask.
    pub bound_to_case: bool,
    /// Whether it is bound to this answer.
    pub bound_to_action: bool,
    /// Whether it answers the challenge of this ask.
    pub answers_challenge: bool,
    /// When the proof was issued.
    pub issued_at: Time,
    /// When the proof expires, if ever.
    pub expires_at: Option<Time>,
}

/// The result of checking the proofs of an answer, as recorded. It contains nothing of the proofs
/// themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Whether the proofs satisfy the policy.
    pub satisfied: bool,
    /// The accepted proofs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<Proof>,
    /// The missing requirements, one entry for each way to satisfy the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// An accepted proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The type of proof.
    pub proof_type: String,
    /// The provider of the proof.
    pub provider: String,
    /// The assurance level the provider states, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<ProofAssurance>,
    /// Whether it is bound to this ask.
    pub bound_to_case: bool,
    /// Whether it is bound to this answer.
    pub bound_to_action: bool,
    /// Whether it can be used only once.
    pub single_use: bool,
    /// When it was verified.
    pub verified_at: Time,
    /// Identifies the proof if it is presented again.
    pub digest: Digest,
}

/// Why a proof is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    /// The provider does not confirm it.
    #[error("{0}")]
    Unproven(String),
    /// The expiry time of the policy has passed.
    #[error("proofs for this case were accepted until {0}")]
    TooLate(Time),
    /// It is bound to another ask, or to none.
    #[error("it was not made for this case")]
    OtherCase,
    /// It is bound to another answer.
    #[error("it was not made for this action")]
    OtherAction,
    /// It does not answer the challenge of the ask.
    #[error("it does not answer this case's challenge")]
    OtherChallenge,
    /// It is too old, or dated in the future.
    #[error("it is too old")]
    Stale,
    /// The proof has expired.
    #[error("it has expired")]
    RunOut,
    /// It was used before.
    #[error("it was already used")]
    Used,
    /// It is valid, but no requirement asks for it.
    #[error("it does not meet the requirements of this case")]
    Unwanted,
}

impl VerificationPolicy {
    /// Checks the presented proofs against the policy. `used` are the proofs that counted for this
    /// ask before.
    pub fn judge(
        &self,
        came: &[PresentedProof],
        used: &BTreeSet<Digest>,
        now: Time,
    ) -> Verification {
        let sifted = self.judge_each(came, used, now).into_iter();
        let good: Vec<_> = sifted
            .filter(|(_, fault)| fault.is_none())
            .filter_map(|(one, _)| Some((one, one.found.as_ref().ok()?)))
            .collect();
        let ways = &self.requirements.any_of;
        let missing: Vec<_> = ways.iter().map(|way| way.unmet(&good)).collect();
        let satisfied = missing.iter().any(Vec::is_empty);
        let words = missing.into_iter().filter(|_| !satisfied).map(describe_all);
        Verification {
            satisfied,
            missing: words.collect(),
            proofs: good.iter().map(|(one, facts)| self.proof(one, facts, now)).collect(),
        }
    }

    /// The refusal for an answer whose proofs are not sufficient: some are missing, or one is not
    /// accepted.
    pub(crate) fn refuse(
        &self,
        came: &[PresentedProof],
        used: &BTreeSet<Digest>,
        now: Time,
    ) -> Refusal {
        let mut sifted = self.judge_each(came, used, now).into_iter();
        if let Some((one, fault)) = sifted.find_map(|(one, fault)| Some((one, fault?))) {
            let why = format!("the proof by {}: {fault}", one.provider);
            return Refusal::VerificationFailed { why, page: self.fallback.on_invalid.is_page() };
        }
        let (wants, page) = (self.describe(), self.fallback.on_missing.is_page());
        Refusal::VerificationRequired { wants, page }
    }

    /// Every proof with the reason why it is not accepted. A duplicate counts once.
    fn judge_each<'p>(
        &self,
        came: &'p [PresentedProof],
        used: &BTreeSet<Digest>,
        now: Time,
    ) -> Vec<(&'p PresentedProof, Option<ProofFault>)> {
        let mut seen = BTreeSet::new();
        let one = |one: &'p PresentedProof| {
            let digest = one.found.as_ref().ok().map(|facts| facts.digest);
            let again = digest.is_some_and(|digest| !seen.insert(digest));
            let fault = self.fault(one, used, now);
            (one, fault.or_else(|| again.then_some(ProofFault::Used)))
        };
        came.iter().map(one).collect()
    }

    /// Why a proof is not accepted; `None` if it is.
    pub fn fault(
        &self,
        one: &PresentedProof,
        used: &BTreeSet<Digest>,
        now: Time,
    ) -> Option<ProofFault> {
        let facts = match &one.found {
            Ok(facts) => facts,
            Err(why) => return Some(ProofFault::Unproven(why.clone())),
        };
        let binding = &self.binding;
        let over = binding.expires_at.filter(|until| *until <= now);
        let age = now.millis().saturating_sub(facts.issued_at.millis());
        let oldest = i64::try_from(binding.freshness_seconds).unwrap_or(i64::MAX);
        let fresh = (-SKEW_MILLIS..=oldest.saturating_mul(1000)).contains(&age);
        let faults = [
            (over.is_some(), ProofFault::TooLate(over.unwrap_or(now))),
            (binding.case_id && !facts.bound_to_case, ProofFault::OtherCase),
            (binding.action && !facts.bound_to_action, ProofFault::OtherAction),
            (binding.challenge.is_some() && !facts.answers_challenge, ProofFault::OtherChallenge),
            (!fresh, ProofFault::Stale),
            (facts.expires_at.is_some_and(|until| until <= now), ProofFault::RunOut),
            (binding.single_use && used.contains(&facts.digest), ProofFault::Used),
            (!self.accepts(one, facts), ProofFault::Unwanted),
        ];
        faults.into_iter().find_map(|(at_fault, fault)| at_fault.then_some(fault))
    }

    fn accepts(&self, one: &PresentedProof, facts: &ProofFacts) -> bool {
        let mut wanted = self.requirements.any_of.iter().flat_map(|way| &way.all_of);
        wanted.any(|wanted| wanted.is_met_by(one, facts))
    }

    fn proof(&self, one: &PresentedProof, facts: &ProofFacts, now: Time) -> Proof {
        Proof {
            proof_type: one.proof_type.clone(),
            provider: one.provider.clone(),
            assurance: facts.assurance,
            bound_to_case: facts.bound_to_case,
            bound_to_action: facts.bound_to_action,
            single_use: self.binding.single_use,
            verified_at: now,
            digest: facts.digest,
        }
    }
}

impl FallbackAction {
    fn is_page(self) -> bool {
        self == Self::BrowserReview
    }
}

impl Requirement {
    fn is_met_by(&self, one: &PresentedProof, facts: &ProofFacts) -> bool {
        self.proof_type == one.proof_type
            && self.provider.as_ref().is_none_or(|name| *name == one.provider)
            && self.takes(&one.format)
            && self.min_assurance.is_none_or(|least| facts.assurance >= Some(least))
    }
}

impl AllOf {
    /// The requirements that find no proof of their own among these.
    fn unmet(&self, good: &[(&PresentedProof, &ProofFacts)]) -> Vec<&Requirement> {
        let mut holder = BTreeMap::new();
        let left = (0..self.all_of.len())
            .filter(|wanted| !self.assign_proof(*wanted, good, &mut BTreeSet::new(), &mut holder));
        left.filter_map(|wanted| self.all_of.get(wanted)).collect()
    }

    /// Finds a proof for one requirement, and moves other requirements to other proofs where that
    /// helps.
    fn assign_proof(
        &self,
        wanted: usize,
        good: &[(&PresentedProof, &ProofFacts)],
        tried: &mut BTreeSet<usize>,
        holder: &mut BTreeMap<usize, usize>,
    ) -> bool {
        let Some(requirement) = self.all_of.get(wanted) else { return false };
        for (at, (one, facts)) in good.iter().enumerate() {
            if !requirement.is_met_by(one, facts) || !tried.insert(at) {
                continue;
            }
            let before = holder.get(&at).copied();
            if before.is_none_or(|other| self.assign_proof(other, good, tried, holder)) {
                holder.insert(at, wanted);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{policy, wants};
    use super::*;

    const NOW: i64 = 1_770_372_000_000;

    fn now() -> Time {
        Time::from_millis(NOW)
    }

    fn proof(provider: &str, name: &str, assurance: Option<ProofAssurance>) -> PresentedProof {
        PresentedProof {
            proof_type: "proof_of_human".to_owned(),
            provider: provider.to_owned(),
            format: "jwt".to_owned(),
            found: Ok(ProofFacts {
                digest: Digest::of(name.as_bytes()),
                assurance,
                bound_to_case: true,
                bound_to_action: true,
                answers_challenge: true,
                issued_at: now(),
                expires_at: Some(now().plus_seconds(60)),
            }),
        }
    }

    fn but(change: impl FnOnce(&mut ProofFacts)) -> PresentedProof {
        let mut one = proof("acme", "1", None);
        one.found = one.found.map(|mut facts| {
            change(&mut facts);
            facts
        });
        one
    }

    fn judged(ways: Vec<Vec<Requirement>>, came: &[PresentedProof]) -> Verification {
        policy(ways).judge(came, &BTreeSet::new(), now())
    }

    /// HITL-220: one of several alternatives, and all requirements of it.
    #[test]
    fn an_or_of_ands() {
        use ProofAssurance::{High, Low, Medium};
        let (a, b) = (wants(Some("a"), None), wants(Some("b"), Some(Medium)));
        let any = wants(None, None);
        let pa = || proof("a", "1", None);
        let pb = |level| proof("b", "2", level);
        for (ways, came, enough) in [
            (vec![vec![a.clone()]], vec![pa()], true),
            (vec![vec![a.clone()]], vec![pb(Some(High))], false),
            (vec![vec![any.clone()]], vec![pb(None)], true),
            (vec![vec![b.clone()]], vec![pb(Some(High))], true),
            (vec![vec![b.clone()]], vec![pb(Some(Medium))], true),
            (vec![vec![b.clone()]], vec![pb(Some(Low))], false),
            (vec![vec![b.clone()]], vec![pb(None)], false),
            (vec![vec![a.clone(), b.clone()]], vec![pa()], false),
            (vec![vec![a.clone(), b.clone()]], vec![pb(Some(High)), pa()], true),
            (vec![vec![a.clone()], vec![b.clone()]], vec![pb(Some(High))], true),
            (vec![vec![a.clone(), b.clone()], vec![any.clone()]], vec![pa()], true),
            (vec![vec![any.clone()]], vec![], false),
            // One proof counts once; each finds its requirement in any order.
            (vec![vec![any.clone(), any.clone()]], vec![pa()], false),
            (vec![vec![any.clone(), any.clone()]], vec![pa(), pa()], false),
            (vec![vec![any.clone(), any.clone()]], vec![pa(), pb(None)], true),
            (vec![vec![any.clone(), a.clone()]], vec![pa(), pb(None)], true),
            (vec![vec![any.clone(), a.clone()]], vec![pb(None), pa()], true),
        ] {
            let found = judged(ways.clone(), &came);
            assert_eq!(found.satisfied, enough, "{ways:?} {came:?}");
            assert_eq!(found.missing.is_empty(), enough, "{found:?}");
        }
    }

    /// HITL-228: the missing requirements of each alternative, and the accepted proofs.
    #[test]
    fn what_is_missing_is_said() {
        let ways = vec![
            vec![wants(Some("a"), None), wants(Some("b"), Some(ProofAssurance::High))],
            vec![wants(Some("c"), None)],
        ];
        let found = judged(ways, &[proof("a", "1", Some(ProofAssurance::Low))]);
        let missing = ["proof_of_human by b of at least high assurance", "proof_of_human by c"];
        assert_eq!(found.missing, missing);
        let [held] = found.proofs.as_slice() else { panic!("{found:?}") };
        assert_eq!((held.provider.as_str(), held.assurance), ("a", Some(ProofAssurance::Low)));
        assert!(held.bound_to_case && held.bound_to_action && held.single_use);
    }

    /// HITL-223: bound, fresh, in time, used once.
    #[test]
    fn why_a_proof_does_not_count() {
        let plain = policy(vec![vec![wants(None, None)]]);
        let age = |seconds: i64| but(|f| f.issued_at = Time::from_millis(NOW - seconds * 1000));
        let none = BTreeSet::new();
        let once = BTreeSet::from([Digest::of(b"1")]);
        let fault = |one: &PresentedProof, used| plain.fault(one, used, now());
        for (one, used, expected) in [
            (but(|_| {}), &none, None),
            (but(|f| f.bound_to_case = false), &none, Some(ProofFault::OtherCase)),
            (but(|f| f.bound_to_action = false), &none, Some(ProofFault::OtherAction)),
            (but(|f| f.answers_challenge = false), &none, Some(ProofFault::OtherChallenge)),
            (age(300), &none, None),
            (age(301), &none, Some(ProofFault::Stale)),
            (age(-60), &none, None),
            (age(-61), &none, Some(ProofFault::Stale)),
            (but(|f| f.expires_at = Some(now())), &none, Some(ProofFault::RunOut)),
            (but(|f| f.expires_at = None), &none, None),
            (but(|_| {}), &once, Some(ProofFault::Used)),
        ] {
            assert_eq!(fault(&one, used), expected, "{one:?}");
        }
        let forged = PresentedProof { found: Err("forged".to_owned()), ..but(|_| {}) };
        assert_eq!(fault(&forged, &none), Some(ProofFault::Unproven("forged".to_owned())));
        let odd = PresentedProof { proof_type: "x-other".to_owned(), ..but(|_| {}) };
        assert_eq!(fault(&odd, &none), Some(ProofFault::Unwanted));
    }

    /// HITL-223: a binding that the policy does not require is not checked.
    #[test]
    fn only_what_is_bound_is_compared() {
        let mut loose = policy(vec![vec![wants(None, None)]]);
        loose.binding.case_id = false;
        loose.binding.action = false;
        loose.binding.challenge = None;
        loose.binding.single_use = false;
        let stray = but(|f| {
            (f.bound_to_case, f.bound_to_action, f.answers_challenge) = (false, false, false);
        });
        let once = BTreeSet::from([Digest::of(b"1")]);
        let found = loose.judge(std::slice::from_ref(&stray), &once, now());
        assert!(found.satisfied);
        assert!(!found.proofs[0].bound_to_case && !found.proofs[0].single_use);
        loose.binding.expires_at = Some(now());
        assert_eq!(loose.fault(&stray, &once, now()), Some(ProofFault::TooLate(now())));
    }

    /// HITL-225: no proof, too few proofs, or a proof that is not accepted.
    #[test]
    fn missing_and_wrong_are_told_apart() {
        let wanted = || vec![wants(Some("a"), None), wants(Some("b"), None)];
        let policy = policy(vec![wanted()]);
        let refuse = |came: &[PresentedProof]| policy.refuse(came, &BTreeSet::new(), now());
        for came in [vec![], vec![proof("a", "1", None)]] {
            let refused = refuse(&came);
            assert!(
                matches!(refused, Refusal::VerificationRequired { page: true, .. }),
                "{refused:?}"
            );
        }
        let twice = [proof("a", "1", None), proof("a", "1", None)];
        for came in [&[proof("c", "3", None)][..], &twice] {
            let refused = refuse(came);
            assert!(
                matches!(refused, Refusal::VerificationFailed { page: false, .. }),
                "{refused:?}"
            );
        }
    }
}
