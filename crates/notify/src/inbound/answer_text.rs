//! Reads text or a form as an answer.

use kernel::Ask;
use kernel::form::FieldError;
use kernel::question::{Answer, Question, QuestionBody, Reply};
use serde_json::{Map, Value};

use crate::answer_offers::{self, ButtonAnswer};
use views::locale::{self, Language, ReaderLocale};
use views::message_card::DialogError;

/// The values of a form as an answer, or its invalid fields. `None` if the question has no form.
pub(super) fn form_reply(
    ask: &Ask,
    values: &Map<String, Value>,
) -> Option<Result<Reply, Vec<DialogError>>> {
    let QuestionBody::Provide { form } = ask.question.value()?.body() else { return None };
    Some(match form.validate(values) {
        Ok(values) => Ok(Reply { answer: Answer::Provided { values }, comment: None }),
        Err(errors) => {
            let mistake = |error: FieldError| DialogError { key: error.key, words: error.message };
            Err(errors.into_iter().map(mistake).collect())
        }
    })
}

/// Text as an answer to a question: the first line is the word of a button and the rest a comment;
/// or all of it, if the question asks for text.
pub(super) fn read(question: &Question, text: &str) -> Option<Reply> {
    let text = text.trim();
    match question.body() {
        QuestionBody::Converse if !text.is_empty() => {
            let answer = Answer::Replied { text: text.to_owned() };
            return Some(Reply { answer, comment: None });
        }
        QuestionBody::Provide { form } => {
            let field = answer_offers::only_text_field(form)?;
            let values = Map::from_iter([(field.key().to_owned(), Value::from(text))]);
            let values = form.validate(&values).ok().filter(|_| !text.is_empty())?;
            return Some(Reply { answer: Answer::Provided { values }, comment: None });
        }
        QuestionBody::Approve { .. }
        | QuestionBody::Choose { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => {}
    }
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let said = normalized(line);
    // In every language: the message may have been sent before its reader changed theirs, and people
    // answer in English everywhere.
    let in_language = |language| {
        let reader = ReaderLocale { language, time_zone: None };
        locale::with(reader, || answer_offers::button_answers(question))
    };
    let all: Vec<ButtonAnswer> = Language::ALL.into_iter().flat_map(in_language).collect();
    let is = |offer: &&ButtonAnswer| {
        let also: &[&str] = match &offer.answer {
            Answer::Approved { .. } => &["approve", "approved", "ok", "y", "genehmigt", "j"],
            Answer::Rejected { option: None } => &["reject", "rejected", "deny", "n", "abgelehnt"],
            Answer::Confirmed { .. } => &["confirm", "ok", "y", "j"],
            Answer::Declined => &["n"],
            _ => &[],
        };
        said == normalized(&offer.word)
            || said == normalized(&offer.label)
            || also.contains(&said.as_str())
    };
    // "no, it is too much" on one line is a word and its reason. A yes must stand alone: "yes, but"
    // is none.
    let (offer, comment) = if let Some(offer) = all.iter().find(is) {
        (offer, rest.trim().to_owned())
    } else {
        let (word, why) = line.split_once([',', ':', ';', '-'])?;
        let said = normalized(word);
        let begins = |offer: &&ButtonAnswer| said == normalized(&offer.word) && offer.stops_agent();
        let offer = all.iter().find(begins)?;
        (offer, format!("{}\n{rest}", why.trim()).trim().to_owned())
    };
    let comment = Some(comment).filter(|comment| !comment.is_empty());
    (!offer.wants_words || comment.is_some())
        .then(|| Reply { answer: offer.answer.clone(), comment })
}

/// A word without capitals, surrounding spaces and punctuation at its end.
fn normalized(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '!', ',', ';', ':']);
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
