//! What can be named in a call, and whether it is that. A2H-120, A2H-125, A2H-130.

use dialects::a2h::{CallKind, Medium, channels, validate_channel};
use serde_json::{Value, json};

use crate::fixtures::{function_call, made, shown, with};

#[test]
fn media_are_told_with_their_fields() {
    assert_eq!(channels(&[]), json!({"channels": {}}));
    insta::assert_json_snapshot!("channels", channels(&Medium::ALL));
}

#[test]
fn a_channel_is_judged_and_nothing_is_sent() {
    let judge = |value: Value| {
        validate_channel(&serde_json::to_vec(&value).unwrap(), &[Medium::Slack]).unwrap()
    };
    let good = json!({"valid": true, "errors": [], "configured": true});
    assert_eq!(judge(json!({"slack": {"channelOrUserId": "C0123"}})), good);
    assert_eq!(judge(json!({"slack": {"channel_or_user_id": "C0123"}, "email": null})), good);
    assert_eq!(judge(json!({"email": {"address": "a@example.com"}}))["configured"], false);
    assert_eq!(judge(json!({"human_id": "olga"}))["valid"], true);
    for (wrong, field) in [
        (json!({}), ""),
        (json!({"slack": {"channelOrUserId": "@ann"}}), "slack.channel_or_user_id"),
        (json!({"email": {}}), "email.address"),
        (json!({"whatsapp": {"phoneNumber": "1"}}), "whatsapp.phone_number"),
    ] {
        let told = judge(wrong.clone());
        assert_eq!((&told["valid"], &told["errors"][0]["field"]), (&json!(false), &json!(field)));
        assert!(!told["errors"][0]["message"].as_str().unwrap().is_empty(), "{wrong}");
    }
    assert!(validate_channel(b"[]", &[]).is_err());
}

/// A2H-094: what only notes of a design speak of is like any key nobody knows.
#[test]
fn composite_channels_are_read_over() {
    for composite in [
        json!({ "all_of": [{ "slack": { "channel_or_user_id": "C0123" } }] }),
        json!({ "any_of": [{ "timeout": 60, "channel": { "sms": { "phone_number": "1" } } }] }),
    ] {
        let (cast, id) =
            made(CallKind::FunctionCall, &with(function_call(), "/spec/channel", composite));
        let shown = shown(cast.seen(id));
        assert_eq!(shown["spec"].get("channel"), None, "{shown}");
    }
}
