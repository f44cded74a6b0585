//! The inbox and the history as pages: what they list, what is done from them, and what is told
//! while somebody looks.

use reqwest::Method;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::Reply;
use crate::native::{approval, asked, yes};
use crate::pages::{Browser, browser_of, csrf, signed_in};
use crate::streams::Events;
use crate::world::{World, dev, eventually};

fn about(prompt: &str) -> Value {
    json!({ "question": { "prompt": prompt, "kind": "approve" } })
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

fn final_one(prompt: &str) -> Value {
    with(about(prompt), "metadata", json!({ "irreversible": true }))
}

fn id(path: &str) -> &str {
    path.rsplit_once('/').unwrap().1
}

/// The questions of a list's rows, or whatever a selector finds.
pub(crate) fn texts(page: &Reply, selector: &str) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    let text = |e: scraper::ElementRef<'_>| e.text().collect::<String>().trim().to_owned();
    html.select(&selector).map(text).collect()
}

async fn rows(browser: &Browser, address: &str) -> Vec<String> {
    texts(&browser.client.get(address).await.is(200), ".row h2")
}

#[tokio::test]
async fn lists_are_narrowed_by_their_address_and_nonsense_narrows_nothing() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let timed = with(about("Soon?"), "timeout_seconds", json!(600));
    asked(&agent, with(timed, "on_expiry", json!("fail"))).await;
    asked(&agent, with(about("Pooled?"), "route", json!({ "to": "pool" }))).await;
    asked(&agent, with(about("Urgent?"), "priority", json!("critical"))).await;
    asked(&world.agent_2(), about("Foreign?")).await;
    let all = ["Soon?", "Urgent?", "Foreign?", "Pooled?"];
    for (address, expected) in [
        ("/", &all[..]),
        ("/?view=groups", &["Pooled?"]),
        ("/?view=all", &all),
        ("/?project=dev2", &["Foreign?"]),
        ("/?agent=agent_dev&kind=approve&view=mine", &["Soon?", "Urgent?", "Pooled?"]),
        ("/?kind=converse", &[]),
        ("/?within=3600", &["Soon?"]),
        ("/?within=60", &[]),
        ("/?view=nonsense&kind=x&within=-1&fold=zz&after=%00&project=%20", &all),
        ("/?view=aside", &[]),
    ] {
        assert_eq!(rows(&browser, address).await, expected, "{address}");
    }
    let page = browser.client.get("/").await.is(200);
    assert_eq!(texts(&page, ".tabs .n"), ["4", "4", "1", "4", "0"]);
    // Somebody who administers nothing has no list of everyone's.
    let link = world.human().post("/api/v1/people/user_dev_2/link", json!({})).await.is(201);
    let token = link["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let signed = world.anonymous().sign_in(&token).await.is(303);
    let member = browser_of(&world.anonymous(), &signed).client;
    let page = member.get("/?view=all").await.is(200);
    assert_eq!(texts(&page, ".row h2"), ["Pooled?"]);
    assert_eq!(texts(&page, ".tabs .n"), ["1", "0", "1", "0"]);
    world.end().await;
}

#[tokio::test]
async fn fifty_come_at_a_time_and_the_next_page_goes_on() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let word = |n: usize| -> String {
        [n / 26, n % 26].map(|n| char::from(b'a' + u8::try_from(n).unwrap())).iter().collect()
    };
    for n in 0..60 {
        asked(&agent, about(&format!("Call {}?", word(n)))).await;
    }
    for n in 0..5 {
        asked(&agent, about(&format!("Refund order {n}?"))).await;
    }
    let first = browser.client.get("/").await.is(200);
    assert_eq!(texts(&first, ".row").len(), 50);
    assert_eq!(texts(&first, "h1"), ["65 waiting"]);
    assert_eq!(texts(&first, ".alike strong"), ["5 or more similar requests"]);
    let html = Html::parse_document(&first.text);
    let next = Selector::parse(".pages a").unwrap();
    let next = html.select(&next).next().unwrap().attr("href").unwrap().to_owned();
    let second = browser.client.get(&next).await.is(200);
    assert_eq!(texts(&second, ".row h2").len(), 11, "fifty rows were fifty-four requests");
    assert!(weight(&browser, &first).await < 100 * 1024);
    world.end().await;
}

