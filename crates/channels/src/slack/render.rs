//! A card as a message with blocks. A person sees either the whole question with buttons, or a part
//! of it with a note that says so and without buttons.

use serde_json::{Value, json};
use views::message_card::{AnswerOptions, ButtonTone, CardButton, CardStage, MessageCard};
use views::t;

use super::text::{
    BLOCKS, LABEL, LINE, OPTIONS, beginning, escape, header, length, line, link, option, or_dash,
    plain, section, sections, table, weight,
};
use super::view;

/// The largest accepted size of a message, see [`weight`].
const HEAVIEST: usize = 10_000;
/// The longest beginning of a question that does not fit.
const BEGINNING: usize = 1500;
/// The longest text for notifications and screen readers.
const SPOKEN: usize = 2500;
/// The longest link in that text.
const ADDRESS: usize = 900;
/// The label length that is certain to be shown. Slack accepts longer labels, but
/// may truncate them.
const SHOWN: usize = 30;
/// The most buttons. More options become a menu.
const BUTTONS: usize = 5;
/// The most menus: Slack's limit for elements in a row, less the buttons.
const MENUS: usize = 10;

/// The message: its blocks, and a text for notifications and screen readers.
pub(super) fn message(card: &MessageCard) -> Value {
    let whole =
        full_blocks(card).filter(|blocks| blocks.len() <= BLOCKS && weight(blocks) <= HEAVIEST);
    let text = fallback_text(card, whole.is_some());
    json!({ "text": text, "blocks": whole.unwrap_or_else(|| shortened(card)) })
}

/// The message without blocks. It has no buttons, so it says which words to reply with.
pub(super) fn plain_text(card: &MessageCard) -> Value {
    let whole = length(&escape(&card_text(card, true))) <= SPOKEN;
    let mut lines = vec![fallback_text(card, whole)];
    if let CardStage::Open(ways) = &card.stage {
        let pressed = if whole { ways.buttons.as_slice() } else { &[] };
        if !pressed.is_empty() {
            lines.push(t!("chat-reply-in-thread-with"));
        } else if whole && ways.reply {
            lines.push(t!("chat-reply-in-thread"));
        } else {
            lines.push(t!("chat-answer-on-page-only"));
        }
        lines.extend(pressed.iter().map(|button| {
            let (word, label) = (escape(&button.word), beginning(&button.label, LINE));
            if button.wants_words {
                t!("chat-word-and-reason", word = word, label = label)
            } else {
                t!("chat-word", word = word, label = label)
            }
        }));
    }
    json!({ "text": lines.join("\n") })
}

/// The whole card with its buttons. Returns `None` if the buttons do not fit.
fn full_blocks(card: &MessageCard) -> Option<Vec<Value>> {
    let mut blocks = title_blocks(card);
    blocks.extend(sections(&card.words));
    if let Some(context) = &card.context {
        blocks.push(line(&t!("chat-background")));
        blocks.extend(sections(context));
    }
    blocks.extend(table(card.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str()))));
    match &card.stage {
        CardStage::Open(ways) => blocks.extend(answer_blocks(card, ways)?),
        CardStage::Closed { .. } => blocks.push(page_link(card)),
    }
    Some(blocks)
}

/// The beginning of the question, and a link to the rest.
fn shortened(card: &MessageCard) -> Vec<Value> {
    let mut blocks = title_blocks(card);
    let words = beginning(&card.words, BEGINNING);
    if !words.trim().is_empty() {
        blocks.push(section(words));
    }
    match card.stage {
        CardStage::Open(_) => {
            blocks.push(line(&t!("chat-more-answer")));
            blocks.extend(deadline_line(card));
            blocks.push(json!({ "type": "actions", "elements": [page_button(card)] }));
        }
        CardStage::Closed { .. } => {
            blocks.push(line(&t!("chat-more")));
            blocks.push(page_link(card));
        }
    }
    blocks
}

/// The title of the request, or its outcome.
fn title_blocks(card: &MessageCard) -> Vec<Value> {
    match &card.stage {
        CardStage::Open(_) => {
            let note = card.note.as_deref().map(line);
            [header(&card.title)].into_iter().chain(note).collect()
        }
        // The outcome is where the agent's text never appears.
        CardStage::Closed { headline, at, comment } => {
            let mut blocks = vec![header(headline), line(at)];
            if let Some(comment) = comment.as_ref().filter(|comment| !comment.trim().is_empty()) {
                blocks.push(line(&t!("chat-comment")));
                blocks.push(section(beginning(comment, BEGINNING)));
            }
            blocks.extend([json!({ "type": "divider" }), line(&card.title)]);
            blocks
        }
    }
}

fn deadline_line(card: &MessageCard) -> Option<Value> {
    card.until.as_ref().map(|until| line(&t!("chat-expires", until = until)))
}

