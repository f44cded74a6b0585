//! From events to state, and from a decision to the changes a store writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::actor::ActorRef;
use crate::ask::{
    Ask, AskState, Assignee, CallbackAttempt, Claim, Comment, Ending, FirstOpened, HeldAnswer,
    PickedAction, Revocation,
};
use crate::audit::{Digest, Head, Record};
use crate::command::Envelope;
use crate::directory::{
    Agent, CredentialKind, Human, Key, Project, Rule, Webhook, WebhookDisabledReason, WithHead,
};
use crate::event::{AskEvent, DirectoryEvent, DomainEvent, Event};
use crate::follow_up::Cause;
use crate::follow_up::FollowUp;
use crate::ids::{AskId, Subject};
use crate::task::{Artifact, Entry, Task, evolve_artifact, evolve_entry, evolve_task};
use crate::time::Time;
use crate::world::{Decision, SecretAnswer, World};

/// The state of any subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "state")]
pub enum Entity {
    /// The state of an ask.
    Ask(Box<Ask>),
    /// The state of a project.
    Project(WithHead<Project>),
    /// The state of an agent.
    Agent(WithHead<Agent>),
    /// The state of a person.
    Human(Box<WithHead<Human>>),
    /// The state of a credential.
    Key(WithHead<Key>),
    /// The state of a delegation rule.
    Rule(WithHead<Rule>),
    /// The state of a webhook endpoint.
    Webhook(WithHead<Webhook>),
    /// The state of a task.
    Task(Box<Task>),
    /// The state of an artifact.
    Artifact(Box<Artifact>),
    /// The state of one entry of a ledger.
    Entry(Box<Entry>),
}

impl Entity {
    /// The end of its chain.
    pub fn head(&self) -> Head {
        match self {
            Self::Ask(ask) => ask.head,
            Self::Project(kept) => kept.head,
            Self::Agent(kept) => kept.head,
            Self::Human(kept) => kept.head,
            Self::Key(kept) => kept.head,
            Self::Rule(kept) => kept.head,
            Self::Webhook(kept) => kept.head,
            Self::Task(task) => task.head,
            Self::Artifact(artifact) => artifact.head,
            Self::Entry(entry) => entry.head,
        }
    }

    /// The subject whose state this is.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Ask(ask) => Subject::Ask(ask.id),
            Self::Project(kept) => Subject::Project(kept.id.clone()),
            Self::Agent(kept) => Subject::Agent(kept.id.clone()),
            Self::Human(kept) => Subject::Human(kept.id.clone()),
            Self::Key(kept) => Subject::Key(kept.id),
            Self::Rule(kept) => Subject::Rule(kept.id),
            Self::Webhook(kept) => Subject::Webhook(kept.id),
            Self::Task(task) => Subject::Task(task.id),
            Self::Artifact(artifact) => Subject::Artifact(artifact.id),
            Self::Entry(entry) => Subject::Entry(entry.id),
        }
    }
}

/// An event that cannot have happened in this state: the audit log is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{subject}: event {seq} ({what}) does not follow from the events before it")]
pub struct InapplicableEvent {
    /// The subject of the event.
    pub subject: Subject,
    /// The number of the event in the chain.
    pub seq: u64,
    /// The name of the event.
    pub what: &'static str,
}

/// Applies one event, linked with `hash`, to the state before it.
pub fn evolve(
    before: Option<Entity>,
    event: &Event,
    hash: Digest,
) -> Result<Entity, InapplicableEvent> {
    apply(before, event.clone(), hash)
}

