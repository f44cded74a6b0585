//! People as agents and administrators see them. A2H-007, A2H-121, A2H-123, A2H-124, A2H-130.

use dialects::a2h::{human, humans, parse_human};
use kernel::Actor;
use kernel::command::DirectoryCommand;
use kernel::directory::{Contact, NewHuman, Profile, ProfileSettings};
use kernel::testing::{Cast, human as named};
use serde_json::{Value, json};

fn seed() -> Value {
    json!({
        "name": "John Doe",
        "description": "John Doe is a human who knows about sales and marketing",
        "prioritizedContactChannels": [
            {"slack": {"channelOrUserId": "U1234567890"}},
            {"email": {"address": "john.doe@example.com", "contextAboutUser": "at work"}},
            {"sms": {"phone_number": "+4930123456"}},
        ],
    })
}

#[test]
fn agents_never_learn_how_to_reach_anybody() {
    let read = parse_human(&serde_json::to_vec(&seed()).unwrap()).unwrap();
    let mut cast = Cast::new();
    let about = ProfileSettings { description: read.description, ..ProfileSettings::default() };
    let profile = Profile {
        name: read.name,
        email: Some("john@example.com".to_owned()),
        about: Some(about),
        contacts: Some(read.contacts),
        ..Profile::default()
    };
    let (groups, skills) = Default::default();
    let projects = ["acme".parse().unwrap()].into();
    let id = named("john");
    let new = NewHuman { id, profile, admin: false, active: true, projects, groups, skills };
    cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
    let john = cast.directory().human(&named("john")).unwrap();
    insta::assert_json_snapshot!("human_for_an_agent", humans([john], false));
    insta::assert_json_snapshot!("human_for_an_administrator", human(john, true));
    let told = human(john, false).to_string();
    for secret in ["U1234567890", "example.com", "+4930"] {
        assert!(!told.contains(secret), "{told}");
    }
    let bare = cast.directory().human(&named("olga")).unwrap();
    assert_eq!(human(bare, false), json!({"id": "olga", "name": "olga", "description": ""}));
}

#[test]
fn mistakes_are_named() {
    let with = |key: &str, value: Value| {
        let mut body = seed();
        body[key] = value;
        body
    };
    for (body, field) in [
        (with("name", json!("")), "name"),
        (with("description", json!(7)), "description"),
        (with("prioritizedContactChannels", json!({})), "prioritizedContactChannels"),
        (with("prioritizedContactChannels", json!([{}])), "prioritizedContactChannels[0]"),
        (
            with("prioritizedContactChannels", json!([{"email": {"address": "x"}}])),
            "prioritizedContactChannels[0].email.address",
        ),
        (with("projects", json!(["no name!"])), "projects"),
    ] {
        let error = parse_human(&serde_json::to_vec(&body).unwrap()).unwrap_err();
        assert_eq!((error.status, error.field_path()), (422, Some(field)), "{body}");
    }
    let snake = json!({"name": "A", "prioritized_contact_channels": [{"email": {"address": "a@example.com"}}]});
    let read = parse_human(&serde_json::to_vec(&snake).unwrap()).unwrap();
    let mail = Contact::Email { address: "a@example.com".to_owned(), context: None };
    assert_eq!((read.contacts, read.projects), (vec![mail], None));
}