fn timed(prompt: &str, seconds: u64) -> Value {
    let body = with(about(prompt), "timeout_seconds", json!(seconds));
    with(body, "on_expiry", json!("fail"))
}

/// Requests that are due within 15 minutes come first, soonest first, whatever happens at the
/// deadline; then priority, and of one priority the newest. The API keeps its own order.
#[tokio::test]
async fn requests_that_expire_soon_come_first() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let four = asked(&agent, timed("Four minutes?", 240)).await;
    let pool = json!({ "to": "pool" });
    asked(&agent, with(timed("Fourteen minutes?", 840), "route", pool)).await;
    asked(&agent, timed("Sixteen minutes?", 960)).await;
    asked(&agent, with(about("Urgent?"), "priority", json!("critical"))).await;
    asked(&agent, about("Plain?")).await;
    let all =
        ["Four minutes?", "Fourteen minutes?", "Urgent?", "Plain?", "Sixteen minutes?"].as_slice();
    for (address, expected) in [
        ("/", all),
        ("/?view=all", all),
        ("/?view=groups", &["Fourteen minutes?"]),
        ("/?agent=agent_dev&kind=approve", all),
        ("/?kind=choose", &[]),
    ] {
        assert_eq!(rows(&browser, address).await, expected, "{address}");
    }
    let page = browser.client.get("/").await.is(200);
    let marked = texts(&page, ".row.expiring .urgency.expires");
    assert_eq!(marked, ["◔ Expires in 4 min", "◔ Expires in 14 min"]);
    let listed = world.human().get("/api/v1/asks?state=open").await.is(200);
    assert_eq!(listed["asks"][0]["question"]["prompt"], "Urgent?", "the API keeps its order");
    // What is put aside stays out of the list, however soon it expires.
    let form = [("csrf", &*csrf(&page)), ("ask", id(&four)), ("until", "1h")];
    browser.client.post_form("/inbox/snooze", &form).await.is(303);
    world.advance(120);
    let expected = ["Fourteen minutes?", "Sixteen minutes?", "Urgent?", "Plain?"];
    assert_eq!(rows(&browser, "/").await, expected, "time has passed");
    world.end().await;
}

/// A request that stays open when its deadline passes is due and does not expire. It comes first
/// while it is due soon, and not for ever after.
#[tokio::test]
async fn requests_that_are_due_soon_and_stay_open_come_first_too() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let due = asked(&agent, with(about("Four minutes?"), "timeout_seconds", json!(240))).await;
    asked(&agent, with(about("Twenty minutes?"), "timeout_seconds", json!(1200))).await;
    asked(&agent, timed("Five minutes?", 300)).await;
    asked(&agent, with(about("Urgent?"), "priority", json!("critical"))).await;
    let expected = ["Four minutes?", "Five minutes?", "Urgent?", "Twenty minutes?"];
    assert_eq!(rows(&browser, "/").await, expected);
    let page = browser.client.get("/").await.is(200);
    let marked = texts(&page, ".row.expiring .urgency.expires");
    assert_eq!(marked, ["◔ Due in 4 min", "◔ Expires in 5 min"]);
    assert!(texts(&page, ".row .from").iter().any(|from| from.ends_with("· due in 20 min")));
    let page = browser.client.get(&format!("/asks/{}", id(&due))).await.is(200);
    assert_eq!(texts(&page, ".times .soon"), ["due in 4 min"]);
    // The API's list is of what expires.
    let listed = world.human().get("/api/v1/asks?expiring=3600").await.is(200);
    assert!(!listed.text.contains("Four minutes?"), "{}", listed.text);
    world.advance(250);
    let expected = ["Five minutes?", "Urgent?", "Twenty minutes?", "Four minutes?"];
    assert_eq!(rows(&browser, "/").await, expected);
    world.end().await;
}

