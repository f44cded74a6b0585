//! Tasks in the small world of tests: olga owns them, and `bot` works on them.

use serde_json::json;
use ulid::Ulid;

use super::{Cast, human};
use crate::actor::{Actor, AnswerInterface, AttestedIdentity};
use crate::ask::Priority;
use crate::audit::Digest;
use crate::command::{Command, DirectoryCommand};
use crate::directory::{NewAgent, NewHuman, Profile};
use crate::event::DomainEvent;
use crate::follow_up::FollowUp;
use crate::ids::{ArtifactId, AskId, EntryId, ReviewId, RunId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::task::{
    AgentInput, Artifact, CheckpointKind, CheckpointOption, Contract, Duty, Entry, NewCheckpoint,
    NewResolution, NewReview, NewTask, NewVersion, Party, Payload, PayloadKind, ProposedAction,
    Quorum, ResolutionAction, ResolutionDetails, ReviewKind, ReviewPolicy, ReviewText, Risk, Task,
    TaskCommand, TaskEvent, Verdict, VersionRef,
};

/// A task with a goal and nothing else, in its author's own project.
pub fn new_task() -> NewTask {
    NewTask::new("report", "Say what was sold")
}

/// A checkpoint of a kind with the required data only.
pub fn raising(kind: CheckpointKind) -> NewCheckpoint {
    let choosing = kind == CheckpointKind::Choice;
    let named = |id: &str| CheckpointOption {
        id: id.to_owned(),
        label: format!("Option {id}"),
        risk: Some(Risk::Low),
    };
    NewCheckpoint {
        kind,
        prompt: "May I?".to_owned(),
        options: if choosing { ["a", "b"].map(named).into() } else { Vec::new() },
        context: Vec::new(),
        proposed_actions: Vec::new(),
        expires_at: None,
        priority: Priority::Normal,
        claims: None,
    }
}

/// A resolution with the required data only.
pub fn resolution(action: ResolutionAction) -> NewResolution {
    let (mut said, mut reassign_to) = (ResolutionDetails::default(), None);
    match action {
        ResolutionAction::Choose => said.choice = Some("a".to_owned()),
        ResolutionAction::Provide => said.input = Some("like this".to_owned()),
        ResolutionAction::Reassign => reassign_to = "bob".parse().ok(),
        ResolutionAction::Approve | ResolutionAction::Reject => {}
    }
    NewResolution { action, reassign_to, details: said }
}

/// An approving resolution.
pub fn approve() -> NewResolution {
    resolution(ResolutionAction::Approve)
}

/// A resolution that chooses an option.
pub fn choice(id: &str) -> NewResolution {
    let said = ResolutionDetails { choice: Some(id.to_owned()), ..ResolutionDetails::default() };
    NewResolution { action: ResolutionAction::Choose, reassign_to: None, details: said }
}

/// A payload the server stores.
pub fn payload(text: &str) -> Payload {
    Payload {
        kind: PayloadKind::Inline,
        uri: None,
        checksum: Digest::of(text.as_bytes()),
        size: text.len() as u64,
        media_type: None,
        held: Some(Digest::of(b"the list of its pieces")),
    }
}

/// The next version of a report.
pub fn version() -> NewVersion {
    NewVersion {
        artifact: None,
        sort: "report".to_owned(),
        name: None,
        parent: None,
        payload: payload("a report"),
    }
}

/// A review of the last delivery, with the required text.
pub fn verdict(verdict: Verdict) -> NewReview {
    let wanted = verdict == Verdict::ChangesRequested;
    let requested_changes = if wanted { vec!["shorter".to_owned()] } else { Vec::new() };
    NewReview {
        artifact: None,
        version: None,
        kind: ReviewKind::Deliverable,
        verdict,
        text: ReviewText { comments: Vec::new(), requested_changes },
    }
}

/// Further people and agents: an administrator in no project, another member of acme, two more
/// agents of it.
pub fn others() -> Vec<DirectoryCommand> {
    let person = |id: &str, admin: bool, projects: &[&str]| {
        DirectoryCommand::SaveHuman(NewHuman {
            id: human(id),
            profile: Profile { name: id.to_owned(), ..Profile::default() },
            admin,
            active: true,
            projects: projects.iter().map(|id| id.parse().unwrap()).collect(),
            groups: [].into(),
            skills: [].into(),
        })
    };
    let agent = |id: &str| {
        let (id, project) = (id.parse().unwrap(), "acme".parse().unwrap());
        DirectoryCommand::SaveAgent(NewAgent {
            id,
            project,
            owner: human("nina"),
            conversations: None,
        })
    };
    vec![person("adam", true, &[]), person("rita", false, &["acme"]), agent("bob"), agent("old")]
}

impl NewTask {
    /// The task with these reviewers.
    #[must_use]
    pub fn judged_by(self, quorum: Quorum, reviewers: &[&str]) -> Self {
        let required_reviewers = reviewers.iter().map(|id| human(id)).collect();
        Self { review_policy: Some(ReviewPolicy { required_reviewers, quorum }), ..self }
    }
}

impl NewCheckpoint {
    /// The checkpoint with these actions, which are approved one by one.
    #[must_use]
    pub fn proposing(self, ids: &[&str]) -> Self {
        let proposed = |id: &&str| ProposedAction {
            id: (*id).to_owned(),
            kind: "shell".to_owned(),
            summary: format!("do {id}"),
            detail: None,
            risk: None,
            permission_scope: None,
        };
        Self { proposed_actions: ids.iter().map(proposed).collect(), ..self }
    }
}

impl Cast {
    /// The cast with an administrator `adam`, a member `rita`, and agents `bob` and `old` of acme.
    pub fn staffed() -> Self {
        let mut cast = Self::new();
        for command in others() {
            cast.run(Actor::System, command);
        }
        cast
    }

    pub fn task(&self, id: TaskId) -> &Task {
        self.loaded.tasks.get(&id).and_then(Option::as_ref).unwrap()
    }

    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.loaded.tasks.values().flatten()
    }

    pub fn artifact(&self, id: ArtifactId) -> &Artifact {
        self.loaded.artifacts.get(&id).and_then(Option::as_ref).unwrap()
    }

    pub fn entry(&self, scope: &str, key: &str) -> Option<&Entry> {
        self.loaded.entries.get(&EntryId::of(scope, key)).and_then(Option::as_ref)
    }

    /// The names of a task's events, in order.
    pub fn event_names(&self, id: TaskId) -> Vec<&'static str> {
        let mine = self.records.iter().filter(|record| record.subject == Subject::Task(id));
        mine.map(|record| record.what).collect()
    }

    /// The last event of a task.
    pub fn last_of(&self, id: TaskId) -> TaskEvent {
        let mine = self.records.iter().rfind(|record| record.subject == Subject::Task(id));
        let what = mine.unwrap().event().unwrap().what;
        let DomainEvent::Task(event) = what else {
            panic!("{} is no event of a task", what.name())
        };
        *event
    }

    /// The contracts of a task, in order.
    pub fn contracts(&self, id: TaskId) -> Vec<Contract> {
        let contract = |effect: &FollowUp| {
            if let FollowUp::Contract(contract) = effect { Some(contract.clone()) } else { None }
        };
        let wanted = self.effects.iter().filter_map(contract).filter(|wanted| wanted.task == id);
        wanted.collect()
    }

    /// The agent and the duty of each contract of a task.
    pub fn duties(&self, id: TaskId) -> Vec<(String, Duty)> {
        self.contracts(id).iter().map(|wanted| (wanted.agent.to_string(), wanted.duty)).collect()
    }

    /// The current run of a task.
    pub fn run_of(&self, id: TaskId) -> RunId {
        self.task(id).run.as_ref().unwrap().id
    }

    pub fn attempt_task(&mut self, actor: Actor, command: TaskCommand) -> Result<(), Refusal> {
        self.attempt(actor, Command::Task(Box::new(command)))
    }

    /// Sends a command that must succeed.
    pub fn run_task(&mut self, actor: Actor, command: TaskCommand) {
        self.attempt_task(actor, command).unwrap();
    }

    /// The fresh id of the last command.
    pub fn fresh(&self) -> Ulid {
        Ulid::from(self.drawn)
    }

    /// Creates a task of olga.
    pub fn written(&mut self, new: NewTask) -> TaskId {
        self.run_task(self.human("olga"), TaskCommand::Create(Box::new(new)));
        TaskId::new(self.fresh())
    }

    /// Creates a task of olga and assigns it to an agent.
    pub fn assigned(&mut self, new: NewTask, agent: &str) -> TaskId {
        let id = self.written(new);
        let assign = TaskCommand::Assign(id, agent.parse().unwrap(), AgentInput::default());
        self.run_task(self.human("olga"), assign);
        id
    }

    /// Creates a task on which `bot` has started to work.
    pub fn begun(&mut self, new: NewTask) -> TaskId {
        let id = self.assigned(new, "bot");
        self.run_task(self.agent("bot"), TaskCommand::Start(id));
        id
    }

    /// Raises a checkpoint as `bot`.
    pub fn raised(&mut self, id: TaskId, new: NewCheckpoint) -> AskId {
        self.run_task(self.agent("bot"), TaskCommand::Raise(id, Box::new(new)));
        AskId::new(self.fresh())
    }

    /// Stops the agent as olga.
    pub fn interrupted(&mut self, id: TaskId) -> AskId {
        self.run_task(self.human("olga"), TaskCommand::Interrupt(id, "Wait.".to_owned()));
        AskId::new(self.fresh())
    }

    /// Resolves a checkpoint as this person.
    pub fn resolve(&mut self, who: &str, id: AskId, new: NewResolution) -> Result<(), Refusal> {
        self.attempt_task(self.human(who), TaskCommand::Resolve(id, Box::new(new)))
    }

    /// Delivers a version as the assignee.
    pub fn delivered(&mut self, id: TaskId, new: NewVersion) -> VersionRef {
        let worker = match &self.task(id).assignee {
            Party::Agent(agent) => self.agent(agent.as_str()),
            Party::Human(person) => self.human(person.as_str()),
        };
        self.run_task(worker, TaskCommand::Commit(id, Box::new(new)));
        self.task(id).delivered.last().unwrap().clone()
    }

    /// Reviews the last delivery as this person.
    pub fn judge(&mut self, who: &str, id: TaskId, new: NewReview) -> Result<ReviewId, Refusal> {
        self.attempt_task(self.human(who), TaskCommand::Review(id, Box::new(new)))?;
        Ok(ReviewId::new(self.fresh()))
    }

    /// A guest who was reached at the agent's address, for one ask.
    pub fn guest(&self, ask: AskId) -> Actor {
        Actor::Guest { ask, via: AnswerInterface::Slack, attested: Self::attested() }
    }

    /// An agent that passes on an answer, for one ask.
    pub fn relay(&self, ask: AskId) -> Actor {
        Actor::Relay { ask, attested: Self::attested() }
    }

    fn attested() -> AttestedIdentity {
        serde_json::from_value(json!({
            "via": "button", "platform": "slack", "platform_user_id": "U1",
        }))
        .unwrap()
    }
}
