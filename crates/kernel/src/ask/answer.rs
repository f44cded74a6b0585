//! A person answers. Exactly one answer wins, and every channel uses this module.

use std::collections::BTreeSet;

use crate::actor::{Actor, Assurance, AttestedIdentity};
use crate::ask::{Ask, Vote};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::PasskeyUse;
use crate::directory::passkey;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::passkey_evidence::PasskeyEvidence;
use crate::question::Reply;
use crate::refusal::Refusal;
use crate::task;
use crate::text::is_short;
use crate::time::Time;
use crate::verification::{PresentedProof, SubmitPath, Verification};
use crate::world::{Decision, SecretAnswer, Stop, World};

/// An answer that a person confirmed with a passkey. The server has checked the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyAnswer {
    /// The assertion of the passkey. It can be used only once.
    pub used: PasskeyUse,
    /// The evidence with which anyone can check the confirmation. It is stored with the answer.
    pub evidence: PasskeyEvidence,
}

/// Proofs that come with an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerProofs<'a> {
    /// Proofs that a person is present.
    pub presented: &'a [PresentedProof],
    /// The passkey that confirmed the answer.
    pub passkey: Option<&'a PasskeyAnswer>,
}

impl AnswerProofs<'_> {
    /// No proof at all.
    pub(crate) const NONE: Self = Self { presented: &[], passkey: None };
}

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    reply: &Reply,
    proofs: AnswerProofs<'_>,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if let Some(review) = &ask.review {
        return task::review_by_answer(world, envelope, review, ask, reply, proofs);
    }
    let (reply, decision) = check_vote(world, envelope, ask, reply, proofs, None)?;
    match &ask.checkpoint {
        Some(checkpoint) => {
            task::resolve_by_answer(world, envelope, checkpoint, ask, &reply, decision)
        }
        None => Ok(decision),
    }
}

