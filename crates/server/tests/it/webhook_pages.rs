//! Endpoints in the settings, in a browser without a script: made, tried out, rotated, told again,
//! gone.

use serde_json::json;

use crate::fake_webhook_receiver::Hook;
use crate::pages::signed_in;
use crate::settings_pages::{member, send, well_made};
use crate::webhooks::{answer, ask, deliveries};
use crate::world::{World, eventually};

const PAGE: &str = "/settings/webhooks";

#[tokio::test]
async fn an_endpoint_is_kept_on_its_page() {
    let world = World::dev().await;
    let admin = signed_in(&world).await.client;
    let hook = Hook::open(&[500]).await;
    let inside = [
        ("agent", "agent/agent_dev"),
        ("url", "https://10.0.0.1/"),
        ("format", "standard"),
        ("events", "ask.answered"),
    ];
    let refused = send(&admin, PAGE, &inside).await.is(422);
    well_made(PAGE, &refused);
    assert!(refused.text.contains("https://10.0.0.1/"), "what was entered stays");
    let nothing =
        [("agent", "agent/agent_dev"), ("url", hook.url.as_str()), ("format", "standard")];
    assert!(send(&admin, PAGE, &nothing).await.is(422).text.contains("at least one event"));
    let odd = [("agent", "key_1"), ("url", hook.url.as_str()), ("format", "xml")];
    send(&admin, PAGE, &odd).await.is(422);

    let fields = [
        ("agent", "agent/agent_dev"),
        ("url", hook.url.as_str()),
        ("format", "standard"),
        ("events", "ask.answered"),
        ("description", "<b>staging</b>"),
    ];
    let made = send(&admin, PAGE, &fields).await.is(201);
    well_made(PAGE, &made);
    assert!(made.text.contains("whsec_"), "the secret, this once");
    let list = admin.get(PAGE).await.is(200);
    well_made(PAGE, &list);
    assert!(
        list.text.contains("&#60;b&#62;staging") || list.text.contains("&lt;b&gt;staging"),
        "{}",
        list.text
    );
    assert!(
        !list.text.contains("whsec_") && !list.text.contains("s3cret"),
        "an address may hold secrets"
    );
    let api = world.human().get("/api/v1/webhooks").await.is(200);
    let own = format!("{PAGE}/{}", api["webhooks"][0]["id"].as_str().unwrap());
    let endpoint = world.human().get(&own.replace("/settings", "/api/v1")).await.is(200);

    answer(&world, &ask(&world).await).await;
    eventually("an attempt", async || !deliveries(&world, &endpoint).await.is_empty()).await;
    let page = admin.get(&own).await.is(200);
    well_made(&own, &page);
    for words in ["ask.answered", "waiting", "answered 500", "Send again", "next attempt"] {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
    assert!(!page.text.contains("<b>500</b>"), "what an endpoint says is only shown");
    let message = deliveries(&world, &endpoint).await[0]["id"].as_str().unwrap().to_owned();
    let again = send(&admin, &format!("{own}/redeliver"), &[("delivery", &message)]).await.is(303);
    assert_eq!(again.header("location"), format!("{own}?done=again"));
    eventually("it is taken", async || deliveries(&world, &endpoint).await[0]["status"] == "done")
        .await;
    let page = admin.get(&format!("{own}?done=again")).await.is(200);
    assert!(
        page.text.contains("It is sent again") && page.text.contains("accepted with 200"),
        "{}",
        page.text
    );
    let unknown = send(&admin, &format!("{own}/redeliver"), &[("delivery", "msg_x")]).await.is(422);
    well_made(&own, &unknown);

    send(&admin, &format!("{own}/test"), &[]).await.is(303);
    eventually("the test", async || deliveries(&world, &endpoint).await.len() == 2).await;
    let rotated = send(&admin, &format!("{own}/rotate"), &[("grace_seconds", "0")]).await.is(200);
    assert!(rotated.text.contains("whsec_") && rotated.text != made.text);

    let off = [("url", hook.url.as_str()), ("format", "standard"), ("events", "ask.answered")];
    send(&admin, &own, &off).await.is(303);
    let page = admin.get(&own).await.is(200);
    assert!(
        page.text.contains("It is disabled") && !page.text.contains("Send again"),
        "{}",
        page.text
    );
    send(&admin, &format!("{own}/test"), &[]).await.is(422);
    let on = [off.as_slice(), &[("enabled", "yes")]].concat();
    send(&admin, &own, &on).await.is(303);

    let page = admin.get(&format!("{own}/remove")).await.is(200);
    well_made(&own, &page);
    send(&admin, &format!("{own}/remove"), &[]).await.is(303);
    admin.get(&own).await.is(404);
    world.end().await;
}

/// 410 shows on the page; people see their own agents' endpoints and nobody else's.
#[tokio::test]
async fn everybody_keeps_their_own() {
    let world = World::dev().await;
    let (admin, other) = (signed_in(&world).await.client, member(&world).await.client);
    let hook = Hook::open(&[410]).await;
    let made = world
        .human()
        .post("/api/v1/webhooks", json!({ "agent": "agent_dev", "url": hook.url }))
        .await
        .is(201);
    let own = format!("{PAGE}/{}", made["id"].as_str().unwrap());
    answer(&world, &ask(&world).await).await;
    eventually("it is gone", async || {
        admin.get(&own).await.text.contains("The endpoint answered 410: it is gone")
    })
    .await;
    assert!(admin.get(PAGE).await.text.contains(">gone<"));
    for path in [own.clone(), format!("{own}/remove")] {
        other.get(&path).await.is(404);
    }
    for below in ["", "/rotate", "/test", "/redeliver", "/remove"] {
        send(&other, &format!("{own}{below}"), &[]).await.is(404);
    }
    let list = other.get(PAGE).await.is(200);
    assert!(list.text.contains("No agent is yours") && !list.text.contains(&own), "{}", list.text);
    world.add_agent("clerk", "dev", "user_dev_2").await;
    let fields = [
        ("agent", "project/dev"),
        ("url", hook.url.as_str()),
        ("format", "standard"),
        ("events", "ask.answered"),
    ];
    let refused = send(&other, PAGE, &fields).await.is(422);
    assert!(refused.text.contains("Only an administrator or the owner"), "{}", refused.text);
    let fields = [
        ("agent", "agent/clerk"),
        ("url", hook.url.as_str()),
        ("format", "standard"),
        ("events", "ask.answered"),
    ];
    send(&other, PAGE, &fields).await.is(201);
    let list = other.get(PAGE).await.is(200);
    assert_eq!(list.text.matches("/settings/webhooks/hook_").count(), 1);
    let id = deliveries(&world, &made).await[0]["id"].as_str().unwrap().to_owned();
    let body = json!({ "agent": "agent_dev", "url": hook.url });
    world.human().put(&own.replace("/settings", "/api/v1"), body).await.is(200);
    let again = format!("{}/deliveries/{id}/redeliver", own.replace("/settings", "/api/v1"));
    world.human().post(&again, json!({})).await.is(202);
    eventually("it is taken", async || deliveries(&world, &made).await[0]["status"] == "done")
        .await;
    world.end().await;
}
