//! Whatever is done to the record behind the server's back is found, and named: in the file and in
//! an export. The dice fall the same way in every run, unless `TAMPER_SEED` and `TAMPER_ROUNDS` say
//! otherwise; a failure names its seed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use dialects::proof::Jwks;
use gateway::audit::{AuditBaseline, AuditFinding, AuditReport, check, check_export};
use gateway::signing::Signer;
use gateway::vault::Vault;
use kernel::audit::{Digest, RecordRow, canonical};
use kernel::{Actor, AskCommand};
use rusqlite::{Connection, params};
use serde_json::Value;
use store::sqlite::Sqlite;
use store::{SealedBlock, Store};

use crate::client::{approve, provide};
use crate::world::World;

const ROUNDS: u64 = 120;

/// A number from the environment, for whoever looks further than every run does.
#[expect(clippy::disallowed_methods, reason = "of the test, not of the server")]
fn set(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|set| set.parse().unwrap())
}

fn rounds() -> u64 {
    set("TAMPER_ROUNDS").unwrap_or(ROUNDS)
}

/// A record with everything in it: blocks, erased words, and a few events in no block yet.
struct Played {
    folder: tempfile::TempDir,
    keys: Arc<Jwks>,
    rows: Vec<RecordRow>,
    blocks: Vec<SealedBlock>,
    export: String,
}

impl Played {
    async fn new() -> Self {
        let world = World::dev().await;
        let (agent, human) = (world.agent(), world.human());
        for n in 0..24 {
            let id = agent.ask(if n % 2 == 0 { approve("x") } else { provide("text") }).await;
            match n % 4 {
                0 => {
                    human.resolve(&id, serde_json::json!({ "result": "approved" })).await.is(200);
                }
                2 => {
                    agent.cancel(&id).await.is(200);
                }
                _ => {}
            }
            if n % 8 == 0 {
                let ask = crate::routing::ask_id(&id).parse().unwrap();
                world.gateway().run(Actor::System, AskCommand::Erase(ask)).await.unwrap();
            }
            if n % 5 == 4 {
                world.app().operations.sealer.seal().await.unwrap();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        // The server is running: its last events are in no block yet.
        let live = Connection::open(world.folder().join("data/countersign.db")).unwrap();
        let copy = folder.path().join("sound.db");
        live.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        let export = world.human().get("/api/v1/audit/export").await.is(200).text;
        let store = world.gateway().store();
        let rows = store.rows(store::FeedQuery::After(0), 10_000).await.unwrap();
        let blocks = store.blocks(0, 1_000).await.unwrap();
        let keys = world.keys();
        world.end().await;
        Self { folder, keys, rows, blocks, export }
    }

    fn sealed_to(&self) -> u64 {
        self.blocks.last().unwrap().block.end() - 1
    }

    fn against(&self) -> AuditBaseline {
        AuditBaseline { keys: Arc::clone(&self.keys), quick: true, ..AuditBaseline::default() }
    }

    async fn check(&self, path: &Path, against: &AuditBaseline) -> AuditReport {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open_to_check(path).unwrap());
        check(&store, against, &mut |_| ()).await.unwrap()
    }

    async fn check_export(&self, export: &[u8]) -> anyhow::Result<AuditReport> {
        let lines = Box::new(std::io::Cursor::new(export.to_vec()));
        check_export(lines, 0, Some(Arc::clone(&self.keys)), None, &mut |_| ()).await
    }
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        // Small seeds would fall alike at first.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }

    fn flip_bit(&mut self, digest: Digest) -> Digest {
        let mut bytes = digest.0;
        bytes[self.roll(32)] ^= 1 << self.roll(8);
        Digest(bytes)
    }

    /// Another letter or digit in place of one.
    fn flip_letter(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let letters: Vec<usize> =
            (0..bytes.len()).filter(|n| bytes[*n].is_ascii_alphanumeric()).collect();
        let at = *self.pick(&letters);
        bytes[at] = if bytes[at] == b'7' { b'5' } else { b'7' };
        String::from_utf8(bytes).unwrap()
    }
}

/// What must be named by at least one finding.
#[derive(Debug, Default)]
struct Expected {
    subjects: BTreeSet<String>,
    positions: BTreeSet<u64>,
    blocks: BTreeSet<u64>,
}

impl Expected {
    fn subject(mut self, row: &RecordRow) -> Self {
        self.subjects.insert(row.subject.clone());
        self
    }

