//! The answers that a message offers: buttons, a form, a written reply. A message offers only what
//! the kernel would accept.

use std::sync::Arc;

use gateway::Gateway;
use gateway::secrets::ServerSecrets;
use kernel::form::{Field, FieldKind, Form, Layout};
use kernel::question::{Answer, PickMode, Question, QuestionBody, Reply};
use kernel::{Actor, Ask, AskCommand, AskId, Assurance};
use store::StoreError;

use views::components::wording::{self, are_protocol_labels, is_destructive};
use views::message_card::{AnswerOptions, ButtonTone, CardButton, LONGEST_TOKEN, one_line};
use views::t;

/// With more offers than this a message shows no buttons.
const MAX_BUTTONS: usize = 20;

/// One answer that a button gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ButtonAnswer {
    /// The label of the button.
    pub(crate) label: String,
    /// The word for it in a written answer.
    pub(crate) word: String,
    pub(crate) tone: ButtonTone,
    /// Whether the answer needs a written reason.
    pub(crate) wants_words: bool,
    pub(crate) answer: Answer,
}

impl ButtonAnswer {
    /// Whether this answer stops the agent.
    pub(crate) fn stops_agent(&self) -> bool {
        matches!(self.answer, Answer::Rejected { option: None } | Answer::Declined)
    }
}

/// Every answer to a question that a button can give, always in the same order.
pub(crate) fn button_answers(question: &Question) -> Vec<ButtonAnswer> {
    let offer = |label: &str, word: &str, tone, answer| ButtonAnswer {
        label: label.to_owned(),
        word: word.to_owned(),
        tone,
        wants_words: false,
        answer,
    };
    let go = if is_destructive(question.prompt()) { ButtonTone::Danger } else { ButtonTone::Yes };
    match question.body() {
        QuestionBody::Approve { reject_requires_reason, reject_options, .. } => {
            let yes = offer(
                &t!("offer-approve"),
                &t!("offer-word-yes"),
                go,
                Answer::Approved { edits: None },
            );
            let no =
                offer(&t!("offer-reject"), &t!("offer-word-no"), ButtonTone::No, Answer::REJECTED);
            let no = ButtonAnswer { wants_words: *reject_requires_reason, ..no };
            let because = |(n, reason): (usize, &kernel::question::Choice)| {
                let answer = Answer::Rejected { option: Some(reason.id.clone()) };
                let label = t!("offer-reject-because", reason = reason.label);
                offer(&label, &t!("offer-word-no-because", n = n + 1), ButtonTone::Plain, answer)
            };
            [yes, no].into_iter().chain(reject_options.iter().enumerate().map(because)).collect()
        }
        QuestionBody::Choose { options, pick: PickMode::One, .. } => {
            let choose = |(n, option): (usize, &kernel::question::Choice)| {
                let answer = Answer::Chosen { options: vec![option.id.clone()] };
                let tone = if is_destructive(&option.label) {
                    ButtonTone::Danger
                } else {
                    ButtonTone::Plain
                };
                offer(&option.label, &(n + 1).to_string(), tone, answer)
            };
            options.choices().iter().enumerate().map(choose).collect()
        }
        QuestionBody::Confirm { items, yes, no } => {
            let items = items.iter().map(|item| item.id.clone()).collect();
            let stop = if is_destructive(no) { ButtonTone::Danger } else { ButtonTone::No };
            let go = if is_destructive(yes) {
                ButtonTone::Danger
            } else if is_destructive(no) {
                // The agent swapped the buttons: its "no" destroys, so its "yes" keeps.
                ButtonTone::Plain
            } else {
                go
            };
            // The protocol's own labels: "Cancel" alone could mean to cancel the order.
            let (yes, no) = if are_protocol_labels(yes, no) {
                (wording::go_ahead(), wording::do_not_go_ahead())
            } else {
                (yes.clone(), no.clone())
            };
            vec![
                offer(&yes, &t!("offer-word-yes"), go, Answer::Confirmed { items }),
                offer(&no, &t!("offer-word-no"), stop, Answer::Declined),
            ]
        }
        QuestionBody::Escalate { .. } => vec![
            {
                let answer = Answer::Retry { params: serde_json::Map::new() };
                offer(&t!("offer-retry"), &t!("offer-word-retry"), go, answer)
            },
            offer(&t!("offer-skip"), &t!("offer-word-skip"), ButtonTone::Plain, Answer::Skip),
            offer(&t!("offer-stop"), &t!("offer-word-abort"), ButtonTone::No, Answer::Abort),
        ],
        QuestionBody::Choose { .. } | QuestionBody::Provide { .. } | QuestionBody::Converse => {
            Vec::new()
        }
    }
}

