//! What comes back in every state, in exact keys.

use dialects::a2h::{self, CallContext, CallKind};
use kernel::command::{AskCommand, NewAsk};
use kernel::question::Choice;
use kernel::question::{Answer, Options, PickMode, Question, QuestionBody, Reply};
use kernel::task::{CheckpointKind, ResolutionAction};
use kernel::testing::{Cast, new_ask, new_task, raising, resolution, sent_back};
use kernel::{Actor, Ask, Refusal};
use serde_json::{Map, Value, json};

use crate::fixtures::{
    function_call, human_contact, made, parse, relay, say, shown, with, without,
};

fn status(ask: &Ask) -> Value {
    let mut status = shown(ask)["status"].clone();
    status.as_object_mut().unwrap().remove("ask_id");
    status
}

/// A2H-023, A2H-026, A2H-036, A2H-037, A2H-039, A2H-054, A2H-063.
#[test]
fn answered_calls() {
    let option = |name: &str| Answer::Rejected { option: Some(name.to_owned()) };
    for (name, answer, comment) in [
        ("approved", Answer::Approved { edits: None }, Some("fine")),
        ("approved_in_silence", Answer::Approved { edits: None }, None),
        ("denied", Answer::REJECTED, Some("too dear")),
        ("denied_in_silence", Answer::REJECTED, None),
        ("denied_for_a_reason", option("later"), None),
        ("denied_for_a_reason_and_more", option("later"), Some("or never")),
        ("denied_in_own_words", option("never"), Some("over my dead body")),
        ("denied_by_name", option("never"), None),
        ("changes_requested", Answer::CHANGES, Some("half of it")),
    ] {
        let (mut cast, id) = made(CallKind::FunctionCall, &function_call());
        cast.advance(61);
        say(&mut cast, id, answer, comment);
        insta::assert_json_snapshot!(format!("call_{name}"), status(cast.seen(id)));
    }
    let (mut cast, id) = made(CallKind::FunctionCall, &function_call());
    let said =
        json!({"approved": true, "comment": null, "user_info": {"name": "Ann", "role": "CFO"}});
    relay(&mut cast, id, &said).unwrap();
    insta::assert_json_snapshot!("call_relayed", status(cast.seen(id)));
}

/// A2H-055, A2H-086: what a person pressed, and what they wrote.
#[test]
fn answered_contacts() {
    let options = json!([
        {"name": "a", "title": "First", "prompt_fill": "take the first"},
        {"name": "b", "interactive": true, "prompt_fill": "take the second"},
    ]);
    let offered = with(human_contact(), "/spec/response_options", options);
    let one =
        with(human_contact(), "/spec/response_options", json!([{"name": "ok", "title": "Fine"}]));
    let chosen = |id: &str| Answer::Chosen { options: vec![id.to_owned()] };
    for (name, body, answer, comment) in [
        ("replied", human_contact(), Answer::Replied { text: "turn it off".to_owned() }, None),
        ("pressed", offered.clone(), chosen("a"), None),
        ("pressed_and_more", offered.clone(), chosen("a"), Some("and hurry")),
        ("pressed_in_own_words", offered, chosen("b"), Some("the second, but smaller")),
        ("pressed_the_only_one", one.clone(), chosen("ok"), None),
        ("none_of_them", one, chosen("none_of_these"), Some("wait a day")),
    ] {
        let (mut cast, id) = made(CallKind::HumanContact, &body);
        say(&mut cast, id, answer, comment);
        insta::assert_json_snapshot!(format!("contact_{name}"), status(cast.seen(id)));
    }
}

/// A request for changes of what is no approval is refused; a record of before that says what it
/// was.
#[test]
fn a_contact_takes_no_request_for_changes() {
    let (mut cast, id) = made(CallKind::HumanContact, &human_contact());
    let changes = Reply { answer: Answer::CHANGES, comment: Some("say it shorter".to_owned()) };
    let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, Box::new(changes)));
    assert!(matches!(refused, Err(Refusal::Answer(_))), "{refused:?}");
    let before = sent_back(cast.seen(id), "say it shorter");
    insta::assert_json_snapshot!("contact_changes", status(&before));
}