/// Nothing is listed twice, and nothing is skipped because its deadline came closer meanwhile.
#[tokio::test]
async fn expiring_requests_are_on_the_first_page_and_on_no_other() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let word = |n: usize| -> String {
        [n / 26, n % 26].map(|n| char::from(b'a' + u8::try_from(n).unwrap())).iter().collect()
    };
    // The oldest are last by age.
    asked(&agent, timed("Sixteen minutes?", 960)).await;
    for (n, minutes) in [("b", 9), ("a", 4)] {
        asked(&agent, timed(&format!("Soon {n}?"), minutes * 60)).await;
    }
    for n in 0..60 {
        asked(&agent, about(&format!("Call {}?", word(n)))).await;
    }
    let first = browser.client.get("/").await.is(200);
    let mut seen = texts(&first, ".row h2");
    assert_eq!((seen.len(), &seen[..2]), (50, &["Soon a?".to_owned(), "Soon b?".to_owned()][..]));
    let html = Html::parse_document(&first.text);
    let next = Selector::parse(".pages a").unwrap();
    let next = html.select(&next).next().unwrap().attr("href").unwrap().to_owned();
    world.advance(120);
    seen.extend(rows(&browser, &next).await);
    assert_eq!(seen.last().map(String::as_str), Some("Sixteen minutes?"));
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (63, 63));
    assert_eq!(rows(&browser, "/").await[..3], ["Soon a?", "Soon b?", "Sixteen minutes?"]);
    world.end().await;
}

/// More than a page of them are paged by their deadlines, and then the others follow.
#[tokio::test]
async fn a_page_full_of_expiring_requests_goes_on() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let word = |n: usize| -> String {
        [n / 26, n % 26].map(|n| char::from(b'a' + u8::try_from(n).unwrap())).iter().collect()
    };
    asked(&agent, with(about("Urgent?"), "priority", json!("critical"))).await;
    for n in 0..50 {
        asked(&agent, timed(&format!("Call {}?", word(n)), 300 + n as u64)).await;
    }
    let (mut seen, mut address) = (Vec::new(), "/".to_owned());
    for _ in 0..3 {
        let page = browser.client.get(&address).await.is(200);
        seen.extend(texts(&page, ".row h2"));
        let html = Html::parse_document(&page.text);
        let links = Selector::parse(".pages a").unwrap();
        let next = html.select(&links).find(|link| link.attr("href").unwrap().contains("after="));
        let Some(next) = next else { break };
        address = next.attr("href").unwrap().to_owned();
    }
    assert_eq!((seen.len(), seen[0].as_str(), seen[50].as_str()), (51, "Call aa?", "Urgent?"));
    world.end().await;
}

/// UX 8: what a page weighs with all it loads, as browsers get it.
async fn weight(browser: &Browser, page: &Reply) -> usize {
    let html = Html::parse_document(&page.text);
    let beside = Selector::parse("link[rel=stylesheet], script[src]").unwrap();
    let zipped = browser.client.clone().header("accept-encoding", "gzip");
    let mut total = page.text.len();
    for element in html.select(&beside) {
        let address = element.attr("href").or_else(|| element.attr("src")).unwrap();
        let sent = Reply::of(zipped.request(Method::GET, address)).await.is(200);
        assert_eq!(sent.header("content-encoding"), "gzip", "{address}");
        assert_eq!(sent.header("vary"), "accept-encoding", "{address}");
        total += sent.text.len();
    }
    total
}

