//! The documentation, for everyone and without a credential: `GET /docs` and the pages below it,
//! their Markdown, `/docs/search`, the API reference at `/docs/api`, the pages of the error codes
//! below `/errors`, `/llms.txt`, `/llms-full.txt` and `/openapi.json`.
//!
//! All of it is compiled into the binary, and contains nothing about this installation but its
//! public URL. No path is looked up in a file system.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use gateway::Gateway;
use gateway::ids::random;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tower_http::compression::CompressionLayer;
use views::PageContext;
use views::docs::library::{self, Guide, library};
use views::docs::{self, llms};
use views::site::{headers, vendor};

use crate::config::Config;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;
use crate::http::{AppState, api, pages};

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/openapi.json", get(document))
        .route("/docs", get(landing))
        .route("/docs.md", get(landing_markdown))
        .route("/docs/search", get(search))
        .route("/docs/api", get(api_reference))
        .route("/docs/{*page}", get(below))
        .route("/errors", get(error_codes))
        .route("/errors.md", get(error_codes_markdown))
        .route("/errors/{code}", get(error_code))
        .route("/llms.txt", get(llms_index))
        .route("/llms-full.txt", get(llms_full))
        // These pages hold no token that could be guessed from the compressed size.
        .layer(CompressionLayer::new())
}

/// What handlers of these pages share.
#[derive(axum::extract::FromRequestParts)]
#[from_request(state(AppState))]
struct DocsRequest {
    #[from_request(via(State))]
    gateway: Gateway,
    #[from_request(via(State))]
    config: Arc<Config>,
    headers: HeaderMap,
}

impl DocsRequest {
    fn frame(&self) -> PageContext {
        PageContext::anonymous(self.gateway.now())
    }

    /// The address that absolute links begin with.
    fn public_url(&self) -> &str {
        self.config.public_url.as_str().trim_end_matches('/')
    }

    /// Something that changes only with the binary. Callers that still have it get a 304.
    fn cached(&self, kind: &'static str, body: impl Into<Bytes>) -> Response {
        let body = body.into();
        let mut tag = hex::encode(Sha256::digest(&body));
        tag.truncate(16);
        // Weak, because the bytes depend on the compression.
        let tag = format!("W/\"{tag}\"");
        let known = self.headers.get_all(header::IF_NONE_MATCH).iter();
        let known =
            known.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let is_known = known.map(opaque).any(|known| known == "*" || known == opaque(&tag));
        let mut answer =
            if is_known { StatusCode::NOT_MODIFIED.into_response() } else { body.into_response() };
        let headers = answer.headers_mut();
        if kind == HTML {
            for (name, value) in headers::PAGE {
                headers.insert(name, HeaderValue::from_static(value));
            }
        } else {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            let nosniff = HeaderValue::from_static("nosniff");
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(headers::CACHE_DOCS));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        answer
    }

    fn markdown(&self, guide: &Guide) -> Response {
        self.cached(MARKDOWN, llms::markdown(guide, self.public_url()))
    }

    /// The page of a guide, or its Markdown for clients that accept no HTML but that.
    fn page(&self, guide: &Guide) -> Response {
        let mut answer = match page_format(&self.headers) {
            PageFormat::Markdown => self.markdown(guide),
            PageFormat::Page | PageFormat::Anything => {
                self.cached(HTML, docs::guide(&self.frame(), guide))
            }
        };
        answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
        answer
    }

    fn missing(&self, path: &str) -> Response {
        pages::html(StatusCode::NOT_FOUND, docs::missing(&self.frame(), path))
    }
}

async fn document(request: DocsRequest) -> Response {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    let text = TEXT.get_or_init(|| api::document().to_pretty_json().unwrap_or_default().into());
    request.cached("application/json", text.clone())
}

async fn landing(request: DocsRequest) -> Response {
    match library().at("/docs") {
        Some(guide) => request.page(guide),
        None => request.missing(""),
    }
}

async fn landing_markdown(request: DocsRequest) -> Response {
    match library().at("/docs") {
        Some(guide) => request.markdown(guide),
        None => request.missing(""),
    }
}

#[derive(Deserialize)]
struct SearchQuery {
    #[serde(default)]
    q: String,
}

/// The results depend on the query, so no cache keeps them.
async fn search(
    request: DocsRequest,
    query: Result<Query<SearchQuery>, QueryRejection>,
) -> Response {
    // A query that cannot be read shows the empty search.
    let query = query.map(|Query(query)| query.q).unwrap_or_default();
    pages::html(StatusCode::OK, docs::results(&request.frame(), &query))
}

