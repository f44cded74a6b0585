//! One byte of the database file is damaged: `audit verify` finds it, or nobody can tell the
//! difference. Bytes are flipped in pages of every kind of every table and index that holds
//! records, states, lists and deadlines. The dice fall the same way in every run unless
//! `DAMAGE_SEED` and `DAMAGE_FLIPS` (per kind of page) say otherwise; a failure names its byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use dialects::proof::Jwks;
use gateway::audit::{AuditBaseline, check};
use kernel::ask::Phase;
use kernel::{AgentId, Time};
use rusqlite::Connection;
use serde_json::json;
use store::sqlite::Sqlite;
use store::{
    AskListQuery, ChainPage, ExpiringQuery, Filter, ListScope, Order, Store, StoreError,
    TaskListQuery,
};

use crate::client::{approve, provide};
use crate::hacp::{begun, done, inline, raised};
use crate::world::World;

/// How many bytes are flipped in pages of one kind.
const FLIPS: usize = 3;

/// Tables that hold records, states, lists and deadlines; their indexes are known by their names.
const TABLES: [&str; 10] = [
    "record",
    "ask",
    "entity",
    "task",
    "artifact",
    "entry",
    "listing",
    "deadline",
    "task_list",
    "block",
];

#[expect(clippy::disallowed_methods, reason = "of the test, not of the server")]
fn set(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|set| set.parse().unwrap())
}

/// A database with everything in it, in one file, and the keys its blocks are signed with.
async fn played(folder: &Path) -> Arc<Jwks> {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    for n in 0..30 {
        let mut body = if n % 2 == 0 { approve("x") } else { provide("text") };
        if n % 6 == 0 {
            body["payload"]["details"] = json!({ "log": "long words ".repeat(900) });
        }
        let id = agent.ask(body).await;
        match n % 5 {
            0 => drop(human.resolve(&id, json!({ "result": "approved" })).await),
            1 => drop(agent.cancel(&id).await),
            _ => {}
        }
        let question = json!({ "prompt": format!("Deploy {n}?"), "kind": "approve" });
        let later =
            json!({ "question": question, "timeout_seconds": 600 + n, "on_expiry": "fail" });
        agent.post("/api/v1/asks", later).await;
    }
    for n in 0..6 {
        let task = begun(&world, json!({})).await;
        done(&agent, "artifact.commit", inline(&task, &"content ".repeat(900))).await;
        if n % 2 == 0 {
            let task = begun(&world, json!({})).await;
            raised(&world, &task, "approval", json!({})).await;
        }
    }
    world.app().operations.sealer.seal().await.unwrap();
    let live = Connection::open(world.folder().join("data/countersign.db")).unwrap();
    let copy = folder.join("sound.db");
    live.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    let keys = world.keys();
    drop(live);
    world.end().await;
    keys
}

/// Everything readers say. An error is an answer that differs.
async fn answers(path: &Path) -> Result<String, StoreError> {
    let looking = Sqlite::open_read_only(path)?;
    // Its maps have no order of their own.
    let directory = looking.directory();
    let mut known: Vec<String> = directory.humans().map(|one| format!("{one:?}")).collect();
    known.extend(directory.agents().map(|one| format!("{one:?}")));
    known.extend(directory.projects().map(|one| format!("{one:?}")));
    known.extend(directory.keys().map(|one| format!("{one:?}")));
    known.sort();
    let mut said = known.concat();
    let store: Arc<dyn Store> = Arc::new(looking);
    let phases = Phase::ALL.to_vec();
    let agents: Vec<AgentId> = ["agent_dev", "agent_dev_2"].map(|id| id.parse().unwrap()).to_vec();
    let mut scopes = ListScope::everything();
    scopes.extend(agents.iter().cloned().map(ListScope::Agent));
    scopes.push(ListScope::Project("dev".parse().unwrap()));
    scopes.push(ListScope::Human("user_dev".parse().unwrap()));
    scopes.push(ListScope::By("user_dev".parse().unwrap()));
    let list = |scopes: Vec<ListScope>, order, filter| AskListQuery {
        scopes,
        phases: phases.clone(),
        order,
        filter,
        after: None,
        limit: 1_000,
    };
    let mut asks = store.ask_ids(None, 10_000).await?;
    asks.sort();
    for id in asks {
        write!(said, "{:?}", store.ask(id).await?).unwrap();
        write!(
            said,
            "{:?}",
            store.changes(store::FeedQuery::Subject(kernel::Subject::Ask(id), 0), 100).await?
        )
        .unwrap();
    }
    for scope in scopes {
        for order in [Order::Urgency, Order::Age] {
            let one = list(vec![scope.clone()], order, Filter::default());
            let page = store.list(one.clone()).await?;
            write!(said, "{:?} {:?}", page, store.count(one).await?).unwrap();
            // Narrowed to what is similar to something in it, as the inbox does.
            let similar =
                page.asks.iter().find(|ask| ask.is_open()).and_then(kernel::Ask::similarity_key);
            let filter = Filter { fold: similar, ..Filter::default() };
            write!(said, "{:?}", store.list(list(vec![scope.clone()], order, filter)).await?)
                .unwrap();
        }
        let (until, after) = (Time::from_millis(i64::MAX), None);
        let soon = ExpiringQuery { scopes: vec![scope], until, after, limit: 1_000 };
        write!(said, "{:?}", store.expiring(soon).await?).unwrap();
    }
    write!(
        said,
        "{:?}",
        store.claim_due(Time::from_millis(i64::MAX), std::time::Duration::ZERO, 1_000).await?
    )
    .unwrap();
    write!(said, "{:?}", store.next_due().await?).unwrap();
    write!(said, "{:?}", store.changes(store::FeedQuery::After(0), 10_000).await?).unwrap();
    write!(said, "{:?}", store.changes(store::FeedQuery::Agents(agents, 0), 10_000).await?)
        .unwrap();
    write!(said, "{:?}", store.rows(store::FeedQuery::After(0), 10_000).await?).unwrap();
    write!(said, "{:?}", store.blocks(0, 10_000).await?).unwrap();
    let ChainPage { chains, .. } = store.chains(None, 100_000).await?;
    write!(said, "{chains:?}").unwrap();
    let projects = vec!["dev".parse().unwrap()];
    let tasks = TaskListQuery { projects, limit: 1_000, ..TaskListQuery::default() };
    write!(said, "{:?}", store.tasks(tasks.clone()).await?).unwrap();
    write!(said, "{:?}", store.task_counts(tasks).await?).unwrap();
    Ok(said)
}