/// Applies an event by value, so that a new ask takes over its text without a copy.
fn apply(before: Option<Entity>, event: Event, hash: Digest) -> Result<Entity, InapplicableEvent> {
    let Event { subject, seq, at, by, what } = event;
    let head = Head { seq, hash, at };
    let misfit = InapplicableEvent { subject, seq, what: what.name() };
    if seq != before.as_ref().map_or(1, |before| before.head().seq + 1) {
        return Err(misfit);
    }
    let after = match what {
        DomainEvent::Ask(what) => {
            let Subject::Ask(id) = misfit.subject else { return Err(misfit) };
            let before = match before {
                None => None,
                Some(Entity::Ask(ask)) => Some(ask),
                Some(_) => return Err(misfit),
            };
            let ask = evolve_ask(id, before, head, what, &by).ok_or_else(|| misfit.clone())?;
            Entity::Ask(ask)
        }
        DomainEvent::Directory(what) => {
            evolve_directory(before, head, what).ok_or_else(|| misfit.clone())?
        }
        DomainEvent::Task(event) => {
            let Subject::Task(id) = misfit.subject else { return Err(misfit) };
            let before = match before {
                None => None,
                Some(Entity::Task(task)) => Some(*task),
                Some(_) => return Err(misfit),
            };
            let task = evolve_task(id, before, head, *event).ok_or_else(|| misfit.clone())?;
            Entity::Task(Box::new(task))
        }
        DomainEvent::Artifact(event) => {
            let Subject::Artifact(id) = misfit.subject else { return Err(misfit) };
            let before = match before {
                None => None,
                Some(Entity::Artifact(artifact)) => Some(*artifact),
                Some(_) => return Err(misfit),
            };
            let made = evolve_artifact(id, before, head, *event).ok_or_else(|| misfit.clone())?;
            Entity::Artifact(Box::new(made))
        }
        DomainEvent::EntryWritten(written) => {
            let Subject::Entry(id) = misfit.subject else { return Err(misfit) };
            let before = match before {
                None => None,
                Some(Entity::Entry(entry)) => Some(entry),
                Some(_) => return Err(misfit),
            };
            let entry = evolve_entry(id, before.as_deref(), head, *written)
                .ok_or_else(|| misfit.clone())?;
            Entity::Entry(Box::new(entry))
        }
    };
    if after.subject() == misfit.subject { Ok(after) } else { Err(misfit) }
}

/// Applies an event to an ask, or creates it. `None` if the event cannot have happened to this ask.
fn evolve_ask(
    id: AskId,
    before: Option<Box<Ask>>,
    head: Head,
    what: AskEvent,
    by: &ActorRef,
) -> Option<Box<Ask>> {
    let Some(mut ask) = before else {
        let AskEvent::Asked(asked) = what else { return None };
        return Some(Box::new(Ask {
            id,
            head,
            visible_head: None,
            created_at: head.at,
            asked: *asked,
            look: None,
            claim: None,
            held: None,
            followed_by: None,
            latest: None,
            votes: Vec::new(),
            comments: Vec::new(),
            picked: Vec::new(),
            revoked: None,
            reminded_at: None,
            callbacks: Vec::new(),
            redacted: Vec::new(),
            held_comments: Vec::new(),
            state: AskState::Pending,
        }));
    };
    let hidden = matches!(what, AskEvent::AnswerHeld { .. } | AskEvent::AnswerWithdrawn);
    ask.visible_head = hidden.then_some(ask.visible_head.unwrap_or(ask.head));
    ask.head = head;
    change_ask(&mut ask, &what, by)?;
    Some(ask)
}

