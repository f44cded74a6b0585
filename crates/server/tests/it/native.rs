//! Our own API: every kind of question, and what may be done to an ask.

use serde_json::{Value, json};

use crate::bad_input::chunked;
use crate::client::{Client, Reply};
use crate::world::{World, eventually};

pub(crate) const ASKS: &str = "/api/v1/asks";

pub(crate) async fn asked(agent: &Client, body: Value) -> String {
    let created = agent.post(ASKS, body).await.is(201);
    format!("{ASKS}/{}", created["id"].as_str().unwrap())
}

pub(crate) fn approval() -> Value {
    json!({ "question": { "prompt": "Deploy?", "kind": "approve" } })
}

pub(crate) fn yes() -> Value {
    json!({ "answer": { "verdict": "approved" } })
}

#[tokio::test]
async fn each_kind_is_asked_and_answered() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let choice = |id: &str| json!({ "id": id, "label": id.to_uppercase() });
    let form = json!({ "fields": [
        { "key": "size", "label": "Size", "type": "number", "required": true },
        { "key": "note", "label": "Note", "type": "textarea" },
    ]});
    let stories = [
        (
            json!({ "kind": "approve", "details": { "n": 1 }, "editable": true }),
            json!({ "verdict": "approved", "edits": { "n": 2 } }),
            json!({ "verdict": "chosen", "options": ["a"] }),
        ),
        (
            json!({ "kind": "choose", "options": [choice("a"), choice("b")], "pick": "many" }),
            json!({ "verdict": "chosen", "options": ["a", "b"] }),
            json!({ "verdict": "chosen", "options": ["c"] }),
        ),
        (
            json!({ "kind": "provide", "form": form }),
            json!({ "verdict": "provided", "values": { "size": 3 } }),
            json!({ "verdict": "provided", "values": { "size": "large" } }),
        ),
        (
            json!({ "kind": "confirm", "items": [choice("a"), choice("b")], "yes": "Go", "no": "Stop" }),
            json!({ "verdict": "confirmed", "items": ["a"] }),
            json!({ "verdict": "confirmed", "items": ["z"] }),
        ),
        (
            json!({ "kind": "escalate", "error": { "code": 7 }, "params": { "n": 1 } }),
            json!({ "verdict": "retry", "params": { "n": 2 } }),
            json!({ "verdict": "approved" }),
        ),
        (
            json!({ "kind": "converse" }),
            json!({ "verdict": "replied", "text": "Hello" }),
            json!({ "verdict": "replied", "text": "" }),
        ),
    ];
    for (mut question, answer, wrong) in stories {
        question["prompt"] = json!("What now?");
        let path = asked(&agent, json!({ "question": question, "metadata": { "run": 1 } })).await;
        let seen = agent.get(&path).await.is(200);
        assert_eq!(seen["kind"], question["kind"]);
        assert_eq!(seen["question"]["prompt"], "What now?");
        assert_eq!((&seen["state"], &seen["result"]), (&json!("pending"), &Value::Null));
        let send = format!("{path}/answer");
        let refused = human.post(&send, json!({ "answer": wrong })).await;
        refused.problem(422, "answer-mismatch");
        agent.post(&send, json!({ "answer": answer })).await.problem(403, "not-allowed");
        let body = json!({ "answer": answer, "comment": "done" });
        let done = human.post(&send, body).await.is(200);
        assert_eq!(done["state"], "completed");
        let result = agent.get(&path).await["result"].clone();
        let expected = json!({
            "outcome": "completed", "answer": answer, "comment": "done",
            "by": { "kind": "human", "id": "user_dev" }, "via": "api", "assurance": "session",
            "attested": null, "report": null, "reason": null, "at": "2026-03-01T09:00:00.000Z",
        });
        assert_eq!(result, expected);
    }
    world.end().await;
}

/// Asked here, it is a request of the protocol too.
#[tokio::test]
async fn an_ask_is_answered_through_the_other_door() {
    let world = World::dev().await;
    let question =
        json!({ "prompt": "Sure?", "kind": "confirm", "items": [], "yes": "Go", "no": "Stop" });
    let path = asked(&world.agent(), json!({ "question": question, "priority": "critical" })).await;
    let inbox = world.human().inbox("?action=DECIDE").await.is(200);
    let request = &inbox["requests"][0];
    assert_eq!(request["payload"]["options"], json!(["Go", "Stop"]));
    assert_eq!(
        (&request["agent_id"], &request["priority"]),
        (&json!("agent_dev"), &json!("critical"))
    );
    let id = request["request_id"].as_str().unwrap();
    world.human().resolve(id, json!({ "result": "Stop" })).await.is(200);
    let seen = world.agent().get(&path).await.is(200);
    assert_eq!(seen["result"]["answer"]["verdict"], "declined");
    world.end().await;
}

