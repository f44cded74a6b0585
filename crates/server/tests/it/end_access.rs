//! Ending all access of a person also ends what was sent to them: review links, and emails and
//! messages that can be answered.

use channels::testing::slack::Workspace;
use serde_json::{Value, json};

use crate::channels_mail::{brings, letter, open};
use crate::client::with;
use crate::ended_streams::cut;
use crate::fake_platforms::{ADA, id, in_slack, in_slack_as, posted, press, whispered};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::native::{approval, asked};
use crate::notification_steps::verified;
use crate::streams::Events;
use crate::world::{World, dev};

const HERS: &str = "ada@example.com";

/// Adds Ada, with a token; the token's secret.
async fn ada(world: &World, email: &str) -> String {
    let ada = json!({ "name": "Ada", "email": email, "projects": ["dev"] });
    world.human().put("/api/v1/people/ada", ada).await.saved();
    token(world, "ada").await
}

async fn token(world: &World, id: &str) -> String {
    let made = world.human().post("/api/v1/keys", json!({ "human": id })).await.is(201);
    made["secret"].as_str().unwrap().to_owned()
}

async fn end_access(world: &World, id: &str) {
    world.human().delete(&format!("/api/v1/people/{id}/access")).await.is(204);
    // Whoever is notified of it is, before anything else happens.
    waits(world, 0).await;
}

async fn state(world: &World, ask: &str) -> Value {
    world.agent().get(ask).await.is(200)["state"].clone()
}

/// An ask that the agent has put at an address: where the ask is, and the review link in the email.
async fn mailed(world: &World, post: &Post, to: &str) -> (String, String) {
    let had = post.letters().len();
    let placed = with(approval(), json!({ "place": { "to": format!("email:{to}") } }));
    let ask = asked(&world.agent(), placed).await;
    let sent = post.letter(had + 1).await;
    waits(world, 0).await;
    let source = sent.source();
    let path = source.split_once("/review/").unwrap().1;
    let end = path.find(|c: char| !(c.is_ascii_alphanumeric() || "_-?=.".contains(c)));
    (ask, format!("/review/{}", &path[..end.unwrap_or(path.len())]))
}

/// A review link that was sent to a verified address of the person opens nothing any more, also
/// after they verified the address anew. Links that were sent to others, and links that are sent
/// later, work.
#[tokio::test]
async fn review_links_that_were_sent_to_a_person_end_with_their_access() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let secret = ada(&world, "ada@home.example").await;
    verified(&world.bearer(&secret), &post, HERS).await;
    verified(&world.human(), &post, "owner@example.com").await;
    let (ask, link) = mailed(&world, &post, HERS).await;
    let (_, others) = mailed(&world, &post, "owner@example.com").await;
    let (path, review) = link.split_once("?token=").unwrap();
    let anyone = world.anonymous();
    anyone.get(&link).await.is(200);
    let mut page = Events::open(&anyone, &format!("{path}/end?token={review}")).await;
    page.block().await.unwrap();

    world.advance(60);
    end_access(&world, "ada").await;
    cut(&mut page).await;
    let had = post.letters().len();
    for again in [false, true] {
        if again {
            let secret = token(&world, "ada").await;
            reverified(&world, &secret, &post).await;
        }
        anyone.get(&link).await.is(401);
        anyone.post_form(path, &[("token", review), ("action", "approve")]).await.is(401);
        let respond = path.replace("/review/", "/hitl/v1/reviews/");
        let body = json!({ "action": "approve" });
        anyone.post(&format!("{respond}/respond?token={review}"), body).await.is(401);
        anyone.get(&format!("{path}/end?token={review}")).await.is(401);
        assert_ne!(state(&world, &ask).await, "completed");
    }
    assert!(post.letters().len() > had);
    anyone.get(&others).await.is(200);
    world.advance(60);
    let (later, link) = mailed(&world, &post, HERS).await;
    let (path, review) = link.split_once("?token=").unwrap();
    anyone.post_form(path, &[("token", review), ("action", "approve")]).await.is(200);
    let done = world.agent().get(&later).await.is(200);
    assert_eq!(done["result"]["assurance"], "link");
    world.end().await;
}

