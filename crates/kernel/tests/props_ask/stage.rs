//! The stage a script is played on: the people of [`Cast`], a ladder, an administrator, and a clock
//! that can go backwards. It does what a store does, in memory.

use std::collections::BTreeMap;

use kernel::actor::{Actor, AnswerInterface, Assurance, AttestedIdentity, KeyScope};
use kernel::ask::{Ask, AskToken, Assignee, CallbackResult, DueAction, TokenPurpose};
use kernel::audit::{ChainError, ChainFault, Record, Salts, Verifier};
use kernel::command::{AskCommand, Command, DirectoryCommand, Envelope, NewAsk, NewOnExpiry};
use kernel::directory::{
    Directory, EscalationStep as Rung, NewAgent, NewHuman, NewProject, NewRule, Profile,
};
use kernel::form::FormProgress;
use kernel::ids::{AskId, HumanId, KeyId, RuleId};
use kernel::question::AnswerKind;
use kernel::testing::{Cast, human, new_ask};
use kernel::{
    Changes, DecideOutcome, Decision, Entity, Loaded, Refusal, Subject, Time, World,
    apply_decision, decide,
};
use proptest::test_runner::TestCaseError;
use ulid::Ulid;

use crate::script::{Plan, Quiet, Turn, Verb, Wish, reply};

pub(crate) struct Stage {
    pub now: Time,
    pub directory: Directory,
    pub loaded: Loaded,
    pub records: Vec<Record>,
    drawn: u128,
}

/// What one turn came to.
pub(crate) struct Step<'s> {
    pub world: World<'s>,
    pub envelope: &'s Envelope,
    pub outcome: Result<(Decision, Changes), Refusal>,
}

impl Step<'_> {
    /// Every ask that moved, before and after.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (Option<&Ask>, &Ask)> {
        let changes = self.outcome.iter().flat_map(|(_, changes)| &changes.entities);
        changes.filter_map(|entity| match entity {
            Entity::Ask(after) => {
                let before = self.world.loaded.asks.get(&after.id).and_then(Option::as_ref);
                Some((before, &**after))
            }
            _ => None,
        })
    }
}

/// Who may appear. `bob` is nina's agent in acme; `adam` administers and is in no project.
const PEOPLE: [&str; 6] = ["olga", "mark", "nina", "zoe", "adam", "ghost"];

