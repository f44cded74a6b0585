//! `countersign callbacks`: whether an agent was told that its request is over.

use serde_json::{Value, json};

use crate::support::{Server, eventually};
use crate::{asked, cli};

/// A case that wants to be called back where nobody listens.
fn case(server: &Server) -> String {
    let body = json!({
        "type": "approval", "prompt": "Go?", "hitl_callback_url": "http://127.0.0.1:9/hook?key=k",
    });
    let made = async {
        let request = reqwest::Client::new().post(format!("{}/hitl/v1/cases", server.url));
        let request = request.bearer_auth("dev-agent-key").json(&body);
        request.send().await.unwrap().json::<Value>().await.unwrap()
    };
    let made = tokio::runtime::Runtime::new().unwrap().block_on(made);
    made["hitl"]["case_id"].as_str().unwrap().to_owned()
}

/// HITL-184: what came of each attempt, and one more on demand.
#[test]
fn attempts_are_shown_and_repeated() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = case(&server);
    let said = cli(&server, &["callbacks", &id]).ok();
    assert_eq!(said, "http://127.0.0.1:9 was not called yet.\n");
    let early = cli(&server, &["callbacks", &id, "--again"]).failed(4);
    assert!(early.contains("once it is closed"), "{early}");
    cli(&server, &["cancel", &id]).ok();
    let said = eventually("an attempt", || {
        Some(cli(&server, &["callbacks", &id]).ok()).filter(|said| said.contains("cannot connect"))
    });
    assert!(!said.contains("key=k"), "an address may hold secrets: {said}");
    let said = cli(&server, &["callbacks", &id, "--again"]).ok();
    assert!(said.ends_with("http://127.0.0.1:9 will be called again.\n"), "{said}");
    let shown = cli(&server, &["callbacks", &id, "--json"]).json();
    assert_eq!(shown["attempts"][0]["result"], "unreached");
    let quiet = asked(&server, &["Well?"]);
    let said = cli(&server, &["callbacks", &quiet]).ok();
    assert_eq!(said, "This request has no callback address.\n");
}
