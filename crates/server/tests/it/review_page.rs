//! The review page over HTTP: who may see it, what looking does, and every button of every type.

use reqwest::Method;
use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::hitl::{Case, approval, of, with};
use crate::world::{World, logged};

/// A browser that has opened the link, with or without its cookie.
pub(crate) struct Page {
    pub(crate) client: Client,
    pub(crate) path: String,
    pub(crate) token: String,
}

impl Page {
    /// Opens the link; the browser keeps the cookie.
    pub(crate) async fn open(world: &World, case: &Case) -> (Self, Reply) {
        let shown = world.anonymous().get(&case.path("review_url")).await;
        let cookie = shown.header("set-cookie").split(';').next().unwrap().to_owned();
        let client = world.anonymous().header("cookie", &cookie);
        let path = format!("/review/{}", case.id);
        (Self { client, path, token: case.review_token() }, shown)
    }

    pub(crate) async fn post(&self, pairs: &[(&str, &str)]) -> Reply {
        let all = [&[("token", self.token.as_str())], pairs].concat();
        self.client.post_form(&self.path, &all).await
    }

    pub(crate) async fn get(&self) -> Reply {
        self.client.get(&self.path).await
    }
}

/// What a form holds.
type Pairs = Vec<(&'static str, &'static str)>;

pub(crate) fn find(reply: &Reply, selector: &str) -> usize {
    let page = Html::parse_document(&reply.text);
    page.select(&Selector::parse(selector).unwrap()).count()
}