/// Checks a reply and returns it as the ask stores it, with the events it causes. `decisive` says
/// whether the reply decides the ask; if it is `None`, equal votes are counted against the quorum.
pub(crate) fn check_vote(
    world: &World<'_>,
    envelope: &Envelope,
    ask: &Ask,
    reply: &Reply,
    proofs: AnswerProofs<'_>,
    decisive: Option<bool>,
) -> Result<(Reply, Decision), Stop> {
    // An agent never answers. An answer that it passes on is marked as relayed.
    let (via, assurance) = match (&envelope.actor, ask.proven_by(&envelope.actor, world.directory))
    {
        // Being signed in never counts as a passkey: only the signature over this answer does.
        (Actor::Human { via, .. }, _) if proofs.passkey.is_some() => (*via, Assurance::Passkey),
        (Actor::Human { .. }, Some((via, assurance))) => (via, assurance.min(Assurance::Session)),
        (_, Some(proven)) => proven,
        (_, None) => return Err(Refusal::NotAllowed { why: "only a person can answer" }.into()),
    };
    let by_token = matches!(envelope.actor, Actor::LinkHolder { .. } | Actor::Relay { .. });
    if by_token && !world.directory.tokens_work(ask) {
        let why = "this token was revoked together with the agent's key";
        return Err(Refusal::NotAllowed { why }.into());
    }
    match &envelope.actor {
        Actor::Relay { ask: own, .. } if *own == ask.id => {
            ask.check_open(world.now)?;
            ask.check_not_held(&envelope.actor)?;
        }
        Actor::Human { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::Agent { .. }
        | Actor::System => ask.check_may_work(&envelope.actor, world.directory, world.now)?,
    }
    ask.check_assurance(&reply.answer, assurance)?;
    let mut salts = envelope.salts.clone();
    let attested = match &envelope.actor {
        Actor::Relay { attested, .. } => Some(check_relayed(ask, reply, attested)?),
        Actor::Guest { attested, .. } => Some(attested.clone()),
        Actor::Human { .. } | Actor::LinkHolder { .. } | Actor::Agent { .. } | Actor::System => {
            None
        }
    };
    let Some(question) = ask.question.value() else {
        return Err(Refusal::NotAllowed { why: "the question was erased" }.into());
    };
    let mut reply = question.check(reply.clone()).map_err(Refusal::from)?.into_reply();

    // This check comes last, so that no person is asked to prove anything for an answer that would
    // be refused anyway.
    let at = ask.event_time(world.now);
    let verification = verify_proofs(ask, &envelope.actor, &reply, proofs.presented, at)?;
    let confirmed =
        proofs.passkey.map(|given| passkey::confirm_answer(world, envelope, ask, &reply, given));
    let confirmed = confirmed.transpose()?;

    // Secret values are stored apart, and are never part of an event.
    let secret = question.take_secrets(&mut reply, &envelope.salts);
    let decisive = decisive.unwrap_or_else(|| completes_quorum(ask, &reply));
    let vote = Box::new(Vote {
        reply: Erasable::new(reply.clone(), &mut salts),
        by: envelope.actor.to_ref(),
        via,
        assurance,
        at,
        attested: attested.map(|attested| Box::new(Erasable::new(attested, &mut salts))),
        verification: verification.map(Box::new),
        passkey: proofs
            .passkey
            .map(|given| Box::new(Erasable::new(given.evidence.clone(), &mut salts))),
        shown: Some(envelope.shown),
        sender: envelope.sender(&mut salts),
    });
    let happened = AskEvent::Answered { vote, decisive };
    let mut decision = Decision::on(ask, happened);
    if !secret.is_empty() {
        decision.secret = Some(SecretAnswer { ask: ask.id, values: secret });
    }
    // The use of the passkey is recorded in the same commit: no other answer can be made with it.
    decision.happened.extend(confirmed);
    Ok((reply, decision))
}

/// The person who answered according to the agent, if the agent may pass on such an answer and the
/// data is valid.
fn check_relayed(
    ask: &Ask,
    reply: &Reply,
    attested: &AttestedIdentity,
) -> Result<AttestedIdentity, Refusal> {
    let allowed = ask.inline.as_ref().is_some_and(|may| may.contains(&reply.answer.stance()));
    if !allowed {
        return Err(Refusal::NotInline);
    }
    let AttestedIdentity { via, platform, platform_user_id, display_name } = attested;
    let said = |text: &str| !text.trim().is_empty() && is_short(text);
    for (field, good) in [
        ("submitted_via", said(via)),
        ("submitted_by.platform", said(platform)),
        ("submitted_by.platform_user_id", said(platform_user_id)),
        ("submitted_by.display_name", display_name.as_deref().is_none_or(is_short)),
    ] {
        if !good {
            let expected = "a string of 1 to 200 bytes without NUL characters";
            return Err(Refusal::Invalid { field, expected });
        }
    }
    Ok(attested.clone())
}

/// The result of judging the proofs. `None` if no proof was demanded and none was presented. A
/// refusal does not use up a proof.
fn verify_proofs(
    ask: &Ask,
    actor: &Actor,
    reply: &Reply,
    proofs: &[PresentedProof],
    now: Time,
) -> Result<Option<Verification>, Refusal> {
    let (Some(policy), Some(door)) = (&ask.verification, SubmitPath::of(actor)) else {
        let expected = "no proofs, because this request does not ask for one";
        let field = "verification_evidence";
        return if proofs.is_empty() {
            Ok(None)
        } else {
            Err(Refusal::Invalid { field, expected })
        };
    };
    let demanded = policy.requires_proofs(door, reply.answer.stance());
    if !demanded && proofs.is_empty() {
        return Ok(None);
    }
    let earlier = ask.votes.iter().filter_map(|vote| vote.verification.as_ref());
    let used: BTreeSet<_> =
        earlier.flat_map(|before| &before.proofs).map(|proof| proof.digest).collect();
    let found = policy.judge(proofs, &used, now);
    if demanded && !found.satisfied {
        return Err(policy.refuse(proofs, &used, now));
    }
    Ok(Some(found))
}

/// Whether this vote completes the quorum of equal votes.
fn completes_quorum(ask: &Ask, reply: &Reply) -> bool {
    let equal = ask
        .votes
        .iter()
        .filter_map(|vote| vote.reply.value())
        .filter(|earlier| earlier.answer == reply.answer);
    u32::try_from(equal.count() + 1).is_ok_and(|votes| votes >= ask.quorum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{ActorRef, AnswerInterface, Assurance};
    use crate::ask::{Phase, Route};
    use crate::command::{AskCommand, Command, DirectoryCommand, NewAsk, NewOnExpiry};
    use crate::question::Answer;
    use crate::testing::{Cast, human, new_ask, no, yes};

    #[test]
    fn the_first_answer_wins_and_the_second_learns_who() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
        cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
        let at = cast.now();
        cast.advance(1);
        let late = cast.attempt(cast.human("nina"), AskCommand::Answer(id, no()));
        assert_eq!(late, Err(Refusal::AlreadyAnswered { by: ActorRef::Human(human("mark")), at }));
        let resolution = cast.seen(id).deciding_answer().unwrap();
        assert_eq!(resolution.assurance, Assurance::Session);
        assert_eq!(cast.seen(id).votes.len(), 1);
    }

    #[test]
    fn agents_never_answer() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        for actor in [cast.agent("bot"), Actor::System] {
            let refused = cast.attempt(actor, AskCommand::Answer(id, yes()));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })));
        }
    }

    #[test]
    fn a_claimed_ask_waits_for_its_holder_or_owner() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
        cast.run(cast.human("mark"), AskCommand::Claim(id));
        let refused = cast.attempt(cast.human("nina"), AskCommand::Answer(id, yes()));
        assert_eq!(refused, Err(Refusal::TakenBy { by: human("mark") }));
        cast.run(cast.human("olga"), AskCommand::Answer(id, no()));
    }

    #[test]
    fn a_project_may_demand_more_assurance() {
        use crate::directory::NewProject;
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { minimum_assurance: Assurance::Passkey, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let id = cast.ask(new_ask());
        let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::AssuranceTooLow { .. })));
        // Claiming a passkey proves nothing; only its signature does.
        let sure = Actor::Human {
            id: human("olga"),
            via: AnswerInterface::Web,
            assurance: Assurance::Passkey,
        };
        let refused = cast.attempt(sure.clone(), AskCommand::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::AssuranceTooLow { .. })));
        let key = cast.passkey("olga", "laptop");
        let confirmed = cast.confirmed(id, "olga", key, &yes(), 1);
        cast.run(cast.human("olga"), confirmed);
        let resolution = cast.seen(id).deciding_answer().unwrap();
        assert_eq!(resolution.assurance, Assurance::Passkey);
        let evidence = resolution.passkey.as_ref().unwrap().value().unwrap();
        assert_eq!((evidence.key, evidence.statement.ask), (key, id));
        // The answer and the use of the passkey are one commit.
        let last: Vec<_> = cast.records().iter().rev().take(2).map(|record| record.what).collect();
        assert_eq!(last, ["passkey_used", "answered"]);
    }

    #[test]
    fn a_passkey_confirms_this_answer_by_this_person_once() {
        let mut cast = Cast::new();
        let pool = || NewAsk { route: Route::Pool { group: None }, ..new_ask() };
        let (id, other) = (cast.ask(pool()), cast.ask(pool()));
        let (olga, mark) = (cast.passkey("olga", "hers"), cast.passkey("mark", "his"));
        let command = |cast: &Cast, name: &str, key, reply: &Reply| {
            let Command::Ask(AskCommand::AnswerWithPasskey(_, reply, given)) =
                cast.confirmed(id, name, key, reply, 1)
            else {
                panic!("an answer")
            };
            (reply, given)
        };
        let refused = |cast: &mut Cast, id, reply, given| {
            let command = AskCommand::AnswerWithPasskey(id, reply, given);
            let refused = cast.attempt(cast.human("olga"), command);
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        };
        // Another ask, another answer, another comment, another person, another passkey.
        let (reply, given) = command(&cast, "olga", olga, &yes());
        refused(&mut cast, other, reply, given);
        let (_, given) = command(&cast, "olga", olga, &yes());
        refused(&mut cast, id, no(), given.clone());
        let comment = Some("and more".to_owned());
        refused(&mut cast, id, Box::new(Reply { comment, ..*yes() }), given);
        let (reply, given) = command(&cast, "mark", olga, &yes());
        refused(&mut cast, id, reply, given);
        let (reply, given) = command(&cast, "olga", mark, &yes());
        refused(&mut cast, id, reply, given);
        let (reply, mut given) = command(&cast, "olga", olga, &yes());
        given.used.challenge = Cast::hash("another");
        refused(&mut cast, id, reply, given);
        // A signed statement is never accepted again, whatever it would answer.
        let (reply, given) = command(&cast, "olga", olga, &yes());
        cast.run(cast.human("olga"), AskCommand::AnswerWithPasskey(id, reply, given.clone()));
        let mut again = given;
        again.evidence.statement.ask = other;
        refused(&mut cast, other, yes(), again);
        cast.run(Actor::System, DirectoryCommand::RevokeKey(olga));
        let later = cast.confirmed(other, "olga", olga, &yes(), 2);
        assert!(cast.attempt(cast.human("olga"), later).is_err(), "a removed passkey");
    }

    #[test]
    fn a_passkey_that_waits_confirms_nothing() {
        use crate::directory::passkey::tests::first;
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let key = first(&mut cast, "olga", "new");
        let early = cast.confirmed(id, "olga", key, &yes(), 1);
        let refused = cast.attempt(cast.human("olga"), early.clone());
        assert!(matches!(refused, Err(Refusal::NotAllowed { why }) if why.contains("confirm it")));
        cast.advance(24 * 60 * 60);
        cast.run(cast.human("olga"), early);
    }

    fn someone() -> AttestedIdentity {
        AttestedIdentity {
            via: "slack_block_action".to_owned(),
            platform: "slack".to_owned(),
            platform_user_id: "U1".to_owned(),
            display_name: Some("Ann".to_owned()),
        }
    }

    /// HITL-033, HITL-036, HITL-062: the holder of the link answers that ask, once, and no other.
    #[test]
    fn the_link_is_good_for_its_own_ask() {
        let mut cast = Cast::new();
        let (id, other) = (cast.ask(new_ask()), cast.ask(new_ask()));
        let holder = || Actor::link_holder(id);
        let astray = cast.attempt(holder(), AskCommand::Answer(other, yes()));
        assert_eq!(astray, Err(Refusal::NotFound { what: "request" }));
        // A claim applies among people. It does not bind the person to whom the agent gave the
        // link.
        cast.run(cast.human("olga"), AskCommand::Claim(id));
        cast.run(holder(), AskCommand::Answer(id, yes()));
        let resolution = cast.seen(id).deciding_answer().unwrap();
        assert_eq!(resolution.by, ActorRef::LinkHolder);
        assert_eq!(
            (resolution.via, resolution.assurance),
            (AnswerInterface::Link, Assurance::AgentAttested)
        );
        assert_eq!(resolution.attested, None);
        let again = cast.attempt(holder(), AskCommand::Answer(id, no()));
        assert!(matches!(again, Err(Refusal::AlreadyAnswered { by: ActorRef::LinkHolder, .. })));
    }

    /// HITL-072, HITL-074, HITL-075: an agent passes on an answer to a pending ask only if its
    /// stance is allowed and the person is named.
    #[test]
    fn an_agent_passes_on_what_it_may_and_says_whose_it_is() {
        use crate::question::AnswerKind;
        let mut cast = Cast::new();
        let inline = |stances: &[AnswerKind]| Some(stances.iter().copied().collect());
        let id = cast.ask(NewAsk { inline: inline(&[AnswerKind::Approve]), ..new_ask() });
        let closed = cast.ask(new_ask());
        let relay = |ask, attested| Actor::Relay { ask, attested };
        for (ask, reply) in [(id, no()), (closed, yes())] {
            let refused = cast.attempt(relay(ask, someone()), AskCommand::Answer(ask, reply));
            assert_eq!(refused, Err(Refusal::NotInline));
        }
        let nobody = AttestedIdentity { platform_user_id: " ".to_owned(), ..someone() };
        let refused = cast.attempt(relay(id, nobody), AskCommand::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::Invalid { .. })), "{refused:?}");
        let astray = cast.attempt(relay(closed, someone()), AskCommand::Answer(id, yes()));
        assert_eq!(astray, Err(Refusal::NotFound { what: "request" }));
        assert_eq!(cast.seen(id).head.seq, 1, "a refusal changes nothing");
        cast.run(relay(id, someone()), AskCommand::Answer(id, yes()));
        let ask = cast.seen(id);
        assert_eq!(ask.phase(), Phase::Completed);
        let resolution = ask.deciding_answer().unwrap();
        assert_eq!(resolution.assurance, Assurance::AgentAttested);
        assert_eq!((&resolution.by, resolution.via), (&ActorRef::Relay, AnswerInterface::Inline));
        let said = resolution.attested.as_deref().and_then(Erasable::value);
        assert_eq!(said, Some(&someone()));
        // Erasing the ask erases the attested name too.
        cast.run(Actor::System, AskCommand::Erase(id));
        let attested = cast.seen(id).deciding_answer().unwrap().attested.as_ref();
        assert!(attested.is_some_and(|attested| attested.value().is_none()));
        assert!(cast.record_of(id).len() == 3);
    }

    /// HITL-070, HITL-229: a project may refuse answers that only the agent attests, and answers by
    /// link.
    #[test]
    fn a_floor_keeps_links_and_relays_out() {
        use crate::directory::NewProject;
        use crate::question::AnswerKind;
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { minimum_assurance: Assurance::Session, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let id = cast.ask(NewAsk { inline: Some([AnswerKind::Approve].into()), ..new_ask() });
        for actor in [Actor::link_holder(id), Actor::Relay { ask: id, attested: someone() }] {
            let refused = cast.attempt(actor, AskCommand::Answer(id, yes()));
            assert!(matches!(refused, Err(Refusal::AssuranceTooLow { .. })), "{refused:?}");
        }
    }

    /// HITL-222, HITL-223, HITL-225, HITL-226, HITL-229: proofs are required for the listed paths
    /// only, judged with the answer and recorded without their content. They do not raise the
    /// assurance.
    #[test]
    fn an_answer_may_need_a_proof() {
        use crate::audit::Digest;
        use crate::question::AnswerKind;
        use crate::verification::{ProofFacts, tests::policy, tests::wants};
        let mut cast = Cast::new();
        let (inline, policy) =
            (Some([AnswerKind::Approve].into()), Box::new(policy(vec![vec![wants(None, None)]])));
        let asked =
            || NewAsk { inline: inline.clone(), verification: Some(policy.clone()), ..new_ask() };
        let relay = |ask| Actor::Relay { ask, attested: someone() };
        let facts = ProofFacts {
            digest: Digest::of(b"1"),
            assurance: None,
            bound_to_case: true,
            bound_to_action: true,
            answers_challenge: true,
            issued_at: cast.now(),
            expires_at: None,
        };
        let proof = |found| PresentedProof {
            proof_type: "proof_of_human".to_owned(),
            provider: "acme".to_owned(),
            format: "jwt".to_owned(),
            found,
        };
        let with = |id, found| AskCommand::AnswerWithProofs(id, yes(), vec![proof(found)]);
        let id = cast.ask(asked());
        for actor in [relay(id), Actor::link_holder(id)] {
            let missing = cast.attempt(actor.clone(), AskCommand::Answer(id, yes()));
            assert!(matches!(missing, Err(Refusal::VerificationRequired { .. })), "{missing:?}");
            let wrong = cast.attempt(actor, with(id, Err("forged".to_owned())));
            assert!(matches!(wrong, Err(Refusal::VerificationFailed { .. })), "{wrong:?}");
        }
        assert_eq!(cast.seen(id).head.seq, 1, "a refusal changes nothing and uses nothing up");
        cast.run(relay(id), with(id, Ok(facts.clone())));
        let resolution = cast.seen(id).deciding_answer().unwrap();
        let found = resolution.verification.as_deref().unwrap();
        assert!(found.satisfied && found.proofs[0].verified_at == resolution.at);
        assert_eq!(resolution.assurance, Assurance::AgentAttested);
        // A signed-in person needs no proof of presence: the session proves more.
        let other = cast.ask(asked());
        cast.run(cast.human("olga"), AskCommand::Answer(other, yes()));
        assert_eq!(cast.seen(other).deciding_answer().unwrap().verification, None);
        // This ask demands no proof.
        let plain = cast.ask(new_ask());
        let holder = Actor::link_holder(plain);
        let unasked = cast.attempt(holder, with(plain, Ok(facts)));
        assert!(matches!(unasked, Err(Refusal::Invalid { .. })), "{unasked:?}");
    }

    /// HITL-220, HITL-226: where proofs are optional, a bad proof is reported and does not block
    /// the answer.
    #[test]
    fn optional_proofs_keep_nobody_out() {
        use crate::verification::{
            VerificationMode, VerificationPolicy, tests::policy, tests::wants,
        };
        let mut cast = Cast::new();
        let optional = VerificationPolicy {
            mode: VerificationMode::Optional,
            ..policy(vec![vec![wants(None, None)]])
        };
        let new = || NewAsk { verification: Some(Box::new(optional.clone())), ..new_ask() };
        let (id, bare) = (cast.ask(new()), cast.ask(new()));
        let bad = PresentedProof {
            proof_type: "proof_of_human".to_owned(),
            provider: "acme".to_owned(),
            format: "jwt".to_owned(),
            found: Err("forged".to_owned()),
        };
        let holder = Actor::link_holder;
        cast.run(holder(id), AskCommand::AnswerWithProofs(id, yes(), vec![bad]));
        let found = cast.seen(id).deciding_answer().unwrap().verification.clone().unwrap();
        assert!(!found.satisfied && found.proofs.is_empty() && found.missing.len() == 1);
        cast.run(holder(bare), AskCommand::Answer(bare, yes()));
        assert_eq!(cast.seen(bare).deciding_answer().unwrap().verification, None);
    }

    /// HXPX-049: after the deadline the answer is refused, whether or not the timer has fired.
    #[test]
    fn too_late_is_too_late_even_before_the_timer_fires() {
        let mut cast = Cast::new();
        let new = NewAsk { timeout: Some(10), on_expiry: NewOnExpiry::Fail, ..new_ask() };
        let id = cast.ask(new);
        cast.advance(10);
        let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::TimedOut { .. })));
    }

    /// §10.5: `at` is never before the subject's last event, so the decision is not either.
    #[test]
    fn a_clock_set_back_does_not_reopen_an_ask() {
        let mut cast = Cast::new();
        let new = NewAsk { timeout: Some(10), on_expiry: NewOnExpiry::Fail, ..new_ask() };
        let id = cast.ask(new);
        cast.advance(20);
        cast.ask(NewAsk { follows: Some(id), ..new_ask() });
        cast.turn_back(15);
        let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, yes()));
        assert!(matches!(refused, Err(Refusal::TimedOut { .. })), "{refused:?}");
    }

    #[test]
    fn an_answer_must_fit_its_question() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let wrong = Reply { answer: Answer::Skip, comment: None };
        let refused = cast.attempt(cast.human("olga"), AskCommand::Answer(id, Box::new(wrong)));
        assert!(matches!(refused, Err(Refusal::Answer(_))));
        assert_eq!(cast.seen(id).head.seq, 1);
    }
}
