//! The second step before an answer is sent. It is required if the request cannot be undone or is
//! critical, and if an approval changes the agent's proposal. Every page shows the same step.

use kernel::form::Field;
use kernel::question::{Answer, Choice, Question, QuestionBody, Reply};
use kernel::{Ask, Assurance};
use serde_json::Map;

use crate::answer::changes::{self, ChangedValue};
use crate::answer::outcome;
use crate::answer_form::edits;
use crate::answer_form::problem::AUTHORIZATION_INPUTS;
use crate::answer_form::submitted::SubmittedForm;
use crate::answer_form::{
    AnswerButton, AnswerForm, AnswerFormContext, ConfirmationItem, with_changes,
};
use crate::components::facts::Fact;
use crate::components::wording::{self, VisibleText};

/// The control that proves that the step was shown, and when.
pub const SECOND_STEP_PROOF: &str = "sure";
/// The control with the answer's secrets and uploads, sealed by the server, because a page
/// never shows them.
pub const SEALED_VALUES: &str = "held";
/// Names that control the form and are not part of the answer.
const NON_ANSWER_INPUTS: [&str; 5] =
    ["action", "choose", "reject", SECOND_STEP_PROOF, SEALED_VALUES];

/// The state of the step when a form is submitted.
#[derive(Debug, Clone, Default)]
pub struct SecondStepContext {
    /// Another deliberate step follows, such as a passkey or a proof of personhood.
    pub guarded: bool,
    /// Whether the step was shown for this exact answer.
    pub taken: SecondStepStatus,
    /// The proof that the step is shown now; its form submits it.
    pub proof: String,
}

/// Whether the step was completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecondStepStatus {
    /// It was not shown for this answer.
    #[default]
    No,
    /// It was shown only a moment ago: the second tap of a double tap is not a decision.
    TooSoon,
    /// It was shown long enough to be read.
    Yes,
}

/// The content of the step.
#[derive(Debug, Clone)]
pub struct SecondStep {
    /// Whether its button was pressed before anyone could have read it.
    pub too_soon: bool,
    /// The reason for the step, as a heading.
    pub title: String,
    pub irreversible: bool,
    pub critical: bool,
    /// The answer, in a few words.
    pub answer: String,
    pub values: Vec<Fact>,
    /// The items of a confirmation; the agent executes all of them.
    pub items: Vec<ConfirmationItem>,
    /// The changes to the agent's proposal.
    pub changed: Vec<ChangedValue>,
    /// The comment on the answer.
    pub comment: Option<VisibleText>,
    pub href: String,
    /// The hidden inputs: the form's token, the entered values, and the proof of this step.
    pub hidden: Vec<(String, String)>,
    /// The button that sends the answer.
    pub send: AnswerButton,
    /// The path to go back without sending; if absent, the form has a button for it.
    pub back: Option<String>,
}

impl SecondStep {
    /// The step for an answer, unless it needs none or it was already completed.
    pub fn if_required(
        ask: &Ask,
        reply: &Reply,
        sent: &SubmittedForm,
        desk: AnswerFormContext,
        before: SecondStepContext,
    ) -> Option<Self> {
        let question = ask.question.value()?;
        let warned = (ask.must_confirm(&reply.answer)
            || is_destructive_refusal(ask, question, reply))
            && !before.guarded;
        if before.taken == SecondStepStatus::Yes || !(warned || changes_values(question, reply)) {
            return None;
        }
        Some(Self::new(ask, question, reply, sent, desk, before))
    }

