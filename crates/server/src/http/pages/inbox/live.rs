//! `GET /inbox/live`: live updates of an open list of requests: rows as HTML, headings and counts.

use std::collections::BTreeMap;

use axum::extract::{Query, State};
use bytes::Bytes;
use gateway::Gateway;
use kernel::AskId;
use kernel::directory::Human;
use serde::Serialize;
use store::{ListScope, StoreError};
use views::answer::outcome::OutcomeView;
use views::inbox::{InboxList, Tab};
use views::{PageContext, t};

use super::list::InboxFilter;
use crate::http::pages::PageResult;
use crate::http::pages::inbox::inbox_state;
use crate::http::pages::live::{self, LiveList, SentState};
use crate::http::pages::visitor::Visitor;
use crate::http::services::Streaming;
use crate::http::sse;

pub(super) async fn follow(
    State(gateway): State<Gateway>,
    State(streaming): State<Streaming>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let wanted = InboxFilter::from_query(&pairs, &visitor.human);
    Ok(live::follow(
        gateway,
        &streaming,
        visitor,
        LiveInbox { wanted, sent: SentState::from_query(&pairs) },
    ))
}

/// A list of requests on an open page.
struct LiveInbox {
    wanted: InboxFilter,
    sent: SentState,
}

/// The difference from the state that the browser has.
#[derive(Serialize)]
struct InboxUpdate {
    heading: String,
    title: String,
    counts: BTreeMap<&'static str, String>,
    /// Every row of the list now, in order, with its HTML where the browser lacks it.
    rows: Vec<RowUpdate>,
    /// The rows that the browser has and the list no longer has.
    gone: Vec<RemovedRow>,
}

#[derive(Serialize)]
struct RowUpdate {
    key: String,
    v: String,
    /// Whether it expires soon: the browser then moves the row to the top.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    soon: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

/// A row that is no longer in the list, and why.
#[derive(Serialize)]
struct RemovedRow {
    key: String,
    tone: &'static str,
    words: String,
}

impl LiveList for LiveInbox {
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<ListScope> {
        if self.wanted.tab != Tab::Everyone || !human.admin {
            return ListScope::inbox(human);
        }
        let directory = gateway.directory();
        directory.projects().map(|project| ListScope::Project(project.id.clone())).collect()
    }

    async fn update(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &PageContext,
    ) -> Result<(u64, Option<Bytes>), StoreError> {
        let directory = gateway.directory();
        let now = inbox_state(gateway, human, &self.wanted).await?;
        let board = InboxList::new(frame, &now.page_view(&self.wanted, human, &directory));
        let digest = board.digest();
        let rows = board.rows.iter().map(|row| (row.key.clone(), row.version.clone())).collect();
        let sent = SentState { digest: Some(digest), parts: rows };
        let before = std::mem::replace(&mut self.sent, sent);
        if before.digest == Some(digest) {
            return Ok((digest, None));
        }
        let rows = board.rows.iter().map(|row| RowUpdate {
            key: row.key.clone(),
            v: row.version.clone(),
            soon: row.expiring,
            html: (before.parts.get(&row.key) != Some(&row.version)).then(|| row.html()),
        });
        let rows: Vec<RowUpdate> = rows.collect();
        let mut gone = Vec::new();
        for key in before.parts.keys().filter(|key| !self.sent.parts.contains_key(*key)) {
            gone.push(gone_from(gateway, key, human, frame).await?);
        }
        let InboxList { heading, title, counts, .. } = board;
        let news = InboxUpdate { heading, title, counts: counts.into_iter().collect(), rows, gone };
        Ok((digest, Some(sse::frame(digest, "news", &news))))
    }
}

/// Why a row is no longer in the list.
async fn gone_from(
    gateway: &Gateway,
    key: &str,
    human: &Human,
    frame: &PageContext,
) -> Result<RemovedRow, StoreError> {
    let directory = gateway.directory();
    let ask = match key.parse::<AskId>() {
        Ok(id) => gateway.ask(id).await?,
        Err(_) => None,
    };
    let ask = ask.filter(|ask| ask.may_be_answered_by(human) || human.admin);
    let mine = ask.as_ref().is_some_and(|ask| ask.held_by() == Some(&human.id));
    let outcome = ask.and_then(|ask| OutcomeView::of(&ask, &directory, frame.now));
    let (tone, words) = match outcome {
        Some(OutcomeView { tone, headline, who: Some(who), .. }) => {
            (tone, t!("card-outcome-by", outcome = headline, who = who))
        }
        Some(OutcomeView { tone, headline, .. }) => (tone, headline),
        None if mine => ("over", t!("list-just-answered")),
        None => ("over", t!("list-gone")),
    };
    Ok(RemovedRow { key: key.to_owned(), tone, words })
}
