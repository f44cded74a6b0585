//! Erases people, tasks and artifacts (GDPR). The kernel decides. This module finds the related
//! data, and runs the effects that a decision adds to the outbox.
//!
//! A background job finds the texts of a person by reading the event feed from its beginning. Each
//! step is an effect that the next one settles, so a restart continues where the last step ended.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kernel::audit::{self, RecordRow};
use kernel::question::Answer;
use kernel::task::{Party, TaskCommand, TaskEvent, TaskState};
use kernel::{
    Actor, ArtifactId, AskCommand, AskEvent, AskId, Command, DirectoryCommand, DomainEvent, Event,
    HumanId, Phase, Refusal, Subject, TaskId,
};
use store::Work;
use store::{AskListQuery, Filter, ListScope, Order, Settlement, StoreError, TaskListQuery};

use crate::blobs::Blobs;
use crate::gateway::Gateway;

/// The number of records per read.
const BATCH: usize = 1000;
/// The approximate time limit of one step, because other effects wait for it.
const STEP_TIME_LIMIT: Duration = Duration::from_millis(500);
/// The most requests or tasks that a refusal names.
const MAX_NAMED_ITEMS: usize = 10;

/// Erases personal data.
#[derive(Clone)]
pub struct DataEraser {
    gateway: Gateway,
    blobs: Blobs,
}

impl DataEraser {
    /// Erases data of this gateway, including the bytes of artifacts.
    pub fn new(gateway: Gateway, blobs: Blobs) -> Self {
        Self { gateway, blobs }
    }

    /// Erases a person. Refused while requests or tasks wait for them. The refusal lists these.
    pub async fn erase_person(&self, actor: Actor, id: &HumanId) -> Result<(), StoreError> {
        let directory = self.gateway.directory();
        // An actor without permission must learn nothing else. The kernel refuses it below.
        if directory.administers(&actor) && directory.existing_human(id).is_some() {
            // Checked first: for people who cannot be erased, reassigning the open requests
            // would not help.
            directory.check_erasable(&actor, id)?;
            let waiting = self.open_work_of(id).await?;
            if !waiting.is_empty() {
                let named =
                    waiting.iter().take(MAX_NAMED_ITEMS).cloned().collect::<Vec<_>>().join(", ");
                let more = if waiting.len() > MAX_NAMED_ITEMS { " and more" } else { "" };
                let why = format!(
                    "open requests or tasks are assigned to this person or owned by them; \
                     reassign or cancel these first: {named}{more}"
                );
                return Err(Refusal::Precondition { why }.into());
            }
        }
        self.gateway.run(actor, DirectoryCommand::EraseHuman(id.clone())).await.map(drop)
    }

    /// The open requests and tasks of a person, slightly more than the refusal names.
    async fn open_work_of(&self, id: &HumanId) -> Result<Vec<String>, StoreError> {
        let list = AskListQuery {
            scopes: vec![ListScope::Human(id.clone())],
            phases: Phase::OPEN.to_vec(),
            order: Order::Urgency,
            filter: Filter::default(),
            after: None,
            limit: MAX_NAMED_ITEMS + 1,
        };
        let asks = self.gateway.list(list).await?.asks;
        let mut found: Vec<String> = asks.iter().map(|ask| ask.id.to_string()).collect();
        let open: Vec<TaskState> =
            TaskState::ALL.into_iter().filter(|state| !state.is_closed()).collect();
        let all = TaskListQuery {
            projects: self
                .gateway
                .directory()
                .projects()
                .map(|project| project.id.clone())
                .collect(),
            states: open,
            limit: MAX_NAMED_ITEMS + 1,
            ..TaskListQuery::default()
        };
        let theirs = TaskListQuery { principal: Some(id.clone()), ..all.clone() };
        let with_them = TaskListQuery { assignee: Some(Party::Human(id.clone())), ..all };
        let mut tasks = BTreeSet::new();
        for list in [theirs, with_them] {
            tasks.extend(
                self.gateway.store().tasks(list).await?.tasks.into_iter().map(|task| task.id),
            );
        }
        found.extend(tasks.into_iter().map(|task| task.to_string()));
        Ok(found)
    }

    /// Erases a closed task, with the requests by which people decided on it. After a failure
    /// halfway, the next attempt completes it, because the task itself is erased last.
    pub async fn erase_task(&self, actor: Actor, id: TaskId) -> Result<Vec<AskId>, StoreError> {
        let over = self.gateway.store().task(id).await?.filter(|task| task.state.is_closed());
        let mut asks = BTreeSet::new();
        if over.is_some() && self.gateway.directory().administers(&actor) {
            let mut chain = self.gateway.task_history(id, 0);
            while let Some(record) = chain.next().await? {
                asks.extend(audit::open(&record.body, &[]).as_ref().and_then(checkpoint_ask));
            }
            for ask in &asks {
                self.gateway.run(actor.clone(), AskCommand::Erase(*ask)).await?;
            }
        }
        let erase = Command::Task(Box::new(TaskCommand::Erase(id)));
        self.gateway.run(actor, erase).await?;
        Ok(asks.into_iter().collect())
    }