    fn new(
        ask: &Ask,
        question: &Question,
        reply: &Reply,
        sent: &SubmittedForm,
        desk: AnswerFormContext,
        before: SecondStepContext,
    ) -> Self {
        let irreversible = ask.is_irreversible();
        let critical = ask.priority == kernel::ask::Priority::Critical;
        let changed = match &reply.answer {
            Answer::Approved { .. } => changes::of_reply(Some(question), Some(reply)),
            _ => Vec::new(),
        };
        let href = desk.href.clone();
        let mut hidden = vec![(desk.proof.0.to_owned(), desk.proof.1.clone())];
        hidden.extend(visible_values(question, sent));
        hidden.push((SECOND_STEP_PROOF.to_owned(), before.proof));
        let card = AnswerForm::new(question, irreversible || critical, None, desk);
        let pressed = card
            .buttons
            .into_iter()
            .find(|button| sent.value(button.name) == Some(button.value.as_str()));
        let send = match (&reply.answer, pressed) {
            // The button would repeat the question, which shows the old values.
            (Answer::Approved { edits: Some(_) }, _) => {
                AnswerButton::act("yes", "approve", with_changes())
                    .with_consequence(&t!("second-step-edited-effect"))
            }
            (_, Some(pressed)) => pressed,
            (_, None) => {
                let action = sent.value("action").unwrap_or_default();
                AnswerButton::act("yes", action, t!("second-step-send"))
            }
        };
        let tone = if irreversible || critical { "danger" } else { send.tone };
        Self {
            too_soon: before.taken == SecondStepStatus::TooSoon,
            title: match (irreversible, critical) {
                (true, _) => t!("common-cannot-be-undone"),
                (false, true) => t!("second-step-title-critical"),
                (false, false) => t!("second-step-title-changed"),
            },
            irreversible,
            critical,
            answer: outcome::brief(reply, Some(question)),
            values: if changed.is_empty() {
                outcome::answer_facts(&reply.answer, Some(question))
            } else {
                Vec::new()
            },
            items: match (question.body(), &reply.answer) {
                (QuestionBody::Confirm { items, .. }, Answer::Confirmed { items: ids }) => {
                    let meant = |item: &&Choice| ids.is_empty() || ids.contains(&item.id);
                    items.iter().filter(meant).map(ConfirmationItem::from).collect()
                }
                _ => Vec::new(),
            },
            changed,
            comment: reply.comment.as_deref().map(VisibleText::of),
            href,
            hidden,
            send: AnswerButton { tone, suggested: false, ..send },
            back: None,
        }
    }

    /// The same step for a button of the inbox list; it returns to the list.
    #[must_use]
    pub fn from_list(
        mut self,
        (name, value): (&'static str, String),
        hidden: Vec<(String, String)>,
        back: String,
    ) -> Self {
        self.hidden.retain(|(name, _)| name == SECOND_STEP_PROOF);
        self.hidden.extend(hidden);
        self.send = AnswerButton { name, value, ..self.send };
        self.back = Some(back);
        self
    }
}

/// Whether an answer requires a passkey, which is a deliberate step of its own.
pub fn takes_passkey(ask: &Ask, answer: &Answer) -> bool {
    ask.minimum_assurance(answer) == Assurance::Passkey
}

/// The style class of the button that sends an answer on a page that only asks for a proof. It
/// follows the consequence, as the buttons of the answer form do.
pub fn tone(ask: &Ask, reply: &Reply) -> &'static str {
    let Some(question) = ask.question.value() else { return "plain" };
    let proceeds = reply.answer.lets_proceed();
    if ask.must_confirm(&reply.answer)
        || is_destructive_refusal(ask, question, reply)
        || (proceeds && wording::is_destructive(question.prompt()))
    {
        return "danger";
    }
    if proceeds { "yes" } else { "safe" }
}

/// Whether the "no" of a confirmation is destructive, according to its label.
fn is_destructive_refusal(ask: &Ask, question: &Question, reply: &Reply) -> bool {
    matches!(
        (question.body(), &reply.answer),
        (QuestionBody::Confirm { no, .. }, Answer::Declined) if wording::is_destructive(no)
    ) && ask.needs_confirmation()
}

/// Whether an approval changes typed values. A cleared checkbox needs no second look, because the
/// person saw it.
fn changes_values(question: &Question, reply: &Reply) -> bool {
    let (QuestionBody::Approve { details, editable, .. }, Answer::Approved { edits: Some(edits) }) =
        (question.body(), &reply.answer)
    else {
        return false;
    };
    let mut typed: Map<_, _> = edits.clone();
    typed.retain(|key, _| !edits::is_ticked(editable.form(), key));
    !changes::changes(details, &typed).is_empty()
}

