//! Helpers of the directory's routes: who may read it, ids, lists in pages.

use std::sync::Arc;

use axum::Json;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kernel::directory::Directory;
use kernel::{Actor, Refusal};
use serde::Serialize;

use crate::http::api::paging::{Params, seal};
use crate::http::callers::Callers;
use crate::http::problem::Problem;

/// The query parameters of a request.
pub(super) type Pairs = Query<Vec<(String, String)>>;

/// The id in the path. A body with another id is refused.
pub(super) fn named<T: std::str::FromStr<Err = kernel::ids::BadId> + PartialEq>(
    id: &str,
    inside: Option<&T>,
) -> Result<T, Problem> {
    let bad = |expected: &str| {
        let detail = format!("id: expected {expected}");
        Problem::new(422, "invalid-field").detail(detail).field("id", expected)
    };
    let id = id.parse().map_err(|error: kernel::ids::BadId| bad(error.expected))?;
    if inside.is_some_and(|inside| *inside != id) {
        return Err(bad("the name in the address"));
    }
    Ok(id)
}

/// The id in the body, for paths that have none.
pub(super) fn given_id<T>(id: Option<T>) -> Result<T, Problem> {
    id.ok_or_else(|| {
        let detail = "id: expected the id of what is added; it is missing";
        Problem::new(422, "invalid-field").detail(detail).field("id", "an id")
    })
}

/// The item as JSON, or `not-found`.
pub(super) fn one<T: Serialize>(found: Option<T>, what: &'static str) -> Result<Response, Problem> {
    Ok(Json(found.ok_or(Refusal::NotFound { what })?).into_response())
}

/// The saved item: 201 if it is new, 200 otherwise.
pub(super) fn saved<T: Serialize>(
    new: bool,
    kept: Option<T>,
    what: &'static str,
) -> Result<Response, Problem> {
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, one(kept, what)?).into_response())
}

/// A paged list of items in the order of their ids.
pub(super) struct Listing {
    params: Params,
    name: &'static str,
    limit: usize,
}

impl Listing {
    pub(super) fn read(Query(pairs): Pairs, name: &'static str) -> Result<Self, Problem> {
        let params = Params::new(pairs, &["limit", "cursor"])?;
        let limit = params.limit()?;
        Ok(Self { params, name, limit })
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The id after which the page begins.
    pub(super) fn after<T: std::str::FromStr>(&self) -> Result<Option<T>, Problem> {
        self.params.cursor(self.name, |place| std::str::from_utf8(place).ok()?.parse().ok())
    }

    /// One page of the items found.
    pub(super) fn show<T, P: Serialize>(
        &self,
        found: impl Iterator<Item = T>,
        id: fn(&T) -> &str,
        page: fn(Vec<T>, Option<String>) -> P,
    ) -> Response {
        let mut items: Vec<T> = found.take(self.limit + 1).collect();
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let last = items.last().filter(|_| more).map(|last| id(last).to_owned());
        self.page(items, last, page)
    }

    /// A page whose items are already selected. `last` is the id after which the next page begins.
    pub(super) fn page<T, P: Serialize>(
        &self,
        items: Vec<T>,
        last: Option<String>,
        page: fn(Vec<T>, Option<String>) -> P,
    ) -> Response {
        let next = last.map(|last| seal(self.name, last.as_bytes()));
        let path = format!("/api/v1/{}", self.name);
        self.params.page(&path, &page(items, next.clone()), next.as_deref())
    }
}

impl Callers {
    /// The directory and the caller, if the caller is an administrator.
    pub(super) async fn administrator(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Arc<Directory>, Actor), Problem> {
        let actor = self.person(headers).await?;
        let directory = self.directory();
        if directory.administers(&actor) {
            return Ok((directory, actor));
        }
        Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into())
    }
}
