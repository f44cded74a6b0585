//! A message card for `WhatsApp`. The agent's text is in fixed-width blocks, in which nothing else
//! is markup. No text can end its block, and URLs in it are defanged.
//!
//! Both providers build their message from the result: `body`, optionally `buttons` or `rows`, and
//! `template` with the contents of template placeholders.

use serde_json::{Value, json};

use views::message_card::plain_text::{beginning, defanged, facts, one_line, units};
use views::message_card::{AnswerOptions, CardButton, CardStage, MessageCard};
use views::t;

/// The longest text of a message with buttons or rows.
const MAX_BODY: usize = 1024;
/// The longest button title, row title, and row description.
const MAX_BUTTON_TITLE: usize = 20;
const MAX_ROW_TITLE: usize = 24;
const MAX_ROW_DESCRIPTION: usize = 72;
/// The most buttons and rows.
const MAX_BUTTONS: usize = 3;
const MAX_ROWS: usize = 10;
/// The longest question in a template.
const IN_TEMPLATE: usize = 500;

/// Renders a message, without its recipient. Its text is no longer than the provider accepts.
pub(super) fn render(card: &MessageCard, longest: usize) -> Value {
    let mut message = with_buttons(card)
        .filter(|message| {
            message.get("body").and_then(Value::as_str).is_some_and(|b| units(b) <= MAX_BODY)
        })
        .unwrap_or_else(|| json!({ "body": without_buttons(card, longest) }));
    if let Value::Object(members) = &mut message {
        members.insert("template".to_owned(), template(card));
    }
    message
}

/// A message with buttons or rows, if there are any and they fit in full.
fn with_buttons(card: &MessageCard) -> Option<Value> {
    let CardStage::Open(ways) = &card.stage else { return None };
    let offered: Vec<&CardButton> = ways.buttons.iter().filter(|b| !b.wants_words).collect();
    let labels: Vec<String> = offered.iter().map(|b| one_line(&b.label)).collect();
    let words: Vec<String> = offered.iter().map(|b| one_line(&b.word)).collect();
    let fits = |most: usize| {
        let unique = labels
            .iter()
            .enumerate()
            .all(|(at, label)| !labels.iter().take(at).any(|l| l == label));
        unique && labels.iter().all(|label| !label.is_empty() && units(label) <= most)
    };
    let hint = ways.code.as_deref().map(|code| t!("chat-or-write", words = either(code, &words)));
    if offered.is_empty() || offered.len() > MAX_ROWS {
        return None;
    }
    if offered.len() <= MAX_BUTTONS && fits(MAX_BUTTON_TITLE) {
        let button = |(b, title): (&&CardButton, &String)| json!({ "id": b.token, "title": title });
        let buttons: Vec<Value> = offered.iter().zip(&labels).map(button).collect();
        return Some(json!({ "body": body(card, None, hint), "buttons": buttons }));
    }
    // A long label becomes the description below its answer word, or is listed in the text.
    let named = fits(MAX_ROW_TITLE);
    let below = labels.iter().all(|label| units(label) <= MAX_ROW_DESCRIPTION);
    let row = |((b, label), word): ((&&CardButton, &String), &String)| match (named, below) {
        (true, _) => json!({ "id": b.token, "title": label }),
        (false, true) if !label.is_empty() => {
            json!({ "id": b.token, "title": word, "description": label })
        }
        _ => json!({ "id": b.token, "title": word }),
    };
    let rows: Vec<Value> = offered.iter().zip(&labels).zip(&words).map(row).collect();
    let listing = (!named && !below).then(|| {
        let lines = words.iter().zip(&labels).map(|(word, label)| format!("{word}: {label}"));
        quoted(&lines.collect::<Vec<_>>().join("\n"))
    });
    Some(json!({ "body": body(card, listing, hint), "rows": rows }))
}

