//! Our own API: lists of asks, whose they are, how they are narrowed and paged; and remarks.

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::native::{ASKS, approval, asked, yes};
use crate::world::World;

fn ids(page: &Reply) -> Vec<String> {
    let asks = page["asks"].as_array().unwrap();
    asks.iter().map(|ask| format!("{ASKS}/{}", ask["id"].as_str().unwrap())).collect()
}

async fn list(who: &Client, query: &str) -> Vec<String> {
    ids(&who.get(&format!("{ASKS}{query}")).await.is(200))
}

/// Every state has its list, and `open` is what one gets without asking.
#[tokio::test]
async fn lists_are_narrowed_by_what_one_asks_for() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let waiting = asked(&agent, approval()).await;
    world.advance(1);
    let urgent = json!({ "question": { "prompt": "Go?", "kind": "converse" }, "priority": "high" });
    let urgent = asked(&agent, urgent).await;
    world.advance(1);
    let taken = asked(&agent, approval()).await;
    human.post(&format!("{taken}/claim"), json!({})).await.is(200);
    let answered = asked(&agent, approval()).await;
    human.post(&format!("{answered}/answer"), yes()).await.is(200);
    let cancelled = asked(&agent, approval()).await;
    agent.post(&format!("{cancelled}/cancel"), json!({})).await.is(200);
    asked(&world.agent_2(), approval()).await;

    for (query, expected) in [
        ("", vec![&taken, &urgent, &waiting]),
        ("?state=open", vec![&taken, &urgent, &waiting]),
        ("?state=waiting", vec![&urgent, &waiting]),
        ("?state=pending", vec![&urgent, &waiting]),
        ("?state=pending&state=waiting", vec![&urgent, &waiting]),
        ("?state=engaged", vec![&taken]),
        ("?state=completed", vec![&answered]),
        ("?state=completed&state=cancelled", vec![&cancelled, &answered]),
        ("?state=expired", vec![]),
        ("?state=all", vec![&cancelled, &answered, &taken, &urgent, &waiting]),
        ("?kind=converse", vec![&urgent]),
        ("?kind=converse&kind=approve", vec![&taken, &urgent, &waiting]),
        ("?priority=high", vec![&urgent]),
        ("?priority=low", vec![]),
        ("?agent=agent_dev&project=dev", vec![&taken, &urgent, &waiting]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(list(&agent, query).await, expected, "{query}");
    }
    // A person has the urgent first.
    let inbox = list(&human, "?limit=100").await;
    assert_eq!((&inbox[0], inbox.len()), (&urgent, 4));
    let shown = agent.get(&format!("{ASKS}?state=completed")).await.is(200);
    assert_eq!(shown["asks"][0], agent.get(&answered).await.json);
    for (query, field) in [
        ("state=done", "state"),
        ("state=", "state"),
        ("kind=guess", "kind"),
        ("priority=asap", "priority"),
        ("priority=low&priority=high", "priority"),
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=%2B5", "limit"),
        ("offset=10", "offset"),
        ("agent=a%20b", "agent"),
    ] {
        let refused = agent.get(&format!("{ASKS}?{query}")).await.problem(400, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{query}");
    }
    world.end().await;
}

/// Nobody lists what they may not see.
#[tokio::test]
async fn lists_hold_what_one_may_see() {
    let world = World::dev().await;
    let (admin, member) = (world.human(), world.member());
    let mine = asked(&world.agent(), approval()).await;
    let other = asked(&world.agent_2(), approval()).await;
    let pooled = |tags: Value| {
        json!({ "question": { "prompt": "Deploy?", "kind": "approve" },
                "route": { "to": "pool" }, "tags": tags })
    };
    let pool = asked(&world.agent(), pooled(json!([]))).await;
    asked(&world.agent(), pooled(json!(["law"]))).await;
    assert_eq!(list(&member, "").await, [pool.as_str()]);
    for query in ["?project=dev", "?agent=agent_dev"] {
        assert_eq!(list(&member, query).await, [pool.as_str()], "of their own");
    }
    assert_eq!(list(&admin, "?agent=agent_dev_2").await, [other.as_str()]);
    assert_eq!(list(&admin, "?project=dev").await.len(), 3);
    assert_eq!(list(&admin, "?project=dev&agent=agent_dev").await.len(), 3);
    for query in ["?project=nowhere", "?agent=nobody", "?project=dev2&agent=agent_dev"] {
        admin.get(&format!("{ASKS}{query}")).await.problem(422, "invalid-field");
    }
    for query in ["?project=dev2", "?agent=agent_dev_2", "?agent=nobody"] {
        world.agent().get(&format!("{ASKS}{query}")).await.problem(403, "not-allowed");
    }
    // A key that sees its project lists all of it, or one of its agents.
    world.add_agent("late", "dev", "user_dev").await;
    let body = json!({ "agent": "late", "reach": "project" });
    let issued = admin.post("/api/v1/keys", body).await.is(201);
    let wide = world.bearer(issued["secret"].as_str().unwrap());
    assert_eq!(list(&wide, "").await.len(), 3);
    assert!(list(&wide, "?agent=agent_dev").await.contains(&mine));
    assert_eq!(list(&wide, "?agent=late").await, Vec::<String>::new());
    wide.get(&format!("{ASKS}?agent=agent_dev_2")).await.problem(403, "not-allowed");
    // Members of a pool are not named to agents, in lists as anywhere.
    member.post(&format!("{pool}/answer"), yes()).await.is(200);
    let shown = world.agent().get(&format!("{ASKS}?state=completed")).await.is(200);
    let by = shown["asks"][0]["result"]["by"]["id"].as_str().unwrap();
    assert!(by.starts_with("pool_member_"), "{by}");
    world.end().await;
}

/// Pages join without gaps while others ask; a cursor is good for its own list only.
#[tokio::test]
async fn pages_of_asks_join_without_gaps() {
    let world = World::dev().await;
    let mut all = Vec::new();
    for n in 0..7 {
        let priority = ["low", "critical", "normal"][n % 3];
        let question = json!({ "prompt": "Deploy?", "kind": "approve" });
        let body = json!({ "question": question, "priority": priority });
        all.push(asked(&world.agent(), body).await);
        world.advance(1);
    }
    for (who, whole) in [
        (world.agent(), all.iter().rev().cloned().collect::<Vec<_>>()),
        (world.human(), list(&world.human(), "").await),
    ] {
        let mut joined: Vec<String> = Vec::new();
        let mut next = format!("{ASKS}?state=open&limit=3");
        loop {
            let page = who.get(&next).await.is(200);
            joined.extend(ids(&page));
            // Who comes in between is newer than what was read, or somewhere before it.
            asked(
                &world.agent(),
                json!({ "question": { "prompt": "?", "kind": "approve" },
                                          "priority": "critical" }),
            )
            .await;
            let Some(cursor) = page["next"].as_str() else { break };
            next = format!("{ASKS}?state=open&limit=3&cursor={cursor}");
            assert_eq!(page.header("link"), format!("<{next}>; rel=\"next\""));
        }
        let joined: Vec<String> = joined.into_iter().filter(|id| whole.contains(id)).collect();
        assert_eq!(joined, whole);
    }
    let page = world.agent().get(&format!("{ASKS}?limit=2")).await.is(200);
    let cursor = page["next"].as_str().unwrap();
    let turned: String = cursor.chars().rev().collect();
    for query in [
        format!("state=all&cursor={cursor}"),
        format!("kind=approve&cursor={cursor}"),
        format!("cursor={turned}"),
        format!("cursor={cursor}A"),
        format!("cursor={}", &cursor[1..]),
    ] {
        let refused = world.agent().get(&format!("{ASKS}?{query}")).await;
        let refused = refused.problem(422, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], "cursor");
    }
    let theirs = world.human().get(&format!("{ASKS}?cursor={cursor}")).await;
    theirs.problem(422, "invalid-field");
    world.end().await;
}

