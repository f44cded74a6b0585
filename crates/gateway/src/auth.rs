//! Authenticates a credential as an actor. The kinds are disjoint: an agent key never counts as a
//! human token, nor a session as a key.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dialects::hitl::discovery::POLLS_PER_MINUTE;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use kernel::audit::Digest;
use kernel::directory::{CredentialKind, Directory, Key};
use kernel::{Actor, AnswerInterface, AskId, Assurance, HumanId, KeyId, Time};

pub use crate::auth_error::Denied;
use crate::jwt::JwtVerifier;
use crate::login_rate_limit::LoginRateLimit;

/// The kinds of calls that are limited separately for each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseCallKind {
    /// Reading its state.
    Poll,
    /// Answering it, or trying to.
    Submit,
    /// Filling in its page, which saves a draft continuously.
    Fill,
    /// Watching its page for the end.
    Watch,
}

/// The remaining calls of a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemainingCalls {
    /// The limit per minute.
    pub limit: u32,
    /// The calls that remain now.
    pub remaining: u32,
}

/// There were too many calls about one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyCalls {
    /// The limit per minute.
    pub limit: u32,
    /// The time until the next call is allowed.
    pub wait: Duration,
}

type CaseLimiter = RateLimiter<
    (AskId, CaseCallKind),
    DefaultKeyedStateStore<(AskId, CaseCallKind)>,
    DefaultClock,
    StateInformationMiddleware,
>;

/// Checks credentials, records their use, and limits their rate.
pub struct Authenticator {
    cases: CaseLimiter,
    limiter: Option<DefaultKeyedRateLimiter<KeyId>>,
    limiter_clock: DefaultClock,
    jwt: Option<JwtVerifier>,
    login_rate_limit: LoginRateLimit,
    used: Mutex<std::collections::HashMap<KeyId, Time>>,
}

impl Authenticator {
    /// Accepts each key `rate` times a second, with bursts of twice that.
    pub fn new(rate: u32, jwt: Option<JwtVerifier>, login_rate_limit: LoginRateLimit) -> Self {
        let quota = |rate: NonZeroU32| {
            let burst = NonZeroU32::new(rate.get().saturating_mul(2)).unwrap_or(rate);
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        };
        let minute = NonZeroU32::new(POLLS_PER_MINUTE).unwrap_or(NonZeroU32::MIN);
        Self {
            cases: RateLimiter::keyed(Quota::per_minute(minute)).with_middleware(),
            limiter: NonZeroU32::new(rate).map(quota),
            limiter_clock: DefaultClock::default(),
            jwt,
            login_rate_limit,
            used: Mutex::default(),
        }
    }

    /// The agent that holds a key.
    pub fn agent(&self, directory: &Directory, secret: &str, now: Time) -> Result<Actor, Denied> {
        let key = live_key(directory, secret, now)?;
        let CredentialKind::Agent { agent, scope: reach, .. } = &key.kind else {
            return Err(Denied::Unknown);
        };
        let project = &directory.agent(agent).ok_or(Denied::Unknown)?.project;
        self.admit(key.id, now)?;
        Ok(Actor::Agent { id: agent.clone(), project: project.clone(), key: key.id, scope: *reach })
    }

    /// The person that holds a token. Also the key, if the token is not a JWT of the issuer.
    pub async fn human(
        &self,
        directory: &Arc<Directory>,
        secret: &str,
        now: Time,
    ) -> Result<(Actor, Option<KeyId>), Denied> {
        let (key, id) = match live_key(directory, secret, now) {
            Ok(Key { id, kind: CredentialKind::Token { human }, .. }) => {
                self.admit(*id, now)?;
                (Some(*id), human.clone())
            }
            Ok(_) => return Err(Denied::Unknown),
            Err(denied) => match &self.jwt {
                // Boxed because it is rare. Otherwise every call with a key would reserve the
                // space for it.
                Some(jwt) => (None, Box::pin(jwt.verify(secret, directory)).await?),
                None => return Err(denied),
            },
        };
        require_active(directory, &id)?;
        // Any program may hold the credential, so the channel is the API.
        Ok((Actor::Human { id, via: AnswerInterface::Api, assurance: Assurance::Session }, key))
    }

    /// The person of a browser session, and the session. This does not record a use: the caller
    /// first judges how long the session was unused.
    pub fn session<'a>(
        &self,
        directory: &'a Directory,
        secret: &str,
        browser: &str,
        now: Time,
    ) -> Result<(Actor, &'a Key), Denied> {
        let key = live_key(directory, secret, now)?;
        let CredentialKind::Session { human, binding: Some(visit) } = &key.kind else {
            return Err(Denied::Unknown);
        };
        // These are digests of random values, so the time of the comparison reveals nothing.
        if visit.browser != Digest::of(browser.as_bytes()) {
            return Err(Denied::Unknown);
        }
        require_active(directory, human)?;
        let actor = Actor::Human {
            id: human.clone(),
            via: AnswerInterface::Web,
            assurance: Assurance::Session,
        };
        Ok((actor, key))
    }

    /// Counts a call about a case (HITL-085). Each node counts separately.
    pub fn count_case_call(
        &self,
        ask: AskId,
        lane: CaseCallKind,
    ) -> Result<RemainingCalls, TooManyCalls> {
        let limit = POLLS_PER_MINUTE;
        match self.cases.check_key(&(ask, lane)) {
            Ok(state) => Ok(RemainingCalls { limit, remaining: state.remaining_burst_capacity() }),
            Err(until) => {
                Err(TooManyCalls { limit, wait: until.wait_time_from(self.limiter_clock.now()) })
            }
        }
    }

    pub fn login_rate_limit(&self) -> &LoginRateLimit {
        &self.login_rate_limit
    }

    /// Drops the counters of cases and sign-in attempts without recent calls.
    pub fn drop_idle_counters(&self) {
        self.cases.retain_recent();
        self.cases.shrink_to_fit();
        self.login_rate_limit.drop_idle_counters();
    }

    /// Keys used since the last call, for the store to record.
    pub fn take_key_uses(&self) -> Vec<(KeyId, Time)> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }

    /// When a key was last used, if the store has not recorded it yet.
    pub fn just_used(&self, key: KeyId) -> Option<Time> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }

    /// Counts the use of a key against its rate limit.
    pub fn admit(&self, key: KeyId, now: Time) -> Result<(), Denied> {
        if let Some(limiter) = &self.limiter {
            limiter
                .check_key(&key)
                .map_err(|until| Denied::TooFast(until.wait_time_from(self.limiter_clock.now())))?;
        }
        self.note_use(key, now);
        Ok(())
    }

    /// Records that a key was used.
    pub fn note_use(&self, key: KeyId, now: Time) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(key, now);
    }
}

fn live_key<'a>(directory: &'a Directory, secret: &str, now: Time) -> Result<&'a Key, Denied> {
    if secret.is_empty() {
        return Err(Denied::Missing);
    }
    directory
        .key_by_hash(&Digest::of(secret.as_bytes()))
        .filter(|key| key.is_live(now))
        .ok_or(Denied::Unknown)
}

fn require_active(directory: &Directory, id: &HumanId) -> Result<(), Denied> {
    directory.human(id).filter(|human| human.active).map(|_| ()).ok_or(Denied::Unknown)
}
