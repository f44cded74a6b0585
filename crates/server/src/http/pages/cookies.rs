//! The cookies of the pages: the session, and the browser binding that the session is tied to.
//!
//! The binding is generated once for a browser and outlives its sessions. A session that is
//! presented without its binding, or with the binding of another browser, is rejected.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use gateway::Gateway;
use views::site::paths;

use crate::config::Config;

/// How long a browser keeps its binding: 400 days, the longest that browsers allow for a cookie.
const BROWSER_SECONDS: u64 = 400 * 24 * 60 * 60;
/// The length of a generated credential without its prefix.
const MINTED: usize = 43;

/// The cookies that the pages use.
#[derive(Clone, Copy)]
pub(super) enum Cookie {
    /// The session of the person who is signed in.
    Session,
    /// The browser binding.
    Browser,
    /// The state of a single sign-on flow.
    Flow,
    /// The page to show after signing in.
    Return,
}

impl Cookie {
    /// Over HTTPS the name carries the `__Host-` prefix, which binds the cookie to this host.
    fn name(self, https: bool) -> &'static str {
        match (self, https) {
            (Self::Session, true) => "__Host-countersign",
            (Self::Session, false) => "countersign",
            (Self::Browser, true) => "__Host-countersign-browser",
            (Self::Browser, false) => "countersign-browser",
            (Self::Flow, true) => "__Host-countersign-flow",
            (Self::Flow, false) => "countersign-flow",
            (Self::Return, true) => "__Host-countersign-return",
            (Self::Return, false) => "countersign-return",
        }
    }
}

/// Reads and writes the cookies of the pages.
pub struct Cookies {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
}

impl Cookies {
    fn https(&self) -> bool {
        self.config.public_url.scheme() == "https"
    }

    /// A `Set-Cookie` header that keeps the value for `seconds`. With 0 the
    /// browser deletes the cookie.
    pub(super) fn set(&self, cookie: Cookie, value: &str, seconds: u64) -> HeaderValue {
        let (name, secure) =
            (cookie.name(self.https()), if self.https() { "; Secure" } else { "" });
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// The value of the cookie in the request.
    pub(super) fn get<'h>(&self, headers: &'h HeaderMap, cookie: Cookie) -> Option<&'h str> {
        let name = cookie.name(self.https());
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs =
            lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The page that the visitor opened before signing in, if it is the one that confirms a login on
    /// the command line. A cookie must not lead to another site.
    pub(super) fn page_to_return_to<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let page = self.get(headers, Cookie::Return)?;
        let query = page.strip_prefix(paths::CLI_LOGIN)?.strip_prefix('?')?;
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"=&%-_.+~*".contains(&c);
        query.bytes().all(plain).then_some(page)
    }

    /// The browser binding, and the header that keeps it for the longest time from now on. A value
    /// that this server cannot have generated is replaced.
    pub(super) fn browser(&self, headers: &HeaderMap) -> (String, HeaderValue) {
        let ours = |value: &&str| {
            value.len() == MINTED
                && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        let kept = self.get(headers, Cookie::Browser).filter(ours).map(str::to_owned);
        let browser = kept.unwrap_or_else(|| self.gateway.ids().mint("").secret);
        let keep = self.set(Cookie::Browser, &browser, BROWSER_SECONDS);
        (browser, keep)
    }
}
