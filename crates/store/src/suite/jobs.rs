//! Jobs: decided once, atomic, and harmless to repeat.

use std::sync::Arc;

use crate::Work;
use kernel::actor::{ActorRef, AttestedIdentity};
use kernel::ask::{AskToken, CallbackResult, Phase, Route, TokenPurpose};
use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::form::FormProgress;
use kernel::question::AnswerKind;
use kernel::testing::{new_ask, no, yes};
use kernel::{Actor, AskCommand, AskId, Refusal, Subject};
use tokio::task::JoinSet;
use ulid::Ulid;

use super::stage::{Stage, acme, bot, inbox, person, refusal, spy};
use crate::{Job, JobOutcome, Result};

/// Runs all jobs at once and returns their outcomes in any order.
async fn at_once(stage: &Stage, jobs: Vec<Job>) -> Vec<Result<JobOutcome>> {
    let mut running = JoinSet::new();
    for job in jobs {
        let store = Arc::clone(&stage.store);
        running.spawn(async move { store.transact(job).await });
    }
    running.join_all().await
}

fn ask() -> AskCommand {
    AskCommand::Create(Box::new(new_ask()))
}

fn pooled() -> NewAsk {
    NewAsk { route: Route::Pool { group: None }, ..new_ask() }
}

pub async fn an_ask_reads_back(stage: &Stage) {
    let job = stage.job(bot(), ask());
    let fresh = AskId::new(job.envelope.fresh);
    let outcome = stage.store.transact(job).await.unwrap();
    let made = outcome.ask.unwrap();
    assert_eq!(made.id, fresh);
    assert_eq!(made.created_at, stage.now());
    assert_eq!(outcome.at, stage.now());
    assert!(!outcome.replayed);
    assert_eq!(stage.seen(fresh).await, made);
}

pub async fn an_unknown_ask_is_none(stage: &Stage) {
    assert_eq!(stage.store.ask(AskId::new(Ulid::from(7_u128))).await.unwrap(), None);
}

pub async fn a_refusal_changes_nothing(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let before = stage.seen(id).await;
    let position = stage.store.changes(crate::FeedQuery::After(0), 1000).await.unwrap().len();
    let refused = stage.attempt(spy(), AskCommand::Cancel(id, None)).await;
    assert_eq!(refusal(refused), Refusal::NotFound { what: "request" });
    assert_eq!(stage.seen(id).await, before);
    assert_eq!(
        stage.store.changes(crate::FeedQuery::After(0), 1000).await.unwrap().len(),
        position
    );
}

pub async fn a_refusal_leaves_its_neighbours_alone(stage: &Stage) {
    let jobs = (0..40).map(|n| {
        // Every second one is refused: people do not create asks.
        let actor = if n % 2 == 0 { bot() } else { person("olga") };
        stage.job(actor, ask())
    });
    let outcomes = at_once(stage, jobs.collect()).await;
    let (made, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 20);
    for outcome in refused {
        assert!(matches!(refusal(outcome), Refusal::NotAllowed { .. }));
    }
    for outcome in made {
        let made = outcome.unwrap().ask.unwrap();
        assert_eq!(stage.seen(made.id).await, made);
    }
    assert_eq!(stage.ids(acme(), &Phase::OPEN).await.len(), 20);
}

pub async fn nothing_happened_writes_nothing(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Open(id)).await;
    let changes = stage.store.changes(crate::FeedQuery::After(0), 1000).await.unwrap();
    let again = stage.run(person("olga"), AskCommand::Open(id)).await;
    assert_eq!(again.ask.unwrap(), stage.seen(id).await);
    assert_eq!(stage.store.changes(crate::FeedQuery::After(0), 1000).await.unwrap(), changes);
}

pub async fn later_jobs_see_earlier_ones(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let step = |completed_fields| FormProgress {
        current_step: 1,
        total_steps: 1,
        completed_fields,
        total_fields: 30,
    };
    let progress = |n| AskCommand::Progress(id, Some(step(n)));
    let jobs = (0..30).map(|n| stage.job(person("olga"), progress(n)));
    for outcome in at_once(stage, jobs.collect()).await {
        outcome.unwrap();
    }
    assert_eq!(stage.seen(id).await.head.seq, 31);
}

pub async fn a_repeated_request_is_answered_from_memory(stage: &Stage) {
    let first = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    stage.clock.advance(60);
    let again = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    assert!(!first.replayed && again.replayed);
    assert_eq!(again.ask, first.ask);
    assert_eq!(again.at, first.at);
    assert_eq!(stage.ids(acme(), &Phase::ALL).await.len(), 1);
}

