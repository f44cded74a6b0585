//! Where people are signed in, and how that ends.

use scraper::{Html, Selector};
use server::config::Settings;

use crate::client::Client;
use crate::pages::{Browser, browser_of, csrf, signed_in};
use crate::world::{World, dev};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Another browser of somebody, by a link an administrator makes.
pub(crate) async fn another(world: &World, human: &str) -> Browser {
    let path = format!("/api/v1/people/{human}/link");
    let link = world.human().post(&path, serde_json::json!({})).await.is(201);
    let token = link["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous().header("user-agent", FIREFOX);
    let signed = visitor.sign_in(&token).await.is(303);
    browser_of(&visitor, &signed)
}

/// The sessions a page lists, by the ids its buttons carry.
async fn listed(browser: &Browser) -> (Vec<String>, String) {
    let page = browser.client.get("/settings/sessions").await.is(200);
    let html = Html::parse_document(&page.text);
    let buttons = Selector::parse("button[name=end]").unwrap();
    let ids = html.select(&buttons).map(|button| button.attr("value").unwrap().to_owned());
    (ids.collect(), page.text)
}

async fn is_in(browser: &Browser) -> bool {
    browser.client.get("/").await.status == 200
}

#[tokio::test]
async fn sessions_are_listed_and_ended_on_their_page() {
    let world = World::dev().await;
    let first = signed_in(&world).await;
    let second = another(&world, "user_dev").await;
    let stranger = another(&world, "user_dev_2").await;
    let (ids, page) = listed(&first).await;
    assert_eq!(ids.len(), 2, "{page}");
    for words in
        ["Firefox on Linux", "this browser", "with a sign-in link", "Sign out everywhere else"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    let token = csrf(&first.client.get("/settings/sessions").await);
    // Another's session is not there to be ended, and no form works without its token.
    let (theirs, _) = listed(&stranger).await;
    let end = async |id: &str, token: &str| {
        first.client.post_form("/settings/sessions", &[("csrf", token), ("end", id)]).await
    };
    end(&ids[0], "nonsense").await.is(403);
    end(&theirs[0], &token).await.is(200);
    assert!(is_in(&stranger).await && is_in(&second).await);
    // The newest stands first.
    assert!(end(&ids[0], &token).await.is(200).text.contains("Signed out"));
    assert!(!is_in(&second).await && is_in(&first).await);
    let third = another(&world, "user_dev").await;
    first
        .client
        .post_form("/settings/sessions", &[("csrf", &token), ("others", "1")])
        .await
        .is(200);
    assert!(!is_in(&third).await && is_in(&first).await);
    let (own, _) = listed(&first).await;
    let gone = end(&own[0], &token).await.is(200);
    assert!(gone.text.contains("You are signed out"), "{}", gone.text);
    assert!(gone.header("set-cookie").starts_with("countersign=; "), "{gone:?}");
    assert!(!is_in(&first).await && is_in(&stranger).await);
    world.end().await;
}

#[tokio::test]
async fn a_session_opens_nothing_in_another_browser() {
    let world = World::dev().await;
    let (mine, other) = (signed_in(&world).await, another(&world, "user_dev").await);
    let shown = |session: &str, browser: &str| {
        let both = format!("countersign={session}; countersign-browser={browser}");
        world.anonymous().header("cookie", &both)
    };
    let only = |cookie: String| world.anonymous().header("cookie", &cookie);
    let refused: Vec<Client> = vec![
        shown(&mine.session, &other.bound),
        shown(&mine.session, ""),
        shown(&mine.bound, &mine.session),
        only(format!("countersign={}", mine.session)),
        only(format!("countersign-browser={}", mine.bound)),
    ];
    for client in refused {
        assert_eq!(client.get("/").await.status, 401);
    }
    assert_eq!(shown(&mine.session, &mine.bound).get("/").await.status, 200);
    // Signing in again in the same browser keeps what it is known by; nonsense is replaced.
    let link =
        world.human().post("/api/v1/people/user_dev/link", serde_json::json!({})).await.is(201);
    let token = link["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let again = mine.client.sign_in(&token).await.is(303);
    assert_eq!(browser_of(&world.anonymous(), &again).bound, mine.bound);
    let link =
        world.human().post("/api/v1/people/user_dev/link", serde_json::json!({})).await.is(201);
    let token = link["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let planted = only("countersign-browser=a".to_owned());
    let signed = planted.sign_in(&token).await.is(303);
    assert_eq!(browser_of(&world.anonymous(), &signed).bound.len(), 43);
    world.end().await;
}

#[tokio::test]
async fn a_session_ends_unused_and_ends_for_good() {
    let settings = Settings { session_idle_minutes: Some(60), session_hours: Some(3), ..dev() };
    let mut world = World::with(settings).await;
    let browser = signed_in(&world).await;
    let forgotten = another(&world, "user_dev_2").await;
    for _ in 0..3 {
        world.advance(59 * 60);
        assert!(is_in(&browser).await, "it is used");
        // Remembered over a restart.
        world.tidy().await;
    }
    assert!(!is_in(&forgotten).await, "nobody used it for an hour");
    let theirs = world.human().get("/api/v1/people/user_dev_2/sessions").await.is(200);
    assert_eq!(theirs["sessions"], serde_json::json!([]));
    world.keep_address();
    world.restart().await;
    assert!(is_in(&browser).await);
    world.advance(4 * 60);
    assert!(!is_in(&browser).await, "three hours are over, however much it was used");
    world.end().await;
}

#[tokio::test]
async fn people_see_and_end_their_own_and_administrators_anybodys() {
    let world = World::dev().await;
    let browser = another(&world, "user_dev_2").await;
    let path = "/api/v1/people/user_dev_2/sessions";
    let own = world.member().get(path).await.is(200);
    let session = &own["sessions"][0];
    assert_eq!(session["browser"], "Firefox on Linux");
    assert_eq!(session["way"], "link");
    assert_eq!(session["issued_at"], session["last_used_at"]);
    world.member().get("/api/v1/people/user_dev/sessions").await.problem(403, "not-allowed");
    world.member().delete("/api/v1/people/user_dev/sessions").await.problem(403, "not-allowed");
    world.member().get("/api/v1/people/nobody/sessions").await.problem(403, "not-allowed");
    world.human().get("/api/v1/people/nobody/sessions").await.problem(404, "not-found");
    world.agent().get(path).await.problem(403, "not-allowed");
    assert!(is_in(&browser).await);
    // One by its id, then all of them.
    let id = session["id"].as_str().unwrap();
    world.member().delete(&format!("/api/v1/keys/{id}")).await.is(204);
    assert!(!is_in(&browser).await);
    let browser = another(&world, "user_dev_2").await;
    world.human().delete(path).await.is(204);
    assert!(!is_in(&browser).await);
    assert_eq!(world.member().get(path).await.is(200)["sessions"], serde_json::json!([]));
    world.end().await;
}

#[tokio::test]
async fn attempts_to_sign_in_are_counted_by_address() {
    let world = World::with(Settings { sign_in_limit: Some(3), ..dev() }).await;
    let attempt = async || world.anonymous().post_form("/sign-in", &[("token", "guess")]).await;
    for _ in 0..3 {
        attempt().await.is(401);
    }
    let refused = attempt().await.is(429);
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=61).contains(&wait), "{wait}");
    assert!(refused.text.contains("Wait a moment"), "{}", refused.text);
    // A good link is not used up by it, and looking is no attempt.
    let link = world.server().welcome().sign_in.clone().unwrap();
    let token = link.split_once("token=").unwrap().1.to_owned();
    world.anonymous().post_form("/sign-in", &[("token", &token)]).await.is(429);
    world.anonymous().get(&format!("/sign-in?token={token}")).await.is(200);
    world.end().await;
}