/// The page has a nonce, so every response is another one.
async fn api_reference() -> Response {
    let nonce = BASE64_URL_SAFE_NO_PAD.encode(random::<16>());
    let mut answer = pages::html(StatusCode::OK, docs::api_reference(&nonce));
    if let Ok(policy) = HeaderValue::from_str(&headers::api_reference_policy(&nonce)) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// A page, its Markdown, or a file that pages show. The path of a file in the repository leads to
/// its page here.
async fn below(request: DocsRequest, PathParam(path): PathParam<String>) -> Response {
    let library = library();
    let address = format!("/docs/{path}");
    if let Some(guide) = library.at(&address) {
        return request.page(guide);
    }
    if let Some(asset) = vendor::compressed_asset(&address) {
        return compressed(&request.headers, asset);
    }
    if let Some(guide) = address.strip_suffix(".md").and_then(|page| library.at(page)) {
        return request.markdown(guide);
    }
    if let Some(bytes) = library::file(&path) {
        return request.cached(content_type(&path), bytes);
    }
    if let Some(guide) = library.from_source(&path) {
        return moved(&guide.markdown_path());
    }
    let without_ending = [format!("{path}.md"), format!("{path}/README.md")];
    match without_ending.iter().find_map(|source| library.from_source(source)) {
        Some(guide) => moved(&guide.path),
        None => request.missing(&path),
    }
}

fn moved(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(to) => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, to)]).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The types of the files that pages show; what else they link is shown as text.
fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "png")) => "image/png",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "json")) => "application/json",
        _ => TEXT,
    }
}

/// A compressed file as it is stored, for clients that accept gzip. Those that state no preference
/// accept every encoding (RFC 9110, section 12.5.3).
fn compressed(asked: &HeaderMap, asset: &'static vendor::CompressedAsset) -> Response {
    let accepts: Vec<&str> = asked
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let accepts = accepts.join(",").to_ascii_lowercase();
    let takes_gzip = accepts.split(',').any(|one| {
        let (coding, weight) = one.split_once(';').unwrap_or((one, ""));
        let is_refused = weight.replace(' ', "").trim_end_matches(['0', '.']) == "q=";
        matches!(coding.trim(), "gzip" | "x-gzip" | "*") && !is_refused
    });
    if !takes_gzip && !accepts.trim().is_empty() {
        return StatusCode::NOT_ACCEPTABLE.into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CONTENT_ENCODING, "gzip"),
        (header::CACHE_CONTROL, headers::CACHE_ASSET),
        (header::VARY, "accept-encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.gzip).into_response()
}

/// The list of all error codes.
async fn error_codes(request: DocsRequest) -> Response {
    match library().at("/errors") {
        Some(guide) => request.page(guide),
        None => request.missing("errors"),
    }
}

async fn error_codes_markdown(request: DocsRequest) -> Response {
    match library().at("/errors") {
        Some(guide) => request.markdown(guide),
        None => request.missing("errors"),
    }
}

/// The page behind a problem's `type`.
async fn error_code(request: DocsRequest, PathParam(code): PathParam<String>) -> Response {
    let library = library();
    let address = format!("/errors/{code}");
    if let Some(guide) = library.at(&address) {
        return request.page(guide);
    }
    if let Some(guide) = address.strip_suffix(".md").and_then(|page| library.at(page)) {
        return request.markdown(guide);
    }
    match page_format(&request.headers) {
        PageFormat::Page => request.missing(&code),
        PageFormat::Markdown | PageFormat::Anything => {
            ApiProblem::new(404, "not-found").detail("there is no such error").into_response()
        }
    }
}

async fn llms_index(request: DocsRequest) -> Response {
    request.cached(TEXT, llms::index(request.public_url()))
}

async fn llms_full(request: DocsRequest) -> Response {
    request.cached(TEXT, llms::full(request.public_url()))
}

/// The format of a page that the client accepts.
#[derive(PartialEq, Eq)]
enum PageFormat {
    Markdown,
    Page,
    Anything,
}

fn page_format(headers: &HeaderMap) -> PageFormat {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let names = |kind: &str| accept.is_some_and(|accept| accept.contains(kind));
    if names("text/html") {
        PageFormat::Page
    } else if names("text/markdown") || names("text/plain") {
        PageFormat::Markdown
    } else {
        PageFormat::Anything
    }
}
