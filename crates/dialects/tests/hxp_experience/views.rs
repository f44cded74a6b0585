//! Envelopes for those who show them.

use dialects::hxp_experience::{EnvelopeView, INTENTS, core_shape, label};
use serde_json::{Value, json};

use crate::fixtures::{core, full, with, without};

fn view(message: &Value) -> EnvelopeView {
    EnvelopeView::of(message.as_object().unwrap())
}

/// HXPE-010 to HXPE-031: everything an envelope says, by name.
#[test]
fn everything_an_envelope_says_is_there() {
    insta::assert_debug_snapshot!(view(&full()));
}

/// HXPE-048: what a later version added is left out when it is shown, and so is what is wrong.
#[test]
fn what_is_not_known_is_left_out() {
    let mut message = full();
    for (pointer, value) in [
        ("/hxp/delivery/format", json!("hologram")),
        ("/hxp/delivery/tone", json!("sung")),
        ("/hxp/cognition/chunking", json!("fractal")),
        ("/hxp/cognition/load", json!(11)),
        ("/hxp/cognition/estimated_read_seconds", json!(-1)),
        ("/hxp/transparency/confidence", json!(5)),
        ("/hxp/actions/0/type", json!("")),
    ] {
        message = with(message, pointer, value);
    }
    let shown = view(&message);
    assert_eq!((shown.format, shown.tone, shown.chunking), (None, None, None));
    assert_eq!((shown.load, shown.read_seconds, shown.confidence), (None, None, None));
    assert_eq!(shown.actions.len(), 1);
    assert_eq!(view(&json!({ "hxp": [] })), EnvelopeView::default());
    let whole = with(
        with(full(), "/hxp/cognition/load", json!(3.0)),
        "/hxp/cognition/estimated_read_seconds",
        json!(1e9),
    );
    assert_eq!((view(&whole).load, view(&whole).read_seconds), (Some(3), Some(1_000_000_000)));
}

/// HXPE-046: from afar a message is one by the types of what every message has; that is all.
#[test]
fn the_shape_of_a_message_is_no_validation() {
    assert!(core_shape(&core()) && core_shape(&full()));
    for (pointer, value) in [
        ("/hxp/delivery/verbosity", json!("loud")),
        ("/hxp/transparency/confidence", json!(5)),
        ("/content", json!(null)),
        ("/content", json!([])),
        ("/hxp/intent", json!("")),
    ] {
        assert!(core_shape(&with(core(), pointer, value)));
    }
    for pointer in [
        "/hxp",
        "/content",
        "/hxp/version",
        "/hxp/intent",
        "/hxp/delivery",
        "/hxp/actions",
        "/hxp/transparency/confidence",
    ] {
        assert!(!core_shape(&without(core(), pointer)), "{pointer}");
    }
    assert!(!core_shape(&json!([])));
}

/// HXPE-061: metrics know so many words and no more.
#[test]
fn labels_are_few() {
    assert!(INTENTS.iter().all(|intent| label(intent) == *intent));
    assert_eq!(
        (label("verify_sources"), label("sing"), label("")),
        ("verify_sources", "other", "other")
    );
}
