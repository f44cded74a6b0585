//! Many asks that expire in the same second: each expires once and soon, and creates
//! continue meanwhile. The store is filled directly, with a stopped clock, so that all
//! deadlines are the same.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use gateway::clock::OsClock;
use kernel::Time;
use store::sqlite::Sqlite;
use store::{AuditFeed, Clock};

use super::create_shot;
use crate::fill::fill;
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::load::{LoadResult, LoadTarget, WARM_UP, fire, fire_until};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

const CONNECTIONS: usize = 32;
/// The expected fill rate per second, and the time reserved for the rest.
const FILLED_A_SECOND: usize = 4_000;
const READY: Duration = Duration::from_secs(3);
/// The timeout of the measurement.
const PATIENCE: Duration = Duration::from_mins(2);
/// The polling interval for the gateway's count.
const LOOK: Duration = Duration::from_millis(50);
const PAGE: usize = 10_000;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let many = scale.expiries;
    let measuring = scale.turn * scale.turns;
    let filling = Duration::from_secs((many / FILLED_A_SECOND) as u64);
    // A busy machine fills the store more slowly. The next attempt reserves more time.
    let mut ready = READY;
    let (data, due, gateway) = loop {
        let data = folder.path().join(format!("gateway-{}", ready.as_secs()));
        std::fs::create_dir_all(&data)?;
        let due = after(OsClock.now(), filling + measuring + WARM_UP * 2 + ready);
        fill(&data, many, Some(due))?;
        let gateway = ServerProcess::gateway(&data).await?;
        if until(due) > measuring + WARM_UP {
            break (data, due, gateway);
        }
        ready *= 4;
        ensure!(ready < PATIENCE, "filling the store took too long; nothing to measure");
    };

    let create = gateway.target(create_shot());
    let calm = fire(&create, CONNECTIONS, measuring).await?;
    // The load starts before the deadline.
    tokio::time::sleep(until(due).saturating_sub(WARM_UP)).await;
    let (busy, took) = while_firing(&gateway, &create, many as u64, due).await?;
    drop(gateway);
    let (fired, asks) = count(&data).await?;

    let once =
        Measurement::new(format!("{many} expiries in one second: fired"), whole(fired), "events");
    let once = once.against(whole(asks)).goal(Goal::AtMost(1.0));
    let every = Measurement::new("… of those that were due", whole(asks), "asks")
        .against(whole(many as u64));
    let soon = Measurement::new("… until all were fired", took.as_secs_f64(), "s")
        .goal(Goal::AtMost(30.0));
    let meanwhile = Measurement::new("… creates meanwhile, 32 connections", busy.rate(), "/s");
    let note = format!("{}; undisturbed {}", busy.words(), calm.words());
    Ok(vec![
        once.note("once each"),
        every.goal(Goal::AtLeast(1.0)),
        soon,
        meanwhile.against(calm.rate()).goal(Goal::AtLeast(0.5)).note(note),
    ])
}

/// Sends creates until all deadlines fired. Returns their measurements, and how long
/// the firing took.
async fn while_firing(
    gateway: &ServerProcess,
    create: &LoadTarget,
    many: u64,
    due: Time,
) -> anyhow::Result<(LoadResult, Duration)> {
    let began = Instant::now() + until(due);
    let stop = Arc::new(AtomicBool::new(false));
    let look = async {
        let mut connection = HttpConnection::open(gateway.address).await?;
        let all = loop {
            if fired(&mut connection).await? >= many || began.elapsed() > PATIENCE {
                break began.elapsed();
            }
            tokio::time::sleep(LOOK).await;
        };
        stop.store(true, Ordering::Relaxed);
        anyhow::Ok(all)
    };
    let load = fire_until(create, CONNECTIONS, Arc::clone(&stop));
    tokio::try_join!(load, look)
}

/// The number of deadlines that the gateway reports as fired.
async fn fired(connection: &mut HttpConnection) -> anyhow::Result<u64> {
    connection.call(&PreparedRequest::get("/metrics", "none")).await?;
    let text = str::from_utf8(&connection.body)?;
    let name = r#"countersign_timers_fired_total{due="expire"} "#;
    let count = text.lines().find_map(|line| line.strip_prefix(name));
    count.map_or(Ok(0), |count| count.parse().context("a count"))
}

/// The number of expiry events, and of expired asks.
async fn count(data: &Path) -> anyhow::Result<(u64, u64)> {
    let store = Sqlite::open_read_only(&data.join("countersign.db"))?;
    let (mut fired, mut asks, mut position) = (0, HashSet::new(), 0);
    loop {
        let changes = store.changes(store::FeedQuery::After(position), PAGE).await?;
        let Some(last) = changes.last() else { return Ok((fired, asks.len() as u64)) };
        position = last.position;
        for change in changes {
            if matches!(&*change.what, "expired" | "failed") {
                fired += 1;
                asks.insert(change.subject);
            }
        }
    }
}

fn until(due: Time) -> Duration {
    let left = due.millis() - OsClock.now().millis();
    Duration::from_millis(u64::try_from(left).unwrap_or(0))
}

fn after(at: Time, more: Duration) -> Time {
    at.plus_seconds(more.as_secs() + 1)
}

#[expect(clippy::cast_precision_loss, reason = "thousands")]
fn whole(n: u64) -> f64 {
    n as f64
}
