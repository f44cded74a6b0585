//! The machine as tables: what the code does is written out and held against what it should do.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fmt::Write;

use kernel::actor::Reach;
use kernel::ask::{AskState, CallbackResult, DefaultAction, Grant, Purpose};
use kernel::command::{NewAsk, Silence, Urge};
use kernel::directory::{Format, Hears, Holder, NewKey, NewProject, NewRule, NewWebhook, Step};
use kernel::ids::{AskId, KeyId, RuleId, WebhookId};
use kernel::question::AnswerError;
use kernel::task::{
    ArtifactEvent, CheckpointKind, Comment, Given, Handover, Intent, Leave, NewEntry, NewGrant,
    NewTask, Party, Role, Severity, TaskCommand, TaskEvent, Until, Verdict,
};
use kernel::testing::{
    Cast, approve, human, new_ask, new_task, others, raising, verdict, version, yes,
};
use kernel::{
    Actor, AskCommand, AskEvent, Assurance, By, DirectoryCommand, DirectoryEvent, Happened,
    Refusal, Topic,
};
use ulid::Ulid;

const STATES: [&str; 9] = [
    "pending",
    "claimed",
    "opened",
    "in_progress",
    "held",
    "completed",
    "expired",
    "cancelled",
    "failed",
];

const VERBS: [&str; 18] = [
    "open",
    "progress",
    "claim",
    "assign",
    "answer",
    "cancel",
    "extend",
    "expire",
    "remind",
    "escalate",
    "urge",
    "comment",
    "grant",
    "call_back",
    "note_callback",
    "revoke",
    "erase",
    "follow",
];

/// While nothing is due. A cell is the next state, `-` for "nothing happens", or the refusal.
/// Completed and Cancelled are reachable from every open state, and what is over only takes note of
/// remarks and a follow-up, has its receipt called back and forgets its words.
const NOTHING_DUE: &str = "
            | open        | progress          | claim             | assign            | answer           | cancel            | extend            | expire  | remind  | escalate | urge              | comment     | grant       | call_back   | note_callback | revoke      | erase       | follow
pending     | opened      | in_progress       | pending           | pending           | completed        | cancelled         | pending           | not-due | not-due | not-due  | pending           | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
claimed     | opened      | in_progress       | -                 | pending           | completed        | cancelled         | pending           | not-due | not-due | not-due  | pending           | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
opened      | -           | in_progress       | opened            | opened            | completed        | cancelled         | opened            | not-due | not-due | not-due  | opened            | opened      | opened      | not-over    | not-over      | not-over    | not-over    | opened
in_progress | -           | -                 | in_progress       | in_progress       | completed        | cancelled         | in_progress       | not-due | not-due | not-due  | in_progress       | in_progress | in_progress | not-over    | not-over      | not-over    | not-over    | in_progress
held        | opened      | taken             | taken             | taken             | taken            | cancelled         | pending           | not-due | not-due | not-due  | pending           | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
completed   | -           | already-answered  | already-answered  | already-answered  | already-answered | already-answered  | already-answered  | not-due | not-due | not-due  | already-answered  | completed   | completed   | completed   | completed     | completed   | completed   | completed
expired     | -           | timed-out         | timed-out         | timed-out         | timed-out        | timed-out         | timed-out         | not-due | not-due | not-due  | timed-out         | expired     | expired     | expired     | expired       | expired     | expired     | expired
cancelled   | -           | already-cancelled | already-cancelled | already-cancelled | already-cancelled | already-cancelled | already-cancelled | not-due | not-due | not-due  | already-cancelled | cancelled   | cancelled   | cancelled   | cancelled     | cancelled   | cancelled   | cancelled
failed      | -           | timed-out         | timed-out         | timed-out         | timed-out        | timed-out         | timed-out         | not-due | not-due | not-due  | timed-out         | failed      | failed      | failed      | failed        | failed      | failed      | failed
";

