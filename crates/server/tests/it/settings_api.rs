//! Profiles, absences and the rules of projects over the API.

use serde_json::{Value, json};

use crate::client::approve;
use crate::routing::ask_id;
use crate::world::World;

/// Whose inbox a fresh ask of the dev agent is in.
async fn asked(world: &World) -> Value {
    let id = ask_id(&world.agent().ask(approve("Go?")).await);
    let ask = world.agent().get(&format!("/api/v1/asks/{id}")).await.is(200);
    ask.json.clone()
}

async fn sees(world: &World, token: &str, ask: &Value) -> bool {
    let path = format!("/api/v1/asks/{}", ask["id"].as_str().unwrap());
    world.bearer(token).get(&path).await.status == 200
}

#[tokio::test]
async fn my_profile_is_mine_to_change_and_my_address_is_not() {
    let world = World::dev().await;
    let me = world.bearer("dev-human-token-2");
    let about = json!({
        "description": "Refunds",
        "time_zone": "Europe/Berlin",
        "language": "de-AT",
        "quiet_hours": { "from": "22:00", "to": "07:00" },
        "absence": { "until": "2099-01-01T08:00:00.000Z", "delegate": "user_dev" },
    });
    let saved = me.put("/api/v1/me", json!({ "name": "Ada", "about": about })).await.is(200);
    assert_eq!((&saved["name"], &saved["about"]), (&json!("Ada"), &about));
    assert_eq!(me.get("/api/v1/me").await.is(200)["about"], about);
    // What is left out stays.
    let renamed = me.put("/api/v1/me", json!({ "name": "Ada L." })).await.is(200);
    assert_eq!((&renamed["name"], &renamed["about"]), (&json!("Ada L."), &about));
    // So it does where an administrator changes something else, and they may change it too.
    let path = "/api/v1/people/user_dev_2";
    let body = json!({ "name": "Ada L.", "projects": ["dev"], "email": "ada@example.com" });
    assert_eq!(world.human().put(path, body).await.is(200)["about"], about);
    let profile = format!("{path}/profile");
    let other = json!({ "about": { "time_zone": "UTC" } });
    let changed = world.human().put(&profile, other.clone()).await.is(200);
    assert_eq!(changed["about"], json!({ "time_zone": "UTC" }));
    assert_eq!(changed["email"], "ada@example.com");
    assert_eq!(me.put(&profile, json!({ "about": {} })).await.is(200)["about"], Value::Null);
    me.put("/api/v1/people/user_dev/profile", other.clone()).await.is(403);
    world.human().put("/api/v1/people/ghost/profile", other.clone()).await.is(404);
    world.agent().put("/api/v1/me", other).await.is(403);
    me.put("/api/v1/me", json!({ "email": "x@example.com" })).await.is(422);
    world.end().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_profile_is_named() {
    let world = World::dev().await;
    for (about, field, words) in [
        (json!({ "time_zone": "Mars/Olympus" }), "about.time_zone", "Europe/Berlin"),
        (json!({ "language": "German!" }), "about.language", "de-AT"),
        (
            json!({ "quiet_hours": { "from": "22:00", "to": "22:00" } }),
            "about.quiet_hours.to",
            "a time of day other than",
        ),
        (
            json!({ "quiet_hours": { "from": "25:00", "to": "07:00" } }),
            "about.quiet_hours.from",
            "22:30",
        ),
        (
            json!({ "absence": { "delegate": "user_dev" } }),
            "about.absence.delegate",
            "somebody else",
        ),
        (json!({ "absence": { "delegate": "ghost" } }), "about.absence.delegate", "somebody else"),
        (json!({ "shoe_size": 42 }), "about.shoe_size", ""),
        (json!({ "absence": [null, null] }), "about.absence", "an object"),
        (json!({ "quiet_hours": ["22:00", "07:00"] }), "about.quiet_hours", "an object"),
        (json!([]), "about", "an object"),
    ] {
        let refused = world.human().put("/api/v1/me", json!({ "about": about })).await;
        let refused = refused.is(422);
        let text = refused.json.to_string();
        assert!(text.contains(field) && text.contains(words), "{field}: {text}");
    }
    assert_eq!(world.human().get("/api/v1/me").await.is(200)["about"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn whoever_is_away_is_stood_in_for() {
    let world = World::dev().await;
    let before = asked(&world).await;
    assert!(!sees(&world, "dev-human-token-2", &before).await);
    let away = json!({ "about": { "absence": { "delegate": "user_dev_2" } } });
    world.human().put("/api/v1/me", away).await.is(200);
    let meanwhile = asked(&world).await;
    assert!(sees(&world, "dev-human-token-2", &meanwhile).await);
    // What was asked before stays where it was.
    assert!(!sees(&world, "dev-human-token-2", &before).await);
    let path = format!("/api/v1/asks/{}/answer", meanwhile["id"].as_str().unwrap());
    let yes = json!({ "answer": { "verdict": "approved" } });
    world.bearer("dev-human-token-2").post(&path, yes).await.is(200);
    world.human().put("/api/v1/me", json!({ "about": {} })).await.is(200);
    assert!(!sees(&world, "dev-human-token-2", &asked(&world).await).await);
    world.end().await;
}

#[tokio::test]
async fn a_project_reminds_and_says_so() {
    let world = World::dev().await;
    let body = json!({ "reminders": [3600, 60, 60] });
    let saved = world.human().put("/api/v1/projects/dev", body).await.is(200);
    assert_eq!(saved["reminders"], json!([60, 3600]));
    let id: kernel::AskId = asked(&world).await["id"].as_str().unwrap().parse().unwrap();
    let ask = world.gateway().ask(id).await.unwrap().unwrap();
    let after = |at: &kernel::Time| at.seconds_since(ask.created_at);
    assert_eq!(ask.reminders.iter().map(after).collect::<Vec<_>>(), [60, 3600]);
    for wrong in [json!([0]), json!((1..=21).collect::<Vec<_>>())] {
        let body = json!({ "reminders": wrong });
        let refused = world.human().put("/api/v1/projects/dev", body).await.is(422);
        assert!(refused.json.to_string().contains("reminders"), "{refused:?}");
    }
    world.end().await;
}
