//! Callbacks: the server notifies the agent at its callback URL that an ask is closed, records each
//! attempt, and repeats the callback on request.

use crate::actor::Actor;
use crate::ask::{Ask, CallbackAttempt, CallbackResult};
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// The ask keeps the newest attempts, up to this number. The audit log keeps all of them.
const MAX_ATTEMPTS: usize = 50;
/// Longer error messages are truncated.
const LONGEST_ERROR: usize = 200;

/// Records the result of an attempt.
pub(crate) fn record_attempt(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    result: &CallbackResult,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if envelope.actor != Actor::System {
        let why = "only the server records the result of a callback";
        return Err(Refusal::NotAllowed { why }.into());
    }
    check_callback(ask)?;
    let outcome = match result.clone() {
        CallbackResult::Unreached { error } => {
            CallbackResult::Unreached { error: error.chars().take(LONGEST_ERROR).collect() }
        }
        heard @ (CallbackResult::Taken { .. } | CallbackResult::Refused { .. }) => heard,
    };
    Ok(Decision::on(ask, AskEvent::CalledBack { outcome }))
}

/// Calls the agent back again. The agent and everyone who may see the ask can request this.
pub(crate) fn retry(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let allowed = match &envelope.actor {
        Actor::Agent { .. } | Actor::Human { .. } | Actor::System => {
            ask.is_visible_to(&envelope.actor, world.directory)
        }
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } => false,
    };
    if !allowed {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    check_callback(ask)?;
    Ok(Decision::on(ask, AskEvent::CallbackWanted))
}

/// Refuses a callback if the ask names no callback URL, is still open, or was erased.
fn check_callback(ask: &Ask) -> Result<(), Refusal> {
    let Some(callback) = &ask.callback else {
        return Err(Refusal::NotAllowed { why: "this request has no callback_url" });
    };
    if ask.is_open() {
        let why = "this request is still open; the server calls the agent once it is closed";
        return Err(Refusal::NotOver { why });
    }
    if callback.url.value().is_none() {
        return Err(Refusal::NotAllowed { why: "the text of this request was erased" });
    }
    Ok(())
}

impl Ask {
    pub(crate) fn add_callback_attempt(&mut self, attempt: CallbackAttempt) {
        self.callbacks.push(attempt);
        let spare = self.callbacks.len().saturating_sub(MAX_ATTEMPTS);
        self.callbacks.drain(..spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::DefaultAction;
    use crate::command::{AskCommand, NewAsk, NewOnExpiry};
    use crate::follow_up::FollowUp;
    use crate::testing::{Cast, new_ask, yes};

    fn told() -> NewAsk {
        NewAsk { callback: Some("https://agent.example/hook".to_owned()), ..new_ask() }
    }

    fn calls(cast: &Cast) -> usize {
        cast.follow_ups()
            .iter()
            .filter(|effect| matches!(effect, FollowUp::CallBack { .. }))
            .count()
    }

    /// HITL-181: the agent is called back about an answer, an expiry and a withdrawal, and about
    /// nothing else.
    #[test]
    fn the_agent_is_told_once_however_it_ends() {
        let mut cast = Cast::new();
        let answered = cast.ask(told());
        cast.run(Actor::link_holder(answered), AskCommand::Open(answered));
        assert_eq!(calls(&cast), 0);
        cast.run(cast.human("olga"), AskCommand::Answer(answered, yes()));
        let withdrawn = cast.ask(told());
        cast.run(cast.agent("bot"), AskCommand::Cancel(withdrawn, None));
        let on_expiry = NewOnExpiry::Report(DefaultAction::Skip);
        let expired = cast.ask(NewAsk { timeout: Some(5), on_expiry, ..told() });
        cast.advance(5);
        cast.run(Actor::System, AskCommand::Expire(expired));
        assert_eq!(calls(&cast), 3);
        let quiet = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Answer(quiet, yes()));
        assert_eq!(calls(&cast), 3, "nobody asked for it");
    }

    /// HITL-184: each attempt is recorded and can be repeated.
    #[test]
    fn attempts_are_noted_and_repeated() {
        let mut cast = Cast::new();
        let id = cast.ask(told());
        let failed = || CallbackResult::Unreached { error: "x".repeat(999) };
        let early = cast.attempt(Actor::System, AskCommand::NoteCallback(id, failed()));
        assert!(matches!(early, Err(Refusal::NotOver { .. })));
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        cast.run(Actor::System, AskCommand::NoteCallback(id, failed()));
        let taken = CallbackResult::Taken { status: 200 };
        let forged = cast.attempt(cast.agent("bot"), AskCommand::NoteCallback(id, taken.clone()));
        assert!(matches!(forged, Err(Refusal::NotAllowed { .. })));
        for nosy in [cast.agent("spy"), cast.human("zoe"), Actor::link_holder(id)] {
            let refused = cast.attempt(nosy, AskCommand::CallBack(id));
            assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
        }
        for may in [cast.agent("bot"), cast.human("olga")] {
            cast.run(may, AskCommand::CallBack(id));
        }
        assert_eq!(calls(&cast), 3);
        cast.run(Actor::System, AskCommand::NoteCallback(id, taken.clone()));
        let attempts = &cast.seen(id).callbacks;
        assert!(
            matches!(&attempts[0].result, CallbackResult::Unreached { error } if error.len() == 200)
        );
        assert_eq!(attempts[1].result, taken);
        cast.run(Actor::System, AskCommand::Erase(id));
        let erased = cast.attempt(cast.agent("bot"), AskCommand::CallBack(id));
        assert!(matches!(erased, Err(Refusal::NotAllowed { .. })));
        let quiet = cast.ask(new_ask());
        let nowhere = cast.attempt(cast.agent("bot"), AskCommand::CallBack(quiet));
        assert!(matches!(nowhere, Err(Refusal::NotAllowed { .. })));
    }

    #[test]
    fn only_the_newest_attempts_are_remembered() {
        let mut cast = Cast::new();
        let id = cast.ask(told());
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        for status in 500..=560 {
            let result = CallbackResult::Refused { status };
            cast.run(Actor::System, AskCommand::NoteCallback(id, result));
        }
        let attempts = &cast.seen(id).callbacks;
        assert_eq!(attempts.len(), MAX_ATTEMPTS);
        assert_eq!(attempts[0].result, CallbackResult::Refused { status: 511 });
    }
}