pub async fn a_replay_shows_the_ask_as_it_is_now(stage: &Stage) {
    let first = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    let id = first.ask.unwrap().id;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let again = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.ask.unwrap().phase(), Phase::Completed);
}

pub async fn a_key_used_for_something_else_is_refused(stage: &Stage) {
    stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    let other = stage.store.transact(stage.keyed(bot(), ask(), "k", "b")).await;
    assert_eq!(refusal(other), Refusal::IdempotencyMismatch);
    assert_eq!(stage.ids(acme(), &Phase::ALL).await.len(), 1);
}

pub async fn keys_of_two_callers_do_not_meet(stage: &Stage) {
    stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    let other = stage.store.transact(stage.keyed(spy(), ask(), "k", "b")).await.unwrap();
    assert!(!other.replayed);
}

pub async fn a_refused_job_leaves_its_key_free(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let answer = || AskCommand::Answer(id, yes());
    let stranger = stage.store.transact(stage.keyed(person("mark"), answer(), "k", "a")).await;
    assert_eq!(refusal(stranger), Refusal::NotFound { what: "request" });
    stage.run(Actor::System, AskCommand::Assign(id, kernel::testing::human("mark"), None)).await;
    let now = stage.store.transact(stage.keyed(person("mark"), answer(), "k", "b")).await.unwrap();
    assert!(!now.replayed);
}

/// Creates an ask under a key and withdraws it at once, so that only its age keeps the key.
async fn withdrawn(stage: &Stage, key: &str) -> AskId {
    let made = stage.store.transact(stage.keyed(bot(), ask(), key, key)).await.unwrap();
    let id = made.ask.unwrap().id;
    stage.run(bot(), AskCommand::Cancel(id, None)).await;
    id
}

pub async fn a_key_is_forgotten_a_day_after_its_ask_ended(stage: &Stage) {
    let first = withdrawn(stage, "k").await;
    stage.clock.advance(24 * 3600 - 1);
    let in_time = stage.store.transact(stage.keyed(bot(), ask(), "k", "k")).await.unwrap();
    assert!(in_time.replayed, "not swept, not yet a day old");
    stage.clock.advance(1);
    let late = stage.store.transact(stage.keyed(bot(), ask(), "k", "b")).await.unwrap();
    assert!(!late.replayed, "not swept, but a day old");
    assert_ne!(late.ask.unwrap().id, first);
    let again = stage.store.transact(stage.keyed(bot(), ask(), "k", "b")).await.unwrap();
    assert!(again.replayed, "the key is taken anew");
}

/// An agent that resumes after weeks finds its ask again, whether or not a sweep ran in between.
pub async fn a_key_lives_as_long_as_its_ask_is_open(stage: &Stage) {
    let first = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    let id = first.ask.unwrap().id;
    for _ in 0..3 {
        stage.clock.advance(20 * 24 * 3600);
        let again = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
        assert!(again.replayed, "before a sweep");
        assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 0, "its ask is open");
        let again = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
        assert_eq!((again.replayed, again.ask.unwrap().id), (true, id), "and after it");
        let other = stage.store.transact(stage.keyed(bot(), ask(), "k", "b")).await;
        assert_eq!(refusal(other), Refusal::IdempotencyMismatch);
    }
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let ended = stage.now();
    for hours in [10, 13] {
        stage.clock.advance(hours * 3600);
        assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 0, "{hours}");
        let again = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
        assert!(again.replayed, "within a day of its end at {ended}");
    }
    stage.clock.advance(3600);
    let find =
        stage.store.ask_by_idempotency_key("bot".into(), "k".into(), stage.now()).await.unwrap();
    assert_eq!(find, None, "a day after its end");
    assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 1);
    let anew = stage.store.transact(stage.keyed(bot(), ask(), "k", "b")).await.unwrap();
    assert!(!anew.replayed);
}

/// An erased ask has ended, too: its key is not kept any longer.
pub async fn a_key_of_an_erased_ask_is_forgotten(stage: &Stage) {
    let id = withdrawn(stage, "k").await;
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    stage.clock.advance(24 * 3600);
    assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 1);
}

