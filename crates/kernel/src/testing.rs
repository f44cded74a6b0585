//! A small world for tests: two projects, a few people, and a clock that the test moves.

mod tasks;

use std::collections::BTreeSet;

use serde_json::{Map, json};
use ulid::Ulid;

use crate::actor::{Actor, ActorRef, AnswerInterface, Assurance, KeyScope, SenderVerification};
use crate::ask::answer::PasskeyAnswer;
use crate::ask::experience_envelope::EnvelopeFindings;
use crate::ask::{
    Ask, AskState, Dialect, DisplayedContent, Ending, Labels, NewExperienceEnvelope, Priority,
    RecordedAnswer, Route,
};
use crate::audit::{Digest, Erasable, Record, Salts};
use crate::command::{AskCommand, Command, DirectoryCommand, Envelope, NewAsk, NewOnExpiry};
use crate::decide::decide;
use crate::directory::{
    Agent, Directory, NewAgent, NewHuman, NewPasskey, NewProject, NewRule, NewSession,
    PasskeyAuthority, PasskeyUse, Profile, SignInProof,
};
use crate::event::Event;
use crate::evolve::{Entity, apply_decision};
use crate::follow_up::FollowUp;
use crate::ids::{AskId, HumanId, KeyId, RuleId, Subject};
use crate::passkey_evidence::{AnswerStatement, PasskeyEvidence};
use crate::question::{Answer, Question, QuestionBody, Reply};
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{DecideOutcome, Loaded, World};

pub use tasks::{
    approve, choice, new_task, others, payload, raising, resolution, verdict, version,
};

/// `acme` with olga's agent `bot`, mark (who knows tax) and nina (who is in legal); `rival` with
/// zoe's agent `spy`.
#[derive(Clone)]
pub struct Cast {
    now: Time,
    drawn: u128,
    directory: Directory,
    loaded: Loaded,
    records: Vec<Record>,
    effects: Vec<FollowUp>,
    /// How the sender of the email was verified that carries the commands.
    pub sender: Option<SenderVerification>,
}

pub fn human(name: &str) -> HumanId {
    name.parse().unwrap()
}

pub fn yes() -> Box<Reply> {
    Box::new(Reply { answer: Answer::Approved { edits: None }, comment: None })
}

pub fn no() -> Box<Reply> {
    Box::new(Reply { answer: Answer::REJECTED, comment: None })
}

/// An ask from the time when olga could request changes on any question, which is refused now.
pub fn sent_back(ask: &Ask, comment: &str) -> Ask {
    let mut ask = ask.clone();
    let reply = Reply { answer: Answer::CHANGES, comment: Some(comment.to_owned()) };
    let ending = Box::new(Ending::Completed(RecordedAnswer {
        reply: Erasable::new(reply, &mut Salts::new([7; 32])),
        by: ActorRef::Human(human("olga")),
        via: AnswerInterface::Web,
        assurance: Assurance::Session,
        at: ask.head.at,
        attested: None,
        verification: None,
        passkey: None,
        shown: None,
        sender: None,
    }));
    ask.state = AskState::Over { place: ask.head, ending };
    ask
}

