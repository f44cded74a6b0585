//! Asking, waiting, showing and answering.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::support::{Server, countersign, eventually};
use super::{Ran, asked, at, cli, masked, run};

/// `ask … --wait` in the background, once it has said what it asked.
struct Waiting {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    id: String,
}

impl Waiting {
    fn new(server: &Server, args: &[&str]) -> Self {
        let mut command = at(server, args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let id = line.split([' ', ';', '…']).find(|word| word.starts_with("ask_"));
        let id = id.unwrap_or_else(|| panic!("no id in {line}")).to_owned();
        Self { child, stderr, id }
    }

    fn ended(mut self) -> Ran {
        let status = eventually("the command ends", || self.child.try_wait().unwrap());
        let (mut out, mut err) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.stderr.read_to_string(&mut err).unwrap();
        Ran { code: status.code().unwrap(), out, err }
    }
}

/// The link is for the person who looks on; programs read standard output.
#[test]
fn waiting_prints_the_link_of_the_request() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let asking = Waiting::new(&server, &["ask", "Deploy v2.1?", "--wait"]);
    let id = asking.id.clone();
    cli(&server, &["answer", &id, "approve"]).ok();
    let ran = asking.ended();
    assert!(ran.err.contains(&format!("{}/asks/{id}", server.url)), "{}", ran.err);
    assert!(!ran.out.contains("/asks/"), "{}", ran.out);
}

#[test]
fn route_tag_key_and_editable_are_flags_of_ask() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let body = r#"{"amount": 120, "note": "as asked"}"#;
    let ask = |args: &[&str]| cli(&server, &[&["ask", "Refund?", "--json"], args].concat());
    let args = ["--details", body, "--editable", "--tag", "money", "--tag", "eu"];
    let key = ["--key", "refund-7", "--route", "user_dev"];
    let made = ask(&[&args[..], &key[..]].concat()).json();
    assert_eq!(made["tags"], serde_json::json!(["eu", "money"]));
    assert_eq!(made["question"]["editable"], true);
    assert_eq!(made["seats"][0]["human"], "user_dev", "{made}");
    let again = ask(&[&args[..], &key[..]].concat()).json();
    assert_eq!(again["id"], made["id"], "the same key asks once");
    let other = ask(&["--key", "refund-7"]).failed(4);
    assert!(other.contains("idempotency key"), "{other}");
    for (route, seat) in [
        ("person:user_dev_2", serde_json::json!({ "seat": "person", "human": "user_dev_2" })),
        ("pool", serde_json::json!({ "seat": "pool", "group": null })),
        ("@ops", serde_json::json!({ "seat": "pool", "group": "ops" })),
    ] {
        if route == "@ops" {
            cli(&server, &["groups", "set", "ops", "--member", "user_dev"]).ok();
        }
        assert_eq!(ask(&["--route", route]).json()["seats"][0], seat);
    }

    for odd in [&["--option", "a", "--editable"][..], &["--message", "--editable"]] {
        let refused = ask(odd).failed(64);
        assert!(refused.contains("--editable"), "{refused}");
    }
    let refused = ask(&["--key", ""]).failed(64);
    assert!(refused.contains("--key <KEY>") && refused.contains("at least one"), "{refused}");

    // What was edited is shown by whoever answers and by whoever looks later.
    let id = made["id"].as_str().unwrap();
    let answered = cli(&server, &["answer", id, "approve", "--edit", "amount=100"]).ok();
    let shown = cli(&server, &["show", id]).ok();
    for text in [&answered, &shown] {
        assert!(text.contains("→ approved with changes"), "{text}");
        assert!(text.contains("amount  120 → 100"), "{text}");
        assert!(!text.contains("note  as asked →"), "{text}");
    }
}