pub async fn sweeping_forgets_only_what_is_old(stage: &Stage) {
    for key in ["a", "b", "c"] {
        withdrawn(stage, key).await;
    }
    stage.clock.advance(3600);
    withdrawn(stage, "d").await;
    assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 0);
    stage.clock.advance(23 * 3600);
    assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 3);
    assert_eq!(stage.store.sweep(stage.now()).await.unwrap(), 0);
    let kept = stage.store.transact(stage.keyed(bot(), ask(), "d", "d")).await.unwrap();
    assert!(kept.replayed);
}

pub async fn a_lasting_key_finds_its_ask_for_ever(stage: &Stage) {
    let find = async |scope: &str, key: &str| {
        stage
            .store
            .ask_by_idempotency_key(scope.to_owned(), key.to_owned(), stage.now())
            .await
            .unwrap()
    };
    assert_eq!(find("bot", "call-1").await, None);
    let made = stage.store.transact(stage.named(bot(), ask(), "call-1", "a")).await.unwrap();
    let made = made.ask.unwrap();
    stage.clock.advance(400 * 24 * 3600);
    stage.store.sweep(stage.now()).await.unwrap();
    assert_eq!(find("bot", "call-1").await, Some(made.id));
    assert_eq!(find("spy", "call-1").await, None, "each has their own names");
    assert_eq!(find("bot", "call-2").await, None);
    let again = stage.store.transact(stage.named(bot(), ask(), "call-1", "a")).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.at, made.created_at, "that is when it was asked");
    assert_eq!(again.ask, Some(made));
    let other = stage.store.transact(stage.named(bot(), ask(), "call-1", "b")).await;
    assert_eq!(refusal(other), Refusal::IdempotencyMismatch);
}

pub async fn a_key_that_is_not_lasting_finds_its_ask_until_a_day_after_its_end(stage: &Stage) {
    let find = async || {
        stage.store.ask_by_idempotency_key("bot".into(), "k".into(), stage.now()).await.unwrap()
    };
    let made = stage.store.transact(stage.keyed(bot(), ask(), "k", "a")).await.unwrap();
    let id = made.ask.unwrap().id;
    assert_eq!(find().await, Some(id));
    stage.clock.advance(48 * 3600);
    assert_eq!(find().await, Some(id), "it is open");
    stage.run(bot(), AskCommand::Cancel(id, None)).await;
    stage.clock.advance(24 * 3600 - 1);
    assert_eq!(find().await, Some(id));
    stage.clock.advance(1);
    assert_eq!(find().await, None);
}

pub async fn of_many_with_one_key_one_is_made(stage: &Stage) {
    let jobs = (0..50).map(|_| stage.keyed(bot(), ask(), "k", "same")).collect();
    let outcomes: Vec<JobOutcome> =
        at_once(stage, jobs).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(outcomes.iter().filter(|outcome| !outcome.replayed).count(), 1);
    let first = outcomes[0].ask.as_ref().unwrap().id;
    assert!(outcomes.iter().all(|outcome| outcome.ask.as_ref().unwrap().id == first));
    assert_eq!(stage.ids(acme(), &Phase::ALL).await, [first]);
}

pub async fn of_many_answers_one_wins(stage: &Stage) {
    let id = stage.ask(pooled()).await;
    let jobs = (0..50).map(|n| {
        let (who, reply) = if n % 2 == 0 { ("olga", yes()) } else { ("nina", no()) };
        stage.job(person(who), AskCommand::Answer(id, reply))
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        at_once(stage, jobs.collect()).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 49));
    let ask = stage.seen(id).await;
    let resolution = ask.deciding_answer().unwrap();
    assert!(matches!(resolution.by, ActorRef::Human(_)));
    for late in lost {
        let learnt = Refusal::AlreadyAnswered { by: resolution.by.clone(), at: resolution.at };
        assert_eq!(refusal(late), learnt);
    }
    assert_eq!(stage.seen(id).await.votes.len(), 1);
}

pub async fn of_many_claims_one_holds(stage: &Stage) {
    let id = stage.ask(pooled()).await;
    let people = ["mark", "nina", "olga"].into_iter().cycle().take(30);
    let jobs = people.map(|who| stage.job(person(who), AskCommand::Claim(id))).collect();
    let outcomes = at_once(stage, jobs).await;
    let holder = stage.seen(id).await.claim.unwrap().human;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 10, "{holder}'s own");
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_eq!(refusal(outcome), Refusal::TakenBy { by: holder.clone() });
    }
    assert_eq!(stage.seen(id).await.head.seq, 2);
}