/// The person shows once more that the address is theirs.
async fn reverified(world: &World, secret: &str, post: &Post) {
    let own = world.bearer(secret);
    let had = post.letters().len();
    let known = own.get("/api/v1/me/notices").await.is(200);
    let ways = known["ways"].as_array().unwrap().clone();
    let way = ways.iter().find(|way| way["means"] == json!(format!("email:{HERS}"))).unwrap();
    assert_eq!(way["verified"], false);
    let contact = format!("/api/v1/me/contacts/{}", way["id"].as_str().unwrap());
    own.post(&format!("{contact}/code"), json!({})).await.is(204);
    let code = post.letter(had + 1).await.code();
    own.post(&format!("{contact}/verify"), json!({ "code": code })).await.is(200);
}

/// An email that was sent to the person, at their own address or where an agent placed the request,
/// is not answered by writing back.
#[tokio::test]
async fn emails_that_were_sent_to_a_person_are_answered_no_more() {
    let (post, world) = open().await;
    let secret = ada(&world, "ada@home.example").await;
    verified(&world.bearer(&secret), &post, HERS).await;
    for place in [true, false] {
        let had = post.letters().len();
        let to = if place {
            json!({ "place": { "to": format!("email:{HERS}") } })
        } else {
            json!({ "route": { "to": "person", "human": "ada" } })
        };
        let ask = asked(&world.agent(), with(approval(), to)).await;
        let sent = post.letter(had + 1).await;
        waits(&world, 0).await;
        world.advance(60);
        end_access(&world, "ada").await;
        waits(&world, 0).await;
        let reply =
            |n: usize| letter(&format!("r{n}{place}"), HERS, &sent.header("Reply-To"), "yes");
        brings(&world, &reply(1)).await.is(200);
        assert_ne!(state(&world, &ask).await, "completed", "place: {place}");
        let secret = token(&world, "ada").await;
        reverified(&world, &secret, &post).await;
        brings(&world, &reply(2)).await.is(200);
        assert_ne!(state(&world, &ask).await, "completed", "place: {place}");
    }
    waits(&world, 0).await;
    world.end().await;
}

/// A button in a chat does nothing for somebody whose access was ended, also where Slack vouches
/// for the email address they sign in with.
#[tokio::test]
async fn buttons_in_a_chat_end_with_access() {
    let slack = Workspace::begin().await.unwrap();
    let world = World::with(in_slack(&slack, dev())).await;
    // Slack knows her by the address she signs in with.
    let secret = ada(&world, HERS).await;
    in_slack_as(&world.bearer(&secret), &slack, ADA).await;
    let had = slack.messages().len();
    for (n, to) in [
        json!({ "route": { "to": "person", "human": "ada" } }),
        json!({ "place": { "to": format!("slack:{ADA}") } }),
    ]
    .into_iter()
    .enumerate()
    {
        if n > 0 {
            let secret = token(&world, "ada").await;
            let own = world.bearer(&secret);
            let known = own.get("/api/v1/me/notices").await.is(200);
            let ways = known["ways"].as_array().unwrap().clone();
            let way =
                ways.iter().find(|way| way["means"] == json!(format!("slack:{ADA}"))).unwrap();
            let way = way["id"].as_str().unwrap().to_owned();
            crate::fake_platforms::shown(&own, &way, || {
                slack.messages().pop().map(|message| message.body.to_string())
            })
            .await;
        }
        let before = slack.messages().len();
        let ask = asked(&world.agent(), with(approval(), to)).await;
        let message = id(&posted(&slack, before + 1).await);
        waits(&world, 0).await;
        world.advance(60);
        end_access(&world, "ada").await;
        press(&world, &slack, &message, "Approve", ADA).await;
        assert_ne!(state(&world, &ask).await, "completed", "{n}");
        assert!(whispered(&slack).contains("was not sent to you"), "{}", whispered(&slack));
    }
    assert!(slack.messages().len() > had);
    waits(&world, 0).await;
    world.end().await;
}
