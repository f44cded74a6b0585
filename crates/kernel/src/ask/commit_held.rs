//! A held answer can no longer be undone. It takes effect as the answer of the person who gave it.

use crate::event::DomainEvent;

use super::answer::AnswerProofs;
use super::{Ask, answer};
use crate::actor::{Actor, ActorRef};
use crate::ask::DueAction;
use crate::command::Envelope;
use crate::event::{AskEvent, Asked};
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let (Actor::System, Some(DueAction::CommitHeld), Some(held)) =
        (&envelope.actor, ask.due(world.now), &ask.held)
    else {
        return Err(Refusal::NotDue.into());
    };
    let dropped = || Decision::on(ask, AskEvent::AnswerWithdrawn);
    let (ActorRef::Human(human), Some(reply)) = (&held.vote.by, held.vote.reply.value()) else {
        return Ok(dropped());
    };
    // The answer is judged again as if it came in time and no other person held the ask.
    let asked = Asked { expires_at: None, ..ask.asked.clone() };
    let free = Ask { held: None, asked, ..ask.clone() };
    let mut loaded = world.loaded.clone();
    loaded.asks.insert(id, Some(free));
    let (via, assurance) = (held.vote.via, held.vote.assurance);
    let actor = Actor::Human { id: human.clone(), via, assurance };
    let shown = held.vote.shown.unwrap_or_default();
    let given = Envelope { actor, shown, ..envelope.clone() };
    match answer::decide(
        &World { loaded: &loaded, ..*world },
        &given,
        id,
        reply,
        AnswerProofs::NONE,
    ) {
        Ok(mut decision) => {
            for (_, happened) in &mut decision.happened {
                if let DomainEvent::Ask(AskEvent::Answered { vote, .. }) = happened {
                    // The vote keeps the time at which the person answered, not the time of the
                    // timer.
                    vote.at = held.vote.at;
                    vote.shown = held.vote.shown;
                }
            }
            decision.by = Some(held.vote.by.clone());
            Ok(decision)
        }
        // The person may no longer answer, or the ask no longer takes an answer. Nothing is
        // decided.
        Err(Stop::Refused(_)) => Ok(dropped()),
        Err(need @ Stop::Need(_)) => Err(need),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{AnswerInterface, Assurance};
    use crate::ask::hold::tests::web;
    use crate::ask::{Phase, RecordedAnswer, Route};
    use crate::command::{AskCommand, DirectoryCommand, NewAsk, NewOnExpiry};
    use crate::directory::{NewHuman, Profile};
    use crate::follow_up::FollowUp;
    use crate::receipt::Receipt;
    use crate::task::{CheckpointKind, CheckpointOutcome, Quorum, TaskCommand, Verdict};
    use crate::testing::{Cast, human, new_ask, new_task, raising, verdict, version, yes};

    #[test]
    fn it_is_the_answer_the_person_gave() {
        let mut cast = Cast::new();
        let new = NewAsk { callback: Some("https://agent.example/hook".into()), ..new_ask() };
        let (id, other) = (cast.ask(new.clone()), cast.ask(new));
        let at = cast.now();
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        for actor in [web("olga"), cast.agent("bot")] {
            cast.advance(5);
            assert_eq!(cast.attempt(actor, AskCommand::CommitHeld(id)), Err(Refusal::NotDue));
        }
        let before = cast.follow_ups().len();
        cast.run(Actor::System, AskCommand::CommitHeld(id));
        let RecordedAnswer { by, via, assurance, at: answered, .. } =
            cast.seen(id).deciding_answer().unwrap();
        assert_eq!((by, *via), (&ActorRef::Human(human("olga")), AnswerInterface::Web));
        assert_eq!((*assurance, *answered), (Assurance::Session, at));
        assert_eq!((&cast.seen(id).held, cast.seen(id).votes.len()), (&None, 1));
        let last = cast.record_of(id).pop().unwrap();
        assert_eq!((last.what.name(), last.by), ("answered", ActorRef::Human(human("olga"))));
        assert_eq!(last.at, cast.now());
        assert!(Receipt::of(cast.seen(id)).is_some());
        // A held answer causes the same effects as an answer that was not held.
        let done: Vec<_> = cast.follow_ups()[before..].iter().map(std::mem::discriminant).collect();
        let before = cast.follow_ups().len();
        cast.run(web("olga"), AskCommand::Answer(other, yes()));
        let other: Vec<_> =
            cast.follow_ups()[before..].iter().map(std::mem::discriminant).collect();
        assert_eq!(done, other);
        assert!(cast.follow_ups().iter().any(|effect| matches!(effect, FollowUp::Close { .. })));
        assert_eq!(cast.attempt(Actor::System, AskCommand::CommitHeld(id)), Err(Refusal::NotDue));
    }

    #[test]
    fn an_answer_in_time_stands_although_the_deadline_passed_meanwhile() {
        let mut cast = Cast::new();
        let new = NewAsk { timeout: Some(3), on_expiry: NewOnExpiry::Fail, ..new_ask() };
        let id = cast.ask(new);
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        cast.advance(600);
        assert_eq!(cast.attempt(Actor::System, AskCommand::Expire(id)), Err(Refusal::NotDue));
        cast.run(Actor::System, AskCommand::CommitHeld(id));
        assert_eq!(cast.seen(id).phase(), Phase::Completed);
    }

    #[test]
    fn whoever_may_no_longer_answer_decides_nothing() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        cast.run(
            Actor::System,
            DirectoryCommand::SaveHuman(NewHuman {
                id: human("mark"),
                profile: Profile::default(),
                admin: false,
                active: false,
                projects: ["acme".parse().unwrap()].into(),
                groups: [].into(),
                skills: [].into(),
            }),
        );
        let undone = cast.attempt(web("mark"), AskCommand::UndoAnswer(id));
        assert!(matches!(undone, Err(Refusal::NotAllowed { .. })), "{undone:?}");
        cast.advance(5);
        cast.run(Actor::System, AskCommand::CommitHeld(id));
        let ask = cast.seen(id);
        assert_eq!((ask.phase(), &ask.held, ask.votes.len()), (Phase::Waiting, &None, 0));
        let last = cast.record_of(id).pop().unwrap();
        assert_eq!((last.what.name(), last.by), ("answer_withdrawn", ActorRef::System));
        cast.run(web("nina"), AskCommand::Answer(id, yes()));
    }

    /// A delivery is judged, and a checkpoint is resolved, only when the held answer takes effect.
    #[test]
    fn tasks_go_on_when_the_answer_stands() {
        let mut cast = Cast::staffed();
        let task = cast.begun(new_task());
        let id = cast.raised(task, raising(CheckpointKind::Approval));
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        assert!(cast.task(task).pending().is_some());
        cast.advance(5);
        cast.run(Actor::System, AskCommand::CommitHeld(id));
        assert!(cast.task(task).pending().is_none());
        let Some(CheckpointOutcome::Resolved(resolution)) =
            cast.task(task).checkpoints.last().map(|raised| raised.outcome.clone())
        else {
            panic!("it is resolved")
        };
        assert_eq!(resolution.by, ActorRef::Human(human("olga")));

        let reviewed = cast.begun(new_task().judged_by(Quorum::All, &["olga", "mark"]));
        cast.delivered(reviewed, version());
        let judged = cast.task(reviewed).judged_in.unwrap();
        cast.run(web("mark"), AskCommand::HoldAnswer(judged, yes()));
        let taken = cast.judge("olga", reviewed, verdict(Verdict::Approved));
        assert_eq!(taken, Err(Refusal::BeingAnswered { by: human("mark") }));
        cast.advance(5);
        let late = cast.judge("mark", reviewed, verdict(Verdict::Approved));
        assert!(matches!(late, Err(Refusal::AlreadyAnswered { .. })), "{late:?}");
        cast.run(Actor::System, AskCommand::CommitHeld(judged));
        assert_eq!(cast.task(reviewed).reviews.len(), 1);
        assert_eq!(cast.seen(judged).phase(), Phase::Waiting, "the other has not judged yet");
        cast.judge("olga", reviewed, verdict(Verdict::Approved)).unwrap();
        assert_eq!(cast.seen(judged).phase(), Phase::Completed);
    }

    /// A task that was cancelled in the meantime has nothing left to decide.
    #[test]
    fn a_task_called_off_drops_the_answer() {
        let mut cast = Cast::staffed();
        let task = cast.begun(new_task());
        let id = cast.raised(task, raising(CheckpointKind::Approval));
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        cast.run_task(cast.human("olga"), TaskCommand::Cancel(task, None));
        let ask = cast.seen(id);
        assert_eq!((ask.phase(), &ask.held, ask.wake_at()), (Phase::Cancelled, &None, None));
    }
}
