//! A deadline passed without an answer.

use crate::actor::{Actor, ActorRef, AnswerInterface, Assurance};
use crate::ask::{DefaultAction, DisplayedContent, DueAction, OnExpiry, RecordedAnswer};
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::task::{self, LapseReason};
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let (Actor::System, Some(DueAction::Expire), Some(deadline)) =
        (&envelope.actor, ask.due(world.now), ask.expires_at)
    else {
        return Err(Refusal::NotDue.into());
    };
    // The event carries the time of the deadline, not of the timer: a late timer changes nothing
    // that an agent can see.
    let happened = match &ask.on_expiry {
        OnExpiry::StayOpen => return Err(Refusal::NotDue.into()),
        OnExpiry::Fail => AskEvent::Failed { deadline },
        // Silence proves nothing. If an answer now needs more than that, the ask ends as if the
        // agent had named no default: it is neither approved nor answered.
        OnExpiry::Answer { .. } if !ask.allows_silence(world.directory) => {
            AskEvent::Failed { deadline }
        }
        OnExpiry::Report { action: DefaultAction::Approve }
            if !ask.allows_silence(world.directory) =>
        {
            AskEvent::Expired { deadline, report: DefaultAction::Abort }
        }
        OnExpiry::Report { action } => AskEvent::Expired { deadline, report: *action },
        OnExpiry::Answer { reply } => AskEvent::Defaulted {
            resolution: Box::new(RecordedAnswer {
                reply: reply.clone(),
                by: ActorRef::System,
                via: AnswerInterface::Timer,
                assurance: Assurance::None,
                at: deadline,
                attested: None,
                verification: None,
                passkey: None,
                shown: Some(DisplayedContent::Nothing),
                sender: None,
            }),
        },
    };
    let over = Decision::on(ask, happened);
    match &ask.checkpoint {
        Some(checkpoint) => {
            task::record_lapse(world, checkpoint, ask, (LapseReason::TimedOut, None), over)
        }
        None => Ok(over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Ending, Phase};
    use crate::command::{AskCommand, NewAsk, NewOnExpiry};
    use crate::testing::{Cast, new_ask, yes};

    fn expiring(on_expiry: NewOnExpiry) -> NewAsk {
        NewAsk { timeout: Some(10), on_expiry, ..new_ask() }
    }

    /// HXPX-050, HXPX-051, HXPX-053: pause, fail, default.
    #[test]
    fn silence_ends_as_the_agent_wanted() {
        for (silence, phase) in [
            (NewOnExpiry::Fail, Phase::Failed),
            (NewOnExpiry::Answer(*yes()), Phase::Completed),
            (NewOnExpiry::Report(DefaultAction::Skip), Phase::Expired),
        ] {
            let mut cast = Cast::new();
            let id = cast.ask(expiring(silence));
            let deadline = cast.now().plus_seconds(10);
            cast.advance(9);
            assert_eq!(cast.attempt(Actor::System, AskCommand::Expire(id)), Err(Refusal::NotDue));
            cast.advance(60);
            cast.run(Actor::System, AskCommand::Expire(id));
            assert_eq!(cast.seen(id).phase(), phase);
            let ended = match cast.seen(id).ending().unwrap() {
                Ending::Completed(resolution) => {
                    assert_eq!(resolution.by, ActorRef::System);
                    assert_eq!(resolution.assurance, Assurance::None);
                    resolution.at
                }
                Ending::Failed { at } | Ending::Expired { at, .. } => *at,
                Ending::Cancelled { .. } => panic!("nobody cancelled it"),
            };
            assert_eq!(ended, deadline, "dated by the deadline, not by the timer");
        }
    }

    #[test]
    fn a_paused_ask_stays_answerable() {
        let mut cast = Cast::new();
        let id = cast.ask(expiring(NewOnExpiry::StayOpen));
        cast.advance(1_000_000);
        assert_eq!(cast.attempt(Actor::System, AskCommand::Expire(id)), Err(Refusal::NotDue));
        assert_eq!(cast.seen(id).wake_at(), None);
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    }

    #[test]
    fn nobody_but_the_clock_expires_an_ask() {
        let mut cast = Cast::new();
        let id = cast.ask(expiring(NewOnExpiry::Fail));
        cast.advance(11);
        assert_eq!(cast.attempt(cast.human("olga"), AskCommand::Expire(id)), Err(Refusal::NotDue));
    }
}
