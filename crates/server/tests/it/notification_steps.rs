//! Notices that get through: by which means, in which order, and until when (A2H-128).

use serde_json::{Value, json};

use crate::client::Client;
use crate::fake_push_device::{Phone, waits};
use crate::fake_smtp_server::Post;
use crate::fake_webhook_receiver::deliver;
use crate::native::{approval, asked, yes};

pub(crate) const NOTICES: &str = "/api/v1/me/notices";
pub(crate) const CONTACTS: &str = "/api/v1/me/contacts";

/// Adds an address of somebody's and shows that it is theirs; its id.
pub(crate) async fn verified(who: &Client, post: &Post, address: &str) -> String {
    let had = post.letters().len();
    let added = who.post(CONTACTS, json!({ "via": "email", "address": address })).await.is(201);
    let means = format!("email:{}", address.to_lowercase());
    let ways = added["ways"].as_array().unwrap().clone();
    let way = ways.iter().find(|way| way["means"] == json!(means)).unwrap();
    let id = way["id"].as_str().unwrap().to_owned();
    who.post(&format!("{CONTACTS}/{id}/code"), json!({})).await.is(204);
    let code = post.letter(had + 1).await.code();
    who.post(&format!("{CONTACTS}/{id}/verify"), json!({ "code": code })).await.is(200);
    id
}

async fn enrol(who: &Client, phone: &Phone) {
    who.post("/api/v1/me/push", phone.subscription()).await.is(201);
}

fn urgent(priority: &str) -> Value {
    json!({ "question": { "prompt": "Now?", "kind": "approve" }, "priority": priority })
}

/// Who asks what, how long there is, and where; all letters of one request belong together.
#[tokio::test]
async fn whoever_has_an_address_is_written_to() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    verified(&world.human(), &post, "Ada@example.com").await;
    let ask = json!({
        "question": { "prompt": "Refund Ada?", "kind": "approve", "details": { "amount": 120 } },
        "timeout_seconds": 1620, "on_expiry": "fail",
        "reminders": [world.now().plus_seconds(600)],
    });
    let ask = asked(&world.agent(), ask).await;
    let id = ask.rsplit('/').next().unwrap();
    let first = post.letter(2).await;
    assert_eq!((&*first.to, &*first.header("To")), ("Ada@example.com", "Ada@example.com"));
    assert_eq!(first.header("Subject"), "agent_dev wants your approval: Refund Ada?");
    assert_eq!(first.header("Auto-Submitted"), "auto-generated");
    let source = first.source();
    let url = world.app().core.config.public_url.join(&format!("asks/{id}")).unwrap();
    for part in ["> Refund Ada?", "Expires in 27 min (1 Mar 2026, 09:27 UTC).", url.as_str()] {
        assert!(source.contains(part), "{part}: {source}");
    }
    // The link decides nothing, and whoever is not signed in sees nothing.
    world.anonymous().get(&format!("/asks/{id}")).await.is(401);
    assert_eq!(world.human().get(&ask).await.is(200)["state"], "pending");
    world.advance(600);
    world.run_timers().await;
    let again = post.letter(3).await;
    assert!(again.source().contains("It is still waiting."), "{}", again.source());
    for header in ["References", "In-Reply-To", "Subject"] {
        assert_eq!(again.header(header), first.header(header), "{header}");
    }
    assert_ne!(again.header("Message-ID"), first.header("Message-ID"));
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 3, "nobody is written to that it is over");
    world.end().await;
}

/// The first means, then silence, then the next, then nothing more; over a restart, too.
#[tokio::test]
async fn silence_is_borne_for_a_while() {
    for (priority, patience) in [("critical", 120), ("high", 300), ("normal", 900)] {
        let post = Post::open(&[]).await;
        let mut world = post.world().await;
        let phone = Phone::open(&[]).await;
        enrol(&world.human(), &phone).await;
        verified(&world.human(), &post, "ada@example.com").await;
        let ask = asked(&world.agent(), urgent(priority)).await;
        phone.told_times(1).await;
        waits(&world, 1).await;
        world.advance(patience - 1);
        world.restart().await;
        waits(&world, 1).await;
        assert_eq!(post.letters().len(), 1, "{priority}: too early");
        world.advance(1);
        deliver(&world).await;
        post.letter(2).await;
        waits(&world, 0).await;
        world.advance(patience);
        waits(&world, 0).await;
        phone.told_times(1).await;
        assert_eq!(post.letters().len(), 2, "{priority}");
        world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
        world.end().await;
    }
}

