//! Each kind of card as it is seen, and the law that Slack takes every one of them.

use kernel::form::Form;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{message, plain_text};
use crate::card::{Button, Card, Fact, Stage, Tone, Ways};
use crate::testing::slack::limits;

fn button(label: &str, token: &str, tone: Tone) -> Button {
    let (label, token, word) = (label.to_owned(), token.to_owned(), "yes".to_owned());
    Button { label, token, tone, word, wants_words: false }
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.to_owned(), value: value.to_owned() }
}

/// An approval with everything.
fn card() -> Card {
    Card {
        title: "agent_billing asks for your approval".to_owned(),
        note: Some("It is still waiting.".to_owned()),
        words: "Refund €120.00 to Ada for order 4711?".to_owned(),
        context: Some("The parcel was lost.\nShe wrote twice.".to_owned()),
        facts: vec![fact("amount", "€120.00"), fact("order", "4711")],
        until: Some("in 27 minutes (2026-03-01 10:00 CET)".to_owned()),
        link: "https://ask.example.com/asks/ask_1?a=1&b=2".to_owned(),
        urgent: false,
        stage: Stage::Open(Ways {
            buttons: vec![
                button("Approve", "tok.yes", Tone::Yes),
                button("Reject", "tok.no", Tone::No),
            ],
            ..Ways::default()
        }),
    }
}

fn bare(ways: Ways) -> Card {
    let words = "Which plan?".to_owned();
    let (note, context, facts, until) = (None, None, Vec::new(), None);
    Card { words, note, context, facts, until, stage: Stage::Open(ways), ..card() }
}

fn form(fields: &Value) -> Form {
    serde_json::from_value(json!({ "fields": fields })).unwrap()
}

/// As it is sent, and taken by Slack.
fn taken(card: &Card) -> Value {
    let message = message(card);
    assert_eq!(limits::message(&message), Ok(()), "{message:#}");
    message
}

/// What could be pressed that says something.
fn tokens(message: &Value) -> Vec<String> {
    let elements = message["blocks"].as_array().unwrap().iter();
    let elements = elements.filter(|block| block["type"] == "actions");
    let elements = elements.flat_map(|block| block["elements"].as_array().unwrap());
    let own = |element: &Value| match element["options"].as_array() {
        Some(options) => options.iter().map(|o| o["value"].as_str().unwrap().to_owned()).collect(),
        None => element["value"].as_str().map(str::to_owned).into_iter().collect::<Vec<_>>(),
    };
    elements.flat_map(own).collect()
}

#[test]
fn approve() {
    insta::assert_json_snapshot!(taken(&card()));
}

#[test]
fn choose() {
    let labels = ["Small", "Medium & large", "Huge"];
    let buttons = labels.iter().map(|label| button(label, "tok.1", Tone::Plain)).collect();
    insta::assert_json_snapshot!(taken(&bare(Ways { buttons, ..Ways::default() })));
}

#[test]
fn choose_from_many_or_long() {
    let buttons = (1..=7).map(|i| button(&format!("Plan {i}"), "tok.p", Tone::Plain));
    let mut buttons: Vec<Button> = buttons.collect();
    buttons.push(button(&"Plan 8, which is long. ".repeat(5), "tok.8", Tone::Plain));
    buttons.push(button("None of them", "tok.none", Tone::No));
    insta::assert_json_snapshot!(taken(&bare(Ways { buttons, ..Ways::default() })));
}

#[test]
fn fill_in() {
    let form = form(&json!([{ "key": "reason", "label": "Reason", "type": "text" }]));
    let ways = Ways { form: Some(("tok.form".to_owned(), form)), ..Ways::default() };
    insta::assert_json_snapshot!(taken(&bare(ways)));
}

#[test]
fn fill_in_what_slack_cannot_show() {
    let form = form(&json!([{ "key": "pin", "label": "PIN", "type": "text", "sensitive": true }]));
    let ways = Ways { form: Some(("tok.form".to_owned(), form)), ..Ways::default() };
    let message = taken(&bare(ways));
    assert_eq!(tokens(&message), Vec::<String>::new());
    insta::assert_json_snapshot!(message);
}

#[test]
fn converse() {
    insta::assert_json_snapshot!(taken(&bare(Ways { reply: true, ..Ways::default() })));
}

