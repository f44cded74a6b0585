//! A task writes an entry of a ledger. The last write wins, and earlier values stay in the history.
//! Results are often written after the task was accepted, so its agent may still write then.

use super::command::NewEntry;
use super::permissions::visible_task;
use super::{EntryWritten, LedgerScope, Task, TaskEvent};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Directory;
use crate::event::DomainEvent;
use crate::ids::{EntryId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::text::is_storable_json;
use crate::world::{Decision, Stop, World};

/// The maximum size of a value. Longer documents are artifacts.
const LONGEST_VALUE: usize = 256 * 1024;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewEntry,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.only_party(&envelope.actor)?;
    if !task.writes_to(&new.scope, world.directory) {
        let why = "a task can write the ledgers of its project and of its principal's teams; only \
                   an administrator's task can write those of the organisation";
        return Err(Refusal::NotAllowed { why }.into());
    }
    check(new)?;
    let entry = EntryId::of(new.scope.as_str(), &new.key);
    let written = world.entry(entry)?.map_or(0, |entry| entry.head.seq);
    if new.expected.is_some_and(|expected| expected != written) {
        return Err(Refusal::Stale { what: "key", revision: written }.into());
    }
    let (scope, key) = (new.scope.clone(), new.key.clone());
    let value = Erasable::new(new.value.clone(), &mut envelope.salts.clone());
    let what = EntryWritten { scope: scope.clone(), key: key.clone(), value, task: task.id };
    let mut decision =
        Decision::of(Subject::Entry(entry), DomainEvent::EntryWritten(Box::new(what)));
    let wrote = TaskEvent::Wrote { entry, scope, key, revision: written + 1 };
    decision.happened.push(task.event(wrote));
    Ok(decision)
}

impl Task {
    /// Whether the task may write this ledger.
    fn writes_to(&self, scope: &LedgerScope, directory: &Directory) -> bool {
        let principal = directory.human(&self.principal);
        match scope.parts() {
            ("project", name) => self.project.as_str() == name,
            ("team", name) => principal
                .is_some_and(|human| human.groups.iter().any(|group| group.as_str() == name)),
            // Everyone reads this ledger, so not every agent may write it.
            (_, _) => principal.is_some_and(|human| human.admin),
        }
    }
}

