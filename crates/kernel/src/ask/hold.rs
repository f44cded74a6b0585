//! A person answers on a page and can undo the answer for a moment. Until then the answer is held
//! and decides nothing.
//!
//! Agents and colleagues see the ask as open, and no other person can answer it meanwhile. A held
//! answer is part of the ask, so a restart loses nothing and any node can commit it.

use serde::{Deserialize, Serialize};

use super::answer::AnswerProofs;
use super::{Ask, Vote, answer};
use crate::actor::{Actor, ActorRef, AnswerInterface};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::{AskId, HumanId};
use crate::question::Reply;
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// An answer that its person can still undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldAnswer {
    /// The answer as the person sent it. It is checked again when it takes effect.
    pub vote: Vote,
    /// When it takes effect.
    pub until: Time,
}

/// Holds an answer, or commits it at once where it cannot be held: the person turned holding off,
/// gave secret values (which are stored separately from every event), or did not answer in a
/// signed-in browser.
pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    reply: &Reply,
) -> Result<Decision, Stop> {
    // The answer is judged now, so that every refusal comes while the person is still on the page.
    let at_once = answer::decide(world, envelope, id, reply, AnswerProofs::NONE)?;
    let Actor::Human { id: human, via: via @ AnswerInterface::Web, assurance } = &envelope.actor
    else {
        return Ok(at_once);
    };
    let ask = world.ask(id)?;
    let Some(question) = ask.question.value() else { return Ok(at_once) };
    // The checked reply is held: values of fields that do not apply may be secret, and the check
    // drops them.
    let reply = question.check(reply.clone()).map_err(Refusal::from)?.into_reply();
    if let Some(held) = &ask.held {
        // Pressing the button twice is one answer. A different answer replaces the first and takes
        // effect at once.
        let again = held.vote.reply.value() == Some(&reply);
        return Ok(if again { Decision::default() } else { at_once });
    }
    let seconds = world.directory.human(human).map_or(0, crate::directory::Human::undo_seconds);
    let has_secrets = !question.take_secrets(&mut reply.clone(), &envelope.salts).is_empty();
    if seconds == 0 || has_secrets {
        return Ok(at_once);
    }
    let at = ask.event_time(world.now);
    // The answer takes effect at the deadline at the latest. If it could be undone after that, the
    // ask would expire, and the result of the deadline would replace the person's decision.
    let until = at.plus_seconds(seconds);
    let until = ask.expiry().map_or(until, |deadline| until.min(deadline));
    let vote = Box::new(Vote {
        reply: Erasable::new(reply, &mut envelope.salts.clone()),
        by: envelope.actor.to_ref(),
        via: *via,
        assurance: *assurance,
        at,
        attested: None,
        verification: None,
        passkey: None,
        shown: Some(envelope.shown),
        sender: None,
    });
    Ok(Decision::on(ask, AskEvent::AnswerHeld { vote, until }))
}

impl Ask {
    /// The person whose answer is held, if there is one.
    pub fn held_by(&self) -> Option<&HumanId> {
        match &self.held.as_ref()?.vote.by {
            ActorRef::Human(human) => Some(human),
            ActorRef::Agent(_)
            | ActorRef::LinkHolder
            | ActorRef::Relay
            | ActorRef::Guest
            | ActorRef::System => None,
        }
    }

    /// The version that agents and API callers see, wait for and name in conditions. A held answer
    /// and its withdrawal do not change it, so they stay invisible.
    pub fn version(&self) -> u64 {
        self.visible_head.unwrap_or(self.head).seq
    }

