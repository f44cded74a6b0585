//! What is hashed for ever holds no words: free text, answers and personal data enter the record as
//! salted commitments only, and the words lie beside it where they can be erased.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use kernel::actor::Actor;
use kernel::ask::experience_envelope::EnvelopeFindings;
use kernel::ask::{Labels, NewExperienceEnvelope, Route};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::directory::{NewHuman, Profile};
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::task::{
    AgentInput, Capability, CheckpointKind, Evidence, ExternalRef, GrantDecision, GrantDuration,
    Intent, NewEntry, NewGrant, ProposedAction, ResolutionAction, Severity, Spec, TaskCommand,
    TaskInput, Verdict,
};
use kernel::testing::{Cast, human, new_ask, new_task, raising, resolution, verdict, version};
use kernel::{AskCommand, AskId, Command, DirectoryCommand};
use serde_json::{Map, Value, json};

/// Every place where words can stand, each with words of its own. `secret` ones must never be in a
/// body; `clear` ones are the labels and tags an agent knows to be public; `confided` ones are
/// nowhere.
struct Words {
    run: &'static str,
    secret: Vec<String>,
    clear: Vec<String>,
    confided: Vec<String>,
}

impl Words {
    fn new(run: &'static str) -> Self {
        Self { run, secret: Vec::new(), clear: Vec::new(), confided: Vec::new() }
    }

    fn secret(&mut self, place: &str) -> String {
        let word = format!("hush-{place}-{}", self.run);
        self.secret.push(word.clone());
        word
    }

    fn confided(&mut self, place: &str) -> String {
        let word = format!("sealed-{place}-{}", self.run);
        self.confided.push(word.clone());
        word
    }

    fn clear(&mut self, place: &str) -> String {
        let word = format!("plain-{place}-{}", self.run);
        self.clear.push(word.clone());
        word
    }

    fn object(&mut self, place: &str) -> Map<String, Value> {
        let (key, inner) = (format!("{place}-key"), format!("{place}-inner-key"));
        let (key, inner) = (self.secret(&key), self.secret(&inner));
        let (one, two) = (self.secret(place), self.secret(&format!("{place}-item")));
        Map::from_iter([(key, json!({inner: [one, {"n": two}]}))])
    }

    /// Another value for every inner member of such an object.
    fn edited(&mut self, object: &Map<String, Value>, place: &str) -> Map<String, Value> {
        let mut edited = object.clone();
        for value in edited.values_mut().filter_map(Value::as_object_mut) {
            value.values_mut().for_each(|inner| *inner = json!([self.secret(place)]));
        }
        edited
    }

    fn choice(&mut self, place: &str) -> Choice {
        let id = self.secret(&format!("{place}-id"));
        let label = self.secret(&format!("{place}-label"));
        Choice { id, label, description: Some(self.secret(&format!("{place}-description"))) }
    }
}

/// Nothing secret is in a body, all of it lies beside, and what is clear is there; both, to look
/// on.
fn committed(cast: &Cast, words: &Words) -> (String, String) {
    let bodies: String = cast.records().iter().map(|record| record.body.as_str()).collect();
    let contents = cast.records().iter().flat_map(|record| &record.contents);
    let contents: String = contents.map(ToString::to_string).collect();
    for word in &words.secret {
        assert!(!bodies.contains(word.as_str()), "{word} is in the record for ever");
        assert!(contents.contains(word.as_str()), "{word} is nowhere");
    }
    for word in &words.clear {
        assert!(bodies.contains(word.as_str()), "{word} is not in the record");
    }
    assert!(words.secret.len() > 40);
    (bodies, contents)
}

#[test]
fn no_words_in_what_is_hashed() {
    let mut words = Words::new("one");
    let cast = story(&mut words);
    let (bodies, contents) = committed(&cast, &words);
    for word in &words.confided {
        assert!(!bodies.contains(word.as_str()) && !contents.contains(word.as_str()), "{word}");
    }
    assert_eq!(contents.matches("[redacted:").count(), words.confided.len());
}

