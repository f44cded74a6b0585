//! Lists for agents, the inbox for people, and repeating oneself.

use serde_json::json;

use crate::client::{Reply, approve, decide, provide, with};
use crate::world::World;

/// HXPX-039: newest first, filters, totals of what matches.
#[tokio::test]
async fn an_agents_list_is_filtered_and_newest_first() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let mut ids = Vec::new();
    for (n, name) in ["a", "b", "a", "b"].into_iter().enumerate() {
        let project = if n < 2 { "old" } else { "new" };
        let labels = json!({ "agent_id": name, "project_id": project });
        ids.push(agent.ask(with(approve("x"), labels)).await);
        world.advance(u64::from(n == 1));
    }
    let [a0, b1, a2, b3] = named(&ids);
    assert_eq!(agent.list("").await.is(200).ids(), [b3, a2, b1, a0]);
    assert_eq!(agent.list("?agent_id=a").await.ids(), [a2, a0]);
    assert_eq!(agent.list("?project_id=old").await.ids(), [b1, a0]);
    assert_eq!(agent.list("?agent_id=b&project_id=new").await.ids(), [b3]);
    assert_eq!(agent.list("?agent_id=nobody").await["total"], 0);

    agent.cancel(a0).await.is(200);
    human.claim(b1).await.is(200);
    human.resolve(a2, json!({ "result": "approved" })).await.is(200);
    for (status, id) in [("cancelled", a0), ("assigned", b1), ("completed", a2), ("pending", b3)] {
        let seen = agent.list(&format!("?status={status}")).await.is(200);
        assert_eq!((seen.ids(), &seen["total"]), (vec![id], &json!(1)), "{status}");
    }
    for status in ["expired", "failed"] {
        assert_eq!(agent.list(&format!("?status={status}")).await.is(200)["total"], 0);
    }
    let first = agent.list("?limit=1").await.is(200);
    assert_eq!((first.ids(), &first["total"]), (vec![b3], &json!(4)));
    world.end().await;
}

/// HXPX-039: twenty by default, a hundred at most, and a cursor that misses nothing.
#[tokio::test]
async fn pages_follow_one_another() {
    let world = World::dev().await;
    let agent = world.agent();
    let mut ids = Vec::new();
    for _ in 0..45 {
        ids.push(agent.ask(approve("x")).await);
    }
    ids.reverse();
    let first = agent.list("").await.is(200);
    assert_eq!(first.ids(), ids[..20]);
    assert_eq!(agent.list("?limit=100").await.ids(), ids);
    let mut seen: Vec<String> = Vec::new();
    let mut query = "?limit=10".to_owned();
    loop {
        let page = agent.list(&query).await.is(200);
        assert_eq!(page["total"], 45);
        seen.extend(page.ids().into_iter().map(str::to_owned));
        // What comes meanwhile is newer, so it moves nothing.
        if seen.len() == 20 {
            agent.cancel(&ids[0]).await.is(200);
        }
        let Some(cursor) = page["cursor"].as_str() else { break };
        query = format!("?limit=10&cursor={cursor}");
    }
    assert_eq!(seen, ids);
    world.end().await;
}

/// HXPX-041, HXPX-076, HXPX-006: the urgent first, then the newest.
#[tokio::test]
async fn an_inbox_puts_the_urgent_first() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let mut ids = Vec::new();
    for priority in ["normal", "low", "critical", "high", "critical", "normal"] {
        let body = with(approve("x"), json!({ "priority": priority, "agent_id": "coder" }));
        ids.push(agent.ask(body).await);
    }
    let [n0, l1, c2, h3, c4, n5] = named(&ids);
    let inbox = human.inbox("").await.is(200);
    assert_eq!(inbox.ids(), [c4, c2, h3, n5, n0, l1]);
    assert_eq!((&inbox["total"], &inbox["unresolved"]), (&json!(6), &json!(6)));
    for item in inbox["requests"].as_array().unwrap() {
        assert_eq!(item["agent_id"], "coder");
        let notice = item["notice"].as_str().unwrap();
        assert!(notice.contains("AI agent") && notice.contains("agent_dev"), "{notice}");
    }
    let mut paged: Vec<String> = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = human.inbox(&query).await.is(200);
        paged.extend(page.ids().into_iter().map(str::to_owned));
        let Some(cursor) = page["cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(paged, inbox.ids());
    world.end().await;
}

