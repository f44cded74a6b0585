//! A browser: signing in, answering, uploading.

use scraper::{Html, Selector};
use serde_json::json;

use crate::client::{Client, Reply, approve, provide};
use crate::routing::ask_id;
use crate::world::World;

/// Somebody signed in.
pub(crate) struct Browser {
    pub(crate) client: Client,
    pub(crate) session: String,
    pub(crate) bound: String,
}

/// Exchanges the link printed at the start for a session.
pub(crate) async fn signed_in(world: &World) -> Browser {
    let link = world.server().welcome().sign_in.clone().unwrap();
    let token = link.split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous();
    // Looking uses nothing up: link scanners look.
    visitor.get(&format!("/sign-in?token={token}")).await.is(200);
    let signed = visitor.sign_in(&token).await.is(303);
    assert_eq!(signed.header("location"), "/");
    browser_of(&visitor, &signed)
}

/// A browser that keeps what it was given.
pub(crate) fn browser_of(visitor: &Client, signed: &Reply) -> Browser {
    let mut kept = Vec::new();
    for cookie in signed.headers.get_all("set-cookie") {
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
        kept.push(cookie.split(';').next().unwrap().to_owned());
    }
    let value =
        |name: &str| kept.iter().find_map(|pair| pair.strip_prefix(name)).unwrap().to_owned();
    let (session, bound) = (value("countersign="), value("countersign-browser="));
    Browser { client: visitor.clone().header("cookie", &kept.join("; ")), session, bound }
}

/// The token the forms of a page carry.
pub(crate) fn csrf(page: &Reply) -> String {
    let html = Html::parse_document(&page.text);
    let input = Selector::parse("input[name=csrf]").unwrap();
    html.select(&input).next().unwrap().value().attr("value").unwrap().to_owned()
}

#[tokio::test]
async fn a_link_works_once_and_for_a_day() {
    let mut world = World::dev().await;
    let token = |world: &World| {
        let link = world.server().welcome().sign_in.clone().unwrap();
        link.split_once("token=").unwrap().1.to_owned()
    };
    let first = token(&world);
    let browser = signed_in(&world).await;
    assert_eq!(browser.client.get("/").await.status, 200);
    world.anonymous().post_form("/sign-in", &[("token", &first)]).await.is(401);
    for wrong in ["", "nonsense", "dev-human-token", &browser.session] {
        world.anonymous().post_form("/sign-in", &[("token", wrong)]).await.is(401);
    }
    world.restart().await;
    let second = token(&world);
    world.advance(24 * 60 * 60);
    world.anonymous().post_form("/sign-in", &[("token", &second)]).await.is(401);
    world.end().await;
}

#[tokio::test]
async fn a_session_ends() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let page = browser.client.get("/").await.is(200);
    browser.client.post_form("/sign-out", &[("csrf", "nonsense")]).await.is(403);
    assert_eq!(browser.client.get("/").await.status, 200);
    browser.client.post_form("/sign-out", &[("csrf", &csrf(&page))]).await.is(200);
    // Not only forgotten by the browser.
    assert_eq!(browser.client.get("/").await.status, 401);
    world.end().await;
}

#[tokio::test]
async fn a_request_is_answered_on_its_page() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let id = world.agent().ask(approve("Deploy v2.1")).await;
    let path = format!("/asks/{}", ask_id(&id));
    assert!(browser.client.get("/").await.is(200).text.contains("Deploy v2.1"));
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    // A machine that looks ahead does not count, a person does; neither decides anything.
    browser.client.clone().header("sec-purpose", "prefetch").get(&path).await.is(200);
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    let page = browser.client.get(&path).await.is(200);
    assert_eq!(world.agent().poll(&id).await["status"], "assigned");
    let token = csrf(&page);
    let answer = format!("{path}/answer");
    browser.client.post_form(&answer, &[("action", "approve")]).await.is(403);
    let forged = [("action", "approve"), ("csrf", &"0".repeat(64))];
    browser.client.post_form(&answer, &forged).await.is(403);
    world.anonymous().post_form(&answer, &[("action", "approve"), ("csrf", &token)]).await.is(401);
    assert_eq!(world.agent().poll(&id).await["status"], "assigned");
    let given = [("action", "approve"), ("csrf", &token), ("comment", "go\r\non")];
    browser.client.post_form(&answer, &given).await.is(303);
    world.let_answers_stand();
    let receipt = world.agent().poll(&id).await["receipt"].clone();
    assert_eq!((&receipt["result"], &receipt["reason"]), (&json!("approved"), &json!("go\non")));
    // The second answer is told about the first.
    let late = browser.client.post_form(&answer, &given).await;
    assert_eq!(late.status, 409, "{}", late.text);
    let native = format!("/api/v1/asks/{}", ask_id(&id));
    assert_eq!(world.agent().get(&native).await["result"]["via"], "web");
    world.end().await;
}

