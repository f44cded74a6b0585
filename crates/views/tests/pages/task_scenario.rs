//! What happens to one task, driven through the kernel, and its room drawn on the way.

use kernel::audit::Digest;
use kernel::task::{
    AgentInput, AnchoredComment, CheckpointKind, GrantDecision, GrantDuration, NewCheckpoint,
    NewGrant, NewReview, NewTask, NewVersion, Payload, PayloadKind, ReviewKind, ReviewText,
    Severity, TaskCommand, Verdict, VersionRef,
};
use kernel::{Command, Subject, Task, TaskId};
use views::SubmittedForm;
use views::request::timeline::TimelineEntry;
use views::tasks::room::{self, TaskActionResult, TaskContext, TaskRoomPage};
use views::tasks::versions::{ShownVersion, TaskDeliveries, VersionContent};

use crate::fixture::agent;
use crate::samples::Gallery;

pub(crate) const OLD: &str = "# Notes\n\nThe sum is 40.\nThe date is open.\n\nBye\n";
pub(crate) const NEW: &str =
    "# Notes\n\nThe sum is 42.\nThe date is Monday.\nSee [terms](https://example.com/t).\n\nBye\n";

/// A task of Olga's.
pub(crate) fn new(goal: &str, criteria: &[&str]) -> NewTask {
    let mut new = NewTask::new("report", goal);
    new.spec.acceptance_criteria = criteria.iter().map(ToString::to_string).collect();
    let (scope, until) = ("fs:/repo:*".to_owned(), GrantDuration::Task);
    let grants = vec![NewGrant { scope, decision: GrantDecision::Allow, until }];
    NewTask { delegable: true, grants, ..new }
}

/// What happens to one task.
pub(crate) struct TaskScenario<'a> {
    pub(crate) g: &'a mut Gallery,
    pub(crate) id: TaskId,
}

impl<'a> TaskScenario<'a> {
    pub(crate) fn begin(g: &'a mut Gallery, new: NewTask) -> Self {
        g.cast.act("olga", Command::Task(Box::new(TaskCommand::Create(Box::new(new)))));
        let id = TaskId::new(g.cast.newest().ulid());
        Self { g, id }
    }

    pub(crate) fn task(&self) -> &Task {
        self.g.cast.loaded.tasks[&self.id].as_ref().unwrap()
    }

    pub(crate) fn olga(&mut self, command: TaskCommand) -> &mut Self {
        self.g.cast.advance(60);
        self.g.cast.act("olga", Command::Task(Box::new(command)));
        self
    }

    pub(crate) fn bot(&mut self, command: TaskCommand) -> &mut Self {
        self.g.cast.advance(60);
        self.g.cast.run(agent(), Command::Task(Box::new(command)));
        self
    }

    pub(crate) fn started(&mut self) -> &mut Self {
        let id = self.id;
        self.olga(TaskCommand::Assign(id, "release-bot".parse().unwrap(), AgentInput::default()));
        self.bot(TaskCommand::Start(id))
    }

    pub(crate) fn raise(&mut self, prompt: &str) -> &mut Self {
        let new = NewCheckpoint {
            kind: CheckpointKind::Approval,
            prompt: prompt.to_owned(),
            options: Vec::new(),
            context: Vec::new(),
            proposed_actions: Vec::new(),
            expires_at: None,
            priority: kernel::ask::Priority::Normal,
            claims: None,
        };
        let id = self.id;
        self.bot(TaskCommand::Raise(id, Box::new(new)))
    }

    pub(crate) fn deliver(
        &mut self,
        kind: PayloadKind,
        media_type: Option<&str>,
        held: bool,
    ) -> &mut Self {
        let payload = Payload {
            kind,
            uri: (!held).then(|| "https://files.example.com/report".to_owned()),
            checksum: Digest::of(b"x"),
            size: 2_048,
            media_type: media_type.map(str::to_owned),
            held: held.then_some(Digest::ZERO),
        };
        let version = NewVersion {
            artifact: None,
            sort: "report".to_owned(),
            name: None,
            parent: None,
            payload,
        };
        let id = self.id;
        self.bot(TaskCommand::Commit(id, Box::new(version)))
    }

    pub(crate) fn judge(
        &mut self,
        verdict: Verdict,
        comments: Vec<AnchoredComment>,
        changes: &[&str],
    ) -> &mut Self {
        let words = ReviewText {
            comments,
            requested_changes: changes.iter().map(ToString::to_string).collect(),
        };
        let review = NewReview {
            artifact: None,
            version: None,
            kind: ReviewKind::Deliverable,
            verdict,
            text: words,
        };
        let id = self.id;
        self.olga(TaskCommand::Review(id, Box::new(review)))
    }

    /// What the handler would find, with these contents.
    pub(crate) fn around(
        &self,
        older: Option<VersionContent>,
        newer: Option<VersionContent>,
    ) -> TaskContext {
        let task = self.task();
        let cast = &self.g.cast;
        let artifacts =
            task.delivered.iter().map(|of| of.id).collect::<std::collections::BTreeSet<_>>();
        let artifacts = artifacts.iter().filter_map(|id| cast.loaded.artifacts[id].clone());
        let open = |of: Option<&VersionRef>, content: Option<VersionContent>| {
            Some(ShownVersion { of: of?.clone(), content: content? })
        };
        let before = task.delivered.len().checked_sub(2).and_then(|n| task.delivered.get(n));
        let records = cast.records.iter().filter(|record| record.subject == Subject::Task(self.id));
        let entry = |record: &kernel::audit::Record| TimelineEntry {
            event: record.event().unwrap(),
            hash: record.hash,
            block: None,
        };
        TaskContext {
            asks: room::decisions(task).iter().map(|id| cast.seen(*id).clone()).collect(),
            deliveries: TaskDeliveries {
                artifacts: artifacts.collect(),
                older: open(before, older),
                newer: open(task.delivered.last(), newer),
            },
            trail: records.map(entry).collect(),
            earlier: None,
            parent: None,
            last: None,
        }
    }

    pub(crate) fn show(&mut self, name: &str) -> &mut Self {
        let newer = (!self.task().delivered.is_empty()).then(|| content(NEW));
        let around = self.around(None, newer);
        self.show_with(name, "olga", &around, None, None)
    }

    pub(crate) fn show_with(
        &mut self,
        name: &str,
        me: &str,
        around: &TaskContext,
        told: Option<&TaskActionResult>,
        draft: Option<(&str, &SubmittedForm)>,
    ) -> &mut Self {
        let frame = self.g.frame();
        let room = TaskRoomPage {
            task: self.task(),
            me: self.g.cast.human(me),
            directory: &self.g.cast.directory,
            around,
            told,
            draft,
            once: "once",
        };
        let html = room::page(&frame, &room);
        self.g.pages.push((name.to_owned(), html));
        self
    }
}

pub(crate) fn content(text: &str) -> VersionContent {
    VersionContent::Text(text.to_owned(), false)
}

pub(crate) fn comment(anchor: Option<&str>, severity: Severity, body: &str) -> AnchoredComment {
    AnchoredComment { anchor: anchor.map(str::to_owned), severity, body: body.to_owned() }
}
