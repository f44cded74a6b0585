//! Which web pages may call the API: those of the configured origins. With `--dev` also pages on
//! loopback, and for HXP Execution (HXPX-009) pages that send `Origin: null`, because its web
//! client is opened from a file. Every website can produce `Origin: null` with a sandboxed frame.
//! So such a page can use agent keys only: `Callers::human` refuses human tokens from it in every
//! dialect.
//!
//! The forms of the server's own pages are posted with `Origin: null` too, because of their
//! referrer policy. They use no CORS; the token in each form proves their origin.

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use url::Url;

use crate::config::Config;

/// The CORS layer for a configuration.
pub fn layer(config: &Config) -> CorsLayer {
    let allowed = AllowedOrigins { origins: config.cors_origins.clone(), dev: config.dev };
    let origin = AllowOrigin::predicate(move |origin: &HeaderValue, request: &Parts| {
        allowed.allows(origin, request.uri.path())
    });
    let read = [
        "hxp-status",
        "hxp-request-id",
        "hxp-intent",
        "hxp-verbosity",
        "hxp-confidence",
        "hxp-cogload",
        "retry-after",
        "etag",
        "x-request-id",
        "link",
        "location",
        "idempotent-replayed",
        "preference-applied",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
    ];
    CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(read.map(HeaderName::from_static))
        .vary([header::ORIGIN])
}

/// Whether the layer has to run: a browser sent the request for a page of some origin, or it is a
/// preflight. For other requests the layer has no effect, and it takes as long as finding the
/// route.
pub fn needs_cors(request: &Request) -> bool {
    request.method() == Method::OPTIONS || request.headers().contains_key(header::ORIGIN)
}

/// Whether a WebSocket may be opened. Browsers apply no CORS to WebSockets and send no preflight,
/// so the server must check the origin itself. Clients that are not browsers send no origin.
pub fn may_open_socket(config: &Config, headers: &HeaderMap, path: &str) -> bool {
    let allowed = AllowedOrigins { origins: config.cors_origins.clone(), dev: config.dev };
    let own = config.public_url.origin().ascii_serialization();
    let mut origins = headers.get_all(header::ORIGIN).iter();
    origins.all(|origin| origin.as_bytes() == own.as_bytes() || allowed.allows(origin, path))
}

/// The origins that may call.
struct AllowedOrigins {
    origins: Vec<String>,
    dev: bool,
}

impl AllowedOrigins {
    fn allows(&self, origin: &HeaderValue, path: &str) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        if self.origins.iter().any(|one| one == origin) {
            return true;
        }
        self.dev && (is_local(origin) || (origin == "null" && is_hxp(path)))
    }
}

fn is_hxp(path: &str) -> bool {
    path == "/hxp" || path.starts_with("/hxp/")
}

fn is_local(origin: &str) -> bool {
    Url::parse(origin).is_ok_and(|url| match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_look_alikes() {
        for yes in ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:3000"] {
            assert!(is_local(yes), "{yes}");
        }
        for no in
            ["null", "http://localhost.evil.io", "https://evil.io", "http://127.0.0.1.evil.io", ""]
        {
            assert!(!is_local(no), "{no}");
        }
    }

    #[test]
    fn a_page_without_an_origin_reaches_hxp_only_and_with_dev_only() {
        let null = HeaderValue::from_static("null");
        let dev = AllowedOrigins { origins: Vec::new(), dev: true };
        for (path, allowed) in [
            ("/hxp", true),
            ("/hxp/v1/requests", true),
            ("/hxpx", false),
            ("/api/v1/asks", false),
            ("/hitl/v1/cases", false),
            ("/a2h/v1/function_calls", false),
            ("/hacp/v1/ops/task.list", false),
            ("/", false),
        ] {
            assert_eq!(dev.allows(&null, path), allowed, "{path}");
        }
        let real = AllowedOrigins { origins: vec!["https://app.example".to_owned()], dev: false };
        assert!(!real.allows(&null, "/hxp/v1/requests"));
    }
}
