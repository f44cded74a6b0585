//! Every field, what it takes and what it does not.

use dialects::hxp_experience::{ACTIONS, INTENTS};
use serde_json::{Value, json};

use crate::fixtures::{
    LENIENT, check, core, errors, full, notes, standard, warnings, with, without,
};

/// HXPE-001, HXPE-003: a message is an object with an envelope and a content.
#[test]
fn a_message_is_an_envelope_and_a_content() {
    for value in [json!([]), json!("text"), json!(1), json!(null), json!(true)] {
        assert_eq!(errors(&check(&value, LENIENT)), [("HXPE-001", "")], "{value}");
    }
    assert_eq!(errors(&check(&json!({}), LENIENT)), [("HXPE-001", ""), ("HXPE-001", "")]);
    for value in [json!("x"), json!([]), json!(null)] {
        let report = check(&with(core(), "/hxp", value), LENIENT);
        assert_eq!(errors(&report), [("HXPE-001", "/hxp")]);
    }
    for (content, fine) in [
        (json!(""), true),
        (json!({}), true),
        (json!({ "image": "https://example.org/a.png" }), true),
        (json!([]), false),
        (json!(null), false),
        (json!(1), false),
        (json!(false), false),
    ] {
        let report = check(&with(core(), "/content", content.clone()), LENIENT);
        assert_eq!(report.is_valid(), fine, "{content}");
        assert_eq!(errors(&report).first().copied(), (!fine).then_some(("HXPE-003", "/content")));
    }
}

/// HXPE-002, HXPE-004: consumers ignore what they do not know, anywhere.
#[test]
fn unknown_fields_do_not_fail() {
    let mut message = full();
    for place in [
        "",
        "/hxp",
        "/hxp/delivery",
        "/hxp/cognition",
        "/hxp/transparency",
        "/hxp/actions/0",
        "/hxp/negotiation",
        "/hxp/refusal",
        "/hxp/safety",
        "/hxp/extensions/education",
    ] {
        message = with(message, &format!("{place}/later"), json!({ "a": [null] }));
    }
    let report = check(&message, LENIENT);
    assert_eq!((errors(&report), warnings(&report)), (vec![], vec![]));
    let report = check(&with(core(), "/HXP", json!({})), LENIENT);
    assert_eq!((report.is_valid(), warnings(&report)), (true, vec![("HXPE-002", "/HXP")]));
}

