//! Random scripts: who does what to which ask, and how the clock jumps meanwhile.

use kernel::ask::{DefaultAction, Priority, Route};
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::testing::human;
use proptest::prelude::*;
use proptest::string::string_regex;
use serde_json::{Map, Value, json};

/// One turn of a play.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// How far the clock jumps first, in milliseconds; backwards too.
    pub jump: i64,
    /// Whoever is suited to the wish, or somebody at random.
    pub actor: Option<usize>,
    pub wish: Wish,
}

#[derive(Debug, Clone)]
pub(crate) enum Wish {
    Ask(Box<Plan>),
    /// Something about the n-th ask there is.
    Do(usize, Verb),
    /// Somebody leaves or comes back.
    Activate(usize, bool),
    /// Olga hands asks with the tag to somebody.
    Delegate(usize),
}

/// An ask whose times and predecessor are relative to the moment it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub question: Question,
    pub metadata: Map<String, Value>,
    pub tagged: bool,
    pub priority: Priority,
    pub route: Route,
    pub timeout: Option<u64>,
    pub silence: Quiet,
    pub reminders: Vec<u64>,
    pub follows: Option<usize>,
    /// Whether it has tokens, answers that may be passed on, and an address to call back.
    pub open_to_links: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Quiet {
    StayOpen,
    Fail,
    Answer,
    Report(DefaultAction),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Verb {
    Open,
    Progress,
    Claim,
    Assign(usize, bool),
    Answer(u8),
    /// The same on a page, where it can be undone.
    Hold(u8),
    Undo,
    Cancel(bool),
    Expire,
    Remind,
    Escalate,
    /// Whatever is due, as the timer would do it.
    Tick,
    Extend(u64),
    /// Whoever holds the link answers.
    ByLink(u8),
    /// The agent passes an answer on.
    Relay(u8),
    Grant,
    CallBack,
    NoteCallback,
    Comment,
    Pick(usize),
    Revoke,
    Erase,
}

pub(crate) fn any_script() -> impl Strategy<Value = Vec<Turn>> {
    prop::collection::vec(any_turn(), 1..40)
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let jump = prop_oneof![
        5 => Just(0),
        4 => 1..20_000_i64,
        2 => 20_000..90_000_i64,
        2 => -60_000..0_i64,
    ];
    let actor = prop::option::weighted(0.4, 0..100_usize);
    let wish = prop_oneof![
        4 => any_plan().prop_map(|plan| Wish::Ask(Box::new(plan))),
        16 => (0..100_usize, any_verb()).prop_map(|(ask, verb)| Wish::Do(ask, verb)),
        1 => (0..100_usize, any::<bool>()).prop_map(|(who, active)| Wish::Activate(who, active)),
        1 => (0..100_usize).prop_map(Wish::Delegate),
    ];
    (jump, actor, wish).prop_map(|(jump, actor, wish)| Turn { jump, actor, wish })
}

fn any_verb() -> impl Strategy<Value = Verb> {
    prop_oneof![
        2 => Just(Verb::Open),
        2 => Just(Verb::Progress),
        2 => Just(Verb::Claim),
        2 => (0..100_usize, any::<bool>()).prop_map(|(to, noted)| Verb::Assign(to, noted)),
        3 => any::<u8>().prop_map(Verb::Answer),
        4 => any::<u8>().prop_map(Verb::Hold),
        2 => Just(Verb::Undo),
        1 => any::<bool>().prop_map(Verb::Cancel),
        1 => Just(Verb::Expire),
        1 => Just(Verb::Remind),
        1 => Just(Verb::Escalate),
        3 => Just(Verb::Tick),
        2 => (0..120_u64).prop_map(Verb::Extend),
        2 => any::<u8>().prop_map(Verb::ByLink),
        2 => any::<u8>().prop_map(Verb::Relay),
        1 => Just(Verb::Grant),
        1 => Just(Verb::CallBack),
        1 => Just(Verb::NoteCallback),
        2 => Just(Verb::Comment),
        2 => (0..3_usize).prop_map(Verb::Pick),
        1 => Just(Verb::Revoke),
        2 => Just(Verb::Erase),
    ]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let action = prop::sample::select(vec![
        DefaultAction::Skip,
        DefaultAction::Approve,
        DefaultAction::Reject,
        DefaultAction::Abort,
    ]);
    let silence = prop_oneof![
        Just(Quiet::StayOpen),
        Just(Quiet::Fail),
        Just(Quiet::Answer),
        action.prop_map(Quiet::Report),
    ];
    let route = prop_oneof![
        2 => Just(Route::Owner),
        1 => Just(Route::Delegate),
        2 => Just(Route::Pool { group: None }),
        1 => Just(Route::Pool { group: "legal".parse().ok() }),
        1 => prop::sample::select(vec!["mark", "nina", "zoe"])
            .prop_map(|name| Route::Person { human: human(name) }),
    ];
    let when = (
        prop::option::weighted(0.8, 0..60_u64),
        silence,
        prop::collection::vec(0..90_u64, 0..4),
        prop::option::weighted(0.3, 0..100_usize),
    );
    let priority = prop::sample::select(Priority::ALL.to_vec());
    let flags = (any::<bool>(), any::<bool>());
    (any_question(), any_object(), flags, priority, route, when).prop_map(
        |(question, metadata, (tagged, open_to_links), priority, route, when)| {
            let (timeout, silence, reminders, follows) = when;
            Plan {
                question,
                metadata,
                tagged,
                priority,
                route,
                timeout,
                silence,
                reminders,
                follows,
                open_to_links,
            }
        },
    )
}

fn any_question() -> impl Strategy<Value = Question> {
    let choice = |id: &str| Choice::plain(id.to_owned());
    let body = prop_oneof![
        2 => (any_object(), any::<bool>(), any::<bool>()).prop_map(|(details, editable, reason)| {
            QuestionBody::Approve { details, editable: editable.into(), reject_requires_reason: reason, reject_options: Vec::new() }
        }),
        1 => any::<bool>().prop_map(move |many| QuestionBody::Choose {
            options: Options::new(["a", "b", "c"].map(choice).to_vec()).unwrap(),
            pick: if many { PickMode::Many } else { PickMode::One },
            suggested: (!many).then(|| "a".to_owned()),
        }),
        1 => any::<bool>().prop_map(|stepped| QuestionBody::Provide { form: form(stepped) }),
        1 => Just(QuestionBody::Confirm { items: vec![choice("x"), choice("y")], yes: "Go".into(), no: "No".into() }),
        1 => (any_object(), any_object()).prop_map(|(error, params)| QuestionBody::Escalate { error, params }),
        1 => Just(QuestionBody::Converse),
    ];
    let context = prop::option::of(text("\\PC{0,8}"));
    (text("q\\PC{0,8}"), context, body)
        .prop_map(|(prompt, context, body)| Question::new(prompt, context, body).unwrap())
}

fn form(stepped: bool) -> kernel::form::Form {
    let fields = json!([
        {"key": "name", "label": "Name", "type": "text", "required": true, "hint": "whole"},
        {"key": "share", "label": "Share", "type": "number", "validation": {"min": 0.1, "max": 1e9}},
        {"key": "why", "label": "Why", "type": "textarea", "sensitive": true,
            "conditional": {"field": "share", "operator": "gt", "value": 0.25}},
    ]);
    let wire = if stepped {
        json!({"steps": [{"title": "One", "fields": fields}, {"title": "Sum", "fields": []}]})
    } else {
        json!({"fields": fields})
    };
    serde_json::from_value(wire).unwrap()
}

/// A pattern read once: a bare literal would be parsed again for every value.
fn text(pattern: &str) -> impl Strategy<Value = String> + use<> {
    string_regex(pattern).unwrap()
}

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (u64::MAX - 9..=u64::MAX).prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text("\\PC{0,6}").prop_map(Value::from),
    ];
    let value = scalar.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((text("[a-zé]{0,3}"), inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    prop::collection::vec((text("[a-z]{1,3}"), value), 0..3)
        .prop_map(|pairs| pairs.into_iter().collect())
}

/// A reply that mostly fits the question; every eighth is a wild one.
pub(crate) fn reply(question: &Question, variety: u8) -> Reply {
    let noted = |answer| Reply { answer, comment: Some("a note".to_owned()) };
    let bare = |answer| Reply { answer, comment: None };
    if variety.is_multiple_of(8) {
        return bare(Answer::Skip);
    }
    if variety.is_multiple_of(7) {
        return noted(Answer::CHANGES);
    }
    let odd = variety % 2 == 1;
    match question.body() {
        QuestionBody::Approve { editable, .. } if odd => {
            bare(Answer::Approved { edits: editable.is_any().then(Map::new) })
        }
        QuestionBody::Approve { .. } => noted(Answer::REJECTED),
        QuestionBody::Choose { pick: PickMode::Many, .. } if odd => {
            bare(Answer::Chosen { options: vec!["c".into(), "a".into()] })
        }
        QuestionBody::Choose { .. } => bare(Answer::Chosen { options: vec!["b".into()] }),
        QuestionBody::Provide { .. } => {
            let share = if odd { json!("0.3333333333333333") } else { json!(0.2) };
            let values = json!({"name": "Ann", "share": share, "why": "be\r\ncause"});
            noted(Answer::Provided { values: serde_json::from_value(values).unwrap() })
        }
        QuestionBody::Confirm { .. } if odd => bare(Answer::Confirmed { items: vec!["y".into()] }),
        QuestionBody::Confirm { .. } => bare(Answer::Declined),
        QuestionBody::Escalate { params, .. } if odd => {
            bare(Answer::Retry { params: params.clone() })
        }
        QuestionBody::Escalate { .. } => bare(Answer::Abort),
        QuestionBody::Converse => bare(Answer::Replied { text: "well…".to_owned() }),
    }
}