/// `Prefer: wait` holds the answer back until something happens.
#[tokio::test]
async fn waiting_ends_with_the_answer() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let waiting = world.agent().header("prefer", "wait=60");
    let answering = async {
        eventually("somebody who waits", async || world.gateway().wake().len() == 1).await;
        world.human().post(&format!("{path}/answer"), yes()).await.is(200)
    };
    let (seen, done) = tokio::join!(waiting.get(&path), answering);
    assert_eq!(seen.is(200)["state"], "completed");
    assert_eq!(done["state"], "completed");
    // What is over is told at once; without the wish, everything is.
    assert_eq!(waiting.get(&path).await.is(200)["state"], "completed");
    let open = asked(&world.agent(), approval()).await;
    assert_eq!(world.agent().get(&open).await.is(200)["state"], "pending");
    assert!(world.gateway().wake().is_empty());
    world.end().await;
}

/// Whoever waits does not hold up a server that stops.
#[tokio::test]
async fn waiting_ends_when_the_server_stops() {
    let mut world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let waiting = world.agent().header("prefer", "wait=60");
    let wake = world.gateway().wake().clone();
    let stopping = async {
        eventually("somebody who waits", async || wake.len() == 1).await;
        let begun = std::time::Instant::now();
        world.stop().await;
        begun.elapsed()
    };
    let (seen, took) = tokio::join!(waiting.get(&path), stopping);
    assert_eq!(seen.is(200)["state"], "pending");
    assert!(took.as_secs() < 8, "stopping took {took:?}");
    world.start().await;
    world.end().await;
}

#[tokio::test]
async fn every_change_has_its_etag() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let tag = async || {
        let seen = world.agent().get(&path).await.is(200);
        let tag = seen.header("etag").to_owned();
        assert_eq!(tag, format!("\"{}\"", seen["version"]));
        tag
    };
    let first = tag().await;
    assert_eq!(tag().await, first);
    let claimed = world.human().post(&format!("{path}/claim"), json!({})).await.is(200);
    assert_ne!(claimed.header("etag"), first);
    assert_eq!(tag().await, claimed.header("etag"));
    world.end().await;
}

/// Claim, hand on, extend, cancel.
#[tokio::test]
async fn what_may_be_done_to_an_ask() {
    let world = World::dev().await;
    let (agent, owner, member) = (world.agent(), world.human(), world.member());
    let timed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "timeout_seconds": 60, "on_expiry": "fail",
    });
    let path = asked(&agent, timed).await;
    let act = |who: &Client, verb: &str, body: Value| {
        let (who, path) = (who.clone(), format!("{path}/{verb}"));
        async move { who.post(&path, body).await }
    };
    act(&member, "claim", json!({})).await.problem(404, "not-found");
    act(&agent, "claim", json!({})).await.problem(403, "not-allowed");
    assert_eq!(act(&owner, "claim", json!({})).await.is(200)["assigned_to"], "user_dev");
    act(&owner, "assign", json!({ "to": "nobody" })).await.problem(422, "invalid-field");
    act(&member, "assign", json!({ "to": "user_dev_2" })).await.problem(404, "not-found");
    let handed = act(&owner, "assign", json!({ "to": "user_dev_2" })).await.is(200);
    assert_eq!(handed["assigned_to"], "user_dev_2");
    act(&owner, "claim", json!({})).await.problem(409, "taken");

    act(&agent, "extend", json!({ "until": "2026-03-01T09:00:30Z" }))
        .await
        .problem(422, "invalid-field");
    act(&world.agent_2(), "extend", json!({ "until": "2026-03-01T10:00:00Z" }))
        .await
        .problem(404, "not-found");
    act(&agent, "extend", json!({ "until": "soon" })).await.problem(422, "invalid-field");
    let extended = act(&agent, "extend", json!({ "until": "2026-03-01T10:00:00Z" })).await.is(200);
    assert_eq!(extended["expires_at"], "2026-03-01T10:00:00.000Z");
    world.advance(61);
    world.run_timers().await;
    assert_eq!(agent.get(&path).await["state"], "pending");
    act(&world.agent_2(), "cancel", json!({})).await.problem(404, "not-found");
    let over = act(&agent, "cancel", json!({ "reason": "never mind" })).await.is(200);
    assert_eq!(over["state"], "cancelled");
    assert_eq!(over["result"]["reason"], "never mind");
    act(&agent, "cancel", json!({})).await.problem(409, "already-cancelled");
    act(&member, "answer", yes()).await.problem(409, "already-cancelled");
    act(&owner, "assign", json!({ "to": "user_dev" })).await.problem(409, "already-cancelled");
    world.end().await;
}

/// A reason is read whether or not its length was told beforehand.
#[tokio::test]
async fn a_cancel_keeps_its_reason() {
    let world = World::dev().await;
    let agent = world.agent();
    let reason = async |path: &str| agent.get(path).await["result"]["reason"].clone();
    let bare = asked(&agent, approval()).await;
    agent.post_raw(&format!("{bare}/cancel"), "").await.is(200);
    assert_eq!(reason(&bare).await, Value::Null);
    let pieces = asked(&agent, approval()).await;
    let body = r#"{"reason":"late"}"#;
    let piece = format!("{:x}\r\n{body}\r\n", body.len());
    let answer = chunked(&world, &format!("{pieces}/cancel"), &piece).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(reason(&pieces).await, "late");
    world.end().await;
}

