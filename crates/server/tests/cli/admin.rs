//! Keys and people, through a running server and on the folder of a stopped one.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::support::{Server, countersign};
use super::{Ran, at, cli, run};

/// A command on a data folder.
fn on(data: &Path, args: &[&str]) -> Ran {
    run(offline(data, args).args(["--data"]).arg(data))
}

fn offline(data: &Path, args: &[&str]) -> Command {
    let mut command = countersign();
    command.current_dir(data).args(args);
    command
}

/// The credential of this name in a list.
fn key(listed: &Value, label: &str) -> Value {
    let keys = listed.as_array().unwrap();
    keys.iter().find(|key| key["label"] == label).unwrap_or_else(|| panic!("{listed}")).clone()
}

#[test]
fn keys_are_made_listed_and_revoked_through_a_server() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let made = cli(&server, &["keys", "create", "--agent", "agent_dev", "--label", "ci"]);
    assert!(made.err.contains("for agent_dev; shown only once."), "{}", made.err);
    let secret = made.ok().trim().to_owned();
    assert!(secret.starts_with("cs_agent_"), "{secret}");
    let ask = || run(at(&server, &["ask", "Go?"]).env("COUNTERSIGN_API_KEY", &secret));
    ask().ok();

    let listed = cli(&server, &["keys", "list", "--json"]).json();
    let id = key(&listed, "ci")["id"].as_str().unwrap().to_owned();
    let shown = cli(&server, &["keys", "list"]).ok();
    let line = shown.lines().find(|line| line.contains(&id)).unwrap();
    assert!(line.contains("agent key") && line.contains("active"), "{line}");
    assert!(!shown.contains(&secret));
    let said = cli(&server, &["keys", "revoke", &id]).ok();
    assert_eq!(said, format!("Revoked {id}.\n"));
    assert!(ask().failed(4).contains("does not accept COUNTERSIGN_API_KEY"));
    let shown = cli(&server, &["keys", "list"]).ok();
    assert!(shown.lines().any(|line| line.contains(&id) && line.contains("revoked")), "{shown}");

    let token = cli(&server, &["keys", "create", "--human", "user_dev_2", "--json"]).json();
    let token = token["secret"].as_str().unwrap();
    run(at(&server, &["inbox"]).env("COUNTERSIGN_TOKEN", token)).ok();
    // A plain member sees and makes their own, and nobody has keys for nobody.
    let member = |args: &[&str]| run(at(&server, args).env("COUNTERSIGN_TOKEN", token));
    let own = member(&["keys", "list", "--json"]).json();
    assert!(own.as_array().unwrap().iter().all(|key| key["holder"] == "user_dev_2"), "{own}");
    let refused = member(&["keys", "create", "--human", "user_dev"]).failed(4);
    assert!(refused.contains("administrator"), "{refused}");
    let nobody = cli(&server, &["keys", "create", "--agent", "nobody"]).failed(4);
    assert!(nobody.contains("the ID of an existing agent"), "{nobody}");
}

#[test]
fn people_are_added_and_listed_through_a_server() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    cli(&server, &["people", "add-project", "billing"]).ok();
    let ada = ["people", "add", "ada", "--name", "Ada Lovelace", "--project", "billing", "--admin"];
    cli(&server, &ada).ok();
    let agent = ["people", "add-agent", "biller", "--project", "billing", "--owner", "ada"];
    assert_eq!(cli(&server, &[&agent[..], &["--json"]].concat()).json()["owner"], "ada");
    let shown = cli(&server, &["people", "list"]).ok();
    insta::assert_snapshot!("people", shown);
    let listed = cli(&server, &["people", "list", "--json"]).json();
    assert_eq!(listed["people"].as_array().unwrap().len(), 3);
    let link = cli(&server, &["people", "link", "ada"]).ok();
    assert!(link.starts_with(&format!("{}/sign-in?token=", server.url)), "{link}");
    let nobody = cli(&server, &["people", "link", "nobody"]).failed(4);
    assert!(nobody.contains("person not found"), "{nobody}");
    // The environment of the server does not turn this into work on its folder.
    run(at(&server, &["keys", "list"]).env("COUNTERSIGN_DATA", data.path())).ok();
}