/// The entered values that may appear in a page: no secrets and no buttons.
fn visible_values(question: &Question, sent: &SubmittedForm) -> Vec<(String, String)> {
    let kept = |(name, _): &&(String, String)| {
        !AUTHORIZATION_INPUTS.contains(&name.as_str())
            && !NON_ANSWER_INPUTS.contains(&name.as_str())
            && !is_secret(question, name)
    };
    sent.pairs.iter().filter(kept).cloned().collect()
}

/// The values that must not appear in a page: secrets and uploads.
pub fn hidden_values(question: &Question, sent: &SubmittedForm) -> SubmittedForm {
    let secret = |(name, value): &&(String, String)| !value.is_empty() && is_secret(question, name);
    SubmittedForm {
        pairs: sent.pairs.iter().filter(secret).cloned().collect(),
        files: sent.files.clone(),
    }
}

fn is_secret(question: &Question, name: &str) -> bool {
    let QuestionBody::Provide { form } = question.body() else { return false };
    let field = name.strip_prefix("field.").map(|key| form.field(key));
    field.is_some_and(|field| field.is_none_or(Field::is_sensitive))
}

impl SubmittedForm {
    /// Restores the held values, unless the person entered others in their place.
    pub fn restore(&mut self, held: SubmittedForm) {
        for (name, value) in held.pairs {
            if self.value(&name).is_none_or(str::is_empty) {
                self.pairs.push((name, value));
            }
        }
        for (name, file) in held.files {
            if !self.files.iter().any(|(of, _)| *of == name) {
                self.files.push((name, file));
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.files.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use kernel::ask::Priority;
    use kernel::command::NewAsk;
    use kernel::question::{Choice, Options, PickMode};
    use kernel::testing::{Cast, new_ask};
    use serde_json::{Value, json};

    use super::*;
    use crate::answer_form::submitted;

    fn map(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn sent(pairs: &[(&str, &str)]) -> SubmittedForm {
        SubmittedForm::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    fn with(body: QuestionBody) -> NewAsk {
        NewAsk { question: Question::new("Drop the table?", None, body).unwrap(), ..new_ask() }
    }

    fn approve(details: Value) -> QuestionBody {
        QuestionBody::Approve {
            details: map(details),
            editable: true.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        }
    }

    fn step(new: NewAsk, pairs: &[(&str, &str)], guarded: bool) -> Option<SecondStep> {
        let mut cast = Cast::new();
        let id = cast.ask(new);
        let ask = cast.seen(id);
        let sent = sent(pairs);
        let reply = submitted::reply(ask.question.value().unwrap(), &sent).unwrap();
        let taken = if sent.value(SECOND_STEP_PROOF).is_some() {
            SecondStepStatus::Yes
        } else {
            SecondStepStatus::No
        };
        let before = SecondStepContext { guarded, taken, proof: "shown".to_owned() };
        SecondStep::if_required(
            ask,
            &reply,
            &sent,
            AnswerFormContext::link("review_x", "secret", 0),
            before,
        )
    }

    fn final_(new: NewAsk) -> NewAsk {
        NewAsk { metadata: map(json!({ "irreversible": true })), ..new }
    }

    #[test]
    fn what_cannot_be_undone_or_is_critical_is_asked_once_more() {
        let plain = || with(approve(json!({})));
        let critical = || NewAsk { priority: Priority::Critical, ..plain() };
        let yes = [("token", "secret"), ("action", "approve"), ("comment", "Go")];
        assert!(step(plain(), &yes, false).is_none());
        let irreversible = step(final_(plain()), &yes, false).unwrap();
        assert_eq!(irreversible.title, "This can't be undone");
        assert_eq!((irreversible.send.tone, &*irreversible.send.value), ("danger", "approve"));
        assert_eq!(irreversible.comment.as_ref().unwrap().as_str(), "Go");
        let names: Vec<_> = irreversible.hidden.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["token", "comment", "sure"], "the button is pressed anew");
        let title = step(critical(), &yes, false).unwrap().title;
        assert_eq!(title, "Confirm this critical request");
        for done in [[("action", "approve"), ("sure", "yes")], [("action", "reject"), ("n", "")]] {
            assert!(step(final_(plain()), &done, false).is_none(), "{done:?}");
        }
        assert!(step(final_(plain()), &yes, true).is_none(), "a passkey is the second step");
    }

    /// The button that submits a passkey or a proof is never green if the answer is destructive or
    /// stops the agent.
    #[test]
    fn a_proof_is_sent_in_the_colour_of_its_answer() {
        let mut cast = Cast::new();
        let harmless = Question::new("Send it?", None, approve(json!({}))).unwrap();
        let harmless = NewAsk { question: harmless, ..new_ask() };
        let critical = NewAsk { priority: Priority::Critical, ..harmless.clone() };
        let no = Answer::REJECTED;
        for (new, answer, expected) in [
            (harmless.clone(), Answer::Approved { edits: None }, "yes"),
            (critical.clone(), Answer::Approved { edits: None }, "danger"),
            (final_(harmless.clone()), Answer::Approved { edits: None }, "danger"),
            (with(approve(json!({}))), Answer::Approved { edits: None }, "danger"),
            (harmless, no.clone(), "safe"),
            (final_(critical), no, "safe"),
        ] {
            let id = cast.ask(new);
            let reply = Reply { answer, comment: None };
            assert_eq!(tone(cast.seen(id), &reply), expected);
        }
    }

    /// Both reasons share one step.
    #[test]
    fn changes_are_shown_on_the_same_step() {
        let edited = || with(approve(json!({ "amount": 40 })));
        let pairs = [("csrf", "x"), ("edits.0", "30"), ("action", "approve")];
        let plain = step(edited(), &pairs, false).unwrap();
        assert_eq!((plain.changed.len(), plain.send.tone), (1, "yes"));
        assert_eq!((plain.send.verb, plain.send.object.is_none()), (with_changes(), true));
        let final_ = step(final_(edited()), &pairs, false).unwrap();
        assert_eq!((final_.title.as_str(), final_.changed.len()), ("This can't be undone", 1));
        assert!(step(edited(), &pairs, true).is_some(), "changes are shown before a passkey");
        let untouched = [("edits.0", "40"), ("action", "approve")];
        assert!(step(edited(), &untouched, false).is_none());
    }

    #[test]
    fn the_button_is_the_one_that_was_pressed() {
        let options = ["keep", "drop"].map(Choice::plain).to_vec();
        let options = Options::new(options).unwrap();
        let choose = with(QuestionBody::Choose { options, pick: PickMode::One, suggested: None });
        let chosen = step(final_(choose), &[("choose", "keep")], false).unwrap();
        assert_eq!((chosen.send.name, &*chosen.send.value), ("choose", "keep"));
        assert_eq!(chosen.answer, "Chose “keep”");
        let (yes, no) = ("Delete all".to_owned(), "Delete nothing".to_owned());
        let confirm =
            || with(QuestionBody::Confirm { items: vec![], yes: yes.clone(), no: no.clone() });
        let confirmed = step(final_(confirm()), &[("action", "confirm")], false).unwrap();
        assert_eq!(confirmed.send.object.unwrap().as_str(), "Delete all");
        assert!(step(final_(confirm()), &[("action", "decline")], false).is_none());
    }

    /// Secrets and uploads pass through the step without appearing in the page.
    #[test]
    fn secrets_are_held_back() {
        let form = json!({ "fields": [
            { "key": "who", "label": "Who", "type": "text" },
            { "key": "pin", "label": "PIN", "type": "text", "sensitive": true },
        ] });
        let form = serde_json::from_value(form).unwrap();
        let new = final_(with(QuestionBody::Provide { form }));
        let pairs = [("action", "provide"), ("field.who", "Ada"), ("field.pin", "1234")];
        let question = new.question.clone();
        let shown = step(new, &pairs, false).unwrap();
        assert!(!format!("{shown:?}").contains("1234"));
        assert!(shown.hidden.contains(&("field.who".to_owned(), "Ada".to_owned())));
        let held = hidden_values(&question, &sent(&pairs));
        assert_eq!(held.pairs, [("field.pin".to_owned(), "1234".to_owned())]);
        let mut again = sent(&[("field.pin", "")]);
        again.restore(held.clone());
        assert_eq!(again.value("field.pin"), Some("1234"));
        let mut other = sent(&[("field.pin", "5678")]);
        other.restore(held);
        assert_eq!(other.value("field.pin"), Some("5678"));
    }
}
