//! Blocks: closed by themselves, proven one event at a time, exported, handed to a command.

use std::path::Path;
use std::sync::Arc;

use dialects::proof::jws;
use gateway::audit::{AuditFinding, AuditReport, check_export};
use kernel::audit::Digest;
use kernel::seal::{Block, proves};
use notify::sealer::Sealer;
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::{Client, approve};
use crate::world::{World, dev, eventually, logged};

/// Asks, and gives the address of the ask.
async fn asked(agent: &Client) -> String {
    let body = json!({ "question": { "prompt": "Deploy the secret plan?", "kind": "approve" } });
    let created = agent.post("/api/v1/asks", body).await.is(201);
    format!("/api/v1/asks/{}", created["id"].as_str().unwrap())
}

async fn answered(world: &World, ask: &str) {
    let yes = json!({ "answer": { "verdict": "approved" }, "comment": "fine by me" });
    world.human().post(&format!("{ask}/answer"), yes).await.is(200);
}

/// What somebody with the public keys can find out from a proof alone.
fn holds(world: &World, proof: &Value) -> bool {
    let digest = |value: &Value| value.as_str().unwrap().parse::<Digest>().unwrap();
    let record = &proof["record"];
    let (prev, hash) = (digest(&record["prev"]), digest(&record["hash"]));
    let body = record["body"].as_str().unwrap();
    let bytes = [&prev.0, body.as_bytes()].concat();
    let path: Vec<Digest> = proof["path"].as_array().unwrap().iter().map(digest).collect();
    let signed = proof["block"].as_str().unwrap();
    let Ok(block) = jws::open::<Block>(signed, "block+jwt", &world.keys()) else { return false };
    let index = proof["index"].as_u64().unwrap();
    Digest::of(&bytes) == hash
        && proof["position"] == block.first + index
        && proves(hash, index, block.count, &path, block.root)
}

#[tokio::test]
async fn an_event_is_proven_once_its_block_is_closed() {
    let world = World::dev().await;
    let ask = asked(&world.agent()).await;
    answered(&world, &ask).await;
    let path = format!("{ask}/audit/2/proof");
    let refused = world.agent().get(&path).await.problem(409, "not-sealed");
    assert_eq!(refused.header("retry-after"), "11");

    world.app().operations.sealer.seal().await.unwrap();
    let proof = world.agent().get(&path).await.is(200);
    assert!(holds(&world, &proof.json), "{}", proof.text);
    assert!(!proof.text.contains("secret plan") && !proof.text.contains("fine by me"));
    for (place, other) in [("index", json!(0)), ("path", json!([]))] {
        let mut forged = proof.json.clone();
        forged[place] = other;
        assert!(!holds(&world, &forged), "{place}");
    }
    let mut forged = proof.json.clone();
    forged["record"]["body"] =
        json!(forged["record"]["body"].as_str().unwrap().replace("user_dev", "user_dew"));
    assert!(!holds(&world, &forged));

    // Whoever may not see the ask sees nothing of its record either.
    world.agent_2().get(&path).await.problem(404, "not-found");
    world.agent_2().get(&format!("{ask}/audit")).await.problem(404, "not-found");
    for nothing in ["9", "0", "x", "-1"] {
        let path = format!("{ask}/audit/{nothing}/proof");
        world.agent().get(&path).await.problem(404, "not-found");
    }
    world.end().await;
}

#[tokio::test]
async fn the_events_of_an_ask_are_shown_without_its_words() {
    let world = World::dev().await;
    let ask = asked(&world.agent()).await;
    answered(&world, &ask).await;
    let shown = world.agent().get(&format!("{ask}/audit")).await.is(200);
    let events = shown["events"].as_array().unwrap();
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["asked", "answered"]);
    assert_eq!(events[1]["prev"], events[0]["hash"]);
    assert_eq!(events[1]["by"], json!({ "kind": "human", "id": "user_dev" }));
    assert_eq!((&events[0]["seq"], &events[1]["seq"]), (&json!(1), &json!(2)));
    assert!(!shown.text.contains("secret plan") && !shown.text.contains("fine by me"));
    world.end().await;
}