/// Names of several words are accepted in both spellings; errors list what is accepted.
#[test]
fn both_spellings_of_a_name_are_accepted() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    for floor in ["agent_attested", "agent-attested"] {
        let set = ["projects", "set", "dev", "--floor", floor, "--json"];
        assert_eq!(cli(&server, &set).json()["floor"], "agent-attested");
    }
    let wrong = cli(&server, &["projects", "set", "dev", "--floor", "agentattested"]).failed(64);
    let listed = "expected none, agent-attested, link, channel, session or passkey; \
                  did you mean \"agent-attested\"?";
    assert!(wrong.contains(listed), "{wrong}");
    let hook = ["webhooks", "add", "http://127.0.0.1:9/", "--agent", "agent_dev", "--json"];
    let format = ["--format", "humanlayer_v1beta1", "--event", "ask.changes-requested"];
    let added = cli(&server, &[&hook[..], &format[..]].concat()).json();
    assert_eq!(added["format"], "humanlayer-v1beta1", "{added}");
    assert_eq!(added["events"], serde_json::json!(["ask.changes_requested"]), "{added}");
    for autonomy in ["plan_then_implement", "plan-then-implement"] {
        cli(&server, &["task", "create", "Tidy up", "--autonomy", autonomy]).ok();
    }
    let wrong = cli(&server, &["task", "create", "Tidy up", "--autonomy", "plan"]).failed(64);
    assert!(wrong.contains("plan_then_implement"), "{wrong}");
}

/// Recipients and quotas of a project: what is not named stays.
#[test]
fn a_project_says_whom_agents_may_reach_and_how_much_they_use() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let set = |more: &[&str]| {
        cli(&server, &[&["projects", "set", "dev", "--json"], more].concat()).json()
    };
    assert_eq!(set(&[])["recipients"], "any", "as development mode has it");
    let closed = ["--recipients", "project", "--allow-recipient", "@example.com"];
    let more = ["--allow-recipient", "slack:*", "--quotas", "agent.open_asks=7"];
    set(&[&closed[..], &more[..]].concat());
    let kept = set(&["--floor", "session"]);
    assert_eq!(kept["recipients"], "project");
    assert_eq!(kept["allowed_recipients"], serde_json::json!(["@example.com", "slack:*"]));
    assert_eq!(kept["quotas"], serde_json::json!({ "agent.open_asks": 7 }));
    let list = cli(&server, &["projects", "list"]).ok();
    assert!(list.contains("project, @example.com, slack:*"), "{list}");
    assert!(list.contains("agent.open_asks=7"), "{list}");
    let none = set(&["--no-allowed-recipients", "--quotas", "usual"]);
    assert_eq!(none["allowed_recipients"], serde_json::json!([]));
    assert_eq!(none["quotas"], serde_json::json!({}));
    let wrong = ["projects", "set", "dev", "--allow-recipient", "fax:1"];
    let wrong = cli(&server, &wrong).failed(64);
    assert!(wrong.contains("slack:C0123ABC"), "{wrong}");
    let wrong = cli(&server, &["projects", "set", "dev", "--quotas", "open=1"]).failed(64);
    assert!(wrong.contains("agent.open_asks"), "{wrong}");
}

/// The minimum assurance for approving what is irreversible: set, kept, shown and removed, through
/// a server and on a folder alike.
#[test]
fn the_minimum_assurance_for_irreversible_requests_is_a_rule_of_a_project() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let rule = |id: &str| {
        let projects = cli(&server, &["projects", "list", "--json"]).json();
        let projects = projects.as_array().unwrap().clone();
        let found = projects.into_iter().find(|project| project["id"] == id).unwrap();
        found["irreversible_assurance"].clone()
    };
    let set = |args: &[&str]| {
        cli(&server, &[&["projects", "set", "dev"], args].concat()).ok();
    };
    assert_eq!(rule("dev"), Value::Null, "a development server has no such rule");
    set(&["--irreversible-assurance", "session"]);
    assert_eq!(rule("dev"), "session");
    set(&["--reminder", "15m"]);
    assert_eq!(rule("dev"), "session", "not named, not changed");
    let shown = cli(&server, &["projects", "list"]).ok();
    assert!(shown.contains("IRREVERSIBLE") && shown.contains("session"), "{shown}");
    set(&["--irreversible-assurance", "none"]);
    assert_eq!(rule("dev"), Value::Null);
    let wrong = cli(&server, &["projects", "set", "dev", "--irreversible-assurance", "sesion"]);
    assert!(wrong.failed(64).contains("did you mean \"session\"?"));
    cli(&server, &["people", "add-project", "billing"]).ok();
    assert_eq!(rule("billing"), Value::Null);
}

