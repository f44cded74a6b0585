//! Waits for the end of a case: with the event stream where there is one, with polls always, and
//! with the clock if the service stops responding. Sections 7, 11 and 12 of the protocol.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{self, HeaderValue};
use sse_stream::Sse;

use super::clock::{between, later};
use super::event_stream::{CaseEventStream, StreamUpdate};
use super::http_client::{HitlHttpClient, retry_after};
use super::outcome::{CaseStatus, CaseTerms, Expired, JudgedBy};
use super::reminders::Reminders;
use super::{Case, Clock, HitlError, Outcome, Result, SystemClock};

/// The polling interval if the service names none; it grows while the case does not change.
const INTERVAL: Duration = Duration::from_secs(30);
/// The maximum polling interval, and the interval of polls beside an open stream.
const LONGEST: Duration = Duration::from_mins(5);
/// The first pause after a failure; it doubles.
const FIRST_RETRY: Duration = Duration::from_secs(5);
/// How long after its expiry a case may still be reported as open, because clocks differ.
const GRACE: Duration = Duration::from_mins(1);
/// When polling stops, even if the service asks for a longer pause.
const GIVE_UP: Duration = Duration::from_mins(5);
/// The maximum number of invalid responses in a row.
const MOST_GARBLED: u32 = 3;

/// A notification for the person.
#[derive(Debug, Clone)]
pub struct Notice {
    pub case_id: String,
    /// The text for the person.
    pub text: String,
    /// The page where the person decides.
    pub review_url: String,
    pub expires_at: Timestamp,
    /// Whether the person was notified before.
    pub is_reminder: bool,
}

/// Follows cases of any service. Cheap to clone.
#[derive(Clone)]
pub struct Follower {
    pub(super) wire: HitlHttpClient,
    clock: Arc<dyn Clock>,
}

impl Follower {
    /// A follower without credentials except the tokens in the URLs.
    pub fn new() -> Result<Self> {
        Ok(Self { wire: HitlHttpClient::new()?, clock: Arc::new(SystemClock) })
    }

    /// Sets the `Authorization` header for the service at `url`. It is sent only to that origin,
    /// wherever the URLs of a case point.
    pub fn authorization(mut self, url: &str, value: &str) -> Result<Self> {
        self.wire.authorize(url, value)?;
        Ok(self)
    }

    /// Replaces the clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Notifies the person and waits until the case is closed. `notify` is called once now and once
    /// for each reminder. It is the only contact with the person; the follower never decides for
    /// them.
    pub async fn follow<N, F>(&self, case: &Case, notify: N) -> Result<Outcome>
    where
        N: FnMut(Notice) -> F,
        F: Future<Output = ()>,
    {
        let mut following = FollowedCase::new(self, case, notify);
        following.notify_person(false).await;
        following.wait_for_end().await
    }

    /// Waits until the case is closed, without notifying the person.
    pub async fn wait(&self, case: &Case) -> Result<Outcome> {
        FollowedCase::new(self, case, async |_: Notice| {}).wait_for_end().await
    }
}

struct FollowedCase<'f, N> {
    wire: &'f HitlHttpClient,
    clock: &'f dyn Clock,
    case: &'f Case,
    notify: N,
    terms: CaseTerms,
    reminders: Reminders,
    /// Whether a person works on the case; then no reminders are sent.
    engaged: bool,
    tag: Option<HeaderValue>,
    /// The body of the last poll, for services without `ETag`.
    said: Vec<u8>,
    /// When to poll next.
    due: Timestamp,
    /// The service asked not to be called before this time.
    not_before: Timestamp,
    /// The pause that the service last asked for.
    asked: Option<Duration>,
    /// The number of consecutive polls without a change, with a failure, or with an invalid
    /// response.
    idle: u32,
    failed: u32,
    garbled: u32,
    asked_since_end: bool,
}