#[tokio::test]
async fn a_row_answers_only_what_it_shows_whole() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let short = asked(&agent, about("Deploy?")).await;
    let long = asked(&agent, about(&"long ".repeat(60))).await;
    let last = asked(&agent, final_one("Delete it?")).await;
    let proven = asked(&agent, with(about("Pay?"), "assurance", json!("passkey"))).await;
    let token = csrf(&browser.client.get("/").await.is(200));
    let press = async |name: &str, value: &str, more: &[(&str, &str)]| {
        let mut form = vec![("csrf", token.as_str()), ("back", "view=mine&x=1"), (name, value)];
        form.extend(more);
        browser.client.post_form("/inbox/answer", &form).await
    };
    press("approve", id(&long), &[]).await.is(422);
    press("approve", id(&proven), &[]).await.is(422);
    press("choose", &format!("{}:yes", id(&short)), &[]).await.is(422);
    press("approve", "ask_nonsense", &[]).await.is(404);
    press("nothing", "", &[]).await.is(404);
    let forged = [("csrf", "x"), ("approve", id(&short))];
    browser.client.post_form("/inbox/answer", &forged).await.is(403);
    for path in [&short, &long, &last, &proven] {
        assert_eq!(agent.get(path).await["state"], "pending", "{path}");
    }
    let sent = press("approve", id(&short), &[]).await.is(303);
    assert_eq!(sent.header("location"), format!("/?view=mine&sent={}", id(&short)));
    world.let_answers_stand();
    assert_eq!(agent.get(&short).await["result"]["via"], "web");
    let late = press("reject", id(&short), &[]).await.is(409);
    assert!(late.text.contains("Already answered by user_dev"), "{}", late.text);
    // What cannot be undone is asked for once more.
    let sure = press("approve", id(&last), &[]).await.is(200);
    assert!(sure.text.contains("This can't be undone") || sure.text.contains("This can&#39;t be"));
    assert_eq!(agent.get(&last).await["state"], "pending");
    // Rejecting it changes nothing that could not be undone.
    press("reject", id(&last), &[]).await.is(303);
    world.let_answers_stand();
    assert_eq!(agent.get(&last).await["result"]["answer"]["verdict"], "rejected");
    world.end().await;
}

#[tokio::test]
async fn a_request_is_put_aside_brought_back_and_handed_over() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let ask = asked(&agent, about("Deploy?")).await;
    let aside = format!("/inbox/aside?ask={}&back=view%3Dmine", id(&ask));
    let page = browser.client.get(&aside).await.is(200);
    let token = csrf(&page);
    let post = async |path: &str, more: &[(&str, &str)]| {
        let mut form = vec![("csrf", token.as_str()), ("ask", id(&ask)), ("back", "view=mine")];
        form.extend(more);
        browser.client.post_form(path, &form).await
    };
    for wrong in [
        vec![("until", "pick"), ("at", "2026-02-01T09:00")],
        vec![("until", "pick"), ("at", "2099-01-01T09:00")],
        vec![("until", "never")],
        vec![],
    ] {
        let shown = post("/inbox/snooze", &wrong).await.is(422);
        assert!(shown.text.contains("Choose a time in the future"), "{wrong:?}");
    }
    let done = post("/inbox/snooze", &[("until", "tomorrow"), ("zone", "UTC")]).await.is(303);
    let told = browser.client.get(done.header("location")).await.is(200);
    assert!(told.text.contains("Snoozed, back in 1 day"), "{}", told.text);
    assert_eq!(rows(&browser, "/").await, [""; 0]);
    assert_eq!(rows(&browser, "/?view=aside").await, ["Deploy?"]);
    post("/inbox/wake", &[]).await.is(303);
    assert_eq!(rows(&browser, "/").await, ["Deploy?"]);
    for nobody in ["", "nobody", "not a name"] {
        let shown = post("/inbox/hand", &[("to", nobody), ("note", "kept")]).await.is(422);
        assert_eq!(texts(&shown, "#note"), ["kept"]);
    }
    let handed = post("/inbox/hand", &[("to", "user_dev_2"), ("note", "yours")]).await.is(303);
    assert_eq!(handed.header("location"), "/?view=mine&handed=user_dev_2");
    let seen = agent.get(&ask).await.is(200);
    assert_eq!((&seen["assigned_to"], &seen["comments"]), (&json!("user_dev_2"), &json!(1)));
    world.member().post(&format!("{ask}/answer"), yes()).await.is(200);
    let late = post("/inbox/hand", &[("to", "user_dev")]).await.is(409);
    assert!(late.text.contains("Already answered by user_dev_2"), "{}", late.text);
    world.end().await;
}