/// HXPE-007, HXPE-010 to HXPE-014, HXPE-016 to HXPE-031, HXPE-035: what each field takes.
#[test]
fn every_field_takes_its_values_and_no_others() {
    let text = || vec![json!(""), json!("x"), json!("é")];
    let words = |words: &str| words.split('|').map(|word| json!(word)).collect::<Vec<_>>();
    let no_text = || vec![json!(1), json!(null), json!(true), json!([]), json!({})];
    let no_word = || [no_text(), vec![json!("Low"), json!(""), json!("later")]].concat();
    let no_object = || vec![json!(null), json!([]), json!("x"), json!(1), json!(false)];
    let no_boolean = || vec![json!(null), json!(0), json!("true"), json!([]), json!({})];
    let texts = || vec![json!([]), json!(["a", ""])];
    let no_texts = || vec![json!(null), json!("a"), json!({}), json!(1)];
    let booleans = || vec![json!(true), json!(false)];
    let empty_object = || vec![json!({}), json!({ "later": 1 })];
    let numbers = |texts: &[&str]| -> Vec<Value> {
        texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    };
    let table: Vec<(&str, &str, Vec<Value>, Vec<Value>)> = vec![
        ("HXPE-007", "/hxp/version", words("1.0.0|1.0.0-rc.1|2.3.4+b"), no_word()),
        (
            "HXPE-010",
            "/hxp/intent",
            words("explain| |Explain|x"),
            [no_text(), vec![json!("")]].concat(),
        ),
        ("HXPE-011", "/hxp/delivery", vec![json!({ "verbosity": "low" })], no_object()),
        ("HXPE-012", "/hxp/delivery/verbosity", words("low|medium|high"), no_word()),
        (
            "HXPE-013",
            "/hxp/delivery/format",
            words("bullets|steps|narrative|code|table|mixed"),
            no_word(),
        ),
        ("HXPE-014", "/hxp/delivery/tone", words("neutral|direct|warm|formal|playful"), no_word()),
        (
            "HXPE-015",
            "/hxp/delivery/language",
            words("en|tr|en-US|not a tag!!|🙂🙂"),
            [no_text(), words("e||é|🙂")].concat(),
        ),
        ("HXPE-016", "/hxp/cognition", empty_object(), no_object()),
        (
            "HXPE-017",
            "/hxp/cognition/load",
            numbers(&["1", "10", "3.0", "1e1", "0.1e1"]),
            [no_boolean(), numbers(&["11", "3.5", "-1", "1e9", "10.5", "\"3\""])].concat(),
        ),
        (
            "HXPE-018",
            "/hxp/cognition/estimated_read_seconds",
            numbers(&["0", "-0.0", "1e9", "12.0", "18446744073709551616"]),
            [vec![json!(null), json!("1"), json!({})], numbers(&["-1", "0.5", "1e-9"])].concat(),
        ),
        ("HXPE-019", "/hxp/cognition/chunking", words("none|light|structured"), no_word()),
        ("HXPE-020", "/hxp/transparency", vec![json!({ "confidence": 1 })], no_object()),
        (
            "HXPE-021",
            "/hxp/transparency/confidence",
            numbers(&["0", "1", "-0.0", "0.5", "1.0", "1e-9"]),
            [
                vec![json!(null), json!("0.5"), json!(true), json!([])],
                numbers(&["1.0000001", "-0.0001", "5"]),
            ]
            .concat(),
        ),
        ("HXPE-022", "/hxp/transparency/verification_needed", booleans(), no_boolean()),
        ("HXPE-023", "/hxp/transparency/assumptions", texts(), no_texts()),
        ("HXPE-023", "/hxp/transparency/limits", texts(), no_texts()),
        ("HXPE-023", "/hxp/transparency/limits/0", text(), no_text()),
        (
            "HXPE-024",
            "/hxp/actions",
            vec![json!([]), json!([{ "type": "x" }])],
            vec![json!(null), json!({}), json!("x")],
        ),
        ("HXPE-024", "/hxp/actions/0", vec![json!({ "type": "x", "later": 1 })], no_object()),
        (
            "HXPE-025",
            "/hxp/actions/0/type",
            words("redirect|explain_policy| "),
            [no_text(), vec![json!("")]].concat(),
        ),
        ("HXPE-026", "/hxp/actions/0/label", text(), no_text()),
        ("HXPE-026", "/hxp/actions/0/payload", empty_object(), no_object()),
        ("HXPE-027", "/hxp/negotiation", empty_object(), no_object()),
        ("HXPE-027", "/hxp/negotiation/intent_confirmed", booleans(), no_boolean()),
        ("HXPE-027", "/hxp/negotiation/clarifying_questions", texts(), no_texts()),
        ("HXPE-027", "/hxp/negotiation/clarifying_questions/0", text(), no_text()),
        ("HXPE-028", "/hxp/refusal", empty_object(), no_object()),
        (
            "HXPE-028",
            "/hxp/refusal/type",
            words("safety|legal|capability|policy|unknown"),
            no_word(),
        ),
        ("HXPE-028", "/hxp/refusal/severity", words("soft|hard"), no_word()),
        ("HXPE-028", "/hxp/refusal/redirect_available", booleans(), no_boolean()),
        ("HXPE-030", "/hxp/safety", empty_object(), no_object()),
        ("HXPE-030", "/hxp/safety/alignment_source", text(), no_text()),
        ("HXPE-030", "/hxp/safety/harm_risk", words("low|medium|high"), no_word()),
        ("HXPE-030", "/hxp/safety/safety_flag", booleans(), no_boolean()),
        ("HXPE-031", "/hxp/extensions", empty_object(), no_object()),
        (
            "HXPE-031",
            "/hxp/extensions/education",
            vec![json!(null), json!([1]), json!("x"), json!({})],
            vec![],
        ),
    ];
    for (rule, pointer, good, bad) in table {
        for value in good {
            let report = check(&with(full(), pointer, value.clone()), LENIENT);
            assert_eq!(errors(&report), [], "{pointer} {value}");
        }
        for value in bad {
            let report = check(&with(full(), pointer, value.clone()), LENIENT);
            let found = errors(&report);
            assert!(!found.is_empty(), "{pointer} {value}");
            assert!(found.iter().all(|one| *one == (rule, pointer)), "{pointer} {value} {found:?}");
        }
    }
}

/// HXPE-035: Core is what must be there.
#[test]
fn what_must_be_there_is_missed() {
    for (pointer, rule, parent) in [
        ("/hxp", "HXPE-001", ""),
        ("/content", "HXPE-001", ""),
        ("/hxp/version", "HXPE-035", "/hxp"),
        ("/hxp/intent", "HXPE-035", "/hxp"),
        ("/hxp/delivery", "HXPE-035", "/hxp"),
        ("/hxp/transparency", "HXPE-035", "/hxp"),
        ("/hxp/actions", "HXPE-035", "/hxp"),
        ("/hxp/delivery/verbosity", "HXPE-012", "/hxp/delivery"),
        ("/hxp/transparency/confidence", "HXPE-021", "/hxp/transparency"),
    ] {
        let report = check(&without(standard(), pointer), LENIENT);
        assert_eq!(errors(&report), [(rule, parent)], "{pointer}");
        assert_eq!(report.missing_core, [pointer]);
        assert_eq!(report.level, None);
    }
    let report = check(&without(standard(), "/hxp/actions/0/type"), LENIENT);
    assert_eq!(errors(&report), [("HXPE-025", "/hxp/actions/0")]);
}

