//! From a credential to an actor. The kinds are disjoint: an agent key never stands in for a human
//! token, nor a session for a key.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, header};
use dialects::hitl::discovery::POLLS_PER_MINUTE;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use kernel::audit::Digest;
use kernel::directory::{Directory, Holder, Key};
use kernel::{Actor, AskId, Assurance, HumanId, KeyId, Time, Via};

use crate::http::observe::{Caller, note_caller};
use crate::jwt::JwtVerifier;
use crate::knocks::Knocks;

/// Why somebody was not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// No credential was presented.
    Missing,
    /// It is unknown, revoked, run out, or of the wrong kind. Which of these is not said.
    Unknown,
    /// Too many requests with this credential; try again after this long.
    TooFast(Duration),
    /// Too many streams are open with this credential.
    TooManyStreams,
    /// The issuer's keys could not be fetched.
    Unavailable,
}

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
pub struct Door {
    cases: CaseLimiter,
    limiter: Option<DefaultKeyedRateLimiter<KeyId>>,
    limiter_clock: DefaultClock,
    jwt: Option<JwtVerifier>,
    knocks: Knocks,
    used: Mutex<std::collections::HashMap<KeyId, Time>>,
}

impl Door {
    /// A door that lets each key through `rate` times a second, with bursts of twice that.
    pub fn new(rate: u32, jwt: Option<JwtVerifier>, knocks: Knocks) -> Self {
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
            knocks,
            used: Mutex::default(),
        }
    }

    /// The agent behind `Authorization: Bearer`.
    pub fn agent(
        &self,
        directory: &Directory,
        headers: &HeaderMap,
        now: Time,
    ) -> Result<Actor, Denied> {
        self.agent_by(directory, bearer(headers)?, now)
    }

    /// The agent behind a key that came another way, such as a WebSocket's query.
    pub fn agent_by(
        &self,
        directory: &Directory,
        secret: &str,
        now: Time,
    ) -> Result<Actor, Denied> {
        let key = live(directory, secret, now)?;
        let Holder::Agent { agent, reach, .. } = &key.holder else { return Err(Denied::Unknown) };
        let project = &directory.agent(agent).ok_or(Denied::Unknown)?.project;
        self.admit(key.id, now)?;
        note_caller(|| Caller {
            key: Some(key.id),
            agent: Some(agent.clone()),
            ..Caller::default()
        });
        Ok(Actor::Agent { id: agent.clone(), project: project.clone(), key: key.id, reach: *reach })
    }

    /// The person behind `Authorization: Bearer`: one of our tokens, or a JWT of the issuer.
    pub async fn human(
        &self,
        directory: &Arc<Directory>,
        headers: &HeaderMap,
        now: Time,
    ) -> Result<Actor, Denied> {
        let secret = bearer(headers)?;
        if is_from_hidden_origin(headers) {
            tracing::warn!(
                "human token refused: it came from a web page with `Origin: null`, which any website \
                 can produce"
            );
            return Err(Denied::Unknown);
        }
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
        note_caller(|| Caller { key, human: Some(id.clone()), ..Caller::default() });
        // Whatever program it says it is: only the credential is known.
        Ok(Actor::Human { id, via: Via::Api, assurance: Assurance::Session })
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
        note_caller(|| Caller {
            key: Some(key.id),
            human: Some(human.clone()),
            ..Caller::default()
        });
        let actor =
            Actor::Human { id: human.clone(), via: Via::Web, assurance: Assurance::Session };
        Ok((actor, key))
    }

    /// The key of ours behind `Authorization: Bearer`, if it is one.
    pub fn key(&self, directory: &Directory, headers: &HeaderMap) -> Option<KeyId> {
        let secret = bearer(headers).ok()?;
        directory.key_by_hash(&Digest::of(secret.as_bytes())).map(|key| key.id)
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
    pub fn knocks(&self) -> &Knocks {
        &self.knocks
    }

    /// Forgets the cases nobody has called about for a while, and who tried to sign in.
    pub fn forget_quiet(&self) {
        self.cases.retain_recent();
        self.cases.shrink_to_fit();
        self.knocks.forget_quiet();
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

/// The token behind `Bearer`, in any case.
pub fn bearer(headers: &HeaderMap) -> Result<&str, Denied> {
    let value = headers.get(header::AUTHORIZATION).ok_or(Denied::Missing)?;
    let text = value.to_str().map_err(|_| Denied::Unknown)?;
    let (scheme, token) = text.split_once(' ').ok_or(Denied::Unknown)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(Denied::Unknown);
    }
    Ok(token.trim())
}

/// Whether a web page sent this that hides where it comes from: one in a sandboxed frame, or a file.
fn is_from_hidden_origin(headers: &HeaderMap) -> bool {
    headers.get_all(header::ORIGIN).iter().any(|origin| origin == "null")
}
