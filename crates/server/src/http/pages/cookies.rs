//! What a browser keeps for us: its session, and what the session is bound to.
//!
//! The second is drawn once for a browser and stays when sessions go. A session that is shown without
//! it, or with another browser's, opens nothing.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use gateway::Gateway;

use crate::config::Config;

/// How long a browser keeps what sessions are bound to: as long as browsers keep anything.
const BROWSER_SECONDS: u64 = 400 * 24 * 60 * 60;
/// How long a credential of ours is, without a prefix.
const MINTED: usize = 43;

/// What browsers keep.
#[derive(Clone, Copy)]
pub(super) enum Cookie {
    /// Who is signed in.
    Session,
    /// Which browser it is.
    Browser,
    /// What a sign-in elsewhere left behind.
    Flow,
}

impl Cookie {
    /// Over HTTPS a cookie is bound to this host.
    fn name(self, https: bool) -> &'static str {
        match (self, https) {
            (Self::Session, true) => "__Host-countersign",
            (Self::Session, false) => "countersign",
            (Self::Browser, true) => "__Host-countersign-browser",
            (Self::Browser, false) => "countersign-browser",
            (Self::Flow, true) => "__Host-countersign-flow",
            (Self::Flow, false) => "countersign-flow",
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

    /// Has the browser keep something for so many seconds; for none, it forgets it.
    pub(super) fn set(&self, cookie: Cookie, value: &str, seconds: u64) -> HeaderValue {
        let (name, secure) =
            (cookie.name(self.https()), if self.https() { "; Secure" } else { "" });
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// What the browser kept.
    pub(super) fn get<'h>(&self, headers: &'h HeaderMap, cookie: Cookie) -> Option<&'h str> {
        let name = cookie.name(self.https());
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs =
            lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// What this browser is known by, and the header that has it kept: for as long as it can be, from
    /// now on. Something that we cannot have drawn is replaced.
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