/// The blocks for answering.
fn answer_blocks(card: &MessageCard, ways: &AnswerOptions) -> Option<Vec<Value>> {
    let mut blocks = Vec::new();
    let form = ways.form.as_ref().filter(|(_, form)| view::fits(form));
    if let Some(listed) = full_labels(&ways.buttons) {
        blocks.extend(sections(&listed));
    }
    blocks.extend(deadline_line(card));
    let mut elements = buttons_or_menus(&ways.buttons)?;
    if let Some((token, _)) = form {
        elements.push(json!({
            "type": "button", "action_id": "form", "style": "primary",
            "text": plain(t!("chat-form")), "value": token,
        }));
    }
    elements.push(page_button(card));
    blocks.push(json!({ "type": "actions", "elements": elements }));
    if ways.is_none() {
        blocks.push(line(&t!("chat-answer-on-page-only")));
    } else if ways.form.is_some() && form.is_none() {
        blocks.push(line(&t!("chat-form-on-page")));
    }
    if ways.reply {
        blocks.push(line(&t!("chat-reply-in-thread")));
    }
    Some(blocks)
}

/// Buttons, or a menu if there are many.
fn buttons_or_menus(buttons: &[CardButton]) -> Option<Vec<Value>> {
    let numbered = full_labels(buttons).is_some();
    let labelled: Vec<(String, &CardButton)> = buttons
        .iter()
        .enumerate()
        .map(|(i, button)| {
            let label = if numbered {
                beginning(&format!("{}. {}", i + 1, button.label), LABEL)
            } else {
                escape(&button.label)
            };
            (label, button)
        })
        .collect();
    let toned = buttons.iter().filter(|button| button.tone != ButtonTone::Plain).count();
    let (alone, together): (Vec<_>, Vec<_>) = labelled.into_iter().partition(|(_, button)| {
        buttons.len() <= BUTTONS || (toned <= BUTTONS && button.tone != ButtonTone::Plain)
    });
    if together.len() > OPTIONS * MENUS {
        return None;
    }
    let menus = together.chunks(OPTIONS).enumerate().map(|(i, options)| {
        let options: Vec<Value> =
            options.iter().map(|(label, button)| option(label, &button.token)).collect();
        json!({
            "type": "static_select", "action_id": format!("choose.{i}"),
            "placeholder": plain(t!("chat-choose")), "options": options,
        })
    });
    let alone = alone.iter().enumerate().map(|(i, (label, button))| {
        let mut element = json!({
            "type": "button", "action_id": format!("press.{i}"),
            "text": plain(or_dash(label.clone())), "value": button.token,
        });
        match button.tone {
            ButtonTone::Plain | ButtonTone::No => {}
            ButtonTone::Yes => element["style"] = json!("primary"),
            ButtonTone::Danger => element["style"] = json!("danger"),
        }
        element
    });
    Some(menus.chain(alone).collect())
}

/// The full labels of the buttons, if one may be truncated.
fn full_labels(buttons: &[CardButton]) -> Option<String> {
    let long = buttons.iter().any(|button| length(&escape(&button.label)) > SHOWN);
    long.then(|| {
        let lines = buttons.iter().enumerate();
        let lines = lines.map(|(i, button)| format!("{}. {}", i + 1, button.label));
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// A button that opens the request's page. Slack also reports the press, which is ignored.
fn page_button(card: &MessageCard) -> Value {
    json!({
        "type": "button", "action_id": "page", "text": plain(t!("chat-open")), "url": card.link,
    })
}

/// A link to the request's page, without a button.
fn page_link(card: &MessageCard) -> Value {
    let text = link(&card.link, &t!("chat-open"));
    json!({ "type": "context", "elements": [{ "type": "mrkdwn", "text": text, "verbatim": true }] })
}

/// The text of the card, from the server and the agent.
fn card_text(card: &MessageCard, whole: bool) -> String {
    let mut lines = match &card.stage {
        CardStage::Open(_) => [card.title.clone()].into_iter().chain(card.note.clone()).collect(),
        CardStage::Closed { headline, at, comment } => {
            let mut lines = vec![headline.clone(), at.clone()];
            lines.extend(comment.clone());
            lines.push(card.title.clone());
            lines
        }
    };
    lines.push(card.words.clone());
    if whole {
        lines.extend(card.context.clone());
        lines.extend(card.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)));
    }
    lines.join("\n")
}

/// The card as text: screen readers read this and not the blocks.
fn fallback_text(card: &MessageCard, whole: bool) -> String {
    let more = if whole { String::new() } else { format!("{}\n", t!("chat-more")) };
    let until = match (&card.stage, &card.until) {
        (CardStage::Open(_), Some(until)) => {
            beginning(&format!("{}\n", t!("chat-expires", until = until)), LINE)
        }
        _ => String::new(),
    };
    let page = Some(escape(&card.link)).filter(|page| length(page) <= ADDRESS).unwrap_or_default();
    format!("{}\n{more}{until}{page}", beginning(&card_text(card, whole), SPOKEN))
}

#[cfg(test)]
mod tests;