/// Not before its time, not much later, and what a stop or a start finds open is closed.
#[tokio::test]
async fn blocks_are_closed_by_themselves() {
    let mut world = World::with(Settings { seal_seconds: Some(60), ..dev() }).await;
    // The start closed what it found; what it made itself waits like everything else.
    asked(&world.agent()).await;
    assert!(world.audit().await.unsealed > 0);
    world.advance(60);
    // Time goes on: what the start still closes may be dated after the ask, and counts from there.
    eventually("a block", async || {
        world.advance(1);
        world.audit().await.unsealed == 0
    })
    .await;
    let blocks = world.audit().await.blocks;

    asked(&world.agent()).await;
    assert_eq!(world.audit().await.unsealed, 1);
    world.stop().await;
    world.start().await;
    let report = world.audit().await;
    assert!(report.blocks > blocks, "the stop closed one");
    assert!(logged().contains("sealed a block"));

    world.stop().await;
    world.start_with(Settings { seal_seconds: Some(0), ..dev() }).await.unwrap();
    asked(&world.agent()).await;
    eventually("a block at once", async || world.audit().await.unsealed == 0).await;
    let metrics = world.anonymous().get("/metrics").await.text;
    assert!(metrics.contains("countersign_blocks_sealed_total"), "{metrics}");
    assert!(metrics.contains("countersign_unsealed_records"), "{metrics}");
    world.end().await;
}

#[tokio::test]
async fn blocks_are_listed_for_administrators() {
    let world = World::dev().await;
    for _ in 0..3 {
        asked(&world.agent()).await;
        world.app().operations.sealer.seal().await.unwrap();
    }
    let all = world.human().get("/api/v1/audit/blocks").await.is(200);
    let blocks = all["blocks"].as_array().unwrap();
    assert!(blocks.len() >= 3);
    assert!(blocks.windows(2).all(|two| two[1]["prev"] == two[0]["hash"]));
    assert_eq!(all["next"], Value::Null);
    let one = world.human().get("/api/v1/audit/blocks?after=1&limit=1").await.is(200);
    assert_eq!(one["blocks"], json!([blocks[1]]));
    assert_eq!(one["next"], 2);
    for path in ["/api/v1/audit/blocks", "/api/v1/audit/export"] {
        world.member().get(path).await.problem(403, "not-allowed");
        world.agent().get(path).await.problem(403, "not-allowed");
        world.human().get(&format!("{path}?after=x")).await.problem(400, "invalid-field");
    }
    world.end().await;
}

async fn checked(world: &World, export: &str) -> AuditReport {
    let lines = Box::new(std::io::Cursor::new(export.as_bytes().to_vec()));
    check_export(lines, 0, Some(world.keys()), None, &mut |_| ()).await.unwrap()
}

#[tokio::test]
async fn the_record_is_exported_whole_and_in_part() {
    let world = World::dev().await;
    for n in 0..6 {
        let ask = asked(&world.agent()).await;
        if n % 2 == 0 {
            answered(&world, &ask).await;
        }
        if n % 3 == 0 {
            world.app().operations.sealer.seal().await.unwrap();
        }
    }
    let export = world.human().get("/api/v1/audit/export").await.is(200);
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    let (whole, stored) = (checked(&world, &export.text).await, world.audit().await);
    assert_eq!(whole.findings, []);
    assert_eq!((whole.events, whole.subjects), (stored.events, stored.subjects));
    assert_eq!((whole.blocks, whole.unsealed), (stored.blocks, stored.unsealed));
    assert_eq!(whole.last_block, stored.last_block);

    let last = world.gateway().store().block(store::BlockQuery::Last).await.unwrap().unwrap().block;
    for (after, from) in [
        (last.first - 1, last.first),
        (last.first, last.first),
        (last.end() - 1, last.end()),
        (stored.events, stored.events + 1),
        (u64::MAX - 1, stored.events + 1),
    ] {
        let part = world.human().get(&format!("/api/v1/audit/export?after={after}")).await.is(200);
        let report = checked(&world, &part.text).await;
        assert_eq!(report.findings, [], "after {after}");
        assert_eq!(report.events, stored.events + 1 - from, "after {after}");
    }

    // Cut anywhere, it is found.
    let lines: Vec<&str> = export.text.split_inclusive('\n').collect();
    let cut = lines[..lines.len() - 1].concat();
    let found = checked(&world, &cut).await.findings;
    assert!(found.contains(&AuditFinding::CutOff { lines: lines.len() as u64 - 1 }), "{found:?}");
    let cut = &export.text[..export.text.len() - 20];
    assert!(!checked(&world, cut).await.holds());
    world.end().await;
}

