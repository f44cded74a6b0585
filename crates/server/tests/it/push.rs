//! Notices on people's devices: who is told what, when, and what becomes of it when nobody is
//! there.

use serde_json::{Value, json};
use server::config::Settings;
use store::Backlog;

use crate::client::{Client, Reply};
use crate::fake_push_device::{Phone, SECRET, waits};
use crate::fake_webhook_receiver::deliver;
use crate::native::{ASKS, approval, asked, yes};
use crate::world::{World, dev, eventually, logged};

const DEVICES: &str = "/api/v1/me/push";

async fn add(who: &Client, phone: &Phone) -> Reply {
    who.post(DEVICES, phone.subscription()).await.is(201)
}

async fn devices(who: &Client) -> Vec<Value> {
    who.get(DEVICES).await.is(200)["devices"].as_array().unwrap().clone()
}

fn urgent(priority: &str) -> Value {
    json!({ "question": { "prompt": "Now?", "kind": "approve" }, "priority": priority })
}

#[tokio::test]
async fn a_device_is_told_that_something_waits_and_that_it_is_over() {
    let world = World::dev().await;
    let phone = Phone::open(&[]).await;
    let device = add(&world.human(), &phone).await;
    assert_eq!((&device["label"], &device["service"]), (&json!("phone"), &json!("127.0.0.1")));
    let key = world.human().get(DEVICES).await.is(200)["key"].as_str().unwrap().to_owned();
    let ask = asked(
        &world.agent(),
        json!({
            "question": { "prompt": "Refund Ada?", "kind": "approve", "details": { "amount": "€120" } },
            "priority": "high", "timeout_seconds": 600, "on_expiry": "fail",
        }),
    )
    .await;
    let id = ask.rsplit('/').next().unwrap();
    let notice = phone.told(1).await;
    assert_eq!(notice["title"], "agent_dev wants your approval");
    assert_eq!(notice["body"], "Refund Ada?\nAmount: €120");
    assert_eq!((&notice["tag"], &notice["url"]), (&json!(id), &json!(format!("/asks/{id}"))));
    assert_eq!((&notice["over"], &notice["urgent"]), (&json!(false), &json!(false)));
    let (headers, body) = phone.calls().pop().unwrap();
    let contact = world.app().core.config.public_url.as_str().trim_end_matches('/');
    assert_eq!(phone.vouched(&headers, world.now(), contact), key);
    for (name, value) in [
        ("ttl", "600"),
        ("urgency", "high"),
        ("content-encoding", "aes128gcm"),
        ("content-type", "application/octet-stream"),
    ] {
        assert_eq!(headers[name], value, "{name}");
    }
    let topic = headers["topic"].to_str().unwrap().to_owned();
    assert!(topic.len() == 32 && !topic.contains(id), "{topic}");
    // The record, its header, and words whose length tells nothing.
    assert_eq!(body.len(), 86 + 1024 + 17);

    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    let notice = phone.told(2).await;
    assert_eq!((&notice["title"], &notice["over"]), (&json!("Approved by user_dev"), &json!(true)));
    assert_eq!(notice["tag"], id, "it takes the place of the first");
    assert_eq!(phone.calls()[1].0["topic"].to_str().unwrap(), topic);
    // On the way and at rest it is nobody's to read.
    let stored = std::fs::read_dir(world.folder().join("data")).unwrap();
    for file in stored.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes());
        assert!(!found, "{}", file.display());
    }
    assert!(!logged().contains(SECRET));
    assert!(!world.human().get(DEVICES).await.text.contains(SECRET));
    world.end().await;
}

/// The seats of the ask, each device by itself; who shares a pool is told, who is away is not.
#[tokio::test]
async fn everybody_who_may_answer_is_told_on_each_of_their_devices() {
    let world = World::dev().await;
    for human in ["user_dev", "user_dev_2"] {
        world.add_to_group(human, "ops").await;
    }
    let (mine, other, theirs) =
        (Phone::open(&[]).await, Phone::open(&[(503, None)]).await, Phone::open(&[]).await);
    add(&world.human(), &mine).await;
    add(&world.human(), &other).await;
    add(&world.member(), &theirs).await;
    let pool = json!({ "question": { "prompt": "Who?", "kind": "approve" }, "route": { "to": "pool", "group": "ops" } });
    let ask = asked(&world.agent(), pool.clone()).await;
    for phone in [&mine, &other, &theirs] {
        phone.told_times(1).await;
    }
    waits(&world, 1).await;
    // Whoever takes it is told what comes; the others are left in peace.
    world.member().post(&format!("{ask}/claim"), json!({})).await.is(200);
    world.advance(1);
    waits(&world, 0).await;
    other.told_times(1).await;
    world.member().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 0).await;
    // Those who were told, or may have been.
    for phone in [&mine, &other, &theirs] {
        assert_eq!(phone.told(2).await["title"], "Approved by user_dev_2");
    }
    let away = json!({ "about": { "absence": {} } });
    world.member().put("/api/v1/me", away).await.is(200);
    asked(&world.agent(), pool).await;
    mine.told_times(3).await;
    waits(&world, 0).await;
    theirs.told_times(2).await;
    world.end().await;
}

