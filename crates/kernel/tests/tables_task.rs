//! The task as tables: what the code does is written out, to be read against the protocol.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write;

use kernel::ids::{AskId, ReviewId, TaskId};
use kernel::task::{
    AgentInput, AnchoredComment, CheckpointKind, GrantDecision, GrantDuration, Handover, Intent,
    NewEntry, NewGrant, Party, Quorum, Role, Severity, TRANSITIONS, TaskCommand, TaskInput,
    TaskState, Verdict, VersionRef,
};
use kernel::testing::{Cast, approve, new_task, raising, verdict, version, yes};
use kernel::{Actor, AskCommand, Command};
use ulid::Ulid;

/// The protocol's own table, with `checkpoint.resolve` and `review.submit` told apart by what they
/// say.
const LEGAL: &str = "
created      | assigned     | Assign
assigned     | in_progress  | Start
in_progress  | blocked      | Raise
in_progress  | blocked      | Interrupt
blocked      | in_progress  | Resolve
blocked      | completed    | Refuse
in_progress  | review_ready | Commit
review_ready | under_review | Begin
under_review | in_progress  | Rework
under_review | in_progress  | PlanApproved
under_review | accepted     | Accept
under_review | rejected     | Reject
under_review | under_review | Pend
accepted     | completed    | Complete
created      | completed    | Cancel
assigned     | completed    | Cancel
in_progress  | completed    | Cancel
blocked      | completed    | Cancel
";

/// HACP-030, K-03, K-04, K-07: the table of transitions is the one of the protocol; nothing leads
/// out of what is over, and `rejected` is over.
#[test]
fn the_states_are_those_of_the_protocol() {
    let mut table = String::new();
    for (from, to, trigger) in TRANSITIONS {
        writeln!(table, "{} | {} | {trigger:?}", from.as_str(), to.as_str()).unwrap();
    }
    assert_eq!(tidy(&table), tidy(LEGAL), "\n{table}");
    for state in TaskState::ALL {
        let leaves = TRANSITIONS.iter().any(|(from, ..)| *from == state);
        assert_eq!(leaves, !state.is_closed(), "{state:?}");
        let over = matches!(state, TaskState::Completed | TaskState::Rejected);
        assert_eq!(state.is_closed(), over, "{state:?}");
        let stored = serde_json::to_value(state).unwrap();
        assert_eq!(stored, state.as_str());
    }
}

/// The states a task can be found in: it only passes through `accepted`.
const STATES: [&str; 8] = [
    "created",
    "assigned",
    "in_progress",
    "blocked",
    "review_ready",
    "under_review",
    "completed",
    "rejected",
];

/// Every kind of caller.
const CALLERS: [&str; 12] = [
    "principal",
    "reviewer",
    "member",
    "administrator",
    "stranger",
    "assignee",
    "former",
    "fellow",
    "wide fellow",
    "strange agent",
    "link holder",
    "system",
];

/// Every operation on a task that changes something, over HACP; and what other doors do to its
/// asks.
const OPERATIONS: [&str; 22] = [
    "task.assign",
    "task.start",
    "task.cancel",
    "task.interrupt",
    "task.amend",
    "task.grant",
    "checkpoint.raise",
    "checkpoint.resolve",
    "checkpoint.expire",
    "ownership.transfer",
    "ownership.delegate",
    "review.submit",
    "review.comment",
    "artifact.commit",
    "artifact.commit of what is written",
    "artifact.commit to another's",
    "artifact.reference",
    "ledger.write",
    "task.erase",
    "answer to the checkpoint",
    "answer to the review",
    "withdrawal of the checkpoint",
];

/// HACP-001 to HACP-003, HACP-021, HACP-027, HACP-031, HACP-040 to HACP-042, HACP-051, K-06, K-12
/// to K-15, K-20, K-24: every operation in every state by every kind of caller. A cell is the state
/// the task is in afterwards, `-` for "nothing happens", or the refusal. Whoever was picked for
/// good is looked at before the state, whoever only has it for now after it.
#[test]
fn every_operation_in_every_state_by_every_caller() {
    let scenes: Vec<Scene> = STATES.map(Scene::new).into();
    let mut table = String::new();
    for operation in OPERATIONS {
        writeln!(table, "{operation}").unwrap();
        write!(table, "  {:14}", "").unwrap();
        for state in STATES {
            write!(table, "| {state:20}").unwrap();
        }
        table.truncate(table.trim_end().len());
        table.push('\n');
        for caller in CALLERS {
            write!(table, "  {caller:14}").unwrap();
            for scene in &scenes {
                write!(table, "| {:20}", scene.attempt(operation, caller)).unwrap();
            }
            table.truncate(table.trim_end().len());
            table.push('\n');
        }
        table.push('\n');
    }
    insta::assert_snapshot!("every_operation", table);
}

