//! Answers on pages are held for a moment and can be undone: what everybody sees meanwhile, and
//! what the page says.

use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::dialect_matrix::Names;
use crate::native::{asked, yes};
use crate::pages::{Browser, csrf, signed_in};
use crate::settings_pages::member;
use crate::streams::Events;
use crate::world::World;

fn refund(more: &Value) -> Value {
    let mut body = json!({
        "question": { "prompt": "Refund €120.00 to Ada?", "kind": "approve" },
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn pool() -> Value {
    refund(&json!({ "route": { "to": "pool" } }))
}

fn id(path: &str) -> &str {
    path.rsplit_once('/').unwrap().1
}

fn page_of(path: &str) -> String {
    format!("/asks/{}", id(path))
}

fn found(page: &Reply, selector: &str) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    let text = |e: scraper::ElementRef<'_>| {
        e.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    html.select(&selector).map(text).collect()
}

/// The value of one attribute of everything a selector finds.
fn attributes(page: &Reply, selector: &str, name: &str) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    html.select(&selector).filter_map(|e| e.attr(name)).map(str::to_owned).collect()
}

/// Presses a button on the page of a request.
async fn press(browser: &Browser, path: &str, pairs: &[(&str, &str)]) -> Reply {
    let page = page_of(path);
    let token = csrf(&browser.client.get(&page).await.is(200));
    let mut form = vec![("csrf", token.as_str())];
    form.extend(pairs);
    browser.client.post_form(&format!("{page}/answer"), &form).await
}

async fn undo(browser: &Browser, path: &str) -> Reply {
    let token = csrf(&browser.client.get("/").await.is(200));
    browser.client.post_form(&format!("{}/undo", page_of(path)), &[("csrf", &token)]).await
}

#[tokio::test]
async fn an_answer_on_a_page_is_held_and_then_sent() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let other =
        asked(&agent, json!({ "question": { "prompt": "Deploy?", "kind": "approve" } })).await;
    let path = asked(&agent, refund(&json!({}))).await;
    let hxp = id(&path).replace("ask_", "hxp_");
    let sent = press(&browser, &path, &[("action", "approve")]).await.is(303);
    assert_eq!(sent.header("location"), format!("{}?sent=1", page_of(&path)));
    let answered_at = world.now();
    let page = browser.client.get(sent.header("location")).await.is(200);
    assert_eq!(found(&page, ".answered h2"), ["Approved: Refund €120.00 to Ada"]);
    assert_eq!(found(&page, ".answered form p"), ["The agent gets your answer in 5 s."]);
    assert_eq!(found(&page, ".answered form button"), ["Undo"]);
    assert_eq!(
        found(&page, ".answered .go-on a:not([hidden])"),
        ["Next: Deploy?", "Back to the inbox"]
    );
    // The page does not know how it will end: it asks.
    assert_eq!(
        attributes(&page, ".answered form", "data-check"),
        [format!("/inbox/sent?ask={}", id(&path))]
    );
    let forms = attributes(&page, "form", "action");
    assert!(forms.iter().all(|to| !to.ends_with("/answer")), "no answer card meanwhile");
    // Nobody learns of it: not over any protocol, and no receipt is there.
    let seen = agent.get(&path).await.is(200);
    assert_eq!((&seen["state"], &seen["result"]), (&json!("opened"), &Value::Null));
    assert!(!seen.text.contains("held"));
    assert_eq!(agent.poll(&hxp).await["status"], "assigned");
    browser.client.get(&format!("{}/receipt", page_of(&path))).await.is(404);
    // The person's own inbox is done with it.
    let inbox = browser.client.get("/").await.is(200);
    assert_eq!(found(&inbox, ".row h2"), ["Deploy?"]);
    assert_eq!(found(&inbox, "h1"), ["1 waiting"]);
    world.advance(4);
    let page = browser.client.get(&page_of(&path)).await.is(200);
    assert_eq!(found(&page, ".answered [data-left]"), ["1"]);
    world.advance(1);
    let seen = agent.get(&path).await.is(200);
    assert_eq!(seen["result"]["answer"]["verdict"], "approved");
    assert_eq!(
        (&seen["result"]["via"], &seen["result"]["by"]["id"]),
        (&json!("web"), &json!("user_dev"))
    );
    assert_eq!(seen["result"]["at"], answered_at.to_string());
    assert_eq!(agent.poll(&hxp).await["receipt"]["result"], "approved");
    let page = browser.client.get(&format!("{}?sent=1", page_of(&path))).await.is(200);
    assert_eq!(found(&page, ".answered h2"), ["Approved: Refund €120.00 to Ada"]);
    assert_eq!(found(&page, ".answered [role=status] p"), ["Sent to agent_dev."]);
    assert_eq!(
        found(&page, ".answered .go-on a"),
        ["Next: Deploy?", "Receipt", "Back to the inbox"]
    );
    browser.client.get(&format!("{}/receipt", page_of(&path))).await.is(200);
    // Somebody who did not answer it is told nothing of the kind.
    let late = browser.client.get(&format!("{}?sent=1", page_of(&other))).await.is(200);
    assert!(found(&late, ".answered").is_empty());
    world.end().await;
}

