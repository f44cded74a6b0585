//! `doctor`: what applies, what is wrong, and no secret.

use std::path::PathBuf;
use std::process::Command;

use super::support::{Server, countersign};
use super::{at, run};

fn doctor(data: &std::path::Path) -> Command {
    let mut command = countersign();
    command.args(["doctor", "--data"]).arg(data).env("COUNTERSIGN_LISTEN", "127.0.0.1:0");
    command
}

#[test]
fn good_settings_are_shown_without_their_secrets() {
    let data = tempfile::tempdir().unwrap();
    let secrets = |command: &mut Command| {
        command
            .env("COUNTERSIGN_EVIDENCE_SECRET", "hunter2")
            .env("AGENT_API_KEYS", "key-one,key-two")
            .env("COUNTERSIGN_HUMAN_TOKENS", "token-one");
        run(command)
    };
    let shown = secrets(&mut doctor(data.path())).ok();
    let json = secrets(doctor(data.path()).arg("--json"));
    for secret in ["hunter2", "key-one", "key-two", "token-one"] {
        assert!(!shown.contains(secret) && !json.out.contains(secret), "{secret}: {shown}");
    }
    assert!(shown.contains("evidence_secret = \"(hidden)\""), "{shown}");
    assert!(shown.contains("ok     database:") && shown.contains("first start"), "{shown}");
    assert!(!data.path().join("countersign.db").exists(), "looking makes nothing");
    let json = json.json();
    assert_eq!(json["healthy"], true);
    assert_eq!(json["given"]["agent_api_keys"][0], "(hidden)");
}

/// A mistyped variable has no effect: the server and `doctor` refuse it, other commands warn.
#[test]
fn mistyped_variables_are_reported() {
    let data = tempfile::tempdir().unwrap();
    let mistyped = |command: &mut Command| {
        run(command.env("COUNTERSIGN_PUBLICURL", "https://ask.example.com"))
    };
    let said = "unknown environment variable COUNTERSIGN_PUBLICURL, which has no effect; \
                did you mean \"COUNTERSIGN_PUBLIC_URL\"?";
    let looked = mistyped(&mut doctor(data.path()));
    assert_eq!(looked.code, 1);
    assert!(looked.out.contains(&format!("WRONG  environment: {said}")), "{}", looked.out);
    let serve = mistyped(countersign().args(["serve", "--dev", "--listen", "127.0.0.1:0"]));
    assert!(serve.failed(4).contains(said));
    let server = Server::dev(data.path());
    let warned = mistyped(&mut at(&server, &["people", "list"]));
    assert!(warned.err.contains(said), "{}", warned.err);
    warned.ok();
    // What platforms and clients set is no typo.
    let mut fine = at(&server, &["people", "list"]);
    fine.env("COUNTERSIGN_SERVICE_HOST", "10.0.0.7").env("COUNTERSIGN_BIN", "/bin/countersign");
    assert_eq!(run(fine.env("COUNTERSIGN_PORT", "tcp://10.0.0.7:3402")).err, "");
}

/// A runtime without a program would be tried for a day before anybody noticed.
#[test]
fn programs_of_runtimes_are_looked_for() {
    let data = tempfile::tempdir().unwrap();
    let with = |command: &str| {
        let command = format!("agent_dev={command}");
        run(doctor(data.path()).env("COUNTERSIGN_RUNTIME_COMMAND", command))
    };
    let good = with("/bin/sh -c true").ok();
    assert!(good.contains("ok     runtime: agent_dev: /bin/sh is executable"), "{good}");
    assert!(good.contains("runtimes    agent_dev"), "{good}");
    for wrong in ["/nowhere/devin", data.path().to_str().unwrap()] {
        let ran = with(wrong);
        assert!(ran.code == 1 && ran.out.contains("WRONG  runtime: agent_dev:"), "{}", ran.out);
    }
}

