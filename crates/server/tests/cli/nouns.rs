//! Commands by noun and verb: what is added is listed, shown, changed and removed.

use serde_json::{Value, json};

use super::support::Server;
use super::{asked, at, cli, run};

#[test]
fn agents_projects_and_groups_have_commands_of_their_own() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    cli(&server, &["projects", "add", "ops"]).ok();
    let taken = cli(&server, &["projects", "add", "ops"]).failed(4);
    assert!(taken.contains("`countersign projects set ops`"), "{taken}");
    let shown = cli(&server, &["projects", "show", "ops"]).ok();
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["id", "ops"])), "{shown}");
    cli(&server, &["projects", "set", "ops", "--minimum-assurance", "link"]).ok();
    assert_eq!(cli(&server, &["projects", "show", "ops", "--json"]).json()["floor"], "link");
    let missing = cli(&server, &["projects", "show", "nowhere"]).failed(4);
    assert!(missing.contains("there is no project nowhere"), "{missing}");

    cli(&server, &["agents", "add", "bot", "--project", "ops", "--owner", "user_dev"]).ok();
    let taken =
        cli(&server, &["agents", "add", "bot", "--project", "ops", "--owner", "user_dev_2"]);
    let taken = taken.failed(4);
    assert!(taken.contains("`countersign agents set bot`"), "{taken}");
    let shown = |id: &str| cli(&server, &["agents", "show", id, "--json"]).json();
    assert_eq!(shown("bot")["owner"], "user_dev", "nothing was changed");
    cli(&server, &["agents", "set", "bot", "--conversations", "true"]).ok();
    let bot = shown("bot");
    assert_eq!((&bot["owner"], &bot["conversations"]), (&json!("user_dev"), &json!(true)));
    cli(&server, &["agents", "set", "bot", "--owner", "user_dev_2"]).ok();
    assert_eq!(shown("bot")["conversations"], true);
    let listed = cli(&server, &["agents", "list"]).ok();
    let row: Vec<&str> =
        listed.lines().find(|line| line.starts_with("bot ")).unwrap().split_whitespace().collect();
    assert_eq!(row, ["bot", "ops", "user_dev_2", "yes"]);
    assert!(
        cli(&server, &["agents", "set", "x", "--conversations", "true"])
            .failed(4)
            .contains("no agent x")
    );
    // The command of earlier versions still adds and changes.
    cli(&server, &["people", "add-agent", "old", "--project", "ops", "--owner", "user_dev"]).ok();
    cli(&server, &["people", "add-agent", "old", "--project", "ops", "--owner", "user_dev_2"]).ok();
    assert_eq!(shown("old")["owner"], "user_dev_2");

    cli(&server, &["groups", "set", "legal", "--member", "user_dev_2"]).ok();
    let group = cli(&server, &["groups", "show", "legal", "--json"]).json();
    assert_eq!(group["members"], json!(["user_dev_2"]));
    let person = cli(&server, &["people", "show", "user_dev_2"]).ok();
    let groups = |line: &str| line.split_whitespace().eq(["groups", "legal"]);
    assert!(person.lines().any(groups), "{person}");
    cli(&server, &["groups", "remove", "legal"]).ok();
    cli(&server, &["groups", "show", "legal"]).failed(4);
    // Scripts of earlier versions read three lists; people see one.
    let all = cli(&server, &["people", "list", "--json"]).json();
    assert!(all["agents"].is_array() && all["projects"].is_array() && all["people"].is_array());
    assert!(cli(&server, &["people", "list"]).ok().starts_with("PERSON"));
    server.stop();
}

#[test]
fn keys_and_webhooks_are_shown_and_changed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let issued = cli(&server, &["keys", "create", "--agent", "agent_dev", "--json"]).json();
    let key = issued["id"].as_str().unwrap();
    let shown = cli(&server, &["keys", "show", key]).ok();
    assert!(shown.contains("holder") && !shown.contains("cs_agent_"), "{shown}");
    cli(&server, &["keys", "revoke", key]).ok();
    assert!(cli(&server, &["keys", "show", key, "--json"]).json()["revoked_at"].is_string());

    let added = ["webhooks", "add", "https://agent.example/hook", "--agent", "agent_dev", "--json"];
    let added = cli(&server, &added).json();
    let id = added["id"].as_str().or_else(|| added["webhook"]["id"].as_str()).unwrap().to_owned();
    cli(&server, &["webhooks", "set", &id, "--enabled", "false", "--event", "ask.created"]).ok();
    let shown = cli(&server, &["webhooks", "show", &id, "--json"]).json();
    assert_eq!((&shown["enabled"], &shown["events"]), (&json!(false), &json!(["ask.created"])));
    assert_eq!(shown["url"], "https://agent.example/hook");
    server.stop();
}

