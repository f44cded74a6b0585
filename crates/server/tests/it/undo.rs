//! Answers on pages are held for a moment and can be undone: what everybody sees meanwhile, and what
//! the page says.

use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::cross::Names;
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
    assert_eq!(
        attributes(&page, ".answered a[hidden]", "href"),
        [format!("{}/receipt", page_of(&path))]
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
    assert_eq!(found(&inbox, "h1"), ["1 request waits for you"]);
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
    assert!(trail.contains("took the answer back"), "{trail}");
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
    assert!(found(&page, ".side h2").contains(&"Being answered by user_dev_2".to_owned()));
    assert!(attributes(&page, "form", "action").iter().all(|to| !to.ends_with("/answer")));
    press(&browser, &path, &[("action", "approve")]).await.is(409);
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
    world.advance(4);
    world.run_timers().await;
    for path in [&late, &undone] {
        assert_eq!(agent.get(path).await["result"], Value::Null, "the deadline waits");
    }
    let over = undo(&browser, &undone).await.is(200);
    assert!(over.text.contains("Nobody answered in time"), "{}", over.text);
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
        let mut native = world.agent().get(&names.native).await.is(200).json;
        // It has changed, and that is all that can be seen of it.
        native.as_object_mut().unwrap().retain(|key, _| key != "version" && key != "updated_at");
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
