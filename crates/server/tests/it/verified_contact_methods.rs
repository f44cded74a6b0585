//! Addresses that people add and show to be theirs, over the API and on the page.

use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::native::{approval, asked};
use crate::notification_steps::{CONTACTS, NOTICES, verified};
use crate::pages::{csrf, signed_in};
use crate::world::World;

async fn added(who: &Client, contact: Value) -> String {
    let reply = who.post(CONTACTS, contact).await.is(201);
    let ways = reply["ways"].as_array().unwrap();
    ways.last().unwrap()["id"].as_str().unwrap().to_owned()
}

fn mail(address: &str) -> Value {
    json!({ "via": "email", "address": address })
}

async fn ways(who: &Client) -> Vec<(String, bool)> {
    let reply = who.get(NOTICES).await.is(200);
    let way = |way: &Value| {
        (way["means"].as_str().unwrap().to_owned(), way["verified"].as_bool().unwrap())
    };
    reply["ways"].as_array().unwrap().iter().map(way).collect()
}

/// Nothing goes anywhere before it was shown whose it is, nor after it was removed.
#[tokio::test]
async fn nothing_goes_to_an_address_that_is_not_verified() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let me = world.human();
    let id = added(&me, mail("ada@example.com")).await;
    asked(&world.agent(), approval()).await;
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 0);
    me.delete(&format!("{CONTACTS}/{id}")).await.is(204);
    let id = verified(&me, &post, "ada@example.com").await;
    asked(&world.agent(), approval()).await;
    post.letter(2).await;
    me.delete(&format!("{CONTACTS}/{id}")).await.is(204);
    me.delete(&format!("{CONTACTS}/{id}")).await.problem(404, "not-found");
    asked(&world.agent(), approval()).await;
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 2);
    // An administrator who gives somebody another address has not shown anything.
    verified(&me, &post, "ada@example.com").await;
    let contacts = json!([mail("eve@example.com")]);
    let body = json!({ "id": "user_dev", "admin": true, "projects": ["dev", "dev2"], "contacts": contacts });
    me.save("people", body).await.is(200);
    assert_eq!(
        ways(&me).await,
        [("devices".to_owned(), true), ("email:eve@example.com".to_owned(), false)]
    );
    world.end().await;
}

/// Five tries, ten minutes, once, and only of whoever asked for it; it is nowhere to be read.
#[tokio::test]
async fn a_code_is_tried_five_times_within_ten_minutes() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let (me, other) = (world.human(), world.member());
    let id = added(&me, mail("ada@example.com")).await;
    let (send, verify) = (format!("{CONTACTS}/{id}/code"), format!("{CONTACTS}/{id}/verify"));
    let code = |code: &str| json!({ "code": code });
    let expected = |reply: Reply| reply["errors"][0]["expected"].as_str().unwrap().to_owned();
    let early = me.post(&verify, code("123456")).await.problem(422, "invalid-field");
    assert!(expected(early).contains("request a new one"));
    me.post(&send, json!({})).await.is(204);
    let letter = post.letter(1).await;
    let sent = letter.code();
    assert!(!letter.header("Subject").contains(&sent));
    let wrong = if sent == "000000" { "111111" } else { "000000" };
    for left in (0..5).rev() {
        let reply = me.post(&verify, code(wrong)).await.problem(422, "invalid-field");
        let none = expected(reply).contains("request a new one");
        assert_eq!(none, left == 0, "{left}");
    }
    me.post(&verify, code(&sent)).await.problem(422, "invalid-field");
    // Another one, which counts for ten minutes.
    me.post(&send, json!({})).await.is(204);
    let sent = post.letter(2).await.code();
    other.post(&verify, code(&sent)).await.problem(404, "not-found");
    other.post(&send, json!({})).await.problem(404, "not-found");
    world.advance(600);
    me.post(&verify, code(&sent)).await.problem(422, "invalid-field");
    me.post(&send, json!({})).await.is(204);
    let sent = post.letter(3).await.code();
    let spaced = format!(" {} {} ", &sent[..3], &sent[3..]);
    me.post(&verify, code(&spaced)).await.is(200);
    me.post(&verify, code(&sent)).await.problem(422, "invalid-field");
    for file in std::fs::read_dir(world.folder().join("data")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(6).any(|some| some == sent.as_bytes()), "{}", path.display());
        }
    }
    world.end().await;
}

#[tokio::test]
async fn what_cannot_be_is_said() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let me = world.human();
    for (body, field) in [
        (json!({ "order": ["email:eve@example.com"] }), "order"),
        (json!({ "order": ["devices", "devices"] }), "order"),
        (json!({ "order": ["fax:1"] }), "order[0]"),
        (json!({ "off": ["email:eve@example.com"] }), "off"),
        (json!({ "digest": { "every": "day" } }), "digest"),
        (json!({ "digest": { "every": "day", "at": "25:00" } }), "digest"),
        (json!({ "more": 1 }), "more"),
    ] {
        let reply = me.put(NOTICES, body.clone()).await.problem(422, "invalid-field");
        let named = reply["errors"][0]["field"].as_str().unwrap().to_owned();
        assert!(named.starts_with(field), "{body}: {named}");
    }
    let reply = me.post(CONTACTS, mail("ada")).await.problem(422, "invalid-field");
    assert_eq!(reply["errors"][0]["field"], "contacts");
    let id = added(&me, mail("ada@example.com")).await;
    me.post(CONTACTS, mail("ADA@example.com")).await.problem(409, "exists");
    // What there is no channel for is kept, and cannot be verified.
    let sms = added(&me, json!({ "via": "sms", "number": "+4930123456" })).await;
    me.post(&format!("{CONTACTS}/{sms}/code"), json!({})).await.problem(403, "not-allowed");
    post.say(&["550 nobody here", "451 later"]);
    for _ in 0..2 {
        me.post(&format!("{CONTACTS}/{id}/code"), json!({})).await.problem(503, "unavailable");
    }
    for client in [world.agent(), world.anonymous()] {
        assert!(matches!(client.get(NOTICES).await.status, 401 | 403));
    }
    asked(&world.agent(), approval()).await;
    waits(&world, 0).await;
    world.end().await;
}