#[tokio::test]
async fn undo_opens_the_request_again_with_what_was_typed() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let mut body = refund(&json!({}));
    body["question"]["details"] = json!({ "amount": 120, "to": "Ada" });
    body["question"]["editable"] = json!(true);
    let path = asked(&agent, body).await;
    let pairs = [("action", "changes"), ("edits.0", "90"), ("comment", "too much\nfor one")];
    press(&browser, &path, &pairs).await.is(303);
    world.advance(4);
    let open = undo(&browser, &path).await.is(200);
    assert_eq!(found(&open, ".banner h2"), ["Your answer was undone"]);
    assert_eq!(attributes(&open, "#edits-0", "value"), ["90"]);
    assert_eq!(found(&open, "textarea[name=comment]"), ["too much for one"]);
    assert_eq!(agent.get(&path).await["state"], "opened");
    assert_eq!(found(&browser.client.get("/").await.is(200), ".row h2").len(), 1);
    // A second undo has nothing to undo, and changes nothing.
    undo(&browser, &path).await.is(409);
    world.advance(60);
    assert_eq!(agent.get(&path).await["result"], Value::Null);
    // Too late is too late.
    press(&browser, &path, &[("action", "approve")]).await.is(303);
    world.advance(5);
    let late = undo(&browser, &path).await.is(409);
    assert_eq!(found(&late, ".banner h2"), ["Too late to undo"]);
    assert_eq!(agent.get(&path).await["result"]["answer"]["verdict"], "approved");
    let trail = found(&late, "section:has(#trail)").join(" ");
    assert!(trail.contains("undid the answer"), "{trail}");
    world.end().await;
}

#[tokio::test]
async fn others_find_it_taken_and_see_who_answers() {
    let world = World::dev().await;
    let (browser, colleague) = (signed_in(&world).await, member(&world).await);
    let path = asked(&world.agent(), pool()).await;
    press(&colleague, &path, &[("action", "reject")]).await.is(303);
    for person in [world.human(), world.bearer("dev-human-token")] {
        person.post(&format!("{path}/answer"), yes()).await.problem(409, "taken");
        person.post(&format!("{path}/claim"), json!({})).await.problem(409, "taken");
    }
    let inbox = browser.client.get("/").await.is(200);
    let row = found(&inbox, ".row").join(" ");
    assert!(row.contains("being answered by user_dev_2"), "{row}");
    assert!(found(&inbox, ".row button.yes").is_empty());
    let page = browser.client.get(&page_of(&path)).await.is(200);
    let said = "user_dev_2 has just answered this request".to_owned();
    assert!(found(&page, ".side h2").contains(&said));
    assert!(attributes(&page, "form", "action").iter().all(|to| !to.ends_with("/answer")));
    let refused = press(&browser, &path, &[("action", "approve")]).await.is(409);
    assert_eq!(found(&refused, ".banner h2"), [said]);
    assert!(found(&refused, ".banner p")[0].contains("takes effect in a moment"));
    assert!(found(&colleague.client.get("/").await.is(200), ".row h2").is_empty());
    // The person themself may answer anew anywhere, which stands at once.
    world.member().post(&format!("{path}/answer"), yes()).await.is(200);
    assert_eq!(world.agent().get(&path).await["result"]["via"], "api");
    world.end().await;
}