/// Whether a check finds something, or cannot be made because of what is damaged.
async fn is_found(path: &Path, keys: &Arc<Jwks>) -> bool {
    let Ok(looking) = Sqlite::open_to_check(path) else { return true };
    let store: Arc<dyn Store> = Arc::new(looking);
    let against = AuditBaseline { keys: Arc::clone(keys), ..AuditBaseline::default() };
    check(&store, &against, &mut |_| ()).await.map_or(true, |report| !report.holds())
}

/// The pages of each table or index, by kind: where they begin.
fn pages(path: &Path) -> BTreeMap<(String, String), Vec<usize>> {
    let conn = Connection::open(path).unwrap();
    let mut owned: BTreeMap<String, String> = BTreeMap::new();
    let mut names = conn.prepare("SELECT name, tbl_name FROM sqlite_schema").unwrap();
    let rows = names.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    for row in rows {
        let (name, table): (String, String) = row.unwrap();
        owned.insert(name, table);
    }
    let mut found: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut select = conn.prepare("SELECT name, pagetype, pgoffset FROM dbstat").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for row in rows {
        let (name, kind, at): (String, String, i64) = row.unwrap();
        let table = owned.get(&name).map_or("", String::as_str);
        if TABLES.contains(&table) {
            found.entry((name, kind)).or_default().push(usize::try_from(at).unwrap());
        }
    }
    found
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }
}

/// A place in a page. One in eight is anywhere. Of the others half are in its header and the places
/// of its cells, and half in its cells: what lies between them is unused.
fn place(page: &[u8], kind: &str, dice: &mut Dice) -> usize {
    if kind == "overflow" || dice.roll(8) == 0 {
        return dice.roll(page.len());
    }
    let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let header = if kind == "leaf" { 8 } else { 12 };
    if dice.roll(2) == 0 {
        return dice.roll((header + 2 * number(3)).min(page.len()));
    }
    let cells = number(5).min(page.len() - 1);
    cells + dice.roll(page.len() - cells)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_damaged_byte_is_found_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let keys = played(folder.path()).await;
    let sound = folder.path().join("sound.db");
    assert!(!is_found(&sound, &keys).await, "nothing is wrong yet");
    let right = answers(&sound).await.unwrap();
    let bytes = std::fs::read(&sound).unwrap();
    let kinds = pages(&sound);
    for table in TABLES.iter().filter(|table| **table != "entry") {
        assert!(kinds.keys().any(|(name, _)| name == table), "{table} has no page");
    }
    for kind in ["leaf", "internal", "overflow"] {
        assert!(kinds.keys().any(|(_, found)| found == kind), "no page is of the kind {kind}");
    }
    let mut dice = Dice(u64::try_from(set("DAMAGE_SEED").unwrap_or(22)).unwrap() | 1);
    let flips = set("DAMAGE_FLIPS").unwrap_or(FLIPS);
    let (mut harmless, mut found) = (0, 0);
    for ((name, kind), pages) in &kinds {
        for _ in 0..flips {
            let page = pages[dice.roll(pages.len())];
            let at = page + place(&bytes[page..page + 4096], kind, &mut dice);
            let mut spoilt = bytes.clone();
            spoilt[at] ^= u8::try_from(1 + dice.roll(255)).unwrap();
            let path = folder.path().join("spoilt.db");
            std::fs::write(&path, &spoilt).unwrap();
            if is_found(&path, &keys).await {
                found += 1;
                continue;
            }
            harmless += 1;
            let said = answers(&path).await;
            let same = said.as_ref().is_ok_and(|said| *said == right);
            let (was, is) = (bytes[at], spoilt[at]);
            assert!(same, "byte {at} ({kind} page of {name}): {was:#x} became {is:#x}, unnoticed");
        }
    }
    println!("{found} found, {harmless} harmless, in {} kinds of pages", kinds.len());
    assert!(found > harmless, "{found} found, {harmless} harmless");
}