#[tokio::test]
async fn many_are_answered_only_after_a_summary() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let mut paths = Vec::new();
    for n in 0..3 {
        paths.push(asked(&agent, about(&format!("Refund order {n}?"))).await);
    }
    let last = asked(&agent, final_one("Delete it?")).await;
    let talk = json!({ "question": { "prompt": "So?", "kind": "converse" } });
    let talk = asked(&agent, talk).await;
    let inbox = browser.client.get("/").await.is(200);
    let html = Html::parse_document(&inbox.text);
    let folded = Selector::parse("a[href^='/inbox/bulk?']").unwrap();
    let folded = html.select(&folded).next().unwrap().attr("href").unwrap().to_owned();
    let summary = browser.client.get(&folded).await.is(200);
    assert_eq!(texts(&summary, "h1"), ["Answer 3 requests together"]);
    let token = csrf(&inbox);
    let all: Vec<&str> = paths.iter().chain([&last, &talk]).map(|path| id(path)).collect();
    let ticked = format!("{} {}", all[0], all[1]);
    let mut form = vec![("csrf", token.as_str()), ("back", ""), ("ask", ticked.as_str())];
    form.extend(all[1..].iter().map(|id| ("ask", *id)));
    let summary = browser.client.post_form("/inbox/bulk", &form).await.is(200);
    assert_eq!(texts(&summary, "h1"), ["Answer 3 requests together"]);
    let left = texts(&summary, "[aria-labelledby=alone] .so").join("\n");
    assert!(left.contains("It is irreversible"), "{left}");
    assert!(left.contains("It cannot be answered with one word"), "{left}");
    for path in &paths {
        assert_eq!(agent.get(path).await["state"], "pending", "a summary decides nothing");
    }
    world.human().post(&format!("{}/answer", paths[0]), yes()).await.is(200);
    form.extend([
        ("word", "reject"),
        ("comment", "no budget"),
        ("ask", "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ]);
    let result = browser.client.post_form("/inbox/bulk/answer", &form).await.is(200);
    assert_eq!(texts(&result, "h1"), ["2 requests are answered"]);
    assert_eq!(texts(&result, "#refused"), ["4 were not answered"]);
    world.let_answers_stand();
    for path in &paths[1..] {
        let seen = agent.get(path).await.is(200);
        assert_eq!(seen["result"]["comment"], "no budget");
        assert!(seen["receipt"].is_string());
    }
    assert_eq!(agent.get(&last).await["state"], "pending");
    let nothing = [("csrf", token.as_str())];
    let none = browser.client.post_form("/inbox/bulk/answer", &nothing).await.is(200);
    assert_eq!(texts(&none, "h1"), ["Nothing was answered"]);
    browser.client.get("/inbox/bulk").await.is(303);
    world.end().await;
}

/// What differs from what the browser has, and nothing else.
#[tokio::test]
async fn a_list_tells_what_changes_while_somebody_looks() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let first = asked(&agent, about("First?")).await;
    let page = browser.client.get("/").await.is(200);
    let html = Html::parse_document(&page.text);
    let list = html.select(&Selector::parse("#rows").unwrap()).next().unwrap();
    let seen = list.attr("data-digest").unwrap();
    let row = html.select(&Selector::parse(".row").unwrap()).next().unwrap();
    let (key, version) = (row.attr("id").unwrap(), row.attr("data-v").unwrap());
    assert_eq!(key, id(&first));
    let live = format!("/inbox/live?seen={seen}&have={key}.{version}");
    let mut events = Events::open(&browser.client, &live).await;
    assert_eq!(events.next().await.unwrap().event, "beat", "nothing differs");
    asked(&agent, about("Second?")).await;
    let told = events.next().await.unwrap();
    assert_eq!(told.event, "news");
    assert_eq!(told.data["counts"]["inbox"], "2");
    assert_eq!(told.data["title"], "(2) Inbox");
    let rows = told.data["rows"].as_array().unwrap();
    assert!(rows[0]["html"].as_str().unwrap().contains("Second?"));
    assert_eq!(rows[1], json!({ "key": key, "v": version }), "it has this one already");
    world.human().post(&format!("{first}/answer"), yes()).await.is(200);
    let told = events.next().await.unwrap();
    let gone = json!([{ "key": key, "tone": "yes", "words": "Approved by user_dev" }]);
    assert_eq!(told.data["gone"], gone);
    drop(events);
    // Who was away says what they have, and is told what became of it.
    let mut events = Events::open(&browser.client, &live).await;
    let told = events.next().await.unwrap();
    assert_eq!((&told.event[..], &told.data["gone"]), ("news", &gone));
    let token = csrf(&page);
    browser.client.post_form("/sign-out", &[("csrf", &token)]).await.is(200);
    assert_eq!(events.next().await, None, "who is signed out is told no more");
    world.end().await;
}

/// A row that comes within 15 minutes of its deadline is told anew, in its place on top.
#[tokio::test]
async fn a_row_moves_up_when_its_deadline_comes_close() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let late = asked(&agent, timed("Sixteen minutes?", 960)).await;
    asked(&agent, about("Plain?")).await;
    let mut events = Events::open(&browser.client, "/inbox/live").await;
    let told = events.next().await.unwrap();
    let key = |n: usize, told: &Value| told["rows"][n]["key"].as_str().unwrap().to_owned();
    assert_eq!(key(1, &told.data), id(&late));
    world.advance(120);
    asked(&agent, about("Another?")).await;
    let told = events.next().await.unwrap();
    assert_eq!(
        (key(0, &told.data).as_str(), &told.data["rows"][0]["soon"]),
        (id(&late), &json!(true))
    );
    let html = told.data["rows"][0]["html"].as_str().unwrap();
    assert!(html.contains("row normal expiring") && html.contains("in 14 min"), "{html}");
    assert_eq!(told.data["rows"][1].get("soon"), None);
    world.end().await;
}

