//! What one tenant may use: quotas, budgets of questions, and whom agents may reach.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::config::Settings;

use crate::a2h::{self, A2H, call, make};
use crate::client::{approve, provide, with};
use crate::fake_platforms::{in_slack, posted};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::hacp::{begun, op};
use crate::hitl;
use crate::native::{ASKS, approval, asked, yes};
use crate::notification_steps::verified;
use crate::world::{World, dev};

const HXP: &str = "/hxp/v1/requests";
const CASES: &str = "/hitl/v1/cases";
const STRANGER: &str = "slack:C0OTHER";

async fn with_quotas(quotas: &str) -> World {
    World::with(Settings { quotas: Some(quotas.to_owned()), ..dev() }).await
}

/// A form with patterns that are cheap to write and expensive to compile.
fn heavy_form(fields: usize) -> Value {
    let field = |n: usize| {
        let validation = json!({ "pattern": format!("[^x]{{{}}}", 300 + n) });
        json!({ "key": format!("k{n}"), "label": "L", "type": "text", "validation": validation })
    };
    json!({ "fields": (0..fields).map(field).collect::<Vec<_>>() })
}

/// A request that once took gigabytes is refused at once, in the shape of its protocol.
#[tokio::test]
async fn questions_have_budgets_in_each_dialect() {
    let world = World::dev().await;
    let agent = world.agent();
    let begun = Instant::now();
    let question = json!({ "kind": "provide", "prompt": "Fill in", "form": heavy_form(400) });
    let native = agent.post(ASKS, json!({ "question": question })).await;
    let native = native.problem(422, "too-complex");
    assert_eq!(native["errors"][0]["field"], "question.form", "{}", native.text);
    assert!(native.text.contains("2097152 bytes together when compiled"), "{}", native.text);

    let case = hitl::with(hitl::of("input"), json!({ "context": { "form": heavy_form(400) } }));
    let case = hitl::refused(agent.post(CASES, case).await, 400, "invalid_request");
    assert!(case["field"].as_str().unwrap().starts_with("context.form.k"), "{}", case.text);

    let validation = json!({ "pattern": "(((a{100}){100}){100}){100}" });
    let hxp = with(provide("text"), json!({ "payload": { "validation": validation } }));
    let hxp = agent.post(HXP, hxp).await.error(400, "invalid_payload");
    assert!(hxp.text.contains("validation.pattern"), "{}", hxp.text);

    let property =
        |n: usize| (format!("p{n}"), json!({ "pattern": format!("[^x]{{{}}}", 400 + n) }));
    let properties: serde_json::Map<String, Value> = (0..400).map(property).collect();
    let message = json!({
        "apiVersion": "proto.a2h.dev/v1alpha1",
        "kind": "Message",
        "spec": { "message": "Well?", "response_schema": { "properties": properties } },
    });
    let message = agent.post(&format!("{A2H}/messages"), message).await;
    let message = a2h::refused(message, 422, "invalid_field");
    assert!(message.text.contains("spec.response_schema"), "{}", message.text);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());

    // The same pattern in every field is compiled once, and answers are checked.
    let mut same = heavy_form(60);
    for field in same["fields"].as_array_mut().unwrap() {
        field["validation"]["pattern"] = json!("[^x]{2,700}");
    }
    let question = json!({ "kind": "provide", "prompt": "Fill in", "form": same });
    let ask = asked(&agent, json!({ "question": question })).await;
    let answer =
        |text: &str| json!({ "answer": { "verdict": "provided", "values": { "k0": text } } });
    let path = format!("{ask}/answer");
    world.human().post(&path, answer("x")).await.problem(422, "answer-mismatch");
    let long = "a".repeat(100_000);
    let long = world.human().post(&path, answer(&long)).await.problem(422, "answer-mismatch");
    assert_eq!(long["errors"][0]["code"], "too_long", "{}", long.text);
    world.human().post(&path, answer("abc")).await.is(200);
    world.end().await;
}