/// At the very moment of the deadline, with a reminder and a rung of the ladder due as well, by
/// what the agent wanted for silence. Expired, Completed and Failed are reachable from every open
/// state; only `stay open` leaves an ask answerable.
const DEADLINE_REACHED: &str = "
                    | open        | progress    | claim       | assign      | answer    | cancel    | extend      | expire    | remind  | escalate    | urge        | comment     | grant       | call_back   | note_callback | revoke      | erase       | follow
pending/stay        | opened      | in_progress | pending     | pending     | completed | cancelled | pending     | not-due   | not-due | pending     | pending     | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
pending/fail        | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | failed    | not-due | not-due     | timed-out   | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
pending/answer      | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | completed | not-due | not-due     | timed-out   | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
pending/report      | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | expired   | not-due | not-due     | timed-out   | pending     | pending     | not-over    | not-over      | not-over    | not-over    | pending
opened/stay         | -           | in_progress | opened      | opened      | completed | cancelled | opened      | not-due   | not-due | opened      | opened      | opened      | opened      | not-over    | not-over      | not-over    | not-over    | opened
opened/fail         | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | failed    | not-due | not-due     | timed-out   | opened      | opened      | not-over    | not-over      | not-over    | not-over    | opened
opened/answer       | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | completed | not-due | not-due     | timed-out   | opened      | opened      | not-over    | not-over      | not-over    | not-over    | opened
opened/report       | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | expired   | not-due | not-due     | timed-out   | opened      | opened      | not-over    | not-over      | not-over    | not-over    | opened
in_progress/stay    | -           | -           | in_progress | in_progress | completed | cancelled | in_progress | not-due   | not-due | in_progress | in_progress | in_progress | in_progress | not-over    | not-over      | not-over    | not-over    | in_progress
in_progress/fail    | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | failed    | not-due | not-due     | timed-out   | in_progress | in_progress | not-over    | not-over      | not-over    | not-over    | in_progress
in_progress/answer  | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | completed | not-due | not-due     | timed-out   | in_progress | in_progress | not-over    | not-over      | not-over    | not-over    | in_progress
in_progress/report  | -           | timed-out   | timed-out   | timed-out   | timed-out | timed-out | timed-out   | expired   | not-due | not-due     | timed-out   | in_progress | in_progress | not-over    | not-over      | not-over    | not-over    | in_progress
";

#[test]
fn transitions_while_nothing_is_due() {
    let table = table(STATES, |state| (in_state(state, Silence::Fail), state.to_owned()));
    assert_eq!(tidy(&table), tidy(NOTHING_DUE), "\n{table}");
}

#[test]
fn transitions_when_the_deadline_is_reached() {
    let silences = [
        ("stay", Silence::StayOpen),
        ("fail", Silence::Fail),
        ("answer", Silence::Answer(*yes())),
        ("report", Silence::Report(DefaultAction::Skip)),
    ];
    let rows = ["pending", "opened", "in_progress"]
        .into_iter()
        .flat_map(|state| silences.iter().map(move |silence| (state, silence)));
    let table = table(rows, |(state, (name, silence))| {
        let (mut cast, id) = in_state(state, silence.clone());
        cast.advance(TIMEOUT);
        ((cast, id), format!("{state}/{name}"))
    });
    assert_eq!(tidy(&table), tidy(DEADLINE_REACHED), "\n{table}");
}

/// Escalation comes before a reminder, and a reminder goes out once it is over.
#[test]
fn ladders_and_reminders_take_turns() {
    let (mut cast, id) = in_state("pending", Silence::StayOpen);
    cast.advance(TIMEOUT);
    for (verb, cell) in [
        ("remind", "not-due"),
        ("escalate", "pending"),
        ("escalate", "not-due"),
        ("remind", "pending"),
        ("remind", "not-due"),
    ] {
        assert_eq!(act(&mut cast, id, verb), cell, "{verb}");
    }
    assert_eq!(cast.seen(id).wake_at(), None);
}

