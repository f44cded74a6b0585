//! What browsers post, as replies: every kind, there and back.

use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use scraper::Html;
use serde_json::json;
use views::answer_form::problem::ProblemLocation;
use views::answer_form::submitted::reply;
use views::answer_form::{AnswerForm, AnswerFormContext, CLOSE};
use views::{FormProblems, SubmittedForm};

use crate::every_page::all;
use crate::fixture::{map, question, say};
use crate::samples::{filled, form, kinds, options, pages, pairs};

type FormPairs<'a> = &'a [(&'a str, &'a str)];

fn kind(name: &str) -> Question {
    kinds().into_iter().find(|(kind, ..)| *kind == name).unwrap().1
}

fn places(problem: &FormProblems) -> Vec<Option<String>> {
    problem.problems.iter().map(|problem| problem.place.id()).collect()
}

#[test]
fn each_button_makes_its_answer() {
    let table: [(&str, FormPairs<'_>, Answer); 11] = [
        ("approve", &[("action", "approve")], Answer::Approved { edits: None }),
        ("approve", &[("action", "reject")], Answer::REJECTED),
        ("choose", &[("choose", "hotfix")], Answer::Chosen { options: vec!["hotfix".into()] }),
        (
            "choose-long",
            &[("action", "choose"), ("option", "us-east-1")],
            Answer::Chosen { options: vec!["us-east-1".into()] },
        ),
        (
            "choose-many",
            &[("option", "Sales"), ("option", "Design"), ("action", "choose")],
            Answer::Chosen { options: vec!["Design".into(), "Sales".into()] },
        ),
        (
            "confirm",
            &[("action", "confirm")],
            Answer::Confirmed { items: vec!["1".into(), "Rotate the deploy key".into()] },
        ),
        ("confirm", &[("action", "decline")], Answer::Declined),
        (
            "escalate",
            &[("action", "retry"), ("params.0", "60"), ("params.1", "3")],
            Answer::Retry { params: map(json!({"timeout": 60})) },
        ),
        ("escalate", &[("action", "skip"), ("params.0", "oops")], Answer::Skip),
        ("escalate", &[("action", "abort")], Answer::Abort),
        (
            "converse",
            &[("action", "reply"), ("reply", "a\r\nb")],
            Answer::Replied { text: "a\nb".into() },
        ),
    ];
    for (name, sent, answer) in table {
        assert_eq!(reply(&kind(name), &pairs(sent)), Ok(say(answer)), "{name} {sent:?}");
    }
}

/// Every button on every open page, pressed as it stands, names an action its question knows.
#[test]
fn every_button_on_a_page_is_understood() {
    for (name, question, _) in kinds() {
        let pages = pages();
        let html = &pages.iter().find(|(page, _)| *page == format!("{name}-open")).unwrap().1;
        let page = Html::parse_document(html);
        let buttons = all(&page, "form.answer button:not([disabled])");
        // A message is answered with a reply, and nothing else.
        let least = if name == "converse" { 1 } else { 2 };
        assert!(buttons.len() >= least, "{name}");
        for button in buttons {
            let pressed = (button.attr("name").unwrap(), button.attr("value").unwrap());
            if pressed == ("action", CLOSE) {
                // It withdraws the request, which is no answer.
                continue;
            }
            let made =
                reply(&question, &pairs(&[pressed, ("comment", "because"), ("reply", "hi")]));
            let unfit = |problem: &FormProblems| places(problem).contains(&None);
            assert!(!made.as_ref().is_err_and(unfit), "{name} {pressed:?}: {made:?}");
        }
    }
}

#[test]
fn forms_come_back_typed() {
    let question = question("x", QuestionBody::Provide { form: form() });
    let made = reply(&question, &filled()).unwrap();
    let Answer::Provided { values } = &made.answer else { panic!() };
    let expected = json!({
        "name": "Ann", "notes": "a\nb", "weight": 2.5, "when": "2026-03-01", "mail": "ann@example.com",
        "insured": false, "service": "exp", "extras": ["cold", "sig"], "mood": 4, "pin": "hunter2",
        "scan": {"sha256": "ab".repeat(32), "name": "label.png", "size": 1204, "media_type": "image/png"},
        "colour": "teal",
    });
    assert_eq!(serde_json::Value::Object(values.as_map().clone()), expected);
    assert!(question.check(made).is_ok());
}

/// Only an approval takes a request for changes, with a comment; on any other question the button
/// is not there, and what pretends to be it is refused.
#[test]
fn changes_are_requested_of_approvals_only_and_need_a_comment() {
    for (name, question, _) in kinds() {
        let sent = |comment| pairs(&[("action", "changes"), ("comment", comment)]);
        let desk = AnswerFormContext {
            href: String::new(),
            proof: ("csrf", String::new()),
            keep: String::new(),
            link: None,
        };
        let offered = AnswerForm::new(&question, false, None, desk);
        let offered = offered.minor.iter().any(|button| button.value == "changes");
        let approval = matches!(question.body(), QuestionBody::Approve { .. });
        assert_eq!(offered, approval, "{name}");
        if !approval {
            let refused = reply(&question, &sent("smaller")).unwrap_err();
            assert_eq!(places(&refused), [None], "{name}");
            continue;
        }
        let silent = reply(&question, &sent(" ")).unwrap_err();
        assert_eq!(places(&silent), [Some("comment".to_owned())], "{name}");
        let made = reply(&question, &sent("smaller\r\nplease"));
        let comment = Some("smaller\nplease".to_owned());
        assert_eq!(made, Ok(Reply { answer: Answer::CHANGES, comment }), "{name}");
    }
}

/// HITL-140: edits count only when something was edited; an agent that cannot take them gets them
/// as a wish, and is never told that the unedited was approved.
#[test]
fn edits_count_only_when_something_was_edited_and_the_agent_can_take_it() {
    let edited = |name: &str, action: &str, to: &str| {
        reply(&kind(name), &pairs(&[("edits.0", to), ("action", action)]))
    };
    let to = "team@example.com";
    assert_eq!(edited("edit", "approve", to), Ok(say(Answer::Approved { edits: None })));
    let Answer::Approved { edits: Some(edits) } =
        edited("edit", "approve", "me@example.com").unwrap().answer
    else {
        panic!()
    };
    assert_eq!((&edits["to"], edits.len()), (&json!("me@example.com"), 3));
    let wish = edited("edit", "changes", "me@example.com").unwrap();
    let edits = Some(map(json!({"to": "me@example.com"})));
    assert_eq!(wish.answer, Answer::ChangesRequested { edits });

    let wish = edited("approve", "changes", "900").unwrap();
    let edits = Some(map(json!({"amount": 900})));
    assert_eq!(wish.answer, Answer::ChangesRequested { edits });
    assert_eq!(edited("approve", "approve", "1250.5"), Ok(say(Answer::Approved { edits: None })));
    let refused = edited("approve", "approve", "900").unwrap_err();
    assert_eq!(places(&refused), [Some("edits".to_owned())]);
}

#[test]
fn what_does_not_answer_is_a_problem_with_a_place() {
    for (name, sent, place) in [
        ("approve", pairs(&[]), None),
        ("approve", pairs(&[("action", "abort")]), None),
        ("edit", pairs(&[("action", "reject")]), Some("comment")),
        ("choose", pairs(&[("choose", "nope")]), Some("options")),
        ("choose-many", pairs(&[("action", "choose")]), Some("options")),
        ("converse", pairs(&[("action", "reply"), ("reply", " ")]), Some("reply")),
        ("escalate", pairs(&[("action", "retry"), ("params.1", "x")]), Some("params-1")),
    ] {
        let problem = reply(&kind(name), &sent).unwrap_err();
        assert_eq!(places(&problem), [place.map(str::to_owned)], "{name}");
    }
    let refusal = kernel::Refusal::from(kernel::question::AnswerError::ReasonRequired);
    let problem = FormProblems::of_refusal(&refusal, &kind("approve")).unwrap();
    assert_eq!(problem.problems[0].place, ProblemLocation::Comment);
    assert!(FormProblems::of_refusal(&kernel::Refusal::NotDue, &kind("approve")).is_none());
}

/// Browsers rewrite line breaks in values, so ids with line breaks still find their option.
#[test]
fn odd_option_ids_come_back() {
    let choices = vec![Choice::plain("a\rb\nc"), Choice::plain("\"<&'")];
    let body = QuestionBody::Choose {
        options: Options::new(choices).unwrap(),
        pick: PickMode::One,
        suggested: None,
    };
    let question = question("Which?", body);
    for (sent, id) in [("a\r\nb\r\nc", "a\rb\nc"), ("\"<&'", "\"<&'")] {
        let made = reply(&question, &pairs(&[("choose", sent)])).unwrap();
        assert_eq!(made.answer, Answer::Chosen { options: vec![id.to_owned()] });
    }
    let two =
        SubmittedForm::new(vec![("choose".into(), "a".into()), ("choose".into(), "b".into())]);
    assert!(
        reply(&crate::fixture::question("x", options(&["a", "b"], PickMode::One)), &two).is_err()
    );
}

/// A2H-086: each reason the agent offers is a button, and others can still be put in words.
#[test]
fn a_reason_for_a_rejection_is_a_button() {
    let later = Choice {
        id: "later".to_owned(),
        label: "Not now".to_owned(),
        description: Some("Sends “try tomorrow”".to_owned()),
    };
    let body = QuestionBody::Approve {
        details: serde_json::Map::new(),
        editable: false.into(),
        reject_requires_reason: true,
        reject_options: vec![later, Choice::plain("never")],
    };
    let question = Question::new("pay", None, body).unwrap();
    let sent = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        reply(&question, &SubmittedForm::new(pairs))
    };
    let picked = |option: &str| Answer::Rejected { option: Some(option.to_owned()) };
    assert_eq!(sent(&[("reject", "later")]).unwrap().answer, picked("later"));
    let worded = sent(&[("action", "reject"), ("comment", "too dear")]).unwrap();
    assert_eq!((worded.answer, worded.comment.as_deref()), (Answer::REJECTED, Some("too dear")));
    assert!(sent(&[("reject", "odd")]).is_err());
    assert!(sent(&[("action", "reject")]).is_err(), "a reason is wanted");
    let desk = AnswerFormContext::link("review_x", "token", 0);
    let card = AnswerForm::new(&question, false, None, desk);
    let buttons: Vec<_> =
        card.buttons.iter().map(|b| (b.name, b.value.as_str(), b.verb.as_str())).collect();
    assert_eq!(
        buttons,
        [
            ("action", "approve", "Approve:"),
            ("reject", "later", "Reject:"),
            ("reject", "never", "Reject:"),
            ("action", "reject", "Reject this request"),
        ]
    );
}
