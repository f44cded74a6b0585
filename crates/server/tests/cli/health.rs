//! `health`: what a supervisor that can only run a command learns.

use super::support::Server;
use super::{cli, run};

#[test]
fn a_server_is_ready_or_it_is_said_why_not() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    assert_eq!(cli(&server, &["health"]).ok(), format!("{} is ready.\n", server.url));
    let json = cli(&server, &["health", "--json", "--url", &format!("{}/", server.url)]).json();
    assert_eq!(json, serde_json::json!({ "ready": true, "why": null }));

    // Something that answers, but is no server of ours that is ready.
    let elsewhere = format!("{}/inbox", server.url);
    let said = cli(&server, &["health", "--url", &elsewhere]).failed(1);
    assert!(said.contains("not ready") && said.contains("404"), "{said}");
    let mut gone = super::at(&server, &["health"]);
    server.stop();
    let said = run(&mut gone).failed(1);
    assert!(said.contains("cannot fetch"), "{said}");
}
