//! The paths that pages link and post to. The handlers are mounted at these paths.

use kernel::ids::GroupId;
use kernel::task::{LedgerScope, VersionRef};
use kernel::{AgentId, AskId, HumanId, ProjectId, TaskId, WebhookId};

/// The requests that wait for me.
pub const INBOX: &str = "/";
/// POST answers one request from the list.
pub const QUICK_ANSWER: &str = "/inbox/answer";
/// GET and POST show a summary of a bulk action; neither decides anything.
pub const BULK: &str = "/inbox/bulk";
/// POST answers several requests.
pub const BULK_ANSWER: &str = "/inbox/bulk/answer";
/// POST undoes answers that were given from the list.
pub const INBOX_UNDO: &str = "/inbox/undo";
/// GET shows the result of answers that can no longer be undone.
pub const INBOX_SENT: &str = "/inbox/sent";
/// GET shows the form to snooze or reassign a request.
pub const SNOOZE_FORM: &str = "/inbox/aside";
/// POST snoozes a request until a given time.
pub const SNOOZE: &str = "/inbox/snooze";
/// POST ends the snooze of a request.
pub const END_SNOOZE: &str = "/inbox/wake";
/// POST reassigns a request to another person, with a note.
pub const REASSIGN: &str = "/inbox/hand";
/// The event stream of changes to an open list.
pub const LIVE: &str = "/inbox/live";
/// GET shows the form to write to an agent, POST sends the message.
pub const WRITE: &str = "/write";
/// GET shows the form for a message with an HXP envelope, POST shows the envelope's content.
pub const ENVELOPE: &str = "/envelope";
/// The requests that are closed.
pub const HISTORY: &str = "/history";
/// The history as a file.
pub const EXPORT: &str = "/history/export";
/// Statistics about the claims of agents and the decisions of people.
pub const INSIGHTS: &str = "/insights";
/// The web app manifest.
pub const MANIFEST: &str = "/manifest.webmanifest";
/// The service worker.
pub const WORKER: &str = "/sw.js";
/// The page that the service worker shows when it cannot fetch a page.
pub const OFFLINE: &str = "/offline";
/// The page that the service worker shows when it does not know whether a form arrived.
pub const UNSENT: &str = "/offline/unsent";
/// POST answers a request from a push notification.
pub const PUSH_ANSWER: &str = "/push/answer";
/// Sign in: GET shows a button, POST signs in.
pub const SIGN_IN: &str = "/sign-in";
/// POST sends a sign-in link by mail.
pub const SIGN_IN_MAIL: &str = "/sign-in/mail";
/// POST signs in with a passkey.
pub const SIGN_IN_PASSKEY: &str = "/sign-in/passkey";
/// GET redirects to the identity provider (OIDC).
pub const SIGN_IN_OIDC: &str = "/sign-in/oidc";
/// The OIDC redirect URI.
pub const OIDC_REDIRECT: &str = "/sign-in/oidc/back";
/// GET redirects to the identity provider's sign-out page.
pub const SIGN_OUT_OIDC: &str = "/sign-out/oidc";
/// POST ends the session.
pub const SIGN_OUT: &str = "/sign-out";
/// GET asks a person to confirm that a command line signs in as them, POST confirms it.
pub const CLI_LOGIN: &str = "/cli-login";
/// POST gives a command line its token, DELETE revokes the token that it presents.
pub const CLI_LOGIN_TOKEN: &str = "/cli-login/token";
/// GET explains terminal tokens, POST creates one and shows it once.
pub const TOKENS: &str = "/settings/tokens";
/// GET shows my sessions, POST ends one of them or all others.
pub const SESSIONS: &str = "/settings/sessions";
/// GET shows my passkeys, POST adds one or removes one.
pub const PASSKEYS: &str = "/settings/passkeys";

/// The overview of all settings.
pub const SETTINGS: &str = "/settings";
/// GET shows my profile, POST saves it.
pub const PROFILE: &str = "/settings/profile";
/// GET shows whether I am away, POST changes it.
pub const AWAY: &str = "/settings/away";
/// GET shows my devices with push notifications, POST adds, removes or tests one.
pub const DEVICES: &str = "/settings/devices";
/// GET shows my notification settings, POST changes them.
pub const NOTIFICATION_SETTINGS: &str = "/settings/notices";
/// GET lists people, POST adds one.
pub const PEOPLE: &str = "/settings/people";
/// GET lists groups, POST adds one.
pub const GROUPS: &str = "/settings/groups";
/// GET lists agents, POST adds one.
pub const AGENTS: &str = "/settings/agents";
/// GET asks for confirmation before revoking the key named by `key`, POST revokes it.
pub const REVOKE_KEY: &str = "/settings/keys/revoke";
/// GET lists projects, POST adds one.
pub const PROJECTS: &str = "/settings/projects";
/// GET lists my delegation rules, POST adds or removes one.
pub const RULES: &str = "/settings/rules";
/// GET lists webhook endpoints, POST adds one.
pub const WEBHOOKS: &str = "/settings/webhooks";
/// GET lists the keys that receipts are signed with.
pub const SIGNING: &str = "/settings/signing";
/// POST creates the first key and shows how to use it.
pub const FIRST_KEY: &str = "/settings/first-key";
/// POST makes the demonstration agent ask a question.
pub const DEMO: &str = "/settings/demo";

/// GET shows the task board, POST creates a task.
pub const TASKS: &str = "/tasks";
/// GET streams the changes of an open board.
pub const TASKS_LIVE: &str = "/tasks/live";
/// GET shows the form for a new task.
pub const NEW_TASK: &str = "/tasks/new";
/// GET lists the ledgers.
pub const LEDGER: &str = "/ledger";

