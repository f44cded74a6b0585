//! Live updates of open pages, as server-sent events.
//!
//! A list is a function of the store. The server computes it again after every event that may
//! concern it, and every few seconds because time passes and viewers come and go. It sends the
//! difference from the state that the browser has. No replay is needed: a browser that reconnects
//! sends the digest of the state it has, and gets the difference from that.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gateway::streams::{ConnectionKind, OpenStream};
use gateway::waiters::{Waiter, WakeTopic};
use gateway::{DATABASE_USER, Gateway};
use kernel::directory::Human;
use kernel::{HumanId, KeyId, Subject};
use store::{ListScope, StoreError};
use tokio_util::sync::CancellationToken;
use views::{PageContext, message_page};

use super::{Visitor, html};
use crate::http::services::Streaming;
use crate::http::sse::{self, SseSource};

/// How often an idle list is computed again: snoozed requests return and viewers
/// change without an event.
const REFRESH_INTERVAL: Duration = Duration::from_secs(15);
/// Events within this time are sent together.
const BURST_WAIT: Duration = Duration::from_millis(150);
/// The most parts that a page has.
const MAX_PARTS: usize = 200;
/// The delay before a failed read of the store is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A list on an open page.
pub(super) trait LiveList: Send + Sync + 'static {
    /// The scopes whose events may change the list. Viewers and the session are
    /// watched in any case.
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<ListScope>;

    /// The digest of the current state, and the difference from the state that the browser has, if
    /// there is one.
    fn update(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &PageContext,
    ) -> impl Future<Output = Result<(u64, Option<Bytes>), StoreError>> + Send;
}

/// The state that the browser has.
#[derive(Debug, Default)]
pub(super) struct SentState {
    /// The digest of the whole list; `None` if the browser has no known state.
    pub(super) digest: Option<u64>,
    /// The parts of the list by name, each with its version.
    pub(super) parts: BTreeMap<String, String>,
}

impl SentState {
    /// Reads the state from the query: `seen` is the digest of the whole, `have` the
    /// parts with their versions.
    pub(super) fn from_query(pairs: &[(String, String)]) -> Self {
        let value = |name: &str| pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value);
        let have = value("have").map(String::as_str).unwrap_or_default();
        let parts = have.split_whitespace().take(MAX_PARTS).filter_map(|part| part.split_once('.'));
        Self {
            digest: value("seen").and_then(|text| text.parse().ok()),
            parts: parts.map(|(name, version)| (name.to_owned(), version.to_owned())).collect(),
        }
    }
}

/// Streams the changes of a list to the visitor.
pub(super) fn follow(
    gateway: Gateway,
    streaming: &Streaming,
    visitor: Visitor,
    looked: impl LiveList,
) -> Response {
    let key = visitor.session;
    let Ok(held) =
        streaming.streams.open_for(&gateway, Some(Subject::Key(key)), ConnectionKind::Events)
    else {
        let busy = html(StatusCode::TOO_MANY_REQUESTS, message_page::unavailable(&visitor.frame));
        return ([(header::RETRY_AFTER, "30")], busy).into_response();
    };
    let Visitor { human, frame, .. } = visitor;
    let topics = topics(&gateway, &looked, key, &human.id);
    let waiter = gateway.wake().subscribe(topics.clone());
    let stop = streaming.stop.clone();
    let (id, digest, begun) = (human.id, 0, false);
    sse::respond(LiveStream {
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

/// The topics that may change the list: its content, the person and the session.
fn topics(gateway: &Gateway, looked: &impl LiveList, key: KeyId, id: &HumanId) -> Vec<WakeTopic> {
    let directory = gateway.directory();
    let scopes = directory.human(id).map(|human| looked.scopes(gateway, human)).unwrap_or_default();
    let own = [Subject::Key(key), Subject::Human(id.clone())].map(WakeTopic::Subject);
    own.into_iter().chain(scopes.into_iter().map(WakeTopic::List)).collect()
}

struct LiveStream<L> {
    gateway: Gateway,
    stop: CancellationToken,
    key: KeyId,
    id: HumanId,
    frame: PageContext,
    looked: L,
    topics: Vec<WakeTopic>,
    waiter: Waiter,
    digest: u64,
    begun: bool,
    _held: OpenStream,
}

impl<L: LiveList> LiveStream<L> {
    /// Waits for the next reason to compute the list. Returns `true` after an event and `false`
    /// after a timeout. Returns `None` when the server stops or the session ends.
    async fn wait(&mut self) -> Option<bool> {
        let woken = tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            () = self.waiter.changed() => true,
            () = tokio::time::sleep(REFRESH_INTERVAL) => false,
        };
        if woken {
            tokio::time::sleep(BURST_WAIT).await;
        }
        let directory = self.gateway.directory();
        let live = directory.key(self.key).is_some_and(|key| key.is_live(self.gateway.now()));
        let active = directory.human(&self.id).is_some_and(|human| human.active);
        // Other projects or groups mean other lists, so the subscription changes with them.
        let topics = topics(&self.gateway, &self.looked, self.key, &self.id);
        if topics != self.topics {
            self.waiter = self.gateway.wake().subscribe(topics.clone());
            self.topics = topics;
        }
        (live && active).then_some(woken)
    }

    /// The difference from the state that the browser has, if there is one.
    async fn news(&mut self) -> Result<Option<Bytes>, StoreError> {
        let directory = self.gateway.directory();
        let Some(human) = directory.human(&self.id) else { return Ok(None) };
        let frame = PageContext { now: self.gateway.now(), ..self.frame.clone() };
        let (digest, news) = self.looked.update(&self.gateway, human, &frame).await?;
        self.digest = digest;
        Ok(news)
    }
}

impl<L: LiveList> SseSource for LiveStream<L> {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let first = !std::mem::replace(&mut self.begun, true);
            let woken = if first { true } else { self.wait().await? };
            let news = loop {
                match Box::pin(self.news()).await {
                    Ok(news) => break news,
                    Err(error) => {
                        self.gateway.database().failed(DATABASE_USER, &error);
                        tokio::select! {
                            () = self.stop.cancelled() => return None,
                            () = tokio::time::sleep(RETRY_DELAY) => {}
                        }
                    }
                }
            };
            let beat = || sse::frame(self.digest, "beat", &serde_json::Map::new());
            match news {
                Some(news) if first => return Some(sse::first(&news)),
                Some(news) => return Some(news),
                None if first => return Some(sse::first(&beat())),
                // Scripts do not receive comments, and the page must see that the connection is
                // alive.
                None if !woken => return Some(beat()),
                None => {}
            }
        }
    }
}
