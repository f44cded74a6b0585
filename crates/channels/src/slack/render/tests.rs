//! Snapshots of each kind of card, and the property that Slack accepts every card.

use kernel::form::Form;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{message, plain_text};
use crate::testing::slack::limits;
use views::message_card::{
    AnswerOptions, ButtonTone, CardButton, CardFact, CardStage, MessageCard,
};

fn button(label: &str, token: &str, tone: ButtonTone) -> CardButton {
    let (label, token, word) = (label.to_owned(), token.to_owned(), "yes".to_owned());
    CardButton { label, token, tone, word, wants_words: false }
}

fn fact(name: &str, value: &str) -> CardFact {
    CardFact { name: name.to_owned(), value: value.to_owned() }
}

/// An approval with all optional parts.
fn card() -> MessageCard {
    MessageCard {
        title: "agent_billing asks for your approval".to_owned(),
        note: Some("It is still waiting.".to_owned()),
        words: "Refund €120.00 to Ada for order 4711?".to_owned(),
        context: Some("The parcel was lost.\nShe wrote twice.".to_owned()),
        facts: vec![fact("amount", "€120.00"), fact("order", "4711")],
        until: Some("in 27 minutes (2026-03-01 10:00 CET)".to_owned()),
        link: "https://ask.example.com/asks/ask_1?a=1&b=2".to_owned(),
        urgent: false,
        stage: CardStage::Open(AnswerOptions {
            buttons: vec![
                button("Approve", "tok.yes", ButtonTone::Yes),
                button("Reject", "tok.no", ButtonTone::No),
            ],
            ..AnswerOptions::default()
        }),
    }
}

fn bare(ways: AnswerOptions) -> MessageCard {
    let words = "Which plan?".to_owned();
    let (note, context, facts, until) = (None, None, Vec::new(), None);
    MessageCard { words, note, context, facts, until, stage: CardStage::Open(ways), ..card() }
}

fn form(fields: &Value) -> Form {
    serde_json::from_value(json!({ "fields": fields })).unwrap()
}

/// The message that is sent, which Slack must accept.
fn taken(card: &MessageCard) -> Value {
    let message = message(card);
    assert_eq!(limits::message(&message), Ok(()), "{message:#}");
    message
}

/// The tokens of all buttons and options.
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
    let buttons = labels.iter().map(|label| button(label, "tok.1", ButtonTone::Plain)).collect();
    insta::assert_json_snapshot!(taken(&bare(AnswerOptions {
        buttons,
        ..AnswerOptions::default()
    })));
}

#[test]
fn choose_from_many_or_long() {
    let buttons = (1..=7).map(|i| button(&format!("Plan {i}"), "tok.p", ButtonTone::Plain));
    let mut buttons: Vec<CardButton> = buttons.collect();
    buttons.push(button(&"Plan 8, which is long. ".repeat(5), "tok.8", ButtonTone::Plain));
    buttons.push(button("None of them", "tok.none", ButtonTone::No));
    insta::assert_json_snapshot!(taken(&bare(AnswerOptions {
        buttons,
        ..AnswerOptions::default()
    })));
}

#[test]
fn fill_in() {
    let form = form(&json!([{ "key": "reason", "label": "Reason", "type": "text" }]));
    let ways =
        AnswerOptions { form: Some(("tok.form".to_owned(), form)), ..AnswerOptions::default() };
    insta::assert_json_snapshot!(taken(&bare(ways)));
}

#[test]
fn fill_in_what_slack_cannot_show() {
    let form = form(&json!([{ "key": "pin", "label": "PIN", "type": "text", "sensitive": true }]));
    let ways =
        AnswerOptions { form: Some(("tok.form".to_owned(), form)), ..AnswerOptions::default() };
    let message = taken(&bare(ways));
    assert_eq!(tokens(&message), Vec::<String>::new());
    insta::assert_json_snapshot!(message);
}

#[test]
fn converse() {
    insta::assert_json_snapshot!(taken(&bare(AnswerOptions {
        reply: true,
        ..AnswerOptions::default()
    })));
}

