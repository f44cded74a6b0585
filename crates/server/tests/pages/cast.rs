//! A small world driven through the kernel's own door, so that pages are tested on real requests.

use std::collections::{BTreeMap, BTreeSet};

use kernel::actor::Reach;
use kernel::ask::{Dialect, Labels, Priority, Route};
use kernel::audit::Salts;
use kernel::command::{NewAsk, Silence};
use kernel::directory::{Directory, Human, NewAgent, NewHuman, NewProject, Profile};
use kernel::question::{Answer, Body, Question, Reply};
use kernel::{
    Actor, Ask, AskId, Assurance, Command, Entity, Envelope, HumanId, KeyId, Refusal, Time,
    Verdict, Via, World, decide, settle,
};
use serde_json::{Map, Value};
use ulid::Ulid;

/// Project `shop` with the agent `release-bot` of Olga's, and her colleague Mark.
pub(crate) struct Cast {
    pub(crate) now: Time,
    pub(crate) directory: Directory,
    drawn: u128,
    asks: BTreeMap<AskId, Option<Ask>>,
}

pub(crate) fn id(name: &str) -> HumanId {
    name.parse().unwrap()
}

pub(crate) fn question(prompt: &str, body: Body) -> Question {
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
        on_expiry: Silence::Fail,
        reminders: Vec::new(),
        follows: None,
        grants: Vec::new(),
        inline: None,
        callback: None,
        verification: None,
        assurance: None,
        place: None,
        claims: None,
    }
}

impl Cast {
    pub(crate) fn new() -> Self {
        let mut cast = Self {
            now: Time::from_millis(1_770_372_000_000),
            directory: Directory::default(),
            drawn: 0x019c_0000_0000_0000_0000_0000_0000_0000,
            asks: BTreeMap::new(),
        };
        cast.run(Actor::System, Command::SaveProject(NewProject::plain("shop".parse().unwrap())));
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
            cast.run(Actor::System, Command::SaveHuman(new));
        }
        let agent = "release-bot".parse().unwrap();
        let new = NewAgent {
            id: agent,
            project: "shop".parse().unwrap(),
            owner: id("olga"),
            conversations: None,
        };
        cast.run(Actor::System, Command::SaveAgent(new));
        cast
    }

    pub(crate) fn human(&self, name: &str) -> &Human {
        self.directory.human(&id(name)).unwrap()
    }

    pub(crate) fn seen(&self, ask: AskId) -> &Ask {
        self.asks[&ask].as_ref().unwrap()
    }

    pub(crate) fn advance(&mut self, seconds: u64) {
        self.now = self.now.plus_seconds(seconds);
    }

    pub(crate) fn ask(&mut self, new: NewAsk) -> AskId {
        let agent = Actor::Agent {
            id: "release-bot".parse().unwrap(),
            project: "shop".parse().unwrap(),
            key: KeyId::new(Ulid::from(1_u128)),
            reach: Reach::Agent,
        };
        self.run(agent, Command::Ask(Box::new(new)));
        AskId::new(Ulid::from(self.drawn))
    }

    /// The ask that was made last.
    pub(crate) fn newest(&self) -> AskId {
        AskId::new(Ulid::from(self.drawn))
    }

    pub(crate) fn act(&mut self, human: &str, command: Command) {
        self.attempt(human, command).unwrap();
    }

    pub(crate) fn attempt(&mut self, human: &str, command: Command) -> Result<(), Refusal> {
        let actor = Actor::Human { id: id(human), via: Via::Web, assurance: Assurance::Session };
        self.decide(actor, command)
    }

    pub(crate) fn attempt_as(&mut self, actor: Actor, command: Command) -> Result<(), Refusal> {
        self.decide(actor, command)
    }

    pub(crate) fn run(&mut self, actor: Actor, command: Command) {
        self.decide(actor, command).unwrap();
    }

    fn decide(&mut self, actor: Actor, command: Command) -> Result<(), Refusal> {
        self.drawn += 1_000_003;
        let envelope = Envelope {
            actor,
            fresh: Ulid::from(self.drawn),
            salts: Salts::new([7; 32]),
            expected: None,
            command,
        };
        let world = World { now: self.now, directory: &self.directory, asks: &self.asks };
        let Verdict::Decided(decision) = decide(&world, &envelope)? else {
            return Err(Refusal::NotFound { what: "request" });
        };
        for entity in settle(&world, &envelope, decision).unwrap().entities {
            match entity {
                Entity::Ask(ask) => {
                    self.asks.insert(ask.id, Some(*ask));
                }
                other => self.directory.put(other),
            }
        }
        Ok(())
    }
}
