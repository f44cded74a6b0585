//! `NewConversation`, and the `channel_id` that goes on with one. A2H-131, A2H-132, A2H-133.

use dialects::a2h::{A2hWireError, CallKind, contact_channel, new_conversation, parse_message};
use kernel::command::AskCommand;
use kernel::testing::{Cast, new_ask};
use kernel::{Actor, Refusal};
use serde_json::{Value, json};

use crate::fixtures::{bytes, function_call, human_contact, parse, with};

#[test]
fn what_a_person_wrote() {
    let mut cast = Cast::new();
    let id = cast.write("mark", "bot", "Please refund order 7");
    let told = new_conversation(cast.seen(id)).unwrap();
    insta::assert_json_snapshot!("new_conversation", told);
    let reply = cast.reply(id, new_ask());
    assert!(new_conversation(cast.seen(id)).unwrap().status.replied);
    assert!(new_conversation(cast.seen(reply)).is_none(), "a reply begins nothing");
    let plain = cast.ask(new_ask());
    assert!(new_conversation(cast.seen(plain)).is_none());
    cast.run(Actor::System, AskCommand::Erase(id));
    assert!(new_conversation(cast.seen(id)).is_none(), "nothing is left to say");
}

/// A2H-050: a conversation is a channel, which as the channel of a call leads back to it.
#[test]
fn a_conversation_is_a_channel() {
    let mut cast = Cast::new();
    let id = cast.write("mark", "bot", "hi");
    let channel = json!(contact_channel(cast.seen(id)).unwrap());
    let expected = json!({"id": id, "channel_id": id, "agent_name": "bot", "source": "api"});
    assert_eq!(channel, expected);
    let call = with(human_contact(), "/spec/channel", channel.clone());
    assert_eq!(parse(CallKind::HumanContact, &call).unwrap().conversation, Some(id));
    let reply = cast.reply(id, new_ask());
    assert_eq!(contact_channel(cast.seen(reply)), None);
    cast.run(Actor::System, AskCommand::Erase(id));
    assert_eq!(json!(contact_channel(cast.seen(id))), channel, "the agent can go on");
}

fn message(spec: &Value) -> Vec<u8> {
    let mut spec = spec.clone();
    spec["message"] = json!("Which amount?");
    bytes(&json!({"apiVersion": "proto.a2h.dev/v1alpha1", "kind": "Message", "spec": spec}))
}

/// Every way an agent may name the conversation it goes on with.
#[test]
fn a_channel_id_names_a_conversation() {
    let id = Cast::new().write("mark", "bot", "hi");
    let channel = json!({"channel_id": id.to_string()});
    for spec in [json!({"channel_id": id.to_string()}), json!({"channel": channel})] {
        assert_eq!(parse_message(&message(&spec)).unwrap().conversation, Some(id), "{spec}");
    }
    for (kind, body) in
        [(CallKind::FunctionCall, function_call()), (CallKind::HumanContact, human_contact())]
    {
        assert_eq!(parse(kind, &body).unwrap().conversation, None);
        let body = with(body, "/spec/channel", channel.clone());
        let call = parse(kind, &body).unwrap();
        assert_eq!(call.conversation, Some(id));
        let kept = &call.ask.metadata["a2h"]["channel"];
        assert_eq!(*kept, channel, "it comes back as it was sent");
    }
    assert_eq!(parse_message(&message(&json!({"channel_id": null}))).unwrap().conversation, None);
}

#[test]
fn what_names_no_conversation_is_said() {
    let unknown = A2hWireError::no_conversation();
    assert_eq!((unknown.status, unknown.code), (404, "not_found"));
    for odd in [json!(42), json!("42"), json!(""), json!("ask_"), json!("C0123ABC")] {
        let refused = parse_message(&message(&json!({"channel_id": odd}))).unwrap_err();
        assert_eq!(refused, unknown, "{odd}");
        let body = with(human_contact(), "/spec/channel", json!({"channel_id": odd}));
        assert_eq!(parse(CallKind::HumanContact, &body).unwrap_err(), unknown, "{odd}");
    }
    for odd in [json!([]), json!({"id": 1}), json!(true)] {
        let refused = parse_message(&message(&json!({"channel_id": odd}))).unwrap_err();
        assert_eq!((refused.status, refused.field_path()), (422, Some("spec.channel_id")));
        let body = with(human_contact(), "/spec/channel", json!({"channel_id": odd}));
        let refused = parse(CallKind::HumanContact, &body).unwrap_err();
        assert_eq!((refused.status, refused.field_path()), (422, Some("spec.channel.channel_id")));
    }
    let foreign = A2hWireError::refused(&Refusal::NotFound { what: "conversation" });
    assert_eq!(foreign, unknown, "a foreign one is as unknown");
}
