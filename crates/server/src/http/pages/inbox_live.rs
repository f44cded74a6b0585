//! `GET /inbox/live`: what changes in a list while somebody looks at it, as server-sent events.
//!
//! A page of the inbox is a function of the store. Whenever something happened that may concern it,
//! and a few times a minute because hours pass and people look, it is made again, and what differs
//! from what the browser has is sent: rows as HTML, headings and counts. Nothing has to be replayed:
//! a browser that was away says which state it saw last, and gets what differs from that.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use bytes::Bytes;
use kernel::{AskId, HumanId, KeyId, Subject};
use serde::Serialize;
use store::{Scope, StoreError};

use super::inbox_list::Wanted;
use super::{Page, Visitor, html};
use crate::http::sse::{self, Source};
use crate::http::{App, Shared};
use crate::streams::{Held, Wire};
use crate::wake::{Topic, Waiter};
use crate::web::inbox::{Board, Tab};
use crate::web::outcome::Outcome;
use crate::web::{Frame, notices};

/// How often a quiet list is looked at: for what comes back by itself and for who looks.
const BEAT: Duration = Duration::from_secs(15);
/// What happens at once is told at once.
const GATHER: Duration = Duration::from_millis(150);
/// No page has more rows.
const MOST: usize = 200;
/// How soon a store that was away is tried again.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) async fn follow(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let key = visitor.session;
    let Ok(held) = app.streams.open(Some(Subject::Key(key)), Wire::Events) else {
        let busy = html(StatusCode::TOO_MANY_REQUESTS, notices::unavailable(&visitor.frame));
        return Ok(([(header::RETRY_AFTER, "30")], busy).into_response());
    };
    let sent = Sent::said(&pairs);
    let wanted = Wanted::of(&pairs, &visitor.human);
    let Visitor { human, frame, .. } = visitor;
    let topics = topics(&app, &wanted, key, &human.id);
    let waiter = app.gateway.wake().subscribe(topics.clone());
    let id = human.id;
    Ok(sse::respond(Live {
        app,
        key,
        id,
        frame,
        wanted,
        topics,
        waiter,
        sent,
        begun: false,
        _held: held,
    }))
}

/// What may change a list: its requests, the person, the session.
fn topics(app: &App, wanted: &Wanted, key: KeyId, id: &HumanId) -> Vec<Topic> {
    let directory = app.gateway.directory();
    let scopes = match directory.human(id) {
        Some(human) if wanted.tab == Tab::Everyone && human.admin => {
            directory.projects().map(|project| Scope::Project(project.id.clone())).collect()
        }
        Some(human) => Scope::inbox(human),
        None => Vec::new(),
    };
    let own = [Subject::Key(key), Subject::Human(id.clone())].map(Topic::Subject);
    own.into_iter().chain(scopes.into_iter().map(Topic::List)).collect()
}

/// A list that somebody looks at.
struct Live {
    app: Shared,
    key: KeyId,
    id: HumanId,
    frame: Frame,
    wanted: Wanted,
    topics: Vec<Topic>,
    waiter: Waiter,
    sent: Sent,
    begun: bool,
    _held: Held,
}

/// What the browser has.
struct Sent {
    /// Which state of the whole; `None` if it has none we know of.
    digest: Option<u64>,
    /// Its rows by key, each with its version.
    rows: BTreeMap<String, String>,
}

impl Sent {
    /// As the browser says: `seen`, the digest of the whole, and `have`, its rows with their versions.
    fn said(pairs: &[(String, String)]) -> Self {
        let value = |name: &str| pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value);
        let have = value("have").map(String::as_str).unwrap_or_default();
        let rows = have.split_whitespace().take(MOST).filter_map(|row| row.split_once('.'));
        Self {
            digest: value("seen").and_then(|text| text.parse().ok()),
            rows: rows.map(|(key, version)| (key.to_owned(), version.to_owned())).collect(),
        }
    }
}

/// What differs.
#[derive(Serialize)]
struct News {
    heading: String,
    title: String,
    counts: BTreeMap<&'static str, String>,
    /// Every row there is now, in order; with its HTML where the browser lacks it.
    rows: Vec<RowNews>,
    /// What the browser has and the list has no longer.
    gone: Vec<Gone>,
}

