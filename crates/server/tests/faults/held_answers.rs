//! Answers that can still be undone when the process dies: what was answered is sent, by the same
//! server started again or by another node.

use std::time::Instant;

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};

use super::agent::{Caller, endings, signed_in_with};
use super::support::{PATIENCE, Server};
use super::test_storage::Place;

#[tokio::test]
async fn a_held_answer_is_sent_after_kill_nine() {
    held_answers_are_sent(Place::sqlite()).await;
}

#[tokio::test]
async fn a_held_answer_is_sent_by_another_node() {
    if let Some(place) = Place::postgres().await {
        held_answers_are_sent(place).await;
    }
}

async fn held_answers_are_sent(place: Place) {
    let mut nodes = place.nodes();
    let caller = Caller::of(&nodes[0]);
    let (_, asked) = caller.ask("Refund?").await.unwrap();
    answer_on_its_page(&nodes[0], &asked.replacen("hxp_", "ask_", 1)).await;
    assert!(endings(&place.events().await, &asked).is_empty(), "it is held");
    nodes.remove(0).kill();
    let (code, said) = place.verify();
    assert_eq!(code, Some(0), "{said}");

    let server = nodes.pop().unwrap_or_else(|| place.dev());
    // Not read through the server, which would send it by itself.
    let begun = Instant::now();
    while endings(&place.events().await, &asked).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "the answer is not sent");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(endings(&place.events().await, &asked), ["answered"]);
    assert_eq!(Caller::of(&server).poll(&asked).await["receipt"]["result"], "approved");
    drop(server);
    place.sound().await;
}

/// Signs in with the link the server prints, and approves.
async fn answer_on_its_page(server: &Server, ask: &str) {
    let form = "application/x-www-form-urlencoded";
    let said = server.stdout();
    let link = said.rsplit_once("token=").unwrap().1.lines().next().unwrap().to_owned();
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let (http, url) = (http.build().unwrap(), server.url.replace("localhost", "127.0.0.1"));
    let signed = signed_in_with(&http, &url, &link).await;
    let kept = signed.headers().get_all(SET_COOKIE).iter();
    let kept: Vec<&str> =
        kept.map(|line| line.to_str().unwrap().split(';').next().unwrap()).collect();
    let cookie = kept.join("; ");
    let page = http.get(format!("{url}/asks/{ask}")).header(COOKIE, &cookie).send().await.unwrap();
    let page = page.text().await.unwrap();
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
    let (csrf, _) = rest.split_once('"').unwrap();
    let answer = http.post(format!("{url}/asks/{ask}/answer")).header(COOKIE, &cookie);
    let answer = answer.header(CONTENT_TYPE, form).body(format!("action=approve&csrf={csrf}"));
    assert_eq!(answer.send().await.unwrap().status(), 303);
}
