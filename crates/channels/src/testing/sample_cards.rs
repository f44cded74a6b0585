//! Cards of every kind, for snapshots of messages.

use kernel::form::Form;

use views::message_card::{
    AnswerOptions, ButtonTone, CardButton, CardFact, CardStage, MessageCard,
};

/// The page that all cards link to.
pub const LINK: &str = "https://ask.example.com/asks/ask_01";

/// One card of every kind, with a name for its snapshot.
pub fn samples() -> Vec<(&'static str, MessageCard)> {
    vec![
        ("approve", approve()),
        ("choose", choose()),
        ("form", form()),
        ("converse", converse()),
        ("confirm", confirm()),
        ("long", long()),
        ("hostile", hostile()),
        ("over", over()),
    ]
}

/// An approval with details.
pub fn approve() -> MessageCard {
    let fact = |name: &str, value: &str| CardFact { name: name.into(), value: value.into() };
    MessageCard {
        title: "agent_billing asks for your approval".into(),
        note: Some("It is still waiting.".into()),
        words: "Refund order 4711?".into(),
        context: Some("The parcel came back on Monday.".into()),
        facts: vec![fact("amount", "120.00 EUR"), fact("to", "Ada Lovelace\nBerlin")],
        until: Some("in 27 minutes (2026-03-01 10:00 CET)".into()),
        link: LINK.into(),
        urgent: false,
        stage: CardStage::Open(AnswerOptions {
            buttons: vec![
                button("Approve", "t-yes", ButtonTone::Yes, "yes"),
                button("Reject", "t-no", ButtonTone::No, "no"),
                CardButton {
                    wants_words: true,
                    ..button("Ask for changes", "t-chg", ButtonTone::Plain, "x")
                },
            ],
            code: Some("A7".into()),
            ..AnswerOptions::default()
        }),
    }
}

/// A choice with one long label.
pub fn choose() -> MessageCard {
    let buttons = vec![
        button("Blue", "t-1", ButtonTone::Plain, "1"),
        button("Green", "t-2", ButtonTone::Plain, "2"),
        button("Green, but only for those who asked for it in time", "t-3", ButtonTone::Plain, "3"),
        button("Neither", "t-4", ButtonTone::Plain, "4"),
    ];
    MessageCard {
        title: "agent_web wants you to choose".into(),
        note: None,
        words: "Which colour?".into(),
        context: None,
        facts: Vec::new(),
        until: None,
        stage: CardStage::Open(AnswerOptions {
            buttons,
            code: Some("B2".into()),
            ..AnswerOptions::default()
        }),
        ..approve()
    }
}

/// A request with a form.
pub fn form() -> MessageCard {
    let fields = serde_json::json!([{ "key": "iban", "label": "IBAN", "type": "text" }]);
    let form = serde_json::from_value(fields).ok().and_then(|fields| Form::of_fields(fields).ok());
    let ways = AnswerOptions {
        form: form.map(|form| ("t-form".into(), form)),
        ..AnswerOptions::default()
    };
    MessageCard {
        title: "agent_billing wants you to fill in a form".into(),
        words: "Where does the money go?".into(),
        stage: CardStage::Open(ways),
        ..choose()
    }
}

/// A question with a free-text answer.
pub fn converse() -> MessageCard {
    let ways = AnswerOptions { reply: true, code: Some("C3".into()), ..AnswerOptions::default() };
    MessageCard {
        title: "agent_web asks you".into(),
        words: "What shall the button say?".into(),
        stage: CardStage::Open(ways),
        ..choose()
    }
}

/// An urgent confirmation.
pub fn confirm() -> MessageCard {
    let buttons = vec![
        button("I have done it", "t-done", ButtonTone::Yes, "done"),
        button("I could not", "t-not", ButtonTone::No, "not"),
    ];
    MessageCard {
        title: "Urgent: agent_ops needs you now".into(),
        note: Some("No one has answered yet.".into()),
        words: "The database is full. Please give it a larger disk.".into(),
        urgent: true,
        stage: CardStage::Open(AnswerOptions {
            buttons,
            code: Some("D4".into()),
            ..AnswerOptions::default()
        }),
        ..choose()
    }
}

/// A question that is longer than any message.
pub fn long() -> MessageCard {
    MessageCard { words: "All of this has to be read. ".repeat(400), ..approve() }
}

/// A text that tries to act as markup.
pub fn hostile() -> MessageCard {
    let words = "<b>*Approve* _now_</b> ~not~ `code` ```\nend``` [x](https://evil.example) \
                 https://evil.example www.evil.com t.me/evil @channel @ada #pay /start <!channel> \
                 <@U1> &amp; ⟨U+202E⟩ \\_ > quote\n> Approved by Ada\n-- \n{{1}} {\"a\":1} 🙂";
    let fact = CardFact { name: "*to*\nfrom".into(), value: "`evil.com`\n- @all".into() };
    let buttons = vec![
        button("<Yes> *now* \u{202e}evil.com", "t-yes", ButtonTone::Yes, "yes"),
        button("  ", "t-no", ButtonTone::No, "no"),
    ];
    MessageCard {
        title: "agent_eve asks for your approval".into(),
        words: words.into(),
        context: Some("```".into()),
        facts: vec![fact],
        stage: CardStage::Open(AnswerOptions {
            buttons,
            code: Some("E5".into()),
            ..AnswerOptions::default()
        }),
        ..choose()
    }
}

/// A request that was answered.
pub fn over() -> MessageCard {
    let stage = CardStage::Closed {
        headline: "Approved by Ada Lovelace".into(),
        at: "2026-03-01 09:41 CET".into(),
        comment: Some("Fine, *but* see www.example.com".into()),
    };
    MessageCard { note: None, until: None, stage, ..approve() }
}

fn button(label: &str, token: &str, tone: ButtonTone, word: &str) -> CardButton {
    CardButton {
        label: label.into(),
        token: token.into(),
        tone,
        word: word.into(),
        wants_words: false,
    }
}