#[tokio::test]
async fn streams_and_the_record_tell_an_agent_nothing_of_it() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let path = asked(&agent, refund(&json!({}))).await;
    let mut all = Events::open(&agent, "/api/v1/events").await;
    assert_eq!(all.next().await.unwrap().event, "ready");
    press(&browser, &path, &[("action", "reject"), ("comment", "no")]).await.is(303);
    assert_eq!(all.next().await.unwrap().event, "opened");
    // Whoever begins to listen now hears of the last thing that is theirs to know.
    let mut one = Events::open(&agent, &format!("{path}/events")).await;
    assert_eq!(one.next().await.unwrap().event, "opened");
    let names = async |path: &str| {
        let record = agent.get(&format!("{path}/audit")).await.is(200);
        let events = record["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&path).await, ["asked", "opened"]);
    assert_ne!(agent.get(&format!("{path}/audit/3/proof")).await.status, 200);
    undo(&browser, &path).await.is(200);
    press(&browser, &path, &[("action", "approve")]).await.is(303);
    world.advance(5);
    world.run_timers().await;
    for stream in [&mut all, &mut one] {
        let next = stream.next().await.unwrap();
        assert_eq!(next.event, "answered");
        assert_eq!(next.data["ask"]["result"]["answer"]["verdict"], "approved");
    }
    let record = agent.get(&format!("{path}/audit")).await.is(200);
    for event in record["events"].as_array().unwrap() {
        let held = ["answer_held", "answer_withdrawn"].contains(&event["event"].as_str().unwrap());
        assert_eq!((event["body"].is_null(), event["by"].is_null()), (held, held), "{event}");
    }
    // People who may see the request read all of it.
    let record = world.human().get(&format!("{path}/audit")).await.is(200);
    assert!(record["events"].as_array().unwrap().iter().all(|event| event["body"].is_string()));
    world.end().await;
}

#[tokio::test]
async fn a_cancellation_wins_and_a_deadline_waits() {
    let mut world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let cancelled = asked(&agent, refund(&json!({}))).await;
    press(&browser, &cancelled, &[("action", "approve")]).await.is(303);
    agent.post(&format!("{cancelled}/cancel"), json!({})).await.is(200);
    let undone = undo(&browser, &cancelled).await.is(409);
    assert!(found(&undone, ".banner h2")[0].starts_with("Withdrawn by"), "{}", undone.text);
    let timed = json!({ "timeout_seconds": 3, "on_expiry": "fail" });
    let (late, undone) = (asked(&agent, refund(&timed)).await, asked(&agent, refund(&timed)).await);
    for path in [&late, &undone] {
        press(&browser, path, &[("action", "approve")]).await.is(303);
    }
    world.advance(2);
    world.run_timers().await;
    for path in [&late, &undone] {
        assert_eq!(agent.get(path).await["result"], Value::Null);
    }
    undo(&browser, &undone).await.is(200);
    world.advance(1);
    assert_eq!(agent.get(&undone).await["result"]["outcome"], "failed");
    // It is on disk: nobody is needed to send it.
    world.stop().await;
    world.advance(600);
    world.start().await;
    let seen = world.agent().get(&late).await.is(200);
    assert_eq!(seen["result"]["answer"]["verdict"], "approved");
    assert_eq!(world.agent().get(&cancelled).await["result"]["outcome"], "cancelled");
    world.end().await;
}

#[tokio::test]
async fn whoever_leaves_meanwhile_decides_nothing() {
    let world = World::dev().await;
    let colleague = member(&world).await;
    let path = asked(&world.agent(), pool()).await;
    press(&colleague, &path, &[("action", "approve")]).await.is(303);
    world.deactivate("user_dev_2").await;
    world.advance(5);
    world.run_timers().await;
    let seen = world.agent().get(&path).await.is(200);
    assert_eq!(seen["result"], Value::Null);
    world.human().post(&format!("{path}/answer"), yes()).await.is(200);
    world.end().await;
}

#[tokio::test]
async fn one_from_the_list_and_many_at_once_are_undone_too() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let mut paths = Vec::new();
    for prompt in ["Refund?", "Deploy?", "Hire?"] {
        let body = json!({ "question": { "prompt": prompt, "kind": "approve" } });
        paths.push(asked(&agent, body).await);
    }
    let token = csrf(&browser.client.get("/").await.is(200));
    let form = [("csrf", token.as_str()), ("back", "view=mine"), ("approve", id(&paths[0]))];
    let sent = browser.client.post_form("/inbox/answer", &form).await.is(303);
    assert_eq!(sent.header("location"), format!("/?view=mine&sent={}", id(&paths[0])));
    let list = browser.client.get(sent.header("location")).await.is(200);
    assert_eq!(found(&list, ".answered h2"), ["Approved: Refund"]);
    assert_eq!(found(&list, ".answered .go-on a:not([hidden])"), ["Next: Hire?"]);
    assert_eq!(found(&list, ".row h2"), ["Hire?", "Deploy?"]);
    let form = [("csrf", token.as_str()), ("back", "view=mine"), ("ask", id(&paths[0]))];
    let back = browser.client.post_form("/inbox/undo", &form).await.is(303);
    let list = browser.client.get(back.header("location")).await.is(200);
    assert_eq!(found(&list, ".banner h2"), ["Your answer was undone"]);
    assert_eq!(found(&list, ".row h2").len(), 3);
    let late = browser.client.post_form("/inbox/undo", &form).await.is(303);
    let list = browser.client.get(late.header("location")).await.is(200);
    assert_eq!(found(&list, ".banner h2"), ["Too late to undo"]);

    let all: Vec<&str> = paths.iter().map(|path| id(path)).collect();
    let mut form = vec![("csrf", token.as_str()), ("back", ""), ("word", "approve")];
    form.extend(all.iter().map(|id| ("ask", *id)));
    let result = browser.client.post_form("/inbox/bulk/answer", &form).await.is(200);
    assert_eq!(found(&result, "h1"), ["3 requests are answered"]);
    assert_eq!(found(&result, ".verdict"), ["Approved", "Approved", "Approved"]);
    assert_eq!(attributes(&result, ".undo input[name=ask]", "value").len(), 3);
    for path in &paths {
        assert_eq!(agent.get(path).await["result"], Value::Null);
    }
    let mut form = vec![("csrf", token.as_str()), ("back", "")];
    form.extend(all[..2].iter().map(|id| ("ask", *id)));
    let undone = browser.client.post_form("/inbox/undo", &form).await.is(303);
    assert_eq!(undone.header("location"), "/?undone=2&late=0");
    world.advance(5);
    assert_eq!(agent.get(&paths[0]).await["result"], Value::Null);
    assert_eq!(agent.get(&paths[2]).await["result"]["answer"]["verdict"], "approved");
    browser.client.post_form("/inbox/undo", &[("csrf", "x")]).await.is(403);
    world.end().await;
}

