//! The addresses pages link and post to. Handlers mount what is written here.

use kernel::AskId;

/// Everything that waits for me.
pub const INBOX: &str = "/";
/// POST answers one request from the list.
pub const QUICK: &str = "/inbox/answer";
/// Many at once: GET and POST show a summary, which decides nothing.
pub const BULK: &str = "/inbox/bulk";
/// POST answers many.
pub const BULK_ANSWER: &str = "/inbox/bulk/answer";
/// GET shows how to put a request aside or hand it over.
pub const ASIDE: &str = "/inbox/aside";
/// POST puts a request aside until a moment.
pub const SNOOZE: &str = "/inbox/snooze";
/// POST brings it back.
pub const WAKE: &str = "/inbox/wake";
/// POST hands a request to somebody else, with a note.
pub const HAND: &str = "/inbox/hand";
/// What changes in a list while somebody looks at it.
pub const LIVE: &str = "/inbox/live";
/// Everything that is over.
pub const HISTORY: &str = "/history";
/// All of it as a file.
pub const EXPORT: &str = "/history/export";
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

/// The page of one request for whoever holds its link; forms on it are posted to the same address.
pub fn review(case_id: &str) -> String {
    format!("/review/{case_id}")
}

/// Where a request is put aside or handed over; `back` is the query of the list it stands in.
pub fn aside(id: AskId, back: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("ask", &id.to_string());
    if !back.is_empty() {
        query.append_pair("back", back);
    }
    format!("{ASIDE}?{}", query.finish())
}

/// The signed receipt of a request that is over, as a file.
pub fn receipt(id: AskId) -> String {
    format!("/history/{id}/receipt")
}

/// The icon with a count in it.
pub fn icon(count: u64) -> String {
    format!("/icon/{}.svg", count.min(100))
}
