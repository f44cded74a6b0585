//! What can be named in a call, and whether it is that. A2H-120, A2H-125, A2H-130.

use dialects::a2h::{Medium, channels, validated};
use serde_json::{Value, json};

#[test]
fn media_are_told_with_their_fields() {
    assert_eq!(channels(&[]), json!({"channels": {}}));
    insta::assert_json_snapshot!("channels", channels(&Medium::ALL));
}

#[test]
fn a_channel_is_judged_and_nothing_is_sent() {
    let judge =
        |value: Value| validated(&serde_json::to_vec(&value).unwrap(), &[Medium::Slack]).unwrap();
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
    assert!(validated(b"[]", &[]).is_err());
}
