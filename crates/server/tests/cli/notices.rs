//! `countersign notices`: how somebody is told that something waits.

use channels::testing::webhook::{Program, SECRET};
use serde_json::{Value, json};

use super::support::{eventually, serve};
use crate::cli;
use crate::support::Server;

/// A server that tells people through a program.
fn told_by(program: &Program, data: &std::path::Path) -> Server {
    let url = program.settings().url;
    let settings = ["--channel-webhook-url", url.as_str(), "--channel-webhook-secret", SECRET];
    Server::start(serve(data).arg("--dev").args(settings))
}

/// The means that stand in a list, in order, that are used.
fn used(listed: &Value) -> Vec<&str> {
    let used = |way: &&Value| way["verified"] == true && way["off"] == false;
    let ways = listed["ways"].as_array().unwrap().iter().filter(used);
    ways.map(|way| way["means"].as_str().unwrap()).collect()
}

#[test]
fn ways_are_added_verified_ordered_turned_off_and_removed() {
    let data = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let program = runtime.block_on(Program::start()).unwrap();
    let server = told_by(&program, data.path());
    let notices = |words: &[&str]| cli(&server, &[&["notices"], words].concat());

    let added = notices(&["add", "webhook:ada"]).ok();
    assert!(added.contains("webhook:ada") && added.contains("not verified"), "{added}");
    let sent = notices(&["verify", "webhook:ada"]).ok();
    assert!(sent.contains("on its way to webhook:ada"), "{sent}");
    let code = eventually("a code", || {
        let said = program.received().last()?["card"].to_string();
        let digits = said.split(|c: char| !c.is_ascii_digit()).find(|word| word.len() == 6)?;
        Some(digits.to_owned())
    });
    let wrong = notices(&["verify", "webhook:ada", "none"]).failed(4);
    assert!(wrong.contains("code"), "{wrong}");
    let verified = notices(&["verify", "webhook:ada", &code, "--json"]).json();
    assert_eq!(used(&verified), ["devices", "webhook:ada"]);

    let first = notices(&["set", "--order", "webhook:ada", "--digest", "08:30", "--json"]).json();
    assert_eq!(used(&first), ["webhook:ada", "devices"]);
    assert_eq!(first["digest"], json!({ "every": "day", "at": "08:30" }));
    let off = notices(&["set", "--off", "devices", "--digest", "hour", "--json"]).json();
    assert_eq!((used(&off), &off["digest"]), (vec!["webhook:ada"], &json!({ "every": "hour" })));
    let shown = notices(&["show"]).ok();
    for words in ["CONTACT METHOD", "webhook:ada", "used", "devices", "off", "every hour"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    // What is not given stays; an empty text takes a thing back.
    let back = notices(&["set", "--off", "", "--order", "", "--json"]).json();
    assert_eq!((used(&back), &back["digest"]), (vec!["devices", "webhook:ada"], &off["digest"]));

    assert!(notices(&["remove", "webhook:ada"]).ok().contains("Removed"));
    assert_eq!(used(&notices(&["show", "--json"]).json()), ["devices"]);
    let gone = notices(&["remove", "webhook:ada"]).failed(4);
    assert!(gone.contains("contact"), "{gone}");
    server.stop();
}

#[test]
fn what_cannot_be_meant_is_said() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let notices = |words: &[&str]| cli(&server, &[&["notices"], words].concat());
    for (words, code, says) in [
        (&["set", "--digest", "noon"][..], 64, "expected off, hour, or a time of day"),
        (&["set", "--order", "pigeon:ada"], 4, "expected `devices` or an address"),
        (&["set", "--off", "email:nobody@example.com"], 4, "off"),
        (&["add", "pigeon:ada"], 64, "expected `devices` or an address"),
        (&["add", "devices"], 4, "a device is added in its own browser"),
        (&["verify", "sms:+4930123456"], 4, "contact"),
    ] {
        let said = notices(words).failed(code);
        assert!(said.contains(says), "{words:?}: {said}");
    }
    // Nothing of it changed anything.
    assert_eq!(used(&notices(&["show", "--json"]).json()), ["devices"]);
    server.stop();
}