/// Each dialect says it in its own words; what is closed makes room, and a repeated call gets its
/// outcome.
#[tokio::test]
async fn open_requests_have_a_quota_in_each_dialect() {
    let world = with_quotas("agent.open_asks=2").await;
    let agent = world.agent();
    let task = begun(&world, json!({})).await;
    let keyed = agent.clone().header("idempotency-key", "one");
    let first = keyed.post(ASKS, approval()).await.is(201);
    let second = asked(&agent, approval()).await;
    let native = agent.post(ASKS, approval()).await.problem(429, "quota-exceeded");
    assert!(native.text.contains("at most 2 open requests per agent"), "{}", native.text);
    assert_eq!(native.headers.get("retry-after"), None, "nobody knows when");
    let hxp = agent.post(HXP, approve("this")).await.error(429, "rate_limited");
    assert_eq!(hxp["details"]["quota"], "agent.open_asks", "{}", hxp.text);
    let case = hitl::refused(agent.post(CASES, hitl::approval()).await, 429, "rate_limited");
    assert_eq!((&case["quota"], &case["limit"]), (&json!("agent.open_asks"), &json!(2)));
    let a2h = agent.post(&format!("{A2H}/function_calls"), call("c1")).await;
    a2h::refused(a2h, 429, "rate_limited");
    let raise = json!({ "task_id": task, "kind": "approval", "prompt": "May I?" });
    let hacp = op(&agent, "checkpoint.raise", raise).await;
    crate::hacp::refused(hacp, 429, "RATE_LIMITED");
    // Others are not held up.
    asked(&world.agent_2(), approval()).await;
    // Sent again, it is what it was.
    let again = keyed.post(ASKS, approval()).await;
    assert!(again.status < 300 && again["id"] == first["id"], "{}", again.text);
    world.human().post(&format!("{second}/answer"), yes()).await.is(200);
    asked(&agent, approval()).await;
    let metrics = world.anonymous().get("/metrics").await.text;
    assert!(metrics.contains("countersign_quota_refused_total{"), "{metrics}");
    assert!(metrics.contains("countersign_quota_limit{"), "{metrics}");
    world.end().await;
}

/// A project sets quotas of its own, and never those of people.
#[tokio::test]
async fn a_project_has_quotas_of_its_own() {
    let world = with_quotas("project.open_asks=1").await;
    let admin = world.human();
    asked(&world.agent(), approval()).await;
    world.agent().post(ASKS, approval()).await.problem(429, "quota-exceeded");
    let own = json!({ "quotas": { "project.open_asks": 2 } });
    admin.put("/api/v1/projects/dev", own).await.saved();
    asked(&world.agent(), approval()).await;
    world.agent().post(ASKS, approval()).await.problem(429, "quota-exceeded");
    for bad in [json!({ "person.open_asks": 1 }), json!({ "agent.asks": 1 })] {
        let refused = admin.put("/api/v1/projects/dev", json!({ "quotas": bad })).await;
        assert!(matches!(refused.status, 400 | 422), "{}", refused.text);
    }
    // What is not named stays.
    admin.put("/api/v1/projects/dev", json!({ "floor": "session" })).await.saved();
    let kept = admin.get("/api/v1/projects/dev").await.is(200);
    assert_eq!(kept["quotas"], json!({ "project.open_asks": 2 }));
    assert_eq!(kept["recipients"], "any");
    world.end().await;
}

/// Uploads and stored bytes.
#[tokio::test]
async fn files_have_quotas() {
    let world = with_quotas("person.uploads=2,project.stored_bytes=60000").await;
    let form = json!({ "fields": [{ "key": "f", "label": "F", "type": "file" }] });
    let question = json!({ "kind": "provide", "prompt": "File?", "form": form });
    let ask = asked(&world.agent(), json!({ "question": question })).await;
    let send = async |bytes: usize| {
        let path = format!("{ask}/files?name=a.txt");
        world.human().post_raw(&path, vec![b'x'; bytes]).await
    };
    send(10_000).await.is(201);
    let full = send(100_000).await.problem(429, "quota-exceeded");
    assert!(full.text.contains("at most 60000 stored bytes per project"), "{}", full.text);
    let often = send(10).await.problem(429, "quota-exceeded");
    assert!(often.text.contains("at most 2 uploads an hour per person"), "{}", often.text);
    let wait: u64 = often.header("retry-after").parse().unwrap();
    assert!((1..=3600).contains(&wait));
    world.advance(3600);
    send(10).await.is(201);
    world.end().await;
}

