//! A message card as an ntfy notification: the title, the beginning of the question and the link,
//! without details. Anyone who knows the topic can read all of it.

use serde_json::{Value, json};

use views::message_card::plain_text::{beginning, cut, defanged, one_line, quoted, units};
use views::message_card::{CardStage, MessageCard};

/// The longest beginning of a question that is shown.
const BEGINNING: usize = 500;
/// The longest title.
const TITLE: usize = 150;

/// Renders a notification, without its topic.
pub(super) fn render(card: &MessageCard) -> Value {
    let title = defanged(&one_line(&card.title));
    let words = cut(&card.words, BEGINNING);
    let has_more = words.ends_with('…') || card.context.is_some() || !card.facts.is_empty();
    let mut lines = Vec::new();
    lines.extend(card.note.as_deref().map(defanged));
    lines.push(quoted(&words));
    let priority = match &card.stage {
        CardStage::Open(_) => {
            lines.extend(card.until.as_deref().map(|until| format!("Until: {}", defanged(until))));
            let words = if has_more {
                "Read all of it and answer on its page."
            } else {
                "Answer it on its page."
            };
            lines.push(words.to_owned());
            if card.urgent { 5 } else { 3 }
        }
        // The notification about the request is replaced by its outcome, without a sound.
        CardStage::Closed { headline, at, comment } => {
            lines.push(format!("{}, {at}", defanged(&one_line(headline))));
            lines.extend(comment.as_deref().map(|comment| quoted(&cut(comment, BEGINNING))));
            2
        }
    };
    lines.retain(|line| !line.is_empty());
    let tags: &[&str] = if priority == 5 { &["rotating_light"] } else { &[] };
    json!({
        "title": beginning(&title, TITLE, units),
        "message": lines.join("\n"),
        "priority": priority,
        "tags": tags,
        "click": card.link,
        "actions": [{ "action": "view", "label": "Open", "url": card.link, "clear": true }],
        "markdown": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cards;
    use crate::testing::ntfy::checked;

    #[test]
    fn as_they_are_read() {
        for (name, card) in cards::samples() {
            let message = render(&card);
            checked(&message).unwrap();
            insta::assert_json_snapshot!(name, message);
        }
    }
}
