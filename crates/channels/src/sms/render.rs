//! A message card as a text message. It is short, because every segment costs money. The server's
//! own link is the only text that phones turn into a link. The agent's text is quoted line by line,
//! because nothing else distinguishes it from the server's text.

use serde_json::{Value, json};

use super::gsm::Alphabet;
use views::message_card::plain_text::{beginning, defanged, facts, one_line, quoted};
use views::message_card::{AnswerOptions, CardButton, CardStage, MessageCard};

/// The longest title.
const TITLE: usize = 120;

/// Renders a message, without its recipient.
pub(super) fn render(card: &MessageCard) -> Value {
    json!({ "body": text(card) })
}

fn text(card: &MessageCard) -> String {
    let whole = whole(card);
    let alphabet = Alphabet::of([whole.as_str()]);
    if alphabet.measure()(&whole) <= alphabet.room() {
        return whole;
    }
    let (before, words) = (format!("{}\n", title(card)), quoted(&card.words));
    let after = match &card.stage {
        CardStage::Open(_) => {
            format!("...\nThere is more. Read and answer it here:\n{}", card.link)
        }
        CardStage::Closed { headline, at, .. } => {
            format!("...\n{}\n{}", over(headline, at), card.link)
        }
    };
    let alphabet = Alphabet::of([before.as_str(), &words, &after]);
    let measure = alphabet.measure();
    let room = alphabet.room().saturating_sub(measure(&before) + measure(&after));
    format!("{before}{}{after}", beginning(&words, room, measure))
}

fn whole(card: &MessageCard) -> String {
    let mut lines = vec![title(card)];
    lines.extend(card.note.as_deref().map(defanged));
    lines.push(quoted(&card.words));
    lines.extend(card.context.as_deref().map(quoted));
    if !card.facts.is_empty() {
        lines.push(quoted(&facts(&card.facts)));
    }
    match &card.stage {
        CardStage::Open(ways) => {
            lines.extend(card.until.as_deref().map(|until| format!("Until: {}", defanged(until))));
            lines.push(answers(ways));
        }
        CardStage::Closed { headline, at, comment } => {
            lines.push(over(headline, at));
            lines.extend(comment.as_deref().map(quoted));
        }
    }
    lines.push(card.link.clone());
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn title(card: &MessageCard) -> String {
    let urgent = if card.urgent { "Urgent: " } else { "" };
    let title = defanged(&one_line(&card.title));
    format!("{urgent}{}", beginning(&title, TITLE, views::message_card::plain_text::units))
}

fn over(headline: &str, at: &str) -> String {
    format!("{}, {at}", defanged(&one_line(headline)))
}

/// How to answer. Every answer needs a code, because text messages have no threads.
fn answers(ways: &AnswerOptions) -> String {
    let one = |code: &str, button: &CardButton| {
        format!("{code} {}: {}", one_line(&button.word), defanged(&one_line(&button.label)))
    };
    let offered = ways.buttons.iter().filter(|button| !button.wants_words);
    match ways.code.as_deref() {
        Some(code) if offered.clone().next().is_some() => {
            let presses: Vec<String> = offered.map(|button| one(code, button)).collect();
            format!("Answer with one of\n{}\nor here:", presses.join("\n"))
        }
        Some(code) if ways.reply => format!("Answer with {code} and your words, or here:"),
        Some(_) | None => "Answer here:".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cards;

    #[test]
    fn as_they_are_read() {
        for (name, card) in cards::samples() {
            insta::assert_snapshot!(name, text(&card));
        }
    }

    #[test]
    fn without_a_code_there_is_only_the_page() {
        let CardStage::Open(ways) = cards::approve().stage else { panic!("it is open") };
        let card = MessageCard {
            stage: CardStage::Open(AnswerOptions { code: None, ..ways }),
            ..cards::approve()
        };
        assert!(!text(&card).contains("Answer with"), "{}", text(&card));
    }

    /// An answer is offered only if the message contains the whole question.
    #[test]
    fn what_does_not_fit_cannot_be_answered() {
        for (words, fits) in
            [("x".repeat(200), true), ("x".repeat(450), false), ("ж".repeat(200), false)]
        {
            let card =
                MessageCard { words, facts: vec![], context: None, note: None, ..cards::approve() };
            let text = text(&card);
            assert_eq!(text.contains("A7 yes"), fits, "{text}");
            assert_eq!(text.contains("There is more."), !fits, "{text}");
        }
    }
}
