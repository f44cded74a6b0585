//! What a call of A2H wants of the letter that asks it.

use kernel::AskId;
use kernel::directory::ContactMethod;
use serde_json::{Value, json};

use crate::a2h::{call, make, native};
use crate::channels_mail::{ADA, brings, letter, open, result};
use crate::client::with;
use crate::fake_push_device::waits;
use crate::fake_smtp_server::{Letter, Post};
use crate::notification_steps::verified;
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

/// A2H-088, A2H-089, A2H-090, A2H-091: to somebody nobody here knows, in the thread the agent
/// named, to others as well, as the agent laid it out; its links lead to the page, with the token
/// of this letter, and looking decides nothing.
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

/// Of this call an email goes to an address, with a copy to the agent or without: the request, and
/// the email.
async fn mailed(
    world: &World,
    post: &Post,
    name: &str,
    (to, copied): (&str, bool),
) -> (String, Letter) {
    let had = post.letters().len();
    let mut email = json!({ "address": to });
    if copied {
        let copy = json!({ "address": "agent@evil.example", "field": "bcc" });
        email["additional_recipients"] = json!([copy]);
    }
    let new = with(call(name), json!({ "spec": { "channel": { "email": email } } }));
    let ask = native(&make(&world.agent(), "function_calls", new).await);
    let sent = post.letter(had + 1).await;
    waits(world, 0).await;
    (ask, sent)
}

/// An agent that has a copy of the email to a person sent to itself cannot answer as that person:
/// the copy has no address for answers, and one that was sent earlier is not taken.
#[tokio::test]
async fn a_copy_lets_nobody_answer_as_the_person_it_was_for() {
    let (post, world) = open().await;
    let person = json!({ "projects": ["dev"], "email": ADA });
    world.human().put("/api/v1/people/user_dev_2", person).await.saved();
    verified(&world.member(), &post, ADA).await;
    let (plain, sent) = mailed(&world, &post, "plain", (ADA, false)).await;
    let to = sent.header("Reply-To");
    brings(&world, &letter("r1", ADA, &to, "yes")).await.is(200);
    assert_eq!(result(&world, &plain).await["by"]["id"], "user_dev_2");
    waits(&world, 0).await;

    let (copied, sent) = mailed(&world, &post, "copied", (ADA, true)).await;
    let source = sent.source();
    let replies = source.lines().any(|line| line.starts_with("Reply-To:"));
    assert!(!replies && !source.contains("reply to this email"), "{source}");
    assert!(source.contains("/asks/"), "it is answered on its page: {source}");
    let id: AskId = copied.rsplit('/').next().unwrap().parse().unwrap();
    let mail = world.app().notifier.channels.email.clone().unwrap();
    let to = mail.reply_to(id, &ContactMethod::email(ADA)).unwrap();
    let had = post.letters().len();
    brings(&world, &letter("r2", "agent@evil.example", &to, "yes")).await.is(200);
    assert_eq!(world.agent().get(&copied).await.is(200)["state"], "pending");
    let told = post.letter(had + 1).await.source();
    assert!(told.contains("went to other people too"), "{told}");
    world.end().await;
}

/// The same where the agent chose the address of a person it does not ask: what is in the copy
/// proves no more than the agent's word.
#[tokio::test]
async fn a_link_or_a_reply_address_in_a_copy_is_the_agents_word() {
    let (post, world) = open().await;
    world.human().put("/api/v1/people/zoe", json!({ "name": "Zoe" })).await.saved();
    let key = world.human().post("/api/v1/keys", json!({ "human": "zoe" })).await.is(201);
    let zoe = world.bearer(key["secret"].as_str().unwrap());
    verified(&zoe, &post, "zoe@example.org").await;
    for (copied, assurance) in [(false, "link"), (true, "agent-attested")] {
        let to = ("zoe@example.org", copied);
        let (ask, sent) = mailed(&world, &post, &format!("link-{copied}"), to).await;
        let source = sent.source();
        let path = source.split_once("/review/").unwrap().1;
        let end = path.find(|c: char| !(c.is_ascii_alphanumeric() || "_-?=.".contains(c)));
        let (case, token) = path[..end.unwrap()].split_once("?token=").unwrap();
        let form = [("token", token), ("action", "approve")];
        world.anonymous().post_form(&format!("/review/{case}"), &form).await.is(200);
        assert_eq!(result(&world, &ask).await["assurance"], assurance, "a link, {copied}");

        let (ask, sent) = mailed(&world, &post, &format!("reply-{copied}"), to).await;
        let id = format!("g{copied}");
        let answer = letter(&id, "zoe@example.org", &sent.header("Reply-To"), "yes");
        brings(&world, &answer).await.is(200);
        assert_eq!(result(&world, &ask).await["assurance"], assurance, "a reply, {copied}");
        waits(&world, 0).await;
    }
    world.end().await;
}