/// 0 approved, 1 denied, 2 expired, 3 cancelled; with `wait` as with `ask --wait`.
#[test]
fn the_exit_code_is_the_decision() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let wait = || Waiting::new(&server, &["ask", "Deploy v2.1?", "--approve", "--wait"]);

    let asking = wait();
    let id = asking.id.clone();
    cli(&server, &["answer", &id, "approve", "-c", "go"]).ok();
    let ran = asking.ended();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("Deploy v2.1?"), "{}", ran.out);
    assert!(ran.out.contains("→ approved (go)\n    by user_dev on 2"), "{}", ran.out);
    assert_eq!(cli(&server, &["wait", &id]).code, 0);

    let asking = wait();
    let id = asking.id.clone();
    cli(&server, &["answer", &id, "reject", "--comment", "not on a Friday"]).ok();
    let ran = asking.ended();
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("→ rejected (not on a Friday)"), "{}", ran.out);
    assert_eq!(cli(&server, &["wait", &id]).code, 1);

    let asking = Waiting::new(&server, &["ask", "Quick?", "--wait", "--timeout", "1"]);
    let id = asking.id.clone();
    let ran = asking.ended();
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("→ no one answered\n    until 2"), "{}", ran.out);
    assert_eq!(cli(&server, &["wait", &id]).code, 2);

    let asking = wait();
    let id = asking.id.clone();
    let said = cli(&server, &["cancel", &id, "--reason", "shipped already"]).ok();
    assert!(said.contains("→ cancelled (shipped already)"), "{said}");
    let ran = asking.ended();
    assert_eq!(ran.code, 3);
    assert!(
        ran.out.contains("→ cancelled (shipped already)\n    by agent_dev on 2"),
        "{}",
        ran.out
    );
    let again = cli(&server, &["cancel", &id]).failed(4);
    assert!(again.contains("cancelled by agent_dev"), "{again}");
    assert_eq!(cli(&server, &["wait", &id]).code, 3);
}

#[test]
fn json_is_one_object_on_standard_output() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let asking = Waiting::new(&server, &["ask", "Go?", "--wait", "--json"]);
    let id = asking.id.clone();
    let shown = cli(&server, &["show", &id, "--json"]).json();
    assert_eq!((&shown["id"], &shown["state"]), (&Value::from(&*id), &Value::from("pending")));
    let answered = cli(&server, &["answer", &id, "yes", "--json"]).json();
    assert_eq!(answered["result"]["via"], "api", "a program's name for itself proves nothing");
    let ended = asking.ended().json();
    assert_eq!(ended["state"], "completed");
    assert_eq!(ended["result"]["answer"]["verdict"], "approved");
    let waited = cli(&server, &["wait", &id, "--json"]).json();
    assert_eq!(waited["result"], ended["result"]);
    // Any prefix, or none, names the same request.
    let bare = id.trim_start_matches("ask_");
    for name in [bare.to_owned(), format!("hxp_{bare}")] {
        assert_eq!(cli(&server, &["show", &name, "--json"]).json()["id"], *id);
    }
}

#[test]
fn every_kind_is_shown_and_answered() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let demo = cli(&server, &["demo", "--no-wait", "--json"]).json();
    let mut shown = String::new();
    let words: [&[&str]; 6] = [
        &["changes", "-c", "half of it"],
        &["Team, €49 a month"],
        &["venue=Town Hall", "day=2026-12-01", "guests=40", "catering=yes"],
        &["confirm"],
        &["retry"],
        &["Yes,", "we", "do."],
    ];
    for (ask, words) in demo.as_array().unwrap().iter().zip(words) {
        let id = ask["id"].as_str().unwrap();
        shown += &cli(&server, &["show", id]).ok();
        // One of them is critical, so the command asks for a confirmation.
        shown += &cli(&server, &[&["answer", id, "--yes"], words].concat()).ok();
        shown += "\n";
    }
    insta::assert_snapshot!("every_kind", masked(&shown));
}