/// A text without buttons. It can be answered with a reply if all of it fits.
fn without_buttons(card: &MessageCard, longest: usize) -> String {
    let ways = match &card.stage {
        CardStage::Open(ways) => answers(ways),
        CardStage::Closed { headline, at, comment } => {
            let comment = comment.as_deref().map(quoted).filter(|comment| !comment.is_empty());
            let over = format!("{}, {at}", strong(headline));
            [Some(over), comment].into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
    };
    let whole = body(card, None, Some(ways));
    if units(&whole) <= longest {
        return whole;
    }
    let (before, after) = match &card.stage {
        CardStage::Open(_) => (title(card), t!("chat-more-answer-here")),
        CardStage::Closed { headline, at, .. } => {
            (title(card), format!("{}, {at}\n{}", strong(headline), t!("chat-more-here")))
        }
    };
    let around = units(&before) + units(&after) + units(&card.link) + 20;
    // Defanged text is longer than the original.
    let words = defanged(card.words.trim());
    let shown = beginning(&words, longest.saturating_sub(around).min(longest / 2), units);
    format!("{before}\n{}\n{after}\n{}", block(&format!("{shown}…")), card.link)
}

fn body(card: &MessageCard, listing: Option<String>, ways: Option<String>) -> String {
    let mut lines = vec![title(card)];
    lines.extend(card.note.as_deref().map(plain));
    lines.push(quoted(&card.words));
    if let Some(context) = card.context.as_deref().map(quoted).filter(|context| !context.is_empty())
    {
        lines.extend([t!("chat-background"), context]);
    }
    if !card.facts.is_empty() {
        lines.extend([t!("chat-details"), quoted(&facts(&card.facts))]);
    }
    lines.extend(listing);
    if let (Some(until), CardStage::Open(_)) = (&card.until, &card.stage) {
        lines.push(t!("chat-expires", until = plain(until)));
    }
    lines.extend(ways);
    lines.push(card.link.clone());
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// How to answer. A reply names the message it replies to, so only other messages need the code.
fn answers(ways: &AnswerOptions) -> String {
    let code = ways.code.as_deref().map(|code| format!("{code} ")).unwrap_or_default();
    let one = |b: &CardButton| format!("{code}{}: {}", one_line(&b.word), one_line(&b.label));
    let presses: Vec<String> = ways.buttons.iter().filter(|b| !b.wants_words).map(one).collect();
    if !presses.is_empty() {
        let presses = quoted(&presses.join("\n"));
        return format!("{}\n{presses}\n{}", t!("chat-reply-with"), t!("chat-or-here"));
    }
    if !ways.reply {
        return t!("chat-answer-on-page");
    }
    match ways.code.as_deref() {
        Some(code) => t!("chat-reply-text-or-code", code = code),
        None => t!("chat-reply-text"),
    }
}

/// Returns a text such as `A7 yes or A7 no`.
fn either(code: &str, words: &[String]) -> String {
    let coded = words.iter().map(|word| format!("{code} {word}"));
    coded.reduce(|first, second| t!("chat-or", first = first, second = second)).unwrap_or_default()
}

fn title(card: &MessageCard) -> String {
    strong(&card.title)
}

/// Text from the server, in bold.
fn strong(words: &str) -> String {
    format!("*{}*", plain(&beginning(words, 200, units).replace('*', "∗")))
}

/// Text from the server.
fn plain(words: &str) -> String {
    defanged(&one_line(words))
}

/// Text from others, in a block.
fn quoted(words: &str) -> String {
    let words = defanged(words.trim());
    if words.is_empty() { words } else { block(&words) }
}

/// A fixed-width block. Only three backticks in a row end it, so adjacent backticks inside are
/// separated, also at its edges.
fn block(words: &str) -> String {
    let mut inside = String::with_capacity(words.len());
    let mut before = '`';
    for c in words.chars().chain(['`']) {
        if before == '`' && c == '`' {
            inside.push(' ');
        }
        inside.push(c);
        before = c;
    }
    // The last backtick inside is the first of the three that end the block.
    format!("```{inside}``")
}

/// The contents of template placeholders, one line each.
fn template(card: &MessageCard) -> Value {
    let mut asked = vec![card.words.trim().to_owned()];
    asked.extend(card.context.clone());
    asked.extend((!card.facts.is_empty()).then(|| facts(&card.facts)));
    let asked = defanged(&one_line(&asked.join(" ")));
    let shown = beginning(&asked, IN_TEMPLATE, units);
    let is_whole = shown == asked.trim_end();
    let question = if is_whole { shown.to_owned() } else { format!("{shown}…") };
    let answer = match &card.stage {
        CardStage::Closed { headline, at, .. } => format!("{}, {at}", plain(headline)),
        CardStage::Open(ways) => {
            let offered = ways.buttons.iter().filter(|b| !b.wants_words);
            let words: Vec<String> = offered.map(|b| one_line(&b.word)).collect();
            // The words of a choice mean nothing without its labels, and the labels do
            // not fit here.
            let plain =
                ways.buttons.iter().all(|b| !b.word.starts_with(|c: char| c.is_ascii_digit()));
            match ways.code.as_deref().filter(|_| is_whole) {
                Some(code) if plain && (1..=MAX_BUTTONS).contains(&words.len()) => {
                    either(code, &words)
                }
                Some(code) if ways.reply => t!("chat-code-and-answer", code = code),
                _ => t!("chat-on-its-page"),
            }
        }
    };
    json!({
        "title": plain(beginning(&card.title, 200, units)),
        "question": if question.is_empty() { question } else { block(&question) },
        "until": card.until.as_deref().map(plain).unwrap_or_default(),
        "answer": answer,
        "link": card.link,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample_cards;

    #[test]
    fn as_they_are_read() {
        for (name, card) in sample_cards::samples() {
            insta::assert_json_snapshot!(name, render(&card, 4096));
        }
        insta::assert_json_snapshot!("long-by-twilio", render(&sample_cards::long(), 1600));
    }

    #[test]
    fn nothing_ends_a_block() {
        let cases = [
            ("a", "```a```"),
            ("`a`", "``` `a` ```"),
            ("```", "``` ` ` ` ```"),
            ("a````b", "```a` ` ` `b```"),
            ("a``", "```a` ` ```"),
            ("", "``` ```"),
        ];
        for (words, expected) in cases {
            let block = block(words);
            assert_eq!(block, expected);
            let inside = block.strip_prefix("```").and_then(|b| b.strip_suffix("```")).unwrap();
            assert!(!inside.contains("```") && !inside.starts_with('`') && !inside.ends_with('`'));
        }
    }

    #[test]
    fn how_much_there_is_to_press_decides_how_it_is_shown() {
        let CardStage::Open(ways) = sample_cards::choose().stage else { panic!("it is open") };
        let shown = |labels: &[&str]| {
            let button = |(at, label): (usize, &&str)| CardButton {
                label: (*label).into(),
                word: (at + 1).to_string(),
                ..ways.buttons[0].clone()
            };
            let buttons = labels.iter().enumerate().map(button).collect();
            let stage = CardStage::Open(AnswerOptions { buttons, ..ways.clone() });
            let message = render(&MessageCard { stage, ..sample_cards::choose() }, 4096);
            if let Some(row) = message.pointer("/rows/0") {
                let below = row.get("description").is_some();
                let listed = message["body"].as_str().unwrap().contains("\n```1: ");
                return format!("rows, below: {below}, listed: {listed}");
            }
            if message.get("buttons").is_some() { "buttons".to_owned() } else { "words".to_owned() }
        };
        let (long, longer) = ("x".repeat(72), "x".repeat(73));
        assert_eq!(shown(&["a", "b", "c"]), "buttons");
        assert_eq!(shown(&["a", "b", "c", "d"]), "rows, below: false, listed: false");
        assert_eq!(shown(&["a", "a"]), "rows, below: true, listed: false");
        assert_eq!(shown(&["a", &long]), "rows, below: true, listed: false");
        assert_eq!(shown(&["a", &longer]), "rows, below: false, listed: true");
        assert_eq!(shown(&["a"; 11]), "words");
        assert_eq!(shown(&[]), "words");
    }
}