#[tokio::test]
async fn the_undo_window_is_a_setting_of_each_person() {
    let world = World::dev().await;
    let (browser, human) = (signed_in(&world).await, world.human());
    let set = async |seconds: Value| {
        human.put("/api/v1/me", json!({ "about": { "undo_seconds": seconds } })).await
    };
    let wrong = set(json!(61)).await.problem(422, "invalid-field");
    assert_eq!(wrong["errors"][0]["field"], "about.undo_seconds", "{}", wrong.text);
    set(json!(-1)).await.problem(422, "invalid-field");
    let saved = set(json!(0)).await.is(200);
    assert_eq!(saved["about"]["undo_seconds"], 0);
    let path = asked(&world.agent(), refund(&json!({}))).await;
    let sent = press(&browser, &path, &[("action", "approve")]).await.is(303);
    assert_eq!(world.agent().get(&path).await["result"]["answer"]["verdict"], "approved");
    let page = browser.client.get(sent.header("location")).await.is(200);
    assert_eq!(found(&page, ".answered [role=status] p"), ["Sent to agent_dev."]);
    assert!(found(&page, ".undo").is_empty());
    // The settings page says the same.
    let page = browser.client.get("/settings/profile").await.is(200);
    assert_eq!(attributes(&page, "[name='about.undo_seconds']", "value"), ["0"]);
    let token = csrf(&page);
    let save = async |seconds: &str| {
        let form = [("csrf", token.as_str()), ("name", "Ada"), ("about.undo_seconds", seconds)];
        browser.client.post_form("/settings/profile", &form).await
    };
    save("many").await.is(422);
    save("61").await.is(422);
    save("30").await.is(303);
    let path = asked(&world.agent(), refund(&json!({}))).await;
    press(&browser, &path, &[("action", "approve")]).await.is(303);
    world.advance(29);
    assert_eq!(world.agent().get(&path).await["result"], Value::Null);
    world.advance(1);
    assert_eq!(world.agent().get(&path).await["result"]["answer"]["verdict"], "approved");
    world.end().await;
}

