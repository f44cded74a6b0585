//! A message card as a Telegram message. Telegram parses no markup: formatting is given as entities
//! with positions, beside the text, so no text can format itself. The agent's text is in
//! fixed-width blocks, in which Telegram creates no links from URLs, names and commands.

use serde_json::{Value, json};

use views::message_card::plain_text::{cut as shown, defanged, facts, one_line, units};
use views::message_card::{AnswerOptions, CardButton, CardStage, MessageCard};
use views::t;

/// The longest message that Telegram accepts.
pub(super) const LONGEST: usize = 4096;
/// The longest label that phones show in full.
const LABEL: usize = 32;
/// The most buttons that a message can have.
const BUTTONS: usize = 100;
/// The longest beginning of a question that is shown if not all of it fits.
const BEGINNING: usize = 2000;

/// Renders a message, without its recipient.
pub(super) fn render(card: &MessageCard) -> Value {
    let (whole, buttons) = full_text(card);
    if units(&whole.text) <= LONGEST {
        return whole.message(&buttons);
    }
    shortened(card).message(&[])
}

fn full_text(card: &MessageCard) -> (FormattedText, Vec<(String, String)>) {
    let mut text = FormattedText::titled(card);
    text.push_quoted(&card.words);
    if let Some(context) = &card.context {
        text.push_own(&t!("chat-background"));
        text.push_quoted(context);
    }
    if !card.facts.is_empty() {
        text.push_own(&t!("chat-details"));
        text.push_quoted(&facts(&card.facts));
    }
    let buttons = match &card.stage {
        CardStage::Open(ways) => text.push_answer_options(ways),
        CardStage::Closed { headline, at, comment } => {
            text.push_closed(headline, at, comment.as_deref());
            Vec::new()
        }
    };
    text.end(card);
    (text, buttons)
}

/// The beginning of a question that is too long, and the link to its page.
fn shortened(card: &MessageCard) -> FormattedText {
    let mut text = FormattedText::titled(card);
    text.push_quoted(&shown(&card.words, BEGINNING));
    match &card.stage {
        CardStage::Open(_) => text.push_own(&t!("chat-more-answer")),
        CardStage::Closed { headline, at, comment } => {
            let comment = comment.as_deref().map(|comment| shown(comment, BEGINNING / 2));
            text.push_closed(headline, at, comment.as_deref());
            text.push_own(&t!("chat-more"));
        }
    }
    text.end(card);
    text
}

/// A text and its formatting entities.
#[derive(Default)]
struct FormattedText {
    text: String,
    entities: Vec<Value>,
}

impl FormattedText {
    fn titled(card: &MessageCard) -> Self {
        let mut text = Self::default();
        text.push_entity("bold", &defanged(&one_line(&card.title)));
        if let Some(note) = &card.note {
            text.push_own(note);
        }
        text
    }

    /// Adds text from the server.
    fn push_own(&mut self, words: &str) {
        self.begin();
        self.text.push_str(&defanged(words));
    }

    /// Adds text from others, in which nothing has a meaning to Telegram.
    fn push_quoted(&mut self, words: &str) {
        let words = kernel::text::reveal(words.trim());
        if !words.is_empty() {
            self.push_entity("pre", &words);
        }
    }

    fn push_entity(&mut self, kind: &str, words: &str) {
        self.begin();
        let (offset, length) = (units(&self.text), units(words));
        self.entities.push(json!({ "type": kind, "offset": offset, "length": length }));
        self.text.push_str(words);
    }

    fn begin(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Adds how to answer. Returns the buttons.
    fn push_answer_options(&mut self, ways: &AnswerOptions) -> Vec<(String, String)> {
        let offered: Vec<&CardButton> = ways.buttons.iter().filter(|b| !b.wants_words).collect();
        let fits = |button: &&CardButton| {
            let label = one_line(&button.label);
            !label.is_empty() && units(&label) <= LABEL
        };
        if offered.len() > BUTTONS {
            self.push_own(&t!("chat-answer-on-page-only"));
            return Vec::new();
        }
        let buttons = if offered.iter().all(fits) {
            offered.iter().map(|b| (one_line(&b.label), b.token.clone())).collect()
        } else {
            let line = |b: &&CardButton| format!("{}: {}", one_line(&b.word), one_line(&b.label));
            self.push_quoted(&offered.iter().map(line).collect::<Vec<_>>().join("\n"));
            offered.iter().map(|b| (one_line(&b.word), b.token.clone())).collect()
        };
        if ways.reply {
            self.push_own(&t!("chat-reply-text"));
        } else if offered.is_empty() {
            self.push_own(&t!("chat-answer-on-page-only"));
        }
        buttons
    }

    fn push_closed(&mut self, headline: &str, at: &str, comment: Option<&str>) {
        self.push_entity("bold", &format!("{}, {at}", defanged(&one_line(headline))));
        if let Some(comment) = comment {
            self.push_quoted(comment);
        }
    }

    fn end(&mut self, card: &MessageCard) {
        if let (Some(until), CardStage::Open(_)) = (&card.until, &card.stage) {
            self.push_own(&t!("chat-expires", until = until));
        }
        self.begin();
        self.text.push_str(&card.link);
    }

    /// Two buttons share a row if both are short.
    fn message(self, buttons: &[(String, String)]) -> Value {
        let short = buttons.iter().all(|(label, _)| units(label) <= LABEL / 2);
        let button =
            |(label, token): &(String, String)| json!({ "text": label, "callback_data": token });
        let rows: Vec<Value> = buttons
            .chunks(if short { 2 } else { 1 })
            .map(|row| row.iter().map(button).collect())
            .collect();
        json!({
            "text": self.text,
            "entities": self.entities,
            "link_preview_options": { "is_disabled": true },
            "reply_markup": { "inline_keyboard": rows },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample_cards;
    use crate::testing::telegram::checked;

    #[test]
    fn as_they_are_read() {
        for (name, card) in sample_cards::samples() {
            let message = render(&card);
            checked(&message).unwrap();
            insta::assert_json_snapshot!(name, message);
        }
    }

    #[test]
    fn what_does_not_fit_has_nothing_to_press() {
        let long = render(&sample_cards::long());
        assert_eq!(long["reply_markup"]["inline_keyboard"], json!([]));
        let more = "The message shows only part of the request.";
        assert!(long["text"].as_str().unwrap().contains(more));
        let fits = MessageCard { words: "x".repeat(3700), ..sample_cards::approve() };
        assert_ne!(render(&fits)["reply_markup"]["inline_keyboard"], json!([]));
    }

    #[test]
    fn too_many_choices_are_left_to_the_page() {
        let CardStage::Open(ways) = sample_cards::choose().stage else { panic!("it is open") };
        let buttons = ways.buttons.into_iter().cycle().take(101).collect();
        let card = MessageCard {
            stage: CardStage::Open(AnswerOptions { buttons, ..AnswerOptions::default() }),
            ..sample_cards::choose()
        };
        let message = render(&card);
        checked(&message).unwrap();
        assert!(message["text"].as_str().unwrap().contains("Answer it on its page."));
    }
}