/// Every way an ask can be over, told by its own problem, whose page explains it.
#[tokio::test]
async fn problems_have_pages() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let done = asked(&agent, approval()).await;
    human.post(&format!("{done}/answer"), yes()).await.is(200);
    let timed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "timeout_seconds": 5, "on_expiry": { "report": "abort" },
    });
    let late = asked(&agent, timed).await;
    world.advance(5);
    let problems: Vec<Reply> = vec![
        human.post(&format!("{done}/answer"), yes()).await.problem(409, "already-answered"),
        human.post(&format!("{late}/answer"), yes()).await.problem(410, "timed-out"),
        agent.post(ASKS, json!({})).await.problem(422, "invalid-field"),
        agent.post_raw(ASKS, "{").await.problem(400, "invalid-json"),
        agent.get(&format!("{ASKS}/ask_nonsense")).await.problem(404, "not-found"),
        world.anonymous().post(ASKS, approval()).await.problem(401, "unauthorized"),
    ];
    assert_eq!(agent.get(&late).await["state"], "expired");
    for problem in problems {
        let reader = |accept: &str| world.anonymous().header("accept", accept);
        let path = problem["type"].as_str().unwrap();
        let page = reader("text/markdown").get(path).await.is(200);
        assert!(page.header("content-type").starts_with("text/markdown"));
        let code = path.rsplit_once('/').unwrap().1;
        assert!(page.text.starts_with(&format!("# {code}\n")), "{}", page.text);
        for accept in ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*"] {
            let page = reader(accept).get(path).await.is(200);
            assert!(page.header("content-type").starts_with("text/html"));
            assert!(page.text.contains(&format!("<h1>{code}</h1>")), "{}", page.text);
            assert!(page.text.contains("<h2 id=\"what-to-do\">What to do"), "{}", page.text);
            assert!(page.text.contains("<header class=\"top\">"), "in the frame of the site");
        }
    }
    world.anonymous().get("/errors/none-such").await.problem(404, "not-found");
    let browser = world.anonymous().header("accept", "text/html");
    let missing = browser.get("/errors/none-such").await.is(404);
    assert!(missing.header("content-type").starts_with("text/html"), "{}", missing.text);
    // The index leads to every page, and every link between them works.
    let index = browser.get("/errors").await.is(200);
    assert!(index.text.contains("<h1>Error codes</h1>"), "{}", index.text);
    let link = scraper::Selector::parse("main a[href^='/']").unwrap();
    let mut found = std::collections::BTreeSet::from(["/errors".to_owned()]);
    let mut next = vec!["/errors".to_owned()];
    while let Some(path) = next.pop() {
        let page = browser.get(&path).await.is(200);
        let page = scraper::Html::parse_document(&page.text);
        let links = page.select(&link).filter_map(|link| link.value().attr("href"));
        next.extend(
            links
                .map(str::to_owned)
                .filter(|link| link.starts_with("/errors") && !link.contains(".md"))
                .filter(|link| found.insert(link.clone())),
        );
    }
    assert_eq!(found.len(), server::http::problem::PAGES.len() + 1, "{found:?}");
    world.end().await;
}

/// `/api/v1/asks/` is `/api/v1/asks`, for every method and without a redirect.
#[tokio::test]
async fn slashes_at_the_end_of_an_address_do_not_matter() {
    let world = World::dev().await;
    let agent = world.agent();
    let made = agent.post(&format!("{ASKS}/"), approval()).await.is(201);
    let path = format!("{ASKS}/{}", made["id"].as_str().unwrap());
    for path in [format!("{path}/"), format!("{path}//"), format!("{path}/?")] {
        assert_eq!(agent.get(&path).await.is(200)["id"], made["id"], "{path}");
    }
    assert_eq!(agent.get(&format!("{ASKS}/?limit=1")).await.is(200)["asks"][0]["id"], made["id"]);
    world.human().post(&format!("{path}/answer/"), yes()).await.is(200);
    let hxp = agent.post("/hxp/v1/requests/", crate::client::approve("x")).await.is(201);
    let id = hxp["request_id"].as_str().unwrap();
    agent.get(&format!("/hxp/v1/requests/{id}/")).await.is(200);
    for path in ["/healthz/", "/docs/", "/errors/", "/errors/not-found/", "/sign-in/"] {
        world.anonymous().get(path).await.is(200);
    }
    world.anonymous().get("/nothing/here/").await.is(404);
    // A slash that belongs to a name is written otherwise, and stays.
    agent.get(&format!("{ASKS}/%2F")).await.problem(404, "not-found");
    world.end().await;
}

/// Another agent's asks are not there; an administrator may look, a member may not.
#[tokio::test]
async fn asks_are_seen_by_those_concerned() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    world.agent_2().get(&path).await.problem(404, "not-found");
    world.member().get(&path).await.problem(404, "not-found");
    world.human().get(&path).await.is(200);
    world.anonymous().get(&path).await.problem(401, "unauthorized");
    world.end().await;
}