/// HXPX-041: open ones by default, else exactly the status that was asked for.
#[tokio::test]
async fn an_inbox_is_filtered() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let waiting = agent.ask(decide("Which?", &["a", "b"])).await;
    let taken = agent.ask(with(approve("x"), json!({ "priority": "low" }))).await;
    let done = agent.ask(provide("text")).await;
    human.claim(&taken).await.is(200);
    human.resolve(&done, json!({ "result": "s3cret-of-the-inbox" })).await.is(200);
    let check = async |query: &str, expected: &[&String]| {
        let inbox = human.inbox(query).await.is(200);
        assert_eq!(inbox.ids(), expected, "{query}");
        assert_eq!(inbox["total"], expected.len(), "{query}");
        assert_eq!(inbox["unresolved"], 2, "{query}");
        inbox
    };
    check("", &[&waiting, &taken]).await;
    check("?status=pending", &[&waiting]).await;
    check("?status=assigned", &[&taken]).await;
    check("?priority=low", &[&taken]).await;
    check("?action=APPROVE", &[&taken]).await;
    check("?action=PROVIDE", &[]).await;
    let over = check("?status=completed", &[&done]).await;
    assert!(!over.text.contains("s3cret"), "{}", over.text);
    world.end().await;
}

/// HXPX-041: what a person may not answer is neither listed nor counted.
#[tokio::test]
async fn an_inbox_counts_what_it_shows() {
    let world = World::dev().await;
    let tagged = json!({ "role": "pool", "metadata": { "tag": "law" } });
    let id = world.agent().ask(with(approve("x"), tagged)).await;
    let member = world.member().inbox("").await.is(200);
    assert_eq!(
        (member.ids(), &member["total"], &member["unresolved"]),
        (vec![], &json!(0), &json!(0))
    );
    let owner = world.human().inbox("").await.is(200);
    assert_eq!((owner.ids(), &owner["total"]), (vec![id.as_str()], &json!(1)));
    world.end().await;
}

/// HXPX-022: repeating a create is harmless, if it is the same create by the same agent.
#[tokio::test]
async fn an_idempotency_key_makes_repeating_harmless() {
    let world = World::dev().await;
    let create = async |body, key: &str| {
        world.agent().header("idempotency-key", key).post("/hxp/v1/requests", body).await
    };
    let first = create(approve("x"), "k1").await.is(201);
    assert_eq!(first.header("idempotent-replayed"), "");
    world.advance(60);
    let again = create(approve("x"), "k1").await.is(201);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.json, first.json);
    create(approve("y"), "k1").await.error(409, "idempotency_conflict");
    let other = create(approve("x"), "k2").await.is(201);
    assert_ne!(other["request_id"], first["request_id"]);
    assert_eq!(world.agent().list("").await["total"], 2);
    // Somebody else's key of the same name is another key.
    let stranger = world.agent_2().header("idempotency-key", "k1");
    let theirs = stranger.post("/hxp/v1/requests", approve("x")).await.is(201);
    assert_eq!(theirs.header("idempotent-replayed"), "");
    assert_ne!(theirs["request_id"], first["request_id"]);
    // A refusal is not remembered.
    create(approve(""), "k3").await.error(400, "invalid_payload");
    create(approve("x"), "k3").await.is(201);
    for key in ["", &"k".repeat(256)] {
        create(approve("x"), key).await.error(400, "invalid_body");
    }
    // It is remembered as long as the request is open, and a day longer.
    world.advance(25 * 60 * 60);
    world.tidy().await;
    assert_eq!(create(approve("x"), "k1").await.is(201)["request_id"], first["request_id"]);
    let id = first["request_id"].as_str().unwrap();
    world.human().resolve(id, json!({ "result": "approved" })).await.is(200);
    world.advance(25 * 60 * 60);
    world.tidy().await;
    let fresh = create(approve("x"), "k1").await.is(201);
    assert_ne!(fresh["request_id"], first["request_id"]);
    world.end().await;
}

/// A few ids, by name.
fn named<const N: usize>(ids: &[String]) -> [&str; N] {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    ids.try_into().unwrap()
}

/// HXPX-036: what people provided is hidden in lists.
#[tokio::test]
async fn provided_values_are_hidden_in_lists() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(provide("text")).await;
    human.resolve(&id, json!({ "result": "s3cret-of-the-list" })).await.is(200);
    assert_eq!(agent.poll(&id).await["receipt"]["result"], "s3cret-of-the-list");
    let hidden = |list: &Reply| {
        assert_eq!(list.ids(), [id.as_str()]);
        assert!(!list.text.contains("s3cret"), "{}", list.text);
    };
    hidden(&agent.list("").await);
    hidden(&human.inbox("?status=completed").await);
    world.end().await;
}