/// A plain approval for the owner without a deadline.
pub fn new_ask() -> NewAsk {
    let body = QuestionBody::Approve {
        details: Map::new(),
        editable: false.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    NewAsk {
        dialect: Dialect::Native,
        question: Question::new("Refund order 7?", None, body).unwrap(),
        metadata: Map::new(),
        labels: Labels::default(),
        tags: BTreeSet::new(),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: None,
        on_expiry: NewOnExpiry::StayOpen,
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

/// What an agent says about its message: an assumption and two actions.
pub fn claims() -> Box<NewExperienceEnvelope> {
    let said = json!({
        "intent": "decide",
        "transparency": { "confidence": 0.5, "assumptions": ["it is raining"] },
        "actions": [{ "type": "simplify" }, { "label": "no type" }, { "type": "expand" }],
    });
    let said = said.as_object().unwrap().clone();
    Box::new(NewExperienceEnvelope {
        content: said,
        finding: EnvelopeFindings::default(),
        objection: None,
    })
}

/// The commands that create the cast, in a valid order.
pub fn everyone() -> Vec<DirectoryCommand> {
    // As in projects from before this setting existed.
    let recipients = Some(crate::directory::RecipientPolicy::Any);
    let project = |id: &str| {
        let plain = NewProject::plain(id.parse().unwrap());
        DirectoryCommand::SaveProject(NewProject { recipients, ..plain })
    };
    let person = |id: &str, project: &str, groups: &[&str], skills: &[&str]| {
        DirectoryCommand::SaveHuman(NewHuman {
            id: human(id),
            profile: Profile { name: id.to_owned(), email: None, ..Profile::default() },
            admin: false,
            active: true,
            projects: [project.parse().unwrap()].into(),
            groups: groups.iter().map(|group| group.parse().unwrap()).collect(),
            skills: skills.iter().map(|skill| (*skill).to_owned()).collect(),
        })
    };
    let agent = |id: &str, project: &str, owner: &str| {
        let (id, project) = (id.parse().unwrap(), project.parse().unwrap());
        DirectoryCommand::SaveAgent(NewAgent {
            id,
            project,
            owner: human(owner),
            conversations: None,
        })
    };
    vec![
        project("acme"),
        project("rival"),
        person("olga", "acme", &[], &[]),
        person("mark", "acme", &[], &["tax"]),
        person("nina", "acme", &["legal"], &[]),
        person("zoe", "rival", &["legal"], &["tax"]),
        agent("bot", "acme", "olga"),
        agent("spy", "rival", "zoe"),
    ]
}

impl Default for Cast {
    fn default() -> Self {
        Self::new()
    }
}

impl Cast {
    pub fn new() -> Self {
        let mut cast = Self {
            now: Time::from_millis(1_770_372_000_000),
            drawn: 0,
            directory: Directory::default(),
            loaded: Loaded::default(),
            records: Vec::new(),
            effects: Vec::new(),
            sender: None,
        };
        for command in everyone() {
            cast.run(Actor::System, command);
        }
        cast
    }

    pub fn human(&self, name: &str) -> Actor {
        Actor::Human { id: human(name), via: AnswerInterface::Api, assurance: Assurance::Session }
    }

    pub fn agent(&self, name: &str) -> Actor {
        self.reaching(name, KeyScope::Agent)
    }

    /// An agent with a key of project reach.
    pub fn widely(&self, name: &str) -> Actor {
        self.reaching(name, KeyScope::Project)
    }

    fn reaching(&self, name: &str, reach: KeyScope) -> Actor {
        let id = name.parse().unwrap();
        let project = self.directory.agent(&id).unwrap().project.clone();
        Actor::Agent { id, project, key: KeyId::new(Ulid::from(1_u128)), scope: reach }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn advance(&mut self, seconds: u64) {
        self.now = self.now.plus_seconds(seconds);
    }

    /// Sets the clock back, as a clock correction or another node would.
    pub fn turn_back(&mut self, seconds: i64) {
        self.now = Time::from_millis(self.now.millis() - seconds * 1000);
    }

    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    pub fn follow_ups(&self) -> &[FollowUp] {
        &self.effects
    }

    pub fn records(&self) -> &[Record] {
        &self.records
    }

    pub fn seen(&self, id: AskId) -> &Ask {
        self.loaded.asks.get(&id).and_then(Option::as_ref).unwrap()
    }

    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.loaded.asks.values().flatten()
    }

    pub fn record_of(&self, id: AskId) -> Vec<Event> {
        let mine = |record: &&Record| record.subject == Subject::Ask(id);
        self.records.iter().filter(mine).map(|record| record.event().unwrap()).collect()
    }

    pub fn ask(&mut self, new: NewAsk) -> AskId {
        self.ask_as("bot", new)
    }

    pub fn ask_as(&mut self, agent: &str, new: NewAsk) -> AskId {
        self.run(self.agent(agent), AskCommand::Create(Box::new(new)));
        AskId::new(Ulid::from(self.drawn))
    }

    /// Lets an agent accept conversations, and a person write to it.
    pub fn write(&mut self, who: &str, agent: &str, text: &str) -> AskId {
        let kept = self.directory.agent(&agent.parse().unwrap()).unwrap().clone();
        let Agent { id, project, owner, .. } = kept;
        let new = NewAgent { id: id.clone(), project, owner, conversations: Some(true) };
        self.run(Actor::System, DirectoryCommand::SaveAgent(new));
        self.run(self.human(who), AskCommand::Write(id, text.to_owned().into()));
        self.newest()
    }

    /// The ask that was created last.
    pub fn newest(&self) -> AskId {
        AskId::new(Ulid::from(self.drawn))
    }

    /// Lets `bot` reply to a conversation.
    pub fn reply(&mut self, conversation: AskId, new: NewAsk) -> AskId {
        self.run(self.agent("bot"), AskCommand::Reply(conversation, Box::new(new)));
        AskId::new(Ulid::from(self.drawn))
    }

    /// Changes the owner of an agent.
    pub fn give_agent(&mut self, agent: &str, owner: &str) {
        let kept = self.directory.agent(&agent.parse().unwrap()).unwrap().clone();
        let (id, project, owner) = (kept.id, kept.project, human(owner));
        let new = NewAgent { id, project, owner, conversations: None };
        self.run(Actor::System, DirectoryCommand::SaveAgent(new));
    }

    /// Enrols a passkey that counts at once.
    pub fn passkey(&mut self, name: &str, secret: &str) -> KeyId {
        let session = Self::hash(&format!("session for {secret}"));
        let new = NewSession {
            hash: session,
            browser: Self::hash("browser"),
            label: String::new(),
            expires_at: self.now.plus_seconds(3600),
        };
        self.run(
            Actor::System,
            DirectoryCommand::SignIn(SignInProof::Oidc(human(name), None), new),
        );
        let session = self.directory.key_by_hash(&session).unwrap().id;
        let new = NewPasskey {
            hash: Self::hash(secret),
            credential_id: secret.to_owned(),
            public_key: "cose".to_owned(),
            public: "0".to_owned(),
            label: "laptop".to_owned(),
            wait: 3600,
        };
        let authority = Box::new(PasskeyAuthority::SignIn(session));
        self.run(self.human(name), DirectoryCommand::EnrolPasskey(Box::new(new), authority));
        let id = self.directory.key_by_hash(&Self::hash(secret)).unwrap().id;
        self.run(Actor::System, DirectoryCommand::ConfirmPasskey(id));
        id
    }

    /// A person's answer, confirmed with a passkey. Each nonce gives a different challenge.
    pub fn confirmed(
        &self,
        id: AskId,
        name: &str,
        key: KeyId,
        reply: &Reply,
        nonce: u8,
    ) -> Command {
        let nonce = Digest([nonce; 32]);
        let statement = AnswerStatement::of(self.seen(id), &human(name), reply, nonce).unwrap();
        let used = PasskeyUse {
            key,
            public: "0".to_owned(),
            challenge: statement.challenge(),
            counter: 0,
        };
        let evidence = PasskeyEvidence {
            key,
            credential_id: "credential".to_owned(),
            public_key: "cose".to_owned(),
            authenticator_data: "data".to_owned(),
            client_data_json: "client".to_owned(),
            signature: "signature".to_owned(),
            rp_id: "localhost".to_owned(),
            origin: "http://localhost".to_owned(),
            statement,
        };
        let given = Box::new(PasskeyAnswer { used, evidence });
        Command::Ask(AskCommand::AnswerWithPasskey(id, Box::new(reply.clone()), given))
    }

    pub fn rule(&mut self, owner: &str, rule: NewRule) {
        let id = RuleId::new(Ulid::from(self.drawn + 1));
        self.run(self.human(owner), DirectoryCommand::AddRules(vec![(id, rule)]));
    }

    pub fn run(&mut self, actor: Actor, command: impl Into<Command>) {
        self.attempt(actor, command).unwrap();
    }

    pub fn attempt(&mut self, actor: Actor, command: impl Into<Command>) -> Result<(), Refusal> {
        self.attempt_at(None, actor, command)
    }

    /// An attempt by an actor who has seen a version.
    pub fn attempt_at(
        &mut self,
        expected: Option<u64>,
        actor: Actor,
        command: impl Into<Command>,
    ) -> Result<(), Refusal> {
        self.drawn += 1;
        let mut seed = [0; 32];
        seed[..16].copy_from_slice(&self.drawn.to_be_bytes());
        let fresh = Ulid::from(self.drawn);
        let shown = DisplayedContent::Nothing;
        let envelope = Envelope {
            actor,
            fresh,
            salts: Salts::new(seed),
            expected,
            shown,
            sender: self.sender.clone(),
            command: command.into(),
        };
        let decision = loop {
            let world = World { now: self.now, directory: &self.directory, loaded: &self.loaded };
            match decide(&world, &envelope)? {
                DecideOutcome::Decided(decision) => break decision,
                DecideOutcome::Need(missing) => {
                    for subject in &missing {
                        self.absent(subject);
                    }
                }
            }
        };
        let world = World { now: self.now, directory: &self.directory, loaded: &self.loaded };
        let changes = apply_decision(&world, &envelope, decision).unwrap();
        for entity in changes.entities {
            match &entity {
                Entity::Ask(ask) => {
                    self.loaded.asks.insert(ask.id, Some((**ask).clone()));
                }
                Entity::Task(task) => {
                    self.loaded.tasks.insert(task.id, Some((**task).clone()));
                }
                Entity::Artifact(made) => {
                    self.loaded.artifacts.insert(made.id, Some((**made).clone()));
                }
                Entity::Entry(entry) => {
                    self.loaded.entries.insert(entry.id, Some((**entry).clone()));
                }
                Entity::Project(_)
                | Entity::Agent(_)
                | Entity::Human(_)
                | Entity::Key(_)
                | Entity::Rule(_)
                | Entity::Webhook(_) => self.directory.put(entity),
            }
        }
        self.records.extend(changes.records);
        self.effects.extend(changes.follow_ups.into_iter().flatten().chain(changes.work));
        Ok(())
    }

    /// Everything is in memory here, so a subject that is not loaded does not exist.
    fn absent(&mut self, subject: &Subject) {
        let unknown = match subject {
            Subject::Ask(id) => self.loaded.asks.insert(*id, None).is_none(),
            Subject::Task(id) => self.loaded.tasks.insert(*id, None).is_none(),
            Subject::Artifact(id) => self.loaded.artifacts.insert(*id, None).is_none(),
            Subject::Entry(id) => self.loaded.entries.insert(*id, None).is_none(),
            Subject::Project(_)
            | Subject::Agent(_)
            | Subject::Human(_)
            | Subject::Key(_)
            | Subject::Rule(_)
            | Subject::Webhook(_) => false,
        };
        assert!(unknown, "a verb wants {subject} although it was loaded");
    }

    /// The digest a test key would have.
    pub fn hash(of: &str) -> Digest {
        Digest::of(of.as_bytes())
    }
}
