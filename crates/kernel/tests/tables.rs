//! The machine as tables: what the code does is written out and held against what it should do.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fmt::Write;

use kernel::actor::KeyScope;
use kernel::ask::{AskState, AskToken, CallbackResult, DefaultAction, TokenPurpose};
use kernel::command::{NewAsk, NewOnExpiry, Nudge};
use kernel::directory::{
    CredentialKind, EscalationStep, NewKey, NewProject, NewRule, NewWebhook, WebhookFormat,
    WebhookScope,
};
use kernel::ids::{AskId, KeyId, RuleId, WebhookId};
use kernel::question::AnswerError;
use kernel::task::{
    AgentInput, AnchoredComment, ArtifactEvent, CheckpointKind, GrantDecision, GrantDuration,
    Handover, Intent, NewEntry, NewGrant, NewTask, Party, Role, Severity, TaskCommand, TaskEvent,
    Verdict,
};
use kernel::testing::{
    Cast, approve, human, new_ask, new_task, others, raising, verdict, version, yes,
};
use kernel::{
    Actor, ActorRef, AskCommand, AskEvent, Assurance, DirectoryCommand, DirectoryEvent,
    DomainEvent, Refusal, Topic,
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
    let table = table(STATES, |state| (in_state(state, NewOnExpiry::Fail), state.to_owned()));
    assert_eq!(tidy(&table), tidy(NOTHING_DUE), "\n{table}");
}