pub(crate) fn main_text(reply: &Reply) -> String {
    let page = Html::parse_document(&reply.text);
    let main = page.select(&Selector::parse("main").unwrap()).next().unwrap();
    main.text().collect::<Vec<_>>().join("").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// HITL-040, HITL-045, HITL-046: the link is all it takes. It answers at once, is remembered for
/// its own address only, and never stands in a log.
#[tokio::test]
async fn the_link_opens_the_page() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let (page, shown) = Page::open(&world, &case).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    // Before the page is taken apart: that is logged too, in this process.
    page.get().await.is(200);
    assert!(!logged().contains(&case.review_token()), "the token was logged");
    let cookie = shown.header("set-cookie");
    for part in [&format!("Path=/review/{}", case.id), "HttpOnly", "SameSite=Lax", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let policy = shown.header("content-security-policy");
    for part in ["default-src 'none'", "script-src 'nonce-", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    assert_eq!(find(&shown, &format!("script[nonce='{nonce}']")), 2);
    assert_eq!(find(&shown, "script"), 2);
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(shown.header(name), value);
    }
    assert_eq!(case.status().await["status"], "opened");
    // The cookie alone shows it again, with another nonce.
    let again = page.get().await.is(200);
    assert!(!again.text.contains(nonce) && !again.headers.contains_key("set-cookie"));
    world.end().await;
}

/// HITL-033, HITL-046: a token of another purpose or of another case is no token, and a case that
/// is not there looks the same.
#[tokio::test]
async fn other_tokens_open_nothing() {
    let world = World::dev().await;
    let (case, other) =
        (Case::make(&world, approval()).await, Case::make(&world, approval()).await);
    let path = format!("/review/{}", case.id);
    let mut pages = Vec::new();
    for token in ["", "x", &case.poll_token(), &case.submit_token(), &other.review_token()] {
        let shown = world.anonymous().get(&format!("{path}?token={token}")).await.is(401);
        let answer = [("token", token), ("action", "approve")];
        world.anonymous().post_form(&path, &answer).await.is(401);
        pages.push(main_text(&shown));
    }
    world.anonymous().get(&path).await.is(401);
    // The cookie is no credential for a form: another website could send it.
    let (page, _) = Page::open(&world, &case).await;
    page.client.post_form(&page.path, &[("action", "approve")]).await.is(401);
    for missing in ["review_01KGRT0000000000000000000", "nonsense", "ask_1"] {
        let shown = world.anonymous().get(&format!("/review/{missing}?token=x")).await.is(401);
        pages.push(main_text(&shown));
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
    assert!(!pages[0].contains("Deploy"));
    assert_eq!(case.status().await["status"], "opened");
    world.end().await;
}

/// HITL-045: scanners, unfurlers and browsers that look ahead change nothing, whatever they fetch.
#[tokio::test]
async fn machines_that_look_change_nothing() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let link = case.path("review_url");
    for agent in [
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "Twitterbot/1.0",
        "facebookexternalhit/1.1",
        "WhatsApp/2.23.20.0",
        "TelegramBot (like TwitterBot)",
        "Mozilla/5.0 (compatible; Discordbot/2.0)",
        "Microsoft Office/16.0 (Microsoft Outlook 16.0)",
        "Mozilla/5.0 (Windows NT 10.0) SkypeUriPreview Preview/0.5",
        "Mozilla/5.0 (compatible; Googlebot/2.1)",
    ] {
        world.anonymous().header("user-agent", agent).get(&link).await.is(200);
    }
    for (name, value) in
        [("sec-purpose", "prefetch"), ("purpose", "prefetch"), ("x-moz", "prefetch")]
    {
        world.anonymous().header(name, value).get(&link).await.is(200);
    }
    for method in [Method::HEAD, Method::OPTIONS] {
        Reply::of(world.anonymous().request(method, &link)).await;
    }
    // Not even with the words of an answer in the address.
    let eager = format!("{link}&action=approve&done=sent&step=3");
    world.anonymous().header("user-agent", "Slackbot").get(&eager).await.is(200);
    assert_eq!(case.status().await["status"], "pending");
    world.anonymous().get(&eager).await.is(200);
    assert_eq!(case.status().await["status"], "opened");
    world.end().await;
}

/// HITL-044, HITL-060, HITL-061, HITL-120: every button of every type makes the result of its type.
#[tokio::test]
async fn every_type_is_answered_on_its_page() {
    let world = World::dev().await;
    let escalation = json!({ "type": "escalation", "prompt": "Retry?",
        "context": { "error": {"title": "x"}, "params": {"timeout": 30, "fast": false} } });
    let single = json!({ "type": "selection", "prompt": "Which?",
        "context": { "multiple": false, "items": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}] } });
    let table: Vec<(Value, Pairs, Value)> = vec![
        (
            approval(),
            vec![("comment", "go"), ("action", "approve")],
            json!({"action": "approve", "data": {"feedback": "go"}}),
        ),
        (
            approval(),
            vec![("action", "changes"), ("edits.0", "2.2.0"), ("comment", "newer")],
            json!({"action": "edit", "data": {"feedback": "newer", "edits": {"version": "2.2.0"}}}),
        ),
        (approval(), vec![("action", "reject")], json!({"action": "reject", "data": {}})),
        (
            of("selection"),
            vec![("option", "b"), ("option", "a"), ("action", "choose")],
            json!({"action": "select", "data": {"selected": ["a", "b"]}}),
        ),
        (single, vec![("choose", "b")], json!({"action": "select", "data": {"selected": ["b"]}})),
        (
            of("input"),
            vec![("action", "provide"), ("field.name", "Ann"), ("field.pin", "7")],
            json!({"action": "submit", "data": {"name": "Ann", "pin": "7"}}),
        ),
        (
            of("x-acme-compare"),
            vec![("action", "provide"), ("field.response", "the left one")],
            json!({"action": "submit", "data": {"response": "the left one"}}),
        ),
        (
            of("confirmation"),
            vec![("action", "confirm")],
            json!({"action": "confirm", "data": {"confirmed_items": ["m"]}}),
        ),
        (of("confirmation"), vec![("action", "decline")], json!({"action": "cancel", "data": {}})),
        (
            escalation.clone(),
            vec![("action", "retry"), ("params.0", "60"), ("params.1", "true")],
            json!({"action": "retry", "data": {"modified_params": {"timeout": 60, "fast": true}}}),
        ),
        (escalation.clone(), vec![("action", "skip")], json!({"action": "skip", "data": {}})),
        (escalation, vec![("action", "abort")], json!({"action": "abort", "data": {}})),
    ];
    for (asked, sent, result) in table {
        let case = Case::make(&world, asked.clone()).await;
        let (page, _) = Page::open(&world, &case).await;
        let answered = page.post(&sent).await.is(303);
        let shown = page.client.get(answered.header("location")).await.is(200);
        assert!(main_text(&shown).contains("Your answer was sent"), "{asked}");
        assert_eq!(find(&shown, "form"), 0, "{asked}");
        let status = case.status().await;
        assert_eq!(status["status"], "completed");
        let got = &status["result"];
        assert_eq!(
            (&got["action"], &got["data"]),
            (&result["action"], &result["data"]),
            "{sent:?}"
        );
    }
    world.end().await;
}

