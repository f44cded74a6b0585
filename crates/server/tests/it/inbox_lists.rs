//! A person's desk: which of it they see, how it is narrowed, counted, searched, answered together
//! and kept as history.

use serde_json::{Value, json};

use crate::client::Client;
use crate::native::{ASKS, approval, asked, yes};
use crate::world::{World, eventually};

fn ids(page: &Value) -> Vec<String> {
    let asks = page["asks"].as_array().unwrap();
    asks.iter().map(|ask| format!("{ASKS}/{}", ask["id"].as_str().unwrap())).collect()
}

async fn list(who: &Client, path: &str) -> Vec<String> {
    ids(&who.get(path).await.is(200).json)
}

fn id(path: &str) -> &str {
    path.rsplit_once('/').unwrap().1
}

fn about(prompt: &str) -> Value {
    json!({ "question": { "prompt": prompt, "kind": "approve" } })
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

#[tokio::test]
async fn a_person_has_mine_groups_and_all() {
    let world = World::dev().await;
    let (admin, member, agent) = (world.human(), world.member(), world.agent());
    let owned = asked(&agent, approval()).await;
    world.advance(1);
    let pooled = asked(&agent, with(approval(), "route", json!({ "to": "pool" }))).await;
    world.advance(1);
    let person = json!({ "to": "person", "human": "user_dev_2" });
    let theirs = asked(&agent, with(approval(), "route", person)).await;
    world.advance(1);
    let urgent = with(approval(), "priority", json!("critical"));
    let foreign = asked(&world.agent_2(), urgent).await;
    for (who, view, expected) in [
        (&member, "mine", vec![&theirs]),
        (&member, "groups", vec![&pooled]),
        (&member, "inbox", vec![&theirs, &pooled]),
        (&member, "all", vec![&theirs, &pooled]),
        (&admin, "all", vec![&foreign, &theirs, &pooled, &owned]),
    ] {
        let path = format!("{ASKS}?view={view}");
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(list(who, &path).await, expected, "{view}");
        let counted = who.get(&format!("{ASKS}/count?view={view}")).await.is(200);
        assert_eq!(counted.json, json!({ "count": expected.len(), "exact": true }));
        // The same in pages of one.
        let (mut seen, mut next) = (Vec::new(), format!("{path}&limit=1"));
        loop {
            let page = who.get(&next).await.is(200);
            seen.extend(ids(&page.json));
            let Some(cursor) = page["next"].as_str() else { break };
            next = format!("{path}&limit=1&cursor={cursor}");
        }
        assert_eq!(seen, expected);
    }
    for (query, field) in [
        ("view=others", "view"),
        ("fold=zz&agent=agent_dev", "fold"),
        ("expiring=0", "expiring"),
        ("expiring=soon", "expiring"),
        ("expiring=60&state=gone", "state"),
    ] {
        let refused = admin.get(&format!("{ASKS}?{query}")).await.problem(400, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{query}");
    }
    for (query, field) in [
        ("fold=0123456789abcdef", "fold"),
        ("expiring=60&state=all", "state"),
        ("expiring=60&state=open&state=completed", "state"),
    ] {
        let refused = admin.get(&format!("{ASKS}?{query}")).await.problem(422, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{query}");
    }
    admin.get(&format!("{ASKS}?expiring=60&state=open&state=open")).await.is(200);
    agent.get(&format!("{ASKS}?view=mine")).await.problem(403, "not-allowed");
    agent.get("/api/v1/history").await.problem(403, "not-allowed");
    world.end().await;
}

#[tokio::test]
async fn what_is_narrowed_is_where_lists_meet() {
    let world = World::dev().await;
    let (human, agent) = (world.human(), world.agent());
    let first = asked(&agent, approval()).await;
    world.advance(1);
    let talk = json!({ "question": { "prompt": "Hello?", "kind": "converse" } });
    let talk = asked(&agent, talk).await;
    world.advance(1);
    let other = asked(&world.agent_2(), approval()).await;
    for (query, expected) in [
        ("view=inbox&agent=agent_dev", vec![&talk, &first]),
        ("view=inbox&project=dev2", vec![&other]),
        ("view=all&project=dev&kind=approve", vec![&first]),
        ("view=mine&agent=agent_dev_2&kind=converse", vec![]),
        ("view=mine&agent=nobody", vec![]),
        ("view=mine&kind=converse&kind=approve", vec![&other, &talk, &first]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(list(&human, &format!("{ASKS}?{query}")).await, expected, "{query}");
        let counted = human.get(&format!("{ASKS}/count?{query}")).await.is(200);
        assert_eq!(counted["count"], expected.len(), "{query}");
    }
    // A member narrows their own list by names and learns nothing of others'.
    let member = world.member();
    assert_eq!(list(&member, &format!("{ASKS}?project=dev")).await, [""; 0]);
    assert_eq!(list(&member, &format!("{ASKS}?project=nowhere")).await, [""; 0]);
    world.end().await;
}

#[tokio::test]
async fn what_runs_out_soon_is_told_soonest_first() {
    let world = World::dev().await;
    let (human, agent) = (world.human(), world.agent());
    let timed = |seconds: u64| {
        let body = with(approval(), "timeout_seconds", json!(seconds));
        with(body, "on_expiry", json!("fail"))
    };
    let late = asked(&agent, timed(500)).await;
    let soon = asked(&agent, timed(100)).await;
    let other = asked(&world.agent_2(), timed(200)).await;
    asked(&agent, approval()).await;
    let read = async |query: &str| list(&human, &format!("{ASKS}?{query}")).await;
    assert_eq!(read("expiring=3600").await, [soon.clone(), other.clone(), late.clone()]);
    assert_eq!(read("expiring=300&view=all").await, [soon.clone(), other.clone()]);
    assert_eq!(read("expiring=3600&agent=agent_dev").await, [soon.clone(), late.clone()]);
    assert_eq!(read("expiring=3600&view=mine&project=dev2").await, [other.as_str()]);
    assert_eq!(read("expiring=3600&kind=converse").await, [""; 0]);
    let page = human.get(&format!("{ASKS}?expiring=3600&limit=2")).await.is(200);
    let next = page["next"].as_str().unwrap();
    assert_eq!(read(&format!("expiring=3600&limit=2&cursor={next}")).await, [late.as_str()]);
    // What has run out is no longer about to.
    world.advance(150);
    assert_eq!(read("expiring=3600").await, [other, late]);
    assert_eq!(agent.get(&soon).await["state"], "failed");
    world.end().await;
}

/// Near-identical asks share a key; one word answers them, each with its own receipt.
#[tokio::test]
async fn many_are_answered_with_one_word_where_they_allow_it() {
    let world = World::dev().await;
    let (human, agent) = (world.human(), world.agent());
    let one = asked(&agent, about("Refund order 1 of Ada?")).await;
    let two = asked(&agent, about("Refund order 2 of Ada?")).await;
    let other = asked(&agent, about("Delete the database?")).await;
    let final_ = with(about("Refund order 3 of Ada?"), "metadata", json!({ "irreversible": true }));
    let irreversible = asked(&agent, final_).await;
    let mut reasoned = about("Refund order 4 of Ada?");
    reasoned["question"]["reject_requires_reason"] = json!(true);
    let reasoned = asked(&agent, reasoned).await;
    let row = human.get(&one).await.is(200);
    let fold = row["fold"].as_str().unwrap().to_owned();
    assert_eq!((row["bulk"].clone(), row["agent"].clone()), (json!(true), json!("agent_dev")));
    assert_eq!(human.get(&irreversible).await["bulk"], false);
    let members = list(&human, &format!("{ASKS}?view=mine&agent=agent_dev&fold={fold}")).await;
    assert_eq!(members, [irreversible.clone(), two.clone(), one.clone()]);
    let over = asked(&agent, approval()).await;
    human.post(&format!("{over}/answer"), yes()).await.is(200);
    let foreign = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C";

    let all = [&one, &two, &irreversible, &reasoned, &over];
    let mut named: Vec<&str> = all.iter().map(|path| id(path)).collect();
    named.push(foreign);
    let body = |dry_run: bool| {
        json!({ "asks": named, "answer": { "verdict": "rejected" }, "comment": "no budget",
            "dry_run": dry_run })
    };
    let codes = |results: &Value| -> Vec<Value> {
        results["results"].as_array().unwrap().iter().map(|one| one["code"].clone()).collect()
    };
    let expected = vec![
        Value::Null,
        Value::Null,
        json!("not-allowed"),
        json!("not-allowed"),
        json!("already-answered"),
        json!("not-found"),
    ];
    let summary = human.post(&format!("{ASKS}/answers"), body(true)).await.is(200);
    assert_eq!(codes(&summary.json), expected);
    assert_eq!(agent.get(&one).await["state"], "pending", "nothing happened yet");
    let done = human.post(&format!("{ASKS}/answers"), body(false)).await.is(200);
    assert_eq!(codes(&done.json), expected);
    let mut receipts = Vec::new();
    for path in [&one, &two] {
        let seen = agent.get(path).await.is(200);
        assert_eq!(seen["result"]["answer"]["verdict"], "rejected");
        assert_eq!(seen["result"]["comment"], "no budget");
        receipts.push(seen["receipt"].as_str().unwrap().to_owned());
    }
    assert_ne!(receipts[0], receipts[1]);
    assert_eq!(agent.get(&other).await["state"], "pending");
    let again = human.post(&format!("{ASKS}/answers"), body(false)).await.is(200);
    assert!(again["results"].as_array().unwrap().iter().all(|one| one["done"] == false));

    let many: Vec<String> = (0..201).map(|n| format!("ask_{n:026}")).collect();
    for asks in [json!([]), json!(many), json!([id(&other), id(&other)])] {
        let body = json!({ "asks": asks, "answer": { "verdict": "approved" } });
        human.post(&format!("{ASKS}/answers"), body).await.problem(422, "invalid-field");
    }
    let body = json!({ "asks": [id(&other)], "answer": { "verdict": "approved" } });
    agent.post(&format!("{ASKS}/answers"), body).await.problem(403, "not-allowed");
    world.end().await;
}

#[tokio::test]
async fn the_history_is_listed_narrowed_and_exported() {
    let world = World::dev().await;
    let (human, agent) = (world.human(), world.agent());
    let paid = asked(&agent, about("=Pay 40, \"now\"?")).await;
    human.post(&format!("{paid}/answer"), yes()).await.is(200);
    world.advance(1);
    let withdrawn = asked(&agent, approval()).await;
    agent.post(&format!("{withdrawn}/cancel"), json!({ "reason": "moot" })).await.is(200);
    world.advance(1);
    let field = json!({ "key": "pin", "label": "PIN", "type": "text", "sensitive": true });
    let secret = json!({ "question": { "prompt": "PIN?", "kind": "provide",
        "form": { "fields": [field] } } });
    let secret = asked(&agent, secret).await;
    let said = json!({ "answer": { "verdict": "provided", "values": { "pin": "hush-1234" } } });
    human.post(&format!("{secret}/answer"), said).await.is(200);
    world.advance(1);
    let foreign = asked(&world.agent_2(), approval()).await;
    human.post(&format!("{foreign}/answer"), yes()).await.is(200);
    asked(&agent, approval()).await;
    for (query, expected) in [
        ("", vec![&foreign, &secret, &withdrawn, &paid]),
        ("?outcome=cancelled", vec![&withdrawn]),
        ("?outcome=completed&outcome=cancelled&project=dev", vec![&secret, &withdrawn, &paid]),
        ("?by=user_dev", vec![&foreign, &secret, &paid]),
        ("?by=user_dev&agent=agent_dev&kind=approve", vec![&paid]),
        ("?by=user_dev_2", vec![]),
        ("?kind=provide", vec![&secret]),
        ("?view=all&project=dev2", vec![&foreign]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(list(&human, &format!("/api/v1/history{query}")).await, expected, "{query}");
    }
    assert_eq!(list(&world.member(), "/api/v1/history").await, [""; 0]);
    human.get("/api/v1/history?outcome=open").await.problem(400, "invalid-field");
    human.get("/api/v1/history/export?format=xls").await.problem(400, "invalid-field");

    let lines = human.get("/api/v1/history/export").await.is(200);
    assert_eq!(lines.header("content-type"), "application/x-ndjson");
    let asks: Vec<Value> =
        lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ids(&json!({ "asks": asks })), [foreign, secret, withdrawn, paid.clone()]);
    let table = human.get("/api/v1/history/export?format=csv&agent=agent_dev").await.is(200);
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    let rows: Vec<&str> = table.text.split("\r\n").collect();
    assert_eq!((rows.len(), rows[4]), (5, ""));
    assert!(rows[0].starts_with("id,project,agent,kind"));
    assert!(rows[3].contains("\"'=Pay 40, \"\"now\"\"?\""), "{}", rows[3]);
    assert!(rows[2].contains("moot"));
    for export in [&lines.text, &table.text] {
        assert!(!export.contains("hush-1234"), "{export}");
    }
    world.end().await;
}

#[tokio::test]
async fn people_search_what_their_lists_show() {
    let world = World::dev().await;
    let (admin, member, agent) = (world.human(), world.member(), world.agent());
    let ada = asked(&agent, about("Refund Ada Lovelace?")).await;
    let pool = with(about("Refund the pool?"), "route", json!({ "to": "pool" }));
    let pooled = asked(&agent, pool).await;
    let foreign = asked(&world.agent_2(), about("Refund Eve?")).await;
    admin.post(&format!("{foreign}/answer"), yes()).await.is(200);
    let search =
        async |who: &Client, query: &str| list(who, &format!("/api/v1/search?{query}")).await;
    eventually("the index", async || {
        search(&admin, "q=refund&state=over").await == [foreign.clone()]
    })
    .await;
    assert_eq!(search(&admin, "q=refund").await, [foreign, pooled.clone(), ada.clone()]);
    assert_eq!(search(&admin, "q=refund+lovel").await, [ada.as_str()]);
    assert_eq!(search(&member, "q=refund").await, [pooled.as_str()]);
    assert_eq!(search(&member, "q=refund&view=all").await, [pooled.as_str()]);
    assert_eq!(search(&member, "q=ada").await, [""; 0]);
    assert_eq!(search(&admin, "q=refund&project=dev&state=open").await, [pooled, ada.clone()]);
    agent.post(&format!("{ada}/comments"), json!({ "text": "she called twice" })).await.is(200);
    eventually("the index", async || search(&admin, "q=twice").await == [ada.clone()]).await;
    agent.post(&format!("{ada}/cancel"), json!({})).await.is(200);
    admin.post(&format!("{ada}/erase"), json!({})).await.is(200);
    assert_eq!(search(&admin, "q=lovelace").await, [""; 0]);
    let long = format!("q={}", "x".repeat(501));
    for query in ["", "q=", "q=%20", "q=x&state=done", "q=x&more=1", &long] {
        admin.get(&format!("/api/v1/search?{query}")).await.problem(400, "invalid-field");
    }
    agent.get("/api/v1/search?q=x").await.problem(403, "not-allowed");
    world.end().await;
}
