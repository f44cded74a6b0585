//! `GET /inbox/live`: live updates of an open list of requests: rows as HTML, headings and counts.

use std::collections::BTreeMap;

use axum::extract::{Query, State};
use bytes::Bytes;
use gateway::Gateway;
use kernel::AskId;
use kernel::directory::Human;
use serde::Serialize;
use store::{Scope, StoreError};
use views::Frame;
use views::answer::outcome::Outcome;
use views::inbox::{Board, Tab};

use super::list::Wanted;
use crate::http::pages::Page;
use crate::http::pages::inbox::inbox_now;
use crate::http::pages::live::{self, Looked, Sent};
use crate::http::pages::visitors::Visitor;
use crate::http::services::Streaming;
use crate::http::sse;

pub(super) async fn follow(
    State(gateway): State<Gateway>,
    State(streaming): State<Streaming>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> Page {
    let wanted = Wanted::of(&pairs, &visitor.human);
    Ok(live::follow(gateway, &streaming, visitor, Requests { wanted, sent: Sent::said(&pairs) }))
}

/// A list of requests on an open page.
struct Requests {
    wanted: Wanted,
    sent: Sent,
}

/// The difference from the state that the browser has.
#[derive(Serialize)]
struct News {
    heading: String,
    title: String,
    counts: BTreeMap<&'static str, String>,
    /// Every row of the list now, in order, with its HTML where the browser lacks it.
    rows: Vec<RowNews>,
    /// The rows that the browser has and the list no longer has.
    gone: Vec<Gone>,
}

#[derive(Serialize)]
struct RowNews {
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
struct Gone {
    key: String,
    tone: &'static str,
    words: String,
}

impl Looked for Requests {
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<Scope> {
        if self.wanted.tab != Tab::Everyone || !human.admin {
            return Scope::inbox(human);
        }
        let directory = gateway.directory();
        directory.projects().map(|project| Scope::Project(project.id.clone())).collect()
    }

    async fn news(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &Frame,
    ) -> Result<(u64, Option<Bytes>), StoreError> {
        let directory = gateway.directory();
        let now = inbox_now(gateway, human, &self.wanted).await?;
        let board = Board::new(frame, &now.drawn(&self.wanted, human, &directory));
        let digest = board.digest();
        let rows = board.rows.iter().map(|row| (row.key.clone(), row.version.clone())).collect();
        let sent = Sent { digest: Some(digest), parts: rows };
        let before = std::mem::replace(&mut self.sent, sent);
        if before.digest == Some(digest) {
            return Ok((digest, None));
        }
        let rows = board.rows.iter().map(|row| RowNews {
            key: row.key.clone(),
            v: row.version.clone(),
            soon: row.expiring,
            html: (before.parts.get(&row.key) != Some(&row.version)).then(|| row.html()),
        });
        let rows: Vec<RowNews> = rows.collect();
        let mut gone = Vec::new();
        for key in before.parts.keys().filter(|key| !self.sent.parts.contains_key(*key)) {
            gone.push(gone_from(gateway, key, human, frame).await?);
        }
        let Board { heading, title, counts, .. } = board;
        let news = News { heading, title, counts: counts.into_iter().collect(), rows, gone };
        Ok((digest, Some(sse::frame(digest, "news", &news))))
    }
}

/// Why a row is no longer in the list.
async fn gone_from(
    gateway: &Gateway,
    key: &str,
    human: &Human,
    frame: &Frame,
) -> Result<Gone, StoreError> {
    let directory = gateway.directory();
    let ask = match key.parse::<AskId>() {
        Ok(id) => gateway.ask(id).await?,
        Err(_) => None,
    };
    let ask = ask.filter(|ask| ask.admits(human) || human.admin);
    let mine = ask.as_ref().is_some_and(|ask| ask.held_by() == Some(&human.id));
    let outcome = ask.and_then(|ask| Outcome::of(&ask, &directory, frame.now));
    let (tone, words) = match outcome {
        Some(Outcome { tone, headline, who: Some(who), .. }) => {
            (tone, format!("{headline} by {who}"))
        }
        Some(Outcome { tone, headline, .. }) => (tone, headline),
        None if mine => ("over", "You have just answered it".to_owned()),
        None => ("over", "No longer in this list".to_owned()),
    };
    Ok(Gone { key: key.to_owned(), tone, words })
}