/// Applies an event of the directory. `None` if the event cannot follow from the previous state.
fn evolve_directory(before: Option<Entity>, head: Head, what: DirectoryEvent) -> Option<Entity> {
    let at = head.at;
    Some(match (before, what) {
        (None | Some(Entity::Project(_)), DirectoryEvent::ProjectSaved(project)) => {
            Entity::Project(WithHead { head, entity: *project })
        }
        (None | Some(Entity::Agent(_)), DirectoryEvent::AgentSaved(agent)) => {
            Entity::Agent(WithHead { head, entity: *agent })
        }
        (None | Some(Entity::Human(_)), DirectoryEvent::HumanSaved(human)) => {
            Entity::Human(Box::new(WithHead { head, entity: *human }))
        }
        (Some(Entity::Human(kept)), DirectoryEvent::HumanErased) => {
            Entity::Human(Box::new(WithHead { head, entity: kept.entity.erased() }))
        }
        (Some(Entity::Human(kept)), DirectoryEvent::SigningKeyDestroyed { .. }) => {
            Entity::Human(Box::new(WithHead { head, ..*kept }))
        }
        (None, DirectoryEvent::KeyIssued(key)) => Entity::Key(WithHead { head, entity: *key }),
        (Some(Entity::Key(kept)), DirectoryEvent::KeyRevoked) => {
            Entity::Key(WithHead { head, entity: Key { revoked_at: Some(at), ..kept.entity } })
        }
        (Some(Entity::Key(kept)), DirectoryEvent::KeyErased) => {
            Entity::Key(WithHead { head, entity: kept.entity.erased(at) })
        }
        (Some(Entity::Key(kept)), DirectoryEvent::KeyRevokedWithTokens) => {
            let revoked_at = Some(at);
            Entity::Key(WithHead {
                head,
                entity: Key { revoked_at, tokens_ended: true, ..kept.entity },
            })
        }
        (Some(Entity::Key(kept)), DirectoryEvent::PasskeyUsed { public, challenge, counter }) => {
            let CredentialKind::Passkey { human, enrolment, uses, .. } = kept.entity.kind else {
                return None;
            };
            let uses = uses.with_assertion(challenge, counter, at);
            let holder = CredentialKind::Passkey { human, public, enrolment, uses };
            Entity::Key(WithHead { head, entity: Key { kind: holder, ..kept.entity } })
        }
        (Some(Entity::Key(kept)), DirectoryEvent::PasskeyConfirmed) => {
            let CredentialKind::Passkey { human, public, enrolment: Some(mut enrolment), uses } =
                kept.entity.kind
            else {
                return None;
            };
            enrolment.counts_from = enrolment.counts_from.min(at);
            let holder =
                CredentialKind::Passkey { human, public, enrolment: Some(enrolment), uses };
            Entity::Key(WithHead { head, entity: Key { kind: holder, ..kept.entity } })
        }
        (None, DirectoryEvent::RuleAdded(rule)) => Entity::Rule(WithHead { head, entity: *rule }),
        (Some(Entity::Rule(kept)), DirectoryEvent::RuleRemoved) => {
            Entity::Rule(WithHead { head, entity: Rule { removed: true, ..kept.entity } })
        }
        (None | Some(Entity::Webhook(_)), DirectoryEvent::WebhookSaved(webhook)) => {
            Entity::Webhook(WithHead { head, entity: *webhook })
        }
        (Some(Entity::Webhook(kept)), DirectoryEvent::WebhookRotated { until: previous_until }) => {
            let generation = kept.generation.saturating_add(1);
            let entity = Webhook { generation, previous_until, ..kept.entity };
            Entity::Webhook(WithHead { head, entity })
        }
        (Some(Entity::Webhook(kept)), DirectoryEvent::WebhookTested) => {
            Entity::Webhook(WithHead { head, ..kept })
        }
        (Some(Entity::Webhook(kept)), DirectoryEvent::WebhookGone) => {
            let entity = Webhook { disabled: Some(WebhookDisabledReason::Gone), ..kept.entity };
            Entity::Webhook(WithHead { head, entity })
        }
        (Some(Entity::Webhook(kept)), DirectoryEvent::WebhookRemoved) => {
            Entity::Webhook(WithHead { head, entity: Webhook { removed: true, ..kept.entity } })
        }
        (_, _) => return None,
    })
}

/// Applies an event to an ask that exists.
fn change_ask(ask: &mut Ask, what: &AskEvent, by: &ActorRef) -> Option<()> {
    let (place, at) = (ask.head, ask.head.at);
    let over = |ending| AskState::Over { place, ending: Box::new(ending) };
    match (what, ask.is_open()) {
        // Only these events can happen to a closed ask.
        (AskEvent::Followed { next }, _) => {
            ask.followed_by.get_or_insert(*next);
            if ask.starts_conversation() {
                ask.latest = Some(*next);
            }
        }
        (AskEvent::Commented { text, .. }, _) => {
            ask.comments.push(Comment { by: by.clone(), at, text: text.clone() });
        }
        (AskEvent::Granted { grants }, _) => ask.add_tokens(grants),
        (AskEvent::CalledBack { outcome }, false) => {
            ask.add_callback_attempt(CallbackAttempt { at, result: outcome.clone() });
        }
        (AskEvent::CallbackWanted, false) => {}
        (AskEvent::Revoked { reason }, false) => {
            ask.revoked = Some(Revocation { by: by.clone(), at, reason: reason.clone() });
        }
        (AskEvent::Erased, false) => ask.erase(),
        (AskEvent::WordsErased(erased), _) => ask.erase_text_by(erased),
        (_, false) => return None,
        (what, true) => {
            evolve_open(ask, what, by, at, over)?;
            // An event that closes an ask also drops a held answer.
            if !ask.is_open() {
                ask.held = None;
            }
        }
    }
    Some(())
}