/// HITL-061, HITL-136: what does not answer is said where it is wrong, and nothing is lost.
#[tokio::test]
async fn what_is_wrong_is_said_and_everything_is_kept() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let (page, _) = Page::open(&world, &case).await;
    for (sent, target) in [
        (vec![("action", "changes"), ("comment", " ")], "#problems a[href='#comment']"),
        (vec![("action", "banana")], "#problems li"),
        (vec![("comment", "hm")], "#problems li"),
        (vec![("action", "approve"), ("edits.0", "9.9")], "#problems a[href='#edits']"),
    ] {
        let refused = page.post(&sent).await.is(422);
        assert_eq!(find(&refused, target), 1, "{sent:?}");
        assert_eq!(find(&refused, "[role=alert]"), 1);
        assert_eq!(case.status().await["status"], "in_progress");
    }
    assert_eq!(find(&page.get().await, "#edits-0[value='9.9']"), 1);
    let choice = Case::make(&world, of("selection")).await;
    let (page, _) = Page::open(&world, &choice).await;
    page.post(&[("action", "choose")]).await.is(422);
    // A selection knows no changes, whatever a form says.
    page.post(&[("action", "changes"), ("comment", "none of these")]).await.is(422);
    let long = "x".repeat(10_001);
    let refused = page.post(&[("option", "a"), ("action", "choose"), ("comment", &long)]).await;
    assert_eq!((refused.status, find(&refused, "[value=a][checked]")), (422, 1));
    assert!(refused.text.contains(&long));
    world.end().await;
}

/// HITL-042, HITL-063, C-28: after the deadline there is a notice, and no form.
#[tokio::test]
async fn what_ran_out_is_gone() {
    let world = World::dev().await;
    let case = Case::make(&world, with(approval(), json!({"timeout": "10m"}))).await;
    let (page, _) = Page::open(&world, &case).await;
    page.post(&[("action", "save"), ("comment", "nearly done")]).await.is(303);
    world.advance(601);
    let late = page.post(&[("action", "approve"), ("comment", "nearly done")]).await.is(410);
    let main = main_text(&late);
    assert!(main.contains("Expired") && main.contains("nearly done"), "{main}");
    let shown = page.get().await.is(410);
    assert!(main_text(&shown).contains("Expired No one answered in time"));
    assert_eq!(find(&shown, "form"), 0);
    assert_eq!(world.gateway().store().draft(case.ask_id()).await.unwrap(), None);
    world.end().await;
}

