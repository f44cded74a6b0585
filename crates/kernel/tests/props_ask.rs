//! Laws of the ask: whatever people, agents and the clock do, in whatever order, these hold.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "props_ask/script.rs"]
mod script;
#[path = "props_ask/stage.rs"]
mod stage;
#[path = "props_ask/tamper.rs"]
mod tamper;

use std::collections::BTreeMap;

use kernel::actor::{Actor, ActorRef, KeyScope};
use kernel::ask::{Ask, Assignee, Ending, OnExpiry};
use kernel::audit::Record;
use kernel::directory::Human;
use kernel::insight::{COUNTED_EVENTS, Measure, Tally, counts_for};
use kernel::receipt::Receipt;
use kernel::{
    AskCommand, AskEvent, AskId, Command, DecideOutcome, DomainEvent, Entity, Event, FollowUp,
    Subject, apply_decision, decide, evolve, follow_ups,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::script::any_script;
use crate::stage::{Stage, Step, verify};
use crate::tamper::{Harm, any_harm};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// What is over stays as it ended: only a follow-up, a remark, a fresh token, a call to the
    /// agent and a revocation may be noted and words may be forgotten.
    #[test]
    fn terminal_states_never_change(script in any_script()) {
        Stage::play(&script, |step| {
            for (before, after) in step.moved() {
                let Some(before) = before.filter(|ask| !ask.is_open()) else { continue };
                let mut expected = forgetful(before);
                expected.head = after.head;
                expected.followed_by = before.followed_by.or(after.followed_by);
                expected.revoked = expected.revoked.or_else(|| forgetful(after).revoked);
                let added = forgetful(after).comments.split_off(before.comments.len());
                expected.comments.extend(added);
                expected.callbacks.extend_from_slice(&after.callbacks[before.callbacks.len()..]);
                expected.asked.grants.extend_from_slice(&after.grants[before.grants.len()..]);
                prop_assert_eq!(forgetful(after), expected);
                let words = |ask: &Ask| Some(ask.question.value()?.clone());
                prop_assert!(words(after).is_none() || words(after) == words(before));
            }
            Ok(())
        })?;
    }

    /// One decisive answer, or one default, or none; and what it said is what the ask ends with.
    #[test]
    fn an_ask_is_resolved_at_most_once(script in any_script()) {
        let stage = Stage::play(&script, |_| Ok(()))?;
        for ask in stage.loaded.asks.values().flatten() {
            let ends: Vec<Event> = events(&stage, ask).into_iter().filter(is_end).collect();
            prop_assert!(ends.len() <= 1, "{:?}", ends);
            prop_assert_eq!(ends.is_empty(), ask.is_open());
            if let (Some(end), Some(receipt)) = (ends.first(), Receipt::of(ask)) {
                prop_assert_eq!(receipt.place.seq, end.seq, "a receipt names what decided");
            }
            let said = ends.into_iter().next().and_then(|event| match event.what {
                DomainEvent::Ask(AskEvent::Answered { vote, .. }) => Some(*vote),
                DomainEvent::Ask(AskEvent::Defaulted { resolution }) => Some(*resolution),
                _ => None,
            });
            let Some(resolution) = ask.deciding_answer() else {
                prop_assert!(said.is_none());
                continue;
            };
            prop_assert_eq!(Some(resolution), said.as_ref());
            // A default never looks like a person's answer, nor the other way round.
            let silent = resolution.by == ActorRef::System;
            prop_assert_eq!(silent, resolution.assurance == kernel::Assurance::None);
            prop_assert_eq!(silent, ask.votes.is_empty());
            // What an agent passed on is told apart from what anybody was seen to say.
            // Whoever used a link that the agent was given is not told apart from the agent.
            let relayed = resolution.by == ActorRef::Relay;
            let attested = relayed || resolution.by == ActorRef::LinkHolder;
            prop_assert_eq!(attested, resolution.assurance == kernel::Assurance::AgentAttested);
            prop_assert_eq!(relayed, resolution.attested.is_some());
        }
    }

    /// The state is what its records say and nothing else.
    #[test]
    fn replaying_the_records_gives_the_state(script in any_script()) {
        let stage = Stage::play(&script, |_| Ok(()))?;
        for (subject, chain) in stage.chains() {
            prop_assert_eq!(replay(&chain), stage.state(&subject));
        }
    }

    /// A change has its record, a record its change, and nothing is told to anybody without one.
    #[test]
    fn nothing_happens_off_the_record(script in any_script()) {
        Stage::play(&script, |step| {
            let Ok((decision, changes)) = &step.outcome else { return Ok(()) };
            let touched: std::collections::BTreeSet<Subject> =
                changes.records.iter().map(|record| record.subject.clone()).collect();
            let states: Vec<Subject> = changes.entities.iter().map(Entity::subject).collect();
            prop_assert_eq!(&states, &touched.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(changes.records.len(), decision.happened.len());
            prop_assert_eq!(changes.follow_ups.len(), changes.records.len());
            prop_assert!(!changes.records.is_empty() || changes.work.is_empty());
            for entity in &changes.entities {
                let last = changes.records.iter().rfind(|record| record.subject == entity.subject());
                let head = last.map(|record| (record.seq, record.hash, record.at));
                prop_assert_eq!(head, Some((entity.head().seq, entity.head().hash, entity.head().at)));
            }
            Ok(())
        })?;
    }

    /// Numbers from 1 without gaps, times that never go back although the clock does, hashes that
    /// hold from the first record to the head; with the words and without them.
    #[test]
    fn chains_are_whole(script in any_script(), forgotten in any::<prop::sample::Index>()) {
        let stage = Stage::play(&script, |_| Ok(()))?;
        for (subject, mut chain) in stage.chains() {
            let state = stage.state(&subject).unwrap();
            for (n, record) in chain.iter().enumerate() {
                prop_assert_eq!(record.seq, n as u64 + 1);
            }
            prop_assert!(chain.is_sorted_by_key(|record| record.at));
            prop_assert_eq!(verify(&chain, &state), Ok(()));
            let n = forgotten.index(chain.len());
            chain[n].contents.fill(Value::Null);
            prop_assert_eq!(verify(&chain, &state), Ok(()));
            for record in &mut chain {
                record.contents.clear();
            }
            prop_assert_eq!(verify(&chain, &state), Ok(()));
        }
    }

    /// One altered byte, a column, a value beside the record; a record dropped, doubled or moved.
    #[test]
    fn tampering_is_found(script in any_script(), harms in prop::collection::vec(any_harm(), 12)) {
        let stage = Stage::play(&script, |_| Ok(()))?;
        let chains: Vec<(Subject, Vec<Record>)> = stage.chains().into_iter().collect();
        let asks = chains.iter().filter(|(subject, _)| matches!(subject, Subject::Ask(_)));
        let asks: Vec<_> = asks.chain(&chains[..2]).collect();
        for (n, harm) in harms.iter().enumerate() {
            let (subject, chain) = asks[n % asks.len()];
            let state = stage.state(subject).unwrap();
            let Some(harmed) = Harm::inflict(harm, chain) else { continue };
            prop_assert!(verify(&harmed, &state).is_err(), "{:?} of {} was not found", harm, subject);
        }
    }

    /// Only who was let in changes an ask, by a rule written here a second time; agents withdraw,
    /// extend, remark on and continue their own and never answer.
    #[test]
    fn only_the_admitted_change_an_ask(script in any_script()) {
        Stage::play(&script, |step| {
            for (before, after) in step.moved() {
                let Some(before) = before else {
                    let Actor::Agent { id, project, .. } = &step.envelope.actor else {
                        return Err(TestCaseError::fail("only agents ask"));
                    };
                    prop_assert_eq!((&after.agent, &after.project), (id, project));
                    continue;
                };
                let (_, changes) = step.outcome.as_ref().unwrap();
                for record in changes.records.iter().filter(|r| r.subject == Subject::Ask(after.id)) {
                    prop_assert!(may(step, before, record.what), "{} by {:?}", record.what, step.envelope.actor);
                }
                let principal = |ask: &Ask| (ask.project.clone(), ask.agent.clone(), ask.owner.clone());
                prop_assert_eq!(principal(before), principal(after));
            }
            Ok(())
        })?;
    }

    /// Nobody answers after the deadline, and nothing runs out before it, whatever the clock does.
    #[test]
    fn deadlines_are_kept(script in any_script()) {
        Stage::play(&script, |step| {
            for (before, after) in step.moved() {
                let Some(before) = before.filter(|ask| ask.is_open()) else { continue };
                let deadline = before.expires_at.filter(|_| before.on_expiry != OnExpiry::StayOpen);
                let at = after.head.at;
                match after.ending() {
                    Some(Ending::Completed(end)) if end.by != ActorRef::System => {
                        prop_assert!(deadline.is_none_or(|deadline| end.at < deadline));
                        // Dated by the person: when they answered, held or not.
                        let held = before.held.as_ref().filter(|_| is_commit(step));
                        prop_assert_eq!(end.at, held.map_or(at, |held| held.vote.at));
                    }
                    Some(
                        Ending::Completed(kernel::ask::RecordedAnswer { at: end, .. })
                        | Ending::Expired { at: end, .. }
                        | Ending::Failed { at: end },
                    ) => {
                        prop_assert_eq!(Some(*end), deadline);
                        prop_assert!(*end <= at);
                    }
                    Some(Ending::Cancelled { .. }) => {
                        // While an answer is held the deadline waits, and the agent sees an open
                        // ask.
                        let waits = before.held.is_some();
                        prop_assert!(waits || deadline.is_none_or(|deadline| at < deadline));
                    }
                    None => {
                        let due = after.due(step.world.now).is_some();
                        prop_assert!(!due || after.wake_at().is_some_and(|wake| wake <= at.max(step.world.now)));
                    }
                }
            }
            Ok(())
        })?;
    }

    /// While an answer is held, only its person answers; by itself nothing happens but its commit,
    /// not before its time; and what commits is what was held.
    #[test]
    fn a_held_answer_is_the_only_one(script in any_script()) {
        Stage::play(&script, |step| {
            for (before, after) in step.moved() {
                prop_assert!(after.held.is_none() || after.is_open());
                let Some(before) = before else { continue };
                let Some(held) = &before.held else { continue };
                prop_assert!(before.is_open());
                let (_, changes) = step.outcome.as_ref().unwrap();
                let own = |record: &&Record| record.subject == Subject::Ask(after.id);
                for record in changes.records.iter().filter(own) {
                    let allowed = match record.what {
                        "answered" | "answer_withdrawn" if is_commit(step) => {
                            record.at >= held.until
                        }
                        "answered" | "answer_withdrawn" => {
                            step.envelope.actor.to_ref() == held.vote.by && record.at < held.until
                        }
                        "expired" | "failed" | "defaulted" | "reminded" | "escalated" => false,
                        "claimed" | "assigned" | "progressed" | "action_picked" => {
                            step.envelope.actor.to_ref() == held.vote.by
                        }
                        _ => true,
                    };
                    prop_assert!(allowed, "{} while an answer is held", record.what);
                    if record.what == "answered" {
                        prop_assert_eq!(record.event().unwrap().by, held.vote.by.clone());
                    }
                }
                if is_commit(step) && let Some(vote) = after.votes.get(before.votes.len()) {
                    prop_assert_eq!(vote.reply.value(), held.vote.reply.value());
                    let of = |vote: &kernel::ask::RecordedAnswer| (vote.by.clone(), vote.via, vote.assurance);
                    prop_assert_eq!(of(vote), of(&held.vote));
                }
            }
            Ok(())
        })?;
    }

    /// Whoever comes to sit at an ask is told, in the same step.
    #[test]
    fn whoever_is_asked_is_told(script in any_script()) {
        Stage::play(&script, |step| {
            for (before, after) in step.moved() {
                let sat = before.map_or(&[][..], |ask| &ask.assignees);
                let mut new: Vec<Assignee> =
                    after.assignees.iter().filter(|seat| !sat.contains(seat)).cloned().collect();
                let held = |ask: &Ask| ask.claim.as_ref().map(|claim| claim.human.clone());
                if let Some(human) = held(after).filter(|_| before.and_then(held) != held(after))
                    && ActorRef::Human(human.clone()) != step.envelope.actor.to_ref()
                {
                    new.push(Assignee::Person { human });
                }
                let (_, changes) = step.outcome.as_ref().unwrap();
                let told = |wanted: &Assignee| changes.follow_ups.iter().flatten().any(|effect| {
                    matches!(effect, FollowUp::Notify { ask, assignee, .. } if *ask == after.id && assignee == wanted)
                });
                prop_assert!(new.iter().all(told), "{:?} not told", new);
            }
            Ok(())
        })?;
    }

    /// A follower that reads the records later, with the state of then, comes to the same work.
    #[test]
    fn what_follows_is_the_same_when_it_is_read_again(script in any_script()) {
        Stage::play(&script, |step| {
            let Ok((_, changes)) = &step.outcome else { return Ok(()) };
            let ask = |subject: &Subject| changes.entities.iter().find_map(|entity| match entity {
                Entity::Ask(ask) if entity.subject() == *subject => Some(&**ask),
                _ => None,
            });
            let mut again = std::collections::BTreeSet::new();
            for record in &changes.records {
                let event = record.event().unwrap();
                let follow_ups = follow_ups(&event, ask(&event.subject), step.world.directory);
                again.extend(follow_ups.iter().map(|one| format!("{one:?}")));
            }
            let first = changes.follow_ups.iter().flatten();
            let first = first.map(|one| format!("{one:?}")).collect();
            prop_assert_eq!(again, first);
            Ok(())
        })?;
    }

    /// The same world and envelope give the same verdict and the same bytes.
    #[test]
    fn deciding_again_is_deciding_the_same(script in any_script()) {
        Stage::play(&script, |step| {
            let again = decide(&step.world, step.envelope);
            match &step.outcome {
                Ok((decision, changes)) => {
                    prop_assert_eq!(again, Ok(DecideOutcome::Decided(decision.clone())));
                    let settled = apply_decision(&step.world, step.envelope, decision.clone());
                    prop_assert_eq!(settled.as_ref(), Ok(changes));
                }
                Err(refusal) => {
                    let same = match again {
                        Ok(DecideOutcome::Need(_)) => true,
                        Ok(DecideOutcome::Decided(_)) => false,
                        Err(other) => other == *refusal,
                    };
                    prop_assert!(same);
                }
            }
            Ok(())
        })?;
    }

    /// States and events read back from text are the same, and their values still fit their hashes.
    #[test]
    fn states_and_events_survive_json(script in any_script()) {
        let stage = Stage::play(&script, |_| Ok(()))?;
        for (subject, chain) in stage.chains() {
            let state = stage.state(&subject).unwrap();
            let text = serde_json::to_string(&state).unwrap();
            let back: Entity = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &state);
            if let Entity::Ask(ask) = &back {
                prop_assert!(ask.question.is_intact() && ask.metadata.is_intact());
                prop_assert!(ask.votes.iter().all(|vote| vote.reply.is_intact()));
                prop_assert_eq!(Receipt::of(ask).is_some(), !ask.is_open());
            }
            for record in &chain {
                let event = record.event().unwrap();
                let text = serde_json::to_string(&event).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), &event);
                let contents = serde_json::to_string(&record.contents).unwrap();
                let stored = Record { contents: serde_json::from_str(&contents).unwrap(), ..record.clone() };
                prop_assert_eq!(stored.event(), Ok(event));
            }
        }
    }

    /// What is counted as it happens is what is counted from the whole record afterwards, in pieces
    /// of any size: an event counts for the same, whatever came later. Only forgotten words count
    /// no more.
    #[test]
    fn counts_are_a_fold_over_the_record(script in any_script(), piece in 1..9_usize) {
        let mut live: BTreeMap<AskId, Tally> = BTreeMap::new();
        let stage = Stage::play(&script, |step| {
            let Ok((_, changes)) = &step.outcome else { return Ok(()) };
            for (_, after) in step.moved() {
                let own = |record: &&Record| record.subject == Subject::Ask(after.id);
                for record in changes.records.iter().filter(own) {
                    live.entry(after.id).or_default().add(&record.event().unwrap(), after);
                }
            }
            Ok(())
        })?;
        let mut whole = Tally::default();
        let mut sum = Tally::default();
        for ask in stage.loaded.asks.values().flatten() {
            let mut later = Tally::default();
            for events in events(&stage, ask).chunks(piece) {
                let mut part = Tally::default();
                for event in events {
                    part.add(event, ask);
                }
                later.merge(&part);
            }
            let live = live.remove(&ask.id).unwrap_or_default();
            if ask.question.value().is_some() {
                prop_assert_eq!(&later, &live);
            }
            whole.merge(&later);
            for event in events(&stage, ask) {
                sum.add(&event, ask);
                let counts = !counts_for(&event, ask).is_empty();
                prop_assert!(!counts || COUNTED_EVENTS.contains(&event.what.name()), "{:?}", event);
            }
            let asked = later.cells().filter(|(cell, _)| cell.measure == Measure::Asked);
            prop_assert_eq!(asked.map(|(_, n)| n).sum::<u64>(), 3, "its own, its project's, all");
            let ended = later.cells().filter(|(cell, _)| cell.measure == Measure::Ended);
            let ended = ended.map(|(_, n)| n).sum::<u64>();
            prop_assert_eq!(ended, if ask.is_open() { 0 } else { 3 }, "once, if at all");
        }
        prop_assert_eq!(whole, sum);
    }
}

