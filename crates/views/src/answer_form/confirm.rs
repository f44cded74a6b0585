//! The step before an answer is sent if the agent requires a proof that a person gives it.

use kernel::ask::Ask;
use kernel::question::Reply;
use url::Url;

use crate::answer::outcome;
use crate::answer_form::problem::{FormProblem, Place};
use crate::answer_form::second_step;
use crate::components::words::Words;

/// The prefix of the controls for proofs; the name of the provider follows.
pub const PROOF: &str = "proof.";

/// The content of the step.
#[derive(Debug, Clone)]
pub struct Confirm {
    /// The pending answer, in a few words.
    pub answer: String,
    /// The style class of the button that sends it.
    pub tone: &'static str,
    /// The agent that requires the proof.
    pub agent: Words,
    /// The providers that can confirm it.
    pub ways: Vec<Way>,
    /// The providers that have confirmed it.
    pub confirmed: Vec<String>,
    /// The values that a proof must contain: the case, the action, the challenge.
    pub made_for: Vec<(&'static str, String)>,
    /// The problems with the submitted proofs.
    pub problem: FormProblem,
}

/// A provider that can confirm it.
#[derive(Debug, Clone)]
pub struct Way {
    /// The provider's name in policies.
    pub name: String,
    /// The provider's display name.
    pub title: Words,
    /// The provider's page; without one, the person pastes the proof.
    pub href: Option<Url>,
}

impl Confirm {
    /// The step for an answer to an ask.
    pub fn new(ask: &Ask, reply: &Reply, ways: Vec<Way>) -> Self {
        Self {
            answer: outcome::brief(reply, ask.question.value()),
            tone: second_step::tone(ask, reply),
            agent: Words::of(ask.agent.as_str()),
            ways,
            confirmed: Vec::new(),
            made_for: Vec::new(),
            problem: FormProblem::default(),
        }
    }

    /// The providers, as one phrase.
    pub fn who(&self) -> String {
        let titles: Vec<&str> = self.ways.iter().map(|way| way.title.as_str()).collect();
        titles.join(" or ")
    }

    /// Whether the person has to paste a proof.
    pub fn takes_text(&self) -> bool {
        self.ways.iter().any(|way| way.href.is_none())
    }

    /// Whether the button can succeed.
    pub fn can_send(&self) -> bool {
        self.takes_text() || !self.confirmed.is_empty()
    }

    /// The problem with the proof of one provider.
    pub fn error(&self, name: &str) -> Option<&str> {
        let here = |place: &Place| matches!(place, Place::Proof(of) if of == name);
        let problem = self.problem.problems.iter().find(|problem| here(&problem.place));
        problem.map(|problem| problem.message.as_str())
    }
}