/// A message beyond the quota waits, the request shows why, and it is sent when the quota starts
/// again.
#[tokio::test]
async fn notifications_beyond_a_quota_wait() {
    let slack = channels::testing::slack::Workspace::begin().await.unwrap();
    let settings = Settings { quotas: Some("agent.notifications=1".to_owned()), ..dev() };
    let world = World::with(in_slack(&slack, settings)).await;
    let place = |id: &str| {
        let slack = json!({ "channel_or_user_id": "C0OPS" });
        with(call(id), json!({ "spec": { "channel": { "slack": slack } } }))
    };
    make(&world.agent(), "function_calls", place("c1")).await;
    posted(&slack, 1).await;
    let second = make(&world.agent(), "function_calls", place("c2")).await;
    waits(&world, 1).await;
    assert_eq!(slack.messages().len(), 1);
    let id = second["status"]["ask_id"].as_str().unwrap();
    let browser = crate::pages::signed_in(&world).await;
    let page = browser.client.get(&format!("/asks/{id}")).await.is(200);
    assert!(page.text.contains("at most 1 notifications an hour per agent"), "{}", page.text);
    world.advance(3600);
    waits(&world, 0).await;
    posted(&slack, 2).await;
    world.end().await;
}

/// One agent that used up its quota holds up nobody else by the same channel.
#[tokio::test]
async fn a_quota_that_is_used_up_holds_up_nobody_else() {
    let slack = channels::testing::slack::Workspace::begin().await.unwrap();
    let settings = Settings { quotas: Some("agent.notifications=1".to_owned()), ..dev() };
    let world = World::with(in_slack(&slack, settings)).await;
    let placed = json!({ "question": approval()["question"], "place": { "to": "slack:C0OPS" } });
    asked(&world.agent(), placed.clone()).await;
    posted(&slack, 1).await;
    asked(&world.agent(), placed.clone()).await;
    waits(&world, 1).await;
    asked(&world.agent_2(), placed).await;
    posted(&slack, 2).await;
    waits(&world, 1).await;
    world.advance(3600);
    waits(&world, 0).await;
    posted(&slack, 3).await;
    world.end().await;
}

/// Different recipients of a day count once each.
#[tokio::test]
async fn recipients_have_a_quota() {
    let world = with_quotas("agent.recipients=2").await;
    let to = |at: &str| json!({ "question": approval()["question"], "place": { "to": at } });
    for at in ["email:a@example.com", "email:b@example.com", "email:A@example.com"] {
        asked(&world.agent(), to(at)).await;
    }
    let refused = world.agent().post(ASKS, to("email:c@example.com")).await;
    let refused = refused.problem(429, "quota-exceeded");
    assert!(refused.text.contains("2 different recipients a day"), "{}", refused.text);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() <= 86_400);
    let email = json!({
        "address": "a@example.com", "additional_recipients": [{ "address": "c@example.com" }],
    });
    let copied = with(call("copied"), json!({ "spec": { "channel": { "email": email } } }));
    world.agent().post(&format!("{A2H}/function_calls"), copied).await.is(429);
    asked(&world.agent(), approval()).await;
    world.advance(86_400);
    asked(&world.agent(), to("email:c@example.com")).await;
    world.end().await;
}