    fn position(mut self, position: u64) -> Self {
        self.positions.insert(position);
        self
    }

    fn block(mut self, n: u64) -> Self {
        self.blocks.insert(n);
        self
    }

    fn is_named(&self, findings: &[AuditFinding]) -> bool {
        findings.iter().map(AuditFinding::location).any(|place| {
            place.subject.is_some_and(|subject| self.subjects.contains(&subject))
                || place.position.is_some_and(|position| self.positions.contains(&position))
                || place.block.is_some_and(|n| self.blocks.contains(&n))
        })
    }
}

/// Does something to the file; what it was, and what has to be found.
fn harm(played: &Played, conn: &Connection, dice: &mut Dice) -> (String, Expected) {
    let row = dice.pick(&played.rows).clone();
    let there = Expected::default().subject(&row);
    let set = |what: &str, value: &dyn rusqlite::ToSql| {
        let sql = format!("UPDATE record SET {what} = ?1 WHERE position = ?2");
        assert_eq!(conn.execute(&sql, params![value, int(row.position)]).unwrap(), 1);
        format!("{what} at {}", row.position)
    };
    match dice.roll(17) {
        0 => (set("body", &dice.flip_letter(&row.body)), there),
        1 => (set("hash", &dice.flip_bit(row.hash).0), there),
        2 => (set("prev", &dice.flip_bit(row.prev).0), there),
        3 => match &row.contents {
            Some(contents) => (set("contents", &dice.flip_letter(contents)), there),
            None => (set("contents", &"[1]"), there),
        },
        4 => (set("what", &"claimed"), there),
        5 => (set("at", &(row.at.millis() + 1)), there),
        6 => (set("seq", &int(row.seq + 1000)), there),
        7 => (set("subject", &"ask_01ARZ3NDEKTSV4RRFFQ69G5FAV"), there),
        8 => {
            conn.execute("DELETE FROM record WHERE position = ?1", [int(row.position)]).unwrap();
            (format!("dropped {}", row.position), there.position(row.position + 1))
        }
        9 => {
            let last = played.rows.last().unwrap().position;
            let sql =
                "INSERT INTO record (position, subject, seq, at, what, prev, hash, body, contents)
                 SELECT ?1, subject, seq + 1000, at, what, prev, hash, body, contents
                 FROM record WHERE position = ?2";
            conn.execute(sql, [int(last + 1), int(row.position)]).unwrap();
            (format!("inserted a copy of {}", row.position), there)
        }
        10 => {
            forge(played, conn, &row);
            (format!("forged an event behind {}", row.subject), there)
        }
        11 => {
            // Of two events in no block nobody can say which came first.
            let sealed = usize::try_from(played.sealed_to()).unwrap();
            let one = dice.roll(sealed);
            let other = (one + 1 + dice.roll(played.rows.len() - 1)) % played.rows.len();
            let (one, other) = (&played.rows[one], &played.rows[other]);
            for (from, to) in [(one, -1), (other, at(one)), (one, at(other))] {
                let from = if to == at(other) { -1 } else { at(from) };
                conn.execute("UPDATE record SET position = ?1 WHERE position = ?2", [to, from])
                    .unwrap();
            }
            let n = played.blocks.iter().find(|sealed| one.position < sealed.block.end());
            let expected = Expected::default().block(n.unwrap().block.n);
            (format!("swapped {} and {}", one.position, other.position), expected)
        }
        12 => {
            conn.execute("DELETE FROM record WHERE position >= ?1", [int(row.position)]).unwrap();
            let gone = played.rows.iter().filter(|other| other.position >= row.position);
            (format!("cut off from {}", row.position), gone.fold(there, Expected::subject))
        }
        13 | 14 => harm_block(played, conn, dice),
        15 => {
            let table = if row.subject.starts_with("ask_") { "ask" } else { "entity" };
            let sql = format!("UPDATE {table} SET version = version + 1 WHERE state LIKE ?1");
            let changed = conn.execute(&sql, [format!("%\"{}\"%", bare(&row.subject))]).unwrap();
            assert!(changed > 0, "{}", row.subject);
            (format!("another version of {}", row.subject), there)
        }
        _ => {
            let table = if row.subject.starts_with("ask_") { "ask" } else { "entity" };
            let like = format!("%\"{}\"%", bare(&row.subject));
            let sql = format!("SELECT rowid, state FROM {table} WHERE state LIKE ?1");
            let sql = if table == "entity" { sql.replace("rowid", "id") } else { sql };
            let (id, state): (rusqlite::types::Value, String) =
                conn.query_row(&sql, [like], |found| Ok((found.get(0)?, found.get(1)?))).unwrap();
            let (before, after) = state.split_once("\"hash\":\"").unwrap();
            let state = format!("{before}\"hash\":\"{}", flip_first(after));
            let name = if table == "entity" { "id" } else { "rowid" };
            let sql = format!("UPDATE {table} SET state = ?1 WHERE {name} = ?2");
            assert_eq!(conn.execute(&sql, params![state, id]).unwrap(), 1);
            // Whoever mentions this subject first: still a state that is not the one of its chain.
            let all = played.rows.iter().fold(there, Expected::subject);
            (format!("another state for {}", row.subject), all)
        }
    }
}

fn at(row: &RecordRow) -> i64 {
    int(row.position)
}

fn int(n: u64) -> i64 {
    n.try_into().unwrap()
}

fn bare(subject: &str) -> &str {
    subject.rsplit('/').next().unwrap()
}

fn flip_first(hex: &str) -> String {
    let flipped = if hex.starts_with('0') { '1' } else { '0' };
    format!("{flipped}{}", &hex[1..])
}

/// An event that is linked as it should be; only the state does not know of it.
fn forge(played: &Played, conn: &Connection, row: &RecordRow) {
    let head = played.rows.iter().rfind(|other| other.subject == row.subject).unwrap();
    let mut body: Value = serde_json::from_str(&head.body).unwrap();
    body["seq"] = (head.seq + 1).into();
    let body = String::from_utf8(canonical(&body)).unwrap();
    let hash = Digest::of(&[&head.hash.0, body.as_bytes()].concat());
    let position = played.rows.last().unwrap().position + 1;
    conn.execute(
        "INSERT INTO record (position, subject, seq, at, what, prev, hash, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            int(position),
            head.subject,
            int(head.seq + 1),
            head.at.millis(),
            head.what,
            head.hash.0,
            hash.0,
            body
        ],
    )
    .unwrap();
}