/// Two processes that both believe they are the sealer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sealers_make_one_chain() {
    let world = World::with(Settings { seal_seconds: Some(0), ..dev() }).await;
    let app = world.app();
    let store = app.core.gateway.store();
    let clock: Arc<dyn store::Clock> = Arc::new(gateway::clock::OsClock);
    let rival = Sealer::new(
        Arc::clone(store),
        clock,
        app.operations.sealer.signer().clone(),
        "https://rival.example.com".to_owned(),
        gateway::sealed_head::HeadFile::none(),
    );
    let mut closed = 0;
    for _ in 0..25 {
        world.agent().ask(approve("x")).await;
        let both = tokio::join!(app.operations.sealer.seal(), rival.seal());
        closed += both.0.unwrap() + both.1.unwrap();
    }
    let report = world.audit().await;
    assert_eq!(report.findings, []);
    assert_eq!(report.unsealed, 0);
    assert!(closed <= report.blocks, "{closed} closed, {} there", report.blocks);
    world.end().await;
}

/// Who can write the database alone cannot have another history sealed: the newest block is written
/// down beside the keys.
#[tokio::test]
async fn blocks_that_were_taken_away_are_missed() {
    let world = World::dev().await;
    let ask = asked(&world.agent()).await;
    world.app().operations.sealer.seal().await.unwrap();
    answered(&world, &ask).await;
    world.app().operations.sealer.seal().await.unwrap();
    world.app().operations.sealer.seal().await.unwrap();
    let live = rusqlite::Connection::open(world.folder().join("data/countersign.db")).unwrap();
    assert!(live.execute("DELETE FROM block WHERE n > 1", []).unwrap() > 0);
    asked(&world.agent()).await;
    let refused = world.app().operations.sealer.seal().await.unwrap_err().to_string();
    assert!(refused.contains("which this server sealed, is not in the audit log"), "{refused}");
    let left: i64 = live.query_row("SELECT count(*) FROM block", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1, "nothing is sealed on top of it");
    world.end().await;
}

fn anchored(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn every_block_is_handed_to_the_anchor_command_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (gate, out) = (folder.path().join("gate"), folder.path().join("out"));
    let command = format!(
        "test -e {} || {{ echo no gate today >&2; exit 3; }}; cat >> {out}; \
         echo \"{{\\\"env\\\":\\\"$COUNTERSIGN_BLOCK_N $COUNTERSIGN_BLOCK_ROOT $COUNTERSIGN_BLOCK_HASH\\\"}}\" >> {out}",
        gate.display(),
        out = out.display(),
    );
    let settings = Settings { seal_seconds: Some(0), anchor_command: Some(command), ..dev() };
    let mut world = World::with(settings).await;
    world.agent().ask(approve("x")).await;
    eventually("a complaint", async || logged().contains("no gate today")).await;
    // Sealing does not wait for it.
    world.app().operations.sealer.seal().await.unwrap();
    assert_eq!(world.audit().await.unsealed, 0);
    let metrics = world.anonymous().get("/metrics").await.text;
    assert!(metrics.contains("countersign_anchor_attempts_total{result=\"failed\"}"), "{metrics}");
    assert!(metrics.contains("countersign_blocks_not_anchored"), "{metrics}");

    std::fs::write(&gate, "").unwrap();
    world.restart().await;
    world.agent().ask(approve("y")).await;
    world.app().operations.sealer.seal().await.unwrap();
    let store = Arc::clone(world.gateway().store());
    let blocks = store.blocks(0, 100).await.unwrap();
    let last = blocks.last().unwrap().block.n;
    eventually("all anchored", async || store.anchored().await.unwrap() >= Some(last)).await;
    let told = anchored(&out);
    for (sealed, told) in blocks.iter().zip(told.chunks(2)) {
        let block = &sealed.block;
        assert_eq!(
            told[0],
            json!({
                "n": block.n, "root": block.root, "hash": block.hash(), "at": block.at,
                "block": sealed.jws,
            })
        );
        assert_eq!(told[1]["env"], format!("{} {} {}", block.n, block.root, block.hash()));
    }
    assert!(told.len() >= blocks.len() * 2);
    drop(store);
    world.end().await;
}

/// Whatever the command started ends with the server.
#[tokio::test]
async fn a_command_that_hangs_ends_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let command = format!("sleep 1000 & echo $! > {}; wait", pid.display());
    let settings = Settings { seal_seconds: Some(0), anchor_command: Some(command), ..dev() };
    let mut world = World::with(settings).await;
    world.agent().ask(approve("x")).await;
    eventually("the command runs", async || {
        std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))
    })
    .await;
    let begun = std::time::Instant::now();
    world.stop().await;
    assert!(begun.elapsed().as_secs() < 8, "stopped in {:?}", begun.elapsed());
    let id = std::fs::read_to_string(&pid).unwrap().trim().to_owned();
    eventually("the command's child ends", async || {
        // Gone, or dead and not yet buried.
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    })
    .await;
    let quiet = Settings { anchor_command: None, ..dev() };
    world.start_with(quiet).await.unwrap();
    world.end().await;
}