#[derive(Serialize)]
struct RowNews {
    key: String,
    v: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

/// A row that is no longer in the list, and why.
#[derive(Serialize)]
struct Gone {
    key: String,
    tone: &'static str,
    words: String,
}

impl Live {
    /// Waits for a reason to look. `None` when the server stops or nobody is signed in any more;
    /// `false` when it was only time to.
    async fn wait(&mut self) -> Option<bool> {
        let woken = tokio::select! {
            biased;
            () = self.app.stop.cancelled() => return None,
            () = self.waiter.changed() => true,
            () = tokio::time::sleep(BEAT) => false,
        };
        if woken {
            tokio::time::sleep(GATHER).await;
        }
        let directory = self.app.gateway.directory();
        let live = directory.key(self.key).is_some_and(|key| key.is_live(self.app.gateway.now()));
        let active = directory.human(&self.id).is_some_and(|human| human.active);
        // Other projects or groups than before are other lists.
        let topics = topics(&self.app, &self.wanted, self.key, &self.id);
        if topics != self.topics {
            self.waiter = self.app.gateway.wake().subscribe(topics.clone());
            self.topics = topics;
        }
        (live && active).then_some(woken)
    }

    /// What differs from what the browser has, if anything does.
    async fn news(&mut self) -> Result<Option<Bytes>, StoreError> {
        let directory = self.app.gateway.directory();
        let Some(human) = directory.human(&self.id) else { return Ok(None) };
        let now = self.app.inbox_now(human, &self.wanted).await?;
        let frame = Frame { now: self.app.gateway.now(), ..self.frame.clone() };
        let board = Board::new(&frame, &now.drawn(&self.wanted, human, &directory));
        let (digest, known) = (board.digest(), self.sent.digest);
        let before = std::mem::take(&mut self.sent.rows);
        self.sent.rows =
            board.rows.iter().map(|row| (row.key.clone(), row.version.clone())).collect();
        self.sent.digest = Some(digest);
        if known == Some(digest) {
            return Ok(None);
        }
        let rows = board.rows.iter().map(|row| RowNews {
            key: row.key.clone(),
            v: row.version.clone(),
            html: (before.get(&row.key) != Some(&row.version)).then(|| row.html()),
        });
        let rows: Vec<RowNews> = rows.collect();
        let mut gone = Vec::new();
        for key in before.keys().filter(|key| !self.sent.rows.contains_key(*key)) {
            gone.push(self.gone(key, &frame).await?);
        }
        let Board { heading, title, counts, .. } = board;
        let news = News { heading, title, counts: counts.into_iter().collect(), rows, gone };
        Ok(Some(sse::frame(digest, "news", &news)))
    }

    async fn gone(&self, key: &str, frame: &Frame) -> Result<Gone, StoreError> {
        let directory = self.app.gateway.directory();
        let ask = match key.parse::<AskId>() {
            Ok(id) => self.app.gateway.ask(id).await?,
            Err(_) => None,
        };
        let human = directory.human(&self.id);
        let ask = ask.filter(|ask| human.is_some_and(|human| ask.admits(human) || human.admin));
        let outcome = ask.and_then(|ask| Outcome::of(&ask, &directory, frame.now));
        let (tone, words) = match outcome {
            Some(Outcome { tone, headline, who: Some(who), .. }) => {
                (tone, format!("{headline} by {who}"))
            }
            Some(Outcome { tone, headline, .. }) => (tone, headline),
            None => ("over", "No longer in this list".to_owned()),
        };
        Ok(Gone { key: key.to_owned(), tone, words })
    }
}

impl Source for Live {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let first = !std::mem::replace(&mut self.begun, true);
            let woken = if first { true } else { self.wait().await? };
            let news = loop {
                match Box::pin(self.news()).await {
                    Ok(news) => break news,
                    Err(error) => {
                        tracing::warn!(%error, "a list cannot be read; trying again");
                        tokio::select! {
                            () = self.app.stop.cancelled() => return None,
                            () = tokio::time::sleep(AGAIN) => {}
                        }
                    }
                }
            };
            let digest = self.sent.digest.unwrap_or_default();
            let beat = || sse::frame(digest, "beat", &serde_json::Map::new());
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