#[test]
fn confirm_something_urgent() {
    let ways = AnswerOptions {
        buttons: vec![
            button("I confirm", "tok.c", ButtonTone::Yes),
            CardButton { wants_words: true, ..button("I cannot", "tok.n", ButtonTone::No) },
        ],
        ..AnswerOptions::default()
    };
    let card = MessageCard {
        title: "Urgent: agent_billing asks for your approval".to_owned(),
        urgent: true,
        note: Some("No one has answered yet.".to_owned()),
        ..bare(ways)
    };
    insta::assert_json_snapshot!(taken(&card));
}

#[test]
fn on_its_page_only() {
    insta::assert_json_snapshot!(taken(&bare(AnswerOptions::default())));
}

/// No part of a question is dropped silently, and a question that is not shown in full
/// has no buttons.
#[test]
fn long() {
    let card = MessageCard { words: "All work and no play. ".repeat(600), ..card() };
    let message = taken(&card);
    assert_eq!(tokens(&message), Vec::<String>::new());
    insta::assert_json_snapshot!(message);
}

/// A long question that still fits is shown in full.
#[test]
fn long_and_whole() {
    let words = "word ".repeat(1300);
    let facts = vec![fact("log", &"line\n".repeat(401)), fact("amount", "1")];
    let message = taken(&MessageCard { words: words.clone(), facts, ..card() });
    assert_eq!(tokens(&message), ["tok.yes", "tok.no"]);
    let sections = message["blocks"].as_array().unwrap().iter();
    let sections = sections.filter_map(|block| block.pointer("/text/text")?.as_str());
    assert!(sections.collect::<String>().contains(&words));
}

/// The agent's text has no effect: no mention, no link, no emoji, and no line that looks
/// like the server's.
#[test]
fn hostile() {
    let words = "<!channel> *bold* _it_ ~no~ `code` :white_check_mark: <https://evil.example|Open> \
                 https://evil.example @here #general &lt;b&gt; \u{202e}txt.exe\n> quoted\n```x```";
    let card = MessageCard {
        title: "<@U0ADA> asks".to_owned(),
        words: words.to_owned(),
        context: Some(words.to_owned()),
        facts: vec![fact("<!here>", words), fact("", " \n")],
        stage: CardStage::Open(AnswerOptions {
            buttons: vec![
                button("<!channel> & co", "tok.1", ButtonTone::Plain),
                button(" ", "t", ButtonTone::No),
            ],
            ..AnswerOptions::default()
        }),
        ..card()
    };
    insta::assert_json_snapshot!(taken(&card));
}

