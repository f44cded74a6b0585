//! An HTTP client for URLs that others named: it connects only where the SSRF guard permits, and
//! follows no redirect.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use gateway::ssrf_guard::{ForbiddenHost, GuardedResolver, OutboundPolicy};
use reqwest::redirect::Policy as Redirects;

/// How long a call may take from beginning to end.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client that connects only where the policy permits.
pub(crate) fn client(policy: &Arc<OutboundPolicy>) -> anyhow::Result<reqwest::Client> {
    reqwest::Client::builder()
        .http1_only()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .redirect(Redirects::none())
        // A proxy would resolve names by itself and bypass the guard.
        .no_proxy()
        .dns_resolver(Arc::new(GuardedResolver(Arc::clone(policy))))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TOTAL_TIMEOUT)
        .build()
        .context("cannot create an HTTP client for outgoing calls")
}

/// Why a call failed. The text is fixed, because an error of the library may contain the URL.
pub(crate) fn reason(error: &reqwest::Error) -> &'static str {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<ForbiddenHost>() {
            return "the host name resolves to addresses that outgoing calls cannot use";
        }
        cause = error.source();
    }
    if error.is_timeout() {
        "no response in time"
    } else if error.is_connect() {
        "cannot connect"
    } else {
        "the connection was closed early"
    }
}
