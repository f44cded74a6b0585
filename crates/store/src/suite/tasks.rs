//! Tasks: decided atomically with their artifacts, ledgers and checkpoints.

use std::sync::Arc;

use crate::Work;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::task::{
    AgentInput, Artifact, CheckpointKind, Entry, Intent, LedgerScope as Ledger, NewCheckpoint,
    NewEntry, NewReview, NewTask, NewVersion, Payload, PayloadKind, ReviewKind, ReviewText, Role,
    TaskCommand, TaskState, Verdict, VersionRef,
};
use kernel::testing::{human, yes};
use kernel::{
    Actor, ArtifactId, AskCommand, AskId, Command, Entity, EntryId, Refusal, ReviewId, Subject,
    Task, TaskId, evolve,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use ulid::Ulid;

use super::stage::{Stage, bot, person, refusal, spy};
use crate::{Job, JobOutcome, ListScope, Result};

pub fn new_task() -> NewTask {
    let goal = "Say what the refunds cost us.";
    NewTask { project: Some("acme".parse().unwrap()), ..NewTask::new("report", goal) }
}

pub fn of(command: TaskCommand) -> Command {
    Command::Task(Box::new(command))
}

pub fn create(new: NewTask) -> Command {
    of(TaskCommand::Create(Box::new(new)))
}

pub fn assign(id: TaskId) -> Command {
    of(TaskCommand::Assign(id, "bot".parse().unwrap(), AgentInput::default()))
}

pub fn amend(id: TaskId, text: &str) -> Command {
    of(TaskCommand::Amend(id, text.to_owned(), Intent::Clarify))
}

pub fn raise(id: TaskId) -> Command {
    of(TaskCommand::Raise(
        id,
        Box::new(NewCheckpoint {
            kind: CheckpointKind::Approval,
            prompt: "May I ask the bank?".to_owned(),
            options: Vec::new(),
            context: Vec::new(),
            proposed_actions: Vec::new(),
            expires_at: None,
            priority: Priority::Normal,
            claims: None,
        }),
    ))
}

pub fn commit(id: TaskId, text: &str) -> Command {
    let payload = Payload {
        kind: PayloadKind::Inline,
        uri: None,
        checksum: Digest::of(text.as_bytes()),
        size: text.len() as u64,
        media_type: None,
        held: Some(Digest::of(b"the list of its pieces")),
    };
    let (artifact, name, parent) = (None, None, None);
    let sort = "report".to_owned();
    of(TaskCommand::Commit(id, Box::new(NewVersion { artifact, sort, name, parent, payload })))
}

pub fn review(id: TaskId, verdict: Verdict) -> Command {
    let changes = (verdict == Verdict::ChangesRequested).then(|| "Add the taxes.".to_owned());
    let words =
        ReviewText { requested_changes: changes.into_iter().collect(), ..ReviewText::default() };
    let (artifact, version, kind) = (None, None, ReviewKind::Deliverable);
    let new = NewReview { artifact, version, kind, verdict, text: words };
    of(TaskCommand::Review(id, Box::new(new)))
}

pub fn ledger() -> Ledger {
    "project:acme".parse().unwrap()
}

pub fn write(id: TaskId, key: &str, value: Value, expected: Option<u64>) -> Command {
    let new = NewEntry { scope: ledger(), key: key.to_owned(), value, expected };
    of(TaskCommand::Write(id, Box::new(new)))
}

/// Creates a task as olga.
pub async fn created(stage: &Stage, new: NewTask) -> TaskId {
    stage.run(person("olga"), create(new)).await.task.unwrap().id
}

/// Creates a task that the bot works on.
pub async fn begun(stage: &Stage) -> TaskId {
    let id = created(stage, new_task()).await;
    stage.run(person("olga"), assign(id)).await;
    stage.run(bot(), of(TaskCommand::Start(id))).await;
    id
}

/// A task with a checkpoint, two versions of an artifact and a ledger entry.
pub async fn story(stage: &Stage) -> (TaskId, ArtifactId) {
    let id = begun(stage).await;
    stage.run(person("olga"), amend(id, "Leave out January.")).await;
    let checkpoint = stage.run(bot(), raise(id)).await.ask.unwrap().id;
    stage.run(person("olga"), AskCommand::Answer(checkpoint, yes())).await;
    stage.run(bot(), commit(id, "first")).await;
    stage.run(person("olga"), review(id, Verdict::ChangesRequested)).await;
    let made = stage.run(bot(), commit(id, "second")).await.artifact.unwrap().id;
    stage.run(bot(), write(id, "refunds.total", json!(7), None)).await;
    stage.run(person("olga"), review(id, Verdict::Approved)).await;
    (id, made)
}

pub async fn seen(stage: &Stage, id: TaskId) -> Task {
    stage.store.task(id).await.unwrap().unwrap()
}

/// The state that a subject's records lead to, up to one of them.
pub async fn folded(stage: &Stage, subject: Subject, seq: u64) -> Entity {
    let records = stage.store.chain(subject, 0, 1000).await.unwrap();
    let mut state = None;
    for record in records.iter().filter(|record| record.seq <= seq) {
        state = Some(evolve(state, &record.event().unwrap(), record.hash).unwrap());
    }
    state.unwrap()
}

async fn at_once(stage: &Stage, jobs: Vec<Job>) -> Vec<Result<JobOutcome>> {
    let mut running = JoinSet::new();
    for job in jobs {
        let store = Arc::clone(&stage.store);
        running.spawn(async move { store.transact(job).await });
    }
    running.join_all().await
}

fn boxed(task: Task) -> Entity {
    Entity::Task(Box::new(task))
}

/// HACP-004: a stored task reads back the same for every reader.
pub async fn a_task_reads_back(stage: &Stage) {
    let job = stage.job(person("olga"), create(new_task()));
    let id = TaskId::new(job.envelope.fresh);
    let outcome = stage.store.transact(job).await.unwrap();
    let made = outcome.task.unwrap();
    assert_eq!((made.id, made.state, made.revision), (id, TaskState::Created, 0));
    assert_eq!(outcome.place, Some((id, 1)));
    assert_eq!((outcome.ask, outcome.artifact, outcome.entry), (None, None, None));
    assert_eq!(seen(stage, id).await, *made);
    let nothing = Ulid::from(7_u128);
    assert_eq!(stage.store.task(TaskId::new(nothing)).await.unwrap(), None);
    assert_eq!(stage.store.artifact(ArtifactId::new(nothing)).await.unwrap(), None);
    assert_eq!(stage.store.entry(EntryId::of("org:all", "none")).await.unwrap(), None);
    assert_eq!(stage.store.task_of_review(ReviewId::new(nothing)).await.unwrap(), None);
}

/// HACP-042: failed calls leave no audit, state, ownership, checkpoint or run.
pub async fn a_refused_operation_changes_nothing(stage: &Stage) {
    let id = begun(stage).await;
    let before = (seen(stage, id).await, stage.store.last_position().await.unwrap());
    let contracts = stage.store.contracts("bot".parse().unwrap(), 0, 100).await.unwrap();
    let hidden = Refusal::NotFound { what: "task" };
    for (actor, command, why) in [
        (spy(), amend(id, "Stop."), Some(hidden)),
        (person("mark"), of(TaskCommand::Cancel(id, None)), None),
        (person("olga"), assign(id), None),
        (person("olga"), review(id, Verdict::Approved), None),
        (bot(), write(id, "", json!(1), None), None),
    ] {
        let refused = refusal(stage.attempt(actor, command).await);
        assert!(why.is_none_or(|why| refused == why), "{refused:?}");
    }
    assert_eq!((seen(stage, id).await, stage.store.last_position().await.unwrap()), before);
    let after = stage.store.contracts("bot".parse().unwrap(), 0, 100).await.unwrap();
    assert_eq!(after, contracts);
    assert_eq!(stage.store.entries(ledger(), None, 9).await.unwrap(), []);
}

/// HACP-032 and HACP-043: a whole task, and every state is what its records lead to.
pub async fn a_task_goes_to_its_end(stage: &Stage) {
    let (id, made) = story(stage).await;
    let task = seen(stage, id).await;
    assert_eq!(task.state, TaskState::Completed);
    assert_eq!(folded(stage, Subject::Task(id), task.head.seq).await, boxed(task.clone()));
    let artifact: Artifact = stage.store.artifact(made).await.unwrap().unwrap();
    let names: Vec<_> = artifact.versions.iter().map(|version| version.name.as_str()).collect();
    assert_eq!(names, ["v1", "v2"], "versions of one artifact");
    let replayed = folded(stage, Subject::Artifact(made), artifact.head.seq).await;
    assert_eq!(replayed, Entity::Artifact(Box::new(artifact)));
    let entry = EntryId::of(ledger().as_str(), "refunds.total");
    let entry: Entry = stage.store.entry(entry).await.unwrap().unwrap();
    assert_eq!((entry.value.value(), entry.by), (Some(&json!(7)), id));
    let replayed = folded(stage, Subject::Entry(entry.id), entry.head.seq).await;
    assert_eq!(replayed, Entity::Entry(Box::new(entry)));
    for review in &task.reviews {
        assert_eq!(stage.store.task_of_review(review.id).await.unwrap(), Some(id));
    }
    assert_eq!(task.reviews.len(), 2);
}

/// Answered anywhere, a checkpoint resumes its task in the same transaction.
pub async fn an_answered_checkpoint_moves_its_task(stage: &Stage) {
    let id = begun(stage).await;
    let raised = stage.run(bot(), raise(id)).await;
    let checkpoint = raised.ask.unwrap();
    assert_eq!(raised.task.unwrap().state, TaskState::Blocked);
    let before = stage.store.last_position().await.unwrap();
    let outcome = stage.run(person("olga"), AskCommand::Answer(checkpoint.id, yes())).await;
    let task = outcome.task.unwrap();
    assert_eq!((task.id, task.state), (id, TaskState::InProgress));
    assert_eq!(outcome.place, Some((id, task.head.seq)));
    assert!(!outcome.ask.unwrap().is_open());
    assert_eq!(seen(stage, id).await, *task);
    assert!(!stage.seen(checkpoint.id).await.is_open());
    let told = stage.store.changes(crate::FeedQuery::After(before), 9).await.unwrap();
    let told: Vec<_> = told.iter().map(|one| (one.subject.clone(), one.what.as_str())).collect();
    let both =
        [(Subject::Ask(checkpoint.id), "answered"), (Subject::Task(id), "checkpoint_resolved")];
    assert_eq!(told, both);
}

/// A decision on the ask and one on the task at the same time conflict: one of them wins, and both
/// states agree afterwards.
pub async fn of_an_answer_and_a_cancellation_one_wins(stage: &Stage) {
    for _ in 0..5 {
        let id = begun(stage).await;
        let ask = stage.run(bot(), raise(id)).await.ask.unwrap().id;
        let answer = stage.job(person("olga"), AskCommand::Answer(ask, yes()));
        let cancel = stage.job(person("olga"), of(TaskCommand::Cancel(id, None)));
        let outcomes = at_once(stage, vec![answer, cancel]).await;
        let task = seen(stage, id).await;
        // A resumed task can still be cancelled, but a cancelled one does not resume.
        assert_eq!(task.state, TaskState::Completed, "{outcomes:?}");
        assert!(!stage.seen(ask).await.is_open());
        let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert!((1..=2).contains(&won), "{outcomes:?}");
        assert_eq!(folded(stage, Subject::Task(id), task.head.seq).await, boxed(task));
    }
}

/// HACP-082: the same key and the same request return the first result, before the revision is
/// checked. The task at that time is folded from its records up to that sequence number.
pub async fn a_repeated_operation_says_where_it_was(stage: &Stage) {
    let id = begun(stage).await;
    let at_revision = |revision, text: &str| {
        let mut job = stage.keyed(person("olga"), amend(id, "Leave out January."), "k", text);
        job.envelope.expected = Some(revision);
        job
    };
    let first = stage.store.transact(at_revision(2, "the same")).await.unwrap();
    let then = first.task.clone().unwrap();
    assert_eq!((first.replayed, first.place), (false, Some((id, then.head.seq))));
    stage.run(person("olga"), amend(id, "And February.")).await;
    let again = stage.store.transact(at_revision(2, "the same")).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.place, first.place);
    let now = seen(stage, id).await;
    assert_eq!(
        (again.task.as_deref(), now.steering.len()),
        (Some(&now), 2),
        "nothing was done again"
    );
    let (_, seq) = again.place.unwrap();
    assert_eq!(folded(stage, Subject::Task(id), seq).await, boxed(*then));
    let other = stage.store.transact(at_revision(3, "another")).await;
    assert_eq!(refusal(other), Refusal::IdempotencyMismatch);
    let stale = {
        let mut job = stage.job(person("olga"), amend(id, "And March."));
        job.envelope.expected = Some(2);
        stage.store.transact(job).await
    };
    assert_eq!(refusal(stale), Refusal::Stale { what: "task", revision: 4 });
    let made = || stage.keyed(person("olga"), create(new_task()), "new", "task");
    let made = (stage.store.transact(made()).await, stage.store.transact(made()).await);
    let (first, again) = (made.0.unwrap(), made.1.unwrap());
    assert!(again.replayed);
    assert_eq!((again.place, again.task), (first.place, first.task));
}