/// `people add` adds, `people set` changes what it names; through a server and on a folder alike.
#[test]
fn add_refuses_an_existing_person_and_set_changes_only_what_is_named() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    cli(&server, &["people", "add-project", "billing"]).ok();
    let bob = ["people", "add", "bob", "--name", "Bob", "--project", "billing", "--group", "ops"];
    cli(&server, &bob).ok();
    let person = |shown: &Value| {
        let people = shown["people"].as_array().unwrap();
        people.iter().find(|person| person["id"] == "bob").unwrap().clone()
    };
    let through_server = |args: &[&str]| cli(&server, args);
    let refused = through_server(&["people", "add", "bob", "--email", "bob@example.com"]);
    let refused = refused.failed(4);
    assert!(refused.contains("the person bob exists already"), "{refused}");
    assert!(refused.contains("`countersign people set bob`"), "{refused}");
    let project = through_server(&["people", "add-project", "billing"]).failed(4);
    assert!(project.contains("`countersign projects set billing`"), "{project}");
    through_server(&["people", "set", "bob", "--email", "bob@example.com"]).ok();
    let bob = person(&through_server(&["people", "list", "--json"]).json());
    assert_eq!(bob["email"], "bob@example.com");
    assert_eq!((&bob["name"], &bob["projects"][0]), (&"Bob".into(), &"billing".into()));
    assert_eq!((&bob["groups"][0], &bob["active"]), (&"ops".into(), &true.into()));
    // An address that is taken is another mistake.
    let twin = through_server(&["people", "add", "twin", "--email", "bob@example.com"]).failed(4);
    assert!(twin.contains("email address") && !twin.contains("people set"), "{twin}");
    through_server(&["people", "set", "bob", "--admin", "--no-email", "--no-groups"]).ok();
    let bob = person(&through_server(&["people", "list", "--json"]).json());
    assert_eq!((&bob["admin"], &bob["email"]), (&true.into(), &Value::Null));
    assert_eq!((&bob["groups"], &bob["name"]), (&serde_json::json!([]), &"Bob".into()));
    let nobody = through_server(&["people", "set", "nobody", "--active=false"]).failed(4);
    assert!(nobody.contains("person not found"), "{nobody}");
    let unknown = through_server(&["people", "set", "bob", "--project", "nowhere"]).failed(4);
    assert!(unknown.contains("there is no project nowhere"), "{unknown}");
    through_server(&["people", "add", "gone"]).ok();
    let refused = through_server(&["people", "erase", "gone"]).failed(4);
    assert!(refused.contains("--yes"), "{refused}");
    through_server(&["people", "erase", "gone", "--yes"]).ok();
    let again = through_server(&["people", "add", "gone"]).failed(4);
    assert!(again.contains("the id cannot be used again"), "{again}");
    let nothing = through_server(&["people", "set", "bob"]).failed(64);
    assert!(nothing.contains("--email"), "{nothing}");
    server.stop();

    let refused = on(data.path(), &["people", "add", "bob"]).failed(4);
    assert!(refused.contains("`countersign people set bob`"), "{refused}");
    on(data.path(), &["people", "set", "bob", "--admin=false", "--no-projects"]).ok();
    let bob = person(&on(data.path(), &["people", "list", "--json"]).json());
    assert_eq!((&bob["admin"], &bob["projects"]), (&false.into(), &serde_json::json!([])));
    assert_eq!(bob["name"], "Bob");
}

