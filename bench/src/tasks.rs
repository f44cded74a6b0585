//! Fills a store with tasks before a measurement, through the kernel and the store itself.

use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, ensure};
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::bootstrap;
use gateway::clock::OsClock;
use gateway::installation::Installation;
use gateway::login_rate_limit::LoginRateLimit;
use kernel::actor::{AnswerInterface, Assurance};
use kernel::ask::Priority;
use kernel::question::{Answer, Reply};
use kernel::task::{
    AgentInput, CheckpointKind, Intent, NewCheckpoint, NewEntry, NewTask, TaskCommand,
};
use kernel::{Actor, AskCommand, Command, TaskId};
use serde_json::json;
use store::JobOutcome;
use tokio::task::JoinSet;

use crate::fill::work_off;
use crate::gateway::{AGENT, settings};

/// The number of concurrent tasks: two full commits.
const AT_ONCE: usize = 512;
/// One in this many tasks is assigned to the agent.
const GIVEN: usize = 4;
/// The period of events of the long task: in each, one is a checkpoint, one a message of the
/// principal, and the rest are ledger writes.
const ROUND: usize = 50;
/// The number of keys that are written.
const KEYS: usize = 100;

/// Fills the store of a gateway that is not running with this many tasks, and then with one that
/// has this many events.
pub(crate) fn fill(folder: &Path, tasks: usize, events: usize) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let filled = Process::new(std::env::current_exe()?)
        .arg("fill-tasks")
        .arg(folder)
        .args([tasks.to_string(), events.to_string()])
        .status()?;
    ensure!(filled.success(), "the store could not be filled with tasks");
    Ok(())
}

/// The work of the filling process.
pub(crate) async fn run(folder: &Path, tasks: usize, events: usize) -> anyhow::Result<()> {
    let home =
        Installation::open(&settings(folder).check()?.location, Arc::new(OsClock), true).await?;
    let gateway = Gateway::new(home.store, home.clock);
    bootstrap::create_dev_directory(&gateway).await?;
    let cast = TaskActors::of(gateway.clone())?;
    let left = Arc::new(AtomicUsize::new(tasks));
    let mut writing = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (cast, left) = (cast.clone(), Arc::clone(&left));
        writing.spawn(async move {
            let take = |left: usize| left.checked_sub(1);
            while let Ok(n) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                let task = cast.task().await?;
                if n % GIVEN == 0 {
                    cast.give(task).await?;
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(written) = writing.join_next().await {
        written??;
    }
    if events > 0 {
        cast.long(events).await?;
    }
    work_off(&gateway).await
}

/// The actors of the tasks.
#[derive(Clone)]
struct TaskActors {
    gateway: Gateway,
    person: Actor,
    agent: Actor,
}

impl TaskActors {
    fn of(gateway: Gateway) -> anyhow::Result<Self> {
        let (directory, door) =
            (gateway.directory(), Authenticator::new(0, None, LoginRateLimit::default()));
        let Ok(agent) = door.agent(&directory, AGENT, gateway.now()) else {
            anyhow::bail!("the agent of --dev is not there");
        };
        let id = "user_dev".parse()?;
        let person = Actor::Human { id, via: AnswerInterface::Api, assurance: Assurance::Session };
        Ok(Self { gateway, person, agent })
    }

    async fn run(&self, actor: &Actor, command: TaskCommand) -> anyhow::Result<JobOutcome> {
        Ok(self.gateway.run(actor.clone(), Command::Task(Box::new(command))).await?)
    }

    async fn task(&self) -> anyhow::Result<TaskId> {
        let written = self.run(&self.person, TaskCommand::Create(Box::new(new()))).await?;
        Ok(written.task.context("no task")?.id)
    }

    async fn give(&self, task: TaskId) -> anyhow::Result<()> {
        let agent = "agent_dev".parse()?;
        self.run(&self.person, TaskCommand::Assign(task, agent, AgentInput::default())).await?;
        Ok(())
    }

    /// Creates a task with this many events.
    async fn long(&self, events: usize) -> anyhow::Result<()> {
        let task = self.task().await?;
        self.give(task).await?;
        let mut seq = self.run(&self.agent, TaskCommand::Start(task)).await?.place;
        let mut n = 0;
        while seq.is_some_and(|(_, seq)| seq < events as u64) {
            seq = match n % ROUND {
                0 => self.asked(task).await?,
                1 => {
                    let text = "Leave out what was refunded in January.".to_owned();
                    let amend = TaskCommand::Amend(task, text, Intent::Clarify);
                    self.run(&self.person, amend).await?.place
                }
                _ => {
                    let (scope, key) = ("project:dev".parse()?, format!("refunds/{}", n % KEYS));
                    let value = json!({ "order": 4_700 + n, "amount": "€120.00" });
                    let new = NewEntry { scope, key, value, expected: None };
                    self.run(&self.agent, TaskCommand::Write(task, Box::new(new))).await?.place
                }
            };
            n += 1;
        }
        Ok(())
    }

    /// The agent asks, and its principal approves.
    async fn asked(&self, task: TaskId) -> anyhow::Result<Option<(TaskId, u64)>> {
        let new = NewCheckpoint {
            kind: CheckpointKind::Approval,
            prompt: "Refund €120.00 to Ada Lovelace for order 4711?".to_owned(),
            options: Vec::new(),
            context: Vec::new(),
            proposed_actions: Vec::new(),
            expires_at: None,
            priority: Priority::Normal,
            claims: None,
        };
        let raised = self.run(&self.agent, TaskCommand::Raise(task, Box::new(new))).await?;
        let ask = raised.ask.context("no checkpoint")?.id;
        let yes = Reply { answer: Answer::Approved { edits: None }, comment: None };
        let answer = AskCommand::Answer(ask, Box::new(yes));
        Ok(self.gateway.run(self.person.clone(), answer).await?.place)
    }
}

fn new() -> NewTask {
    let criteria = ["every refund of the month is named", "the sum is at the end"];
    let mut new = NewTask::new("report", "Say what the refunds of this month cost us, and why.");
    new.spec.acceptance_criteria = criteria.map(ToOwned::to_owned).to_vec();
    new
}
