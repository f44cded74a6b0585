//! Random scripts: who does what to which task, and how the clock jumps meanwhile.

use kernel::ids::{AskId, ReviewId, TaskId};
use kernel::task::{
    AgentInput, AnchoredComment, CheckpointKind, GrantDecision, GrantDuration, Handover, Intent,
    NewCheckpoint, NewEntry, NewGrant, NewReview, NewTask, NewVersion, OnSilence, Party, Quorum,
    ResolutionAction, ReviewKind, Role, Severity, Task, TaskCommand, TaskState, Verdict,
};
use kernel::testing::{Cast, human, new_task, no, raising, resolution, verdict, version, yes};
use kernel::{Actor, AskCommand, Command};
use proptest::prelude::*;
use ulid::Ulid;

/// One turn of a play.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// How many seconds pass first; the clock may go back.
    pub jump: i64,
    /// Whoever is suited to the wish, or somebody at random.
    pub actor: Option<u8>,
    /// Which task.
    pub task: u8,
    pub wish: Wish,
    /// Which of several ways to wish it.
    pub way: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Create,
    Assign,
    Start,
    Cancel,
    Interrupt,
    Amend,
    Grant,
    Raise,
    Resolve,
    Lapse,
    Transfer,
    Delegate,
    Review,
    Remark,
    Commit,
    Reference,
    Share,
    Write,
    Erase,
    /// The checkpoint is answered elsewhere.
    Answer,
    /// What was delivered is judged elsewhere.
    Judge,
    /// The ask of the checkpoint is withdrawn.
    Withdraw,
    /// The ask of the checkpoint is handed to somebody.
    Hand,
    /// The timer of the checkpoint comes.
    Tick,
}

pub(crate) fn any_script() -> impl Strategy<Value = Vec<Turn>> {
    prop::collection::vec(any_turn(), 1..60)
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let jump = prop_oneof![6 => Just(0), 4 => 1..20_i64, 2 => 20..90_i64, 1 => -60..0_i64];
    let wish = prop_oneof![
        3 => Just(Wish::Create),
        4 => Just(Wish::Assign),
        6 => Just(Wish::Start),
        1 => Just(Wish::Cancel),
        2 => Just(Wish::Interrupt),
        2 => Just(Wish::Amend),
        1 => Just(Wish::Grant),
        6 => Just(Wish::Raise),
        4 => Just(Wish::Resolve),
        1 => Just(Wish::Lapse),
        3 => Just(Wish::Transfer),
        2 => Just(Wish::Delegate),
        5 => Just(Wish::Review),
        1 => Just(Wish::Remark),
        6 => Just(Wish::Commit),
        2 => Just(Wish::Reference),
        1 => Just(Wish::Share),
        2 => Just(Wish::Write),
        1 => Just(Wish::Erase),
        3 => Just(Wish::Answer),
        3 => Just(Wish::Judge),
        1 => Just(Wish::Withdraw),
        1 => Just(Wish::Hand),
        2 => Just(Wish::Tick),
    ];
    let actor = prop::option::weighted(0.25, any::<u8>());
    (jump, actor, 0..4_u8, wish, any::<u8>()).prop_map(|(jump, actor, task, wish, way)| Turn {
        jump,
        actor,
        task,
        wish,
        way,
    })
}

impl Turn {
    /// What is wanted, by whom.
    pub(crate) fn envelope(&self, cast: &Cast) -> (Actor, Command) {
        let tasks: Vec<&Task> = cast.tasks().collect();
        let task = tasks.get(usize::from(self.task) % tasks.len().max(1)).copied();
        let Some(task) = task.filter(|_| self.wish != Wish::Create) else {
            let create = TaskCommand::Create(Box::new(self.new_task(cast)));
            return (self.actor(cast, None, cast.human("olga")), Command::Task(Box::new(create)));
        };
        let (suited, command) = self.wish(cast, task);
        (self.actor(cast, task.checkpoints.last().map(|raised| raised.ask), suited), command)
    }

    fn actor(&self, cast: &Cast, ask: Option<AskId>, suited: Actor) -> Actor {
        let Some(n) = self.actor else { return suited };
        let ask = ask.unwrap_or_else(|| AskId::new(Ulid::from(7_u128)));
        let people = ["olga", "nina", "rita", "mark", "adam", "zoe", "ghost"];
        let agents = ["bot", "bob", "old", "spy"];
        match usize::from(n) % 15 {
            n @ 0..7 => cast.human(people[n]),
            n @ 7..11 => cast.agent(agents[n - 7]),
            11 => Actor::link_holder(ask),
            12 => cast.guest(ask),
            13 => cast.relay(ask),
            _ => Actor::System,
        }
    }

