//! From a credential to an actor. The kinds are disjoint: an agent key never stands in for a human
//! token, nor a session for a key.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dialects::hitl::discovery::POLLS_PER_MINUTE;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use kernel::audit::Digest;
use kernel::directory::{Directory, Holder, Key};
use kernel::{Actor, AskId, Assurance, HumanId, KeyId, Time, Via};

pub use crate::denied::Denied;
use crate::jwt::JwtVerifier;
use crate::login_rate_limit::LoginRateLimit;

/// What is counted for each case by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Reading how it stands.
    Poll,
    /// Answering it, or trying to.
    Submit,
    /// Filling in its page, which is saved as it goes.
    Fill,
    /// Watching its page for its end.
    Watch,
}

/// What is left of the calls of a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// In a minute.
    pub limit: u32,
    /// Now.
    pub remaining: u32,
}

/// There were too many calls about one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany {
    /// In a minute.
    pub limit: u32,
    /// Until the next.
    pub wait: Duration,
}

type CaseLimiter = RateLimiter<
    (AskId, Lane),
    DefaultKeyedStateStore<(AskId, Lane)>,
    DefaultClock,
    StateInformationMiddleware,
>;

/// Checks credentials, counts their use, and limits their rate.
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
        let key = live(directory, secret, now)?;
        let Holder::Agent { agent, reach, .. } = &key.holder else { return Err(Denied::Unknown) };
        let project = &directory.agent(agent).ok_or(Denied::Unknown)?.project;
        self.admit(key.id, now)?;
        Ok(Actor::Agent { id: agent.clone(), project: project.clone(), key: key.id, reach: *reach })
    }

    /// The person that holds a token, and the key if the token is one of ours and no JWT of the issuer.
    pub async fn human(
        &self,
        directory: &Arc<Directory>,
        secret: &str,
        now: Time,
    ) -> Result<(Actor, Option<KeyId>), Denied> {
        let (key, id) = match live(directory, secret, now) {
            Ok(Key { id, holder: Holder::Token { human }, .. }) => {
                self.admit(*id, now)?;
                (Some(*id), human.clone())
            }
            Ok(_) => return Err(Denied::Unknown),
            Err(denied) => match &self.jwt {
                // Boxed, because few need it: whoever shows a key would carry room for it.
                Some(jwt) => (None, Box::pin(jwt.verify(secret, directory)).await?),
                None => return Err(denied),
            },
        };
        active(directory, &id)?;
        // Whatever program it says it is: only the credential is known.
        Ok((Actor::Human { id, via: Via::Api, assurance: Assurance::Session }, key))
    }

    /// The person behind a browser session, and the session. It is not counted as used yet: for how
    /// long it was not is for the caller to judge.
    pub fn session<'a>(
        &self,
        directory: &'a Directory,
        secret: &str,
        browser: &str,
        now: Time,
    ) -> Result<(Actor, &'a Key), Denied> {
        let key = live(directory, secret, now)?;
        let Holder::Session { human, visit: Some(visit) } = &key.holder else {
            return Err(Denied::Unknown);
        };
        // Digests of random values are compared: there is nothing to be learnt from how long it takes.
        if visit.browser != Digest::of(browser.as_bytes()) {
            return Err(Denied::Unknown);
        }
        active(directory, human)?;
        let actor =
            Actor::Human { id: human.clone(), via: Via::Web, assurance: Assurance::Session };
        Ok((actor, key))
    }

    /// Counts a call about a case (HITL-085). Each node counts for itself.
    pub fn count(&self, ask: AskId, lane: Lane) -> Result<Left, TooMany> {
        let limit = POLLS_PER_MINUTE;
        match self.cases.check_key(&(ask, lane)) {
            Ok(state) => Ok(Left { limit, remaining: state.remaining_burst_capacity() }),
            Err(until) => {
                Err(TooMany { limit, wait: until.wait_time_from(self.limiter_clock.now()) })
            }
        }
    }

    /// How often somebody may try to sign in.
    pub fn login_rate_limit(&self) -> &LoginRateLimit {
        &self.login_rate_limit
    }

    /// Forgets the cases nobody has called about for a while, and who tried to sign in.
    pub fn forget_quiet(&self) {
        self.cases.retain_recent();
        self.cases.shrink_to_fit();
        self.login_rate_limit.forget_quiet();
    }

    /// Keys used since the last call, for the store to remember.
    pub fn take_used(&self) -> Vec<(KeyId, Time)> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }

    /// When a key was last used, if that is not written down yet.
    pub fn just_used(&self, key: KeyId) -> Option<Time> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }

    /// Counts the use of a key.
    pub fn admit(&self, key: KeyId, now: Time) -> Result<(), Denied> {
        if let Some(limiter) = &self.limiter {
            limiter
                .check_key(&key)
                .map_err(|until| Denied::TooFast(until.wait_time_from(self.limiter_clock.now())))?;
        }
        self.note_use(key, now);
        Ok(())
    }

    /// Remembers that a key was used.
    pub fn note_use(&self, key: KeyId, now: Time) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(key, now);
    }
}

fn live<'a>(directory: &'a Directory, secret: &str, now: Time) -> Result<&'a Key, Denied> {
    if secret.is_empty() {
        return Err(Denied::Missing);
    }
    directory
        .key_by_hash(&Digest::of(secret.as_bytes()))
        .filter(|key| key.is_live(now))
        .ok_or(Denied::Unknown)
}

fn active(directory: &Directory, id: &HumanId) -> Result<(), Denied> {
    directory.human(id).filter(|human| human.active).map(|_| ()).ok_or(Denied::Unknown)
}