/// Where the bodies of two stories are not the same.
fn differing(first: &Cast, second: &Cast) -> BTreeSet<String> {
    assert_eq!(first.records().len(), second.records().len());
    let mut differing = BTreeSet::new();
    for (a, b) in first.records().iter().zip(second.records()) {
        let read = |body: &str| serde_json::from_str::<Value>(body).unwrap();
        compare(&read(&a.body), &read(&b.body), "", &mut differing);
    }
    differing
}

/// The same story in other words gives the same bodies, but for commitments, labels and tags: so
/// these are the only places where what somebody wrote can be.
#[test]
fn only_labels_and_tags_differ_when_the_words_do() {
    let (mut one, mut two) = (Words::new("one"), Words::new("second"));
    let (first, second) = (story(&mut one), story(&mut two));
    let differing = differing(&first, &second);
    let expected: BTreeSet<String> = [
        "/what/on_expiry/reply/commitment",
        "/what/labels/agent",
        "/what/labels/project",
        "/what/metadata/commitment",
        "/what/profile/commitment",
        "/what/question/commitment",
        "/what/reason/commitment",
        "/what/resolution/reply/commitment",
        "/what/tags/0",
        "/what/vote/reply/commitment",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(differing, expected);
}

/// Effects become outbox rows, which nobody erases.
#[test]
fn no_words_in_effects() {
    let mut words = Words::new("one");
    let cast = story(&mut words);
    let effects = format!("{:?}", cast.follow_ups());
    for word in words.secret.iter().chain(&words.clear) {
        assert!(!effects.contains(word.as_str()), "{word}");
    }
}

/// After erasure the words of an ask are nowhere in its state either.
#[test]
fn erased_asks_hold_no_words() {
    let mut words = Words::new("one");
    let mut cast = story(&mut words);
    let over: Vec<AskId> = cast.asks().filter(|ask| !ask.is_open()).map(|ask| ask.id).collect();
    assert!(over.len() > 6);
    for id in over {
        cast.run(Actor::System, AskCommand::Erase(id));
        let state = serde_json::to_string(cast.seen(id)).unwrap();
        for word in &words.secret {
            assert!(!state.contains(word.as_str()), "{word} is still in {id}");
        }
    }
}

fn compare(a: &Value, b: &Value, path: &str, differing: &mut BTreeSet<String>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{path}");
            for (key, value) in a {
                compare(value, &b[key], &format!("{path}/{key}"), differing);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{path}");
            for (n, (a, b)) in a.iter().zip(b).enumerate() {
                compare(a, b, &format!("{path}/{n}"), differing);
            }
        }
        _ if a != b => {
            differing.insert(path.to_owned());
        }
        _ => {}
    }
}

