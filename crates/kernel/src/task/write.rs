//! A task writes a key of a ledger. The last one to write is right, and what was there stays.

use super::command::NewEntry;
use super::may::seen;
use super::{EntryWritten, Scope, Task, TaskEvent};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Directory;
use crate::event::Happened;
use crate::ids::{EntryId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::text::is_storable_json;
use crate::world::{Decision, Stop, World};

/// A longer value is a document, and documents are artifacts.
const LONGEST_VALUE: usize = 256 * 1024;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewEntry,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_party(&envelope.actor)?;
    if !task.writes_to(&new.scope, world.directory) {
        let why = "a task writes the ledgers of its project, of its principal's teams, and of the \
                   organisation";
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
    let mut decision = Decision::of(Subject::Entry(entry), Happened::EntryWritten(Box::new(what)));
    let wrote = TaskEvent::Wrote { entry, scope, key, revision: written + 1 };
    decision.happened.push(task.event(wrote));
    Ok(decision)
}

impl Task {
    /// Whether it may write a ledger.
    fn writes_to(&self, scope: &Scope, directory: &Directory) -> bool {
        match scope.parts() {
            ("project", name) => self.project.as_str() == name,
            ("team", name) => directory
                .human(&self.principal)
                .is_some_and(|human| human.groups.iter().any(|group| group.as_str() == name)),
            (_, _) => true,
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
