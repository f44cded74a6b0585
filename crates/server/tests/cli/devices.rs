//! `countersign devices`: where somebody is told that something waits.

use serde_json::{Value, json};

use crate::cli;
use crate::support::Server;

/// A device whose push service is not there.
fn device(server: &Server) -> String {
    let keys = json!({
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    let body =
        json!({ "endpoint": "http://127.0.0.1:9/s3cret", "keys": keys, "label": "my phone" });
    let made = async {
        let request = reqwest::Client::new().post(format!("{}/api/v1/me/push", server.url));
        let request = request.bearer_auth("dev-human-token").json(&body);
        request.send().await.unwrap().json::<Value>().await.unwrap()
    };
    let made = tokio::runtime::Runtime::new().unwrap().block_on(made);
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn devices_are_listed_tried_and_removed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    assert_eq!(cli(&server, &["devices", "list", "--json"]).json(), json!([]));
    let id = device(&server);
    let listed = cli(&server, &["devices", "list"]).ok();
    assert!(listed.contains(&id) && listed.contains("my phone"), "{listed}");
    assert!(!listed.contains("s3cret"), "{listed}");
    let tried = cli(&server, &["devices", "test", &id]);
    assert!(tried.out.contains("does not accept it now: cannot connect"), "{}", tried.out);
    tried.failed(1);
    cli(&server, &["devices", "test", "nonsense"]).failed(64);
    assert!(cli(&server, &["devices", "remove", &id]).ok().contains("Removed"));
    let gone = cli(&server, &["devices", "remove", &id]).failed(4);
    assert!(gone.contains("device"), "{gone}");
}
