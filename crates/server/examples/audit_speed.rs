//! How fast the record is sealed, checked and exported:
//! `cargo run --release -p countersign-server --example audit_speed [events]`.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gateway::Gateway;
use gateway::audit::{AuditBaseline, AuditExport, check, check_export};
use gateway::clock::OsClock;
use gateway::signing::Signer;
use gateway::vault::Vault;
use kernel::actor::KeyScope;
use kernel::testing::{everyone, new_ask, yes};
use kernel::{Actor, AnswerInterface, AskCommand, Assurance, KeyId};
use notify::sealer::Sealer;
use store::sqlite::Sqlite;
use store::{Clock, Store};

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let events = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(200_000);
    // Not in /tmp, which may be memory.
    let folder = tempfile::tempdir_in(".")?;
    let path = folder.path().join("countersign.db");
    let clock: Arc<dyn Clock> = Arc::new(OsClock);
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path, Arc::clone(&clock))?);

    let begun = Begun::now();
    fill(&Gateway::new(Arc::clone(&store), Arc::clone(&clock)), events).await?;
    let events = store.last_position().await?;
    told("written", events, &begun);

    let signer = Signer::open(Arc::new(Vault::memory()), clock.now()).await?;
    let keys = Arc::new(signer.jwks());
    let issuer = "http://localhost:3402".to_owned();
    let sealer = Sealer::new(
        store,
        Arc::clone(&clock),
        signer.clone(),
        issuer.clone(),
        gateway::sealed_head::HeadFile::none(),
    );
    let begun = Begun::now();
    let blocks = sealer.seal().await?;
    told(&format!("sealed in {blocks} blocks"), events, &begun);
    drop(sealer);

    let store: Arc<dyn Store> = Arc::new(Sqlite::open_to_check(&path)?);
    let against =
        AuditBaseline { keys: Arc::clone(&keys), quick: true, ..AuditBaseline::default() };
    for _ in 0..3 {
        let begun = Begun::now();
        let report = check(&store, &against, &mut |_| ()).await?;
        anyhow::ensure!(report.holds() && report.events == events, "{report:?}");
        told("checked", events, &begun);
    }

    let file = folder.path().join("export.jsonl");
    let begun = Begun::now();
    let mut export = AuditExport::begin(store, signer, issuer, clock.now(), 0).await?;
    let mut out = std::fs::File::create(&file)?;
    while let Some(lines) = export.next().await? {
        std::io::Write::write_all(&mut out, &lines)?;
    }
    told("exported", events, &begun);
    let begun = Begun::now();
    let lines = Box::new(BufReader::new(std::fs::File::open(&file)?));
    let report = check_export(lines, 0, Some(keys), None, &mut |_| ()).await?;
    anyhow::ensure!(report.holds() && report.events == events, "{report:?}");
    told("checked from the export", events, &begun);
    println!("store {} MiB, export {} MiB", size(&path)?, size(&file)?);
    Ok(())
}

/// Asks that are looked at and answered, by many at once.
async fn fill(gateway: &Gateway, events: u64) -> anyhow::Result<()> {
    for command in everyone() {
        gateway.run(Actor::System, command).await?;
    }
    let left = Arc::new(AtomicU64::new(events / 3));
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..128 {
        let (gateway, left) = (gateway.clone(), Arc::clone(&left));
        asking.spawn(async move {
            let bot = Actor::Agent {
                id: "bot".parse()?,
                project: "acme".parse()?,
                key: KeyId::new(gateway.ids().ulid()),
                scope: KeyScope::Agent,
            };
            let olga = Actor::Human {
                id: "olga".parse()?,
                via: AnswerInterface::Api,
                assurance: Assurance::Session,
            };
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
            {
                let asked =
                    gateway.run(bot.clone(), AskCommand::Create(Box::new(new_ask()))).await?;
                let Some(id) = asked.ask.map(|ask| ask.id) else { continue };
                gateway.run(olga.clone(), AskCommand::Open(id)).await?;
                gateway.run(olga.clone(), AskCommand::Answer(id, yes())).await?;
            }
            anyhow::Ok(())
        });
    }
    asking.join_all().await.into_iter().collect()
}

/// When something began, by the clock and by the processor time used so far.
struct Begun(Instant, u128);

impl Begun {
    fn now() -> Self {
        Self(Instant::now(), processor_millis())
    }
}

fn told(what: &str, events: u64, begun: &Begun) {
    let millis = begun.0.elapsed().as_millis().max(1);
    let busy = processor_millis().saturating_sub(begun.1);
    let rate = u128::from(events) * 1000 / millis;
    println!("{what}: {events} events in {millis} ms, {rate}/s, {busy} ms of processor time");
}

/// What Linux says this process used, in hundredths of a second; elsewhere nothing.
fn processor_millis() -> u128 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<u128>().ok()).sum::<u128>() * 10
}

fn size(path: &Path) -> std::io::Result<u64> {
    Ok(std::fs::metadata(path)?.len() >> 20)
}
