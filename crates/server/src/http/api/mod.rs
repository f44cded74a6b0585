//! The native API, `/api/v1`.

mod actions;
mod ask_views;
pub(in crate::http) mod asks;
mod audit;
pub(in crate::http) mod bulk;
mod conversations;
mod dev;
mod erase;
mod extractors;
mod files;
pub(in crate::http) mod history;
mod insights;
mod json_errors;
mod keys;
pub(in crate::http) mod lists;
mod notifications;
mod openapi;
mod paging;
mod people;
mod presence;
pub(in crate::http) mod projects;
mod push;
mod receipts;
mod rules;
mod search;
mod sessions;
pub mod signing_keys;
pub(in crate::http) mod snooze;
mod streams;
pub(in crate::http) mod webhooks;

use axum::Router;
use dialects::nesting::{DEEPEST, too_deep};
use dialects::strict_json;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::http::AppState;
use crate::http::api::json_errors::explain;
use crate::http::problem::ApiProblem;

pub(super) use ask_views::AskViews;
pub(super) use asks::LongPolls;
pub use dev::DevServices;
pub(super) use presence::VIEWING_SECONDS;
pub(super) use streams::AskStreams;

pub fn routes() -> Router<AppState> {
    described().into()
}

/// The OpenAPI document of the routes.
pub fn document() -> OpenApi {
    openapi::complete(described().into_openapi())
}

/// Creates the routes of one feature.
type RoutesOf = fn() -> OpenApiRouter<AppState>;

/// Routes and document come from one list, so neither has an operation that the other lacks.
fn described() -> OpenApiRouter<AppState> {
    fn tagged(
        all: OpenApiRouter<AppState>,
        (tag, routes): (&str, RoutesOf),
    ) -> OpenApiRouter<AppState> {
        let mut routes = routes();
        openapi::tag(routes.get_openapi_mut(), tag);
        all.merge(routes)
    }
    let features: [(&str, RoutesOf); 28] = [
        ("asks", asks::routes),
        ("asks", actions::acknowledge_routes),
        ("asks", actions::routes),
        ("asks", conversations::routes),
        ("asks", asks::thread_routes),
        ("asks", bulk::routes),
        ("asks", snooze::routes),
        ("asks", presence::routes),
        ("asks", history::routes),
        ("asks", search::routes),
        ("streams", streams::routes),
        ("files", files::routes),
        ("callbacks", asks::callbacks_routes),
        ("webhooks", webhooks::routes),
        ("people", projects::routes),
        ("people", people::routes),
        ("tasks", erase::routes),
        ("keys", keys::routes),
        ("people", sessions::routes),
        ("receipts", signing_keys::routes),
        ("people", push::routes),
        ("asks", asks::messages_routes),
        ("people", notifications::routes),
        ("keys", rules::routes),
        ("receipts", receipts::routes),
        ("audit", audit::routes),
        ("insights", insights::routes),
        ("testing", dev::routes),
    ];
    features.into_iter().fold(OpenApiRouter::new(), tagged)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiProblem> {
    if too_deep(bytes) {
        let detail = format!("the body exceeds the limit of {DEEPEST} nesting levels");
        return Err(ApiProblem::new(400, "invalid-json").detail(detail));
    }
    let invalid = |error: &serde_json::Error| {
        let detail = format!("the body is not valid JSON: {error}");
        ApiProblem::new(400, "invalid-json").detail(detail)
    };
    // Serde accepts an array for a struct; this API does not.
    let object = bytes.trim_ascii_start().starts_with(b"{");
    match serde_json::from_slice(bytes) {
        // Types do not detect duplicate members inside free-form data.
        Ok(value) if object => {
            strict_json::read(bytes).map(|_| value).map_err(|error| invalid(&error))
        }
        read => match serde_json::from_slice::<Value>(bytes) {
            Ok(body) => Err(explain::<T>(&body, read.err().as_ref())),
            Err(error) => Err(invalid(&error)),
        },
    }
}