/// Applies an event that only an open ask can have.
fn evolve_open(
    ask: &mut Ask,
    what: &AskEvent,
    by: &ActorRef,
    at: Time,
    over: impl Fn(Ending) -> AskState,
) -> Option<()> {
    match what {
        AskEvent::Opened => {
            ask.look = Some(FirstOpened { by: by.clone(), at });
            ask.state = AskState::Opened;
        }
        AskEvent::Progressed { progress } => {
            ask.look.get_or_insert_with(|| FirstOpened { by: by.clone(), at });
            ask.state = AskState::InProgress { progress: *progress };
        }
        AskEvent::Claimed => {
            let ActorRef::Human(human) = by else { return None };
            ask.claim = Some(Claim { human: human.clone(), at });
        }
        AskEvent::ActionPicked { action } => {
            ask.picked.push(PickedAction { action: *action, by: by.clone(), at });
        }
        AskEvent::Assigned { to } => ask.claim = Some(Claim { human: to.clone(), at }),
        AskEvent::Answered { vote, decisive } => {
            ask.votes.push((**vote).clone());
            ask.held = None;
            if *decisive {
                ask.state = over(Ending::Completed((**vote).clone()));
            }
        }
        AskEvent::AnswerHeld { vote, until } => {
            if ask.held.is_some() {
                return None;
            }
            let has_comment = vote.reply.value().is_some_and(|reply| reply.comment.is_some());
            if let (ActorRef::Human(human), true) = (&vote.by, has_comment)
                && !ask.held_comments.contains(human)
            {
                ask.held_comments.push(human.clone());
            }
            ask.held = Some(Box::new(HeldAnswer { vote: (**vote).clone(), until: *until }));
        }
        AskEvent::AnswerWithdrawn => drop(ask.held.take()?),
        AskEvent::Defaulted { resolution } => {
            ask.state = over(Ending::Completed((**resolution).clone()));
        }
        AskEvent::Cancelled { reason, decided } => {
            let (by, reason, decided) = (by.clone(), reason.clone(), *decided);
            ask.state = over(Ending::Cancelled { at, by, reason, decided });
        }
        AskEvent::Expired { deadline, report } => {
            ask.state = over(Ending::Expired { at: *deadline, report: *report });
        }
        AskEvent::Failed { deadline } => ask.state = over(Ending::Failed { at: *deadline }),
        AskEvent::Reminded => {
            ask.reminded_at = Some(at);
            ask.asked.reminders.retain(|due| *due > at);
        }
        AskEvent::Escalated { assignees: seats } => {
            let (reached, later): (Vec<_>, Vec<_>) =
                ask.asked.escalation_steps.drain(..).partition(|rung| rung.at <= at);
            ask.asked.escalation_steps = later;
            let named = reached.into_iter().map(|rung| rung.assignee);
            let seated: Vec<_> = if seats.is_empty() { named.collect() } else { seats.clone() };
            add_assignees(ask, seated);
        }
        AskEvent::Joined { assignees: seats } => add_assignees(ask, seats.clone()),
        AskEvent::Extended { until } => *ask.asked.expires_at.as_mut()? = *until,
        AskEvent::Asked(_)
        | AskEvent::Followed { .. }
        | AskEvent::Commented { .. }
        | AskEvent::Granted { .. }
        | AskEvent::CalledBack { .. }
        | AskEvent::CallbackWanted
        | AskEvent::Revoked { .. }
        | AskEvent::Erased
        | AskEvent::WordsErased(_) => return None,
    }
    Some(())
}