/// Who can prove that a person is there is listed, and half of it is wrong. Their keys are nobody's
/// to read here.
#[test]
fn providers_of_proofs_are_listed() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("settings.toml");
    let key =
        r#"{ kty = "OKP", crv = "Ed25519", x = "6JUQe4laSsX4QnhCjYpHCYhT8Mz5pk3Ve4xAqlObrHM" }"#;
    let whole = format!(
        "[verification.acme]\nissuer = \"https://id.example\"\naudience = \"us\"\n\
         jwks_inline = {{ keys = [{key}] }}\n"
    );
    std::fs::write(&file, &whole).unwrap();
    let shown = run(doctor(data.path()).arg("--config").arg(&file)).ok();
    assert!(shown.contains("proofs      acme (https://id.example)"), "{shown}");
    assert!(shown.contains("jwks_inline = \"(hidden)\"") && !shown.contains("6JUQ"), "{shown}");
    for (line, said) in
        [("audience = \"us\"", "verification.acme: audience is missing"), ("issuer = ", "isuer")]
    {
        let broken = whole.replace(line, if said == "isuer" { "isuer = " } else { "" });
        std::fs::write(&file, broken).unwrap();
        let ran = run(doctor(data.path()).arg("--config").arg(&file));
        assert!(ran.code == 1 && ran.out.contains(said), "{}", ran.out);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let data = tempfile::tempdir().unwrap();
    let says = |command: &mut Command, what: &str| {
        let ran = run(command);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("WRONG") && ran.out.contains(what), "{}", ran.out);
    };
    says(doctor(data.path()).args(["--listen", "0.0.0.0:0"]), "without TLS");
    says(doctor(data.path()).args(["--listen", "localhost"]), "expected HOST:PORT");
    let half = "tls_cert and tls_key must be set together";
    says(doctor(data.path()).args(["--tls-cert", "x.pem"]), half);
    says(
        doctor(data.path()).args(["--database", "mysql:x"]),
        "expected postgres://…, sqlite:FILE or memory:",
    );
    says(doctor(data.path()).args(["--body-limit", "1"]), "at least 4096");
    says(doctor(data.path()).args(["--public-url", "http://ask.example.com"]), "plain HTTP");
    says(doctor(data.path()).args(["--evidence-secret-file", "/nowhere"]), "/nowhere");
    let gone = "smtp://127.0.0.1:1?tls=none&from=a%40b.example";
    says(
        doctor(data.path()).args(["--smtp-url", gone]),
        "mail: 127.0.0.1:1 (no TLS), from a@b.example",
    );
    let half = "smtp://u:hush@mail.example.com";
    says(
        doctor(data.path()).args(["--smtp-url", half]),
        "smtp_url: from: expected the sender address",
    );
    let provider = ["--oidc-issuer", "http://127.0.0.1:1", "--oidc-client-id", "x"];
    says(doctor(data.path()).args(provider), "oidc: http://127.0.0.1:1/");
    says(doctor(data.path()).args(["--oidc-client-id", "x"]), "oidc_issuer and oidc_client_id");
    let key =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults/fixtures/test-only-key.pem");
    says(doctor(data.path()).arg("--tls-cert").arg(&key).arg("--tls-key").arg(&key), "tls:");
    let file = data.path().join("settings.toml");
    std::fs::write(&file, "lisen = \"localhost:1\"").unwrap();
    says(doctor(data.path()).arg("--config").arg(&file), "lisen");
    std::fs::write(data.path().join("countersign.db"), "not a database").unwrap();
    says(&mut doctor(data.path()), "database:");
}

/// Whoever runs it sees how long words are kept, and what the setting expects.
#[test]
fn retention_is_told() {
    let data = tempfile::tempdir().unwrap();
    assert!(run(&mut doctor(data.path())).out.contains("retention   off"));
    let kept = run(doctor(data.path()).args(["--retention", "400d"])).out;
    assert!(kept.contains("retention   text of closed requests is erased after 400d"), "{kept}");
    let wrong = run(doctor(data.path()).args(["--retention", "soon"]));
    assert_eq!(wrong.code, 64);
    assert!(wrong.err.contains("such as 30d"), "{}", wrong.err);
}

/// And which projects keep them for another while.
#[test]
fn projects_that_differ_are_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    for (project, retention) in [("dev", "2d"), ("dev2", "off"), ("other", "400d")] {
        let set = ["projects", "set", project, "--retention", retention];
        run(&mut at(&server, &set)).ok();
    }
    let kept = run(doctor(data.path()).args(["--retention", "400d"])).out;
    assert!(
        kept.contains("ok     retention: project dev: text of closed requests is erased after 2d"),
        "{kept}"
    );
    assert!(kept.contains("ok     retention: project dev2: text is kept until"), "{kept}");
    assert!(!kept.contains("project other"), "{kept}");
}

#[test]
fn an_address_in_use_is_wrong_unless_it_is_ours() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::dev(data.path());
    let address = format!("127.0.0.1:{}", server.port());
    let ours = run(doctor(data.path()).args(["--listen", &address])).ok();
    assert!(ours.contains("a server is running on this database"), "{ours}");
    let other = run(doctor(other.path()).args(["--listen", &address]));
    assert_eq!(other.code, 1);
    assert!(other.out.contains("Address already in use"), "{}", other.out);
}

/// Blocks that nobody else knows can be taken back with everything else: it is recommended, not
/// wrong.
#[test]
fn anchoring_is_recommended() {
    let data = tempfile::tempdir().unwrap();
    let without = run(&mut doctor(data.path())).ok();
    assert!(
        without.contains("WARN   anchoring: ") && without.contains("anchor_command"),
        "{without}"
    );
    let json = run(doctor(data.path()).arg("--json")).json();
    assert_eq!(json["healthy"], true);
    let findings = json["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["what"] == "anchoring").unwrap();
    assert_eq!((&found["ok"], &found["warning"]), (&true.into(), &true.into()));
    let with = run(doctor(data.path()).args(["--anchor-command", "/bin/cat >> /tmp/x"])).ok();
    assert!(with.contains("ok     anchoring: the anchor command receives every block"), "{with}");
    let gone = run(doctor(data.path()).args(["--anchor-command", "/nowhere/anchor"]));
    assert!(gone.code == 1 && gone.out.contains("WRONG  anchoring: "), "{}", gone.out);
}