#[test]
fn confirm_something_urgent() {
    let ways = Ways {
        buttons: vec![
            button("I confirm", "tok.c", Tone::Yes),
            Button { wants_words: true, ..button("I cannot", "tok.n", Tone::No) },
        ],
        ..Ways::default()
    };
    let card =
        Card { urgent: true, note: Some("Nobody has answered yet.".to_owned()), ..bare(ways) };
    insta::assert_json_snapshot!(taken(&card));
}

#[test]
fn on_its_page_only() {
    insta::assert_json_snapshot!(taken(&bare(Ways::default())));
}

/// Nothing of what was asked is cut in silence, and nothing can be pressed that was not read.
#[test]
fn long() {
    let card = Card { words: "All work and no play. ".repeat(600), ..card() };
    let message = taken(&card);
    assert_eq!(tokens(&message), Vec::<String>::new());
    insta::assert_json_snapshot!(message);
}

/// What is long and still fits is there, all of it.
#[test]
fn long_and_whole() {
    let words = "word ".repeat(1300);
    let facts = vec![fact("log", &"line\n".repeat(401)), fact("amount", "1")];
    let message = taken(&Card { words: words.clone(), facts, ..card() });
    assert_eq!(tokens(&message), ["tok.yes", "tok.no"]);
    let sections = message["blocks"].as_array().unwrap().iter();
    let sections = sections.filter_map(|block| block.pointer("/text/text")?.as_str());
    assert!(sections.collect::<String>().contains(&words));
}

/// What an agent wrote drives nothing: no mention, no link, no picture, no line of ours.
#[test]
fn hostile() {
    let words = "<!channel> *bold* _it_ ~no~ `code` :white_check_mark: <https://evil.example|Open> \
                 https://evil.example @here #general &lt;b&gt; \u{202e}txt.exe\n> quoted\n```x```";
    let card = Card {
        title: "<@U0ADA> asks".to_owned(),
        words: words.to_owned(),
        context: Some(words.to_owned()),
        facts: vec![fact("<!here>", words), fact("", " \n")],
        stage: Stage::Open(Ways {
            buttons: vec![
                button("<!channel> & co", "tok.1", Tone::Plain),
                button(" ", "t", Tone::No),
            ],
            ..Ways::default()
        }),
        ..card()
    };
    insta::assert_json_snapshot!(taken(&card));
}

#[test]
fn over() {
    let stage = Stage::Over {
        headline: "Approved by Ada Lovelace".to_owned(),
        at: "2026-03-01 09:41 CET".to_owned(),
        comment: Some("Only this <once>.".to_owned()),
    };
    let message = taken(&Card { stage: stage.clone(), urgent: true, ..card() });
    assert!(!message.to_string().contains("\"actions\""), "nothing to press");
    insta::assert_json_snapshot!(message);
    let long = taken(&Card { stage, words: "x".repeat(20_000), ..card() });
    assert!(!long.to_string().contains("\"actions\""), "nor if it is long");
    assert!(long.to_string().contains("Approved by Ada Lovelace"));
}

fn words(most: usize) -> BoxedStrategy<String> {
    prop_oneof![
        4 => "\\PC{0,40}",
        2 => "[<>&*_`|a \n]{0,80}",
        1 => (0..most).prop_map(|n| "&".repeat(n)),
        1 => (0..most).prop_map(|n| "word ".repeat(n / 5)),
        1 => (0..most).prop_map(|n| "🙂".repeat(n)),
        1 => (0..most).prop_map(|n| "line\n".repeat(n / 5)),
        1 => Just(String::new()),
    ]
    .boxed()
}

fn buttons(most: usize) -> BoxedStrategy<Vec<Button>> {
    let tone = prop_oneof![Just(Tone::Plain), Just(Tone::Yes), Just(Tone::Danger), Just(Tone::No)];
    let one = (words(most), tone).prop_map(|(label, tone)| button(&label, "tok.x-1_", tone));
    let one = one.boxed();
    prop_oneof![
        3 => prop::collection::vec(one.clone(), 0..8),
        1 => prop::collection::vec(one, 0..130),
    ]
    .boxed()
}

fn stage(most: usize) -> BoxedStrategy<Stage> {
    let over = (words(most), words(most), prop::option::of(words(most)));
    prop_oneof![
        3 => (buttons(most / 50), any::<bool>())
            .prop_map(|(buttons, reply)| Stage::Open(Ways { buttons, reply, ..Ways::default() })),
        1 => over.prop_map(|(headline, at, comment)| Stage::Over { headline, at, comment }),
    ]
    .boxed()
}