/// HACP-081: of several commands with the same revision, one is accepted.
pub async fn of_many_who_saw_one_revision_one_is_taken(stage: &Stage) {
    let id = begun(stage).await;
    let jobs = (0..20).map(|n| {
        let mut job = stage.job(person("olga"), amend(id, &format!("Way {n}.")));
        job.envelope.expected = Some(2);
        job
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        at_once(stage, jobs.collect()).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 19));
    for late in lost {
        assert_eq!(refusal(late), Refusal::Stale { what: "task", revision: 3 });
    }
    let task = seen(stage, id).await;
    assert_eq!((task.revision, task.steering.len()), (3, 1));
    assert_eq!(won.into_iter().next().unwrap().unwrap().task.as_deref(), Some(&task));
}

/// HACP-030: a task begins once, however many callers start it.
pub async fn of_many_who_begin_one_does(stage: &Stage) {
    let id = created(stage, new_task()).await;
    stage.run(person("olga"), assign(id)).await;
    let jobs = (0..20).map(|_| stage.job(bot(), of(TaskCommand::Start(id))));
    let (won, lost): (Vec<_>, Vec<_>) =
        at_once(stage, jobs.collect()).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 19));
    for late in lost {
        let refused = refusal(late);
        assert!(matches!(refused, Refusal::Precondition { .. }), "{refused:?}");
    }
    assert_eq!(seen(stage, id).await.revision, 2);
}

