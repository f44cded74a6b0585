//! The unsent draft on a review page: one answer form, or a form with several steps.

use kernel::Ask;
use kernel::form::{Field, Kind};
use kernel::question::{Body, Question, Reply};
use kernel::verification::MOST;
use serde::{Deserialize, Serialize};

use crate::answer_form::problem::{Draft, FormProblem, PROOFS};
use crate::answer_form::second_step::{HELD, SURE};
use crate::answer_form::steps::{self, Filled};
use crate::answer_form::submitted::{self, Submitted};

/// Names that control the form and are not part of the draft.
const ORDERS: [&str; 6] = ["action", "choose", "reject", "step", SURE, HELD];

/// The draft that is kept between two visits. It may contain secrets, so it is stored encrypted
/// and never printed.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Kept {
    /// The current step, from 0.
    pub step: usize,
    /// The entered values.
    #[serde(flatten)]
    pub form: Submitted,
    /// The pressed button, while a proof of personhood is pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<(String, String)>,
    /// The proofs, by provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<(String, String)>,
}

impl Kept {
    /// Adds a proof. If there are too many, the oldest are dropped.
    pub fn bring(&mut self, proof: (String, String)) {
        self.proofs.retain(|held| *held != proof);
        self.proofs.push(proof);
        let extra = self.proofs.len().saturating_sub(MOST);
        self.proofs.drain(..extra);
    }

    /// The question and the answer that is waiting for a proof.
    pub fn waiting<'a>(&self, ask: &'a Ask) -> Option<(&'a Question, Reply)> {
        let question = ask.question.value().filter(|_| !self.awaiting.is_empty())?;
        let reply = submitted::reply(question, &self.whole()).ok()?;
        ask.verification.is_some().then_some((question, reply))
    }

    /// Merges a submitted form. A submitted step replaces the kept values of that step. Its secrets
    /// and uploads stay if the submission has none, because a page cannot show them again.
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
            // No ticked checkbox is an answer; any other control without a value was not
            // on the page.
            values.is_empty() && !matches!(field.kind(), Kind::Multiselect(_))
        };
        if !stays {
            self.form.pairs.retain(|(of, _)| *of != name);
            if values.is_empty() {
                // An empty selection is kept as an empty value; otherwise the default would return.
                self.form.pairs.push((name.clone(), String::new()));
            }
            self.form.pairs.extend(values.iter().map(|value| (name.clone(), (*value).to_owned())));
        }
    }

    /// Records which button was pressed. Proofs for another button do not count for it.
    pub fn await_proof(&mut self, sent: &Submitted) {
        let pressed =
            |(name, _): &&(String, String)| matches!(name.as_str(), "action" | "choose" | "reject");
        let awaiting: Vec<_> = sent.pairs.iter().filter(pressed).cloned().collect();
        if awaiting != self.awaiting {
            self.proofs.clear();
        }
        self.awaiting = awaiting;
    }

    /// All entered values, with the pressed button.
    pub fn whole(&self) -> Submitted {
        let mut whole = self.form.clone();
        whole.pairs.extend(self.awaiting.iter().cloned());
        whole
    }

    /// Whether the draft is empty.
    pub fn is_empty(&self) -> bool {
        self.form.pairs.is_empty() && self.form.files.is_empty()
    }

    /// The draft as the page shows it, with its problem.
    pub fn draft(&self, question: &Question, problem: FormProblem) -> Draft {
        Draft::new(question, &self.form, problem).holding(question, &self.form)
    }

    /// The step to show in place of this one: the next step that applies.
    pub fn nearest(&self, question: &Question, step: usize) -> usize {
        match (question.body(), self.filled(question)) {
            (Body::Provide { form }, Some(filled)) => steps::settle(form, &filled, step),
            _ => 0,
        }
    }

    /// The form with its current values; `None` for other kinds of questions.
    pub fn filled(&self, question: &Question) -> Option<Filled> {
        let Body::Provide { form } = question.body() else { return None };
        let values =
            if self.is_empty() { form.defaults() } else { submitted::values(form, &self.form) };
        Some(Filled::new(form, &values))
    }
}