#[test]
fn over() {
    let stage = CardStage::Closed {
        headline: "Approved by Ada Lovelace".to_owned(),
        at: "2026-03-01 09:41 CET".to_owned(),
        comment: Some("Only this <once>.".to_owned()),
    };
    let title = "Urgent: agent_billing asks for your approval".to_owned();
    let message = taken(&MessageCard { title, stage: stage.clone(), urgent: true, ..card() });
    assert!(!message.to_string().contains("\"actions\""), "nothing to press");
    insta::assert_json_snapshot!(message);
    let long = taken(&MessageCard { stage, words: "x".repeat(20_000), ..card() });
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

fn buttons(most: usize) -> BoxedStrategy<Vec<CardButton>> {
    let tone = prop_oneof![
        Just(ButtonTone::Plain),
        Just(ButtonTone::Yes),
        Just(ButtonTone::Danger),
        Just(ButtonTone::No)
    ];
    let one = (words(most), tone).prop_map(|(label, tone)| button(&label, "tok.x-1_", tone));
    let one = one.boxed();
    prop_oneof![
        3 => prop::collection::vec(one.clone(), 0..8),
        1 => prop::collection::vec(one, 0..130),
    ]
    .boxed()
}

fn stage(most: usize) -> BoxedStrategy<CardStage> {
    let over = (words(most), words(most), prop::option::of(words(most)));
    prop_oneof![
        3 => (buttons(most / 50), any::<bool>())
            .prop_map(|(buttons, reply)| CardStage::Open(AnswerOptions { buttons, reply, ..AnswerOptions::default() })),
        1 => over.prop_map(|(headline, at, comment)| CardStage::Closed { headline, at, comment }),
    ]
    .boxed()
}

/// Cards with texts of up to about this length, and this many details.
fn cards(most: usize, details: usize) -> BoxedStrategy<MessageCard> {
    let ours = (words(most), prop::option::of(words(most)), prop::option::of(words(90)));
    let theirs = (words(most), prop::option::of(words(most)));
    let facts = prop::collection::vec((words(most / 10), words(most / 4)), 0..details);
    (ours, theirs, facts, stage(most), any::<bool>())
        .prop_map(|((title, note, until), (words, context), facts, stage, urgent)| {
            let facts = facts.iter().map(|(name, value)| fact(name, value)).collect();
            MessageCard { title, note, words, context, facts, until, urgent, stage, ..card() }
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Slack accepts every card, and buttons appear only below the whole question.
    #[test]
    fn slack_takes_every_card(
        card in prop_oneof![2 => cards(300, 5), 2 => cards(4000, 8), 1 => cards(15_000, 40)],
    ) {
        let message = message(&card);
        prop_assert_eq!(limits::message(&message), Ok(()), "{:#}", message);
        let offered = tokens(&message).len();
        match &card.stage {
            CardStage::Closed { .. } => prop_assert!(!message.to_string().contains("action_id")),
            CardStage::Open(ways) => {
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

/// All visible text of a message, without whitespace.
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

/// The parts that a person must see before they answer.
fn parts(card: &MessageCard) -> Vec<String> {
    let facts = card.facts.iter().flat_map(|fact| [&fact.name, &fact.value]);
    let labels = match &card.stage {
        CardStage::Open(ways) => ways.buttons.iter().map(|button| &button.label).collect(),
        CardStage::Closed { .. } => Vec::new(),
    };
    let all = [&card.words].into_iter().chain(&card.context).chain(facts).chain(labels);
    all.map(|text| squeezed(&kernel::text::reveal(text))).collect()
}

/// A message without blocks says how to answer if it is complete, and otherwise where the rest is.
#[test]
fn plain_text_says_what_to_write() {
    let text = |card: &MessageCard| {
        let message = plain_text(card);
        assert_eq!(limits::message(&message), Ok(()), "{message:#}");
        assert_eq!(message.get("blocks"), None);
        message["text"].as_str().unwrap().to_owned()
    };
    let said = text(&card());
    let begins = "agent_billing asks for your approval\nIt is still waiting.\nRefund €120.00";
    assert!(said.starts_with(begins), "{said}");
    for words in ["The parcel was lost.", "order: 4711", "Expires in 27 minutes", "a=1&amp;b=2"] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let ends = "To answer, reply in this thread with one of:\nyes: Approve\nyes: Reject";
    assert!(said.ends_with(ends), "{said}");
    let reply = AnswerOptions { reply: true, ..AnswerOptions::default() };
    assert!(text(&bare(reply)).ends_with("To answer, reply in this thread."));
    let on_its_page = "Answer it on its page.";
    assert!(text(&bare(AnswerOptions::default())).ends_with(on_its_page));
    let long = MessageCard { words: "word ".repeat(2_000), ..card() };
    let said = text(&long);
    let more = "The message shows only part of the request.";
    assert!(said.contains(more) && said.ends_with(on_its_page), "{said}");
    let mut no = button("Reject", "tok.no", ButtonTone::No);
    (no.word, no.wants_words) = ("no".to_owned(), true);
    let card = bare(AnswerOptions { buttons: vec![no], ..AnswerOptions::default() });
    assert!(text(&card).ends_with("no, and your reason: Reject"));
    let over = CardStage::Closed {
        headline: "Approved by Ada".to_owned(),
        at: "2026-03-01 10:00 CET".to_owned(),
        comment: Some("<!channel> fine".to_owned()),
    };
    let said = text(&MessageCard { stage: over, ..card });
    assert!(said.starts_with("Approved by Ada\n") && said.contains("&lt;!channel&gt; fine"));
    assert!(!said.contains("To answer"), "{said}");
}