/// The code of a refusal is the name of its page and never changes.
#[test]
fn refusals_have_stable_codes() {
    let (by, at) = (By::System, kernel::Time::from_millis(0));
    let (what, why, field, expected) = ("", "", "", "");
    let (have, need) = (Assurance::Link, Assurance::Session);
    let codes: BTreeSet<&str> = [
        Refusal::NotFound { what },
        Refusal::NotAllowed { why },
        Refusal::NotOver { why: "x" },
        Refusal::AlreadyAnswered { by: by.clone(), at },
        Refusal::AlreadyCancelled { by, at },
        Refusal::TimedOut { at },
        Refusal::TakenBy { by: human("mark") },
        Refusal::BeingAnswered { by: human("mark") },
        Refusal::Answer(AnswerError::Empty),
        Refusal::AssuranceTooLow { have, need },
        Refusal::ApprovalTooWeak { have, need },
        Refusal::SilenceTooWeak { need },
        Refusal::Invalid { field, expected },
        Refusal::InvalidAt { field: String::new(), expected: String::new() },
        Refusal::Claims { pointer: String::new(), says: String::new() },
        Refusal::TooComplex { field, why: String::new() },
        Refusal::Quota(kernel::quota::Exceeded::new(
            kernel::quota::Metric::OpenAsks,
            kernel::quota::Per::Agent,
            1,
            at,
        )),
        Refusal::Exists { what },
        Refusal::NotInline,
        Refusal::VerificationRequired { wants: String::new(), page: true },
        Refusal::VerificationFailed { why: String::new(), page: true },
        Refusal::DefaultForbidden,
        Refusal::Changed { version: 1 },
        Refusal::IdempotencyMismatch,
        Refusal::NoDeadline,
        Refusal::Precondition { why: String::new() },
        Refusal::Immutable { why: String::new() },
        Refusal::PastDeadline { at },
        Refusal::Stale { what, revision: 1 },
        Refusal::NotDue,
    ]
    .iter()
    .map(|refusal| {
        // Written a second time, without a wildcard: a new refusal must be entered here.
        let code = match refusal {
            Refusal::NotFound { .. } => "not-found",
            Refusal::NotAllowed { .. } => "not-allowed",
            Refusal::NotOver { .. } => "not-over",
            Refusal::AlreadyAnswered { .. } => "already-answered",
            Refusal::AlreadyCancelled { .. } => "already-cancelled",
            Refusal::TimedOut { .. } => "timed-out",
            Refusal::TakenBy { .. } | Refusal::BeingAnswered { .. } => "taken",
            Refusal::Answer(_) => "answer-mismatch",
            Refusal::AssuranceTooLow { .. } | Refusal::ApprovalTooWeak { .. } => {
                "assurance-too-low"
            }
            Refusal::Invalid { .. } | Refusal::InvalidAt { .. } => "invalid-field",
            Refusal::Claims { .. } => "invalid-envelope",
            Refusal::TooComplex { .. } => "too-complex",
            Refusal::Quota(_) => "quota-exceeded",
            Refusal::Exists { .. } => "exists",
            Refusal::NotInline => "not-inline",
            Refusal::VerificationRequired { .. } => "verification-required",
            Refusal::VerificationFailed { .. } => "verification-failed",
            Refusal::DefaultForbidden | Refusal::SilenceTooWeak { .. } => "default-forbidden",
            Refusal::Changed { .. } => "changed",
            Refusal::IdempotencyMismatch => "idempotency-mismatch",
            Refusal::NoDeadline => "no-deadline",
            Refusal::Precondition { .. } => "precondition-failed",
            Refusal::Immutable { .. } => "immutable",
            Refusal::PastDeadline { .. } => "past-deadline",
            Refusal::Stale { .. } => "stale",
            Refusal::NotDue => "not-due",
        };
        assert_eq!(refusal.code(), code);
        code
    })
    .collect();
    assert_eq!(codes.len(), 26, "no other refusals share a code");
}