fn check(new: &NewEntry) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    if new.key.is_empty() || new.key.len() > 200 || !new.key.chars().all(plain) {
        return invalid("key", "1 to 200 bytes without spaces or control characters");
    }
    if !is_storable_json(&new.value) || new.value.to_string().len() > LONGEST_VALUE {
        return invalid("value", "JSON of at most 256 KiB, without NUL characters");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{
        CheckpointKind, NewReview, NewTask, OnSilence, ResolutionAction, ReviewKind, Role,
        TaskCommand, Verdict,
    };
    use crate::testing::{Cast, human, new_task, raising, resolution, verdict, version};
    use serde_json::{Value, json};

    fn entry(scope: &str, key: &str, value: Value) -> NewEntry {
        let (scope, key) = (scope.parse().unwrap(), key.to_owned());
        NewEntry { scope, key, value, expected: None }
    }

    fn write(cast: &mut Cast, id: TaskId, new: NewEntry) -> Result<(), Refusal> {
        cast.attempt_task(cast.agent("bot"), TaskCommand::Write(id, Box::new(new)))
    }

    /// HACP-023, HACP-080: the last write wins, earlier values stay in the history, and the task
    /// keeps its revision.
    #[test]
    fn the_last_to_write_is_right_and_nothing_is_lost() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let other = cast.begun(new_task());
        let before = cast.task(id).revision;
        write(&mut cast, id, entry("project:acme", "tax/vat", json!(19))).unwrap();
        cast.advance(1);
        write(&mut cast, other, entry("project:acme", "tax/vat", json!(7))).unwrap();
        let kept = cast.entry("project:acme", "tax/vat").unwrap();
        assert_eq!((kept.value.value(), kept.by, kept.head.seq), (Some(&json!(7)), other, 2));
        assert_eq!((kept.key.as_str(), kept.written_at), ("tax/vat", cast.now()));
        let subject = Subject::Entry(kept.id);
        let history: Vec<_> = cast
            .records()
            .iter()
            .filter(|record| record.subject == subject)
            .map(|record| {
                let what = record.event().unwrap().what;
                let DomainEvent::EntryWritten(written) = what else { panic!("{}", what.name()) };
                written.value.value().cloned().unwrap()
            })
            .collect();
        assert_eq!(history, [json!(19), json!(7)]);
        assert_eq!(cast.task(id).revision, before);
        assert_eq!(cast.event_names(id).last(), Some(&"ledger_written"));
    }

    /// A writer may name the revision it has read, and then does not overwrite later writes.
    #[test]
    fn a_write_may_name_what_it_has_seen() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let seen = |n| NewEntry { expected: Some(n), ..entry("project:acme", "k", json!(n)) };
        let stale = write(&mut cast, id, seen(1));
        assert_eq!(stale, Err(Refusal::Stale { what: "key", revision: 0 }));
        write(&mut cast, id, seen(0)).unwrap();
        let stale = write(&mut cast, id, seen(0));
        assert_eq!(stale, Err(Refusal::Stale { what: "key", revision: 1 }));
        write(&mut cast, id, seen(1)).unwrap();
    }

    /// K-14: only the ledgers of the task's own project and of its principal's teams; that of the
    /// whole organisation, which everyone reads, only for a task of an administrator.
    #[test]
    fn a_task_writes_the_ledgers_of_its_scope() {
        let mut cast = Cast::staffed();
        cast.run_task(cast.human("nina"), TaskCommand::Create(Box::new(new_task())));
        let hers = TaskId::new(cast.fresh());
        let new = NewTask { project: "acme".parse().ok(), ..new_task() };
        cast.run_task(cast.human("adam"), TaskCommand::Create(Box::new(new)));
        let his = TaskId::new(cast.fresh());
        let id = cast.begun(new_task());
        for (scope, olga, nina, adam) in [
            ("project:acme", true, true, true),
            ("project:rival", false, false, false),
            ("team:legal", false, true, false),
            ("team:tax", false, false, false),
            ("org:all", false, false, true),
        ] {
            for (who, id, may) in [("olga", id, olga), ("nina", hers, nina), ("adam", his, adam)] {
                let new = TaskCommand::Write(id, Box::new(entry(scope, "k", json!(1))));
                let done = cast.attempt_task(cast.human(who), new);
                assert_eq!(done.is_ok(), may, "{scope} {who}: {done:?}");
                assert!(may || matches!(done, Err(Refusal::NotAllowed { .. })));
            }
        }
        let nothing = TaskId::new(ulid::Ulid::from(7_u128));
        let astray = write(&mut cast, nothing, entry("project:acme", "k", json!(1)));
        assert_eq!(astray, Err(Refusal::NotFound { what: "task" }));
        assert_eq!(cast.task(id).principal, human("olga"));
    }

    /// Digest, reference flow: the result of a task is written after it was accepted. A cancelled,
    /// rejected or abandoned task has no result, and its worker may no longer write.
    #[test]
    fn the_agent_writes_after_the_task_only_what_came_of_it() {
        for (how, may) in [
            ("accepted", true),
            ("rejected", false),
            ("cancelled", false),
            ("reworked and cancelled", false),
            ("planned and cancelled", false),
            ("refused", false),
            ("run out", false),
        ] {
            let mut cast = Cast::new();
            let made = cast.begun(new_task());
            let made = cast.delivered(made, version());
            let id = cast.begun(NewTask { on_silence: OnSilence::Cancel, ..new_task() });
            let cancel = || TaskCommand::Cancel(id, None);
            match how {
                "cancelled" => cast.run_task(cast.human("olga"), cancel()),
                "reworked and cancelled" => {
                    cast.delivered(id, version());
                    cast.judge("olga", id, verdict(Verdict::ChangesRequested)).unwrap();
                    cast.run_task(cast.human("olga"), cancel());
                }
                "planned and cancelled" => {
                    cast.delivered(id, version());
                    let plan = NewReview { kind: ReviewKind::Plan, ..verdict(Verdict::Approved) };
                    cast.judge("olga", id, plan).unwrap();
                    cast.run_task(cast.human("olga"), cancel());
                }
                "refused" => {
                    let ask = cast.raised(id, raising(CheckpointKind::Approval));
                    cast.resolve("olga", ask, resolution(ResolutionAction::Reject)).unwrap();
                }
                "run out" => {
                    let ask = cast.raised(id, raising(CheckpointKind::Approval));
                    cast.run_task(cast.human("olga"), TaskCommand::Lapse(ask));
                }
                judged => {
                    let good = judged == "accepted";
                    cast.delivered(id, version());
                    let given = if good { Verdict::Approved } else { Verdict::Rejected };
                    cast.judge("olga", id, verdict(given)).unwrap();
                }
            }
            assert!(cast.task(id).state.is_closed(), "{how}");
            assert_eq!(cast.task(id).is_accepted(), may, "{how}");
            let new = || entry("project:acme", "tax/vat", json!(19));
            let using = || TaskCommand::Reference(id, made.clone(), Role::Input);
            for command in [TaskCommand::Write(id, Box::new(new())), using()] {
                let done = cast.attempt_task(cast.agent("bot"), command.clone());
                let refused = matches!(done, Err(Refusal::Precondition { .. }));
                assert_eq!((done.is_ok(), refused), (may, !may), "{how}: {done:?}");
                cast.run_task(cast.human("olga"), command);
            }
        }
    }

    /// K-14: texts that are not a scope.
    #[test]
    fn scopes_are_of_three_kinds() {
        for bad in ["", "acme", "project:", "user:olga", "project", "team:a b", "ORG:x", ":x"] {
            assert!(bad.parse::<LedgerScope>().is_err(), "{bad:?}");
        }
        let scope: LedgerScope = "team:legal".parse().unwrap();
        assert_eq!((scope.parts(), scope.as_str()), (("team", "legal"), "team:legal"));
    }

    #[test]
    fn what_cannot_be_written() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let long = "x".repeat(201);
        for (key, value, field) in [
            ("", json!(1), "key"),
            ("a b", json!(1), "key"),
            ("a\nb", json!(1), "key"),
            (long.as_str(), json!(1), "key"),
            ("k", json!({"a": ["\0"]}), "value"),
            ("k", json!("x".repeat(256 * 1024)), "value"),
        ] {
            let refused = write(&mut cast, id, entry("project:acme", key, value));
            assert!(matches!(refused, Err(Refusal::Invalid { field: f, .. }) if f == field));
        }
        assert_eq!(cast.entry("project:acme", "k"), None);
    }
}
