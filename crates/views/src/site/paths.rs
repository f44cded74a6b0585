//! The addresses pages link and post to. Handlers mount what is written here.

use kernel::ids::GroupId;
use kernel::task::{Scope, VersionRef};
use kernel::{AgentId, AskId, HumanId, ProjectId, TaskId, WebhookId};

/// Everything that waits for me.
pub const INBOX: &str = "/";
/// POST answers one request from the list.
pub const QUICK: &str = "/inbox/answer";
/// Many at once: GET and POST show a summary, which decides nothing.
pub const BULK: &str = "/inbox/bulk";
/// POST answers many.
pub const BULK_ANSWER: &str = "/inbox/bulk/answer";
/// POST takes answers back that were given from the list.
pub const INBOX_UNDO: &str = "/inbox/undo";
/// GET says what became of answers whose time to undo them has passed.
pub const INBOX_SENT: &str = "/inbox/sent";
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
/// GET shows how to write to an agent, POST does.
pub const WRITE: &str = "/write";
/// GET shows where to paste a message with an HXP envelope, POST shows what it says.
pub const ENVELOPE: &str = "/envelope";
/// Everything that is over.
pub const HISTORY: &str = "/history";
/// All of it as a file.
pub const EXPORT: &str = "/history/export";
/// Numbers about what agents claim and what people do with it.
pub const INSIGHTS: &str = "/insights";
/// What the app is called and looks like.
pub const MANIFEST: &str = "/manifest.webmanifest";
/// The script that works while no page is open.
pub const WORKER: &str = "/sw.js";
/// What it shows instead of a page that could not be fetched.
pub const OFFLINE: &str = "/offline";
/// What it shows when nobody said whether a form arrived.
pub const UNSENT: &str = "/offline/unsent";
/// POST answers from a notice.
pub const PUSH_ANSWER: &str = "/push/answer";
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

/// What there is to set.
pub const SETTINGS: &str = "/settings";
/// GET shows my profile, POST saves it.
pub const PROFILE: &str = "/settings/profile";
/// GET shows whether I am away, POST says so.
pub const AWAY: &str = "/settings/away";
/// GET shows my devices that are told, POST adds one, removes one, or tries them.
pub const DEVICES: &str = "/settings/devices";
/// GET shows how I am told, POST changes it.
pub const NOTICES: &str = "/settings/notices";
/// GET lists people, POST adds somebody.
pub const PEOPLE: &str = "/settings/people";
/// GET lists groups, POST adds one.
pub const GROUPS: &str = "/settings/groups";
/// GET lists agents, POST adds one.
pub const AGENTS: &str = "/settings/agents";
/// GET asks whether to revoke the key `key` names, POST does.
pub const REVOKE_KEY: &str = "/settings/keys/revoke";
/// GET lists projects, POST adds one.
pub const PROJECTS: &str = "/settings/projects";
/// GET lists my delegation rules, POST adds or removes one.
pub const RULES: &str = "/settings/rules";
/// GET lists endpoints that are told what happens, POST adds one.
pub const WEBHOOKS: &str = "/settings/webhooks";
/// GET lists the keys receipts are signed with.
pub const SIGNING: &str = "/settings/signing";
/// POST makes the first key and shows how to ask with it.
pub const FIRST_KEY: &str = "/settings/first-key";
/// POST lets the demonstration agent ask.
pub const DEMO: &str = "/settings/demo";

/// GET shows the board of tasks, POST writes one down.
pub const TASKS: &str = "/tasks";
/// GET tells an open board what changes on it.
pub const TASKS_LIVE: &str = "/tasks/live";
/// GET shows where to write one down.
pub const NEW_TASK: &str = "/tasks/new";
/// GET shows which ledgers there are.
pub const LEDGER: &str = "/ledger";

/// The room of one task.
pub fn task(id: TaskId) -> String {
    format!("{TASKS}/{id}")
}