/// Every event there is happens in this story; its name is the one in its bytes and its own.
#[test]
fn events_have_stable_names() {
    let (cast, mut names) = (everything(), BTreeSet::new());
    for record in cast.records() {
        let event = record.event().unwrap();
        let name = name(&event.what);
        assert_eq!((event.what.name(), record.what), (name, name));
        let body: serde_json::Value = serde_json::from_str(&record.body).unwrap();
        let (kind, act) = stored(&event.what);
        assert_eq!(body.pointer("/what/event").unwrap(), kind.unwrap_or(name));
        assert_eq!(body.pointer("/what/act").and_then(serde_json::Value::as_str), act);
        names.insert(name);
    }
    assert_eq!(names.len(), 42 + 21 + 4 + 1, "{names:?}");
}

/// What happens to tasks and artifacts is one event each in its bytes, told apart by what it does.
fn stored(what: &Happened) -> (Option<&'static str>, Option<&'static str>) {
    match what {
        Happened::Task(event) => (Some("task"), Some(task_event(event).1)),
        Happened::Artifact(event) => (Some("artifact"), Some(artifact_event(event).1)),
        _ => (None, None),
    }
}

/// The name of what happened to a task, and how it is told apart in its bytes.
fn task_event(event: &TaskEvent) -> (&'static str, &'static str) {
    match event {
        TaskEvent::Created(_) => ("task_created", "created"),
        TaskEvent::Assigned { .. } => ("task_assigned", "assigned"),
        TaskEvent::Started => ("task_started", "started"),
        TaskEvent::Cancelled { .. } => ("task_cancelled", "cancelled"),
        TaskEvent::Interrupted => ("task_interrupted", "interrupted"),
        TaskEvent::Raised { .. } => ("checkpoint_raised", "raised"),
        TaskEvent::Resolved { .. } => ("checkpoint_resolved", "resolved"),
        TaskEvent::Lapsed { .. } => ("checkpoint_expired", "lapsed"),
        TaskEvent::Amended { .. } => ("task_amended", "amended"),
        TaskEvent::Granted { .. } => ("task_granted", "granted"),
        TaskEvent::Transferred { .. } => ("ownership_transferred", "transferred"),
        TaskEvent::Delegated { .. } => ("ownership_delegated", "delegated"),
        TaskEvent::Committed { .. } => ("artifact_committed", "committed"),
        TaskEvent::Reviewed { .. } => ("review_submitted", "reviewed"),
        TaskEvent::Remarked { .. } => ("review_commented", "remarked"),
        TaskEvent::Completed => ("task_completed", "completed"),
        TaskEvent::Referenced { .. } => ("artifact_referenced", "referenced"),
        TaskEvent::Shared { .. } => ("delivery_shared", "shared"),
        TaskEvent::Wrote { .. } => ("ledger_written", "wrote"),
        TaskEvent::Erased => ("erased", "erased"),
        TaskEvent::CheckpointErased { .. } => ("checkpoint_erased", "checkpoint_erased"),
        TaskEvent::WordsErased(_) => ("task_words_erased", "words_erased"),
    }
}

fn artifact_event(event: &ArtifactEvent) -> (&'static str, &'static str) {
    match event {
        ArtifactEvent::Committed { .. } => ("version_committed", "committed"),
        ArtifactEvent::Referenced { .. } => ("version_referenced", "referenced"),
        ArtifactEvent::Shared { .. } => ("artifact_shared", "shared"),
        ArtifactEvent::Erased => ("artifact_erased", "erased"),
    }
}

