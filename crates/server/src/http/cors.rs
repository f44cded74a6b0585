//! Which web pages may call us: configured origins only. In `--dev` also loopback pages and those
//! without an origin, because the protocol's own web client is opened from a file; a page that hides
//! its origin can therefore use the known credentials, one more reason why `--dev` is for trying.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use url::Url;

use crate::config::Config;

/// The layer for these settings.
pub fn layer(config: &Config) -> CorsLayer {
    let allowed = config.cors_origins.clone();
    let dev = config.dev;
    let origin = AllowOrigin::predicate(move |origin: &HeaderValue, _| {
        let Ok(origin) = origin.to_str() else { return false };
        allowed.iter().any(|one| one == origin) || (dev && is_local(origin))
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

/// Whether a browser asks for a page of some origin. For nobody else the layer would say anything that
/// counts, and it takes as long as finding the route.
pub fn concerns(request: &Request) -> bool {
    request.method() == Method::OPTIONS || request.headers().contains_key(header::ORIGIN)
}

fn is_local(origin: &str) -> bool {
    if origin == "null" {
        return true;
    }
    Url::parse(origin).is_ok_and(|url| match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn loopback_is_told_from_look_alikes() {
        for yes in ["null", "http://localhost:8000", "http://127.0.0.1", "http://[::1]:3000"] {
            assert!(is_local(yes), "{yes}");
        }
        for no in ["http://localhost.evil.io", "https://evil.io", "http://127.0.0.1.evil.io", ""] {
            assert!(!is_local(no), "{no}");
        }
    }
}
