//! `GET /.well-known/hitl.json` and `GET /skill.md`: a description of this server for programs and
//! for agents. HITL appendix D and §12.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use dialects::hitl::discovery::{Kept, discovery};
use dialects::hitl::{Version, WireError};
use kernel::directory::Project;

use super::{Answer, param};
use crate::config::Retention;
use crate::http::hitl::HitlCases;

/// The page for agents. `{base}` is the server's base URL.
const SKILL: &str = include_str!("skill.md");
/// The section that is added if proofs of a person can be checked.
const PROOFS: &str = include_str!("skill-proofs.md");

pub(super) async fn document(
    State(cases): State<Arc<HitlCases>>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    let version = match param(&pairs, "spec_version") {
        None => Version::default(),
        Some(name) => Version::named(name)
            .ok_or_else(|| WireError::field("spec_version", "\"0.7\" or \"0.8\""))?,
    };
    let proofs = cases.providers.words();
    let cache = [(header::CACHE_CONTROL, "public, max-age=86400")];
    let usual = cases.config.retention;
    let other = |project: &Project| project.retention.is_some_and(|keep| keep.span() != usual);
    let unless_told = cases.gateway.directory().projects().any(other);
    let kept = Kept { days: usual.map(Retention::days), unless_told };
    let document = discovery(&cases.base(&headers), version, kept, proofs.as_deref());
    Ok((cache, Json(document)).into_response())
}

pub(super) async fn skill(State(cases): State<Arc<HitlCases>>, headers: HeaderMap) -> Response {
    let proofs = cases.providers.words().map(|words| PROOFS.replace("{proofs}", &words));
    let text = format!("{SKILL}{}", proofs.unwrap_or_default());
    let text = text.replace("{base}", &cases.base(&headers));
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, text).into_response()
}
