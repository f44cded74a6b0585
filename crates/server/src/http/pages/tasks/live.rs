//! `GET /tasks/live`: live updates of an open board, column by column.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use bytes::Bytes;
use gateway::Gateway;
use kernel::Actor;
use kernel::directory::Human;
use serde::Serialize;
use store::{Scope, StoreError};
use views::Frame;
use views::tasks::{self, Board};

use super::Wanted;
use crate::http::pages::Page;
use crate::http::pages::live::{self, Looked, Sent};
use crate::http::pages::tasks::board_columns;
use crate::http::pages::visitors::Visitors;
use crate::http::services::Streaming;
use crate::http::sse;

pub(super) async fn follow(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(streaming): State<Streaming>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let (actor, sent) = (visitor.actor.clone(), Sent::said(&pairs));
    Ok(live::follow(gateway, &streaming, visitor, Columns { pairs, actor, sent }))
}

/// A board on an open page.
struct Columns {
    pairs: Vec<(String, String)>,
    actor: Actor,
    sent: Sent,
}

/// The difference from the state that the browser has.
#[derive(Serialize)]
struct News {
    /// Whether all columns are empty.
    empty: bool,
    /// The count of the inbox: requests that tasks wait for are there.
    inbox: String,
    /// Every column in order, with its HTML where the browser lacks it.
    columns: Vec<ColumnNews>,
}

#[derive(Serialize)]
struct ColumnNews {
    key: String,
    v: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

impl Looked for Columns {
    fn scopes(&self, gateway: &Gateway, human: &Human) -> Vec<Scope> {
        Wanted::of(gateway, human, &self.pairs)
            .list
            .projects
            .into_iter()
            .map(Scope::Tasks)
            .collect()
    }

    async fn news(
        &mut self,
        gateway: &Gateway,
        human: &Human,
        frame: &Frame,
    ) -> Result<(u64, Option<Bytes>), StoreError> {
        let wanted = Wanted::of(gateway, human, &self.pairs);
        let columns = board_columns(gateway, &self.actor, &wanted).await?;
        let directory = gateway.directory();
        let (me, query) = (human, &wanted.query);
        let board = Board { me, directory: &directory, query, columns: &columns };
        let drawn = tasks::columns(frame, &board);
        let digest = tasks::digest(&drawn);
        let parts = drawn.iter().map(|column| (column.key(), column.version.clone())).collect();
        let sent = Sent { digest: Some(digest), parts };
        let before = std::mem::replace(&mut self.sent, sent);
        if before.digest == Some(digest) {
            return Ok((digest, None));
        }
        let news = News {
            empty: tasks::is_empty(&drawn),
            inbox: gateway.waiting(human).await?.n.to_string(),
            columns: drawn
                .iter()
                .map(|column| ColumnNews {
                    key: column.key(),
                    v: column.version.clone(),
                    html: (before.parts.get(&column.key()) != Some(&column.version))
                        .then(|| column.html()),
                })
                .collect(),
        };
        Ok((digest, Some(sse::frame(digest, "news", &news))))
    }
}
