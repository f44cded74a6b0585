//! Writing to an agent in a browser, and the page on which the conversation stands.

use scraper::{Html, Selector};
use serde_json::json;

use crate::client::Reply;
use crate::conversations::{WRITE, opened};
use crate::native::ASKS;
use crate::pages::{csrf, signed_in};
use crate::world::World;

fn texts(page: &Reply, selector: &str) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    let text = |e: scraper::ElementRef<'_>| e.text().collect::<String>().trim().to_owned();
    html.select(&selector).map(text).collect()
}

fn once(page: &Reply) -> String {
    let html = Html::parse_document(&page.text);
    let input = Selector::parse("input[name=once]").unwrap();
    html.select(&input).next().unwrap().value().attr("value").unwrap().to_owned()
}

/// From the inbox to the message, to the agent's answer, and on.
#[tokio::test]
async fn a_message_is_sent_once_and_answered_on_its_page() {
    let world = World::dev().await;
    let browser = signed_in(&world).await.client;
    let nobody = browser.get("/write").await.is(200);
    assert!(nobody.text.contains("No agent that you may write to accepts conversations"));
    assert!(!browser.get("/").await.is(200).text.contains("Write to an agent"));
    opened(&world).await;
    assert!(browser.get("/").await.is(200).text.contains("Write to an agent"));
    let page = browser.get("/write?agent=agent_dev").await.is(200);
    let (token, key) = (csrf(&page), once(&page));
    let form = |text: &str| {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            pair("csrf", &token),
            pair("once", &key),
            pair("agent", "agent_dev"),
            pair("text", text),
        ]
    };
    let send = async |text: &str| {
        let form = form(text);
        let form: Vec<_> =
            form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        browser.post_form("/write", &form).await
    };
    let sent = send("Please refund\r\norder 7").await.is(303);
    let at = sent.header("location").to_owned();
    assert_eq!(send("Please refund\r\norder 7").await.is(303).header("location"), at);
    let other = send("Something else").await.is(422);
    assert!(other.text.contains("This form was sent before"), "{}", other.text);
    assert_eq!(texts(&other, "textarea#text"), ["Something else"], "nothing is lost");
    assert_ne!(once(&other), key, "it can be sent as another message");

    let page = browser.get(&at).await.is(200);
    assert_eq!(texts(&page, "#conversation .said pre"), ["Please refund\norder 7"]);
    assert!(page.text.contains("agent_dev will answer here"));
    let id = at.rsplit_once('/').unwrap().1;
    let question = json!({ "kind": "converse", "prompt": "Which amount?" });
    let body = json!({ "question": question, "conversation": id });
    let reply = world.agent().post(ASKS, body).await.is(201);
    let reply = format!("/asks/{}", reply["id"].as_str().unwrap());
    assert!(browser.get("/").await.is(200).text.contains("Which amount?"));
    let page = browser.get(&reply).await.is(200);
    let said = ["Please refund\norder 7", "Which amount?"];
    assert_eq!(texts(&page, "#conversation .said pre"), said);
    let answer =
        [("csrf", csrf(&page)), ("action", "reply".to_owned()), ("reply", "All".to_owned())];
    let answer: Vec<_> = answer.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post_form(&format!("{reply}/answer"), &answer).await.is(303);
    world.let_answers_stand();
    let page = browser.get(&at).await.is(200);
    assert_eq!(texts(&page, "#conversation .said pre"), [said[0], said[1], "All"]);
    assert!(!page.text.contains("will answer here"));
    world.end().await;
}

#[tokio::test]
async fn what_is_wrong_is_said_and_nothing_is_sent() {
    let world = World::dev().await;
    opened(&world).await;
    let browser = signed_in(&world).await.client;
    let page = browser.get("/write").await.is(200);
    let token = csrf(&page);
    let long = "x".repeat(10_001);
    for (agent, text, why) in [
        ("", "hi", "Choose one of these agents"),
        ("nobody", "hi", "Choose one of these agents"),
        ("agent_dev_2", "hi", "no longer accepts conversations"),
        ("agent_dev", " ", "Write something"),
        ("agent_dev", &long, "Write something"),
    ] {
        let form = [("csrf", &*token), ("once", "k"), ("agent", agent), ("text", text)];
        let refused = browser.post_form("/write", &form).await.is(422);
        assert!(refused.text.contains(why) && refused.text.contains("Nothing was sent"), "{why}");
    }
    let forged = [("csrf", "nonsense"), ("agent", "agent_dev"), ("text", "hi")];
    browser.post_form("/write", &forged).await.is(403);
    let listed = world.agent().get("/api/v1/conversations").await.is(200);
    assert_eq!(listed["asks"], json!([]));
    world.end().await;
}

/// Whoever answers for the agent reads what was written to it; a colleague does not.
#[tokio::test]
async fn a_conversation_is_shown_to_those_it_concerns() {
    let world = World::dev().await;
    opened(&world).await;
    let browser = signed_in(&world).await.client;
    let made = world.member().post(WRITE, json!({ "text": "for the agent" })).await.is(201);
    let at = format!("/asks/{}", made["id"].as_str().unwrap());
    let page = browser.get(&at).await.is(200);
    assert_eq!(texts(&page, "#conversation .said pre"), ["for the agent"]);
    assert!(page.text.contains("started a conversation"));
    assert!(browser.get("/history").await.is(200).text.contains("Write to agent_dev"));
    world
        .human()
        .post(&format!("{ASKS}/{}/erase", made["id"].as_str().unwrap()), json!({}))
        .await
        .is(200);
    let page = browser.get(&at).await.is(200);
    assert_eq!(texts(&page, "#conversation .said pre"), ["(This text was erased.)"]);
    world.end().await;
}

/// An owner who administers nothing lets people write to their agent, and takes it back.
#[tokio::test]
async fn the_settings_open_and_close_an_agent() {
    let world = World::dev().await;
    let browser = signed_in(&world).await.client;
    let at = "/settings/agents/agent_dev";
    let takes = async || {
        let kept = world.human().get("/api/v1/agents/agent_dev").await.is(200);
        kept["conversations"].clone()
    };
    let token = csrf(&browser.get(at).await.is(200));
    let on = [("csrf", &*token), ("owner", "user_dev"), ("conversations", "yes")];
    browser.post_form(at, &on).await.is(303);
    assert_eq!(takes().await, json!(true));
    browser.post_form(at, &on[..2]).await.is(303);
    assert_eq!(takes().await, json!(false));
    world.end().await;
}