/// The only field of a form, if it takes plain text.
pub(crate) fn only_text_field(form: &Form) -> Option<&Field> {
    let Layout::Single(fields) = form.layout() else { return None };
    let [field] = &fields[..] else { return None };
    let plain = matches!(field.kind(), FieldKind::Text(_) | FieldKind::Textarea(_));
    (plain && !field.is_sensitive()).then_some(field)
}

/// The action of a button or a form dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ButtonAction {
    /// The offer of this number.
    Offer(usize),
    /// The same, with the reason from the dialog.
    Worded(usize),
    /// The form of the question.
    Form,
}

impl ButtonAction {
    fn text(self) -> String {
        match self {
            Self::Offer(n) => n.to_string(),
            Self::Worded(n) => format!("w{n}"),
            Self::Form => "f".to_owned(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        match text.strip_prefix('w') {
            Some(n) => n.parse().ok().map(Self::Worded),
            None if text == "f" => Some(Self::Form),
            None => text.parse().ok().map(Self::Offer),
        }
    }
}

/// The token of a button: the ask, the action, and a MAC that proves that the server issued it. The
/// platform says who presses it.
pub(crate) fn button_token(secrets: &ServerSecrets, ask: AskId, action: ButtonAction) -> String {
    let said = action.text();
    let token = format!("{}.{said}.{}", ask.ulid(), secrets.button_mac(ask, &said));
    debug_assert!(token.len() <= LONGEST_TOKEN);
    token
}

/// The ask and the action of a token, if the server issued it.
pub(crate) fn open_button_token(
    secrets: &ServerSecrets,
    token: &str,
) -> Option<(AskId, ButtonAction)> {
    use subtle::ConstantTimeEq;
    let mut parts = token.split('.');
    let (ask, said, mark) = (parts.next()?, parts.next()?, parts.next()?);
    let ask: AskId = format!("ask_{ask}").parse().ok()?;
    let ours = secrets.button_mac(ask, said);
    let same: bool = ours.as_bytes().ct_eq(mark.as_bytes()).into();
    Some((ask, ButtonAction::read(said)?)).filter(|_| same && parts.next().is_none())
}

/// Says how an ask can be answered in a message.
#[derive(Clone)]
pub(crate) struct AnswerOffers {
    pub(crate) gateway: Gateway,
    pub(crate) secrets: Arc<ServerSecrets>,
}

impl AnswerOffers {
    /// How an ask can be answered in a message that shows all of it. There are no options if the
    /// answer needs a proof, a passkey or a confirmation: those exist only on the page.
    pub(crate) async fn options(
        &self,
        ask: &Ask,
        actor: &Actor,
    ) -> Result<AnswerOptions, StoreError> {
        let Some(question) = ask.question.value() else { return Ok(AnswerOptions::default()) };
        let proven = ask.proven_by(actor, &self.gateway.directory());
        let worth = proven.map_or(Assurance::None, |(_, assurance)| assurance);
        let careful = ask.verification.is_some()
            || ask.minimum_assurance > worth
            || ask.needs_confirmation()
            || question.is_confidential();
        if careful || !ask.is_open() {
            return Ok(AnswerOptions::default());
        }
        let considering = self.gateway.command_check(ask).await?;
        let takes = |answer: &Answer| {
            let reply = Box::new(Reply { answer: answer.clone(), comment: Some("ok".to_owned()) });
            considering.accepts(actor, AskCommand::Answer(ask.id, reply)).is_ok()
        };
        let offers = button_answers(question);
        let buttons =
            offers.iter().enumerate().take(MAX_BUTTONS).filter(|(_, offer)| takes(&offer.answer));
        let buttons = buttons.map(|(n, offer)| CardButton {
            label: one_line(&offer.label),
            token: button_token(&self.secrets, ask.id, ButtonAction::Offer(n)),
            tone: offer.tone,
            word: offer.word.clone(),
            wants_words: offer.wants_words,
        });
        let buttons: Vec<CardButton> =
            if offers.len() > MAX_BUTTONS { Vec::new() } else { buttons.collect() };
        let form = match question.body() {
            QuestionBody::Provide { form } => {
                Some((button_token(&self.secrets, ask.id, ButtonAction::Form), form.clone()))
            }
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => None,
        };
        let reply = match question.body() {
            QuestionBody::Converse => takes(&Answer::Replied { text: "ok".to_owned() }),
            QuestionBody::Provide { form } => only_text_field(form).is_some(),
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. } => false,
        };
        Ok(AnswerOptions { buttons, form, reply, code: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::{Cast, new_ask};

    /// Colour follows the consequence: red destroys, and an answer that only stops the agent is
    /// never red.
    #[test]
    fn destructive_offers_are_marked() {
        use kernel::question::{Choice, Options};
        let tones = |prompt: &str, body: QuestionBody| {
            let question = Question::new(prompt, None, body).unwrap();
            button_answers(&question).iter().map(|offer| offer.tone).collect::<Vec<_>>()
        };
        let confirm = |yes: &str, no: &str| QuestionBody::Confirm {
            items: Vec::new(),
            yes: yes.to_owned(),
            no: no.to_owned(),
        };
        let danger = [ButtonTone::Danger, ButtonTone::No];
        assert_eq!(
            tones("Go on?", confirm("Send", "Do not send")),
            [ButtonTone::Yes, ButtonTone::No]
        );
        assert_eq!(tones("Go on?", confirm("Delete all", "Delete nothing")), danger);
        assert_eq!(tones("Delete all?", confirm("Yes", "No")), danger);
        let turned = [ButtonTone::Plain, ButtonTone::Danger];
        assert_eq!(tones("Volumes?", confirm("Keep both", "Delete both")), turned);
        let both = [ButtonTone::Danger, ButtonTone::Danger];
        assert_eq!(tones("Which?", confirm("Delete the old", "Delete the new")), both);
        let stuck = || QuestionBody::Escalate {
            error: serde_json::Map::new(),
            params: serde_json::Map::new(),
        };
        assert_eq!(tones("Dropping the table failed.", stuck())[0], ButtonTone::Yes);
        assert_eq!(tones("Delete of the volume failed.", stuck())[0], ButtonTone::Danger);
        let options = Options::new(["Keep", "Drop it"].map(Choice::plain).to_vec()).unwrap();
        let choose = QuestionBody::Choose { options, pick: PickMode::One, suggested: None };
        assert_eq!(tones("So?", choose), [ButtonTone::Plain, ButtonTone::Danger]);
    }

    /// "Cancel" under "Cancel the order?" would be read as a yes.
    #[test]
    fn a_protocols_own_labels_are_not_shown_bare() {
        let body = |yes: &str, no: &str| {
            let (yes, no) = (yes.to_owned(), no.to_owned());
            QuestionBody::Confirm { items: Vec::new(), yes, no }
        };
        let labels = |body: QuestionBody| {
            let question = Question::new("Cancel the order?", None, body).unwrap();
            button_answers(&question).into_iter().map(|offer| offer.label).collect::<Vec<_>>()
        };
        let said = ["Confirm and go ahead", "Do not go ahead"];
        assert_eq!(labels(body("Confirm", "Cancel")), said);
        assert_eq!(labels(body("Cancel it", "Keep it")), ["Cancel it", "Keep it"]);
    }

    #[test]
    fn a_token_is_short_and_ours() {
        let secrets = ServerSecrets::for_tests();
        let mut cast = Cast::new();
        let (ask, other) = (cast.ask(new_ask()), cast.ask(new_ask()));
        for action in [
            ButtonAction::Offer(0),
            ButtonAction::Offer(19),
            ButtonAction::Worded(1),
            ButtonAction::Form,
        ] {
            let token = button_token(&secrets, ask, action);
            assert!(token.len() <= LONGEST_TOKEN, "{token}");
            assert_eq!(open_button_token(&secrets, &token), Some((ask, action)), "{token}");
            for forged in [
                token.replace(&ask.ulid().to_string(), &other.ulid().to_string()),
                format!("{token}x"),
                format!("{token}.x"),
                token[..token.len() - 1].to_owned(),
                token.replacen('.', ".1", 1),
                String::new(),
                "..".to_owned(),
            ] {
                assert_eq!(open_button_token(&secrets, &forged), None, "{forged}");
            }
        }
    }
}