/// A second spelling, without a wildcard: a new event must be entered here and in the story.
fn name(what: &Happened) -> &'static str {
    match what {
        Happened::Ask(AskEvent::Asked(_)) => "asked",
        Happened::Ask(AskEvent::Followed { .. }) => "followed",
        Happened::Ask(AskEvent::Opened) => "opened",
        Happened::Ask(AskEvent::Progressed { .. }) => "progressed",
        Happened::Ask(AskEvent::Claimed) => "claimed",
        Happened::Ask(AskEvent::Assigned { .. }) => "assigned",
        Happened::Ask(AskEvent::Commented { .. }) => "commented",
        Happened::Ask(AskEvent::ActionPicked { .. }) => "action_picked",
        Happened::Ask(AskEvent::Answered { .. }) => "answered",
        Happened::Ask(AskEvent::AnswerHeld { .. }) => "answer_held",
        Happened::Ask(AskEvent::AnswerWithdrawn) => "answer_withdrawn",
        Happened::Ask(AskEvent::Defaulted { .. }) => "defaulted",
        Happened::Ask(AskEvent::Cancelled { .. }) => "cancelled",
        Happened::Ask(AskEvent::Expired { .. }) => "expired",
        Happened::Ask(AskEvent::Failed { .. }) => "failed",
        Happened::Ask(AskEvent::Reminded) => "reminded",
        Happened::Ask(AskEvent::Escalated { .. }) => "escalated",
        Happened::Ask(AskEvent::Joined { .. }) => "joined",
        Happened::Ask(AskEvent::Extended { .. }) => "extended",
        Happened::Ask(AskEvent::Granted { .. }) => "granted",
        Happened::Ask(AskEvent::CalledBack { .. }) => "called_back",
        Happened::Ask(AskEvent::CallbackWanted) => "callback_wanted",
        Happened::Ask(AskEvent::Revoked { .. }) => "revoked",
        Happened::Ask(AskEvent::Erased) => "erased",
        Happened::Ask(AskEvent::WordsErased(_)) => "words_erased",
        Happened::Directory(DirectoryEvent::HumanErased) => "human_erased",
        Happened::Directory(DirectoryEvent::KeyErased) => "key_erased",
        Happened::Directory(DirectoryEvent::SigningKeyDestroyed { .. }) => "signing_key_destroyed",
        Happened::Directory(DirectoryEvent::ProjectSaved(_)) => "project_saved",
        Happened::Directory(DirectoryEvent::AgentSaved(_)) => "agent_saved",
        Happened::Directory(DirectoryEvent::HumanSaved(_)) => "human_saved",
        Happened::Directory(DirectoryEvent::KeyIssued(_)) => "key_issued",
        Happened::Directory(DirectoryEvent::KeyRevoked) => "key_revoked",
        Happened::Directory(DirectoryEvent::KeyRevokedWithTokens) => "key_revoked_with_tokens",
        Happened::Directory(DirectoryEvent::PasskeyUsed { .. }) => "passkey_used",
        Happened::Directory(DirectoryEvent::PasskeyConfirmed) => "passkey_confirmed",
        Happened::Directory(DirectoryEvent::RuleAdded(_)) => "rule_added",
        Happened::Directory(DirectoryEvent::RuleRemoved) => "rule_removed",
        Happened::Directory(DirectoryEvent::WebhookSaved(_)) => "webhook_saved",
        Happened::Directory(DirectoryEvent::WebhookRotated { .. }) => "webhook_rotated",
        Happened::Directory(DirectoryEvent::WebhookTested) => "webhook_tested",
        Happened::Directory(DirectoryEvent::WebhookGone) => "webhook_gone",
        Happened::Directory(DirectoryEvent::WebhookRemoved) => "webhook_removed",
        Happened::Task(event) => task_event(event).0,
        Happened::Artifact(event) => artifact_event(event).0,
        Happened::EntryWritten(_) => "entry_written",
    }
}