impl Stage {
    pub(crate) fn new() -> Self {
        let mut cast = Cast::new();
        let seat = Assignee::Person { human: human("mark") };
        let legal = Assignee::Pool { group: "legal".parse().ok() };
        let ladder = vec![Rung { after: 20, assignee: seat }, Rung { after: 45, assignee: legal }];
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
        );
        cast.run(Actor::System, DirectoryCommand::SaveHuman(adam()));
        let (id, project) = ("bob".parse().unwrap(), "acme".parse().unwrap());
        let bob = NewAgent { id, project, owner: human("nina"), conversations: None };
        cast.run(Actor::System, DirectoryCommand::SaveAgent(bob));
        Self {
            now: cast.now(),
            directory: cast.directory().clone(),
            loaded: Loaded::default(),
            records: cast.records().to_vec(),
            drawn: 1000,
        }
    }

    /// Plays a script and shows every step to `look` before it is taken over.
    pub(crate) fn play(
        script: &[Turn],
        mut look: impl FnMut(&Step<'_>) -> Result<(), TestCaseError>,
    ) -> Result<Self, TestCaseError> {
        let mut stage = Self::new();
        for turn in script {
            stage.now = Time::from_millis(stage.now.millis() + turn.jump);
            let envelope = stage.envelope(turn);
            let world =
                World { now: stage.now, directory: &stage.directory, loaded: &stage.loaded };
            let verdict = decide(&world, &envelope).map(|verdict| match verdict {
                DecideOutcome::Decided(decision) => Some(decision),
                DecideOutcome::Need(_) => None,
            });
            let outcome = match verdict {
                Ok(Some(decision)) => {
                    let changes = apply_decision(&world, &envelope, decision.clone())
                        .map_err(|misfit| TestCaseError::fail(misfit.to_string()))?;
                    Ok((decision, changes))
                }
                Ok(None) => Err(Refusal::NotFound { what: "request" }),
                Err(refusal) => Err(refusal),
            };
            let step = Step { world, envelope: &envelope, outcome };
            look(&step)?;
            if let Ok((_, changes)) = step.outcome {
                stage.keep(changes);
            }
        }
        Ok(stage)
    }

    /// The chain of every subject, in the order in which it was written.
    pub(crate) fn chains(&self) -> BTreeMap<Subject, Vec<Record>> {
        let mut chains: BTreeMap<Subject, Vec<Record>> = BTreeMap::new();
        for record in &self.records {
            chains.entry(record.subject.clone()).or_default().push(record.clone());
        }
        chains
    }

    /// The state of a subject as the store has it.
    pub(crate) fn state(&self, subject: &Subject) -> Option<Entity> {
        match subject {
            Subject::Ask(id) => {
                self.loaded.asks.get(id).cloned().flatten().map(|ask| Entity::Ask(Box::new(ask)))
            }
            other => self.directory.entity(other),
        }
    }

    fn keep(&mut self, changes: Changes) {
        for entity in changes.entities {
            match entity {
                Entity::Ask(ask) => {
                    self.loaded.asks.insert(ask.id, Some(*ask));
                }
                other => self.directory.put(other),
            }
        }
        for record in changes.records {
            let (subject, erased) = (record.subject.clone(), record.what == "erased");
            self.records.push(record);
            if erased {
                for record in self.records.iter_mut().filter(|record| record.subject == subject) {
                    record.contents.fill(serde_json::Value::Null);
                }
            }
        }
    }

    fn envelope(&mut self, turn: &Turn) -> Envelope {
        self.drawn += 1;
        let mut seed = [0; 32];
        seed[..16].copy_from_slice(&self.drawn.to_be_bytes());
        let (suited, command) = match &turn.wish {
            Wish::Ask(plan) => (agent("bot", KeyScope::Agent), Command::Ask(self.ask(plan))),
            Wish::Do(n, verb) => {
                let (actor, command) = self.verb(*n, *verb);
                (actor, Command::Ask(command))
            }
            Wish::Activate(n, active) => {
                let name = pick(&PEOPLE[..3], *n);
                let known = self.directory.human(&human(name)).unwrap();
                let new = NewHuman {
                    id: known.id.clone(),
                    profile: Profile { name: name.to_owned(), email: None, ..Profile::default() },
                    admin: false,
                    active: *active,
                    projects: known.projects.clone(),
                    groups: known.groups.clone(),
                    skills: known.skills.clone(),
                };
                (Actor::System, DirectoryCommand::SaveHuman(new).into())
            }
            Wish::Delegate(n) => {
                let rule = NewRule {
                    kinds: [].into(),
                    project: None,
                    tag: Some("tax".to_owned()),
                    priority: None,
                    delegate_to: human(pick(&PEOPLE, *n)),
                };
                let id = RuleId::new(Ulid::from(self.drawn));
                let command = DirectoryCommand::AddRules(vec![(id, rule)]);
                (person("olga"), command.into())
            }
        };
        let actor = turn.actor.map_or(suited, |n| self.anybody(n));
        Envelope {
            actor,
            fresh: Ulid::from(self.drawn),
            salts: Salts::new(seed),
            expected: None,
            shown: kernel::ask::DisplayedContent::Nothing,
            sender: None,
            command,
        }
    }

    fn ask(&self, plan: &Plan) -> AskCommand {
        let on_expiry = match plan.silence {
            Quiet::StayOpen => NewOnExpiry::StayOpen,
            Quiet::Fail => NewOnExpiry::Fail,
            Quiet::Answer => NewOnExpiry::Answer(reply(&plan.question, 3)),
            Quiet::Report(action) => NewOnExpiry::Report(action),
        };
        AskCommand::Create(Box::new(NewAsk {
            question: plan.question.clone(),
            metadata: plan.metadata.clone(),
            tags: plan.tagged.then(|| "tax".to_owned()).into_iter().collect(),
            priority: plan.priority,
            route: plan.route.clone(),
            timeout: plan.timeout,
            on_expiry,
            reminders: plan.reminders.iter().map(|s| self.now.plus_seconds(*s)).collect(),
            follows: plan.follows.map(|n| self.nth(n)),
            grants: plan.open_to_links.then_some(grant("first")).into_iter().collect(),
            inline: plan.open_to_links.then(|| [AnswerKind::Approve, AnswerKind::Choose].into()),
            callback: plan.open_to_links.then(|| "https://agent.example/hook".to_owned()),
            claims: plan.tagged.then(kernel::testing::claims),
            ..new_ask()
        }))
    }

    /// The command, and somebody who has good chances with it.
    fn verb(&self, n: usize, verb: Verb) -> (Actor, AskCommand) {
        let id = self.nth(n);
        let ask = self.loaded.asks.get(&id).and_then(Option::as_ref);
        let holder: HumanId = ask.map_or_else(
            || human("olga"),
            |ask| ask.claim.as_ref().map_or(&ask.owner, |claim| &claim.human).clone(),
        );
        let holder = person(holder.as_str());
        let asker = ask.map_or(Actor::System, |ask| agent(ask.agent.as_str(), KeyScope::Agent));
        let progress =
            FormProgress { current_step: 1, total_steps: 2, completed_fields: 0, total_fields: 3 };
        match verb {
            Verb::Open => (holder, AskCommand::Open(id)),
            Verb::Progress => {
                (holder, AskCommand::Progress(id, n.is_multiple_of(2).then_some(progress)))
            }
            Verb::Claim => (holder, AskCommand::Claim(id)),
            Verb::Assign(to, noted) => {
                let note = noted.then(|| "yours".to_owned());
                (holder, AskCommand::Assign(id, human(pick(&PEOPLE, to)), note))
            }
            Verb::Pick(action) => (holder, AskCommand::Pick(id, action)),
            Verb::Comment => (holder, AskCommand::Comment(id, "well".to_owned())),
            Verb::Revoke => (person("adam"), AskCommand::Revoke(id, "stolen".to_owned())),
            Verb::Undo => {
                let held = ask.and_then(Ask::held_by).map(|human| person(human.as_str()));
                (held.unwrap_or(holder), AskCommand::UndoAnswer(id))
            }
            Verb::Hold(variety) => {
                let asked = ask.and_then(|ask| ask.question.value());
                let plain = new_ask().question;
                let reply = reply(asked.unwrap_or(&plain), variety);
                (in_browser(holder), AskCommand::HoldAnswer(id, Box::new(reply)))
            }
            Verb::Answer(variety) | Verb::ByLink(variety) | Verb::Relay(variety) => {
                let asked = ask.and_then(|ask| ask.question.value());
                let plain = new_ask().question;
                let reply = reply(asked.unwrap_or(&plain), variety);
                let actor = match verb {
                    Verb::ByLink(_) => Actor::link_holder(id),
                    Verb::Relay(_) => Actor::Relay { ask: id, attested: someone() },
                    _ => holder,
                };
                (actor, AskCommand::Answer(id, Box::new(reply)))
            }
            Verb::Grant => (asker, AskCommand::Grant(id, vec![grant("more")])),
            Verb::CallBack => (asker, AskCommand::CallBack(id)),
            Verb::NoteCallback => {
                let result = CallbackResult::Refused { status: 503 };
                (Actor::System, AskCommand::NoteCallback(id, result))
            }
            Verb::Cancel(reason) => {
                (asker, AskCommand::Cancel(id, reason.then(|| "moot".to_owned())))
            }
            Verb::Extend(seconds) => {
                (asker, AskCommand::Extend(id, self.now.plus_seconds(seconds)))
            }
            Verb::Erase => (person("adam"), AskCommand::Erase(id)),
            Verb::Expire => (Actor::System, AskCommand::Expire(id)),
            Verb::Remind => (Actor::System, AskCommand::Remind(id)),
            Verb::Escalate => (Actor::System, AskCommand::Escalate(id)),
            Verb::Tick => {
                let command = match ask.and_then(|ask| ask.due(self.now)) {
                    Some(DueAction::CommitHeld) => AskCommand::CommitHeld(id),
                    Some(DueAction::Remind) => AskCommand::Remind(id),
                    Some(DueAction::Escalate) => AskCommand::Escalate(id),
                    Some(DueAction::Expire) | None => AskCommand::Expire(id),
                };
                (Actor::System, command)
            }
        }
    }

    /// Anybody at all: people by every degree of assurance, agents of two projects, the timer, and
    /// whoever holds a token of some ask.
    fn anybody(&self, n: usize) -> Actor {
        match n % 14 {
            12 => Actor::link_holder(self.nth(n / 14)),
            13 => Actor::Relay { ask: self.nth(n / 14), attested: someone() },
            n => anybody(n),
        }
    }

    fn nth(&self, n: usize) -> AskId {
        let count = self.loaded.asks.len().max(1);
        self.loaded
            .asks
            .keys()
            .nth(n % count)
            .copied()
            .unwrap_or_else(|| AskId::new(Ulid::from(7_u128)))
    }
}