    fn is(&self, n: u8) -> bool {
        self.way & (1 << n) != 0
    }

    fn new_task(&self, cast: &Cast) -> NewTask {
        let (delegable, late, silent) = (self.is(0), self.is(1) && self.is(2), self.is(3));
        let new = NewTask {
            delegable,
            deadline: late.then(|| cast.now().plus_seconds(200)),
            max_duration: self.is(4).then_some(300),
            on_silence: if silent { OnSilence::Cancel } else { OnSilence::StayBlocked },
            ..new_task()
        };
        match (self.is(5), self.is(6), self.is(7)) {
            (false, ..) => new,
            (true, false, _) => new.judged_by(Quorum::All, &["nina", "rita"]),
            (true, true, false) => new.judged_by(Quorum::Majority, &["nina", "rita", "mark"]),
            (true, true, true) => new.judged_by(Quorum::Any, &["nina", "olga"]),
        }
    }

    fn wish(&self, cast: &Cast, task: &Task) -> (Actor, Command) {
        let (id, way) = (task.id, usize::from(self.way));
        let olga = || cast.human(task.principal.as_str());
        let holder = || match &task.assignee {
            Party::Human(human) => cast.human(human.as_str()),
            Party::Agent(agent) => cast.agent(agent.as_str()),
        };
        let worker = || match &task.worker {
            Party::Human(human) => cast.human(human.as_str()),
            Party::Agent(agent) => cast.agent(agent.as_str()),
        };
        let agent = || ["bot", "bob", "old", "spy"][way % 4].parse().unwrap();
        let reviewers = task.reviewers();
        let reviewer = || cast.human(reviewers[way % reviewers.len()].as_str());
        let deciders = task.deciders();
        let decider = || cast.human(deciders[way % deciders.len()].as_str());
        let unknown = AskId::new(Ulid::from(7_u128));
        let checkpoint = task.checkpoints.last().map_or(unknown, |raised| raised.ask);
        let (actor, command) = match self.wish {
            Wish::Create | Wish::Amend => {
                let intents =
                    [Intent::Redirect, Intent::Clarify, Intent::Constrain, Intent::AbortHint];
                (olga(), TaskCommand::Amend(id, "So.".to_owned(), intents[way % 4]))
            }
            Wish::Assign => (olga(), TaskCommand::Assign(id, agent(), AgentInput::default())),
            Wish::Start => (holder(), TaskCommand::Start(id)),
            Wish::Cancel => {
                (olga(), TaskCommand::Cancel(id, self.is(0).then(|| "moot".to_owned())))
            }
            Wish::Interrupt => (olga(), TaskCommand::Interrupt(id, "Wait.".to_owned())),
            Wish::Grant => {
                let decision = if self.is(0) { GrantDecision::Allow } else { GrantDecision::Deny };
                let (scope, until) = ("net:*".to_owned(), GrantDuration::Session);
                (olga(), TaskCommand::Grant(id, NewGrant { scope, decision, until }))
            }
            Wish::Raise => {
                let kind = CheckpointKind::ALL[way % 5];
                let expires_at = self.is(6).then(|| cast.now().plus_seconds(30));
                let new = NewCheckpoint { expires_at, ..raising(kind).proposing(&["x", "y"]) };
                (holder(), TaskCommand::Raise(id, Box::new(new)))
            }
            Wish::Resolve => (decider(), TaskCommand::Resolve(checkpoint, Box::new(self.said()))),
            Wish::Lapse => (olga(), TaskCommand::Lapse(checkpoint)),
            Wish::Transfer => {
                let person = ["mark", "olga", "nina", "zoe"][way % 4];
                let to =
                    if self.is(7) { Party::Human(human(person)) } else { Party::Agent(agent()) };
                let ways = [Handover::Assign, Handover::Handoff, Handover::Checkpoint];
                (olga(), TaskCommand::Transfer(id, to, ways[way % 3]))
            }
            Wish::Delegate => (holder(), TaskCommand::Delegate(id, agent(), AgentInput::default())),
            Wish::Review => {
                let verdicts = [
                    Verdict::Approved,
                    Verdict::ChangesRequested,
                    Verdict::Approved,
                    Verdict::Rejected,
                ];
                let kind = if self.is(6) { ReviewKind::Plan } else { ReviewKind::Deliverable };
                let new = NewReview { kind, ..verdict(verdicts[way % 4]) };
                (reviewer(), TaskCommand::Review(id, Box::new(new)))
            }
            Wish::Remark => {
                let review = task.reviews.first().map(|review| review.id);
                let review = review.unwrap_or_else(|| ReviewId::new(Ulid::from(7_u128)));
                let body = "Well.".to_owned();
                let comment = AnchoredComment { anchor: None, severity: Severity::Nit, body };
                (decider(), TaskCommand::Remark(id, review, comment))
            }
            Wish::Commit => {
                let names = ["v1", "v2", "v3", "final"];
                let name = self.is(7).then(|| names[way % 4].to_owned());
                let sort = if self.is(6) { "plan" } else { "report" }.to_owned();
                let new = NewVersion { name, sort, ..version() };
                (holder(), TaskCommand::Commit(id, Box::new(new)))
            }
            Wish::Reference | Wish::Share => {
                let made = cast.tasks().flat_map(|task| task.delivered.iter().cloned()).last();
                match (made, self.wish) {
                    (None, _) => (worker(), TaskCommand::Start(id)),
                    (Some(made), Wish::Share) => {
                        (olga(), TaskCommand::Share(made.id, "rival".parse().unwrap()))
                    }
                    (Some(made), _) => (worker(), TaskCommand::Reference(id, made, Role::Input)),
                }
            }
            Wish::Write => {
                let scopes = ["project:acme", "org:all", "team:legal"];
                let new = NewEntry {
                    scope: scopes[way % 3].parse().unwrap(),
                    key: ["a", "b"][way % 2].to_owned(),
                    value: way.into(),
                    expected: self.is(7).then_some(1),
                };
                (worker(), TaskCommand::Write(id, Box::new(new)))
            }
            Wish::Erase => (cast.human("adam"), TaskCommand::Erase(id)),
            Wish::Answer => {
                let reply = if self.is(7) { no() } else { yes() };
                return (decider(), Command::Ask(AskCommand::Answer(checkpoint, reply)));
            }
            Wish::Judge => {
                let ask = task.judged_in.unwrap_or(unknown);
                return (
                    reviewer(),
                    Command::Ask(AskCommand::Answer(ask, if self.is(7) { no() } else { yes() })),
                );
            }
            Wish::Withdraw => {
                return (holder(), Command::Ask(AskCommand::Cancel(checkpoint, None)));
            }
            Wish::Hand => {
                let to = ["mark", "nina", "rita"][way % 3];
                return (olga(), Command::Ask(AskCommand::Assign(checkpoint, human(to), None)));
            }
            Wish::Tick => return (Actor::System, Command::Ask(AskCommand::Expire(checkpoint))),
        };
        (actor, Command::Task(Box::new(command)))
    }