/// HITL-062, HITL-043: of two answers one wins, and the other learns whose; who comes later sees
/// it.
#[tokio::test]
async fn a_lost_race_shows_the_winner() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let (one, _) = Page::open(&world, &case).await;
    let (other, _) = Page::open(&world, &case).await;
    one.post(&[("action", "reject"), ("comment", "not on a Friday")]).await.is(303);
    let lost = other.post(&[("action", "approve"), ("comment", "fine with me")]).await.is(409);
    let main = main_text(&lost);
    for part in ["Already answered by someone with the link", "not on a Friday", "fine with me"] {
        assert!(main.contains(part), "{part}: {main}");
    }
    other.post(&[("action", "save"), ("comment", "again")]).await.is(409);
    other.post(&[("action", "draft"), ("comment", "again")]).await.is(204);
    other.post(&[("action", "cancel")]).await.is(409);
    let later = world.anonymous().get(&case.path("review_url")).await.is(200);
    assert!(main_text(&later).contains("Rejected Answered by someone with the link"));
    world.end().await;
}

/// HITL-100, HITL-113: whoever it is not for says so, and why.
#[tokio::test]
async fn a_request_is_turned_down() {
    let world = World::dev().await;
    let case = Case::make(&world, of("input")).await;
    let (page, _) = Page::open(&world, &case).await;
    let long = "x".repeat(1001);
    page.post(&[("action", "cancel"), ("reason", &long)]).await.is(422);
    page.post(&[("action", "cancel"), ("reason", "wrong person")]).await.is(303);
    let status = case.status().await;
    assert_eq!(
        (&status["status"], &status["reason"]),
        (&json!("cancelled"), &json!("wrong person"))
    );
    let shown = page.get().await.is(200);
    assert!(main_text(&shown).contains("Withdrawn by someone with the link."));
    page.post(&[("action", "provide"), ("field.name", "Ann")]).await.is(409);
    world.end().await;
}

/// Where cookies do not work, the forms do: they carry the token, and the page comes back at once.
#[tokio::test]
async fn no_cookie_is_needed() {
    let world = World::dev().await;
    let case = Case::make(&world, of("input")).await;
    let (mut page, _) = Page::open(&world, &case).await;
    page.client = world.anonymous();
    let saved =
        page.post(&[("action", "save"), ("step", "0"), ("field.name", "Ann")]).await.is(200);
    assert!(main_text(&saved).contains("Saved. Nothing was sent yet"));
    assert_eq!(find(&saved, "#field-name[value=Ann]"), 1);
    let sent = page.post(&[("action", "provide"), ("step", "0"), ("field.name", "Ann")]).await;
    assert!(main_text(&sent.is(200)).contains("Your answer was sent"));
    world.end().await;
}

/// A project that wants people it knows keeps the link out, and the page says so before anybody has
/// typed anything.
#[tokio::test]
async fn a_link_is_not_enough_where_people_must_be_known() {
    let world = World::dev().await;
    let floor = json!({ "id": "dev", "floor": "session" });
    let saved = world.human().save("projects", floor).await;
    assert!(matches!(saved.status, 200 | 201), "{}", saved.text);
    let case = Case::make(&world, approval()).await;
    let (page, shown) = Page::open(&world, &case).await;
    assert!(main_text(&shown).contains("Sign in to answer"));
    assert_eq!(find(&shown, "form.answer"), 0);
    page.post(&[("action", "approve")]).await.is(403);
    assert_eq!(case.status().await["status"], "opened");
    world.end().await;
}

/// With `--dev` there is a sample of each type, which any page shows and any agent can follow.
#[tokio::test]
async fn there_is_a_sample_of_each_type() {
    let world = World::dev().await;
    for kind in
        ["approval", "selection", "input", "confirmation", "escalation", "x-countersign-rating"]
    {
        let made = world.anonymous().post_raw(&format!("/api/demo?type={kind}"), "").await.is(202);
        let case = Case::of(&world, &made);
        assert_eq!(case.hitl["type"], kind);
        let (_, shown) = Page::open(&world, &case).await;
        assert_eq!(find(&shown.is(200), "form.answer"), 1, "{kind}");
    }
    world.anonymous().post_raw("/api/demo?type=nonsense", "").await.is(400);
    world.end().await;
}