/// Checks a chain from end to end, as an export is checked offline.
pub(crate) fn verify(chain: &[Record], state: &Entity) -> Result<(), ChainError> {
    let mut verifier = Verifier::default();
    for record in chain {
        verifier.check(record)?;
    }
    if verifier.head() == Some(state.head()) {
        return Ok(());
    }
    Err(ChainError { subject: state.subject(), seq: state.head().seq, why: ChainFault::Head })
}

fn adam() -> NewHuman {
    NewHuman {
        id: human("adam"),
        profile: Profile {
            name: "Adam".to_owned(),
            email: Some("adam@example.com".to_owned()),
            ..Profile::default()
        },
        admin: true,
        active: true,
        projects: [].into(),
        groups: [].into(),
        skills: [].into(),
    }
}

fn pick<'a>(names: &[&'a str], n: usize) -> &'a str {
    names.get(n % names.len()).unwrap()
}

fn grant(token: &str) -> AskToken {
    AskToken::to_agent(TokenPurpose::Review, Cast::hash(token))
}

fn someone() -> AttestedIdentity {
    AttestedIdentity {
        via: "slack_block_action".to_owned(),
        platform: "slack".to_owned(),
        platform_user_id: "U1".to_owned(),
        display_name: None,
    }
}

fn anybody(n: usize) -> Actor {
    match n % 12 {
        0 => agent("bot", KeyScope::Agent),
        1 => agent("bob", KeyScope::Agent),
        2 => agent("bob", KeyScope::Project),
        3 => agent("spy", KeyScope::Project),
        4 => Actor::System,
        5 => Actor::Human {
            id: human("olga"),
            via: AnswerInterface::Web,
            assurance: Assurance::None,
        },
        n => person(pick(&PEOPLE, n)),
    }
}

fn person(name: &str) -> Actor {
    Actor::Human { id: human(name), via: AnswerInterface::Api, assurance: Assurance::Session }
}

fn in_browser(actor: Actor) -> Actor {
    let Actor::Human { id, assurance, .. } = actor else { return actor };
    Actor::Human { id, via: AnswerInterface::Web, assurance }
}

fn agent(name: &str, reach: KeyScope) -> Actor {
    let project = if name == "spy" { "rival" } else { "acme" };
    let (id, project) = (name.parse().unwrap(), project.parse().unwrap());
    Actor::Agent { id, project, key: KeyId::new(Ulid::from(1_u128)), scope: reach }
}
