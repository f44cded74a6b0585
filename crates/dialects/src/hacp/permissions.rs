//! The permissions of a runtime.

use kernel::task::{self, GrantDecision};
use kernel::{RunId, Time};

use super::wire::{PermissionGrant, Task};

impl Task {
    /// Whether a run may perform an action such as `bash:ls` or `fs:/repo/a.py`. A denial overrides
    /// every permission, and an action without a grant needs a checkpoint. `run` is the run of the
    /// duty; it defaults to the task's own. A grant can be revoked, so check before each step.
    pub fn permission(&self, scope: &str, run: Option<RunId>, at: Time) -> Option<GrantDecision> {
        let later = self.later.as_ref()?;
        let run = run.or(later.run_id);
        let counts = |grant: &&PermissionGrant| match grant.until.as_str() {
            "task" => true,
            // A session grant without a run applies to the next run, which is the one that asks.
            "session" => grant.run_id.is_none_or(|one| Some(one) == run),
            moment => moment.parse::<Time>().is_ok_and(|until| at <= until),
        };
        let grants = later.grants.iter().filter(counts);
        let said = grants.filter(|grant| task::covers(&grant.scope, scope));
        // A denial overrides a permission.
        said.map(|grant| grant.decision).max_by_key(|said| *said == GrantDecision::Deny)
    }
}
