//! Asks as the native API shows them.

use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dialects::native::{AskPage, AskView, Viewer};
use gateway::receipts::Receipts;
use gateway::secrets::ServerSecrets;
use kernel::{Actor, Ask};
use store::{AskListPage, StoreError};

use crate::config::Config;
use crate::http::api::paging::seal;
use crate::http::problem::ApiProblem;
use crate::http::{conditional_headers, envelope_headers};

/// Renders asks for the native API.
pub struct AskViews {
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) receipts: Receipts,
    pub(in crate::http) secrets: Arc<ServerSecrets>,
}

impl AskViews {
    /// The response for one ask, with its `ETag`.
    pub(super) async fn shown(&self, ask: &Ask, actor: &Actor) -> Result<Response, ApiProblem> {
        let mut answer = Json(self.view(ask, actor).await?).into_response();
        if let Ok(tag) = HeaderValue::from_str(&conditional_headers::tag(ask)) {
            answer.headers_mut().insert(header::ETAG, tag);
        }
        envelope_headers::write(ask, answer.headers_mut());
        Ok(answer)
    }

    /// The kind of viewer an actor is: agents see less about people than people do.
    pub(super) fn viewer(&self, actor: &Actor) -> Viewer<'_> {
        match actor {
            Actor::Agent { .. } | Actor::System => {
                Viewer::Agent(self.secrets.evidence.reveal().as_bytes())
            }
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. } => Viewer::Person,
        }
    }

    /// An ask as this actor sees it.
    pub(super) async fn view<'a>(
        &self,
        ask: &'a Ask,
        actor: &Actor,
    ) -> Result<AskView<'a>, StoreError> {
        let receipt = self.receipts.receipt_for(ask, actor).await?;
        Ok(AskView::of(ask, self.viewer(actor), self.config.public_url.as_str(), receipt))
    }

    /// Several asks as this actor sees them.
    pub(super) async fn views<'a>(
        &self,
        asks: &'a [Ask],
        actor: &Actor,
    ) -> Result<Vec<AskView<'a>>, StoreError> {
        let mut views = Vec::with_capacity(asks.len());
        for ask in asks {
            views.push(self.view(ask, actor).await?);
        }
        Ok(views)
    }

    /// The response for a page, with a `Link` to the next page.
    pub(super) async fn shown_page<'a>(
        &self,
        page: &'a AskListPage,
        name: &str,
        actor: &Actor,
    ) -> Result<AskPage<'a>, StoreError> {
        let next = page.next.map(|at| {
            let place = [&[at.rank][..], &at.ask.ulid().to_bytes()].concat();
            seal(name, &place)
        });
        Ok(AskPage { asks: self.views(&page.asks, actor).await?, next })
    }
}
