//! The principal allows or forbids something beforehand.

use super::command::NewGrant;
use super::may::seen;
use super::{Duty, Grant, Leave, Task, TaskEvent, Until};
use crate::command::Envelope;
use crate::ids::{HumanId, TaskId};
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewGrant,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    if task.state.is_over() {
        let why = format!("the task is {}", task.state.as_str());
        return Err(Refusal::Precondition { why }.into());
    }
    let grant = granted(new, &task.principal, world.now.max(task.head.at))?;
    let mut decision = task.decided(TaskEvent::Granted { grant });
    decision.contracts.extend(task.running().map(|run| task.wants(run, Duty::Steer)));
    Ok(decision)
}

/// A grant as it is kept: its scope is trimmed, and reads.
pub(super) fn granted(new: &NewGrant, by: &HumanId, at: Time) -> Result<Grant, Refusal> {
    let scope = new.scope.trim();
    if !is_scope(scope) {
        let expected = "\"*\", or namespace:target with * only at its end, such as fs:/repo:*";
        return Err(Refusal::Invalid { field: "scope", expected });
    }
    if matches!(new.until, Until::At(until) if until <= at) {
        let expected = "session, task, or a moment that is still to come";
        return Err(Refusal::Invalid { field: "until", expected });
    }
    Ok(Grant {
        scope: scope.to_owned(),
        decision: new.decision,
        until: new.until,
        granted_by: by.clone(),
        granted_at: at,
    })
}

/// Whether a text is a scope.
pub(super) fn is_scope(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    let Some((namespace, target)) = text.split_once(':') else { return false };
    let mut letters = namespace.chars();
    letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
        && !target.is_empty()
        && text.len() <= 1000
        && !target.contains(|c: char| c.is_whitespace() || c.is_control())
        && !target.strip_suffix('*').unwrap_or(target).contains('*')
}

impl Grant {
    /// Whether it is about something that wants this scope.
    pub fn covers(&self, wanted: &str) -> bool {
        if self.scope == wanted {
            return true;
        }
        let Some(stem) = self.scope.strip_suffix('*') else { return false };
        // What lies below a folder is written with a slash.
        wanted.starts_with(stem)
            || stem.strip_suffix(':').is_some_and(|folder| {
                wanted.strip_prefix(folder).is_some_and(|below| below.starts_with('/'))
            })
    }

    fn counts(&self, now: Time) -> bool {
        match self.until {
            Until::Session | Until::Task => true,
            Until::At(until) => now <= until,
        }
    }
}

impl Task {
    /// Whether something may be done without asking: a prohibition always wins, and nothing said is
    /// no permission.
    pub fn allows(&self, scope: &str, now: Time) -> bool {
        let grants = self.grants.iter().chain(&self.granted);
        let said: Vec<_> = grants
            .filter(|grant| grant.counts(now) && grant.covers(scope))
            .map(|grant| grant.decision)
            .collect();
        !said.contains(&Leave::Deny) && said.contains(&Leave::Allow)
    }
}
