//! `GET /review/{case_id}/end?token=…`: how the request ends, told when it does, so that a page that is
//! still open can say so. Server-sent events, one of them.
//!
//! Whoever is signed in watches the page of a request the same way, and hears who else looks and who
//! has claimed it.
//!
//! What pages watch is counted apart from what agents follow: neither uses up the other's share.

use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dialects::hitl;
use gateway::REQUESTS;
use gateway::auth::Lane;
use gateway::streams::{Held, Wire};
use gateway::wake::Waiter;
use kernel::ask::Purpose;
use kernel::{Ask, AskId, HumanId, Subject};

use super::request_acts::Looking;
use crate::http::hitl::shown;
use crate::http::name::Named;
use crate::http::pass::{Pass, TokenPass};
use crate::http::sse::{self, HEARTBEAT, Source};
use crate::http::{App, Shared};
use views::request::{answering, claim, related};
use views::review;

/// How often an idle stream shows that it lives.
const BEAT: Duration = Duration::from_secs(15);
/// How soon a store that was away is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// What a stream begins with, so that the browser knows at once that it was let in.
const BEGIN: Bytes = Bytes::from_static(b": watching\nretry: 5000\n\n");

pub(super) async fn watch(
    State(app): State<Shared>,
    Named(case_id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, StatusCode> {
    let id = hitl::ask_id(&case_id).ok_or(StatusCode::UNAUTHORIZED)?;
    let ask = app.gateway.ask(id).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let ask = ask.ok_or(StatusCode::UNAUTHORIZED)?;
    let token = shown(&pairs, &headers, &case_id);
    let token = token.filter(|token| app.is_token(&ask, Purpose::Review, token));
    let pass = TokenPass::new(&ask, Purpose::Review, token.ok_or(StatusCode::UNAUTHORIZED)?);
    // It is read again after the subscription, so an end in between is not missed.
    let waiter = app.gateway.wake().subscribe(pass.topics());
    app.authenticator.count(id, Lane::Watch).map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let held = app.watchers.open(Some(Subject::Ask(id)), Wire::Events);
    let held = held.map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let returned = headers.contains_key("last-event-id");
    let by = Watcher::Link(pass);
    let watched = Watched::new(app, id, by, waiter, held).showing(None, returned);
    Ok(sse::respond(watched).into_response())
}

/// Who watches, for as long as they may.
pub(super) enum Watcher {
    /// Whoever holds a link: nobody we know, and not told who else looks.
    Link(TokenPass),
    /// Somebody who is signed in.
    Person(HumanId, Pass),
}

impl Watcher {
    fn me(&self) -> Option<&HumanId> {
        match self {
            Self::Link(_) => None,
            Self::Person(id, _) => Some(id),
        }
    }

    fn holds(&self, app: &App, ask: &Ask) -> bool {
        match self {
            Self::Link(pass) => pass.holds(app, ask),
            Self::Person(_, pass) => pass.holds(app),
        }
    }
}

/// One request until it is over.
pub(super) struct Watched {
    app: Shared,
    id: AskId,
    by: Watcher,
    waiter: Waiter,
    /// Who had claimed the request when the browser was last told, or on the page it shows.
    holder: Option<HumanId>,
    /// Whether the browser is told in any case: it was away, and may have missed something.
    returned: bool,
    /// Whose held answer the browser was last told of; nothing before it was told anything.
    #[expect(clippy::option_option, reason = "not told yet, told that nobody does, told who does")]
    answering: Option<Option<HumanId>>,
    begun: bool,
    told: bool,
    _held: Held,
}

impl Watched {
    /// From the moment it was subscribed to.
    pub(super) fn new(app: Shared, id: AskId, by: Watcher, waiter: Waiter, held: Held) -> Self {
        let (holder, returned, begun, told) = (None, false, false, false);
        let answering = Some(None);
        Self { app, id, by, waiter, holder, returned, answering, begun, told, _held: held }
    }

    /// For a page that shows this claim; `returned` if the browser was connected before.
    #[must_use]
    pub(super) fn showing(self, holder: Option<HumanId>, returned: bool) -> Self {
        let answering = (!returned).then_some(None);
        Self { holder, returned, answering, ..self }
    }

    /// What the page is told of a held answer, if that has changed.
    fn answering(&mut self, ask: &Ask) -> Option<Bytes> {
        let by = ask.held_by().cloned();
        if self.answering.as_ref() == Some(&by) {
            return None;
        }
        let before = self.answering.replace(by).flatten().is_some();
        let directory = self.app.gateway.directory();
        let news = answering::news(ask, self.by.me(), &directory, before);
        Some(sse::frame(ask.head.seq, "answering", &news))
    }

    /// What the page is told of a claim, if it shows another one.
    fn claimed(&mut self, ask: &Ask) -> Option<Bytes> {
        let me = self.by.me()?.clone();
        let holder = ask.claim.as_ref().map(|claim| claim.human.clone());
        let returned = std::mem::replace(&mut self.returned, false);
        if holder == self.holder && !returned {
            return None;
        }
        self.holder = holder;
        let directory = self.app.gateway.directory();
        let told = claim::told(ask, directory.human(&me)?, &directory);
        Some(sse::frame(ask.head.seq, "claimed", &told))
    }
}

/// What an idle stream shows: who else looks, or only that it lives.
async fn beat(app: &App, me: Option<&HumanId>, id: AskId) -> Bytes {
    let Some(me) = me else { return HEARTBEAT };
    match app.others_looking(me, id).await {
        Ok(others) => {
            let text = related::looking(&others, &app.gateway.directory());
            sse::frame(0, "looking", &Looking { text })
        }
        Err(_) => HEARTBEAT,
    }
}

impl Source for Watched {
    async fn next(&mut self) -> Option<Bytes> {
        if self.told {
            return None;
        }
        if !self.begun {
            self.begun = true;
            return Some(BEGIN);
        }
        loop {
            let gateway = &self.app.gateway;
            match Box::pin(gateway.ask(self.id)).await {
                Ok(ask) => {
                    let ask = ask.filter(|ask| self.by.holds(&self.app, ask))?;
                    if let Some(ended) = review::ended(&ask, &gateway.directory(), gateway.now()) {
                        self.told = true;
                        return Some(sse::frame(ask.head.seq, "ended", &ended));
                    }
                    if let Some(claimed) = self.claimed(&ask) {
                        return Some(claimed);
                    }
                    if let Some(answering) = self.answering(&ask) {
                        return Some(answering);
                    }
                }
                Err(error) => {
                    self.app.gateway.database().failed(REQUESTS, &error);
                    tokio::select! {
                        () = self.app.stop.cancelled() => return None,
                        () = tokio::time::sleep(AGAIN) => continue,
                    }
                }
            }
            tokio::select! {
                biased;
                () = self.app.stop.cancelled() => return None,
                () = self.waiter.changed() => {}
                () = tokio::time::sleep(BEAT) => {
                    return Some(beat(&self.app, self.by.me(), self.id).await);
                }
            }
        }
    }
}
