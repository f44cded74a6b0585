//! A person who is erased while the process dies: what was acknowledged holds, and the same server
//! started again, or another node, goes on until nothing that the person wrote is left.

use reqwest::Method;
use serde_json::json;

use super::agent::{AGENT, Caller, HUMAN, until};
use super::test_storage::Place;

/// The words on each are erased by a transaction of its own, so that a kill can come between two.
const REQUESTS: usize = 40;

#[tokio::test]
async fn a_person_stays_erased_after_kill_nine() {
    erased_whenever_a_process_dies(Place::sqlite()).await;
}

#[tokio::test]
async fn a_person_is_erased_by_another_node() {
    if let Some(place) = Place::postgres().await {
        erased_whenever_a_process_dies(place).await;
    }
}

async fn erased_whenever_a_process_dies(place: Place) {
    let mut nodes = place.nodes();
    let caller = Caller::of(&nodes[0]);
    let her = ada(&caller).await;
    for n in 0..REQUESTS {
        wrote(&caller, &her, n).await;
    }
    assert!(record(&caller).await.contains("hush"));
    let erase = caller.post("/api/v1/people/ada/erase", HUMAN, &json!({})).await.unwrap();
    assert_eq!(erase.0, 200, "{erase:?}");
    nodes.remove(0).kill();
    // Before anybody repairs anything, and however much of it is erased.
    let (code, said) = place.verify();
    assert_eq!(code, Some(0), "{said}");

    let server = nodes.pop().unwrap_or_else(|| place.dev());
    let caller = Caller::of(&server);
    // The node that died may not have told the others; they look for themselves once a second.
    until("the person is erased", async || {
        let (status, left) = caller.get("/api/v1/people/ada", HUMAN).await.unwrap();
        (status, &left["erased"], &left["name"]) == (200, &json!(true), &json!(""))
    })
    .await;
    let (refused, _) = caller.get("/api/v1/me", &her).await.unwrap();
    assert_eq!(refused, 401, "nothing of hers lets anybody in");
    // A claim of the node that died holds for a minute of the server's time.
    let minute = json!({ "advance": "61s" });
    let moved = caller.post("/api/v1/dev/clock", AGENT, &minute).await.unwrap();
    assert_eq!(moved.0, 200, "{moved:?}");
    until("what she wrote is gone", async || !record(&caller).await.contains("hush")).await;
    let is_hers = |effect: &str| effect.contains("erase_human");
    until("the erasure has ended", async || {
        !place.outbox().await.iter().any(|(effect, _)| is_hers(effect))
    })
    .await;
    server.stop();
    let ended = place.sound().await;
    assert_eq!(ended.values().filter(|how| *how == "answered").count(), REQUESTS);
}

/// Ada, with a token of her own.
async fn ada(caller: &Caller) -> String {
    let person = json!({ "id": "ada", "name": "Ada hush", "projects": ["dev"] });
    let added = caller.post("/api/v1/people", HUMAN, &person).await.unwrap();
    assert_eq!(added.0, 201, "{added:?}");
    let key = json!({ "human": "ada", "label": "laptop" });
    let (_, key) = caller.post("/api/v1/keys", HUMAN, &key).await.unwrap();
    key["secret"].as_str().unwrap().to_owned()
}

/// A request on which she comments, and which she answers with a reason.
async fn wrote(caller: &Caller, her: &str, n: usize) {
    let (_, id) = caller.ask(&format!("Number {n}?")).await.unwrap();
    let path = format!("/api/v1/asks/{}", id.replacen("hxp_", "ask_", 1));
    for (act, who, body) in [
        ("assign", HUMAN, json!({ "to": "ada" })),
        ("comments", her, json!({ "text": "hush comment" })),
        ("answer", her, json!({ "answer": { "verdict": "rejected" }, "comment": "hush reason" })),
    ] {
        let done = caller.post(&format!("{path}/{act}"), who, &body).await.unwrap();
        assert_eq!(done.0, 200, "{act}: {done:?}");
    }
}

/// The whole record, as it is exported.
async fn record(caller: &Caller) -> String {
    let export = caller.request(Method::GET, "/api/v1/audit/export", HUMAN);
    export.send().await.unwrap().text().await.unwrap()
}
