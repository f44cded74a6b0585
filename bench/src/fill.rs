//! Fills a store before a measurement, through the store itself: without HTTP, a million asks take
//! a minute. It writes the same data as a create, and works off the outbox.

use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::ensure;
use dialects::hxp_execution::parse_create;
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::bootstrap;
use gateway::clock::OsClock;
use gateway::installation::Installation;
use gateway::login_rate_limit::LoginRateLimit;
use kernel::{AskCommand, Time};
use store::Work;
use store::{Clock, Settlement};
use tokio::task::JoinSet;

use crate::gateway::{AGENT, ASK, settings};

/// The number of concurrent asks: two full commits.
const AT_ONCE: usize = 512;
/// More lanes than this fills.
const LANES: usize = 256;
/// How long a delivery is claimed.
const LEASE: Duration = Duration::from_mins(1);
/// The `timeout_seconds` of [`ASK`].
const TIMEOUT_MILLIS: i64 = 3_600_000;

/// Fills the store of a gateway that is not running. With `due`, all asks expire at that time.
pub(crate) fn fill(folder: &Path, asks: usize, due: Option<Time>) -> anyhow::Result<()> {
    let due = due.map_or_else(|| "none".to_owned(), |due| due.millis().to_string());
    let filled = Process::new(std::env::current_exe()?)
        .arg("fill")
        .arg(folder)
        .args([&asks.to_string(), &due])
        .status()?;
    ensure!(filled.success(), "the store could not be filled");
    Ok(())
}

/// The work of the filling process.
pub(crate) async fn run(folder: &Path, asks: usize, due: &str) -> anyhow::Result<()> {
    let clock: Arc<dyn Clock> = match due {
        "none" => Arc::new(OsClock),
        millis => Arc::new(FrozenClock(Time::from_millis(millis.parse::<i64>()? - TIMEOUT_MILLIS))),
    };
    let home = Installation::open(&settings(folder).check()?.location, clock, true).await?;
    let gateway = Gateway::new(home.store, home.clock);
    bootstrap::create_dev_directory(&gateway).await?;
    let left = Arc::new(AtomicUsize::new(asks));
    let mut asking = JoinSet::new();
    for _ in 0..AT_ONCE {
        asking.spawn(ask(gateway.clone(), Arc::clone(&left)));
    }
    while let Some(asked) = asking.join_next().await {
        asked??;
    }
    work_off(&gateway).await
}

/// Settles all notifications and indexes all texts. Otherwise the server would do that
/// during the measurement.
pub(crate) async fn work_off(gateway: &Gateway) -> anyhow::Result<()> {
    let lanes = gateway.store().lanes("", gateway.now(), LANES).await?;
    let lanes = lanes.iter().map(|(lane, _)| lane.as_str());
    for lane in [Work::PEOPLE].into_iter().chain(lanes) {
        loop {
            let claimed = gateway.store().claim(lane, gateway.now(), LEASE, 1024).await?;
            if claimed.is_empty() {
                break;
            }
            let done = claimed.into_iter().map(|delivery| (delivery.id, Settlement::Done));
            gateway.store().settle(done.collect(), Vec::new()).await?;
        }
    }
    while gateway.store().index(1024).await? > 0 {}
    Ok(())
}

async fn ask(gateway: Gateway, left: Arc<AtomicUsize>) -> anyhow::Result<()> {
    let new = parse_create(ASK.as_bytes())?;
    let directory = gateway.directory();
    let Ok(actor) = Authenticator::new(0, None, LoginRateLimit::default()).agent(
        &directory,
        AGENT,
        gateway.now(),
    ) else {
        anyhow::bail!("the agent of --dev is not there");
    };
    let take = |left: usize| left.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
        gateway.run(actor.clone(), AskCommand::Create(Box::new(new.clone()))).await?;
    }
    Ok(())
}

/// A stopped clock, so that all deadlines are the same.
struct FrozenClock(Time);

impl Clock for FrozenClock {
    fn now(&self) -> Time {
        self.0
    }
}