/// What a principal decides over HACP without answering the question is told as that decision, not
/// as something nobody decided. A record of before it was kept says that a person cancelled it.
#[test]
fn what_was_decided_over_hacp_is_told() {
    let told = |kind: CheckpointKind, action: ResolutionAction, comment: Option<&str>| {
        let mut cast = Cast::staffed();
        let task = cast.begun(new_task());
        let ask = cast.raised(task, raising(kind));
        let mut new = resolution(action);
        new.details.comment = comment.map(ToOwned::to_owned);
        cast.resolve("olga", ask, new).unwrap();
        status(cast.seen(ask))
    };
    for (kind, action, comment, outcome, response) in [
        (
            CheckpointKind::Choice,
            ResolutionAction::Reject,
            Some("never"),
            "answered",
            "Denied: never",
        ),
        (
            CheckpointKind::Input,
            ResolutionAction::Reject,
            None,
            "answered",
            "Denied without a comment.",
        ),
        (CheckpointKind::Choice, ResolutionAction::Provide, None, "answered", "like this"),
        (
            CheckpointKind::Escalation,
            ResolutionAction::Provide,
            Some("x"),
            "answered",
            "like this\n\nx",
        ),
        (
            CheckpointKind::Input,
            ResolutionAction::Reassign,
            None,
            "cancelled",
            "Reassigned: Handed to bob.",
        ),
    ] {
        let told = told(kind, action, comment);
        let said = (told["response"].as_str(), told["outcome"].as_str());
        assert_eq!(said, (Some(response), Some(outcome)), "{kind:?} {action:?}");
    }
    let denied = told(CheckpointKind::Approval, ResolutionAction::Reject, Some("never"));
    assert_eq!((&denied["approved"], &denied["comment"]), (&json!(false), &json!("never")));

    let mut cast = Cast::staffed();
    let task = cast.begun(new_task());
    let ask = cast.raised(task, raising(CheckpointKind::Choice));
    cast.resolve("olga", ask, resolution(ResolutionAction::Reject)).unwrap();
    let mut before = serde_json::to_value(cast.seen(ask)).unwrap();
    before["state"]["ending"].as_object_mut().unwrap().remove("decided").unwrap();
    let before: Ask = serde_json::from_value(before).unwrap();
    let told = status(&before)["response"].as_str().unwrap().to_owned();
    assert!(told.starts_with("A person cancelled this request") && !told.contains("Nobody"));
}

/// A2H-061: nobody answered, and the SDKs stop asking; `outcome` says what it was.
#[test]
fn what_nobody_answered_ends_their_polling() {
    for (kind, body) in
        [(CallKind::FunctionCall, function_call()), (CallKind::HumanContact, human_contact())]
    {
        let name = kind.as_str();
        let mut cast = Cast::new();
        let timed = NewAsk { timeout: Some(60), ..parse(kind, &body).unwrap().ask };
        let id = cast.ask(timed);
        cast.advance(60);
        cast.run(Actor::System, AskCommand::Expire(id));
        insta::assert_json_snapshot!(format!("{name}_expired"), status(cast.seen(id)));
        let (mut cast, id) = made(kind, &body);
        cast.run(cast.agent("bot"), AskCommand::Cancel(id, Some("moot".to_owned())));
        insta::assert_json_snapshot!(format!("{name}_cancelled"), status(cast.seen(id)));
        // Without a deadline of the operator's nothing ever runs out.
        let (cast, id) = made(kind, &body);
        assert_eq!(cast.seen(id).expires_at, None);
    }
}

