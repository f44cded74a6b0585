//! Links by mail while there is no mail server: nobody waits for it, and nobody learns anything.
//! With a real one they are tried in the browser journeys.

use serde_json::json;
use server::config::{SecretString, Settings};
use store::Backlog;

use crate::client::Reply;
use crate::fake_webhook_receiver::deliver;
use crate::pages::csrf;
use crate::world::{World, dev, eventually};

/// Nobody listens there.
const GONE: &str = "smtp://127.0.0.1:1?tls=none&from=agents%40example.com";

async fn world(more: Settings) -> World {
    let world = World::with(Settings { smtp_url: Some(SecretString::new(GONE)), ..more }).await;
    let ada = json!({ "id": "ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().save("people", ada).await.saved();
    world
}

/// Asks for a link as a browser does, on a page it was shown.
pub(crate) async fn ask(world: &World, email: &str) -> Reply {
    let shown = world.anonymous().get("/sign-in").await.is(200);
    let cookie = shown.header("set-cookie").split(';').next().unwrap().to_owned();
    let browser = world.anonymous().header("cookie", &cookie);
    browser.post_form("/sign-in/mail", &[("csrf", &csrf(&shown)), ("email", email)]).await
}

/// Until so many wait, and none is under way any more.
async fn waiting(world: &World, letters: u64) {
    let wanted = Backlog { waiting: letters, dead: 0 };
    eventually("so many letters", async || {
        deliver(world).await;
        let idle = world.app().notifier.deliveries.are_idle();
        idle && world.gateway().store().backlog().await.unwrap() == wanted
    })
    .await;
}

#[tokio::test]
async fn the_answer_says_nothing_about_who_is_known() {
    let world = world(dev()).await;
    world.deactivate("user_dev_2").await;
    let known = ask(&world, " ADA@example.com ").await.is(200);
    assert!(known.text.contains("Check your email"), "{}", known.text);
    for nobody in ["eve@example.com", "", "nonsense", "ada@example.com\r\nBcc: eve@example.com"] {
        assert_eq!(ask(&world, nobody).await.is(200).text, known.text, "{nobody}");
    }
    // One letter waits for the mail server, and is given up with its link.
    waiting(&world, 1).await;
    let links = world.human().get("/api/v1/keys").await.is(200);
    let mailed = links["keys"].as_array().unwrap().iter();
    let mailed: Vec<_> = mailed.filter(|key| key["label"] == "sign-in link by mail").collect();
    assert_eq!(mailed.len(), 1, "{links:?}");
    assert_eq!((&mailed[0]["kind"], &mailed[0]["holder"]), (&json!("link"), &json!("ada")));
    world.advance(15 * 60);
    world.end().await;
}

#[tokio::test]
async fn a_form_from_elsewhere_sends_nothing() {
    let world = world(dev()).await;
    let shown = world.anonymous().get("/sign-in").await.is(200);
    let cookie = shown.header("set-cookie").split(';').next().unwrap().to_owned();
    let form = [("csrf", &*csrf(&shown)), ("email", "ada@example.com")];
    let browser = world.anonymous().header("cookie", &cookie);
    world.anonymous().post_form("/sign-in/mail", &form).await.is(403);
    browser.post_form("/sign-in/mail", &[("email", "ada@example.com")]).await.is(403);
    let site = browser.clone().header("sec-fetch-site", "cross-site");
    site.post_form("/sign-in/mail", &form).await.is(403);
    waiting(&world, 0).await;
    browser.post_form("/sign-in/mail", &form).await.is(200);
    waiting(&world, 1).await;
    world.advance(15 * 60);
    world.end().await;
}

/// Five letters in a row, however often somebody asks.
#[tokio::test]
async fn nobody_is_written_to_without_end() {
    let world = world(Settings { sign_in_limit: Some(100), ..dev() }).await;
    for _ in 0..8 {
        ask(&world, "ada@example.com").await.is(200);
    }
    waiting(&world, 5).await;
    world.advance(15 * 60);
    world.end().await;
}

#[tokio::test]
async fn without_mail_there_is_no_form_for_it() {
    let world = World::dev().await;
    let page = world.anonymous().get("/sign-in").await.is(200);
    assert!(!page.text.contains("email"), "{}", page.text);
    world.anonymous().post_form("/sign-in/mail", &[("email", "a@b.example")]).await.is(404);
    world.end().await;
}