    fn said(&self) -> kernel::task::NewResolution {
        let actions = [
            ResolutionAction::Approve,
            ResolutionAction::Provide,
            ResolutionAction::Choose,
            ResolutionAction::Reassign,
            ResolutionAction::Reject,
        ];
        resolution(actions[usize::from(self.way) % 5])
    }
}

/// How often a wish changes the revision of its task when it is granted.
pub(crate) fn counts(command: &Command) -> Option<u64> {
    match command {
        Command::Task(command) => match &**command {
            TaskCommand::Create(_)
            | TaskCommand::Remark(..)
            | TaskCommand::Reference(..)
            | TaskCommand::Share(..)
            | TaskCommand::Write(..)
            | TaskCommand::Erase(_) => Some(0),
            _ => Some(1),
        },
        Command::Ask(AskCommand::Answer(..) | AskCommand::Cancel(..) | AskCommand::Expire(_)) => {
            Some(1)
        }
        Command::Ask(AskCommand::Assign(..)) => Some(0),
        _ => None,
    }
}

/// The task a command is about.
pub(crate) fn about(cast: &Cast, command: &Command) -> Option<TaskId> {
    match command {
        Command::Task(command) => command.task().or_else(|| {
            let ask = command.checkpoint()?;
            cast.asks().find(|known| known.id == ask)?.checkpoint.as_ref().map(|has| has.task)
        }),
        other => {
            let ask = cast.asks().find(|known| Some(known.id) == other.ask())?;
            let held = ask.checkpoint.as_ref().map(|has| has.task);
            held.or_else(|| ask.review.as_ref().map(|review| review.task))
        }
    }
}

/// Whether a task can stand here and be with somebody else than its principal.
pub(crate) fn is_worked_on(state: TaskState) -> bool {
    matches!(state, TaskState::Assigned | TaskState::InProgress)
}