/// HACP-001, K-14, K-15: who writes a task down is its principal, and a person; who shares an
/// artifact answers for it; where nobody is named to review, the principal does.
#[test]
fn what_does_not_hang_on_the_state() {
    let scene = Scene::new("in_progress");
    let mut table = String::new();
    for caller in CALLERS {
        let mut cast = scene.cast.clone();
        let create = TaskCommand::Create(Box::new(new_task()));
        let created = cell(cast.attempt_task(scene.actor(caller), create), "ok");
        let share = TaskCommand::Share(scene.made.id, "rival".parse().unwrap());
        let shared = cell(cast.attempt_task(scene.actor(caller), share), "ok");
        let plain = cast.begun(new_task());
        cast.delivered(plain, version());
        let review = TaskCommand::Review(plain, Box::new(verdict(Verdict::Approved)));
        let reviewed = cell(cast.attempt_task(scene.actor(caller), review), "completed");
        writeln!(table, "{caller:14}| {created:14}| {shared:14}| {reviewed}").unwrap();
    }
    let expected = "
principal     | ok            | ok            | completed
reviewer      | ok            | not-allowed   | not-allowed
member        | ok            | not-allowed   | not-allowed
administrator | invalid-field | ok            | not-allowed
stranger      | ok            | not-found     | not-found
assignee      | not-allowed   | not-allowed   | not-allowed
former        | not-allowed   | not-allowed   | not-found
fellow        | not-allowed   | not-allowed   | not-found
wide fellow   | not-allowed   | not-allowed   | not-allowed
strange agent | not-allowed   | not-allowed   | not-found
link holder   | not-allowed   | not-allowed   | not-found
system        | not-allowed   | not-allowed   | not-allowed
";
    assert_eq!(tidy(&table), tidy(expected), "\n{table}");
}

/// A task of olga's that nina and rita judge; `old` had it before `bot`.
struct Scene {
    cast: Cast,
    task: TaskId,
    checkpoint: AskId,
    review: ReviewId,
    /// What another task of olga's delivered.
    made: VersionRef,
    /// And what was given to this one to work with.
    used: VersionRef,
}

impl Scene {
    fn new(state: &str) -> Self {
        let mut cast = Cast::staffed();
        let other = cast.begun(new_task());
        let made = cast.delivered(other, version());
        let other = cast.begun(new_task());
        let used = cast.delivered(other, version());
        let new = new_task().judged_by(Quorum::All, &["nina", "rita"]);
        let mut new = kernel::task::NewTask { delegable: true, ..new };
        let (id, version) = (used.id.to_string(), used.version.clone());
        new.spec.inputs.push(TaskInput::Artifact { id, version });
        let task = cast.written(new);
        let nothing = Ulid::from(7_u128);
        let (checkpoint, review) = (AskId::new(nothing), ReviewId::new(nothing));
        let mut scene = Self { cast, task, checkpoint, review, made, used };
        scene.reach(state);
        assert_eq!(scene.cast.task(task).state.as_str(), state);
        scene
    }

    fn reach(&mut self, state: &str) {
        let Self { cast, task, checkpoint, review, .. } = self;
        let task = *task;
        if state == "created" {
            return;
        }
        let olga = cast.human("olga");
        cast.run_task(
            olga.clone(),
            TaskCommand::Assign(task, "old".parse().unwrap(), AgentInput::default()),
        );
        let bot = Party::Agent("bot".parse().unwrap());
        cast.run_task(olga, TaskCommand::Transfer(task, bot, Handover::Handoff));
        if state == "assigned" {
            return;
        }
        cast.run_task(cast.agent("bot"), TaskCommand::Start(task));
        *checkpoint = cast.raised(task, raising(CheckpointKind::Approval));
        if state == "blocked" {
            return;
        }
        cast.resolve("olga", *checkpoint, approve()).unwrap();
        if state == "in_progress" {
            return;
        }
        cast.delivered(task, version());
        if state == "review_ready" {
            return;
        }
        *review = cast.judge("rita", task, verdict(Verdict::Approved)).unwrap();
        match state {
            "under_review" => {}
            "completed" => drop(cast.judge("nina", task, verdict(Verdict::Approved)).unwrap()),
            "rejected" => drop(cast.judge("nina", task, verdict(Verdict::Rejected)).unwrap()),
            other => panic!("no state {other}"),
        }
    }