/// HACP-021: a stored version does not change; its task delivers another one.
pub async fn a_version_is_written_once(stage: &Stage) {
    let id = begun(stage).await;
    let first = stage.run(bot(), commit(id, "first")).await.artifact.unwrap();
    assert_eq!(stage.store.artifact(first.id).await.unwrap().as_ref(), Some(&*first));
    stage.run(person("olga"), review(id, Verdict::ChangesRequested)).await;
    let Command::Task(again) = commit(id, "other") else { unreachable!() };
    let TaskCommand::Commit(_, mut again) = *again else { unreachable!() };
    (again.artifact, again.name) = (Some(first.id), Some("v1".to_owned()));
    let refused = stage.attempt(bot(), of(TaskCommand::Commit(id, again))).await;
    assert!(matches!(refusal(refused), Refusal::Immutable { .. }));
    assert_eq!(stage.store.artifact(first.id).await.unwrap(), Some(*first));
}

/// An artifact and a task that uses it are written together; an artifact that was not shared
/// cannot be used.
pub async fn an_artifact_is_used_by_others(stage: &Stage) {
    let (id, made) = story(stage).await;
    let before = seen(stage, id).await.head.seq;
    let theirs = NewTask { project: Some("rival".parse().unwrap()), ..new_task() };
    let theirs = stage.run(person("zoe"), create(theirs)).await.task.unwrap().id;
    let version = VersionRef { id: made, version: "v2".to_owned() };
    let using = || of(TaskCommand::Reference(theirs, version.clone(), Role::Input));
    refusal(stage.attempt(person("zoe"), using()).await);
    let share = of(TaskCommand::Share(made, "rival".parse().unwrap()));
    let shared = stage.run(person("olga"), share).await;
    assert_eq!(shared.place, Some((id, before + 1)), "on the record of the task that made it");
    assert_eq!(shared.artifact.unwrap().shared_with, ["rival".parse().unwrap()]);
    let used = stage.run(person("zoe"), using()).await;
    let artifact = used.artifact.unwrap();
    assert_eq!(stage.store.artifact(made).await.unwrap().as_ref(), Some(&*artifact));
    assert_eq!(artifact.version(Some("v2")).unwrap().references.len(), 2);
    assert_eq!(used.task.unwrap().head.seq, 2);
}

