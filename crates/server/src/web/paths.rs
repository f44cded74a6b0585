//! The addresses pages link and post to. Handlers mount what is written here.

use kernel::AskId;

/// Everything that waits for me.
pub const INBOX: &str = "/";
/// Sign in: GET shows a button, POST signs in.
pub const SIGN_IN: &str = "/sign-in";
/// POST ends the session.
pub const SIGN_OUT: &str = "/sign-out";
/// GET explains, POST makes a token for a terminal and shows it once.
pub const TOKENS: &str = "/settings/tokens";

/// The page of one request.
pub fn request(id: AskId) -> String {
    format!("/asks/{id}")
}

/// POST an answer.
pub fn answer(id: AskId) -> String {
    format!("/asks/{id}/answer")
}

/// POST to take a request on.
pub fn claim(id: AskId) -> String {
    format!("/asks/{id}/claim")
}

/// POST to hand a request to somebody else; `to` names them.
pub fn assign(id: AskId) -> String {
    format!("/asks/{id}/assign")
}

/// POST a remark.
pub fn comment(id: AskId) -> String {
    format!("/asks/{id}/comment")
}

/// POST to move the deadline; `by` says how many seconds.
pub fn extend(id: AskId) -> String {
    format!("/asks/{id}/extend")
}

/// POST to hide a request from one's own inbox for a while.
pub fn snooze(id: AskId) -> String {
    format!("/asks/{id}/snooze")
}

/// POST to say that one looks at it.
pub fn looking(id: AskId) -> String {
    format!("/asks/{id}/looking")
}

/// How a request ends, when it does.
pub fn request_end(id: AskId) -> String {
    format!("/asks/{id}/end")
}

/// The receipt of a request that is over, as a file.
pub fn receipt(id: AskId) -> String {
    format!("/asks/{id}/receipt")
}

/// A file that answered a request.
pub fn file(id: AskId, digest: &str) -> String {
    format!("/asks/{id}/files/{digest}")
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
