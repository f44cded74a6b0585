//! What a call of A2H wants of the letter that asks it.

use serde_json::{Value, json};

use crate::post::Post;
use crate::world::World;

async fn called(world: &World, email: &Value) -> String {
    let call = json!({
        "run_id": "run-1",
        "call_id": "call-1",
        "spec": {
            "fn": "refund",
            "kwargs": { "order": "7 <b>" },
            "channel": { "email": email },
        },
    });
    let made = world.agent().post("/a2h/v1/function_calls", call).await.is(200);
    made["call_id"].as_str().unwrap().to_owned()
}

/// A2H-088, A2H-089, A2H-090, A2H-091: to somebody nobody here knows, in the thread the agent named, to
/// others as well, as the agent laid it out; its links lead to the page, with the token of this letter,
/// and looking decides nothing.
#[tokio::test]
async fn a_letter_is_as_its_channel_wants_it() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let template = "<h1>{{ event.spec.fn }}</h1><pre>{{ event.spec.kwargs | tojson(indent=2) }}</pre>\
                    <a href=\"{{ urls.base_url }}?approve=true\">Yes</a>\
                    <a href=\"https://evil.example\">elsewhere</a><script>steal()</script>";
    let id = called(
        &world,
        &json!({
            "address": "stranger@example.org",
            "subject": "About order 7\r\nBcc: eve@example.com",
            "in_reply_to_message_id": "<first@example.org>",
            "references_message_id": "<first@example.org>",
            "additional_recipients": [
                { "address": "cc@example.org", "field": "cc" },
                { "address": "hidden@example.org", "field": "bcc" },
            ],
            "template": template,
        }),
    )
    .await;
    let letter = post.letter(1).await;
    assert!(letter.header("Subject").starts_with("About order 7"), "{}", letter.header("Subject"));
    assert_eq!(letter.header("In-Reply-To"), "<first@example.org>");
    assert_eq!(letter.header("Cc"), "cc@example.org");
    let html = letter.source();
    assert!(!html.contains("hidden@example.org"), "{html}");
    assert!(!html.lines().any(|line| line.starts_with("Bcc:")), "{html}");
    assert!(html.contains("<h1>refund</h1>"), "{html}");
    assert!(!html.contains("<script>") && !html.contains("href=\"https://evil.example"), "{html}");
    let link = html.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
    let link = link.replace("&amp;", "&");
    assert!(link.contains("?token=") && link.ends_with("&approve=true"), "{link}");
    let path = link.split_once("/review/").unwrap().1;
    world.anonymous().get(&format!("/review/{path}")).await.is(200);
    let call = world.agent().get(&format!("/a2h/v1/function_calls/{id}")).await.is(200);
    assert_eq!(call["status"]["responded_at"], Value::Null);
    world.end().await;
}

/// A2H-090: a template that makes no letter loses nothing.
#[tokio::test]
async fn a_broken_template_is_the_usual_letter() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let email = json!({ "address": "stranger@example.org", "template": "{% if %}" });
    called(&world, &email).await;
    let letter = post.letter(1).await;
    let html = letter.source();
    assert!(html.contains("refund") && html.contains("Read and answer"), "{html}");
    world.end().await;
}