/// An ask without its words, through the same door as a reader would use.
fn forgetful(ask: &Ask) -> Ask {
    let mut json = serde_json::to_value(ask).unwrap();
    strip(&mut json);
    let mut ask: Ask = serde_json::from_value(json).unwrap();
    // Who commented on an answer they held is forgotten with the words.
    ask.held_comments.clear();
    ask
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.contains_key("commitment") {
                map.remove("content");
            }
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn replay(chain: &[Record]) -> Option<Entity> {
    chain.iter().fold(None, |before, record| {
        Some(evolve(before, &record.event().unwrap(), record.hash).unwrap())
    })
}

fn events(stage: &Stage, ask: &Ask) -> Vec<Event> {
    let mine = |record: &&Record| record.subject == Subject::Ask(ask.id);
    stage.records.iter().filter(mine).map(|record| record.event().unwrap()).collect()
}

fn is_end(event: &Event) -> bool {
    match event.what {
        DomainEvent::Ask(AskEvent::Answered { decisive, .. }) => decisive,
        DomainEvent::Ask(
            AskEvent::Defaulted { .. }
            | AskEvent::Cancelled { .. }
            | AskEvent::Expired { .. }
            | AskEvent::Failed { .. },
        ) => true,
        _ => false,
    }
}

fn is_commit(step: &Step<'_>) -> bool {
    matches!(step.envelope.command, Command::Ask(AskCommand::CommitHeld(_)))
}

/// Who may do what to an ask, as a table of its own.
fn may(step: &Step<'_>, ask: &Ask, what: &str) -> bool {
    match &step.envelope.actor {
        Actor::System => {
            let timers = ["expired", "failed", "defaulted", "reminded", "escalated"];
            let shell = ["cancelled", "extended", "assigned", "commented", "revoked", "erased"];
            let outbox = ["granted", "called_back", "callback_wanted"];
            let commit = ["answered", "answer_withdrawn"].contains(&what);
            if commit {
                return ask.held.is_some() && is_commit(step);
            }
            timers.contains(&what) || shell.contains(&what) || outbox.contains(&what)
        }
        Actor::Agent { id, project, scope: reach, .. } => {
            let own = ["followed", "cancelled", "extended", "commented"];
            (own.contains(&what) || ["granted", "callback_wanted"].contains(&what))
                && ask.project == *project
                && (ask.agent == *id || *reach == KeyScope::Project)
        }
        Actor::Human { id, assurance, .. } => {
            let Some(person) = step.world.directory.human(id) else { return false };
            let lets_in = match what {
                "opened" | "progressed" | "claimed" | "extended" | "action_picked" => {
                    is_in(ask, person)
                }
                "answered" | "answer_held" => {
                    is_in(ask, person) && *assurance >= ask.minimum_assurance
                }
                "answer_withdrawn" => ask.held_by() == Some(id),
                "assigned" | "cancelled" | "commented" | "callback_wanted" => {
                    is_in(ask, person) || person.admin
                }
                "revoked" | "erased" => person.admin,
                _ => false,
            };
            person.active && lets_in
        }
        Actor::LinkHolder { ask: own, .. } => {
            let lets_in =
                ["opened", "progressed", "answered", "cancelled", "commented", "action_picked"];
            *own == ask.id && lets_in.contains(&what)
        }
        Actor::Relay { ask: own, .. } => {
            *own == ask.id && what == "answered" && ask.inline.is_some()
        }
        Actor::Guest { ask: own, attested, .. } => {
            let place = ask.posting_address.as_ref().and_then(|place| place.value());
            let there = place.is_some_and(|place| {
                place.contact_method.kind() == attested.platform
                    && (place.only.is_empty() || place.only.contains(&attested.platform_user_id))
            });
            let lets_in = ["opened", "progressed", "answered", "commented", "action_picked"];
            *own == ask.id && there && lets_in.contains(&what)
        }
    }
}

fn is_in(ask: &Ask, person: &Human) -> bool {
    let qualified = |group: &Option<kernel::ids::GroupId>| {
        person.projects.contains(&ask.project)
            && group.iter().all(|group| person.groups.contains(group))
            && ask.tags.iter().all(|tag| person.skills.contains(tag))
    };
    person.id == ask.owner
        || ask.claim.iter().any(|claim| claim.human == person.id)
        || ask.assignees.iter().any(|seat| match seat {
            Assignee::Person { human } => *human == person.id,
            Assignee::Pool { group } => qualified(group),
        })
}
