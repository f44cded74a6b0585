//! Inputs that are stored or verified elsewhere: receipts, exports of the audit log, and backups.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Arc, LazyLock};

use dialects::proof::{Jwks, RevocationClaims, verify};
use gateway::Gateway;
use gateway::audit::{AuditBaseline, check, check_export};
use gateway::bootstrap;
use gateway::clock::OsClock;
use gateway::installation::Installation;
use gateway::sealed_head::Heads;
use serde_json::Value;
use server::config::Settings;
use store::Store;
use store::sqlite::Sqlite;
use tokio::runtime::{Builder, Runtime};

use crate::twice;

/// The receipts that all clients agree on, with their keys.
static VECTORS: LazyLock<(Jwks, BTreeSet<String>)> = LazyLock::new(|| {
    let vectors: Value = serde_json::from_str(include_str!("../../clients/vectors/receipts.json"))
        .unwrap_or_default();
    let keys = vectors.get("jwks").cloned().and_then(|keys| serde_json::from_value(keys).ok());
    let Some(keys) = keys else { panic!("the vectors have no keys") };
    let mut signed = BTreeSet::new();
    texts(&vectors, &mut signed);
    signed.retain(|text| verify(text, &keys).is_ok());
    assert!(!signed.is_empty(), "no vector is a good receipt");
    (keys, signed)
});

/// Every text in a value.
fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| match Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => panic!("{why}"),
    });

/// Receipts and lists of revocations. Only the exact signed bytes verify.
pub(crate) fn receipts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (keys, signed) = &*VECTORS;
    if verify(&text, keys).is_ok() {
        assert!(signed.contains(&*text), "another text of a receipt verifies: {text}");
    }
    twice(|| verify(&text, keys));
    twice(|| RevocationClaims::verify(&text, keys));
    twice(|| serde_json::from_slice::<Jwks>(bytes).map_err(|error| error.to_string()));
}

/// Exports of the audit log.
pub(crate) fn exports(bytes: &[u8]) {
    let read = || {
        let lines = Box::new(std::io::Cursor::new(bytes.to_vec()));
        let size = bytes.len() as u64;
        RUNTIME.block_on(async {
            let checked = Box::pin(check_export(lines, size, None, None, &mut |_| {})).await;
            checked.map(|report| format!("{} {}", report.holds(), report.events))
        })
    };
    twice(|| read().map_err(|error| error.to_string()));
}

/// A backup of a new installation.
static BACKUP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let made = RUNTIME.block_on(Box::pin(async {
        let folder = tempfile::tempdir()?;
        let settings = Settings {
            listen: Some("127.0.0.1:0".to_owned()),
            data: Some(folder.path().to_owned()),
            dev: Some(true),
            ..Settings::default()
        };
        let home = Installation::open(&settings.check()?.location, Arc::new(OsClock), true).await?;
        let gateway = Gateway::new(home.store, home.clock);
        bootstrap::create_dev_directory(&gateway).await?;
        let copy = folder.path().join("backup.db");
        Sqlite::backup(&folder.path().join("countersign.db"), &copy, &mut |_, _| {})?;
        anyhow::Ok(std::fs::read(copy)?)
    }));
    match made {
        Ok(bytes) => bytes,
        Err(why) => panic!("no backup can be made: {why:#}"),
    }
});

/// Backups, opened and verified as in `audit verify`: the bytes are a whole file if they begin like
/// an `SQLite` file. Otherwise they are changes to a valid backup, each an offset in four bytes and
/// the new byte.
pub(crate) fn backups(bytes: &[u8]) {
    let file = if bytes.starts_with(b"SQLite format 3") { bytes.to_vec() } else { changed(bytes) };
    let Ok(folder) = tempfile::tempdir() else { panic!("no temporary folder") };
    let path = folder.path().join("countersign.db");
    let written = std::fs::File::create(&path).and_then(|mut written| written.write_all(&file));
    assert!(written.is_ok(), "the disk is full");
    // Anything may be wrong with it. Opening and verifying must report it and not panic.
    let Ok(store) = Sqlite::open_to_check(&path) else { return };
    let store: Arc<dyn Store> = Arc::new(store);
    let against = AuditBaseline {
        keys: Arc::new(VECTORS.0.clone()),
        known: None,
        marked: Heads::default(),
        quick: false,
    };
    let checked = RUNTIME.block_on(Box::pin(check(&store, &against, &mut |_| {})));
    let found = checked.map(|report| report.holds());
    // It has no blocks, so no signature by other keys matters: a valid backup passes.
    assert!(file != *BACKUP || matches!(found, Ok(true)), "a good backup is refused");
}

fn changed(changes: &[u8]) -> Vec<u8> {
    let mut file = BACKUP.clone();
    for change in changes.chunks_exact(5) {
        let [a, b, c, d, byte] = *change else { continue };
        let offset = u32::from_le_bytes([a, b, c, d]) as usize % file.len();
        if let Some(place) = file.get_mut(offset) {
            *place = byte;
        }
    }
    file
}
