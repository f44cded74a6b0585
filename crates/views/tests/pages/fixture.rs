//! A small world driven through the kernel's own door, so that pages are tested on real requests.

use std::collections::BTreeSet;

use kernel::actor::KeyScope;
use kernel::ask::{Dialect, Labels, Priority, Route};
use kernel::audit::{Record, Salts};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::directory::{Directory, Human, NewAgent, NewHuman, NewProject, Profile};
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::{
    Actor, AnswerInterface, Ask, AskCommand, AskId, Assurance, Command, DecideOutcome,
    DirectoryCommand, Entity, Envelope, HumanId, KeyId, Loaded, Refusal, Subject, Time, World,
    apply_decision, decide,
};
use serde_json::{Map, Value};
use ulid::Ulid;

/// Project `shop` with the agent `release-bot` of Olga's, and her colleague Mark.
pub(crate) struct PageFixture {
    pub(crate) now: Time,
    pub(crate) directory: Directory,
    drawn: u128,
    pub(crate) loaded: Loaded,
    /// Everything that was recorded.
    pub(crate) records: Vec<Record>,
}

pub(crate) fn id(name: &str) -> HumanId {
    name.parse().unwrap()
}

/// The agent.
pub(crate) fn agent() -> Actor {
    Actor::Agent {
        id: "release-bot".parse().unwrap(),
        project: "shop".parse().unwrap(),
        key: KeyId::new(Ulid::from(1_u128)),
        scope: KeyScope::Agent,
    }
}

pub(crate) fn question(prompt: &str, body: QuestionBody) -> Question {
    Question::new(prompt, None, body).unwrap()
}

pub(crate) fn map(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn say(answer: Answer) -> Reply {
    Reply { answer, comment: None }
}

pub(crate) fn new_ask(question: Question) -> NewAsk {
    NewAsk {
        dialect: Dialect::Native,
        question,
        metadata: Map::new(),
        labels: Labels::default(),
        tags: BTreeSet::new(),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: Some(1_800),
        on_expiry: NewOnExpiry::Fail,
        reminders: Vec::new(),
        follows: None,
        grants: Vec::new(),
        inline: None,
        callback: None,
        verification: None,
        assurance: None,
        posting_address: None,
        copies: Vec::new(),
        claims: None,
    }
}

impl PageFixture {
    pub(crate) fn new() -> Self {
        let mut cast = Self {
            now: Time::from_millis(1_770_372_000_000),
            directory: Directory::default(),
            drawn: 0x019c_0000_0000_0000_0000_0000_0000_0000,
            loaded: Loaded::default(),
            records: Vec::new(),
        };
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject::plain("shop".parse().unwrap())),
        );
        for (human, name) in [("olga", "Olga Petrova"), ("mark", "Mark Osei")] {
            let new = NewHuman {
                id: id(human),
                profile: Profile { name: name.to_owned(), email: None, ..Profile::default() },
                admin: false,
                active: true,
                projects: ["shop".parse().unwrap()].into(),
                groups: BTreeSet::new(),
                skills: BTreeSet::new(),
            };
            cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
        }
        let agent = "release-bot".parse().unwrap();
        let new = NewAgent {
            id: agent,
            project: "shop".parse().unwrap(),
            owner: id("olga"),
            conversations: None,
        };
        cast.run(Actor::System, DirectoryCommand::SaveAgent(new));
        cast
    }

    pub(crate) fn human(&self, name: &str) -> &Human {
        self.directory.human(&id(name)).unwrap()
    }

    pub(crate) fn seen(&self, ask: AskId) -> &Ask {
        self.loaded.asks[&ask].as_ref().unwrap()
    }

    pub(crate) fn advance(&mut self, seconds: u64) {
        self.now = self.now.plus_seconds(seconds);
    }

    pub(crate) fn ask(&mut self, new: NewAsk) -> AskId {
        self.run(agent(), AskCommand::Create(Box::new(new)));
        AskId::new(Ulid::from(self.drawn))
    }

    /// The ask that was made last.
    pub(crate) fn newest(&self) -> AskId {
        AskId::new(Ulid::from(self.drawn))
    }

    pub(crate) fn act(&mut self, human: &str, command: impl Into<Command>) {
        self.attempt(human, command).unwrap();
    }

    pub(crate) fn attempt(
        &mut self,
        human: &str,
        command: impl Into<Command>,
    ) -> Result<(), Refusal> {
        let actor = Actor::Human {
            id: id(human),
            via: AnswerInterface::Web,
            assurance: Assurance::Session,
        };
        self.decide(actor, command)
    }

    pub(crate) fn attempt_as(
        &mut self,
        actor: Actor,
        command: impl Into<Command>,
    ) -> Result<(), Refusal> {
        self.decide(actor, command)
    }

    pub(crate) fn run(&mut self, actor: Actor, command: impl Into<Command>) {
        self.decide(actor, command).unwrap();
    }

    fn decide(&mut self, actor: Actor, command: impl Into<Command>) -> Result<(), Refusal> {
        self.drawn += 1_000_003;
        let envelope = Envelope {
            actor,
            fresh: Ulid::from(self.drawn),
            salts: Salts::new([7; 32]),
            expected: None,
            shown: kernel::ask::DisplayedContent::Question,
            sender: None,
            command: command.into(),
        };
        let mut verdict = decide(&self.world(), &envelope)?;
        while let DecideOutcome::Need(subjects) = verdict {
            // What is not here does not exist.
            for subject in subjects {
                match subject {
                    Subject::Artifact(id) => drop(self.loaded.artifacts.insert(id, None)),
                    Subject::Entry(id) => drop(self.loaded.entries.insert(id, None)),
                    Subject::Task(id) => drop(self.loaded.tasks.insert(id, None)),
                    _ => return Err(Refusal::NotFound { what: "request" }),
                }
            }
            verdict = decide(&self.world(), &envelope)?;
        }
        let DecideOutcome::Decided(decision) = verdict else { unreachable!() };
        let changes = apply_decision(&self.world(), &envelope, decision).unwrap();
        self.records.extend(changes.records);
        for entity in changes.entities {
            match entity {
                Entity::Ask(ask) => drop(self.loaded.asks.insert(ask.id, Some(*ask))),
                Entity::Task(task) => drop(self.loaded.tasks.insert(task.id, Some(*task))),
                Entity::Artifact(made) => drop(self.loaded.artifacts.insert(made.id, Some(*made))),
                Entity::Entry(entry) => drop(self.loaded.entries.insert(entry.id, Some(*entry))),
                other => self.directory.put(other),
            }
        }
        Ok(())
    }

    fn world(&self) -> World<'_> {
        World { now: self.now, directory: &self.directory, loaded: &self.loaded }
    }
}