/// A checkpoint of a task is decided when its answer stands, with all that follows.
#[tokio::test]
async fn a_checkpoint_waits_for_the_answer_to_stand() {
    use crate::hacp::{begun, raised, state};
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    raised(&world, &task, "approval", json!({})).await;
    let waits = state(&world, &task).await;
    let inbox = browser.client.get("/").await.is(200);
    let path = attributes(&inbox, ".row h2 a", "href").remove(0);
    press(&browser, &path, &[("action", "approve")]).await.is(303);
    assert_eq!(state(&world, &task).await, waits);
    world.advance(5);
    world.run_timers().await;
    assert_eq!(state(&world, &task).await, "in_progress");
    world.end().await;
}

/// Whatever protocol an agent speaks, a request with a held answer looks as it did before.
#[tokio::test]
async fn every_dialect_shows_an_open_request() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = asked(&world.agent(), refund(&json!({}))).await;
    let names = Names::of(id(&path));
    let token = csrf(&browser.client.get(&page_of(&path)).await.is(200));
    let shown = async || {
        let native = world.agent().get(&names.native).await.is(200);
        let native = (native.header("etag").to_owned(), native.json);
        let a2h = names.a2h(&world, "function_calls").await;
        let list = world.agent().list("").await.is(200);
        (native, names.hxp(&world).await, names.hitl(&world).await, a2h, list.json.clone())
    };
    let before = shown().await;
    let form = [("csrf", token.as_str()), ("action", "approve"), ("comment", "secretly")];
    browser.client.post_form(&format!("{}/answer", page_of(&path)), &form).await.is(303);
    assert_eq!(shown().await, before);
    world.advance(5);
    let after = shown().await;
    assert_ne!(after, before);
    assert_eq!(
        (&after.1["receipt"]["result"], &after.2["status"]),
        (&json!("approved"), &json!("completed"))
    );
    world.end().await;
}

/// What an agent compares and waits for does not move when an answer is held or undone.
#[tokio::test]
async fn a_held_answer_is_no_new_version() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let path = asked(&agent, refund(&json!({}))).await;
    browser.client.get(&page_of(&path)).await.is(200);
    let hitl = format!("/hitl/v1/reviews/{}/status", id(&path).replace("ask_", "review_"));
    let before = agent.get(&path).await.is(200);
    let tag = before.header("etag").to_owned();
    let seen = |client: &crate::client::Client| client.clone().header("if-none-match", &tag);
    press(&browser, &path, &[("action", "approve")]).await.is(303);
    seen(&agent).get(&path).await.is(304);
    seen(&agent).get(&hitl).await.is(304);
    undo(&browser, &path).await.is(200);
    seen(&agent).get(&path).await.is(304);
    // A cancellation with the version the agent saw wins over a held answer.
    press(&browser, &path, &[("action", "approve")]).await.is(303);
    let cancel = agent.clone().header("if-match", &tag);
    cancel.post(&format!("{path}/cancel"), json!({})).await.is(200);
    assert_eq!(agent.get(&path).await["result"]["outcome"], "cancelled");
    world.end().await;
}

/// What the page is told when the time to undo has passed: never more than is true.
#[tokio::test]
async fn the_server_says_what_became_of_an_answer() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let became = async |paths: &[&String], more: &str| {
        let asks: Vec<String> = paths.iter().map(|path| format!("ask={}", id(path))).collect();
        let address = format!("/inbox/sent?{}{more}", asks.join("&"));
        let mut answer = browser.client.get(&address).await.is(200);
        answer.text = answer["html"].as_str().unwrap().to_owned();
        answer
    };
    let mut paths = Vec::new();
    for _ in 0..4 {
        let path = asked(&agent, refund(&json!({}))).await;
        press(&browser, &path, &[("action", "approve")]).await.is(303);
        paths.push(path);
    }
    let [sent, cancelled, undone, changed] = paths.as_slice() else { panic!("four") };
    let held = became(&[sent], "").await;
    assert_eq!(found(&held, ".answered form button"), ["Undo"], "not yet");
    agent.post(&format!("{cancelled}/cancel"), json!({})).await.is(200);
    undo(&browser, undone).await.is(200);
    press(&browser, changed, &[("action", "reject")]).await;
    world.advance(5);
    let said = became(&[sent], "").await;
    assert_eq!(found(&said, ".answered h2"), ["Approved: Refund €120.00 to Ada"]);
    assert_eq!(found(&said, ".answered [role=status] p"), ["Sent to agent_dev."]);
    assert_eq!(found(&said, ".go-on a").last().map(String::as_str), Some("Back to the inbox"));
    let said = became(&[sent], "&list=").await;
    assert!(!found(&said, ".go-on a").contains(&"Back to the inbox".to_owned()), "it is the inbox");
    for (path, why) in [(cancelled, "agent_dev before your answer took effect"), (undone, "undone")]
    {
        let said = became(&[path], "").await;
        assert_eq!(found(&said, ".answered.no h2"), ["Your answer was not sent"]);
        assert!(found(&said, ".answered p")[0].contains(why), "{}", said.text);
    }
    let said = became(&[changed], "").await;
    assert_eq!(found(&said, ".answered h2"), ["Rejected: Refund €120.00 to Ada"]);
    let said = became(&[sent, cancelled, undone, changed], "&summary=1").await;
    assert_eq!(found(&said, ".answered.no h2"), ["2 of 4 answers were not sent"]);
    let said = became(&[sent, changed], "&summary=1").await;
    assert_eq!(found(&said, ".answered.yes h2").len(), 0);
    assert!(said.text.contains("Your answers were sent."), "{}", said.text);
    browser.client.get("/inbox/sent?ask=ask_0").await.is(404);
    world.anonymous().get(&format!("/inbox/sent?ask={}", id(sent))).await.is(401);
    world.end().await;
}

