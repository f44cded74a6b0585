//! The addresses pages link and post to. Handlers mount what is written here.

use kernel::AskId;

/// Everything that waits for me.
pub const INBOX: &str = "/";
/// Sign in: GET shows a button, POST signs in.
pub const SIGN_IN: &str = "/sign-in";
/// POST sends a link by mail.
pub const SIGN_IN_MAIL: &str = "/sign-in/mail";
/// POST signs in with a passkey.
pub const SIGN_IN_PASSKEY: &str = "/sign-in/passkey";
/// GET leads to the provider of identities.
pub const SIGN_IN_OIDC: &str = "/sign-in/oidc";
/// Where the provider sends browsers back to.
pub const OIDC_BACK: &str = "/sign-in/oidc/back";
/// GET leads to where the provider signs out.
pub const SIGN_OUT_OIDC: &str = "/sign-out/oidc";
/// POST ends the session.
pub const SIGN_OUT: &str = "/sign-out";
/// GET explains, POST makes a token for a terminal and shows it once.
pub const TOKENS: &str = "/settings/tokens";
/// GET shows where I am signed in, POST ends one of these or all others.
pub const SESSIONS: &str = "/settings/sessions";
/// GET shows my passkeys, POST adds one or removes one.
pub const PASSKEYS: &str = "/settings/passkeys";

/// The page of one request.
pub fn request(id: AskId) -> String {
    format!("/asks/{id}")
}

/// POST an answer.
pub fn answer(id: AskId) -> String {
    format!("/asks/{id}/answer")
}

/// POST an answer that was confirmed with a passkey.
pub fn confirm(id: AskId) -> String {
    format!("/asks/{id}/confirm")
}

/// POST to take a request on.
pub fn claim(id: AskId) -> String {
    format!("/asks/{id}/claim")
}

/// POST to hand a request to somebody else; `to` names them.
pub fn assign(id: AskId) -> String {
    format!("/asks/{id}/assign")
}

/// The page of one request for whoever holds its link; forms on it are posted to the same address.
pub fn review(case_id: &str) -> String {
    format!("/review/{case_id}")
}

/// How that request ends, when it does.
pub fn review_end(case_id: &str) -> String {
    format!("/review/{case_id}/end")
}

/// Where a provider's page sends the person back to, by POST.
pub fn proof(case_id: &str, provider: &str) -> String {
    format!("{}/proof?provider={provider}", review(case_id))
}
