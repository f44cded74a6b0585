//! What somebody has entered on a review page and not sent: one answer card, or a form step by step.

use kernel::Ask;
use kernel::form::{Field, Kind};
use kernel::question::{Body, Question, Reply};
use kernel::verification::MOST;
use serde::{Deserialize, Serialize};

use crate::answer_form::problem::{Draft, FormProblem, PROOFS};
use crate::answer_form::second_step::{HELD, SURE};
use crate::answer_form::steps::{self, Filled};
use crate::answer_form::submitted::{self, Submitted};

/// Names that say what to do with a form, and are no part of it.
const ORDERS: [&str; 6] = ["action", "choose", "reject", "step", SURE, HELD];

/// What is kept between two visits. It may hold secrets: it is stored encrypted, and never printed.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Kept {
    /// The step the person was on, from 0.
    pub step: usize,
    /// What was entered.
    #[serde(flatten)]
    pub form: Submitted,
    /// The button that was pressed, while a proof that a person pressed it is still to come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<(String, String)>,
    /// Such proofs, by whose they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<(String, String)>,
}

impl Kept {
    /// Adds a proof. Of too many, the oldest are dropped.
    pub fn bring(&mut self, proof: (String, String)) {
        self.proofs.retain(|held| *held != proof);
        self.proofs.push(proof);
        let extra = self.proofs.len().saturating_sub(MOST);
        self.proofs.drain(..extra);
    }

    /// The question and the answer that waits for a proof.
    pub fn waiting<'a>(&self, ask: &'a Ask) -> Option<(&'a Question, Reply)> {
        let question = ask.question.value().filter(|_| !self.awaiting.is_empty())?;
        let reply = submitted::reply(question, &self.whole()).ok()?;
        ask.verification.is_some().then_some((question, reply))
    }

    /// Takes in what was posted. A form's step replaces what was kept of that step; its secrets and
    /// uploads stay when none came along, because a page cannot show them again.
    pub fn take(&mut self, question: &Question, sent: Submitted) {
        let Body::Provide { form } = question.body() else {
            let entered = |(name, _): &(String, String)| {
                !PROOFS.contains(&name.as_str()) && !ORDERS.contains(&name.as_str())
            };
            self.form.pairs = sent.pairs.into_iter().filter(entered).collect();
            return;
        };
        let step = sent.value("step").and_then(|n| n.parse().ok()).unwrap_or(self.step);
        self.step = step;
        for field in steps::fields(form, step) {
            self.take_field(field, &sent);
        }
    }

    fn take_field(&mut self, field: &Field, sent: &Submitted) {
        let name = format!("field.{}", field.key());
        if let Some((_, file)) = sent.files.iter().rfind(|(of, _)| *of == name) {
            self.form.files.retain(|(of, _)| *of != name);
            self.form.files.push((name, file.clone()));
            return;
        }
        let values: Vec<&str> = sent.values(&name).collect();
        let stays = if field.is_sensitive() {
            values.iter().all(|value| value.is_empty())
        } else {
            // No box ticked is an answer; any other control that sent nothing was not on the page.
            values.is_empty() && !matches!(field.kind(), Kind::Multiselect(_))
        };
        if !stays {
            self.form.pairs.retain(|(of, _)| *of != name);
            if values.is_empty() {
                // Nothing is kept as nothing, or a default would come back.
                self.form.pairs.push((name.clone(), String::new()));
            }
            self.form.pairs.extend(values.iter().map(|value| (name.clone(), (*value).to_owned())));
        }
    }

    /// Notes which button was pressed. Proofs for another one do not count for it.
    pub fn await_proof(&mut self, sent: &Submitted) {
        let pressed =
            |(name, _): &&(String, String)| matches!(name.as_str(), "action" | "choose" | "reject");
        let awaiting: Vec<_> = sent.pairs.iter().filter(pressed).cloned().collect();
        if awaiting != self.awaiting {
            self.proofs.clear();
        }
        self.awaiting = awaiting;
    }

    /// Everything entered, with the button that was pressed.
    pub fn whole(&self) -> Submitted {
        let mut whole = self.form.clone();
        whole.pairs.extend(self.awaiting.iter().cloned());
        whole
    }

    /// Whether nothing was entered yet.
    pub fn is_empty(&self) -> bool {
        self.form.pairs.is_empty() && self.form.files.is_empty()
    }

    /// What was kept, as the page shows it, with what was wrong with it.
    pub fn draft(&self, question: &Question, problem: FormProblem) -> Draft {
        Draft::new(question, &self.form, problem).holding(question, &self.form)
    }

    /// The step to show in place of this one: the next that applies.
    pub fn nearest(&self, question: &Question, step: usize) -> usize {
        match (question.body(), self.filled(question)) {
            (Body::Provide { form }, Some(filled)) => steps::settle(form, &filled, step),
            _ => 0,
        }
    }

    /// The form as far as it is filled; nothing for other questions.
    pub fn filled(&self, question: &Question) -> Option<Filled> {
        let Body::Provide { form } = question.body() else { return None };
        let values =
            if self.is_empty() { form.defaults() } else { submitted::values(form, &self.form) };
        Some(Filled::new(form, &values))
    }
}
