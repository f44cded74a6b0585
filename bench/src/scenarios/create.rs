//! Durable creates over HTTP, including audit log, lists and deadline, compared with
//! the durable baseline.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::create_shot;
use crate::gateway::{AGENT, ASK};
use crate::http_client::PreparedRequest;
use crate::load::in_turns;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, processor_time, scratch};

/// How long the server may take to finish its background work.
const PATIENCE: Duration = Duration::from_mins(3);
/// Background work is over when the process used next to no processor time for this long.
const CALM: Duration = Duration::from_secs(3);

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let mut rows = Vec::new();
    for connections in [32, 256] {
        // A new store each time, so that neither is affected by earlier data.
        let at = |role: &str| folder.path().join(format!("{role}-{connections}"));
        let gateway = ServerProcess::gateway(&at("gateway")).await?;
        let baseline = ServerProcess::start("baseline", &at("baseline")).await?;
        let rows_before = stored_rows(&at("gateway"))?;
        let ours = gateway.target(create_shot());
        let used_before = processor_time(ours.process)?;
        let bare = baseline.target(PreparedRequest::post("/requests", AGENT, ASK));
        let process = ours.process;
        let (ours, bare) = in_turns(scale, connections, &ours, &bare).await?;
        let note = format!("{}; bare {}", ours.words(), bare.words());
        let rate = Measurement::new(
            format!("durable create, {connections} connections"),
            ours.rate(),
            "/s",
        );
        rows.push(rate.against(bare.rate()).note(note));
        let processor = Measurement::new("… processor time of one", ours.processor_micros(), "µs");
        let processor = processor.against(bare.processor_micros());
        // The goal is about 32 connections. With more, more requests share a commit.
        if connections != 32 {
            rows.push(processor);
            continue;
        }
        rows.push(processor.goal(Goal::AtMost(3.3)));
        let used = calm(process).await?.saturating_sub(used_before);
        let micros = used.as_secs_f64() * 1e6 / ours.all_answers();
        let what = "… with the search index and the counts of insights, which follow later";
        rows.push(Measurement::new(what, micros, "µs").against(bare.processor_micros()));
        let rows_after = stored_rows(&at("gateway"))?;
        let stored = (rows_after - rows_before) / ours.all_answers();
        let what = "… rows of one in the database, deadlines included";
        let note = "counters of quotas are updated as well, once for each commit";
        rows.push(Measurement::new(what, stored, "").goal(Goal::AtMost(8.01)).note(note));
    }
    Ok(rows)
}

/// The processor time of a process, once its background work is over.
async fn calm(process: u32) -> anyhow::Result<Duration> {
    let (begun, mut since) = (Instant::now(), Instant::now());
    let mut used = processor_time(process)?;
    while since.elapsed() < CALM && begun.elapsed() < PATIENCE {
        tokio::time::sleep(CALM / 10).await;
        let now = processor_time(process)?;
        if now.saturating_sub(used) > CALM / 100 {
            since = Instant::now();
        }
        used = now;
    }
    Ok(used)
}

/// The number of rows in all tables of a store.
#[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
fn stored_rows(data: &Path) -> anyhow::Result<f64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let conn = Connection::open_with_flags(data.join("countersign.db"), flags)?;
    let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let names: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut rows = 0_i64;
    for name in names {
        rows += conn.query_row(&format!("SELECT count(*) FROM \"{name}\""), [], |row| {
            row.get::<_, i64>(0)
        })?;
    }
    Ok(rows as f64)
}
