//! Every route there is, and who may call it.

use std::collections::BTreeSet;

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Door {
    /// Anyone.
    Public,
    /// Whoever shows a credential; others get 401.
    Closed,
    /// Whoever shows none, with `--dev`; a wrong one gets 401 all the same.
    OpenInDev,
}
use Door::{Closed, OpenInDev, Public};

/// Every route with its method.
pub(crate) const ROUTES: &[(&str, &str, Door)] = &[
    ("get", "/hxp", Public),
    ("post", "/hxp/v1/requests", Closed),
    ("get", "/hxp/v1/requests", Closed),
    ("get", "/hxp/v1/requests/{id}", Closed),
    ("post", "/hxp/v1/requests/{id}/cancel", Closed),
    ("post", "/hxp/v1/requests/{id}/resolve", Closed),
    ("post", "/hxp/v1/requests/{id}/claim", Closed),
    ("get", "/hxp/v1/inbox", Closed),
    ("get", "/hxp/v1/delegation/rules", Closed),
    ("post", "/hxp/v1/delegation/rules", Closed),
    ("delete", "/hxp/v1/delegation/rules/{id}", Closed),
    ("post", "/hxp/v1/receipts/verify", Closed),
    ("get", "/hxp/v1/stats", OpenInDev),
    ("get", "/hxp/ws", Closed),
    ("get", "/hxp/ws/{id}", Closed),
    ("post", "/hitl/v1/cases", Closed),
    ("get", "/hitl/v1/callback-secret", Closed),
    ("get", "/hitl/v1/reviews/{id}/status", Closed),
    ("get", "/hitl/v1/reviews/{id}/events", Closed),
    ("post", "/hitl/v1/reviews/{id}/respond", Closed),
    ("post", "/hitl/v1/reviews/{id}/submit", Closed),
    ("post", "/hitl/v1/reviews/{id}/cancel", Closed),
    ("post", "/hitl/v1/reviews/{id}/files", Closed),
    ("get", "/hitl/v1/reviews/{id}/files/{digest}", Closed),
    ("get", "/.well-known/hitl.json", Public),
    ("get", "/skill.md", Public),
    ("post", "/api/demo", OpenInDev),
    ("post", "/api/v1/asks", Closed),
    ("get", "/api/v1/asks", Closed),
    ("get", "/api/v1/asks/count", Closed),
    ("post", "/api/v1/asks/answers", Closed),
    ("get", "/api/v1/history", Closed),
    ("get", "/api/v1/history/export", Closed),
    ("get", "/api/v1/search", Closed),
    ("put", "/api/v1/asks/{id}/snooze", Closed),
    ("delete", "/api/v1/asks/{id}/snooze", Closed),
    ("get", "/api/v1/snoozed", Closed),
    ("put", "/api/v1/asks/{id}/looking", Closed),
    ("delete", "/api/v1/asks/{id}/looking", Closed),
    ("get", "/api/v1/looking", Closed),
    ("get", "/api/v1/asks/{id}/thread", Closed),
    ("get", "/api/v1/asks/{id}", Closed),
    ("post", "/api/v1/asks/{id}/answer", Closed),
    ("post", "/api/v1/asks/{id}/cancel", Closed),
    ("post", "/api/v1/asks/{id}/claim", Closed),
    ("post", "/api/v1/asks/{id}/assign", Closed),
    ("post", "/api/v1/asks/{id}/extend", Closed),
    ("get", "/api/v1/asks/{id}/comments", Closed),
    ("post", "/api/v1/asks/{id}/comments", Closed),
    ("post", "/api/v1/asks/{id}/files", Closed),
    ("get", "/api/v1/asks/{id}/files/{digest}", Closed),
    ("get", "/api/v1/asks/{id}/callbacks", Closed),
    ("post", "/api/v1/asks/{id}/callbacks", Closed),
    ("post", "/api/v1/asks/{id}/erase", Closed),
    ("get", "/api/v1/asks/{id}/audit", Closed),
    ("get", "/api/v1/asks/{id}/audit/{seq}/proof", Closed),
    ("get", "/api/v1/audit/blocks", Closed),
    ("get", "/api/v1/audit/export", Closed),
    ("get", "/api/v1/asks/{id}/receipt", Closed),
    ("get", "/api/v1/asks/{id}/receipt/proof", Closed),
    ("post", "/api/v1/asks/{id}/revoke", Closed),
    // A receipt is its own credential, and anybody may learn which no longer count.
    ("post", "/api/v1/receipts/verify", Public),
    ("get", "/api/v1/receipts/revocations", Public),
    ("get", "/api/v1/asks/{id}/events", Closed),
    ("get", "/api/v1/events", Closed),
    ("get", "/api/v1/me", Closed),
    ("put", "/api/v1/me", Closed),
    ("put", "/api/v1/people/{id}/profile", Closed),
    ("get", "/api/v1/projects", Closed),
    ("get", "/api/v1/projects/{id}", Closed),
    ("put", "/api/v1/projects/{id}", Closed),
    ("get", "/api/v1/agents", Closed),
    ("get", "/api/v1/agents/{id}", Closed),
    ("put", "/api/v1/agents/{id}", Closed),
    ("get", "/api/v1/people", Closed),
    ("get", "/api/v1/people/{id}", Closed),
    ("put", "/api/v1/people/{id}", Closed),
    ("get", "/api/v1/groups", Closed),
    ("get", "/api/v1/groups/{id}", Closed),
    ("put", "/api/v1/groups/{id}", Closed),
    ("get", "/api/v1/rules", Closed),
    ("post", "/api/v1/rules", Closed),
    ("delete", "/api/v1/rules/{id}", Closed),
    ("post", "/api/v1/people/{id}/link", Closed),
    ("get", "/api/v1/people/{id}/sessions", Closed),
    ("delete", "/api/v1/people/{id}/sessions", Closed),
    ("get", "/api/v1/keys", Closed),
    ("post", "/api/v1/keys", Closed),
    ("get", "/api/v1/keys/{id}", Closed),
    ("delete", "/api/v1/keys/{id}", Closed),
    ("get", "/api/v1/dev/clock", Closed),
    ("post", "/api/v1/dev/clock", Closed),
    ("get", "/api/v1/dev/script", Closed),
    ("put", "/api/v1/dev/script", Closed),
    // The inbox shows strangers how to sign in, with 401.
    ("get", "/", Closed),
    ("get", "/asks/{id}", Closed),
    // These lead back to the question, whoever asks.
    ("get", "/asks/{id}/answer", Public),
    ("get", "/asks/{id}/confirm", Public),
    ("post", "/asks/{id}/confirm", Closed),
    ("get", "/asks/{id}/claim", Public),
    ("get", "/asks/{id}/assign", Public),
    ("post", "/asks/{id}/answer", Closed),
    ("post", "/asks/{id}/claim", Closed),
    ("post", "/asks/{id}/assign", Closed),
    // The token in the link or in the form is the credential.
    ("get", "/review/{id}", Closed),
    ("post", "/review/{id}", Closed),
    ("get", "/review/{id}/end", Closed),
    // What comes back from a provider is its own credential, and only lies there.
    ("get", "/review/{id}/proof", Public),
    ("post", "/review/{id}/proof", Public),
    ("get", "/sign-in", Public),
    // The link in the form is the credential; without one it is 401.
    ("post", "/sign-in", Closed),
    // There is no mail here; who has an address is told nobody.
    ("post", "/sign-in/mail", Public),
    ("post", "/sign-in/passkey", Closed),
    // There is no provider here; what comes back from one is the credential.
    ("get", "/sign-in/oidc", Public),
    ("get", "/sign-in/oidc/back", Public),
    ("get", "/sign-out/oidc", Public),
    ("post", "/sign-out", Closed),
    ("get", "/settings/tokens", Closed),
    ("post", "/settings/tokens", Closed),
    ("get", "/settings/passkeys", Closed),
    ("post", "/settings/passkeys", Closed),
    ("get", "/settings/sessions", Closed),
    ("post", "/settings/sessions", Closed),
    ("get", "/assets/{file}", Public),
    ("get", "/openapi.json", Public),
    ("get", "/docs", Public),
    ("get", "/healthz", Public),
    ("get", "/readyz", Public),
    ("get", "/metrics", Public),
    ("get", "/errors/{code}", Public),
    ("get", "/.well-known/jwks.json", Public),
];

/// The routes of the table below an address.
pub(crate) fn routes_under(prefix: &str) -> BTreeSet<(String, String)> {
    let under = ROUTES.iter().filter(|(_, path, _)| path.starts_with(prefix));
    under.map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect()
}

/// Whether the table says that a route needs no credential.
pub(crate) fn is_public(method: &str, path: &str) -> bool {
    ROUTES.iter().any(|(of, at, kind)| (*of, *at) == (method, path) && matches!(kind, Public))
}
