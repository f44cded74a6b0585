//! Cards of all shapes.

use channels::testing::sample_cards;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use views::message_card::{
    AnswerOptions, ButtonTone, CardButton, CardFact, CardStage, MessageCard,
};

/// Words: of any characters, of what platforms take for markup, hidden, or long.
fn words() -> impl Strategy<Value = String> {
    let markup = "[a-z*_~`<>@#&\\[\\]().:/{}|\\\\\n -]{0,200}";
    let long = ("\\PC{1,20}", 1..400_usize).prop_map(|(text, times)| text.repeat(times));
    let hidden = "[\u{200b}\u{202e}a.\r\n]{0,600}";
    prop_oneof![any::<String>(), markup, long, hidden, Just("🙂".repeat(3000))]
}

fn button() -> impl Strategy<Value = CardButton> {
    let label = prop_oneof![words(), "[A-Za-z ]{1,30}"];
    (label, "[A-Za-z0-9._-]{1,64}", "[a-z0-9]{1,4}", any::<bool>()).prop_map(
        |(label, token, word, wants_words)| CardButton {
            label,
            token,
            tone: ButtonTone::Plain,
            word,
            wants_words,
        },
    )
}

fn stage() -> impl Strategy<Value = CardStage> {
    let ways = (vec(button(), 0..13), any::<bool>(), option::of("[A-Z][0-9]"), any::<bool>());
    let open = ways.prop_map(|(mut buttons, reply, code, has_form)| {
        // A word stands for one button alone.
        for (at, button) in buttons.iter_mut().enumerate() {
            button.word = format!("{}{at}", button.word);
        }
        let CardStage::Open(AnswerOptions { form, .. }) = sample_cards::form().stage else {
            unreachable!()
        };
        CardStage::Open(AnswerOptions { buttons, reply, code, form: form.filter(|_| has_form) })
    });
    let over = option::of(words()).prop_map(|comment| CardStage::Closed {
        headline: "Approved by Ada Lovelace".into(),
        at: "2026-03-01 09:41 CET".into(),
        comment,
    });
    prop_oneof![4 => open, 1 => over]
}

/// Any card.
pub(crate) fn card() -> impl Strategy<Value = MessageCard> {
    let fact = (words(), words()).prop_map(|(name, value)| CardFact { name, value });
    (words(), option::of(words()), vec(fact, 0..4), any::<bool>(), any::<bool>(), stage()).prop_map(
        |(words, context, facts, timed, urgent, stage)| MessageCard {
            words,
            context,
            facts,
            until: timed.then(|| "in 27 minutes (2026-03-01 10:00 CET)".into()),
            urgent,
            stage,
            ..sample_cards::approve()
        },
    )
}