impl<'f, N, F> FollowedCase<'f, N>
where
    N: FnMut(Notice) -> F,
    F: Future<Output = ()>,
{
    fn new(follower: &'f Follower, case: &'f Case, notify: N) -> Self {
        let now = follower.clock.now();
        let first = match case.retry_after {
            Some(asked) => later(now, asked),
            None => later(now, INTERVAL).min(case.expires_at),
        };
        Self {
            wire: &follower.wire,
            clock: &*follower.clock,
            case,
            notify,
            terms: CaseTerms {
                default_action: case.default_action.clone(),
                expires_at: case.expires_at,
            },
            reminders: Reminders::new(&case.reminders, now),
            engaged: false,
            tag: None,
            said: Vec::new(),
            // A case that has already expired is polled once, immediately.
            due: if case.expires_at <= now { now } else { first },
            not_before: now,
            asked: case.retry_after,
            idle: 0,
            failed: 0,
            garbled: 0,
            asked_since_end: false,
        }
    }

    async fn notify_person(&mut self, is_reminder: bool) {
        (self.notify)(Notice {
            case_id: self.case.case_id.clone(),
            text: self.case.text().to_owned(),
            review_url: self.case.review_url.clone(),
            expires_at: self.terms.expires_at,
            is_reminder,
        })
        .await;
    }

    async fn wait_for_end(&mut self) -> Result<Outcome> {
        let mut watch =
            self.case.events_url.as_ref().map(|url| CaseEventStream::new(url, self.clock.now()));
        loop {
            let now = self.clock.now();
            if self.reminders.take_due(now) && !self.engaged && now < self.terms.expires_at {
                self.notify_person(true).await;
            }
            if now >= self.due {
                let listening = watch.as_ref().is_some_and(CaseEventStream::is_open);
                if let Some(outcome) = self.poll(listening).await? {
                    return Ok(outcome);
                }
                continue;
            }
            if now >= self.last_resort() {
                return Ok(Outcome::Expired(Expired {
                    default_action: self.terms.default_action.clone(),
                    expired_at: self.terms.expires_at,
                    judged_by: JudgedBy::Clock,
                }));
            }
            let reminder = self.reminders.next().unwrap_or(Timestamp::MAX);
            let length = between(now, self.due.min(reminder).min(self.last_resort()));
            let Some(open) = &mut watch else {
                self.clock.sleep(length).await;
                continue;
            };
            match open.next(self.wire, self.clock, length).await {
                StreamUpdate::Nothing => {}
                StreamUpdate::NoStream => watch = None,
                StreamUpdate::Over => {
                    watch = None;
                    self.poll_soon();
                }
                StreamUpdate::Frame(frame) => {
                    if let Some(outcome) = self.handle_event(&frame).await {
                        return Ok(self.complete_outcome(outcome).await);
                    }
                }
            }
        }
    }

    /// When the clock decides, whatever the service reports.
    fn last_resort(&self) -> Timestamp {
        later(self.terms.expires_at, if self.asked_since_end { GRACE } else { GIVE_UP })
    }

    /// Polls as soon as the service allows it, because the case changed.
    fn poll_soon(&mut self) {
        self.due = self.clock.now().max(self.not_before);
    }

    /// Polls once; returns the outcome if the case is closed.
    async fn poll(&mut self, listening: bool) -> Result<Option<Outcome>> {
        let looked = self.fetch_status().await;
        let now = self.clock.now();
        self.asked_since_end |= now >= self.terms.expires_at;
        let pause = match looked {
            Ok(PollResult::Over(outcome)) => return Ok(Some(*outcome)),
            Ok(PollResult::Open { is_news, asked }) => {
                self.idle = if is_news { 0 } else { self.idle + 1 };
                (self.failed, self.garbled, self.asked) = (0, 0, asked);
                let own = INTERVAL.mul_f64(1.5_f64.powi(self.idle.min(8).cast_signed()));
                let own = if listening { LONGEST } else { own.min(LONGEST) };
                match asked {
                    Some(asked) if listening => {
                        asked.max(LONGEST.min(between(now, self.terms.expires_at)))
                    }
                    Some(asked) => asked,
                    // Without a pause from the service: poll at the expiry, and soon again after
                    // it.
                    None if now < self.terms.expires_at => {
                        own.min(between(now, self.terms.expires_at))
                    }
                    None => FIRST_RETRY,
                }
            }
            Err(error) => {
                self.garbled += u32::from(matches!(error, HitlError::Malformed(_)));
                let again = error.is_passing() || (1..MOST_GARBLED).contains(&self.garbled);
                if !again {
                    return Err(error);
                }
                let own =
                    FIRST_RETRY.saturating_mul(2_u32.saturating_pow(self.failed)).min(LONGEST);
                self.failed += 1;
                let asked = error.retry_after();
                self.not_before = later(now, asked.unwrap_or_default());
                own.max(asked.or(self.asked).unwrap_or_default())
            }
        };
        self.due = later(now, pause.max(Duration::from_secs(1)));
        Ok(None)
    }

    async fn fetch_status(&mut self) -> Result<PollResult> {
        let url = &self.case.poll_url;
        let mut request = self.wire.get(url).header(header::ACCEPT, "application/json");
        if let Some(tag) = &self.tag {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        let answer = self.wire.call(url, request).await?;
        let asked = retry_after(answer.headers());
        if answer.status() == 304 {
            return Ok(PollResult::Open { is_news: false, asked });
        }
        let tag = answer.headers().get(header::ETAG).cloned();
        let bytes =
            answer.bytes().await.map_err(|source| super::http_client::unreachable(url, source))?;
        let told = CaseStatus::read(&bytes, &self.case.case_id)?;
        let status = told.status.clone();
        let status =
            status.ok_or_else(|| HitlError::Malformed("the response has no status".to_owned()))?;
        if let Some(expires_at) = told.expires_at {
            self.terms.expires_at = expires_at;
        }
        if let Some(outcome) = told.outcome(&status, &self.terms)? {
            return Ok(PollResult::Over(Box::new(outcome)));
        }
        self.engaged = status == "in_progress";
        let is_news = *self.said != *bytes;
        self.said = bytes.into();
        self.tag = tag;
        Ok(PollResult::Open { is_news, asked })
    }

    /// Processes an event; returns the outcome if it closes the case.
    async fn handle_event(&mut self, frame: &Sse) -> Option<Outcome> {
        let status = frame.event.as_deref()?.strip_prefix("review.")?;
        // Polls handle events that cannot be parsed.
        let told = CaseStatus::read(frame.data.as_deref()?.as_bytes(), &self.case.case_id).ok()?;
        if status == "reminder" {
            let at = told.reminder_at.unwrap_or_else(|| self.clock.now());
            if self.reminders.take_announced(at) && !self.engaged {
                self.notify_person(true).await;
            }
            return None;
        }
        self.engaged = status == "in_progress";
        told.outcome(status, &self.terms).unwrap_or_else(|_| {
            self.poll_soon();
            None
        })
    }

    /// An event has fewer members than a poll, such as no name of the person who answered. So this
    /// polls once more, if the service allows it.
    async fn complete_outcome(&mut self, heard: Outcome) -> Outcome {
        if self.clock.now() < self.not_before {
            return heard;
        }
        match self.fetch_status().await {
            Ok(PollResult::Over(outcome)) => *outcome,
            Ok(PollResult::Open { .. }) | Err(_) => heard,
        }
    }
}

enum PollResult {
    Over(Box<Outcome>),
    Open {
        /// Whether the case may have changed.
        is_news: bool,
        /// The pause that the service asked for.
        asked: Option<Duration>,
    },
}
