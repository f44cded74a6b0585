//! What a runtime may do without asking.

use kernel::task::{self, Leave};
use kernel::{RunId, Time};

use super::wire::{PermissionGrant, Task};

impl Task {
    /// Whether a run of an agent may do something, such as `bash:ls` or `fs:/repo/a.py`: what is denied
    /// must not be done, whatever else was allowed, and what nobody spoke of needs a checkpoint. `run` is
    /// that of the duty, or else the task's own. A grant may be taken back: look again before each step.
    pub fn leave(&self, scope: &str, run: Option<RunId>, at: Time) -> Option<Leave> {
        let later = self.later.as_ref()?;
        let run = run.or(later.run_id);
        let counts = |grant: &&PermissionGrant| match grant.until.as_str() {
            "task" => true,
            // One that names no run is for the next, which is whoever looks.
            "session" => grant.run_id.is_none_or(|one| Some(one) == run),
            moment => moment.parse::<Time>().is_ok_and(|until| at <= until),
        };
        let grants = later.grants.iter().filter(counts);
        let said = grants.filter(|grant| task::covers(&grant.scope, scope));
        // A prohibition wins.
        said.map(|grant| grant.decision).max_by_key(|said| *said == Leave::Deny)
    }
}