    fn actor(&self, caller: &str) -> Actor {
        match caller {
            "principal" => self.cast.human("olga"),
            "reviewer" => self.cast.human("nina"),
            "member" => self.cast.human("mark"),
            "administrator" => self.cast.human("adam"),
            "stranger" => self.cast.human("zoe"),
            "assignee" => self.cast.agent("bot"),
            "former" => self.cast.agent("old"),
            "fellow" => self.cast.agent("bob"),
            "wide fellow" => self.cast.widely("bob"),
            "strange agent" => self.cast.agent("spy"),
            "link holder" => Actor::link_holder(self.checkpoint),
            "system" => Actor::System,
            other => panic!("no caller {other}"),
        }
    }

    fn command(&self, operation: &str) -> Command {
        let task = self.task;
        let bob = || "bob".parse().unwrap();
        let command = match operation {
            "task.assign" => TaskCommand::Assign(task, bob(), AgentInput::default()),
            "task.start" => TaskCommand::Start(task),
            "task.cancel" => TaskCommand::Cancel(task, Some("moot".to_owned())),
            "task.interrupt" => TaskCommand::Interrupt(task, "Wait.".to_owned()),
            "task.amend" => TaskCommand::Amend(task, "In euros.".to_owned(), Intent::Clarify),
            "task.grant" => {
                let (decision, until) = (GrantDecision::Allow, GrantDuration::Task);
                TaskCommand::Grant(task, NewGrant { scope: "net:*".to_owned(), decision, until })
            }
            "checkpoint.raise" => {
                TaskCommand::Raise(task, Box::new(raising(CheckpointKind::Approval)))
            }
            "checkpoint.resolve" => TaskCommand::Resolve(self.checkpoint, Box::new(approve())),
            "checkpoint.expire" => TaskCommand::Lapse(self.checkpoint),
            "ownership.transfer" => {
                TaskCommand::Transfer(task, Party::Agent(bob()), Handover::Handoff)
            }
            "ownership.delegate" => TaskCommand::Delegate(task, bob(), AgentInput::default()),
            "review.submit" => TaskCommand::Review(task, Box::new(verdict(Verdict::Approved))),
            "review.comment" => {
                let (anchor, body) = (None, "Page 2, too.".to_owned());
                let comment = AnchoredComment { anchor, severity: Severity::Nit, body };
                TaskCommand::Remark(task, self.review, comment)
            }
            "artifact.commit" => TaskCommand::Commit(task, Box::new(version())),
            "artifact.commit of what is written" => {
                let (artifact, name) = (Some(self.used.id), Some(self.used.version.clone()));
                let again = kernel::task::NewVersion { artifact, name, ..version() };
                TaskCommand::Commit(task, Box::new(again))
            }
            "artifact.commit to another's" => {
                let artifact = Some(self.made.id);
                let more = kernel::task::NewVersion { artifact, ..version() };
                TaskCommand::Commit(task, Box::new(more))
            }
            "artifact.reference" => TaskCommand::Reference(task, self.made.clone(), Role::Input),
            "ledger.write" => {
                let (scope, key) = ("project:acme".parse().unwrap(), "vat".to_owned());
                let entry = NewEntry { scope, key, value: 19.into(), expected: None };
                TaskCommand::Write(task, Box::new(entry))
            }
            "task.erase" => TaskCommand::Erase(task),
            "answer to the checkpoint" => {
                return Command::Ask(AskCommand::Answer(self.checkpoint, yes()));
            }
            "answer to the review" => {
                let nothing = AskId::new(Ulid::from(8_u128));
                let put_up = self.cast.task(task).judged_in.unwrap_or(nothing);
                return Command::Ask(AskCommand::Answer(put_up, yes()));
            }
            "withdrawal of the checkpoint" => {
                return Command::Ask(AskCommand::Cancel(self.checkpoint, None));
            }
            other => panic!("no operation {other}"),
        };
        Command::Task(Box::new(command))
    }

    /// What comes of an operation: the cell of the table. What is refused leaves nothing behind.
    fn attempt(&self, operation: &str, caller: &str) -> String {
        let mut cast = self.cast.clone();
        let before = (cast.records().len(), cast.follow_ups().len());
        let done = cast.attempt(self.actor(caller), self.command(operation));
        let after = (cast.records().len(), cast.follow_ups().len());
        let (was, is) = (self.cast.task(self.task), cast.task(self.task));
        if done.is_err() {
            assert_eq!((before, was), (after, is), "{operation} by {caller}");
        }
        let unchanged = done.is_ok() && before.0 == after.0;
        cell(done, if unchanged { "-" } else { is.state.as_str() })
    }
}

fn cell(done: Result<(), kernel::Refusal>, state: &str) -> String {
    done.map_or_else(|refusal| refusal.code().to_owned(), |()| state.to_owned())
}

/// The cells of a table, whatever the spaces between them.
fn tidy(table: &str) -> Vec<Vec<&str>> {
    table.trim().lines().map(|line| line.split('|').map(str::trim).collect()).collect()
}