#[test]
fn a_stopped_server_is_managed_on_its_folder() {
    let data = tempfile::tempdir().unwrap();
    let missing = on(data.path(), &["keys", "list"]).failed(4);
    assert!(missing.contains("there is no database at"), "{missing}");
    Server::dev(data.path()).stop();

    on(data.path(), &["people", "add", "ada", "--name", "Ada", "--project", "dev"]).ok();
    let agent = ["people", "add-agent", "helper", "--project", "dev", "--owner", "ada"];
    on(data.path(), &agent).ok();
    let secret = on(data.path(), &["keys", "create", "--agent", "helper"]).ok();
    let token = on(data.path(), &["keys", "create", "--human", "ada", "--json"]).json();
    let token = token["secret"].as_str().unwrap();
    assert!(on(data.path(), &["agents", "list"]).ok().contains("helper"));
    assert!(on(data.path(), &["people", "list"]).ok().contains("Ada"));
    let link = on(data.path(), &["people", "link", "ada"]).ok();
    assert!(link.starts_with("http://localhost:3402/sign-in?token="), "{link}");
    let public = ["people", "link", "ada", "--public-url", "https://ask.example.com", "--json"];
    let link = on(data.path(), &public).json();
    assert!(link["url"].as_str().unwrap().starts_with("https://ask.example.com/sign-in?"));
    let nobody = on(data.path(), &["people", "link", "nobody"]).failed(4);
    assert!(nobody.contains("there is no person nobody"), "{nobody}");
    // The same by the settings of the server.
    let mut described = offline(data.path(), &["keys", "list", "--offline", "--json"]);
    let listed = run(described.env("COUNTERSIGN_DATA", data.path())).json();
    let dev = key(&listed, "dev")["id"].as_str().unwrap().to_owned();
    on(data.path(), &["keys", "revoke", &dev]).ok();

    let server = Server::dev(data.path());
    let mut ask = at(&server, &["ask", "Go?", "--json"]);
    let ask = run(ask.env("COUNTERSIGN_API_KEY", secret.trim())).json();
    let id = ask["id"].as_str().unwrap();
    run(at(&server, &["answer", id, "approve"]).env("COUNTERSIGN_TOKEN", token)).ok();
    assert!(cli(&server, &["ask", "x"]).failed(4).contains("COUNTERSIGN_API_KEY"), "revoked");
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let _server = Server::dev(data.path());
    for words in [&["keys", "list"][..], &["people", "add", "ada"], &["people", "link", "user_dev"]]
    {
        let busy = on(data.path(), words).failed(4);
        assert!(busy.contains("another Countersign process is using"), "{busy}");
        assert!(busy.contains("stop it, or connect to it with --url"), "{busy}");
    }
}

#[test]
fn sessions_are_listed_and_ended_through_a_server_and_without() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    assert_eq!(cli(&server, &["sessions", "list", "--json"]).json(), serde_json::json!([]));
    assert!(cli(&server, &["sessions", "list"]).ok().starts_with("ID"));
    let said = cli(&server, &["sessions", "revoke-all"]).ok();
    assert_eq!(said, "Signed out user_dev everywhere.\n");
    let said = cli(&server, &["sessions", "revoke-all", "--human", "user_dev_2", "--json"]).json();
    assert_eq!(said, serde_json::json!({ "signed_out": "user_dev_2" }));
    let nobody = cli(&server, &["sessions", "list", "--human", "nobody"]).failed(4);
    assert!(nobody.contains("person not found"), "{nobody}");
    drop(server);
    let who = on(data.path(), &["sessions", "list"]).failed(4);
    assert!(who.contains("--human"), "{who}");
    let none = on(data.path(), &["sessions", "list", "--human", "user_dev", "--json"]).json();
    assert_eq!(none, serde_json::json!([]));
    on(data.path(), &["sessions", "revoke-all", "--human", "user_dev"]).ok();
}

#[test]
fn access_and_tokens_are_ended_and_passkeys_confirmed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let token = cli(&server, &["keys", "create", "--human", "user_dev_2", "--json"]).json();
    let token = token["secret"].as_str().unwrap();
    let inbox = || run(at(&server, &["inbox"]).env("COUNTERSIGN_TOKEN", token));
    inbox().ok();
    let said = cli(&server, &["people", "end-access", "user_dev_2"]).ok();
    assert!(said.starts_with("All access of user_dev_2 is revoked."), "{said}");
    inbox().failed(4);
    let own = cli(&server, &["people", "end-access", "user_dev"]).failed(4);
    assert!(own.contains("another administrator"), "{own}");

    cli(&server, &["keys", "create", "--agent", "agent_dev", "--label", "leaked"]).ok();
    let listed = cli(&server, &["keys", "list", "--json"]).json();
    let id = key(&listed, "leaked")["id"].as_str().unwrap().to_owned();
    let said = cli(&server, &["keys", "revoke", &id, "--end-tokens"]).ok();
    assert_eq!(said, format!("Revoked {id}.\n"));
    let none = cli(&server, &["keys", "confirm", &id]).failed(4);
    assert!(none.contains("passkey not found"), "{none}");
    drop(server);
    let said = on(data.path(), &["people", "end-access", "user_dev", "--json"]).json();
    assert_eq!(said, serde_json::json!({ "access_ended": "user_dev" }));
}