/// A2H-037: what some clients refuse is not there, in any state.
#[test]
fn only_known_keys() {
    let keys = |value: &Value| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let (mut cast, id) = made(CallKind::FunctionCall, &function_call());
    say(&mut cast, id, Answer::REJECTED, None);
    let call = shown(cast.seen(id));
    assert_eq!(keys(&call), ["call_id", "run_id", "spec", "status"]);
    assert_eq!(keys(&call["spec"]), ["channel", "fn", "kwargs", "reject_options", "state"]);
    assert_eq!(
        keys(&call["spec"]["channel"]["email"]),
        [
            "additional_recipients",
            "address",
            "context_about_user",
            "experimental_in_reply_to_message_id",
            "experimental_subject_line",
        ]
    );
    for option in call["spec"]["reject_options"].as_array().unwrap() {
        assert!(option["interactive"].is_boolean(), "{option}");
        let known = ["description", "interactive", "name", "prompt_fill", "title"];
        assert!(keys(option).iter().all(|key| known.contains(&key.as_str())), "{option}");
    }
}

/// An approval of something else than was asked is no approval: the agent would run what it asked
/// for.
#[test]
fn an_edited_approval_is_a_no() {
    let mut cast = Cast::new();
    let details = Map::from_iter([("amount".to_owned(), json!(100))]);
    let body = QuestionBody::Approve {
        details,
        editable: true.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let question = Question::new("Refund?", None, body).unwrap();
    let id = cast.ask(NewAsk { question, ..new_ask() });
    let edits = Map::from_iter([("amount".to_owned(), json!(50))]);
    say(&mut cast, id, Answer::Approved { edits: Some(edits) }, None);
    let shown = shown(cast.seen(id));
    assert_eq!(shown["status"]["approved"], false);
    assert!(shown["status"]["comment"].as_str().unwrap().contains("\"amount\":50"));
    assert_eq!(shown["run_id"], "bot");
    assert_eq!(shown["call_id"], shown["status"]["ask_id"]);
}

/// Asked elsewhere, watched here: every question is one of the two, and has an answer of its kind.
#[test]
fn questions_of_other_dialects() {
    let choices = ["x", "y"].map(|id| Choice { label: id.to_uppercase(), ..Choice::plain(id) });
    let options = Options::new(choices.to_vec()).unwrap();
    let choose = |pick| QuestionBody::Choose { options: options.clone(), pick, suggested: None };
    let one = || vec![Choice::plain("m")];
    let confirm =
        || QuestionBody::Confirm { items: one(), yes: "Go".to_owned(), no: "Stop".to_owned() };
    let escalate = || QuestionBody::Escalate { error: Map::new(), params: Map::new() };
    let chosen =
        |ids: &[&str]| Answer::Chosen { options: ids.iter().map(ToString::to_string).collect() };
    for (body, answer, key, expected, option) in [
        (choose(PickMode::One), chosen(&["y"]), "response", json!("Y"), json!("y")),
        (
            choose(PickMode::Many),
            chosen(&["x", "y"]),
            "response",
            json!("[\"x\",\"y\"]"),
            Value::Null,
        ),
        (
            confirm(),
            Answer::Confirmed { items: vec!["m".to_owned()] },
            "approved",
            json!(true),
            Value::Null,
        ),
        (confirm(), Answer::Confirmed { items: vec![] }, "approved", json!(false), Value::Null),
        (confirm(), Answer::Declined, "approved", json!(false), Value::Null),
        (escalate(), Answer::Skip, "response", json!("skip"), json!("skip")),
        (
            QuestionBody::Converse,
            Answer::Replied { text: "so".to_owned() },
            "response",
            json!("so"),
            Value::Null,
        ),
    ] {
        let mut cast = Cast::new();
        let question = Question::new("Well?", None, body.clone()).unwrap();
        let id = cast.ask(NewAsk { question, ..new_ask() });
        assert_eq!(shown(cast.seen(id))["status"].get(key), None, "{body:?}");
        say(&mut cast, id, answer, None);
        let status = shown(cast.seen(id))["status"].clone();
        assert_eq!(status[key], expected, "{body:?}");
        assert_eq!(status["response_option_name"], option, "{body:?}");
    }
}

#[test]
fn what_was_erased_is_not_shown() {
    let (mut cast, id) = made(CallKind::FunctionCall, &without(function_call(), "/spec/state"));
    say(&mut cast, id, Answer::REJECTED, None);
    cast.run(Actor::System, AskCommand::Erase(id));
    assert_eq!(a2h::call(cast.seen(id), CallContext::default()), None);
}