fn everything() -> Cast {
    let (mut cast, id) = in_state("claimed", Silence::StayOpen);
    for verb in ["open", "progress", "assign", "pick", "extend", "urge"] {
        act(&mut cast, id, verb);
    }
    cast.run(in_browser("olga"), AskCommand::HoldAnswer(id, yes()));
    cast.run(in_browser("olga"), AskCommand::UndoAnswer(id));
    cast.advance(TIMEOUT);
    let told = ["call_back", "note_callback"];
    for verb in ["escalate", "remind", "comment", "grant", "answer"] {
        act(&mut cast, id, verb);
    }
    for verb in told.into_iter().chain(["revoke", "erase", "follow"]) {
        act(&mut cast, id, verb);
    }
    for silence in [
        Silence::Fail,
        Silence::Answer(*yes()),
        Silence::Report(DefaultAction::Skip),
        Silence::StayOpen,
    ] {
        let id = cast.ask(expiring(&cast, silence));
        cast.advance(TIMEOUT);
        act(&mut cast, id, "expire");
        act(&mut cast, id, "cancel");
    }
    let passkey = cast.passkey("olga", "passkey");
    let id = cast.ask(new_ask());
    let confirmed = cast.confirmed(id, "olga", passkey, &yes(), 1);
    cast.run(cast.human("olga"), confirmed);
    let agent = "bot".parse().unwrap();
    let holder = Holder::Agent { agent, reach: Reach::Agent, respond: false, own_app: false };
    let new = NewKey { hash: Cast::hash("a"), holder, label: "a".to_owned(), expires_at: None };
    cast.run(cast.human("olga"), DirectoryCommand::IssueKey(new));
    let key = cast.directory().keys().last().map(|key| key.id).unwrap();
    cast.run(cast.human("olga"), DirectoryCommand::RevokeKeyWithTokens(key));
    let holder = Holder::Token { human: human("olga") };
    let new = NewKey { hash: Cast::hash("k"), holder, label: "k".to_owned(), expires_at: None };
    cast.run(cast.human("olga"), DirectoryCommand::IssueKey(new));
    let key = cast.directory().keys().last().map(|key| key.id).unwrap();
    cast.run(cast.human("olga"), DirectoryCommand::RevokeKey(key));
    let (kinds, delegate_to) = (BTreeSet::new(), human("mark"));
    cast.rule("olga", NewRule { kinds, project: None, tag: None, priority: None, delegate_to });
    let rule: RuleId = cast.directory().rules_of(&human("olga")).next().map(|r| r.id).unwrap();
    cast.run(cast.human("olga"), DirectoryCommand::RemoveRule(rule));
    let webhook = WebhookId::new(Ulid::from(77_u128));
    let new = NewWebhook {
        id: webhook,
        of: Hears::Agent("bot".parse().unwrap()),
        url: "https://agent.example/hook".to_owned(),
        events: Topic::ALL.into(),
        format: Format::Standard,
        description: String::new(),
        enabled: true,
    };
    cast.run(cast.human("olga"), DirectoryCommand::SaveWebhook(new));
    cast.run(cast.human("olga"), DirectoryCommand::RotateWebhook(webhook, 60));
    cast.run(cast.human("olga"), DirectoryCommand::TestWebhook(webhook));
    cast.run(Actor::System, DirectoryCommand::WebhookGone(webhook));
    cast.run(cast.human("olga"), DirectoryCommand::RemoveWebhook(webhook));
    everything_with_tasks(&mut cast);
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Comment(id, "Well.".to_owned()));
    cast.give_agent("bot", "mark");
    cast.run(Actor::System, DirectoryCommand::EraseHuman(human("olga")));
    cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
    let task = cast.tasks().last().map(|task| task.id).unwrap();
    cast.may(Actor::System, TaskCommand::EraseWords(task, human("olga")));
    cast
}