async fn over_tasks(stage: &Stage, since: kernel::Time, limit: usize) -> Vec<TaskId> {
    stage.store.ended_tasks("acme".parse().unwrap(), since, limit).await.unwrap()
}

/// HACP-024 and erasure: the text is erased, the chain stays complete.
pub async fn an_erased_task_keeps_its_chain(stage: &Stage) {
    let ((over, _), open) = (story(stage).await, begun(stage).await);
    let ended = seen(stage, over).await.retention_start().unwrap();
    assert_eq!(over_tasks(stage, ended, 9).await, [over]);
    let earlier = kernel::Time::from_millis(ended.millis() - 1);
    assert_eq!(over_tasks(stage, earlier, 9).await, []);
    assert_eq!(over_tasks(stage, ended, 0).await, []);
    stage.run(Actor::System, of(TaskCommand::Erase(over))).await;
    assert_eq!(over_tasks(stage, ended, 9).await, []);
    let records = stage.store.chain(Subject::Task(over), 0, 100).await.unwrap();
    assert!(records.iter().flat_map(|record| &record.contents).all(Value::is_null));
    let task = seen(stage, over).await;
    assert_eq!(task.spec.value(), None);
    assert_eq!(folded(stage, Subject::Task(over), task.head.seq).await, boxed(task));
    let refused = refusal(stage.attempt(Actor::System, of(TaskCommand::Erase(open))).await);
    assert!(matches!(refused, Refusal::NotOver { .. }));
    assert!(seen(stage, open).await.spec.value().is_some());
}

