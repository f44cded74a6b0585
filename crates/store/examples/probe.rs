//! How many asks a second the store in a file takes, durably:
//! `cargo run --release -p countersign-store --example probe [tasks] [seconds]`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kernel::AskCommand;
use kernel::testing::new_ask;
use store::sqlite::Sqlite;
use store::suite::stage::bot;
use store::suite::{ManualClock, Stage};
use store::{Clock, Store};

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> Result<(), store::BoxError> {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (tasks, seconds) = (args.next().unwrap_or(256), args.next().unwrap_or(2));
    // Not in /tmp, which may be memory.
    let folder = tempfile::tempdir_in(".")?;
    let hands = ManualClock::new();
    let clock = Arc::clone(&hands) as Arc<dyn Clock>;
    let store = Sqlite::open(&folder.path().join("store.db"), clock)?;
    let stage = Arc::new(Stage::on(Arc::new(store) as Arc<dyn Store>, hands, Box::new(())));
    stage.cast().await;

    let (done, slowest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let over = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..tasks {
        let (stage, done) = (Arc::clone(&stage), Arc::clone(&done));
        let (over, slowest) = (Arc::clone(&over), Arc::clone(&slowest));
        asking.spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let sent = Instant::now();
                stage.run(bot(), AskCommand::Create(Box::new(new_ask()))).await;
                let micros = u64::try_from(sent.elapsed().as_micros()).unwrap_or(u64::MAX);
                slowest.fetch_max(micros, Ordering::Relaxed);
                done.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    over.store(true, Ordering::Relaxed);
    asking.join_all().await;
    let n = done.load(Ordering::Relaxed);
    let rate = u128::from(n) * 1000 / began.elapsed().as_millis().max(1);
    let slowest = slowest.load(Ordering::Relaxed) / 1000;
    println!("{tasks} tasks: {n} asks, {rate}/s, slowest {slowest} ms, {}", size(folder.path()));
    Ok(())
}

fn size(folder: &Path) -> String {
    let file = |name| std::fs::metadata(folder.join(name)).map_or(0, |meta| meta.len() >> 20);
    format!("file {} MiB, log {} MiB", file("store.db"), file("store.db-wal"))
}