fn harm_block(played: &Played, conn: &Connection, dice: &mut Dice) -> (String, Expected) {
    let place = dice.roll(played.blocks.len());
    let sealed = &played.blocks[place];
    let block = &sealed.block;
    let here = Expected::default().block(block.n).block(block.n + 1);
    let set = |what: &str, value: &dyn rusqlite::ToSql| {
        let sql = format!("UPDATE block SET {what} = ?1 WHERE n = ?2");
        assert_eq!(conn.execute(&sql, params![value, int(block.n)]).unwrap(), 1);
        format!("{what} of block {}", block.n)
    };
    let what = match dice.roll(8) {
        0 => set("root", &dice.flip_bit(block.root).0),
        1 => set("prev", &dice.flip_bit(block.prev).0),
        2 => set("at", &(block.at.millis() + 1)),
        3 => set("count", &int(block.count + 1)),
        4 => set("first", &int(block.first + 100_000)),
        5 => set("issuer", &"https://mallory.example.com"),
        6 => {
            let (signed, signature) = sealed.jws.rsplit_once('.').unwrap();
            set("jws", &format!("{signed}.{}", dice.flip_letter(signature)))
        }
        // The last one taken away is what `--since-block` is for.
        _ if place + 1 == played.blocks.len() => set("jws", &played.blocks[0].jws),
        _ => {
            conn.execute("DELETE FROM block WHERE n = ?1", [int(block.n)]).unwrap();
            format!("dropped block {}", block.n)
        }
    };
    (what, here)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn harm_to_the_file_is_found_and_named() {
    let played = Played::new().await;
    let sound = played.folder.path().join("sound.db");
    let report = played.check(&sound, &played.against()).await;
    assert_eq!(report.findings, []);
    assert!(report.unsealed > 0 && report.blocks > 3, "{report:?}");
    let seed = set("TAMPER_SEED").unwrap_or(0xF1);
    let mut dice = Dice::new(seed);
    for round in 0..rounds() {
        let harmed = played.folder.path().join("harmed.db");
        std::fs::copy(&sound, &harmed).unwrap();
        let conn = Connection::open(&harmed).unwrap();
        let (what, expected) = harm(&played, &conn, &mut dice);
        conn.close().unwrap();
        let found = played.check(&harmed, &played.against()).await.findings;
        let said = format!("seed {seed} round {round}: {what}: {found:?}");
        assert!(!found.is_empty(), "not found: {said}");
        assert!(expected.is_named(&found), "not named: {said}");
    }
}

/// What an older copy of the file, or a tail taken away with all it made, looks like: sound. Only
/// whoever knows a later block can tell.
#[tokio::test]
async fn a_lost_tail_is_found_by_who_knows_a_block() {
    let played = Played::new().await;
    let path = played.folder.path().join("sound.db");
    let mut against = played.against();
    for sealed in &played.blocks {
        against.known = Some((sealed.block.n, sealed.block.hash()));
        assert_eq!(played.check(&path, &against).await.findings, []);
    }
    let last = &played.blocks.last().unwrap().block;
    Connection::open(&path)
        .unwrap()
        .execute("DELETE FROM block WHERE n = ?1", [int(last.n)])
        .unwrap();
    against.known = None;
    assert_eq!(played.check(&path, &against).await.findings, [], "nobody could know");
    against.known = Some((last.n, last.hash()));
    let found = played.check(&path, &against).await.findings;
    assert_eq!(found, [AuditFinding::Unknown { n: last.n, hash: last.hash() }]);
    against.known = Some((1, last.hash()));
    assert_eq!(played.check(&path, &against).await.findings.len(), 1, "another hash");
}

/// Does something to the lines of an export. A flip may be anywhere, so it is only known that it is
/// found; what moves lines is named.
fn harm_export(lines: &mut Vec<String>, dice: &mut Dice) -> (String, bool) {
    let records: Vec<usize> =
        (0..lines.len()).filter(|n| lines[*n].starts_with("{\"record\"")).collect();
    let (one, other) = (*dice.pick(&records), *dice.pick(&records));
    match dice.roll(8) {
        0 | 1 => {
            // The header is not hashed into a chain; what it says of keys we do not take from it.
            let at = 1 + dice.roll(lines.len() - 1);
            lines[at] = dice.flip_letter(&lines[at]);
            (format!("flipped a letter of line {}", at + 1), false)
        }
        2 => {
            lines.remove(one);
            (format!("dropped line {}", one + 1), true)
        }
        3 => {
            lines.insert(other, lines[one].clone());
            (format!("inserted line {} at {}", one + 1, other + 1), true)
        }
        4 if one != other => {
            lines.swap(one, other);
            (format!("swapped lines {} and {}", one + 1, other + 1), true)
        }
        5 => {
            let blocks: Vec<usize> =
                (0..lines.len()).filter(|n| lines[*n].starts_with("{\"block\"")).collect();
            let block = *dice.pick(&blocks);
            lines.remove(block);
            // Without the last one its records are in no block yet, and only the count misses it.
            let last = Some(&block) == blocks.last();
            (format!("dropped the block of line {}", block + 1), !last)
        }
        6 => {
            lines.insert(one, "{\"record\":{}}\n".to_owned());
            (format!("inserted nonsense at {}", one + 1), true)
        }
        _ => {
            let keep = dice.roll(lines.len() - 2) + 1;
            lines.truncate(keep);
            if dice.roll(2) == 0 {
                let last = lines.last_mut().unwrap();
                let half = last.len() / 2;
                last.truncate(half);
            }
            (format!("cut off after line {keep}"), true)
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn harm_to_an_export_is_found_and_named() {
    let played = Played::new().await;
    let report = played.check_export(played.export.as_bytes()).await.unwrap();
    assert_eq!(report.findings, []);
    let sound: Vec<String> = played.export.split_inclusive('\n').map(str::to_owned).collect();
    let seed = set("TAMPER_SEED").unwrap_or(0xE0);
    let mut dice = Dice::new(seed);
    for round in 0..rounds() {
        let mut lines = sound.clone();
        let (what, moved) = harm_export(&mut lines, &mut dice);
        let harmed = lines.concat();
        if harmed == played.export {
            continue;
        }
        let report = played.check_export(harmed.as_bytes()).await;
        let found = match report {
            Ok(report) => report.findings,
            // Half of the header is no export at all.
            Err(_) if lines.len() == 1 => continue,
            Err(error) => panic!("seed {seed} round {round}: {what}: {error:#}"),
        };
        let said = format!("seed {seed} round {round}: {what}: {found:?}");
        assert!(!found.is_empty(), "not found: {said}");
        // Beside the last line, which no longer fits anyway.
        let end = lines.len() as u64;
        let named = found.iter().map(AuditFinding::location).any(|place| {
            place.position.is_some()
                || place.block.is_some()
                || place.line.is_some_and(|n| n < end)
                || place.subject.is_some()
                || found.contains(&AuditFinding::CutOff { lines: end })
        });
        assert!(named || !moved, "not named: {said}");
    }
}

/// Words taken away without an event that says so.
#[tokio::test]
async fn words_that_nobody_erased_are_missed() {
    let played = Played::new().await;
    let row =
        played.rows.iter().find(|row| row.subject.starts_with("ask_") && row.contents.is_some());
    let row = row.unwrap();
    let path = played.folder.path().join("sound.db");
    let sql = "UPDATE record SET contents = NULL WHERE position = ?1";
    Connection::open(&path).unwrap().execute(sql, [int(row.position)]).unwrap();
    let found = played.check(&path, &played.against()).await.findings;
    assert!(Expected::default().subject(row).is_named(&found), "{found:?}");

    let lines = played.export.split_inclusive('\n').map(|line| {
        if !line.contains(&format!("\"position\":{},", row.position)) {
            return line.to_owned();
        }
        let (before, _) = line.split_once(",\"contents\":").unwrap();
        format!("{before},\"contents\":null}}}}\n")
    });
    let harmed: String = lines.collect();
    let found = played.check_export(harmed.as_bytes()).await.unwrap().findings;
    let hollow = AuditFinding::Hollow { subject: row.subject.clone(), seq: row.seq };
    assert!(found.contains(&hollow), "{found:?}");
}

/// Somebody else's signature is none.
#[tokio::test]
async fn only_our_keys_count() {
    let played = Played::new().await;
    let other = Signer::open(Arc::new(Vault::memory()), kernel::Time::from_millis(0)).await;
    let (keys, path) = (Arc::new(other.unwrap().jwks()), played.folder.path().join("sound.db"));
    let found = played
        .check(
            &path,
            &AuditBaseline { keys: Arc::clone(&keys), quick: true, ..AuditBaseline::default() },
        )
        .await;
    assert_eq!(found.findings.len(), played.blocks.len());
    let lines = Box::new(std::io::Cursor::new(played.export.clone().into_bytes()));
    let found = check_export(lines, 0, Some(keys), None, &mut |_| ()).await.unwrap();
    assert_eq!(found.findings.len(), played.blocks.len() + 1, "blocks and the last line");
}
