//! The principal grants or denies permissions in advance.

use super::command::NewGrant;
use super::permissions::visible_task;
use super::{Duty, Grant, GrantDecision, GrantDuration, Permission, Task, TaskEvent};
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
    let task = visible_task(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    if task.state.is_closed() {
        let why = format!("the task is {}", task.state.as_str());
        return Err(Refusal::Precondition { why }.into());
    }
    let grant = granted(new, &task.principal, world.now.max(task.head.at))?;
    let mut decision = task.decided(TaskEvent::Granted { grant });
    decision.contracts.extend(task.current_run().map(|run| task.contract(run, Duty::Steer)));
    Ok(decision)
}

/// A grant as stored: its scope is trimmed and valid.
pub(super) fn granted(new: &NewGrant, by: &HumanId, at: Time) -> Result<Grant, Refusal> {
    let scope = new.scope.trim();
    if !is_scope(scope) {
        let expected = "\"*\", or namespace:target with * only at its end, such as fs:/repo:*";
        return Err(Refusal::Invalid { field: "scope", expected });
    }
    if matches!(new.until, GrantDuration::At(until) if until <= at) {
        let expected = "session, task, or a time in the future";
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

/// Whether a text is a scope: `*`, or `namespace:target` with a star only at its end.
pub fn is_scope(text: &str) -> bool {
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

/// Whether a grant of one scope covers a requested scope.
pub fn covers(granted: &str, wanted: &str) -> bool {
    if granted == wanted {
        return true;
    }
    let Some(stem) = granted.strip_suffix('*') else { return false };
    // Paths below a folder are written with a slash.
    wanted.starts_with(stem)
        || stem.strip_suffix(':').is_some_and(|folder| {
            wanted.strip_prefix(folder).is_some_and(|below| below.starts_with('/'))
        })
}

impl Grant {
    /// Whether the grant covers this scope.
    pub fn covers(&self, wanted: &str) -> bool {
        covers(&self.scope, wanted)
    }
}

impl Task {
    /// All permissions and prohibitions in order, with whether each is in effect at a moment.
    pub fn permissions(&self, now: Time) -> impl Iterator<Item = Permission<'_>> {
        let mut sessions = self.sessions.iter().copied();
        let running = self.current_run().map(|run| run.id);
        self.grants.iter().chain(&self.granted).map(move |grant| {
            let session = grant.until == GrantDuration::Session;
            let run = if session { sessions.next() } else { None };
            let counts = match grant.until {
                // A grant that was given while no agent worked applies to the next run.
                GrantDuration::Session => match run {
                    Some(_) => run == running,
                    None => !self.state.is_closed(),
                },
                GrantDuration::Task => true,
                GrantDuration::At(until) => now <= until,
            };
            Permission { grant, run, counts }
        })
    }

    /// Binds the session grants to the current run. Their order never changes, so the list of runs
    /// alone says which grant belongs to which run.
    pub(super) fn bind_session_grants(&mut self) {
        let Some(run) = self.current_run().map(|run| run.id) else { return };
        let all = self.created.grants.iter().chain(&self.granted);
        let count = all.filter(|grant| grant.until == GrantDuration::Session).count();
        self.sessions.resize(count, run);
    }

    /// Whether an action is allowed without asking. A prohibition always wins, and without a
    /// permission it is not allowed.
    pub fn allows(&self, scope: &str, now: Time) -> bool {
        let said: Vec<_> = self
            .permissions(now)
            .filter(|one| one.counts && one.grant.covers(scope))
            .map(|one| one.grant.decision)
            .collect();
        !said.contains(&GrantDecision::Deny) && said.contains(&GrantDecision::Allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{
        AgentInput, CheckpointKind, Handover, NewTask, Party, ResolutionAction, TaskCommand,
        TaskState, Verdict,
    };
    use crate::testing::{Cast, approve, human, new_task, raising, resolution, verdict, version};

    fn new(scope: &str, decision: GrantDecision) -> NewGrant {
        NewGrant { scope: scope.to_owned(), decision, until: GrantDuration::Task }
    }

    fn grant(scope: &str) -> Grant {
        granted(&new(scope, GrantDecision::Allow), &human("olga"), Time::from_millis(0)).unwrap()
    }

    /// HACP-070, K-14: the grammar of scopes.
    #[test]
    fn what_a_scope_is() {
        for good in [
            "*",
            "bash:*",
            "fs:/repo:write",
            "tool:mcp:github",
            "net:*",
            "a:b",
            "a_b-1:x",
            "fs:/repo*",
            "fs:/ré",
        ] {
            assert!(is_scope(good), "{good}");
        }
        for bad in [
            "", "bash", ":x", "bash:", "Bash:x", "1a:x", "_a:x", "a b:x", "a:x y", "a:*x", "a:**",
            "**", "a*:x", "*:x", "a:x\ty", "a:x\u{7}", "a.b:x",
        ] {
            assert!(!is_scope(bad), "{bad:?}");
        }
        assert!(is_scope(&format!("a:{}", "x".repeat(998))));
        assert!(!is_scope(&format!("a:{}", "x".repeat(999))));
    }

    /// HACP-071: equal, or below a scope that ends in a star.
    #[test]
    fn what_a_grant_covers() {
        for (scope, wanted, covers) in [
            ("*", "anything:at/all", true),
            ("bash:*", "bash:ls", true),
            ("bash:*", "bash:", true),
            ("bash:*", "bashful:ls", false),
            ("bash:*", "zsh:ls", false),
            ("bash:ls", "bash:ls", true),
            ("bash:ls", "bash:ls -l", false),
            ("fs:/repo:*", "fs:/repo:write", true),
            ("fs:/repo:*", "fs:/repo/file.py", true),
            ("fs:/repo:*", "fs:/repository/file.py", false),
            ("fs:/repo:*", "fs:/repo", false),
            ("fs:/repo*", "fs:/repository/x", true),
        ] {
            assert_eq!(grant(scope).covers(wanted), covers, "{scope} {wanted}");
        }
    }

    /// HACP-072, K-10: a prohibition wins whenever it was given, no grant means no permission, and
    /// an expired grant has no effect; it is still in effect at its last moment.
    #[test]
    fn what_may_be_done_without_asking() {
        let mut cast = Cast::new();
        let start = cast.now();
        let until = GrantDuration::At(start.plus_seconds(60));
        let grants = vec![
            new("bash:*", GrantDecision::Allow),
            new("bash:rm", GrantDecision::Deny),
            NewGrant { until, ..new("net:*", GrantDecision::Allow) },
            NewGrant { until, ..new("fs:*", GrantDecision::Deny) },
            new("fs:/repo:*", GrantDecision::Allow),
        ];
        let id = cast.written(NewTask { grants, ..new_task() });
        for (scope, seconds, may) in [
            ("bash:ls", 0, true),
            ("bash:rm", 0, false),
            ("tool:x", 0, false),
            ("net:example.com", 59, true),
            ("net:example.com", 60, true),
            ("net:example.com", 61, false),
            ("fs:/repo:read", 60, false),
            ("fs:/repo:read", 61, true),
        ] {
            let at = start.plus_seconds(seconds);
            assert_eq!(cast.task(id).allows(scope, at), may, "{scope} after {seconds} s");
        }
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Grant(id, new(" bash:* ", GrantDecision::Deny)),
        );
        assert!(!cast.task(id).allows("bash:ls", start), "taken back by what was added");
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Grant(id, new("bash:*", GrantDecision::Allow)),
        );
        assert!(!cast.task(id).allows("bash:ls", start), "and not given back by saying it again");
    }

    /// HACP-026, HACP-070, HACP-074, K-10: grants are added beside the task as created; the scope
    /// is trimmed before it is stored, and the run is notified.
    #[test]
    fn a_grant_is_added_and_nothing_is_replaced() {
        let mut cast = Cast::new();
        let id =
            cast.begun(NewTask { grants: vec![new(" a:x\n", GrantDecision::Allow)], ..new_task() });
        let created = cast.task(id).created.clone();
        assert_eq!(created.grants[0].scope, "a:x");
        let before = cast.task(id).revision;
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Grant(id, new("\tb:* ", GrantDecision::Deny)),
        );
        let task = cast.task(id);
        assert_eq!(
            (&task.created, task.state, task.revision),
            (&created, TaskState::InProgress, before + 1)
        );
        let [added] = &task.granted[..] else { panic!() };
        assert_eq!((added.scope.as_str(), &added.granted_by), ("b:*", &human("olga")));
        assert_eq!(added.granted_at, cast.now());
        assert_eq!(cast.duties(id).last().map(|(_, duty)| *duty), Some(Duty::Steer));
    }

    /// HACP-072: a session grant applies to the run it was given in, and to no other: not to
    /// another assignee, a delegate or a replacement, and not after the task is closed. A
    /// checkpoint and a rework interrupt the run and do not end it.
    #[test]
    fn a_session_is_a_run() {
        type Way = fn(&mut Cast, TaskId);
        let hand_to = |cast: &mut Cast, id, to: &str| {
            let to = Party::Agent(to.parse().unwrap());
            cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, to, Handover::Handoff));
        };
        let ways: [(&str, bool, Way); 9] = [
            ("nothing", true, |_, _| {}),
            ("decided", true, |cast, id| {
                let ask = cast.raised(id, raising(CheckpointKind::Approval));
                cast.resolve("olga", ask, approve()).unwrap();
            }),
            ("reworked", true, |cast, id| {
                cast.delivered(id, version());
                cast.judge("olga", id, verdict(Verdict::ChangesRequested)).unwrap();
            }),
            ("delivered", true, |cast, id| {
                cast.delivered(id, version());
            }),
            ("reassigned", false, |cast, id| {
                let ask = cast.raised(id, raising(CheckpointKind::Approval));
                cast.resolve("olga", ask, resolution(ResolutionAction::Reassign)).unwrap();
            }),
            ("handed down", false, |cast, id| {
                let to = "bob".parse().unwrap();
                cast.run_task(
                    cast.agent("bot"),
                    TaskCommand::Delegate(id, to, AgentInput::default()),
                );
            }),
            ("taken over", false, |cast, id| {
                let to = Party::Human(human("olga"));
                cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, to, Handover::Handoff));
            }),
            ("accepted", false, |cast, id| {
                cast.delivered(id, version());
                cast.judge("olga", id, verdict(Verdict::Approved)).unwrap();
            }),
            ("called off", false, |cast, id| {
                cast.run_task(cast.human("olga"), TaskCommand::Cancel(id, None));
            }),
        ];
        for (name, lasts, way) in ways {
            let mut cast = Cast::staffed();
            let session = |scope| NewGrant {
                until: GrantDuration::Session,
                ..new(scope, GrantDecision::Allow)
            };
            let grants = vec![session("a:x"), new("c:x", GrantDecision::Allow)];
            let id = cast.written(NewTask { grants, delegable: true, ..new_task() });
            assert!(cast.task(id).allows("a:x", cast.now()), "it waits for the first run");
            cast.run_task(
                cast.human("olga"),
                TaskCommand::Assign(id, "bot".parse().unwrap(), AgentInput::default()),
            );
            cast.run_task(cast.agent("bot"), TaskCommand::Start(id));
            cast.run_task(cast.human("olga"), TaskCommand::Grant(id, session("b:x")));
            let run = cast.run_of(id);
            way(&mut cast, id);
            let (task, now) = (cast.task(id), cast.now());
            let both = (task.allows("a:x", now), task.allows("b:x", now));
            assert_eq!(both, (lasts, lasts), "{name}");
            assert!(task.allows("c:x", now), "{name}: what is for the task stays");
            let runs: Vec<_> = task.permissions(now).map(|one| one.run).collect();
            assert_eq!(runs, [Some(run), None, Some(run)], "{name}");
        }
        // A grant that is given while a person has the task applies to the next agent only.
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let take = TaskCommand::Transfer(id, Party::Human(human("olga")), Handover::Handoff);
        cast.run_task(cast.human("olga"), take);
        let deny =
            NewGrant { until: GrantDuration::Session, ..new("bash:rm", GrantDecision::Deny) };
        cast.run_task(cast.human("olga"), TaskCommand::Grant(id, deny));
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Grant(id, new("bash:*", GrantDecision::Allow)),
        );
        for (to, may) in [("bot", false), ("bob", true), ("bot", true)] {
            hand_to(&mut cast, id, to);
            assert_eq!(cast.task(id).allows("bash:rm", cast.now()), may, "with {to}");
        }
    }

    #[test]
    fn what_cannot_be_granted() {
        let mut cast = Cast::new();
        let id = cast.written(new_task());
        let past =
            NewGrant { until: GrantDuration::At(cast.now()), ..new("a:x", GrantDecision::Allow) };
        for (bad, field) in [(new("banana", GrantDecision::Allow), "scope"), (past, "until")] {
            let refused =
                cast.attempt_task(cast.human("olga"), TaskCommand::Grant(id, bad.clone()));
            assert!(matches!(refused, Err(Refusal::Invalid { field: f, .. }) if f == field));
            let create = TaskCommand::Create(Box::new(NewTask { grants: vec![bad], ..new_task() }));
            let refused = cast.attempt_task(cast.human("olga"), create);
            let place = format!("spec.constraints.grants[0].{field}");
            let named = matches!(&refused, Err(Refusal::InvalidAt { field: f, .. }) if *f == place);
            assert!(named, "{refused:?}");
        }
        assert_eq!(cast.task(id).granted, []);
    }
}