    /// Refuses to answer or claim an ask while another person's answer is held. This applies to
    /// everyone including the owner: two answers must not race.
    pub(crate) fn check_not_held(&self, actor: &Actor) -> Result<(), Refusal> {
        match self.held_by() {
            Some(human) if actor.to_ref() != ActorRef::Human(human.clone()) => {
                Err(Refusal::BeingAnswered { by: human.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
pub(in crate::ask) mod tests {
    use super::*;
    use crate::actor::{Assurance, AttestedIdentity};
    use crate::ask::{DueAction, Phase, Route};
    use crate::command::{AskCommand, DirectoryCommand, NewAsk, NewOnExpiry};
    use crate::directory::{EscalationStep, NewProfile, NewProject, ProfileSettings};
    use crate::follow_up::FollowUp;
    use crate::form::Form;
    use crate::question::{Answer, AnswerKind, Question, QuestionBody};
    use crate::testing::{Cast, human, new_ask, no, yes};

    pub(in crate::ask) fn web(name: &str) -> Actor {
        Actor::Human { id: human(name), via: AnswerInterface::Web, assurance: Assurance::Session }
    }

    fn pool() -> NewAsk {
        NewAsk { route: Route::Pool { group: None }, ..new_ask() }
    }

    fn undo_seconds(cast: &mut Cast, name: &str, seconds: u64) {
        let about =
            Some(ProfileSettings { undo_seconds: Some(seconds), ..ProfileSettings::default() });
        let new = NewProfile { human: human(name), name: None, about };
        cast.run(web(name), DirectoryCommand::SaveProfile(new));
    }

    #[test]
    fn a_held_answer_decides_nothing_and_nobody_is_notified() {
        let mut cast = Cast::new();
        let id = cast.ask(pool());
        let (before, effects) = (cast.seen(id).clone(), cast.follow_ups().len());
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        let ask = cast.seen(id);
        assert_eq!(
            (ask.phase(), ask.deciding_answer(), ask.votes.len()),
            (Phase::Waiting, None, 0)
        );
        assert_eq!((&ask.state, &ask.claim, &ask.look), (&before.state, &None, &None));
        assert_eq!(ask.held_by(), Some(&human("mark")));
        let held = ask.held.as_ref().unwrap();
        assert_eq!((held.vote.at, held.until), (cast.now(), cast.now().plus_seconds(5)));
        assert_eq!(cast.follow_ups().len(), effects, "no effect");
        assert_eq!(ask.wake_at(), Some(held.until));
        // Old rows have no such field, and neither has an ask without a held answer.
        assert!(!serde_json::to_string(&before).unwrap().contains("held"));
        assert_eq!(cast.record_of(id).last().unwrap().what.name(), "answer_held");
    }

    /// The version that agents see, wait for and name in conditions does not reveal that an answer
    /// is held.
    #[test]
    fn the_version_does_not_count_held_answers() {
        let mut cast = Cast::new();
        let id = cast.ask(pool());
        let versions = |cast: &Cast| (cast.seen(id).version(), cast.seen(id).head.seq);
        assert_eq!(versions(&cast), (1, 1));
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        assert_eq!(versions(&cast), (1, 2));
        cast.run(web("mark"), AskCommand::UndoAnswer(id));
        assert_eq!(versions(&cast), (1, 3));
        // Events that agents can see increase the version.
        cast.run(web("nina"), AskCommand::Comment(id, "wait".to_owned()));
        assert_eq!(versions(&cast), (4, 4));
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        let bot = cast.agent("bot");
        let stale = cast.attempt_at(Some(5), bot.clone(), AskCommand::Cancel(id, None));
        assert_eq!(stale, Err(Refusal::Changed { version: 4 }));
        cast.attempt_at(Some(4), bot, AskCommand::Cancel(id, None)).unwrap();
        assert_eq!(cast.seen(id).phase(), Phase::Cancelled);
        assert_eq!(versions(&cast), (6, 6));
    }

    #[test]
    fn it_is_judged_as_an_answer_at_once() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let wrong = Box::new(Reply { answer: Answer::Skip, comment: None });
        let refused = cast.attempt(web("olga"), AskCommand::HoldAnswer(id, wrong));
        assert!(matches!(refused, Err(Refusal::Answer(_))), "{refused:?}");
        let refused = cast.attempt(web("mark"), AskCommand::HoldAnswer(id, yes()));
        assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
        let refused = cast.attempt(cast.agent("bot"), AskCommand::HoldAnswer(id, yes()));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        cast.run(web("olga"), AskCommand::Answer(id, yes()));
        let late = cast.attempt(web("olga"), AskCommand::HoldAnswer(id, yes()));
        assert!(matches!(late, Err(Refusal::AlreadyAnswered { .. })), "{late:?}");
    }

    #[test]
    fn nobody_else_answers_claims_or_hands_on_what_is_held() {
        let mut cast = Cast::new();
        let new = NewAsk { inline: Some([AnswerKind::Approve].into()), ..pool() };
        let id = cast.ask(new);
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        let attested = AttestedIdentity {
            via: "slack".to_owned(),
            platform: "slack".to_owned(),
            platform_user_id: "U1".to_owned(),
            display_name: None,
        };
        let relay = Actor::Relay { ask: id, attested };
        let link = Actor::link_holder(id);
        // olga owns the agent; a claim would not block her.
        for actor in [web("nina"), web("olga"), link.clone(), relay] {
            for command in [AskCommand::Answer(id, no()), AskCommand::HoldAnswer(id, yes())] {
                let refused = cast.attempt(actor.clone(), command);
                assert_eq!(refused, Err(Refusal::BeingAnswered { by: human("mark") }), "{actor:?}");
            }
        }
        for (actor, command) in [
            (web("nina"), AskCommand::Claim(id)),
            (web("olga"), AskCommand::Claim(id)),
            (web("olga"), AskCommand::Assign(id, human("nina"), None)),
            (Actor::System, AskCommand::Assign(id, human("nina"), None)),
            (link, AskCommand::Progress(id, None)),
        ] {
            let refused = cast.attempt(actor, command);
            assert_eq!(refused, Err(Refusal::BeingAnswered { by: human("mark") }));
        }
        cast.run(web("nina"), AskCommand::Comment(id, "wait".to_owned()));
        cast.run(web("nina"), AskCommand::Open(id));
        assert!(cast.seen(id).held.is_some());
    }

    #[test]
    fn the_same_person_replaces_it_and_a_second_press_changes_nothing() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        let held = cast.seen(id).clone();
        cast.advance(2);
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        assert_eq!(*cast.seen(id), held);
        for (again, command) in [
            (web("olga"), AskCommand::HoldAnswer as fn(AskId, Box<Reply>) -> AskCommand),
            (cast.human("olga"), AskCommand::Answer),
        ] {
            let id = cast.ask(new_ask());
            cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
            cast.run(again, command(id, no()));
            let ask = cast.seen(id);
            let said = ask.deciding_answer().unwrap().reply.value().unwrap();
            assert_eq!((said, &ask.held, ask.votes.len()), (&*no(), &None, 1));
        }
    }

    #[test]
    fn a_cancellation_wins_and_drops_it() {
        let mut cast = Cast::new();
        for canceller in [cast.agent("bot"), cast.human("olga")] {
            let id = cast.ask(pool());
            cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
            cast.run(canceller, AskCommand::Cancel(id, None));
            let ask = cast.seen(id);
            assert_eq!((ask.phase(), &ask.held), (Phase::Cancelled, &None));
            cast.run(Actor::System, AskCommand::Erase(id));
        }
        // Once the undo time has passed, the answer can no longer be cancelled, committed or not.
        let id = cast.ask(pool());
        cast.run(web("mark"), AskCommand::HoldAnswer(id, yes()));
        cast.advance(5);
        let late = cast.attempt(cast.agent("bot"), AskCommand::Cancel(id, None));
        assert!(matches!(late, Err(Refusal::AlreadyAnswered { .. })), "{late:?}");
    }

    #[test]
    fn nothing_else_is_due_while_it_is_held() {
        let mut cast = Cast::new();
        let step = EscalationStep {
            after: 2,
            assignee: crate::ask::Assignee::Person { human: human("mark") },
        };
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: vec![step], ..plain }),
        );
        let reminders = vec![cast.now().plus_seconds(2)];
        let new = NewAsk { timeout: Some(3), on_expiry: NewOnExpiry::Fail, reminders, ..new_ask() };
        let id = cast.ask(new);
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        cast.advance(2);
        assert_eq!(cast.seen(id).due(cast.now()), None);
        for command in [AskCommand::Expire(id), AskCommand::Remind(id), AskCommand::Escalate(id)] {
            assert_eq!(cast.attempt(Actor::System, command), Err(Refusal::NotDue));
        }
        assert_eq!(cast.attempt(Actor::System, AskCommand::CommitHeld(id)), Err(Refusal::NotDue));
        let later = cast.now().plus_seconds(60);
        cast.run(cast.agent("bot"), AskCommand::Extend(id, later));
        cast.advance(1);
        assert_eq!(cast.seen(id).due(cast.now()), Some(DueAction::CommitHeld));
        let notified = |effect: &&FollowUp| matches!(effect, FollowUp::Notify { .. });
        assert_eq!(cast.follow_ups().iter().filter(notified).count(), 1, "when it was asked");
    }

    /// Every kind of answer that takes effect at once.
    #[test]
    fn what_is_not_held() {
        let mut cast = Cast::new();
        let at_once = |cast: &mut Cast, actor: Actor, new: NewAsk, reply: Box<Reply>| {
            let id = cast.ask(new);
            cast.run(actor, AskCommand::HoldAnswer(id, reply));
            !cast.seen(id).is_open()
        };
        for via in [
            AnswerInterface::Api,
            AnswerInterface::Cli,
            AnswerInterface::Push,
            AnswerInterface::Slack,
            AnswerInterface::Email,
        ] {
            let actor = Actor::Human { id: human("olga"), via, assurance: Assurance::Session };
            assert!(at_once(&mut cast, actor, new_ask(), yes()), "{via:?}");
        }
        let form = |sensitive: bool| {
            let field = serde_json::json!({ "key": "pin", "label": "PIN", "type": "text",
                "sensitive": sensitive });
            let form: Form =
                serde_json::from_value(serde_json::json!({ "fields": [field] })).unwrap();
            let question = Question::new("PIN?", None, QuestionBody::Provide { form }).unwrap();
            NewAsk { question, ..new_ask() }
        };
        let provided = || {
            let values = serde_json::from_value(serde_json::json!({ "pin": "1234" })).unwrap();
            Box::new(Reply { answer: Answer::Provided { values }, comment: None })
        };
        assert!(at_once(&mut cast, web("olga"), form(true), provided()), "a secret");
        assert!(!at_once(&mut cast, web("olga"), form(false), provided()));
        undo_seconds(&mut cast, "olga", 0);
        assert!(at_once(&mut cast, web("olga"), new_ask(), yes()), "turned off");
        undo_seconds(&mut cast, "olga", 60);
        let id = cast.ask(new_ask());
        cast.run(web("olga"), AskCommand::HoldAnswer(id, yes()));
        assert_eq!(cast.seen(id).wake_at(), Some(cast.now().plus_seconds(60)));
    }
}
