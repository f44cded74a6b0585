//! What becomes of a call: the ask behind it, and every mistake by its name.

use dialects::a2h::{CallKind, CallRecipient, parse_function_call};
use serde_json::{Value, json};

use crate::fixtures::{function_call, human_contact, made, parse, shown, with, without};

/// A2H-020, A2H-021, A2H-027, A2H-030, A2H-032, A2H-037, A2H-038, A2H-040: what was sent comes
/// back, under names every client reads, and what people see.
#[test]
fn a_function_call_is_an_approval() {
    let (cast, id) = made(CallKind::FunctionCall, &function_call());
    let ask = cast.seen(id);
    insta::assert_json_snapshot!("question_of_a_function_call", ask.question.value().unwrap());
    insta::assert_json_snapshot!("function_call_pending", shown(ask), {
        ".status.ask_id" => "[id]",
    });
}

/// A2H-024, A2H-025, A2H-029.
#[test]
fn a_human_contact_is_a_message() {
    let (cast, id) = made(CallKind::HumanContact, &human_contact());
    insta::assert_json_snapshot!("human_contact_pending", shown(cast.seen(id)), {
        ".status.ask_id" => "[id]",
    });
    let whole = json!({
        "run_id": "r", "call_id": "c",
        "spec": {
            "msg": "Which?", "subject": "A question",
            "channel": {"slack": {"channel_or_user_id": "C0123ABC", "bot_token": "xoxb-secret",
                "allowed_responder_ids": ["U1"], "thread_ts": "1.2"}, "unknown": {"x": 1}},
            "response_options": [{"name": "a", "title": "A", "prompt_fill": "take a"}, {"name": "b"}],
        },
    });
    let (cast, id) = made(CallKind::HumanContact, &whole);
    let ask = cast.seen(id);
    insta::assert_json_snapshot!("question_of_a_human_contact", ask.question.value().unwrap());
    insta::assert_json_snapshot!("human_contact_with_options", shown(ask), {
        ".status.ask_id" => "[id]",
    });
    let stored = serde_json::to_string(ask).unwrap();
    assert!(!stored.contains("xoxb-secret"), "A2H-031: a bot token is nowhere at rest");
}

/// A2H-029: an option, or anything beside the members of the protocol, that says it cannot be
/// undone marks the whole request, as in every other protocol. The mark of an option comes back
/// with it.
#[test]
fn what_cannot_be_undone_is_marked() {
    let marked = [
        (
            CallKind::HumanContact,
            with(
                human_contact(),
                "/spec/response_options",
                json!([{"name": "keep"}, {"name": "drop", "irreversible": true}]),
            ),
        ),
        (
            CallKind::HumanContact,
            with(
                human_contact(),
                "/spec/response_options",
                json!([{"name": "keep"}, {"name": "drop", "reversible": false}]),
            ),
        ),
        (
            CallKind::HumanContact,
            with(
                human_contact(),
                "/spec/response_options",
                json!([{"name": "keep"}, {"name": "drop", "more": {"irreversible": "yes"}}]),
            ),
        ),
        (CallKind::HumanContact, with(human_contact(), "/spec/irreversible", json!(true))),
        (CallKind::FunctionCall, with(function_call(), "/irreversible", json!(true))),
        (CallKind::FunctionCall, with(function_call(), "/spec/reversible", json!("no"))),
        (
            CallKind::FunctionCall,
            with(function_call(), "/spec/kwargs", json!({"irreversible": true})),
        ),
    ];
    for (kind, body) in &marked {
        let (cast, id) = made(*kind, body);
        assert!(cast.seen(id).is_irreversible(), "{body}");
        assert!(cast.seen(id).needs_confirmation(), "{body}");
    }
    let (cast, id) = made(marked[0].0, &marked[0].1);
    let back = shown(cast.seen(id));
    assert_eq!(back["spec"]["response_options"][1]["irreversible"], true, "{back}");
    assert_eq!(back["spec"]["response_options"][0].get("irreversible"), None, "{back}");
    for (kind, body) in [
        (
            CallKind::HumanContact,
            with(
                human_contact(),
                "/spec/response_options",
                json!([{"name": "keep"}, {"name": "drop", "irreversible": false}]),
            ),
        ),
        (CallKind::FunctionCall, function_call()),
    ] {
        let (cast, id) = made(kind, &body);
        assert!(!cast.seen(id).is_irreversible(), "{body}");
    }
}