#[test]
fn requests_are_listed_and_worked_on() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let first = asked(&server, &["Deploy?", "--priority", "high", "--timeout", "3600"]);
    let second = asked(&server, &["Which one?", "--option", "a", "--option", "b"]);
    let ids = |args: &[&str]| -> Vec<String> {
        let found = cli(&server, &[&["asks", "list", "--json"], args].concat()).json();
        let id = |ask: &Value| ask["id"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(id).collect()
    };
    assert_eq!(ids(&[]), [first.clone(), second.clone()], "the most urgent first");
    assert_eq!(ids(&["--kind", "choose"]), [second.clone()]);
    assert_eq!(ids(&["--priority", "high"]), [first.clone()]);
    assert_eq!(ids(&["--limit", "1"]).len(), 1);
    assert!(ids(&["--state", "completed"]).is_empty());
    let table = cli(&server, &["asks", "list"]).ok();
    assert!(table.starts_with("ID  ") && table.contains("Which one?"), "{table}");
    // An agent lists its own.
    let own =
        run(at(&server, &["asks", "list", "--json"]).env("COUNTERSIGN_API_KEY", "dev-agent-key"));
    assert_eq!(own.json().as_array().unwrap().len(), 2);

    cli(&server, &["asks", "comment", &first, "Looks good"]).ok();
    cli(&server, &["asks", "claim", &first]).ok();
    cli(&server, &["asks", "extend", &first, "--until", "2099-01-01T00:00:00Z"]).ok();
    let shown = cli(&server, &["asks", "show", &first, "--json"]).json();
    assert_eq!(shown["expires_at"], "2099-01-01T00:00:00.000Z");
    assert_eq!(shown["comments"], 1);
    cli(&server, &["asks", "assign", &second, "user_dev_2", "--note", "yours"]).ok();
    let other =
        run(at(&server, &["asks", "list", "--json"]).env("COUNTERSIGN_TOKEN", "dev-human-token-2"));
    assert_eq!(other.json()[0]["id"], second.as_str());
    cli(&server, &["asks", "answer", &first, "--approve"]).ok();
    assert_eq!(cli(&server, &["asks", "wait", &first]).code, 0);
    let receipt = cli(&server, &["receipts", "show", &first, "--json"]).json();
    assert!(receipt["receipt"].is_string());
    cli(&server, &["asks", "cancel", &second]).ok();
    assert_eq!(ids(&["--state", "all"]).len(), 2);

    let page = |args: &[&str]| cli(&server, &[&["open", "--print"], args].concat()).ok();
    assert_eq!(page(&[]), format!("{}/\n", server.url));
    assert_eq!(page(&[&first]), format!("{}/asks/{first}\n", server.url));
    assert_eq!(page(&[&first.replace("ask_", "hxp_")]), format!("{}/asks/{first}\n", server.url));
    assert_eq!(page(&["task_1"]), format!("{}/tasks/task_1\n", server.url));
    let opened = cli(&server, &["open", &first]);
    assert!(opened.err.contains("no browser here"), "{}", opened.err);
    server.stop();
}

/// A flag says what a word says, for approvals and confirmations.
#[test]
fn flags_approve_and_reject() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let verdict = |flag: &str| {
        let id = asked(&server, &["Deploy?"]);
        let answered = cli(&server, &["answer", &id, flag, "--json"]).json();
        answered["result"]["answer"]["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("--approve"), "approved");
    assert_eq!(verdict("--reject"), "rejected");
    let choose = asked(&server, &["Which?", "--option", "a", "--option", "b"]);
    let wrong = cli(&server, &["answer", &choose, "--approve"]).failed(4);
    assert!(wrong.contains("“approve” is not an option"), "{wrong}");
    server.stop();
}