#[test]
fn options_and_values_from_the_command_line() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = asked(&server, &["Which?", "--option", "Monday", "--option", "next week"]);
    let wrong = cli(&server, &["answer", &id, "never"]).failed(4);
    assert!(wrong.contains("the options are Monday, next week"), "{wrong}");
    assert!(cli(&server, &["answer", &id, "next week"]).ok().contains("→ next week"));

    let id = asked(&server, &["How many?", "--provide", "number"]);
    let wrong = cli(&server, &["answer", &id, "several"]).failed(4);
    assert!(wrong.contains("number"), "{wrong}");
    assert!(cli(&server, &["answer", &id, "12"]).ok().contains("→ 12\n    by user_dev"));
    let again = cli(&server, &["answer", &id, "13"]).failed(4);
    assert!(again.contains("already answered by user_dev"), "{again}");

    let id = asked(&server, &["The contract?", "--provide", "file"]);
    assert!(cli(&server, &["answer", &id, "a.pdf"]).failed(4).contains("on the page"));
    let id = asked(&server, &["Any news?", "--message", "--context", "The board asks."]);
    assert!(cli(&server, &["show", &id]).ok().contains("The board asks."));
    assert!(cli(&server, &["answer", &id, "no", "news"]).ok().contains("→ no news"));

    let id = asked(
        &server,
        &["Pay?", "--details", r#"{"amount":"€1\u202e2"}"#, "--priority", "critical"],
    );
    let shown = cli(&server, &["show", &id]).ok();
    assert!(shown.contains("pending, URGENT") && shown.contains("⟨U+202E⟩"), "{shown}");
    let wrong = cli(&server, &["answer", &id, "perhaps"]).failed(4);
    assert!(wrong.contains("approve | reject | changes"), "{wrong}");
    assert!(cli(&server, &["ask", "x", "--details", "[]"]).failed(4).contains("a JSON object"));
    assert!(cli(&server, &["show", "ask_nothing"]).failed(4).contains("request not found"));
}

/// A server that is restarted is waited for.
#[test]
fn waiting_outlives_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let port = format!("127.0.0.1:{}", server.port());
    let asking = Waiting::new(&server, &["ask", "Go?", "--wait"]);
    server.kill();
    let mut again = super::support::serve(data.path());
    let server = Server::start(again.args(["--dev", "--listen", &port]));
    cli(&server, &["answer", &asking.id, "approve"]).ok();
    let ran = asking.ended();
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn giving_up_says_so() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = asked(&server, &["Go?"]);
    let late = cli(&server, &["wait", &id, "--up-to", "0"]).failed(4);
    assert!(late.contains("is still pending after 0 seconds"), "{late}");
    // As long as one likes.
    let asking = Waiting::new(&server, &["wait", &id, "--up-to", &u64::MAX.to_string()]);
    cli(&server, &["answer", &id, "approve"]).ok();
    assert_eq!(asking.ended().code, 0);
}

#[test]
fn who_and_where_are_said_when_they_are_wrong() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&mut super::support::serve(data.path()));
    // This is no --dev server, so its credentials are not known here.
    let ran = cli(&server, &["ask", "x"]).failed(4);
    assert!(ran.contains("Set COUNTERSIGN_API_KEY"), "{ran}");
    let ran = cli(&server, &["inbox"]).failed(4);
    assert!(ran.contains("you are not signed in") && ran.contains("/settings/tokens"), "{ran}");
    let wrong =
        run(at(&server, &["ask", "x"]).env("COUNTERSIGN_API_KEY", "one-letter-off")).failed(4);
    assert!(wrong.contains("does not accept COUNTERSIGN_API_KEY"), "{wrong}");
    assert!(!wrong.contains("one-letter-off"), "the key is shown: {wrong}");
    let wrong = run(at(&server, &["show", "ask_1"]).env("COUNTERSIGN_TOKEN", "m")).failed(4);
    assert!(wrong.contains("does not accept COUNTERSIGN_TOKEN"), "{wrong}");

    let nobody = run(countersign().args(["inbox", "--url", "http://127.0.0.1:1"])).failed(4);
    assert!(nobody.contains("no server answers at http://127.0.0.1:1"), "{nobody}");
    assert!(nobody.contains("countersign serve"), "{nobody}");
    let far = run(countersign().args(["inbox", "--url", "https://ask.example.com"])).failed(4);
    assert!(far.contains("you are not signed in. Run `countersign login http"), "{far}");
    let odd = run(countersign()
        .args(["inbox", "--url", "ftp://localhost"])
        .env("COUNTERSIGN_TOKEN", "t"))
    .failed(4);
    assert!(odd.contains("not an http or https URL"), "{odd}");
}