/// A2H-022, A2H-027, A2H-029, A2H-051, A2H-065, A2H-066, A2H-069: absent, null and empty are the
/// same.
#[test]
fn what_is_not_there_need_not_be_said() {
    for bare in [
        json!({"run_id": "my agent-1", "call_id": "call-1", "spec": {"fn": "f"}}),
        json!({"run_id": "my agent-1", "call_id": "call-1", "status": null, "spec": {
            "fn": "f", "kwargs": null, "channel": null, "reject_options": null, "state": null}}),
        json!({"run_id": "my agent-1", "call_id": "call-1", "status": {"approved": true}, "spec": {
            "fn": "f", "kwargs": {}, "reject_options": [],
            "channel": {"slack": null, "email": null, "sms": null, "whatsapp": null}}}),
    ] {
        let (cast, id) = made(CallKind::FunctionCall, &bare);
        let shown = shown(cast.seen(id));
        assert_eq!(shown["spec"], json!({"fn": "f", "kwargs": {}}), "{bare}");
        assert_eq!(shown["run_id"], "my agent-1");
        assert_eq!(shown["status"].get("approved"), None, "nobody answers by asking");
    }
}

/// A2H-014, A2H-015, A2H-021, A2H-025, A2H-028, A2H-030, A2H-033, A2H-034.
#[test]
fn mistakes_are_named() {
    let call = function_call;
    let option = |name: &str| json!({ "name": name });
    for (kind, body, field) in [
        (CallKind::FunctionCall, json!([]), ""),
        (CallKind::FunctionCall, without(call(), "/call_id"), "call_id"),
        (CallKind::FunctionCall, with(call(), "/call_id", json!(7)), "call_id"),
        (CallKind::FunctionCall, without(call(), "/run_id"), "run_id"),
        (CallKind::FunctionCall, with(call(), "/run_id", json!("r".repeat(201))), "run_id"),
        (CallKind::FunctionCall, without(call(), "/spec"), "spec"),
        (CallKind::FunctionCall, without(call(), "/spec/fn"), "spec.fn"),
        (CallKind::FunctionCall, with(call(), "/spec/fn", json!(" ")), "spec.fn"),
        (CallKind::FunctionCall, with(call(), "/spec/kwargs", json!([1])), "spec.kwargs"),
        (CallKind::FunctionCall, with(call(), "/spec/state", json!("s")), "spec.state"),
        (CallKind::FunctionCall, with(call(), "/spec/state", json!({"a": "\0"})), ""),
        (
            CallKind::FunctionCall,
            with(call(), "/spec/reject_options", json!([option("a"), option("a")])),
            "spec.reject_options[1].name",
        ),
        (
            CallKind::FunctionCall,
            with(call(), "/spec/reject_options", json!([{"title": "A"}])),
            "spec.reject_options[0].name",
        ),
        (
            CallKind::FunctionCall,
            with(call(), "/spec/channel/email/address", json!("nobody")),
            "spec.channel.email.address",
        ),
        (
            CallKind::FunctionCall,
            with(call(), "/spec/channel/email/additional_recipients/0/field", json!("CC")),
            "spec.channel.email.additional_recipients[0].field",
        ),
        (
            CallKind::FunctionCall,
            with(call(), "/spec/channel/slack", json!({"channel_or_user_id": "C1"})),
            "spec.channel",
        ),
        (
            CallKind::HumanContact,
            with(
                human_contact(),
                "/spec/channel",
                json!({"slack": {"channel_or_user_id": "#ops"}}),
            ),
            "spec.channel.slack.channel_or_user_id",
        ),
        (
            CallKind::HumanContact,
            with(
                human_contact(),
                "/spec/channel",
                json!({"slack": {
                "channel_or_user_id": "", "allowed_responder_ids": []}}),
            ),
            "spec.channel.slack.allowed_responder_ids",
        ),
        (
            CallKind::HumanContact,
            with(human_contact(), "/spec/channel", json!({"sms": {"phone_number": "030 123"}})),
            "spec.channel.sms.phone_number",
        ),
        (CallKind::HumanContact, with(human_contact(), "/spec/msg", json!("")), "spec.msg"),
        (CallKind::HumanContact, with(human_contact(), "/spec/subject", json!(7)), "spec.subject"),
        (
            CallKind::HumanContact,
            with(human_contact(), "/spec/response_options", json!({"name": "a"})),
            "spec.response_options",
        ),
    ] {
        let error = parse(kind, &body).unwrap_err();
        assert_eq!((error.status, error.field_path()), (422, Some(field)), "{body}");
    }
    for bad in ["", "a/b", "a?b", "a#b", "a%b", "a\nb", " a", ".", "..", "a\\b", &"x".repeat(201)] {
        let error =
            parse(CallKind::FunctionCall, &with(call(), "/call_id", json!(bad))).unwrap_err();
        assert_eq!(error.field_path(), Some("call_id"), "{bad:?}");
    }
    for good in ["call-a_B1", "käse 7", "x".repeat(200).as_str(), "a.b:c@d"] {
        let made = parse(CallKind::FunctionCall, &with(call(), "/call_id", json!(good))).unwrap();
        assert_eq!(made.call_id, good);
    }
}