/// With `recipients: project` an agent reaches the people of its project and the allow-list only.
#[tokio::test]
async fn a_project_says_whom_agents_may_reach() {
    let workspace = channels::testing::slack::Workspace::begin().await.unwrap();
    let world = World::with(in_slack(&workspace, dev())).await;
    let admin = world.human();
    let placed = |at: &str| json!({ "question": approval()["question"], "place": { "to": at } });
    asked(&world.agent(), placed(STRANGER)).await;
    let closed =
        json!({ "recipients": "project", "allowed_recipients": ["slack:C0OPS", "@example.com"] });
    admin.put("/api/v1/projects/dev", closed).await.saved();
    for at in ["slack:C0OPS", "email:bob@example.com"] {
        asked(&world.agent(), placed(at)).await;
    }
    let native = world.agent().post(ASKS, placed(STRANGER)).await.problem(422, "invalid-field");
    assert_eq!(native["errors"][0]["field"], "place", "{}", native.text);
    assert!(native.text.contains("allowed_recipients"), "{}", native.text);
    let slack = json!({ "channel_or_user_id": "C0OTHER" });
    let spec = with(call("c9"), json!({ "spec": { "channel": { "slack": slack } } }));
    let refused = world.agent().post(&format!("{A2H}/function_calls"), spec).await;
    assert!(refused.text.contains("spec.channel"), "{}", refused.text);
    a2h::refused(refused, 422, "invalid_field");
    // Nor does it have its emails copied to anybody else.
    let email = |other: &str| {
        let others = json!([{ "address": other, "field": "bcc" }]);
        json!({ "address": "bob@example.com", "additional_recipients": others })
    };
    let to = |name: &str, other: &str| {
        with(call(name), json!({ "spec": { "channel": { "email": email(other) } } }))
    };
    make(&world.agent(), "function_calls", to("c10", "ada@example.com")).await;
    let copied = to("c11", "eve@else.example");
    let refused = world.agent().post(&format!("{A2H}/function_calls"), copied).await;
    a2h::refused(refused, 422, "invalid_field");
    let bad = json!({ "allowed_recipients": ["nowhere"] });
    let refused = admin.put("/api/v1/projects/dev", bad).await;
    assert!(refused.text.contains("@example.com"), "{}", refused.text);
    // Development mode lets new projects reach anybody; others are closed, as the kernel's tests
    // show.
    admin.post("/api/v1/projects", json!({ "id": "fresh" })).await.is(201);
    let fresh = admin.get("/api/v1/projects/fresh").await.is(200);
    assert_eq!((&fresh["recipients"], &fresh["allowed_recipients"]), (&json!("any"), &json!([])));
    world.end().await;
}

/// A digest is a notification to its person: it counts towards the quota, and waits where that is
/// used up.
#[tokio::test]
async fn digests_count_as_notifications() {
    let post = Post::open(&[]).await;
    let quotas = Some("person.notifications=1".to_owned());
    let world = World::with(Settings { quotas, ..post.carrying(dev()) }).await;
    verified(&world.human(), &post, "ada@example.com").await;
    let low = json!({ "question": approval()["question"], "priority": "low" });
    asked(&world.agent(), low.clone()).await;
    waits(&world, 1).await;
    // The digest is for the full hour, and an ordinary notification of that hour is the only one.
    world.advance(3600);
    asked(&world.agent(), approval()).await;
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), 2, "one notification in this hour: {:#?}", post.letters());
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 3);
    let subjects: Vec<String> =
        post.letters()[1..].iter().map(|letter| letter.header("Subject")).collect();
    let digest = |subject: &&String| subject.contains("wait") && subject.contains("for you");
    assert_eq!(subjects.iter().filter(digest).count(), 1, "{subjects:?}");
    // The next ordinary one of that hour waits for the digest.
    asked(&world.agent(), approval()).await;
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), 3);
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 4);
    world.end().await;
}