/// Asks of all kinds, answered, defaulted, cancelled, with words in every place that takes them.
fn story(words: &mut Words) -> Cast {
    let mut cast = Cast::new();
    let name = words.secret("name");
    let email = format!("{}@example.com", words.secret("email"));
    let new = NewHuman {
        id: human("olga"),
        profile: Profile { name, email: Some(email), ..Profile::default() },
        admin: false,
        active: true,
        projects: ["acme".parse().unwrap()].into(),
        groups: [].into(),
        skills: [].into(),
    };
    cast.run(Actor::System, DirectoryCommand::SaveHuman(new));

    let details = words.object("details");
    let (edits, others) =
        (words.edited(&details, "edits"), words.edited(&details, "default-edits"));
    let (edits, others) = (Some(edits), Some(others));
    let approve = QuestionBody::Approve {
        details,
        editable: true.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    answered(&mut cast, words, "approve", approve.clone(), Answer::Approved { edits });
    answered(&mut cast, words, "reject", approve.clone(), Answer::REJECTED);
    answered(&mut cast, words, "changes", approve.clone(), Answer::CHANGES);

    let choices = vec![words.choice("first"), words.choice("second")];
    let chosen = Answer::Chosen { options: vec![choices.last().unwrap().id.clone()] };
    let options = Options::new(choices.clone()).unwrap();
    answered(
        &mut cast,
        words,
        "choose",
        QuestionBody::Choose { options, pick: PickMode::One, suggested: None },
        chosen,
    );

    let items = choices.iter().map(|choice| choice.id.clone()).collect();
    let (yes, no) = (words.secret("yes"), words.secret("no"));
    let confirm = QuestionBody::Confirm { items: choices, yes, no };
    answered(&mut cast, words, "confirm", confirm, Answer::Confirmed { items });

    let (error, params) = (words.object("error"), words.object("params"));
    let retry = Answer::Retry { params: words.object("changed-params") };
    answered(&mut cast, words, "escalate", QuestionBody::Escalate { error, params }, retry);

    let text = words.secret("replied");
    answered(&mut cast, words, "converse", QuestionBody::Converse, Answer::Replied { text });

    let (form, values) = form(words);
    let values = serde_json::from_value(values).unwrap();
    answered(
        &mut cast,
        words,
        "provide",
        QuestionBody::Provide { form },
        Answer::Provided { values },
    );

    let comment = Some(words.secret("default-comment"));
    let default = Reply { answer: Answer::Approved { edits: others }, comment };
    let question = Question::new(words.secret("default-prompt"), None, approve).unwrap();
    let (timeout, on_expiry) = (Some(60), NewOnExpiry::Answer(default));
    let silent = cast.ask(NewAsk { question, timeout, on_expiry, ..new_ask() });
    cast.advance(60);
    cast.run(Actor::System, AskCommand::Expire(silent));

    let moot = cast.ask(new_ask());
    cast.run(cast.agent("bot"), AskCommand::Cancel(moot, Some(words.secret("reason"))));
    cast
}

fn answered(cast: &mut Cast, words: &mut Words, place: &str, body: QuestionBody, answer: Answer) {
    let prompt = words.secret(&format!("{place}-prompt"));
    let context = Some(words.secret(&format!("{place}-context")));
    let agent = Some(words.clear(&format!("{place}-agent-label")));
    let project = Some(words.clear(&format!("{place}-project-label")));
    let id = cast.ask(NewAsk {
        question: Question::new(prompt, context, body).unwrap(),
        metadata: words.object(&format!("{place}-metadata")),
        labels: Labels { agent, project },
        tags: [words.clear(&format!("{place}-tag"))].into(),
        route: Route::Owner,
        ..new_ask()
    });
    cast.run(cast.human("olga"), AskCommand::Open(id));
    cast.run(cast.human("olga"), AskCommand::Progress(id, None));
    let comment = Some(words.secret(&format!("{place}-comment")));
    cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(Reply { answer, comment })));
}

fn form(words: &mut Words) -> (kernel::form::Form, Value) {
    let (option, default) = (words.secret("form-option"), words.secret("form-default"));
    let wire = json!({
        "session_id": words.secret("form-session"),
        "steps": [{
            "title": words.secret("form-title"),
            "description": words.secret("form-description"),
            "fields": [
                {"key": "a", "label": words.secret("form-label"), "type": "text",
                    "hint": words.secret("form-hint"), "placeholder": words.secret("form-placeholder"),
                    "default": default},
                {"key": "b", "label": "B", "type": "select",
                    "options": [{"value": option, "label": words.secret("form-option-label")}]},
                {"key": "c", "label": "C", "type": "text", "sensitive": true},
            ],
        }],
    });
    let values = json!({
        "a": words.secret("form-answer"), "b": option, "c": words.confided("form-answer"),
    });
    (serde_json::from_value(wire).unwrap(), values)
}