/// One that is down is tried again, later each time, and nobody else waits for it.
#[tokio::test]
async fn what_fails_is_tried_again_by_itself() {
    let mut world = World::dev().await;
    let (down, fine) = (Phone::open(&[(500, None), (503, None)]).await, Phone::open(&[]).await);
    add(&world.human(), &down).await;
    add(&world.human(), &fine).await;
    asked(&world.agent(), approval()).await;
    down.told_times(1).await;
    fine.told_times(1).await;
    waits(&world, 1).await;
    // It is kept over a restart, and the notice is the same.
    world.restart().await;
    deliver(&world).await;
    down.told_times(1).await;
    for (times, wait) in [(2, 1), (3, 2)] {
        world.advance(wait);
        deliver(&world).await;
        down.told_times(times).await;
        waits(&world, u64::from(times < 3)).await;
    }
    let notices = down.notices();
    assert!(notices.windows(2).all(|pair| pair[0] == pair[1]), "{notices:?}");
    fine.told_times(1).await;
    world.end().await;
}

#[tokio::test]
async fn a_push_service_says_when_to_come_back() {
    let world = World::dev().await;
    let phone = Phone::open(&[(429, Some("120"))]).await;
    add(&world.human(), &phone).await;
    asked(&world.agent(), approval()).await;
    phone.told_times(1).await;
    waits(&world, 1).await;
    world.advance(119);
    waits(&world, 1).await;
    phone.told_times(1).await;
    world.advance(1);
    waits(&world, 0).await;
    phone.told_times(2).await;
    world.end().await;
}

/// A device that is gone is forgotten; what is refused for good is given up, and shows.
#[tokio::test]
async fn what_is_gone_is_forgotten_and_what_is_refused_is_given_up() {
    let world = World::dev().await;
    for status in [404, 410] {
        let phone = Phone::open(&[(status, None)]).await;
        add(&world.human(), &phone).await;
        asked(&world.agent(), approval()).await;
        phone.told_times(1).await;
        eventually("it is forgotten", async || devices(&world.human()).await.is_empty()).await;
        waits(&world, 0).await;
    }
    let phone = Phone::open(&[(403, None)]).await;
    add(&world.human(), &phone).await;
    asked(&world.agent(), approval()).await;
    eventually("giving up", async || {
        world.gateway().store().backlog().await.unwrap() == Backlog { waiting: 0, dead: 1 }
    })
    .await;
    assert_eq!(devices(&world.human()).await.len(), 1);
    asked(&world.agent(), approval()).await;
    phone.told_times(2).await;
    world.end_with_dead(1).await;
}

#[tokio::test]
async fn nobody_is_told_of_what_was_answered_meanwhile() {
    let world = World::dev().await;
    let phone = Phone::open(&[(503, None)]).await;
    add(&world.human(), &phone).await;
    let ask = asked(&world.agent(), approval()).await;
    phone.told_times(1).await;
    waits(&world, 1).await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    // Only that it is over: the first may have come through all the same.
    assert_eq!(phone.told(2).await["over"], true);
    waits(&world, 1).await;
    world.advance(60);
    waits(&world, 0).await;
    phone.told_times(2).await;
    // Of what nobody was told, nobody is told that it is over.
    let quiet = json!({ "about": { "quiet_hours": { "from": "00:00", "to": "23:59" } } });
    world.human().put("/api/v1/me", quiet).await.is(200);
    let ask = asked(&world.agent(), approval()).await;
    waits(&world, 1).await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.advance(24 * 60 * 60);
    waits(&world, 0).await;
    phone.told_times(2).await;
    world.end().await;
}

/// Not before quiet hours are over, unless it is critical; nor what somebody has put aside.
#[tokio::test]
async fn nobody_is_disturbed_who_does_not_want_to_be() {
    let world = World::dev().await;
    let phone = Phone::open(&[]).await;
    add(&world.human(), &phone).await;
    // It is nine.
    let about = json!({ "about": { "quiet_hours": { "from": "08:00", "to": "10:00" } } });
    world.human().put("/api/v1/me", about).await.is(200);
    asked(&world.agent(), urgent("high")).await;
    waits(&world, 1).await;
    let critical = asked(&world.agent(), urgent("critical")).await;
    let notice = phone.told(1).await;
    assert_eq!(notice["title"], "Urgent: agent_dev wants your approval");
    assert_eq!((&notice["urgent"], notice.get("answer")), (&json!(true), None));
    assert_eq!(notice["tag"], critical.rsplit('/').next().unwrap());
    waits(&world, 1).await;
    world.advance(3599);
    waits(&world, 1).await;
    phone.told_times(1).await;
    world.advance(1);
    waits(&world, 0).await;
    phone.told_times(2).await;

    let reminded = json!({
        "question": { "prompt": "Later?", "kind": "approve" },
        "reminders": [world.now().plus_seconds(60)],
    });
    let ask = asked(&world.agent(), reminded).await;
    phone.told_times(3).await;
    waits(&world, 0).await;
    let until = json!({ "until": world.now().plus_seconds(600) });
    world.human().put(&format!("{ask}/snooze"), until).await.is(204);
    world.advance(60);
    world.run_timers().await;
    waits(&world, 1).await;
    phone.told_times(3).await;
    world.advance(540);
    waits(&world, 0).await;
    assert_eq!(phone.told(4).await["title"], "Still waiting: agent_dev wants your approval");
    world.end().await;
}

