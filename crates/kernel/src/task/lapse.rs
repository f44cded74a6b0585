//! A checkpoint ends without a decision: its deadline passed, a command expired it, or its ask was
//! withdrawn.

use super::permissions::visible_checkpoint;
use super::{Checkpoint, LapseReason, RaisedBy, TaskEvent};
use crate::actor::Actor;
use crate::ask::{Ask, DefaultAction};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let (ask, checkpoint, task) = visible_checkpoint(world, envelope, id)?;
    task.only_responsible(&envelope.actor, world.directory)?;
    if !ask.is_open() {
        let why = "this checkpoint is already closed".to_owned();
        return Err(Refusal::Precondition { why }.into());
    }
    let deadline = ask.deadline().map_or(world.now, |at| at.min(world.now)).max(ask.created_at);
    let over = Decision::on(ask, AskEvent::Expired { deadline, report: DefaultAction::Abort });
    record_lapse(world, checkpoint, ask, (LapseReason::Expired, None), over)
}

/// The ask of a checkpoint or a review was withdrawn. An agent may withdraw the asks it raised, and
/// people those they decide on. The review of a delivery cannot be withdrawn.
pub(crate) fn withdraw(
    world: &World<'_>,
    envelope: &Envelope,
    ask: &Ask,
    reason: Option<&str>,
    over: Decision,
) -> Result<Decision, Stop> {
    let administers = world.directory.administers(&envelope.actor);
    if ask.review.is_some() && !administers {
        let why = "the review of a delivery cannot be withdrawn";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let Some(checkpoint) = &ask.checkpoint else { return Ok(over) };
    let task = world.task(checkpoint.task)?;
    let why = "only the agent that raised a checkpoint and the people who decide on it can \
               withdraw it";
    // A key of another agent may cover the whole project, but the question is not that agent's.
    let asked = matches!(&envelope.actor, Actor::Agent { id, .. } if *id == ask.agent);
    let raised_it = asked && checkpoint.raised_by == RaisedBy::Agent;
    if !raised_it && !administers {
        task.decider(&envelope.actor, why)?;
    }
    let said = reason.map(|text| Erasable::new(text.to_owned(), &mut envelope.salts.split()));
    record_lapse(world, checkpoint, ask, (LapseReason::Withdrawn, said), over)
}

/// Records on the task that its checkpoint ended without an answer. The task stays blocked, unless
/// it is set to be cancelled on silence.
pub(crate) fn record_lapse(
    world: &World<'_>,
    checkpoint: &Checkpoint,
    ask: &Ask,
    (why, said): (LapseReason, Option<Erasable<String>>),
    mut decision: Decision,
) -> Result<Decision, Stop> {
    let task = world.task(checkpoint.task)?;
    decision.happened.push(task.event(TaskEvent::Lapsed {
        checkpoint: ask.id,
        why,
        message: said,
    }));
    if task.ends_by_silence(checkpoint.kind, why) {
        decision.happened.push(task.event(TaskEvent::Cancelled { reason: None }));
        decision.contracts.extend(task.cancel_contract());
    }
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::command::AskCommand;
    use crate::ids::TaskId;
    use crate::task::{
        CheckpointKind, CheckpointOutcome, Duty, NewCheckpoint, NewTask, OnSilence, Quorum,
        TaskCommand, TaskState,
    };
    use crate::testing::{Cast, approve, human, new_task, raising};

    fn waiting(on_silence: OnSilence, kind: CheckpointKind) -> (Cast, TaskId, AskId) {
        let mut cast = Cast::staffed();
        let new = NewTask { on_silence, ..new_task() }.judged_by(Quorum::Any, &["nina"]);
        let id = cast.begun(new);
        let ask = if kind == CheckpointKind::Interrupt {
            cast.interrupted(id)
        } else {
            let expires_at = Some(cast.now().plus_seconds(60));
            cast.raised(id, NewCheckpoint { expires_at, ..raising(kind) })
        };
        (cast, id, ask)
    }

    fn why(cast: &Cast, id: TaskId) -> Option<LapseReason> {
        let outcome = &cast.task(id).checkpoints.last().unwrap().outcome;
        let CheckpointOutcome::Expired { why, .. } = outcome else { panic!("{outcome:?}") };
        *why
    }

    /// HACP-052: by default, silence leaves the task blocked; it is recorded, and an expired
    /// checkpoint can no longer be resolved.
    #[test]
    fn silence_leaves_the_task_blocked() {
        for by_hand in [false, true] {
            let (mut cast, id, ask) = waiting(OnSilence::StayBlocked, CheckpointKind::Approval);
            let before = cast.task(id).revision;
            if by_hand {
                cast.run_task(cast.human("olga"), TaskCommand::Lapse(ask));
            } else {
                cast.advance(60);
                cast.run(Actor::System, AskCommand::Expire(ask));
            }
            assert_eq!(
                (cast.task(id).state, cast.task(id).revision),
                (TaskState::Blocked, before + 1)
            );
            assert_eq!(cast.event_names(id).last(), Some(&"checkpoint_expired"));
            let ended = if by_hand { LapseReason::Expired } else { LapseReason::TimedOut };
            assert_eq!((why(&cast, id), cast.seen(ask).phase()), (Some(ended), Phase::Expired));
            assert_eq!(cast.task(id).pending(), None);
            let late = cast.resolve("olga", ask, approve());
            assert!(matches!(late, Err(Refusal::TimedOut { .. })), "{late:?}");
            let again = cast.attempt_task(cast.human("olga"), TaskCommand::Lapse(ask));
            assert!(matches!(again, Err(Refusal::Precondition { .. })));
            // K-17: one way out is to cancel the task.
            cast.run_task(cast.human("olga"), TaskCommand::Cancel(id, None));
        }
    }

    /// K-17, HACP-030: the other way out of an expired checkpoint is one that the principal raises.
    /// The task stays blocked until it is resolved, and then its agent continues.
    #[test]
    fn what_ran_out_is_decided_after_all() {
        let (mut cast, id, ask) = waiting(OnSilence::StayBlocked, CheckpointKind::Approval);
        let wait = || TaskCommand::Interrupt(id, "Go on after all?".to_owned());
        let early = cast.attempt_task(cast.human("olga"), wait());
        assert!(matches!(early, Err(Refusal::Precondition { .. })), "one waits already");
        cast.run_task(cast.human("olga"), TaskCommand::Lapse(ask));
        let (run, before) = (cast.run_of(id), cast.task(id).revision);
        let theirs = cast.attempt_task(cast.human("nina"), wait());
        assert!(matches!(theirs, Err(Refusal::NotAllowed { .. })));
        cast.run_task(cast.human("olga"), wait());
        let again = AskId::new(cast.fresh());
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::Blocked, before + 1));
        assert_eq!(task.pending().map(|raised| raised.ask), Some(again));
        assert_eq!(task.pending().map(|raised| &raised.worker), Some(&task.worker));
        let story = cast.event_names(id);
        assert_eq!(story[story.len() - 2..], ["task_interrupted", "checkpoint_raised"]);
        cast.resolve("nina", again, approve()).unwrap();
        assert_eq!((cast.task(id).state, cast.run_of(id)), (TaskState::InProgress, run));
        let told: Vec<_> = cast.duties(id).into_iter().map(|(_, duty)| duty).collect();
        assert_eq!(told[1..], [Duty::Block, Duty::Block, Duty::Resume]);
        cast.delivered(id, crate::testing::version());
    }

    /// HACP-052, HACP-080: if the task is set to it, silence cancels the task; this is one change,
    /// and the run stops.
    #[test]
    fn silence_calls_off_what_said_so() {
        for by_hand in [false, true] {
            let (mut cast, id, ask) = waiting(OnSilence::Cancel, CheckpointKind::Input);
            let before = cast.task(id).revision;
            if by_hand {
                cast.run_task(Actor::System, TaskCommand::Lapse(ask));
            } else {
                cast.advance(61);
                cast.run(Actor::System, AskCommand::Expire(ask));
            }
            let task = cast.task(id);
            assert_eq!((task.state, task.revision), (TaskState::Completed, before + 1));
            let story = cast.event_names(id);
            assert_eq!(story[story.len() - 2..], ["checkpoint_expired", "task_cancelled"]);
            let wanted = cast.contracts(id).pop().unwrap();
            assert_eq!((wanted.duty, wanted.seq), (Duty::Cancel, task.head.seq));
        }
    }

    /// HACP-053: an interrupt never cancels the task, even when a command expires it.
    #[test]
    fn silence_never_calls_off_what_a_person_stopped() {
        let (mut cast, id, ask) = waiting(OnSilence::Cancel, CheckpointKind::Interrupt);
        cast.run_task(cast.human("olga"), TaskCommand::Lapse(ask));
        assert_eq!(cast.task(id).state, TaskState::Blocked);
        assert_eq!(why(&cast, id), Some(LapseReason::Expired));
    }

    /// Withdrawing the ask leaves the task blocked, whatever its setting for silence. A person who
    /// does not decide on the task cannot withdraw the ask, even if it was assigned to them.
    #[test]
    fn only_who_decides_or_raised_it_withdraws_it() {
        let (mut cast, id, ask) = waiting(OnSilence::Cancel, CheckpointKind::Approval);
        cast.run(cast.human("olga"), AskCommand::Assign(ask, human("mark"), None));
        for actor in [cast.human("mark"), cast.widely("bob"), Actor::link_holder(ask)] {
            let refused = cast.attempt(actor, AskCommand::Cancel(ask, None));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        for agent in ["bob", "spy"] {
            let refused = cast.attempt(cast.agent(agent), AskCommand::Cancel(ask, None));
            assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
        }
        cast.run(cast.agent("bot"), AskCommand::Cancel(ask, Some("found it myself".to_owned())));
        assert_eq!(
            (cast.task(id).state, why(&cast, id)),
            (TaskState::Blocked, Some(LapseReason::Withdrawn))
        );
        // The task records the reason too.
        let last = cast.last_of(id);
        let TaskEvent::Lapsed { message: Some(said), .. } = last else { panic!("{last:?}") };
        assert_eq!(said.value().map(String::as_str), Some("found it myself"));
    }

    /// A delivery waits for its reviews and cannot be removed from the inboxes of the reviewers.
    #[test]
    fn what_is_to_be_judged_is_not_withdrawn() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task().judged_by(Quorum::All, &["nina", "rita"]));
        cast.delivered(id, crate::testing::version());
        let ask = cast.task(id).judged_in.unwrap();
        for actor in [cast.human("nina"), cast.human("olga"), cast.agent("bot")] {
            let refused = cast.attempt(actor, AskCommand::Cancel(ask, None));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        assert!(cast.seen(ask).is_open());
    }
}