/// HXPE-010, HXPE-025: recommended words are no closed list.
#[test]
fn words_of_ones_own_are_noted_at_most() {
    for intent in INTENTS {
        let report = check(&with(standard(), "/hxp/intent", json!(intent)), LENIENT);
        assert_eq!(notes(&report), []);
    }
    let report = check(&with(standard(), "/hxp/intent", json!("sing")), LENIENT);
    assert_eq!((report.is_valid(), notes(&report)), (true, vec![("HXPE-010", "/hxp/intent")]));
    let action = |kind: &str| with(standard(), "/hxp/actions/0/type", json!(kind));
    for kind in ACTIONS.into_iter().chain(["redirect", "explain_policy"]) {
        assert_eq!(check(&action(kind), LENIENT).findings, []);
    }
}

/// HXPE-029: a refusal is expected with the intent to refuse, and noted without it.
#[test]
fn refusals_go_with_the_intent_to_refuse() {
    let refuses = with(standard(), "/hxp/intent", json!("refuse"));
    let report = check(&refuses, LENIENT);
    assert_eq!((report.is_valid(), warnings(&report)), (true, vec![("HXPE-029", "/hxp")]));
    assert_eq!(check(&with(refuses, "/hxp/refusal", json!({})), LENIENT).findings, []);
    let report = check(&with(standard(), "/hxp/refusal", json!({})), LENIENT);
    assert_eq!((report.is_valid(), notes(&report)), (true, vec![("HXPE-029", "/hxp/refusal")]));
}

/// HXPE-059, HXPE-062: signs that somebody should look, never a reason to refuse.
#[test]
fn what_does_not_fit_together_is_noted() {
    let sure = with(standard(), "/hxp/transparency/confidence", json!(0.95));
    let place = "/hxp/transparency/confidence";
    assert_eq!(notes(&check(&sure, LENIENT)), [("HXPE-059", place)]);
    let checked = with(sure, "/hxp/transparency/verification_needed", json!(false));
    assert_eq!(notes(&check(&checked, LENIENT)), [("HXPE-059", place)]);
    let limitless = with(checked, "/hxp/transparency/limits", json!([]));
    assert_eq!(notes(&check(&limitless, LENIENT)), []);
    let hard = with(limitless, "/hxp/cognition/load", json!(9));
    let report = check(&hard, LENIENT);
    assert_eq!(
        (report.is_valid(), notes(&report)),
        (true, vec![("HXPE-062", "/hxp/cognition/load")])
    );
}

/// HXPE-056, HXPE-057: who somebody is, what opens doors and what was thought have no place here.
#[test]
fn what_gives_somebody_away_is_warned_of() {
    for (pointer, value, rule) in [
        ("/hxp/transparency/assumptions/0", json!("ada@example.org pays"), "HXPE-056"),
        ("/hxp/transparency/assumptions/0", json!("ada\u{0040}example.org"), "HXPE-056"),
        ("/hxp/actions/0/label", json!("Call +44 20 7946 0958"), "HXPE-056"),
        ("/hxp/actions/0/payload/note", json!("4111-1111-1111-1111"), "HXPE-056"),
        ("/hxp/user_id", json!(7), "HXPE-056"),
        ("/hxp/actions/0/payload/Api_Key", json!("k"), "HXPE-057"),
        ("/hxp/chain_of_thought", json!("…"), "HXPE-057"),
    ] {
        let report = check(&with(standard(), pointer, value), LENIENT);
        assert_eq!((report.is_valid(), warnings(&report)), (true, vec![(rule, pointer)]));
    }
    let said = with(standard(), "/content", json!("write to ada@example.org"));
    assert_eq!(warnings(&check(&said, LENIENT)), [], "the content is for the person to read");
}

/// HXPE-041: all errors, each with its place, what of the schema it breaks, and a sentence.
#[test]
fn everything_that_is_wrong_is_said() {
    let message = json!({
        "hxp": {
            "version": "1",
            "intent": "",
            "delivery": { "verbosity": "loud", "language": "e" },
            "cognition": { "load": 3.5, "estimated_read_seconds": -1 },
            "transparency": { "confidence": 5, "assumptions": [1] },
            "actions": [{}, "x"],
            "extensions": [],
        },
        "content": null,
    });
    insta::assert_json_snapshot!(check(&message, LENIENT));
}