/// It ends when somebody reacts, whatever they do.
#[tokio::test]
async fn whoever_reacts_is_told_no_more() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let phone = Phone::open(&[]).await;
    for human in ["user_dev", "user_dev_2"] {
        world.add_to_group(human, "ops").await;
    }
    enrol(&world.human(), &phone).await;
    verified(&world.human(), &post, "ada@example.com").await;
    let pool = json!({
        "question": { "prompt": "Who?", "kind": "approve" },
        "route": { "to": "pool", "group": "ops" },
    });
    let mut told = 0;
    for act in ["a word", "claim", "claimed by another", "answer", "look", "cancel"] {
        let ask = asked(&world.agent(), pool.clone()).await;
        told += 1;
        phone.told_times(told).await;
        waits(&world, 1).await;
        let to = |verb: &str| format!("{ask}/{verb}");
        let (me, other) = (world.human(), world.member());
        let words = json!({ "text": "hm" });
        match act {
            "a word" => me.post(&to("comments"), words).await.is(200),
            "claim" => me.post(&to("claim"), json!({})).await.is(200),
            "claimed by another" => other.post(&to("claim"), json!({})).await.is(200),
            "answer" => other.post(&to("answer"), yes()).await.is(200),
            "cancel" => world.agent().post(&to("cancel"), json!({})).await.is(200),
            // Whoever looks is there for a while only.
            _ => {
                world.advance(899);
                me.put(&to("looking"), json!({})).await.is(200)
            }
        };
        if matches!(act, "answer" | "cancel") {
            told += 1;
            phone.told_times(told).await;
        }
        world.advance(if act == "look" { 1 } else { 900 });
        waits(&world, 0).await;
        assert_eq!(post.letters().len(), 1, "{act}");
    }
    world.end().await;
}

/// What is refused goes on at once, whichever comes first; what is refused everywhere shows.
#[tokio::test]
async fn what_fails_for_good_goes_on_at_once() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let phone = Phone::open(&[(403, None)]).await;
    enrol(&world.human(), &phone).await;
    verified(&world.human(), &post, "ada@example.com").await;
    asked(&world.agent(), approval()).await;
    phone.told_times(1).await;
    post.letter(2).await;
    waits(&world, 0).await;
    // The other way round.
    let order = json!({ "order": ["email:ada@example.com", "devices"] });
    world.human().put(NOTICES, order).await.is(200);
    post.say(&["550 nobody here"]);
    asked(&world.agent(), approval()).await;
    phone.told_times(2).await;
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 2);
    // Nobody is left: it is given up, and shows.
    post.say(&["550 nobody here"]);
    world.human().put(NOTICES, json!({ "off": ["devices"] })).await.is(200);
    asked(&world.agent(), approval()).await;
    waits(&world, 0).await;
    phone.told_times(2).await;
    world.end_with_dead(1).await;
}

/// A mail server that is down holds up nobody: after three attempts the phone is told, and the
/// letter follows when it can.
#[tokio::test]
async fn what_keeps_failing_goes_on_meanwhile() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let phone = Phone::open(&[]).await;
    enrol(&world.human(), &phone).await;
    verified(&world.human(), &post, "ada@example.com").await;
    let order = json!({ "order": ["email:ada@example.com", "devices"] });
    world.human().put(NOTICES, order).await.is(200);
    post.say(&["451 later", "451 later", "451 later"]);
    asked(&world.agent(), approval()).await;
    for (left, wait) in [(2, 1), (1, 2)] {
        post.said_until(left).await;
        waits(&world, 1).await;
        phone.told_times(0).await;
        world.advance(wait);
    }
    phone.told_times(1).await;
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), 1);
    world.advance(4);
    deliver(&world).await;
    post.letter(2).await;
    waits(&world, 0).await;
    phone.told_times(1).await;
    world.end().await;
}

/// Quiet hours hold everything but what is critical; what somebody put aside waits for its moment.
#[tokio::test]
async fn nobody_is_written_to_at_night() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    verified(&world.human(), &post, "ada@example.com").await;
    // It is nine.
    let about = json!({ "about": { "quiet_hours": { "from": "08:00", "to": "10:00" } } });
    world.human().put("/api/v1/me", about).await.is(200);
    asked(&world.agent(), urgent("high")).await;
    waits(&world, 1).await;
    asked(&world.agent(), urgent("critical")).await;
    let letter = post.letter(2).await;
    assert!(letter.header("Subject").starts_with("Urgent: "), "{}", letter.header("Subject"));
    let aside = asked(&world.agent(), urgent("high")).await;
    let until = json!({ "until": world.now().plus_seconds(7200) });
    world.human().put(&format!("{aside}/snooze"), until).await.is(204);
    waits(&world, 2).await;
    world.advance(3600);
    waits(&world, 1).await;
    post.letter(3).await;
    world.advance(3600);
    waits(&world, 0).await;
    post.letter(4).await;
    world.end().await;
}

