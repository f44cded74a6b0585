//! What changes on a page while somebody looks at it, as server-sent events.
//!
//! A list is a function of the store. Whenever something happened that may concern it, and a few
//! times a minute because hours pass and people look, it is made again, and what differs from what the
//! browser has is sent. Nothing has to be replayed: a browser that was away says which state it saw
//! last, and gets what differs from that.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gateway::streams::{Held, Wire};
use gateway::wake::{Topic, Waiter};
use gateway::{Gateway, REQUESTS};
use kernel::directory::Human;
use kernel::{HumanId, KeyId, Subject};
use store::{Scope, StoreError};
use tokio_util::sync::CancellationToken;
use views::{Frame, message_page};

use super::{Visitor, html};
use crate::http::services::Streaming;
use crate::http::sse::{self, Source};

/// How often a quiet list is looked at: for what comes back by itself and for who looks.
const BEAT: Duration = Duration::from_secs(15);
/// What happens at once is told at once.
const GATHER: Duration = Duration::from_millis(150);
/// No page has more parts.
const MOST: usize = 200;
/// How soon a store that was away is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// A list somebody looks at.
pub(super) trait Looked: Send + Sync + 'static {
    /// What may change it, beside who looks and how they are signed in.
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<Scope>;

    /// Which state it is in, and what differs from what the browser has, if anything does.
    fn news(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &Frame,
    ) -> impl Future<Output = Result<(u64, Option<Bytes>), StoreError>> + Send;
}

/// What the browser has.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// Which state of the whole; `None` if it has none we know of.
    pub(super) digest: Option<u64>,
    /// Its parts by name, each with its version.
    pub(super) parts: BTreeMap<String, String>,
}

impl Sent {
    /// As the browser says: `seen`, the digest of the whole, and `have`, its parts with their versions.
    pub(super) fn said(pairs: &[(String, String)]) -> Self {
        let value = |name: &str| pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value);
        let have = value("have").map(String::as_str).unwrap_or_default();
        let parts = have.split_whitespace().take(MOST).filter_map(|part| part.split_once('.'));
        Self {
            digest: value("seen").and_then(|text| text.parse().ok()),
            parts: parts.map(|(name, version)| (name.to_owned(), version.to_owned())).collect(),
        }
    }
}

/// Follows a list for whoever looks at it.
pub(super) fn follow(
    gateway: Gateway,
    streaming: &Streaming,
    visitor: Visitor,
    looked: impl Looked,
) -> Response {
    let key = visitor.session;
    let Ok(held) = streaming.streams.open_for(&gateway, Some(Subject::Key(key)), Wire::Events)
    else {
        let busy = html(StatusCode::TOO_MANY_REQUESTS, message_page::unavailable(&visitor.frame));
        return ([(header::RETRY_AFTER, "30")], busy).into_response();
    };
    let Visitor { human, frame, .. } = visitor;
    let topics = topics(&gateway, &looked, key, &human.id);
    let waiter = gateway.wake().subscribe(topics.clone());
    let stop = streaming.stop.clone();
    let (id, digest, begun) = (human.id, 0, false);
    sse::respond(Live {
        gateway,
        stop,
        key,
        id,
        frame,
        looked,
        topics,
        waiter,
        digest,
        begun,
        _held: held,
    })
}

/// What may change a list: what stands in it, the person, the session.
fn topics(gateway: &Gateway, looked: &impl Looked, key: KeyId, id: &HumanId) -> Vec<Topic> {
    let directory = gateway.directory();
    let scopes = directory.human(id).map(|human| looked.scopes(gateway, human)).unwrap_or_default();
    let own = [Subject::Key(key), Subject::Human(id.clone())].map(Topic::Subject);
    own.into_iter().chain(scopes.into_iter().map(Topic::List)).collect()
}

struct Live<L> {
    gateway: Gateway,
    stop: CancellationToken,
    key: KeyId,
    id: HumanId,
    frame: Frame,
    looked: L,
    topics: Vec<Topic>,
    waiter: Waiter,
    digest: u64,
    begun: bool,
    _held: Held,
}

impl<L: Looked> Live<L> {
    /// Waits for a reason to look. `None` when the server stops or nobody is signed in any more;
    /// `false` when it was only time to.
    async fn wait(&mut self) -> Option<bool> {
        let woken = tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            () = self.waiter.changed() => true,
            () = tokio::time::sleep(BEAT) => false,
        };
        if woken {
            tokio::time::sleep(GATHER).await;
        }
        let directory = self.gateway.directory();
        let live = directory.key(self.key).is_some_and(|key| key.is_live(self.gateway.now()));
        let active = directory.human(&self.id).is_some_and(|human| human.active);
        // Other projects or groups than before are other lists.
        let topics = topics(&self.gateway, &self.looked, self.key, &self.id);
        if topics != self.topics {
            self.waiter = self.gateway.wake().subscribe(topics.clone());
            self.topics = topics;
        }
        (live && active).then_some(woken)
    }

    /// What differs from what the browser has, if anything does.
    async fn news(&mut self) -> Result<Option<Bytes>, StoreError> {
        let directory = self.gateway.directory();
        let Some(human) = directory.human(&self.id) else { return Ok(None) };
        let frame = Frame { now: self.gateway.now(), ..self.frame.clone() };
        let (digest, news) = self.looked.news(&self.gateway, human, &frame).await?;
        self.digest = digest;
        Ok(news)
    }
}

impl<L: Looked> Source for Live<L> {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let first = !std::mem::replace(&mut self.begun, true);
            let woken = if first { true } else { self.wait().await? };
            let news = loop {
                match Box::pin(self.news()).await {
                    Ok(news) => break news,
                    Err(error) => {
                        self.gateway.database().failed(REQUESTS, &error);
                        tokio::select! {
                            () = self.stop.cancelled() => return None,
                            () = tokio::time::sleep(AGAIN) => {}
                        }
                    }
                }
            };
            let beat = || sse::frame(self.digest, "beat", &serde_json::Map::new());
            match news {
                Some(news) if first => return Some(sse::first(&news)),
                Some(news) => return Some(news),
                None if first => return Some(sse::first(&beat())),
                // Comments are not heard by scripts, and a page should know that we are there.
                None if !woken => return Some(beat()),
                None => {}
            }
        }
    }
}
