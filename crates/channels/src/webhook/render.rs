//! A message card as JSON. It is complete: the channel has no length limit, and the program lays it
//! out. `docs/channels/webhook.md` describes the format.

use serde_json::{Value, json};

use views::message_card::{ButtonTone, CardButton, CardFact, CardStage, MessageCard};

/// Renders a card. Empty members are left out.
pub(super) fn render(card: &MessageCard) -> Value {
    let fact = |fact: &CardFact| json!({ "name": fact.name, "value": fact.value });
    let facts: Vec<Value> = card.facts.iter().map(fact).collect();
    let mut shown = json!({
        "title": card.title,
        "note": card.note,
        "words": card.words,
        "context": card.context,
        "facts": facts,
        "until": card.until,
        "link": card.link,
        "urgent": card.urgent,
    });
    let (name, stage) = match &card.stage {
        CardStage::Open(ways) => {
            let buttons: Vec<Value> = ways.buttons.iter().map(button).collect();
            let form =
                ways.form.as_ref().map(|(token, form)| json!({ "token": token, "form": form }));
            let open =
                json!({ "buttons": buttons, "form": form, "reply": ways.reply, "code": ways.code });
            ("open", open)
        }
        CardStage::Closed { headline, at, comment } => {
            ("over", json!({ "headline": headline, "at": at, "comment": comment }))
        }
    };
    if let Value::Object(members) = &mut shown {
        members.insert(name.to_owned(), bare(stage));
    }
    bare(shown)
}

fn button(button: &CardButton) -> Value {
    let tone = match button.tone {
        ButtonTone::Plain => "plain",
        ButtonTone::Yes => "yes",
        ButtonTone::Danger => "danger",
        ButtonTone::No => "no",
    };
    json!({
        "label": button.label,
        "token": button.token,
        "tone": tone,
        "word": button.word,
        "wants_words": button.wants_words,
    })
}

fn bare(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cards;

    #[test]
    fn as_they_are_received() {
        for (name, card) in cards::samples() {
            if name != "long" {
                insta::assert_json_snapshot!(name, render(&card));
            }
        }
        // Long text is not truncated.
        assert_eq!(render(&cards::long())["words"], cards::long().words);
    }
}