/// Every chain is complete, in the order of names, and has the state it leads to.
pub async fn chains_of_tasks_are_whole(stage: &Stage) {
    story(stage).await;
    story(stage).await;
    for limit in [1, 3, 1000] {
        let (mut kinds, mut after) = (std::collections::BTreeMap::<_, u32>::new(), None);
        loop {
            let page = stage.store.chains(after, limit).await.unwrap();
            for chain in page.chains {
                let subject: Subject = chain.subject.parse().unwrap();
                *kinds.entry(subject.kind()).or_default() += 1;
                let (held, last) = (chain.state.unwrap(), chain.rows.last().unwrap());
                assert_eq!(held.version, last.seq);
                let head = match subject {
                    Subject::Task(_) => serde_json::from_str::<Task>(&held.state).unwrap().head,
                    Subject::Artifact(_) => {
                        serde_json::from_str::<Artifact>(&held.state).unwrap().head
                    }
                    Subject::Entry(_) => serde_json::from_str::<Entry>(&held.state).unwrap().head,
                    _ => continue,
                };
                assert_eq!((head.seq, head.hash), (last.seq, last.hash), "{}", chain.subject);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let counts = ["task", "artifact", "entry"].map(|kind| kinds.get(kind).copied());
        assert_eq!(counts, [Some(2), Some(2), Some(1)], "{limit} at a time");
    }
}

/// A subscriber to the tasks of a project, or to the runtime of an agent, receives the events
/// that concern it.
pub async fn the_feed_tells_of_tasks(stage: &Stage) {
    let mut feed = stage.store.feed();
    let position = stage.store.last_position().await.unwrap();
    let (id, _) = story(stage).await;
    let committed = stage.store.changes(crate::FeedQuery::After(position), 1000).await.unwrap();
    let mut heard = Vec::new();
    while heard.len() < committed.len() {
        heard.extend_from_slice(&feed.recv().await.unwrap());
    }
    let (tasks, runtime) =
        (ListScope::Tasks("acme".parse().unwrap()), ListScope::Runtime("bot".parse().unwrap()));
    let own = heard.iter().filter(|news| news.change.subject == Subject::Task(id));
    let mut wanted = Vec::new();
    for news in own {
        assert!(news.lists.contains(&tasks), "{news:?}");
        wanted.extend(news.lists.contains(&runtime).then_some(news.change.what.as_str()));
    }
    let resumed = ["task_assigned", "task_amended", "checkpoint_raised", "checkpoint_resolved"];
    assert_eq!(wanted[..4], resumed);
    assert!(wanted[4..].iter().all(|what| what.starts_with("review_")), "{wanted:?}");
    for news in &heard {
        if matches!(news.change.subject, Subject::Artifact(_) | Subject::Entry(_)) {
            assert_eq!(*news.lists, []);
        }
    }
    let told: Vec<_> = heard.into_iter().map(|news| news.change).collect();
    assert_eq!(told, committed);
}

/// The outbox row is written with its event, in a lane of the agent.
pub async fn a_contract_waits_in_the_outbox_too(stage: &Stage) {
    let id = created(stage, new_task()).await;
    stage.run(person("olga"), assign(id)).await;
    let lease = std::time::Duration::from_secs(9);
    let claimed = stage.store.claim("runtime:bot", stage.now(), lease, 9).await.unwrap();
    let effects: Vec<_> = claimed.into_iter().map(|delivery| delivery.work).collect();
    let contracts = stage.store.contracts("bot".parse().unwrap(), 0, 9).await.unwrap();
    let kept: Vec<_> = contracts.into_iter().map(|(_, one)| Work::Contract(one)).collect();
    assert_eq!(effects, kept);
    assert_eq!(effects.len(), 1);
    let agent = AskId::new(id.ulid());
    assert_eq!(stage.store.ask(agent).await.unwrap(), None, "a task is no ask");
    assert_eq!(seen(stage, id).await.principal, human("olga"));
}
