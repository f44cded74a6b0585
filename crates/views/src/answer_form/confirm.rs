//! The step before an answer is sent, where the agent wants a proof that a person gives it.

use kernel::ask::Ask;
use kernel::question::Reply;
use url::Url;

use crate::answer::outcome;
use crate::answer_form::problem::{FormProblem, Place};
use crate::answer_form::second_step;
use crate::components::words::Words;

/// The controls for proofs begin with this; the name of the provider follows.
pub const PROOF: &str = "proof.";

/// What the step shows.
#[derive(Debug, Clone)]
pub struct Confirm {
    /// The answer that waits, in a few words.
    pub answer: String,
    /// The style of the button that sends it.
    pub tone: &'static str,
    /// Who wants to be sure.
    pub agent: Words,
    /// Who can confirm it.
    pub ways: Vec<Way>,
    /// Who did.
    pub confirmed: Vec<String>,
    /// What a proof must be made for: the case, the action, the challenge.
    pub made_for: Vec<(&'static str, String)>,
    /// What was wrong with what came.
    pub problem: FormProblem,
}

/// One who can confirm it.
#[derive(Debug, Clone)]
pub struct Way {
    /// What policies call them.
    pub name: String,
    /// What people know them by.
    pub title: Words,
    /// Their page; without one the person brings what they gave.
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

    /// Who can confirm it, as one phrase.
    pub fn who(&self) -> String {
        let titles: Vec<&str> = self.ways.iter().map(|way| way.title.as_str()).collect();
        titles.join(" or ")
    }

    /// Whether something has to be brought here by hand.
    pub fn takes_text(&self) -> bool {
        self.ways.iter().any(|way| way.href.is_none())
    }

    /// Whether pressing the button can lead anywhere.
    pub fn can_send(&self) -> bool {
        self.takes_text() || !self.confirmed.is_empty()
    }

    /// What is wrong with what was brought from one of them.
    pub fn error(&self, name: &str) -> Option<&str> {
        let here = |place: &Place| matches!(place, Place::Proof(of) if of == name);
        let problem = self.problem.problems.iter().find(|problem| here(&problem.place));
        problem.map(|problem| problem.message.as_str())
    }
}