#[test]
fn transitions_when_the_deadline_is_reached() {
    let silences = [
        ("stay", NewOnExpiry::StayOpen),
        ("fail", NewOnExpiry::Fail),
        ("answer", NewOnExpiry::Answer(*yes())),
        ("report", NewOnExpiry::Report(DefaultAction::Skip)),
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
    let (mut cast, id) = in_state("pending", NewOnExpiry::StayOpen);
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
    let (by, at) = (ActorRef::System, kernel::Time::from_millis(0));
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
        Refusal::Quota(kernel::quota::QuotaExceeded::new(
            kernel::quota::Metric::OpenAsks,
            kernel::quota::AccountKind::Agent,
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
fn stored(what: &DomainEvent) -> (Option<&'static str>, Option<&'static str>) {
    match what {
        DomainEvent::Task(event) => (Some("task"), Some(task_event(event).1)),
        DomainEvent::Artifact(event) => (Some("artifact"), Some(artifact_event(event).1)),
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
fn name(what: &DomainEvent) -> &'static str {
    match what {
        DomainEvent::Ask(AskEvent::Asked(_)) => "asked",
        DomainEvent::Ask(AskEvent::Followed { .. }) => "followed",
        DomainEvent::Ask(AskEvent::Opened) => "opened",
        DomainEvent::Ask(AskEvent::Progressed { .. }) => "progressed",
        DomainEvent::Ask(AskEvent::Claimed) => "claimed",
        DomainEvent::Ask(AskEvent::Assigned { .. }) => "assigned",
        DomainEvent::Ask(AskEvent::Commented { .. }) => "commented",
        DomainEvent::Ask(AskEvent::ActionPicked { .. }) => "action_picked",
        DomainEvent::Ask(AskEvent::Answered { .. }) => "answered",
        DomainEvent::Ask(AskEvent::AnswerHeld { .. }) => "answer_held",
        DomainEvent::Ask(AskEvent::AnswerWithdrawn) => "answer_withdrawn",
        DomainEvent::Ask(AskEvent::Defaulted { .. }) => "defaulted",
        DomainEvent::Ask(AskEvent::Cancelled { .. }) => "cancelled",
        DomainEvent::Ask(AskEvent::Expired { .. }) => "expired",
        DomainEvent::Ask(AskEvent::Failed { .. }) => "failed",
        DomainEvent::Ask(AskEvent::Reminded) => "reminded",
        DomainEvent::Ask(AskEvent::Escalated { .. }) => "escalated",
        DomainEvent::Ask(AskEvent::Joined { .. }) => "joined",
        DomainEvent::Ask(AskEvent::Extended { .. }) => "extended",
        DomainEvent::Ask(AskEvent::Granted { .. }) => "granted",
        DomainEvent::Ask(AskEvent::CalledBack { .. }) => "called_back",
        DomainEvent::Ask(AskEvent::CallbackWanted) => "callback_wanted",
        DomainEvent::Ask(AskEvent::Revoked { .. }) => "revoked",
        DomainEvent::Ask(AskEvent::Erased) => "erased",
        DomainEvent::Ask(AskEvent::WordsErased(_)) => "words_erased",
        DomainEvent::Directory(DirectoryEvent::HumanErased) => "human_erased",
        DomainEvent::Directory(DirectoryEvent::KeyErased) => "key_erased",
        DomainEvent::Directory(DirectoryEvent::SigningKeyDestroyed { .. }) => {
            "signing_key_destroyed"
        }
        DomainEvent::Directory(DirectoryEvent::ProjectSaved(_)) => "project_saved",
        DomainEvent::Directory(DirectoryEvent::AgentSaved(_)) => "agent_saved",
        DomainEvent::Directory(DirectoryEvent::HumanSaved(_)) => "human_saved",
        DomainEvent::Directory(DirectoryEvent::KeyIssued(_)) => "key_issued",
        DomainEvent::Directory(DirectoryEvent::KeyRevoked) => "key_revoked",
        DomainEvent::Directory(DirectoryEvent::KeyRevokedWithTokens) => "key_revoked_with_tokens",
        DomainEvent::Directory(DirectoryEvent::PasskeyUsed { .. }) => "passkey_used",
        DomainEvent::Directory(DirectoryEvent::PasskeyConfirmed) => "passkey_confirmed",
        DomainEvent::Directory(DirectoryEvent::RuleAdded(_)) => "rule_added",
        DomainEvent::Directory(DirectoryEvent::RuleRemoved) => "rule_removed",
        DomainEvent::Directory(DirectoryEvent::WebhookSaved(_)) => "webhook_saved",
        DomainEvent::Directory(DirectoryEvent::WebhookRotated { .. }) => "webhook_rotated",
        DomainEvent::Directory(DirectoryEvent::WebhookTested) => "webhook_tested",
        DomainEvent::Directory(DirectoryEvent::WebhookGone) => "webhook_gone",
        DomainEvent::Directory(DirectoryEvent::WebhookRemoved) => "webhook_removed",
        DomainEvent::Task(event) => task_event(event).0,
        DomainEvent::Artifact(event) => artifact_event(event).0,
        DomainEvent::EntryWritten(_) => "entry_written",
    }
}

fn everything() -> Cast {
    let (mut cast, id) = in_state("claimed", NewOnExpiry::StayOpen);
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
        NewOnExpiry::Fail,
        NewOnExpiry::Answer(*yes()),
        NewOnExpiry::Report(DefaultAction::Skip),
        NewOnExpiry::StayOpen,
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
    let holder =
        CredentialKind::Agent { agent, scope: KeyScope::Agent, respond: false, own_app: false };
    let new =
        NewKey { hash: Cast::hash("a"), kind: holder, label: "a".to_owned(), expires_at: None };
    cast.run(cast.human("olga"), DirectoryCommand::IssueKey(new));
    let key = cast.directory().keys().last().map(|key| key.id).unwrap();
    cast.run(cast.human("olga"), DirectoryCommand::RevokeKeyWithTokens(key));
    let holder = CredentialKind::Token { human: human("olga") };
    let new =
        NewKey { hash: Cast::hash("k"), kind: holder, label: "k".to_owned(), expires_at: None };
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
        of: WebhookScope::Agent("bot".parse().unwrap()),
        url: "https://agent.example/hook".to_owned(),
        events: Topic::ALL.into(),
        format: WebhookFormat::Standard,
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
    cast.run_task(Actor::System, TaskCommand::EraseWords(task, human("olga")));
    cast
}

/// Whatever can happen to a task, to what it delivers and to what it remembers.
fn everything_with_tasks(cast: &mut Cast) {
    for command in others() {
        cast.run(Actor::System, command);
    }
    let id = cast.begun(NewTask { delegable: true, ..new_task() });
    let olga = cast.human("olga");
    cast.run_task(olga.clone(), TaskCommand::Amend(id, "In euros.".to_owned(), Intent::Clarify));
    let (scope, decision, until) = ("net:*".to_owned(), GrantDecision::Allow, GrantDuration::Task);
    cast.run_task(olga.clone(), TaskCommand::Grant(id, NewGrant { scope, decision, until }));
    let bob = || "bob".parse().unwrap();
    cast.run_task(cast.agent("bot"), TaskCommand::Delegate(id, bob(), AgentInput::default()));
    let bot = Party::Agent("bot".parse().unwrap());
    cast.run_task(olga.clone(), TaskCommand::Transfer(id, bot, Handover::Handoff));
    let ask = cast.interrupted(id);
    cast.resolve("olga", ask, approve()).unwrap();
    cast.run(Actor::System, AskCommand::Erase(ask));
    let made = cast.delivered(id, version());
    cast.run_task(olga.clone(), TaskCommand::Share(made.id, "rival".parse().unwrap()));
    let review = cast.judge("olga", id, verdict(Verdict::Approved)).unwrap();
    let (anchor, body) = (None, "Well.".to_owned());
    let comment = AnchoredComment { anchor, severity: Severity::Nit, body };
    cast.run_task(olga.clone(), TaskCommand::Remark(id, review, comment));
    let other = cast.begun(new_task());
    let artifact = made.id;
    cast.run_task(olga.clone(), TaskCommand::Reference(other, made, Role::Input));
    let (scope, key) = ("project:acme".parse().unwrap(), "vat".to_owned());
    let entry = NewEntry { scope, key, value: 19.into(), expected: None };
    cast.run_task(olga.clone(), TaskCommand::Write(other, Box::new(entry)));
    let ask = cast.raised(other, raising(CheckpointKind::Approval));
    cast.run_task(olga.clone(), TaskCommand::Lapse(ask));
    cast.run_task(olga, TaskCommand::Cancel(other, Some("moot".to_owned())));
    cast.run_task(Actor::System, TaskCommand::Erase(id));
    cast.run_task(Actor::System, TaskCommand::EraseArtifact(artifact));
}

/// Seconds until the deadline, the reminder and the rung of the ladder.
const TIMEOUT: u64 = 60;

fn expiring(cast: &Cast, on_expiry: NewOnExpiry) -> NewAsk {
    let reminders = vec![cast.now().plus_seconds(TIMEOUT)];
    let callback = Some("https://agent.example/hook".to_owned());
    let claims = Some(kernel::testing::claims());
    NewAsk { timeout: Some(TIMEOUT), on_expiry, reminders, callback, claims, ..new_ask() }
}

fn in_browser(name: &str) -> Actor {
    Actor::Human {
        id: human(name),
        via: kernel::AnswerInterface::Web,
        assurance: Assurance::Session,
    }
}

/// An ask of the agent `bot` of olga's, brought into a state.
fn in_state(state: &str, silence: NewOnExpiry) -> (Cast, AskId) {
    let mut cast = Cast::new();
    let seat = kernel::ask::Assignee::Person { human: human("mark") };
    let ladder = vec![EscalationStep { after: TIMEOUT, assignee: seat }];
    let plain = NewProject::plain("acme".parse().unwrap());
    cast.run(
        Actor::System,
        DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
    );
    let silence =
        if state == "expired" { NewOnExpiry::Report(DefaultAction::Skip) } else { silence };
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
            (bot, AskCommand::Nudge(id, Nudge { text: "now".to_owned(), people }))
        }
        "comment" => (olga, AskCommand::Comment(id, "so".to_owned())),
        "pick" => (olga, AskCommand::Pick(id, 0)),
        "grant" => {
            let grant = AskToken::to_agent(TokenPurpose::Review, Cast::hash("token"));
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