/// Adds assignees that the ask does not have yet.
fn add_assignees(ask: &mut Ask, seats: Vec<Assignee>) {
    for seat in seats {
        if !ask.asked.assignees.contains(&seat) {
            ask.asked.assignees.push(seat);
        }
    }
}

/// Everything a store writes in one transaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// The new state of every subject touched, one per subject.
    pub entities: Vec<Entity>,
    /// The linked events.
    pub records: Vec<Record>,
    /// The effects that [follow](crate::follow_up) from each of the events, in their order.
    pub follow_ups: Vec<Vec<FollowUp>>,
    /// The work that is stored in the same transaction.
    pub work: Vec<FollowUp>,
    /// The secret values of an answer, which are encrypted and written in the same transaction.
    pub secret: Option<SecretAnswer>,
}

/// Numbers, dates and links the events of a decision, evolves the state by them, and lists their
/// effects.
pub fn apply_decision(
    world: &World<'_>,
    envelope: &Envelope,
    decision: Decision,
) -> Result<Changes, InapplicableEvent> {
    let by = decision.by.unwrap_or_else(|| envelope.actor.to_ref());
    let mut touched: BTreeMap<Subject, Entity> = BTreeMap::new();
    let mut records = Vec::with_capacity(decision.happened.len());
    let mut follow_ups = Vec::with_capacity(decision.happened.len());
    let (mut work, secret) = (decision.work, decision.secret);
    for (subject, what) in decision.happened {
        let before = touched.remove(&subject).or_else(|| current(world, &subject));
        let head = before.as_ref().map(Entity::head);
        let mut event = Event {
            subject: subject.clone(),
            seq: head.map_or(1, |head| head.seq + 1),
            at: head.map_or(world.now, |head| head.at.max(world.now)),
            by: by.clone(),
            what,
        };
        let record = Record::link(head.map_or(Digest::ZERO, |head| head.hash), &mut event);
        let cause = Cause::of(&event);
        let after = apply(before, event, record.hash)?;
        let ask = if let Entity::Ask(ask) = &after { Some(&**ask) } else { None };
        follow_ups.push(cause.follow_ups(ask, world.directory));
        touched.insert(subject, after);
        records.push(record);
    }
    for (task, wanted) in decision.contracts {
        if let Some(Entity::Task(task)) = touched.get(&Subject::Task(task)) {
            let contract = wanted.for_task(task);
            work.extend(world.directory.contract_follow_ups(&contract, &task.project));
            work.push(FollowUp::Contract(contract));
        }
    }
    let entities = touched.into_values().collect();
    Ok(Changes { entities, records, follow_ups, work, secret })
}

fn current(world: &World<'_>, subject: &Subject) -> Option<Entity> {
    match subject {
        Subject::Ask(_) | Subject::Task(_) | Subject::Artifact(_) | Subject::Entry(_) => {
            world.loaded.entity(subject)
        }
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Human(_)
        | Subject::Key(_)
        | Subject::Rule(_)
        | Subject::Webhook(_) => world.directory.entity(subject),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::ids::AskId;
    use crate::testing::{Cast, new_ask};

    #[test]
    fn only_the_next_event_of_the_same_subject_fits() {
        let mut cast = Cast::new();
        let (id, other) = (cast.ask(new_ask()), cast.ask(new_ask()));
        let before = || Some(Entity::Ask(Box::new(cast.seen(id).clone())));
        let opened = |subject, seq| Event {
            subject: Subject::Ask(subject),
            seq,
            at: cast.now(),
            by: ActorRef::System,
            what: AskEvent::Opened.into(),
        };
        let next = evolve(before(), &opened(id, 2), Digest::ZERO).unwrap();
        assert!(matches!(&next, Entity::Ask(ask) if ask.phase() == Phase::Engaged));
        for misfit in [opened(id, 1), opened(id, 3), opened(other, 2)] {
            assert!(evolve(before(), &misfit, Digest::ZERO).is_err(), "{misfit:?}");
        }
        let project = cast.records().first().unwrap().event().unwrap();
        let astray =
            Event { subject: Subject::Ask(AskId::new(ulid::Ulid::from(1_u128))), ..project };
        assert!(evolve(None, &astray, Digest::ZERO).is_err());
    }
}