/// The agents whose requests are in a digest reach a recipient with it: it counts once a day for
/// each.
#[tokio::test]
async fn digests_count_for_the_agents_and_their_recipients() {
    let post = Post::open(&[]).await;
    let quotas = Some("agent.notifications=1,agent.recipients=1".to_owned());
    let world = World::with(Settings { quotas, ..post.carrying(dev()) }).await;
    verified(&world.human(), &post, "ada@example.com").await;
    let low = json!({ "question": approval()["question"], "priority": "low" });
    asked(&world.agent(), low).await;
    waits(&world, 1).await;
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 2);
    // The digest used up the notification of this hour, and the recipient of this day.
    asked(&world.agent(), approval()).await;
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), 2);
    let other =
        json!({ "question": approval()["question"], "place": { "to": "email:b@example.com" } });
    world.agent().post(ASKS, other).await.problem(429, "quota-exceeded");
    // Another agent of another project is not held up.
    asked(&world.agent_2(), approval()).await;
    post.letter(3).await;
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 4);
    world.end().await;
}

/// A file beyond a limit or a quota is named on the page, with what is allowed and everything else
/// that was entered.
#[tokio::test]
async fn a_file_that_is_not_taken_is_said_beside_its_field() {
    let quotas = Some("project.uploads=1".to_owned());
    let world = World::with(Settings { quotas, upload_limit: Some(100_000), ..dev() }).await;
    let form = json!({ "fields": [
        { "key": "before", "label": "Before", "type": "text" },
        { "key": "scan", "label": "Scan", "type": "file" },
        { "key": "after", "label": "After", "type": "textarea" },
    ] });
    let browser = crate::pages::signed_in(&world).await;
    let question = json!({ "kind": "provide", "prompt": "File?", "form": form });
    let ask = asked(&world.agent(), json!({ "question": question })).await;
    let id = ask.rsplit('/').next().unwrap();
    let csrf = crate::pages::csrf(&browser.client.get(&format!("/asks/{id}")).await.is(200));
    let case = json!({ "type": "input", "prompt": "File?", "context": { "form": form } });
    let case = hitl::Case::make(&world, case).await;
    let (page, _) = crate::review_page::Page::open(&world, &case).await;
    let pages = [
        (browser.client, format!("/asks/{id}/answer"), "csrf", csrf),
        (page.client, page.path, "token", page.token),
    ];
    let send = async |n: usize, bytes: usize| {
        let (client, path, proof, value) = &pages[n];
        let part = |name: &str, value: &str| {
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let file = format!(
            "--b\r\nContent-Disposition: form-data; name=\"field.scan\"; filename=\"a.txt\"\r\n\
             Content-Type: text/plain\r\n\r\n{}\r\n",
            "x".repeat(bytes)
        );
        let body = [
            part(proof, value),
            part("step", "0"),
            part("field.before", "typed above"),
            file,
            part("field.after", "typed below"),
            part("action", "provide"),
            "--b--\r\n".to_owned(),
        ];
        let kind = "multipart/form-data; boundary=b";
        let request = client.request(reqwest::Method::POST, path).header("content-type", kind);
        crate::client::Reply::of(request.body(body.concat())).await
    };
    let kept = |page: &crate::client::Reply| {
        assert!(page.text.contains("typed above") && page.text.contains("typed below"));
        assert_eq!(
            crate::review_page::find(page, "#field-scan[aria-invalid=true]"),
            1,
            "{}",
            page.text
        );
        assert_eq!(crate::review_page::find(page, "#problems a[href='#field-scan']"), 1);
        crate::review_page::main_text(page)
    };
    for n in [0, 1] {
        // A little, and far, beyond the limit.
        for bytes in [100_001, 500_000] {
            let text = kept(&send(n, bytes).await.is(413));
            assert!(text.contains("97.6 KiB") && text.contains("Choose a smaller file"), "{text}");
        }
    }
    send(0, 10).await.is(303);
    let full = send(1, 10).await.is(429);
    let wait: u64 = full.header("retry-after").parse().unwrap();
    assert!((1..=3600).contains(&wait));
    let text = kept(&full);
    assert!(text.contains("1 uploads an hour for one project"), "{text}");
    assert!(text.contains("Try again"), "{text}");
    world.advance(3600);
    let sent = send(1, 10).await;
    assert!(matches!(sent.status, 200 | 303), "{}", sent.text);
    assert_eq!(case.status().await["status"], "completed");
    world.let_answers_stand();
    world.end().await;
}