/// What the agent and people remark on the way, for those who see the ask.
#[tokio::test]
async fn remarks_are_made_and_read() {
    let world = World::dev().await;
    let (agent, owner, member) = (world.agent(), world.human(), world.member());
    let path = asked(&agent, approval()).await;
    let comments = format!("{path}/comments");
    let seen = agent.post(&comments, json!({ "text": "urgent" })).await.is(200);
    assert_eq!((&seen["comments"], &seen["version"]), (&json!(1), &json!(2)));
    member.post(&comments, json!({ "text": "hello" })).await.problem(404, "not-found");
    member.get(&comments).await.problem(404, "not-found");
    world.agent_2().get(&comments).await.problem(404, "not-found");
    let stale = owner.clone().header("if-match", "\"1\"");
    stale.post(&comments, json!({ "text": "late" })).await.problem(412, "changed");
    let body = json!({ "to": "user_dev_2", "note": "yours" });
    let handed = owner.post(&format!("{path}/assign"), body).await.is(200);
    assert_eq!((&handed["assigned_to"], &handed["comments"]), (&json!("user_dev_2"), &json!(2)));
    let said = |kind: &str, by: &str, text: &str| json!({ "by": { "kind": kind, "id": by }, "at": "2026-03-01T09:00:00.000Z", "text": text });
    let all = json!({ "comments": [
        said("agent", "agent_dev", "urgent"), said("human", "user_dev", "yours"),
    ]});
    for who in [&agent, &owner, &member] {
        assert_eq!(who.get(&comments).await.is(200).json, all);
    }
    for (body, field) in [
        (json!({}), ""),
        (json!({ "text": "" }), "text"),
        (json!({ "text": "a\u{0}b" }), "text"),
        (json!({ "text": "é".repeat(4001) }), "text"),
        (json!({ "text": 1 }), "text"),
        (json!({ "text": "x", "to": "y" }), "to"),
    ] {
        let refused = agent.post(&comments, body).await.problem(422, "invalid-field");
        let named = refused["errors"][0]["field"].as_str().unwrap();
        assert!(named.starts_with(field), "{}", refused.text);
    }
    assert_eq!(agent.get(&path).await["comments"], 2);
    // In a pool nobody is named to the agent.
    let pool = json!({ "question": { "prompt": "Go?", "kind": "approve" },
                       "route": { "to": "pool" } });
    let pool = asked(&agent, pool).await;
    member.post(&format!("{pool}/comments"), json!({ "text": "mine" })).await.is(200);
    let read = agent.get(&format!("{pool}/comments")).await.is(200);
    let by = read["comments"][0]["by"]["id"].as_str().unwrap();
    assert!(by.starts_with("pool_member_"), "{by}");
    world.end().await;
}
