//! Every command about tasks, run once, but for the one that follows the erasure of a person.

use kernel::task::{
    AgentInput, AnchoredComment, CheckpointKind, GrantDecision, GrantDuration, Handover, Intent,
    NewEntry, NewGrant, NewTask, Party, Role, Severity, TaskCommand, Verdict, VersionRef,
};
use kernel::testing::{approve, raising, verdict, version};
use kernel::{Actor, AgentId, TaskId};

use super::{Recorder, person};

/// The owner has one task done and another one called off. Returns the one that was called off.
pub(super) async fn all(story: &mut Recorder, clerk: Actor) -> TaskId {
    let owner = || person("user_dev");
    let id = done(story, clerk.clone()).await;
    let other = called_off(story, clerk, id.artifact).await;
    story.run(owner(), TaskCommand::Erase(id.task)).await;
    other
}

struct Done {
    task: TaskId,
    artifact: VersionRef,
}

/// A task is worked on, stopped twice, delivered and accepted.
async fn done(story: &mut Recorder, clerk: Actor) -> Done {
    let owner = || person("user_dev");
    let task = created(story).await;
    story.run(owner(), TaskCommand::Assign(task, agent("clerk"), AgentInput::default())).await;
    story.run(clerk.clone(), TaskCommand::Start(task)).await;
    let amend = TaskCommand::Amend(task, "In euros.".to_owned(), Intent::Clarify);
    story.run(owner(), amend).await;
    let grant = NewGrant {
        scope: "net:*".to_owned(),
        decision: GrantDecision::Allow,
        until: GrantDuration::Task,
    };
    story.run(owner(), TaskCommand::Grant(task, grant)).await;
    let raise = TaskCommand::Raise(task, Box::new(raising(CheckpointKind::Approval)));
    let checkpoint = story.run(clerk.clone(), raise).await.unwrap();
    story.run(owner(), TaskCommand::Lapse(checkpoint)).await;
    // Nobody decides on a checkpoint that expired, so the owner asks again.
    let interrupt = TaskCommand::Interrupt(task, "Wait.".to_owned());
    let checkpoint = story.run(owner(), interrupt).await.unwrap();
    story.run(owner(), TaskCommand::Resolve(checkpoint, Box::new(approve()))).await;
    let entry = NewEntry {
        scope: "project:dev".parse().unwrap(),
        key: "vat".to_owned(),
        value: 19.into(),
        expected: None,
    };
    story.run(clerk.clone(), TaskCommand::Write(task, Box::new(entry))).await;
    let commit = TaskCommand::Commit(task, Box::new(version()));
    let delivered = story.outcome(clerk, commit).await.task.unwrap().delivered;
    let review = TaskCommand::Review(task, Box::new(verdict(Verdict::Approved)));
    let reviews = story.outcome(owner(), review).await.task.unwrap().reviews;
    let comment =
        AnchoredComment { anchor: None, severity: Severity::Nit, body: "Page 2.".to_owned() };
    story.run(owner(), TaskCommand::Remark(task, reviews[0].id, comment)).await;
    Done { task, artifact: delivered[0].clone() }
}

/// A task uses what another one made, goes from one agent to the next, and is cancelled.
async fn called_off(story: &mut Recorder, clerk: Actor, artifact: VersionRef) -> TaskId {
    let owner = || person("user_dev");
    let task = created(story).await;
    let made = artifact.id;
    story.run(owner(), TaskCommand::Assign(task, agent("clerk"), AgentInput::default())).await;
    story.run(owner(), TaskCommand::Reference(task, artifact, Role::Input)).await;
    story.run(owner(), TaskCommand::Share(made, "fresh".parse().unwrap())).await;
    story.run(owner(), TaskCommand::EraseArtifact(made)).await;
    story.run(clerk, TaskCommand::Delegate(task, agent("agent_dev"), AgentInput::default())).await;
    let transfer = TaskCommand::Transfer(task, Party::Agent(agent("clerk")), Handover::Handoff);
    story.run(owner(), transfer).await;
    story.run(owner(), TaskCommand::Cancel(task, None)).await;
    task
}

/// A task of the owner's that its agent may hand down.
async fn created(story: &mut Recorder) -> TaskId {
    let new = NewTask { delegable: true, ..NewTask::new("work", "Tidy up") };
    let create = TaskCommand::Create(Box::new(new));
    story.outcome(person("user_dev"), create).await.task.unwrap().id
}

fn agent(id: &str) -> AgentId {
    id.parse().unwrap()
}