/// A2H-059: what counts is the spec, in whatever order it is written.
#[test]
fn the_same_call_has_the_same_fingerprint() {
    let of = |value| parse(CallKind::FunctionCall, &value).unwrap().fingerprint;
    let call = function_call();
    let mut turned = serde_json::Map::new();
    for (key, value) in call["spec"].as_object().unwrap().iter().rev() {
        turned.insert(key.clone(), value.clone());
    }
    assert_eq!(of(call.clone()), of(with(call.clone(), "/spec", json!(turned))));
    assert_eq!(of(call.clone()), of(with(call.clone(), "/run_id", json!("another"))));
    assert_eq!(of(call.clone()), of(without(call.clone(), "/spec/channel/sms")));
    assert_ne!(of(call.clone()), of(with(call.clone(), "/spec/kwargs/amount", json!(101))));
    assert_ne!(of(call.clone()), of(with(call, "/spec/state", json!(null))));
}

/// A2H-062, A2H-129: whom a channel names.
#[test]
fn a_channel_may_name_somebody() {
    let to = |channel| {
        parse(CallKind::HumanContact, &with(human_contact(), "/spec/channel", channel)).unwrap().to
    };
    assert_eq!(to(json!(null)), CallRecipient::Nobody);
    assert_eq!(to(json!({"slack": {"channel_or_user_id": ""}})), CallRecipient::Nobody);
    assert_eq!(
        to(json!({"email": {"address": "a@example.com"}})),
        CallRecipient::Address("a@example.com".to_owned())
    );
    assert_eq!(to(json!({"human_id": "olga"})), CallRecipient::Human("olga".parse().unwrap()));
}

/// A2H-031, A2H-084: a token is read apart from what is kept, and never prints.
#[test]
fn a_bot_token_is_read_apart() {
    let with_token = |token: Value| {
        let slack = json!({ "channel_or_user_id": "C0123ABC", "bot_token": token });
        let mut body = function_call();
        body["spec"]["channel"] = json!({ "slack": slack });
        parse_function_call(body.to_string().as_bytes())
    };
    let call = with_token(json!("xoxb-hush")).unwrap();
    assert_eq!(call.bot_token.as_ref().unwrap().reveal(), "xoxb-hush");
    assert!(!format!("{call:?}").contains("hush"));
    for none in [Value::Null, json!("")] {
        let without = with_token(none).unwrap();
        assert_eq!(without.bot_token, None);
        assert_eq!(without.fingerprint, call.fingerprint, "who says it changes nothing");
    }
    let long = "x".repeat(501);
    for bad in [json!(7), json!("xoxb hush"), json!("xoxb-\u{e9}"), json!("a\r\nb"), json!(long)] {
        let error = with_token(bad.clone()).unwrap_err();
        assert_eq!(error.field_path().unwrap(), "spec.channel.slack.bot_token", "{bad}");
        assert!(!error.message.contains("hush"), "{}", error.message);
    }
}