    /// Erases the bytes of an artifact.
    pub async fn erase_artifact(&self, actor: Actor, id: ArtifactId) -> Result<(), StoreError> {
        let erase = Command::Task(Box::new(TaskCommand::EraseArtifact(id)));
        self.gateway.run(actor, erase).await.map(drop)
    }

    /// Erases the texts of an erased person on one ask or task.
    async fn erase_texts_on(&self, subject: Subject, human: &HumanId) -> Result<(), StoreError> {
        let command = match subject {
            Subject::Ask(id) => {
                let Some(ask) = self.gateway.store().ask(id).await? else { return Ok(()) };
                // A conversation that the person started is erased as a whole.
                let theirs = ask.conversation.as_ref().is_some_and(|talk| talk.with == *human);
                if theirs && ask.is_open() {
                    self.gateway.run(Actor::System, AskCommand::Cancel(id, None)).await?;
                }
                Command::Ask(if theirs {
                    AskCommand::Erase(id)
                } else {
                    AskCommand::EraseWords(id, human.clone())
                })
            }
            Subject::Task(id) => {
                Command::Task(Box::new(TaskCommand::EraseWords(id, human.clone())))
            }
            Subject::Project(_)
            | Subject::Agent(_)
            | Subject::Human(_)
            | Subject::Key(_)
            | Subject::Rule(_)
            | Subject::Webhook(_)
            | Subject::Artifact(_)
            | Subject::Entry(_) => return Ok(()),
        };
        self.gateway.run(Actor::System, command).await.map(drop)
    }

    /// Continues to erase the texts of a person, after a position of the feed.
    pub async fn erase_texts_of(
        &self,
        human: &HumanId,
        mut after: u64,
    ) -> Result<Settlement, StoreError> {
        let (store, began) = (self.gateway.store(), Instant::now());
        if after == 0 {
            store.erase_side_of_human(human).await?;
        }
        let next = |after| Work::EraseHuman { human: human.clone(), after };
        loop {
            let rows = store.rows(store::FeedQuery::After(after), BATCH).await?;
            let Some(last) = rows.last().map(|row| row.position) else { break };
            let theirs: BTreeSet<Subject> =
                rows.iter().filter_map(|row| subject_with_texts_of(row, human)).collect();
            for subject in theirs {
                self.erase_texts_on(subject, human).await?;
            }
            after = last;
            if began.elapsed() >= STEP_TIME_LIMIT {
                return Ok(Settlement::Split { into: vec![(self.gateway.now(), next(after))] });
            }
        }
        // Events get their positions in the feed shortly after they are committed. The person did
        // nothing after the erasure, so once its event is behind this position, all others are too.
        let subject = Subject::Human(human.clone());
        let erased = self.gateway.directory().entity(&subject).map(|entity| entity.head().seq);
        let place = match erased {
            Some(seq) => store.position(subject, seq).await?,
            None => Some(0),
        };
        if place.is_some_and(|place| place <= after) {
            return Ok(Settlement::Done);
        }
        let soon = self.gateway.now().plus_seconds(1);
        Ok(Settlement::Split { into: vec![(soon, next(after))] })
    }

    /// Deletes the files of an ask, except those that another ask holds too.
    pub async fn drop_files(&self, ask: AskId) -> anyhow::Result<()> {
        self.blobs.drop_files(ask.ulid()).await
    }

    /// Deletes the bytes of an erased artifact.
    pub async fn drop_artifact(&self, id: ArtifactId) -> anyhow::Result<()> {
        let Some(artifact) = self.gateway.store().artifact(id).await? else { return Ok(()) };
        self.blobs.erase(&artifact).await
    }
}

/// The ask by which people decide on a task, if the event created one.
fn checkpoint_ask(event: &Event) -> Option<AskId> {
    let DomainEvent::Task(event) = &event.what else { return None };
    match &**event {
        TaskEvent::Raised { checkpoint, .. } => Some(*checkpoint),
        TaskEvent::Committed { ask, .. } => *ask,
        _ => None,
    }
}

/// The subject of a record, if it still contains texts of this person.
fn subject_with_texts_of(row: &RecordRow, human: &HumanId) -> Option<Subject> {
    // Bodies are canonical JSON, so most records are skipped without parsing.
    let by = format!(r#""by":{{"id":"{human}","kind":"human"}}"#);
    if row.contents.is_none() || !row.body.contains(&by) {
        return None;
    }
    // Finding damaged records is the task of the verification.
    let event = row.open().ok()?;
    let wrote = match &event.what {
        DomainEvent::Ask(AskEvent::Asked(asked)) => {
            asked.conversation.as_ref().is_some_and(|talk| talk.with == *human)
        }
        DomainEvent::Ask(AskEvent::Answered { vote, .. }) => {
            vote.reply.value().is_some_and(|reply| matches!(reply.answer, Answer::Replied { .. }))
        }
        _ => false,
    };
    (wrote || event.has_text_by(human)).then_some(event.subject)
}
