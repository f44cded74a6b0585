//! A person's own desk: what they hide from it for a while, what they hand on, and who is at what.

use serde_json::json;

use crate::client::Client;
use crate::native::{ASKS, approval, asked, yes};
use crate::world::World;

async fn list(who: &Client, query: &str) -> Vec<String> {
    let page = who.get(&format!("{ASKS}?{query}")).await.is(200);
    let asks = page["asks"].as_array().unwrap();
    asks.iter().map(|ask| format!("{ASKS}/{}", ask["id"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn what_is_snoozed_is_hidden_from_one_person_until_it_is_time() {
    let world = World::dev().await;
    let (human, member, agent) = (world.human(), world.member(), world.agent());
    let mut body = approval();
    body["route"] = json!({ "to": "pool" });
    let ask = asked(&agent, body).await;
    let other = asked(&agent, approval()).await;
    let before = human.get(&ask).await["version"].clone();
    let snooze = format!("{ask}/snooze");
    let until = |text: &str| json!({ "until": text });
    human.put(&snooze, until("2026-03-01T10:00:00Z")).await.is(204);
    assert_eq!(list(&human, "view=mine").await, [other.as_str()]);
    assert_eq!(list(&human, "").await, [other.as_str()]);
    assert_eq!(list(&human, "view=all").await, [other.clone(), ask.clone()]);
    assert_eq!(list(&member, "view=groups").await, [ask.as_str()], "for nobody else");
    let hidden = human.get("/api/v1/snoozed").await.is(200);
    assert_eq!(hidden["snoozed"][0]["until"], "2026-03-01T10:00:00.000Z");
    assert_eq!(human.get(&ask).await["version"], before, "nothing happened to it");
    assert_eq!(human.get(&format!("{ASKS}/count?view=mine")).await["count"], 1);
    world.advance(3600);
    assert_eq!(list(&human, "view=mine").await, [other.clone(), ask.clone()], "back by itself");
    human.put(&snooze, until("2026-03-01T12:00:00Z")).await.is(204);
    human.delete(&snooze).await.is(204);
    assert_eq!(list(&human, "view=mine").await.len(), 2);
    human.put(&snooze, until("2026-03-01T12:00:00Z")).await.is(204);
    human.post(&format!("{ask}/answer"), yes()).await.is(200);
    assert_eq!(human.get("/api/v1/snoozed").await["snoozed"], json!([]));
    let over = human.get("/api/v1/history").await.is(200);
    assert_eq!(over["asks"].as_array().unwrap().len(), 1, "history hides nothing");
    for wrong in ["2026-03-01T10:00:00Z", "2046-03-01T10:00:00Z"] {
        human.put(&format!("{other}/snooze"), until(wrong)).await.problem(422, "invalid-field");
    }
    member.put(&format!("{other}/snooze"), until("2026-03-01T12:00:00Z")).await.is(404);
    agent.put(&snooze, until("2026-03-01T12:00:00Z")).await.problem(403, "not-allowed");
    world.end().await;
}

#[tokio::test]
async fn others_see_who_is_at_it_for_a_minute() {
    let world = World::dev().await;
    let (human, member, agent) = (world.human(), world.member(), world.agent());
    let mut body = approval();
    body["route"] = json!({ "to": "pool" });
    let ask = asked(&agent, body).await;
    let own = asked(&agent, approval()).await;
    let id = ask.rsplit_once('/').unwrap().1.to_owned();
    let other = own.rsplit_once('/').unwrap().1.to_owned();
    let before = human.get(&ask).await["version"].clone();
    let looking = format!("/api/v1/looking?ask={id}&ask={other}");
    assert_eq!(human.get(&looking).await["looking"], json!([]));
    let seen = member.put(&format!("{ask}/looking"), json!({})).await.is(200);
    let mark = json!([{ "ask": id, "human": "user_dev_2" }]);
    assert_eq!(seen["looking"], mark);
    assert_eq!(human.get(&looking).await["looking"], mark);
    human.put(&format!("{own}/looking"), json!({})).await.is(200);
    assert_eq!(member.get(&looking).await["looking"], mark, "only of what one may see");
    human.delete(&format!("{own}/looking")).await.is(204);
    world.advance(59);
    assert_eq!(human.get(&looking).await["looking"], mark);
    world.advance(1);
    assert_eq!(human.get(&looking).await["looking"], json!([]));
    assert_eq!(human.get(&ask).await["version"], before, "it is on no record");
    for query in ["", "?ask=x", "?who=me"] {
        human.get(&format!("/api/v1/looking{query}")).await.problem(400, "invalid-field");
    }
    member.put(&format!("{own}/looking"), json!({})).await.problem(404, "not-found");
    agent.put(&format!("{ask}/looking"), json!({})).await.problem(403, "not-allowed");
    world.end().await;
}

/// The word that goes with it is a comment of the same commit.
#[tokio::test]
async fn it_is_handed_on_with_a_note() {
    let world = World::dev().await;
    let (human, member) = (world.human(), world.member());
    let ask = asked(&world.agent(), approval()).await;
    let body = json!({ "to": "user_dev_2", "note": "you know this customer" });
    let handed = human.post(&format!("{ask}/assign"), body).await.is(200);
    assert_eq!((&handed["assigned_to"], &handed["comments"]), (&json!("user_dev_2"), &json!(1)));
    assert_eq!(list(&member, "view=mine").await, [ask.as_str()]);
    let said = member.get(&format!("{ask}/comments")).await.is(200);
    assert_eq!(said["comments"][0]["text"], "you know this customer");
    world.end().await;
}