/// The room of one task.
pub fn task(id: TaskId) -> String {
    format!("{TASKS}/{id}")
}

/// The form for a subtask.
pub fn new_subtask(id: TaskId) -> String {
    format!("{NEW_TASK}?parent={id}")
}

/// POST performs an action on a task: `assign`, `cancel`, `review` and so on.
pub fn task_act(id: TaskId, act: &str) -> String {
    format!("{TASKS}/{id}/{act}")
}

/// The event stream that notifies an open room of changes to its task.
pub fn task_live(id: TaskId, seen: u64) -> String {
    format!("{TASKS}/{id}/live?seen={seen}")
}

/// A delivered version of an artifact, as a file.
pub fn version(id: TaskId, of: &VersionRef) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("artifact", &of.id.to_string()).append_pair("version", &of.version);
    format!("{TASKS}/{id}/version?{}", query.finish())
}

/// The keys of a ledger.
pub fn ledger(scope: &LedgerScope) -> String {
    format!("{LEDGER}/{scope}")
}

/// One key of a ledger, with all its entries.
pub fn ledger_key(scope: &LedgerScope, key: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("key", key);
    format!("{LEDGER}/{scope}?{}", query.finish())
}

/// GET shows a person, POST changes them.
pub fn person(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}")
}

/// POST creates a sign-in link for a person and shows it once.
pub fn person_link(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/link")
}

/// GET explains what erasing a person removes, POST erases them.
pub fn person_erase(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/erase")
}

/// POST confirms a person's pending passkey.
pub fn person_passkey(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/passkey")
}

/// POST revokes all access of a person.
pub fn person_access(id: &HumanId) -> String {
    format!("{PEOPLE}/{id}/access")
}

/// GET shows the members of a group, POST changes them.
pub fn group(id: &GroupId) -> String {
    format!("{GROUPS}/{id}")
}

/// GET shows an agent and its keys, POST changes its owner.
pub fn agent(id: &AgentId) -> String {
    format!("{AGENTS}/{id}")
}

/// The form to write to an agent, with this agent selected.
pub fn write_to(id: &AgentId) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("agent", id.as_str());
    format!("{WRITE}?{}", query.finish())
}

/// POST creates a key for an agent and shows it once.
pub fn agent_keys(id: &AgentId) -> String {
    format!("{AGENTS}/{id}/keys")
}

/// GET shows a webhook endpoint and its deliveries, POST changes it.
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

/// POST answers a request.
pub fn answer(id: AskId) -> String {
    format!("/asks/{id}/answer")
}

/// POST sends an answer that was confirmed with a passkey.
pub fn confirm(id: AskId) -> String {
    format!("/asks/{id}/confirm")
}

/// POST claims a request.
pub fn claim(id: AskId) -> String {
    format!("/asks/{id}/claim")
}

/// POST reassigns a request; `to` names the new assignee.
pub fn assign(id: AskId) -> String {
    format!("/asks/{id}/assign")
}

/// POST adds a comment.
pub fn comment(id: AskId) -> String {
    format!("/asks/{id}/comment")
}

/// GET shows the request and the decision to the person who just answered it.
pub fn answered(id: AskId) -> String {
    format!("/asks/{id}?sent=1")
}

/// The path that a page polls for the result of these answers: for the page of a request, a list
/// with this query (`list`), or the summary of a bulk action.
pub fn sent(asks: &[String], list: Option<&str>, summary: bool) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(asks.iter().map(|ask| ("ask", ask)));
    query.extend_pairs(list.map(|list| ("list", list)));
    query.extend_pairs(summary.then_some(("summary", "1")));
    format!("{INBOX_SENT}?{}", query.finish())
}

/// POST undoes one's own answer.
pub fn undo(id: AskId) -> String {
    format!("/asks/{id}/undo")
}

/// POST picks one of the agent's suggested actions.
pub fn pick(id: AskId) -> String {
    format!("/asks/{id}/pick")
}

/// POST extends the deadline by `by` seconds.
pub fn extend(id: AskId) -> String {
    format!("/asks/{id}/extend")
}

/// POST snoozes a request in one's own inbox.
pub fn snooze(id: AskId) -> String {
    format!("/asks/{id}/snooze")
}

/// POST records that the person views the request.
pub fn looking(id: AskId) -> String {
    format!("/asks/{id}/looking")
}

/// The event stream that notifies an open page when the request closes.
pub fn request_end(id: AskId, holder: Option<&HumanId>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(holder.map(|holder| ("holder", holder.as_str())));
    format!("/asks/{id}/end?{}", query.finish())
}

/// The receipt of a closed request, as a file.
pub fn receipt(id: AskId) -> String {
    format!("/asks/{id}/receipt")
}

/// A file that was uploaded as part of an answer.
pub fn file(id: AskId, digest: &str) -> String {
    format!("/asks/{id}/files/{digest}")
}

/// The page of one request for the holder of its review link; its forms post to the same path.
pub fn review(case_id: &str) -> String {
    format!("/review/{case_id}")
}

/// The event stream that notifies that page when the request closes.
pub fn review_end(case_id: &str) -> String {
    format!("/review/{case_id}/end")
}

/// The path that a provider's page sends the person back to, by POST.
pub fn proof(case_id: &str, provider: &str) -> String {
    format!("{}/proof?provider={provider}", review(case_id))
}

/// The form to snooze or reassign a request; `back` is the query of the list that contains it.
pub fn snooze_form(id: AskId, back: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("ask", &id.to_string());
    if !back.is_empty() {
        query.append_pair("back", back);
    }
    format!("{SNOOZE_FORM}?{}", query.finish())
}

/// The icon with a count in it.
pub fn icon(count: u64) -> String {
    format!("/icon/{}.svg", count.min(100))
}