/// Whatever can happen to a task, to what it delivers and to what it remembers.
fn everything_with_tasks(cast: &mut Cast) {
    for command in others() {
        cast.run(Actor::System, command);
    }
    let id = cast.begun(NewTask { delegable: true, ..new_task() });
    let olga = cast.human("olga");
    cast.may(olga.clone(), TaskCommand::Amend(id, "In euros.".to_owned(), Intent::Clarify));
    let (scope, decision, until) = ("net:*".to_owned(), Leave::Allow, Until::Task);
    cast.may(olga.clone(), TaskCommand::Grant(id, NewGrant { scope, decision, until }));
    let bob = || "bob".parse().unwrap();
    cast.may(cast.agent("bot"), TaskCommand::Delegate(id, bob(), Given::default()));
    let bot = Party::Agent("bot".parse().unwrap());
    cast.may(olga.clone(), TaskCommand::Transfer(id, bot, Handover::Handoff));
    let ask = cast.interrupted(id);
    cast.resolve("olga", ask, approve()).unwrap();
    cast.run(Actor::System, AskCommand::Erase(ask));
    let made = cast.delivered(id, version());
    cast.may(olga.clone(), TaskCommand::Share(made.id, "rival".parse().unwrap()));
    let review = cast.judge("olga", id, verdict(Verdict::Approved)).unwrap();
    let (anchor, body) = (None, "Well.".to_owned());
    let comment = Comment { anchor, severity: Severity::Nit, body };
    cast.may(olga.clone(), TaskCommand::Remark(id, review, comment));
    let other = cast.begun(new_task());
    let artifact = made.id;
    cast.may(olga.clone(), TaskCommand::Reference(other, made, Role::Input));
    let (scope, key) = ("project:acme".parse().unwrap(), "vat".to_owned());
    let entry = NewEntry { scope, key, value: 19.into(), expected: None };
    cast.may(olga.clone(), TaskCommand::Write(other, Box::new(entry)));
    let ask = cast.raised(other, raising(CheckpointKind::Approval));
    cast.may(olga.clone(), TaskCommand::Lapse(ask));
    cast.may(olga, TaskCommand::Cancel(other, Some("moot".to_owned())));
    cast.may(Actor::System, TaskCommand::Erase(id));
    cast.may(Actor::System, TaskCommand::EraseArtifact(artifact));
}

/// Seconds until the deadline, the reminder and the rung of the ladder.
const TIMEOUT: u64 = 60;

fn expiring(cast: &Cast, on_expiry: Silence) -> NewAsk {
    let reminders = vec![cast.now().plus_seconds(TIMEOUT)];
    let callback = Some("https://agent.example/hook".to_owned());
    let claims = Some(kernel::testing::claims());
    NewAsk { timeout: Some(TIMEOUT), on_expiry, reminders, callback, claims, ..new_ask() }
}

fn in_browser(name: &str) -> Actor {
    Actor::Human { id: human(name), via: kernel::Via::Web, assurance: Assurance::Session }
}

/// An ask of the agent `bot` of olga's, brought into a state.
fn in_state(state: &str, silence: Silence) -> (Cast, AskId) {
    let mut cast = Cast::new();
    let seat = kernel::ask::Seat::Person { human: human("mark") };
    let ladder = vec![Step { after: TIMEOUT, seat }];
    let plain = NewProject::plain("acme".parse().unwrap());
    cast.run(Actor::System, DirectoryCommand::SaveProject(NewProject { ladder, ..plain }));
    let silence = if state == "expired" { Silence::Report(DefaultAction::Skip) } else { silence };
    let id = cast.ask(expiring(&cast, silence));
    match state {
        "pending" => {}
        "claimed" => cast.run(cast.human("olga"), AskCommand::Claim(id)),
        "opened" => cast.run(cast.human("olga"), AskCommand::Open(id)),
        "in_progress" => cast.run(cast.human("olga"), AskCommand::Progress(id, None)),
        // Mark answers on a page; it is his to undo.
        "held" => {
            cast.run(cast.human("olga"), AskCommand::Assign(id, human("mark"), None));
            cast.run(in_browser("mark"), AskCommand::HoldAnswer(id, yes()));
        }
        "completed" => cast.run(cast.human("olga"), AskCommand::Answer(id, yes())),
        "cancelled" => cast.run(cast.agent("bot"), AskCommand::Cancel(id, None)),
        "expired" | "failed" => {
            cast.advance(TIMEOUT);
            cast.run(Actor::System, AskCommand::Expire(id));
        }
        other => panic!("no state {other}"),
    }
    (cast, id)
}