/// Cards with texts of up to about this length, and this many details.
fn cards(most: usize, details: usize) -> BoxedStrategy<Card> {
    let ours = (words(most), prop::option::of(words(most)), prop::option::of(words(90)));
    let theirs = (words(most), prop::option::of(words(most)));
    let facts = prop::collection::vec((words(most / 10), words(most / 4)), 0..details);
    (ours, theirs, facts, stage(most), any::<bool>())
        .prop_map(|((title, note, until), (words, context), facts, stage, urgent)| {
            let facts = facts.iter().map(|(name, value)| fact(name, value)).collect();
            Card { title, note, words, context, facts, until, urgent, stage, ..card() }
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever is asked, Slack takes it; and what can be pressed stands below all that was asked.
    #[test]
    fn slack_takes_every_card(
        card in prop_oneof![2 => cards(300, 5), 2 => cards(4000, 8), 1 => cards(15_000, 40)],
    ) {
        let message = message(&card);
        prop_assert_eq!(limits::message(&message), Ok(()), "{:#}", message);
        let offered = tokens(&message).len();
        match &card.stage {
            Stage::Over { .. } => prop_assert!(!message.to_string().contains("action_id")),
            Stage::Open(ways) => {
                prop_assert!(offered == 0 || offered == ways.buttons.len());
                if offered > 0 {
                    let shown = seen(&message);
                    for part in parts(&card) {
                        prop_assert!(shown.contains(&part), "{part:?} is not in {shown:?}");
                    }
                }
            }
        }
    }
}

/// Everything of a message that people read, without white space, as they read it.
fn seen(message: &Value) -> String {
    fn collect(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(text)) = map.get("text") {
                    out.push_str(text);
                }
                map.values().for_each(|value| collect(value, out));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, out)),
            _ => {}
        }
    }
    let mut out = String::new();
    collect(&message["blocks"], &mut out);
    squeezed(&out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// What must be read before something is pressed.
fn parts(card: &Card) -> Vec<String> {
    let facts = card.facts.iter().flat_map(|fact| [&fact.name, &fact.value]);
    let labels = match &card.stage {
        Stage::Open(ways) => ways.buttons.iter().map(|button| &button.label).collect(),
        Stage::Over { .. } => Vec::new(),
    };
    let all = [&card.words].into_iter().chain(&card.context).chain(facts).chain(labels);
    all.map(|text| squeezed(&kernel::text::reveal(text))).collect()
}

/// Text alone says what to write, where all of it is there; else where the rest is.
#[test]
fn plain_text_says_what_to_write() {
    let text = |card: &Card| {
        let message = plain_text(card);
        assert_eq!(limits::message(&message), Ok(()), "{message:#}");
        assert_eq!(message.get("blocks"), None);
        message["text"].as_str().unwrap().to_owned()
    };
    let said = text(&card());
    let begins = "agent_billing asks for your approval\nIt is still waiting.\nRefund €120.00";
    assert!(said.starts_with(begins), "{said}");
    for words in ["The parcel was lost.", "order: 4711", "Runs out in 27 minutes", "a=1&amp;b=2"] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let ends = "To answer, reply in this thread with\nyes: Approve\nyes: Reject";
    assert!(said.ends_with(ends), "{said}");
    let reply = Ways { reply: true, ..Ways::default() };
    assert!(text(&bare(reply)).ends_with("To answer, reply in this thread."));
    let on_its_page = "It can be answered on its page.";
    assert!(text(&bare(Ways::default())).ends_with(on_its_page));
    let long = Card { words: "word ".repeat(2_000), ..card() };
    let said = text(&long);
    assert!(said.contains("There is more than fits here.") && said.ends_with(on_its_page));
    let mut no = button("Reject", "tok.no", Tone::No);
    (no.word, no.wants_words) = ("no".to_owned(), true);
    let card = bare(Ways { buttons: vec![no], ..Ways::default() });
    assert!(text(&card).ends_with("no, and why: Reject"));
    let over = Stage::Over {
        headline: "Approved by Ada".to_owned(),
        at: "2026-03-01 10:00 CET".to_owned(),
        comment: Some("<!channel> fine".to_owned()),
    };
    let said = text(&Card { stage: over, ..card });
    assert!(said.starts_with("Approved by Ada\n") && said.contains("&lt;!channel&gt; fine"));
    assert!(!said.contains("To answer"), "{said}");
}