/// Where a part of a task is written down.
pub fn part_of(id: TaskId) -> String {
    format!("{NEW_TASK}?parent={id}")
}

/// POST does something to a task: `assign`, `cancel`, `review` and so on.
pub fn task_act(id: TaskId, act: &str) -> String {
    format!("{TASKS}/{id}/{act}")
}

/// What tells an open room that its task has changed.
pub fn task_live(id: TaskId, seen: u64) -> String {
    format!("{TASKS}/{id}/live?seen={seen}")
}

/// A version a task delivered, as a file.
pub fn version(id: TaskId, of: &VersionRef) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("artifact", &of.id.to_string()).append_pair("version", &of.version);
    format!("{TASKS}/{id}/version?{}", query.finish())
}

/// The keys of a ledger.
pub fn ledger(scope: &Scope) -> String {
    format!("{LEDGER}/{scope}")
}

/// One key of a ledger, with all it ever said.
pub fn ledger_key(scope: &Scope, key: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("key", key);
    format!("{LEDGER}/{scope}?{}", query.finish())
}

/// GET shows one of the people, POST changes them.
pub fn person(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}")
}

/// POST makes a sign-in link for somebody and shows it once.
pub fn person_link(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/link")
}

/// GET explains what erasing a person removes, POST erases them.
pub fn person_erase(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/erase")
}

/// POST confirms a passkey of a person that waits.
pub fn person_passkey(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/passkey")
}

/// POST ends everything that lets a person in.
pub fn person_access(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/access")
}

/// GET shows who is in a group, POST says it.
pub fn group(id: &GroupId) -> String {
    format!("{GROUPS}/{id}")
}

/// GET shows an agent and its keys, POST changes its owner.
pub fn agent(id: &AgentId) -> String {
    format!("{AGENTS}/{id}")
}

/// The same page with an agent chosen.
pub fn write_to(id: &AgentId) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("agent", id.as_str());
    format!("{WRITE}?{}", query.finish())
}

/// POST makes a key for an agent and shows it once.
pub fn agent_keys(id: &AgentId) -> String {
    format!("{AGENTS}/{id}/keys")
}

/// GET shows an endpoint and what it was told, POST changes it.
pub fn webhook(id: WebhookId) -> String {
    format!("{WEBHOOKS}/{id}")
}

/// GET shows the rules of a project, POST changes them.
pub fn project(id: &ProjectId) -> String {
    format!("{PROJECTS}/{id}")
}

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

/// POST a remark.
pub fn comment(id: AskId) -> String {
    format!("/asks/{id}/comment")
}

/// GET shows the request to the person who just answered it, with what was decided.
pub fn answered(id: AskId) -> String {
    format!("/asks/{id}?sent=1")
}

/// Where a page asks what became of these answers: the page of the request, a list with this query
/// (`list`), or the summary of several.
pub fn sent(asks: &[String], list: Option<&str>, summary: bool) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(asks.iter().map(|ask| ("ask", ask)));
    query.extend_pairs(list.map(|list| ("list", list)));
    query.extend_pairs(summary.then_some(("summary", "1")));
    format!("{INBOX_SENT}?{}", query.finish())
}

/// POST to take one's own answer back.
pub fn undo(id: AskId) -> String {
    format!("/asks/{id}/undo")
}

/// POST to pick one of the agent's actions.
pub fn pick(id: AskId) -> String {
    format!("/asks/{id}/pick")
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
pub fn request_end(id: AskId, holder: Option<&HumanId>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(holder.map(|holder| ("holder", holder.as_str())));
    format!("/asks/{id}/end?{}", query.finish())
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

/// Where a request is put aside or handed over; `back` is the query of the list it stands in.
pub fn aside(id: AskId, back: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("ask", &id.to_string());
    if !back.is_empty() {
        query.append_pair("back", back);
    }
    format!("{ASIDE}?{}", query.finish())
}

/// The icon with a count in it.
pub fn icon(count: u64) -> String {
    format!("/icon/{}.svg", count.min(100))
}