/// Twenty and how many more, at the full hour, once; and nothing where nothing waits any more.
#[tokio::test]
async fn what_can_wait_comes_together() {
    let post = Post::open(&[]).await;
    let mut world = post.world().await;
    verified(&world.human(), &post, "ada@example.com").await;
    let mut asks = Vec::new();
    for _ in 0..23 {
        asks.push(asked(&world.agent(), urgent("low")).await);
        world.advance(60);
    }
    waits(&world, 1).await;
    world.restart().await;
    waits(&world, 1).await;
    world.advance(3600 - 23 * 60 - 1);
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), 1);
    world.advance(1);
    waits(&world, 0).await;
    let letter = post.letter(2).await;
    assert_eq!(letter.header("Subject"), "23 requests wait for you");
    let source = letter.source();
    assert_eq!(source.matches("* agent_dev wants your approval").count(), 20, "{source}");
    assert!(source.contains("And 3 more."), "{source}");
    // Nothing new, nothing told; of what was answered meanwhile nothing is said.
    world.advance(3600);
    waits(&world, 0).await;
    for ask in &asks {
        world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    }
    waits(&world, 0).await;
    let ask = asked(&world.agent(), urgent("low")).await;
    waits(&world, 1).await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(post.letters().len(), 2);
    world.end().await;
}

/// As somebody wants it: each at once, or once a day; in quiet hours neither.
#[tokio::test]
async fn people_say_how_often() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let me = world.human();
    verified(&me, &post, "ada@example.com").await;
    me.put(NOTICES, json!({ "digest": { "every": "off" } })).await.is(200);
    asked(&world.agent(), urgent("low")).await;
    post.letter(2).await;
    waits(&world, 0).await;
    let daily = json!({ "digest": { "every": "day", "at": "07:00" } });
    assert_eq!(me.put(NOTICES, daily.clone()).await.is(200)["digest"], daily["digest"]);
    let about = json!({ "quiet_hours": { "from": "22:00", "to": "08:30" } });
    me.put("/api/v1/me", json!({ "about": about })).await.is(200);
    asked(&world.agent(), urgent("low")).await;
    waits(&world, 1).await;
    world.advance(22 * 3600 + 1800 + 3599);
    waits(&world, 1).await;
    assert_eq!(post.letters().len(), 2);
    world.advance(1);
    waits(&world, 0).await;
    assert_eq!(post.letter(3).await.header("Subject"), "2 requests wait for you");
    world.end().await;
}

/// Without a letter, on the phone; and by the next means if that is gone.
#[tokio::test]
async fn what_can_wait_comes_to_phones_too() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    let phone = Phone::open(&[]).await;
    enrol(&world.human(), &phone).await;
    for _ in 0..2 {
        asked(&world.agent(), urgent("low")).await;
    }
    waits(&world, 1).await;
    world.advance(3600);
    waits(&world, 0).await;
    let notice = phone.told(1).await;
    assert_eq!(notice["title"], "2 requests wait for you");
    assert_eq!((&notice["url"], &notice["tag"]), (&json!("/"), &json!("gathered")));
    verified(&world.human(), &post, "ada@example.com").await;
    let order = json!({ "order": ["email:ada@example.com"] });
    world.human().put(NOTICES, order).await.is(200);
    post.say(&["550 nobody here"]);
    asked(&world.agent(), urgent("low")).await;
    waits(&world, 1).await;
    world.advance(3600);
    waits(&world, 0).await;
    assert_eq!(phone.told(2).await["title"], "3 requests wait for you");
    world.end().await;
}

/// A mail server that is down for hours: when it is back, one letter in a period tells of
/// everything.
#[tokio::test]
async fn what_was_missed_is_told_when_it_can_be() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    verified(&world.human(), &post, "ada@example.com").await;
    post.say(&["451 later"; 400]);
    for hour in 0..3 {
        asked(&world.agent(), urgent("low")).await;
        // What there is before the hour is over: this, and what could not be sent of the one
        // before.
        waits(&world, if hour == 0 { 1 } else { 2 }).await;
        world.advance(3600);
        deliver(&world).await;
        post.said_until(399 - hour).await;
    }
    post.say(&[]);
    let mut letters = vec![post.letters().len()];
    // What was put off comes with the next, too.
    for waiting in [1, 0, 0, 0] {
        world.advance(3600);
        deliver(&world).await;
        waits(&world, waiting).await;
        letters.push(post.letters().len());
    }
    assert!(letters.windows(2).all(|pair| pair[1] - pair[0] <= 1), "{letters:?}");
    assert_eq!(letters[3], letters[4], "and then it is quiet: {letters:?}");
    let last = post.letters().pop().unwrap();
    assert_eq!(last.header("Subject"), "3 requests wait for you");
    world.end().await;
}