/// With the token it was added with, or with its person.
#[tokio::test]
async fn a_device_is_told_as_long_as_its_person_is_let_in() {
    let world = World::dev().await;
    let token = json!({ "human": "user_dev" });
    let minted = world.human().post("/api/v1/keys", token).await.is(201);
    let phone = Phone::open(&[]).await;
    add(&world.bearer(minted["secret"].as_str().unwrap()), &phone).await;
    let other = Phone::open(&[]).await;
    add(&world.member(), &other).await;
    assert_eq!(devices(&world.human()).await.len(), 1);
    let store = world.gateway().store();
    let kept = async |human: &str| store.devices(vec![human.parse().unwrap()]).await.unwrap().len();
    let key = format!("/api/v1/keys/{}", minted["id"].as_str().unwrap());
    world.human().delete(&key).await.is(204);
    eventually("it is forgotten", async || kept("user_dev").await == 0).await;
    asked(&world.agent(), approval()).await;
    world.deactivate("user_dev_2").await;
    eventually("it is forgotten", async || kept("user_dev_2").await == 0).await;
    waits(&world, 0).await;
    assert_eq!((phone.calls().len(), other.calls().len()), (0, 0));
    world.end().await;
}

#[tokio::test]
async fn what_no_browser_says_is_refused_and_changes_nothing() {
    let world = World::dev().await;
    let phone = Phone::open(&[]).await;
    let wrong = |field: &str, value: Value| {
        let mut body = phone.subscription();
        match field.strip_prefix("keys.") {
            Some(key) => body["keys"][key] = value,
            None => body[field] = value,
        }
        body
    };
    for (field, value) in [
        ("endpoint", json!("http://push.example/x")),
        ("endpoint", json!("https://10.0.0.1/x")),
        ("endpoint", json!("https://169.254.169.254/latest")),
        ("endpoint", json!("https://user:pw@push.example/x")),
        ("endpoint", json!("nonsense")),
        ("endpoint", json!(format!("https://push.example/{}", "x".repeat(2000)))),
        ("keys.p256dh", json!("")),
        ("keys.p256dh", json!("A".repeat(87))),
        ("keys.auth", json!("c2hvcnQ")),
        ("keys.auth", json!("not base64!!")),
        ("label", json!("x".repeat(101))),
        ("label", json!("a\u{0}b")),
    ] {
        let refused = world.human().post(DEVICES, wrong(field, value.clone())).await;
        let refused = refused.problem(422, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{value}");
    }
    world.human().post(DEVICES, wrong("more", json!(1))).await.problem(422, "invalid-field");
    world.agent().post(DEVICES, phone.subscription()).await.problem(403, "not-allowed");
    assert_eq!(devices(&world.human()).await, Vec::<Value>::new());

    let id = add(&world.human(), &phone).await["id"].as_str().unwrap().to_owned();
    let path = format!("{DEVICES}/{id}");
    world.member().delete(&path).await.problem(404, "not-found");
    world.member().post(&format!("{path}/test"), json!({})).await.problem(404, "not-found");
    world.human().delete(&format!("{DEVICES}/nonsense")).await.problem(404, "not-found");
    let tried = world.human().post(&format!("{path}/test"), json!({})).await.is(200);
    assert_eq!(tried["result"], "taken");
    assert_eq!(phone.told(1).await["title"], "Notifications work on this device");
    // The same browser, in other hands.
    add(&world.member(), &phone).await;
    assert_eq!((devices(&world.human()).await.len(), devices(&world.member()).await.len()), (0, 1));
    world.member().delete(&path).await.is(204);
    world.member().delete(&path).await.problem(404, "not-found");
    let many = |n: usize| wrong("endpoint", json!(format!("https://push.example/{n}")));
    for n in 0..10 {
        world.human().post(DEVICES, many(n)).await.is(201);
    }
    let full = world.human().post(DEVICES, many(10)).await.problem(403, "not-allowed");
    assert!(full.text.contains("ten devices"), "{}", full.text);
    world.end().await;
}

#[tokio::test]
async fn whoever_runs_it_may_tell_no_devices() {
    let world = World::with(Settings { push: Some(false), ..dev() }).await;
    let phone = Phone::open(&[]).await;
    assert_eq!(world.human().get(DEVICES).await.is(200)["key"], Value::Null);
    let refused = world.human().post(DEVICES, phone.subscription()).await;
    assert!(refused.problem(403, "not-allowed").text.contains("the setting push"));
    world.agent().post(ASKS, approval()).await.is(201);
    world.end().await;
}