/// Lets somebody who may do it do it; gives the cell of the table.
fn act(cast: &mut Cast, id: AskId, verb: &str) -> String {
    let (olga, bot) = (cast.human("olga"), cast.agent("bot"));
    let (actor, command) = match verb {
        "open" => (olga, AskCommand::Open(id)),
        "progress" => (olga, AskCommand::Progress(id, None)),
        "claim" => (olga, AskCommand::Claim(id)),
        "assign" => (olga, AskCommand::Assign(id, human("mark"), None)),
        "answer" => (olga, AskCommand::Answer(id, yes())),
        "cancel" => (bot, AskCommand::Cancel(id, Some("moot".to_owned()))),
        "extend" => (bot, AskCommand::Extend(id, cast.now().plus_seconds(2 * TIMEOUT))),
        "expire" => (Actor::System, AskCommand::Expire(id)),
        "remind" => (Actor::System, AskCommand::Remind(id)),
        "escalate" => (Actor::System, AskCommand::Escalate(id)),
        "urge" => {
            let people = vec![human("nina")];
            (bot, AskCommand::Nudge(id, Urge { text: "now".to_owned(), people }))
        }
        "comment" => (olga, AskCommand::Comment(id, "so".to_owned())),
        "pick" => (olga, AskCommand::Pick(id, 0)),
        "grant" => {
            let grant = Grant::to_agent(Purpose::Review, Cast::hash("token"));
            (bot, AskCommand::Grant(id, vec![grant]))
        }
        "call_back" => (bot, AskCommand::CallBack(id)),
        "note_callback" => {
            let result = CallbackResult::Taken { status: 200 };
            (Actor::System, AskCommand::NoteCallback(id, result))
        }
        "revoke" => (Actor::System, AskCommand::Revoke(id, "stolen".to_owned())),
        "erase" => (Actor::System, AskCommand::Erase(id)),
        "follow" => (bot, AskCommand::Create(Box::new(NewAsk { follows: Some(id), ..new_ask() }))),
        other => panic!("no verb {other}"),
    };
    let before = cast.seen(id).head.seq;
    match cast.attempt(actor, command) {
        Err(refusal) => {
            assert_eq!(cast.seen(id).head.seq, before);
            refusal.code().to_owned()
        }
        Ok(()) if cast.seen(id).head.seq == before => "-".to_owned(),
        Ok(()) => match &cast.seen(id).state {
            AskState::Pending => "pending",
            AskState::Opened => "opened",
            AskState::InProgress { .. } => "in_progress",
            AskState::Over { .. } => cast.seen(id).phase().as_str(),
        }
        .to_owned(),
    }
}

fn table<R: Clone>(
    rows: impl IntoIterator<Item = R>,
    mut begin: impl FnMut(R) -> ((Cast, AskId), String),
) -> String {
    let mut table = format!("| {}\n", VERBS.join(" | "));
    for row in rows {
        table.push_str(&begin(row.clone()).1);
        for verb in VERBS {
            let ((mut cast, id), _) = begin(row.clone());
            write!(table, " | {}", act(&mut cast, id, verb)).unwrap();
        }
        table.push('\n');
    }
    table
}

/// The cells of a table, whatever the spaces between them.
fn tidy(table: &str) -> Vec<Vec<&str>> {
    table.trim().lines().map(|line| line.split('|').map(str::trim).collect()).collect()
}

/// Ids of different kinds never stand in for each other.
#[test]
fn ids_of_different_kinds_do_not_read_as_each_other() {
    let ulid = Ulid::from(9_u128);
    assert!(AskId::new(ulid).to_string().parse::<KeyId>().is_err());
    assert!(KeyId::new(ulid).to_string().parse::<RuleId>().is_err());
    assert!(RuleId::new(ulid).to_string().parse::<AskId>().is_err());
}