/// Without mail there is nothing to be sent.
#[tokio::test]
async fn a_server_without_mail_says_so() {
    let world = World::dev().await;
    let me = world.human();
    let id = added(&me, mail("ada@example.com")).await;
    assert_eq!(me.get(NOTICES).await.is(200)["ways"][1]["carried"], false);
    me.post(&format!("{CONTACTS}/{id}/code"), json!({})).await.problem(403, "not-allowed");
    let browser = signed_in(&world).await.client;
    let page = browser.get("/settings/notices").await.is(200);
    assert!(page.text.contains("Email isn’t set up"), "{}", page.text);
    world.end().await;
}

/// Whoever comes in with a link by mail has shown that the address is theirs.
#[tokio::test]
async fn signing_in_by_mail_verifies_the_address() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let ada = json!({ "id": "ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().save("people", ada).await.saved();
    world.advance(1);
    let visitor = world.anonymous();
    let shown = visitor.get("/sign-in").await.is(200);
    let cookie = shown.header("set-cookie").split(';').next().unwrap().to_owned();
    let browser = visitor.header("cookie", &cookie);
    let form = [("csrf", &*csrf(&shown)), ("email", "ada@example.com")];
    browser.post_form("/sign-in/mail", &form).await.is(200);
    let source = post.letter(1).await.source();
    let token = source.split_once("sign-in?token=").unwrap().1;
    let token = &token[..43];
    browser.sign_in(token).await.is(303);
    let to_ada = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "route": { "to": "person", "human": "ada" },
    });
    asked(&world.agent(), to_ada).await;
    assert_eq!(post.letter(2).await.to, "ada@example.com");
    waits(&world, 0).await;
    world.end().await;
}

fn titles(page: &Reply) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let rows = Selector::parse(".row h2").unwrap();
    let text = |row: scraper::ElementRef<'_>| {
        row.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    html.select(&rows).map(text).collect()
}

/// A button of a row.
fn button(page: &Reply, name: &str, n: usize) -> String {
    let html = Html::parse_document(&page.text);
    let css = Selector::parse(&format!(".row:nth-child({n}) button[name={name}]")).unwrap();
    html.select(&css).next().unwrap().attr("value").unwrap().to_owned()
}

/// All of it in a browser without a script.
#[tokio::test]
async fn all_of_it_works_on_the_page() {
    const PAGE: &str = "/settings/notices";
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let browser = signed_in(&world).await.client;
    let send = async |fields: &[(&str, &str)]| {
        let token = csrf(&browser.get(PAGE).await.is(200));
        browser.post_form(PAGE, &[&[("csrf", token.as_str())], fields].concat()).await
    };
    send(&[("contacts", "nonsense")]).await.is(422);
    send(&[("contacts", "ada@example.com")]).await.is(303);
    let page = browser.get(PAGE).await.is(200);
    assert_eq!(titles(&page), ["My devices", "Email to ada@example.com not verified"]);
    let html = Html::parse_document(&page.text);
    let hidden = Selector::parse("input[name=verify]").unwrap();
    let id = html.select(&hidden).next().unwrap().attr("value").unwrap().to_owned();
    let field = format!("code.{}", &id[..12]);
    drop(html);
    let sent = send(&[("verify", &id), ("send", "1"), (&field, "")]).await.is(200);
    assert!(sent.text.contains("A code is on its way"), "{}", sent.text);
    let code = post.letter(1).await.code();
    let wrong = if code == "000000" { "111111" } else { "000000" };
    let refused = send(&[("verify", &id), (&field, wrong)]).await.is(422);
    assert!(refused.text.contains("That is not the code"), "{}", refused.text);
    send(&[("verify", &id), (&field, &code)]).await.is(303);
    let page = browser.get(PAGE).await.is(200);
    assert_eq!(titles(&page), ["My devices", "Email to ada@example.com"]);
    send(&[("up", &button(&page, "up", 2))]).await.is(303);
    let page = browser.get(PAGE).await.is(200);
    assert_eq!(titles(&page), ["Email to ada@example.com", "My devices"]);
    send(&[("off", &button(&page, "off", 1))]).await.is(303);
    let page = browser.get(PAGE).await.is(200);
    assert_eq!(titles(&page), ["Email to ada@example.com off", "My devices"]);
    send(&[("on", &button(&page, "on", 1))]).await.is(303);
    send(&[("digest", "1"), ("every", "day"), ("at", "")]).await.is(422);
    send(&[("digest", "1"), ("every", "day"), ("at", "08:30")]).await.is(303);
    let told = world.human().get(NOTICES).await.is(200);
    assert_eq!(told["digest"], json!({ "every": "day", "at": "08:30" }));
    let page = browser.get(PAGE).await.is(200);
    send(&[("remove", &button(&page, "remove", 1))]).await.is(303);
    assert_eq!(titles(&browser.get(PAGE).await.is(200)), ["My devices"]);
    browser.post_form(PAGE, &[("contacts", "eve@example.com")]).await.is(403);
    world.end().await;
}