pub async fn a_follow_up_loads_what_it_needs(stage: &Stage) {
    let first = stage.ask(new_ask()).await;
    let second = stage.ask(NewAsk { follows: Some(first), ..new_ask() }).await;
    assert_eq!(stage.seen(first).await.followed_by, Some(second));
    assert_eq!(stage.seen(second).await.follows, Some(first));
    let chain = stage.store.chain(Subject::Ask(first), 0, 10).await.unwrap();
    assert_eq!(chain.iter().map(|record| record.what).collect::<Vec<_>>(), ["asked", "followed"]);
    let again = NewAsk { follows: Some(first), ..new_ask() };
    let refused = stage.attempt(bot(), AskCommand::Create(Box::new(again))).await;
    assert_eq!(refusal(refused), Refusal::Exists { what: "follow-up" });
}

pub async fn a_follow_up_of_nothing_is_refused(stage: &Stage) {
    let lost = NewAsk { follows: Some(AskId::new(Ulid::from(7_u128))), ..new_ask() };
    let refused = stage.attempt(bot(), AskCommand::Create(Box::new(lost))).await;
    assert_eq!(refusal(refused), Refusal::NotFound { what: "request" });
}

pub async fn tokens_and_what_an_agent_passed_on_are_kept(stage: &Stage) {
    let hash = |token: &str| Digest::of(token.as_bytes());
    let grant = |purpose, token| AskToken::to_agent(purpose, hash(token));
    let id = stage
        .ask(NewAsk {
            grants: vec![grant(TokenPurpose::Review, "first"), grant(TokenPurpose::Submit, "s")],
            inline: Some([AnswerKind::Approve].into()),
            callback: Some("https://agent.example/hook".to_owned()),
            ..new_ask()
        })
        .await;
    stage.run(bot(), AskCommand::Grant(id, vec![grant(TokenPurpose::Review, "second")])).await;
    let attested = AttestedIdentity {
        via: "x-chat".to_owned(),
        platform: "x-chat".to_owned(),
        platform_user_id: "7".to_owned(),
        display_name: None,
    };
    let relay = Actor::Relay { ask: id, attested: attested.clone() };
    stage.run(relay, AskCommand::Answer(id, yes())).await;
    stage
        .run(Actor::System, AskCommand::NoteCallback(id, CallbackResult::Taken { status: 204 }))
        .await;
    let ask = stage.seen(id).await;
    for token in ["first", "second"] {
        assert!(ask.has_token(TokenPurpose::Review, &hash(token)));
        assert!(!ask.has_token(TokenPurpose::Submit, &hash(token)));
    }
    let said = ask.deciding_answer().unwrap().attested.as_ref().unwrap().value();
    assert_eq!((said, ask.callbacks.len()), (Some(&attested), 1));
    stage.follow().await;
    let lanes = stage.store.lanes(Work::PEOPLE, stage.now(), 9).await.unwrap();
    assert_eq!(lanes.len(), 1, "a lane of its own");
    let lease = std::time::Duration::from_secs(9);
    let claimed = stage.store.claim(&lanes[0].0, stage.now(), lease, 9).await;
    let told = |effect: &Work| matches!(effect, Work::CallBack { ask, .. } if *ask == id);
    assert_eq!(claimed.unwrap().iter().filter(|delivery| told(&delivery.work)).count(), 1);
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    let ask = stage.seen(id).await;
    assert!(ask.deciding_answer().unwrap().attested.as_ref().unwrap().value().is_none());
    assert!(ask.callback.as_ref().unwrap().url.value().is_none());
}

pub async fn an_id_is_given_once(stage: &Stage) {
    let job = stage.job(bot(), ask());
    stage.store.transact(job.clone()).await.unwrap();
    stage.run(person("olga"), AskCommand::Open(AskId::new(job.envelope.fresh))).await;
    let twice = stage.store.transact(job).await;
    assert_eq!(refusal(twice), Refusal::Exists { what: "request" });
    assert_eq!(stage.ids(inbox("olga"), &Phase::ALL).await.len(), 1);
}

pub async fn time_never_runs_backwards_for_an_ask(stage: &Stage) {
    let id = stage.ask(new_ask()).await;
    let asked = stage.now();
    stage.clock.advance(-3600);
    let outcome = stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    assert_eq!(outcome.at, asked);
    let ask = stage.seen(id).await;
    assert_eq!(ask.head.at, asked);
    let resolution = ask.deciding_answer().unwrap();
    assert_eq!(resolution.at, asked);
    let later = stage.ask(new_ask()).await;
    assert_eq!(stage.seen(later).await.created_at, stage.now(), "others keep the clock's time");
}