/// After the deadline the answer stands, whatever would have happened without it.
#[tokio::test]
async fn an_answer_is_not_undone_after_the_deadline() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let timed = json!({ "timeout_seconds": 3, "on_expiry": { "report": "approve" } });
    let path = asked(&agent, refund(&timed)).await;
    press(&browser, &path, &[("action", "reject")]).await.is(303);
    let page = browser.client.get(&page_of(&path)).await.is(200);
    assert_eq!(found(&page, ".answered [data-left]"), ["3"], "no longer than the deadline");
    world.advance(3);
    let late = undo(&browser, &path).await.is(409);
    assert_eq!(found(&late, ".banner h2"), ["Too late to undo"]);
    assert_eq!(agent.get(&path).await["result"]["answer"]["verdict"], "rejected");
    world.end().await;
}

/// An approval with changes does not promise the old values while it can be undone.
#[tokio::test]
async fn a_held_approval_with_changes_marks_the_question_as_asked() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let mut body = refund(&json!({}));
    body["question"]["details"] = json!({ "amount": 120 });
    body["question"]["editable"] = json!(true);
    let path = asked(&agent, body).await;
    let pairs = [("action", "approve_edited"), ("edits.0", "90")];
    let step = press(&browser, &path, &pairs).await.is(200);
    world.advance(1);
    let held = crate::second_step::carried(&step);
    let sure = held.iter().map(|(k, v)| (k.as_str(), v.as_str())).chain([("action", "approve")]);
    let sure: Vec<_> = sure.collect();
    let to = format!("{}/answer", page_of(&path));
    let sent = browser.client.post_form(&to, &sure).await.is(303);
    let page = browser.client.get(sent.header("location")).await.is(200);
    assert!(found(&page, "title")[0].starts_with("Asked: Refund €120.00"), "{}", page.text);
    assert!(page.text.contains("The agent asked"));
    world.advance(5);
    let export = browser.client.get("/history/export?format=csv").await.is(200);
    assert!(export.text.contains("Amount: 120 → 90"), "{}", export.text);
    world.end().await;
}

/// An open page hears that somebody has just answered, and that it was undone. The holder of a link
/// learns no name.
#[tokio::test]
async fn open_pages_hear_of_a_held_answer() {
    let world = World::dev().await;
    let (browser, colleague) = (signed_in(&world).await, member(&world).await);
    let path = asked(&world.agent(), pool()).await;
    let end = format!("{}/end", page_of(&path));
    let mut other = Events::open(&browser.client, &end).await;
    let mut mine = Events::open(&colleague.client, &end).await;
    press(&colleague, &path, &[("action", "reject")]).await.is(303);
    for (stream, title) in [
        (&mut other, "<bdi>user_dev_2</bdi> has just answered this request"),
        (&mut mine, "You have just answered this request"),
    ] {
        let told = stream.next().await.unwrap();
        assert_eq!(told.event, "answering");
        let html = told.data["html"].as_str().unwrap();
        assert!(html.contains(title) && told.data["barred"] == true, "{html}");
    }
    undo(&colleague, &path).await.is(200);
    for stream in [&mut other, &mut mine] {
        let told = stream.next().await.unwrap();
        assert_eq!(told.event, "answering");
        let html = told.data["html"].as_str().unwrap();
        assert!(html.contains("The answer was undone") && told.data["barred"] == false, "{html}");
    }
    world.end().await;
}