/// A number is hashed once and read back from the store many times: it must stay the number it was.
#[test]
fn numbers_read_back_as_they_were_committed_to() {
    let mut cast = Cast::new();
    for digits in ["6.934698245112694e276", "8.383658838626809e-78", "1e21", "5e-324", "-0.0"] {
        let details = serde_json::from_str(&format!(r#"{{"n":{digits}}}"#)).unwrap();
        let body = QuestionBody::Approve {
            details,
            editable: false.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        };
        let question = Question::new("Pay?", None, body).unwrap();
        let id = cast.ask(NewAsk { question, ..new_ask() });
        let stored = serde_json::to_string(cast.seen(id)).unwrap();
        let read: kernel::Ask = serde_json::from_str(&stored).unwrap();
        assert!(read.question.is_intact(), "{digits}");
        assert_eq!(
            kernel::receipt::QuestionDigests::of(&read),
            kernel::receipt::QuestionDigests::of(cast.seen(id)),
            "{digits}"
        );
    }
}

/// The words of a task are committed to like those of an ask; only names people gave to things are
/// not.
#[test]
fn no_words_of_tasks_in_what_is_hashed() {
    let mut words = Words::new("one");
    let cast = task_story(&mut words);
    committed(&cast, &words);
    let effects = format!("{:?}", cast.follow_ups());
    for word in &words.secret {
        assert!(!effects.contains(word.as_str()), "{word} is in the outbox");
    }
}

/// The same story in other words gives the same bodies, but for commitments and the names of sorts,
/// scopes, keys, versions and places: so these are the only places where what somebody wrote can
/// be.
#[test]
fn only_names_differ_when_the_words_of_tasks_do() {
    let (mut one, mut two) = (Words::new("one"), Words::new("second"));
    let (first, second) = (task_story(&mut one), task_story(&mut two));
    let differing = differing(&first, &second);
    let expected: BTreeSet<String> = [
        "/subject/id",
        "/what/amendment/text/commitment",
        "/what/artifact/version",
        "/what/checkpoint/beside/commitment",
        "/what/claims/said/commitment",
        "/what/entry",
        "/what/given/commitment",
        "/what/grant/scope",
        "/what/grants/0/scope",
        "/what/key",
        "/what/question/commitment",
        "/what/reason/commitment",
        "/what/remark/comment/commitment",
        "/what/resolution/said/commitment",
        "/what/review/artifact/version",
        "/what/review/words/commitment",
        "/what/sort",
        "/what/spec/commitment",
        "/what/value/commitment",
        "/what/version/name",
        "/what/version/payload/media_type",
        "/what/version/payload/uri",
        "/what/vote/reply/commitment",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(differing, expected);
}

/// After erasure the words of a task and of its asks are nowhere in their states either.
#[test]
fn erased_tasks_hold_no_words() {
    let mut words = Words::new("one");
    let mut cast = task_story(&mut words);
    let tasks: Vec<_> = cast.tasks().map(|task| (task.id, task.state.is_closed())).collect();
    for (id, over) in tasks {
        assert!(over, "{id}");
        cast.run(Actor::System, Command::Task(Box::new(TaskCommand::Erase(id))));
        let state = serde_json::to_string(cast.task(id)).unwrap();
        for word in &words.secret {
            assert!(!state.contains(word.as_str()), "{word} is still in {id}");
        }
    }
    let over: Vec<AskId> = cast.asks().filter(|ask| !ask.is_open()).map(|ask| ask.id).collect();
    for id in over {
        cast.run(Actor::System, AskCommand::Erase(id));
        let state = serde_json::to_string(cast.seen(id)).unwrap();
        for word in &words.secret {
            assert!(!state.contains(word.as_str()), "{word} is still in {id}");
        }
    }
}

/// A task with words in every place that takes them, one judged and one called off.
fn task_story(words: &mut Words) -> Cast {
    let mut cast = Cast::new();
    let olga = cast.human("olga");
    let mut new = new_task();
    new.sort = words.clear("task-sort");
    new.spec = Spec {
        goal: words.secret("goal"),
        acceptance_criteria: vec![words.secret("criterion")],
        inputs: vec![TaskInput::Resource {
            id: Some(words.secret("input-id")),
            uri: words.secret("input-uri"),
        }],
        must_use_capabilities: vec![Capability {
            capability_id: words.secret("capability"),
            version: Some(words.secret("capability-version")),
        }],
        external_refs: vec![ExternalRef {
            kind: words.secret("ref-kind"),
            namespace: words.secret("ref-namespace"),
            id: words.secret("ref-id"),
            version: Some(words.secret("ref-version")),
            label: Some(words.secret("ref-label")),
        }],
        max_duration: Some(words.secret("duration")),
        hxp: Some(words.object("task-hxp")),
    };
    new.grants = vec![grant(words, "grant")];
    let id = cast.written(new);
    let given = AgentInput {
        capability: Some(words.secret("given-capability")),
        input: Some(Value::Object(words.object("given-input"))),
    };
    cast.run_task(olga.clone(), TaskCommand::Assign(id, "bot".parse().unwrap(), given));
    cast.run_task(cast.agent("bot"), TaskCommand::Start(id));
    cast.run_task(olga.clone(), TaskCommand::Amend(id, words.secret("amendment"), Intent::Clarify));
    let granted = grant(words, "granted");
    cast.run_task(olga.clone(), TaskCommand::Grant(id, granted));

    let mut choice = raising(CheckpointKind::Choice);
    choice.prompt = words.secret("prompt");
    choice.options.iter_mut().for_each(|option| option.label = words.secret(&option.id));
    choice.context = vec![Evidence {
        kind: words.secret("evidence-kind"),
        id: Some(words.secret("evidence-id")),
        version: Some(words.secret("evidence-version")),
        content: Some(Value::Object(words.object("evidence"))),
    }];
    choice.proposed_actions = vec![ProposedAction {
        id: "x".to_owned(),
        kind: words.secret("action-kind"),
        summary: words.secret("action-summary"),
        detail: Some(words.object("action-detail")),
        risk: None,
        permission_scope: Some(format!("fs:{}", words.secret("action-scope"))),
    }];
    let (said, finding) = (words.object("checkpoint-hxp"), EnvelopeFindings::default());
    choice.claims =
        Some(Box::new(NewExperienceEnvelope { content: said, finding, objection: None }));
    let ask = cast.raised(id, choice);
    let mut chosen = resolution(ResolutionAction::Choose);
    chosen.details.comment = Some(words.secret("resolution-comment"));
    chosen.details.state_patch = Some(words.object("state-patch"));
    cast.resolve("olga", ask, chosen).unwrap();
    let ask = cast.raised(id, raising(CheckpointKind::Input));
    let mut provided = resolution(ResolutionAction::Provide);
    provided.details.input = Some(words.secret("provided"));
    cast.resolve("olga", ask, provided).unwrap();

    let mut made = version();
    made.sort = words.clear("artifact-sort");
    made.name = Some(words.clear("version-name"));
    made.payload.uri = Some(words.clear("payload-uri"));
    made.payload.media_type = Some(words.clear("payload-type"));
    cast.delivered(id, made);
    let mut judged = verdict(Verdict::Rejected);
    judged.text.comments = vec![comment(words, "comment")];
    let review = cast.judge("olga", id, judged).unwrap();
    let remark = comment(words, "remark");
    cast.run_task(olga.clone(), TaskCommand::Remark(id, review, remark));
    let entry = NewEntry {
        scope: "project:acme".parse().unwrap(),
        key: words.clear("ledger-key"),
        value: Value::Object(words.object("ledger-value")),
        expected: None,
    };
    cast.run_task(olga.clone(), TaskCommand::Write(id, Box::new(entry)));

    let moot = cast.begun(new_task());
    cast.raised(moot, raising(CheckpointKind::Approval));
    cast.run_task(olga, TaskCommand::Cancel(moot, Some(words.secret("cancel-reason"))));
    cast
}

fn grant(words: &mut Words, place: &str) -> NewGrant {
    let scope = format!("fs:{}", words.clear(place));
    NewGrant { scope, decision: GrantDecision::Allow, until: GrantDuration::Task }
}

fn comment(words: &mut Words, place: &str) -> kernel::task::AnchoredComment {
    let anchor = Some(words.secret(&format!("{place}-anchor")));
    let body = words.secret(&format!("{place}-body"));
    kernel::task::AnchoredComment { anchor, severity: Severity::Nit, body }
}