/// Lists that are open count among the streams of their session.
#[tokio::test]
async fn one_session_has_only_so_many_live_lists() {
    let world = World::with(Settings { stream_limit: Some(1), ..dev() }).await;
    let browser = signed_in(&world).await;
    let mut events = Events::open(&browser.client, "/inbox/live").await;
    assert_eq!(events.next().await.unwrap().event, "news", "who has nothing is told everything");
    browser.client.get("/inbox/live").await.is(429);
    world.end().await;
}

#[tokio::test]
async fn the_history_is_narrowed_exported_and_shows_how_the_record_stands() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let paid = asked(&agent, about("Pay Ada?")).await;
    world.human().post(&format!("{paid}/answer"), yes()).await.is(200);
    world.advance(2 * 86_400);
    let moot = asked(&agent, approval()).await;
    agent.post(&format!("{moot}/cancel"), json!({})).await.is(200);
    let shown =
        async |address: &str| texts(&browser.client.get(address).await.is(200), ".ended h2").len();
    for (address, expected) in [
        ("/history", 2),
        ("/history?view=all", 2),
        ("/history?outcome=cancelled", 1),
        ("/history?by=user_dev", 1),
        ("/history?by=user_dev_2", 0),
        ("/history?since=2026-03-02", 1),
        ("/history?until=2026-03-01", 1),
        ("/history?since=2026-03-02&until=2026-03-02", 0),
        ("/history?since=never&until=&outcome=open&kind=x", 2),
    ] {
        assert_eq!(shown(address).await, expected, "{address}");
    }
    eventually("the index", async || shown("/history?q=ada").await == 1).await;
    assert_eq!(shown("/history?q=ada&since=2026-03-02").await, 0);
    assert_eq!(shown("/history?q=ada&until=2026-03-01&outcome=completed").await, 1);
    let page = browser.client.get("/history").await.is(200);
    assert!(page.text.contains("Nothing is sealed yet") || page.text.contains("Sealed up to"));
    let csv = browser.client.get("/history/export?format=csv&until=2026-03-01").await.is(200);
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(csv.text.lines().count(), 2, "{}", csv.text);
    let lines = browser.client.get("/history/export?format=jsonl&since=2026-03-02").await.is(200);
    assert_eq!(lines.text.lines().count(), 1, "{}", lines.text);
    let receipt = browser.client.get(&format!("/asks/{}/receipt", id(&paid))).await.is(200);
    assert_eq!(receipt.text.split('.').count(), 3);
    let open = asked(&agent, approval()).await;
    let none = browser.client.get(&format!("/asks/{}/receipt", id(&open))).await.is(404);
    assert!(none.text.contains("There is no receipt"));
    browser.client.get("/icon/7.svg").await.is(200);
    browser.client.get("/icon/0.svg").await.is(404);
    world.end().await;
}