/// HXPX-033: a file is uploaded on the page and fetched by the agent, and by nobody else.
#[tokio::test]
async fn a_file_goes_from_the_page_to_the_agent() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let id = world.agent().ask(provide("file")).await;
    let ask = ask_id(&id);
    let token = csrf(&browser.client.get(&format!("/asks/{ask}")).await.is(200));
    let content = "name,amount\nAda,7\n\u{0}\u{1}";
    let body = format!(
        "--frontier\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n\
         --frontier\r\nContent-Disposition: form-data; name=\"action\"\r\n\r\nprovide\r\n\
         --frontier\r\nContent-Disposition: form-data; name=\"field.result\"; \
         filename=\"report.csv\"\r\nContent-Type: text/csv\r\n\r\n{content}\r\n--frontier--\r\n"
    );
    let upload = browser
        .client
        .request(reqwest::Method::POST, &format!("/asks/{ask}/answer"))
        .header("content-type", "multipart/form-data; boundary=frontier")
        .body(body);
    Reply::of(upload).await.is(303);
    world.let_answers_stand();

    let receipt = world.agent().poll(&id).await.is(200)["receipt"].clone();
    let file = receipt["result"].as_str().unwrap().to_owned();
    let native = world.agent().get(&format!("/api/v1/asks/{ask}")).await.is(200);
    let value = &native["result"]["answer"]["values"]["result"];
    assert_eq!((&value["name"], &value["media_type"]), (&json!("report.csv"), &json!("text/csv")));
    assert_eq!(value["size"], content.len());
    let digest = value["sha256"].as_str().unwrap();
    assert_eq!(file, format!("/api/v1/asks/{ask}/files/{digest}"));
    let fetched = world.agent().get(&file).await.is(200);
    assert_eq!(fetched.text, content);
    assert_eq!(fetched.header("content-type"), "application/octet-stream");
    assert_eq!(fetched.header("content-disposition"), "attachment");
    assert_eq!(fetched.header("x-content-type-options"), "nosniff");
    world.human().get(&file).await.is(200);
    world.agent_2().get(&file).await.problem(404, "not-found");
    world.member().get(&file).await.problem(404, "not-found");
    world.anonymous().get(&file).await.problem(401, "unauthorized");
    // The digest opens nothing through another ask.
    let other = ask_id(&world.agent().ask(approve("x")).await);
    let through = format!("/api/v1/asks/{other}/files/{digest}");
    world.agent().get(&through).await.problem(404, "not-found");
    let wrong = format!("/api/v1/asks/{ask}/files/{}", "0".repeat(64));
    world.agent().get(&wrong).await.problem(404, "not-found");
    world.end().await;
}

/// What a person changed is refused or kept whole, however deep: kept and unreadable it would spoil
/// every list it stands in.
#[tokio::test]
async fn edits_are_refused_or_kept_whole() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let question = json!({ "prompt": "Retry?", "kind": "escalate", "params": { "n": [] } });
    for (levels, status) in [(90, 303), (125, 422), (10_000, 422)] {
        let body = json!({ "question": question });
        let created = world.agent().post("/api/v1/asks", body).await.is(201);
        let path = format!("/asks/{}", created["id"].as_str().unwrap());
        let token = csrf(&browser.client.get(&path).await.is(200));
        let params = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let given = [("csrf", &*token), ("action", "retry"), ("params.0", &*params)];
        browser.client.post_form(&format!("{path}/answer"), &given).await.is(status);
        world.agent().get(&format!("/api/v1{path}")).await.is(200);
        world.agent().list("").await.is(200);
    }
    world.end().await;
}

/// Whoever looks back sees what there was to decide on, not only what was decided.
#[tokio::test]
async fn an_answered_request_still_shows_what_was_listed() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let items = json!([{ "id": "de", "label": "1,870 in German" }]);
    let question =
        json!({ "prompt": "Send?", "kind": "confirm", "items": items, "yes": "Go", "no": "Stop" });
    let created = world.agent().post("/api/v1/asks", json!({ "question": question })).await.is(201);
    let id = created["id"].as_str().unwrap();
    let reply = json!({ "answer": { "verdict": "declined" } });
    world.human().post(&format!("/api/v1/asks/{id}/answer"), reply).await.is(200);
    let page = browser.client.get(&format!("/asks/{id}")).await.is(200);
    assert!(page.text.contains("1,870 in German"), "{}", page.text);
    world.end().await;
}

/// A token for the terminal, made on the page.
#[tokio::test]
async fn a_token_is_made_on_the_page_and_shown_once() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let page = browser.client.get("/settings/tokens").await.is(200);
    let made = [("csrf", &*csrf(&page)), ("label", "laptop")];
    let shown = browser.client.post_form("/settings/tokens", &made).await.is(201);
    let start = shown.text.find("cs_human_").unwrap();
    let secret: String = shown.text[start..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        .collect();
    assert_eq!(world.bearer(&secret).get("/api/v1/me").await.is(200)["id"], "user_dev");
    let again = browser.client.get("/settings/tokens").await.is(200);
    assert!(!again.text.contains(&secret));
    world.end().await;
}
