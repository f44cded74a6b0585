//! Idle waiting agents: the memory that each costs the gateway, over plain HTTP.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::waiting::WaitMode;
use super::{AT_ONCE, REQUEST_ID, create_at, create_many, create_shot};
use crate::http_client::HttpConnection;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, files_allowed, scratch};

/// The open files of this process and the gateway besides the connections.
const OTHER_FILES: usize = 200;
/// The connections per loopback address, well below its number of ports.
const PER_SOURCE: usize = 5_000;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let allowed = files_allowed()?.saturating_sub(OTHER_FILES);
    let many = scale.idle.min(allowed);
    let ids = asks(&folder.path().join("gateway"), many).await?;
    let mut rows = Vec::new();
    for way in WaitMode::ALL {
        let goal = if way == WaitMode::WebSocket { 16.0 } else { 24.0 };
        let what = format!("{} idle agents, {}: memory each", scale.idle, way.name());
        // A process that has not served the creates, and therefore has no spare memory.
        let gateway = ServerProcess::gateway(&folder.path().join("gateway")).await?;
        let id = create_at(gateway.address).await?;
        if !way.is_there(gateway.address, &id).await? {
            rows.push(Measurement::missing(what, "the server does not have it yet"));
            continue;
        }
        let each = memory_each(&gateway, way, &ids, scale.calm).await?;
        let mut note = format!("{:.0} MiB in all", gateway.rss()? / 1024.0);
        if many < scale.idle {
            note = format!("{note}; only {many} connections: this system allows no more files");
        }
        rows.push(Measurement::new(what, each, "KiB").goal(Goal::AtMost(goal)).note(note));
    }
    Ok(rows)
}

/// Creates one ask for each agent.
async fn asks(folder: &Path, many: usize) -> anyhow::Result<Vec<String>> {
    let gateway = ServerProcess::gateway(folder).await?;
    create_many(gateway.address, many, &create_shot(), REQUEST_ID).await
}

/// The growth of the gateway per connection, in KiB.
#[expect(clippy::cast_precision_loss, reason = "thousands")]
async fn memory_each(
    gateway: &ServerProcess,
    way: WaitMode,
    ids: &[String],
    calm: Duration,
) -> anyhow::Result<f64> {
    tokio::time::sleep(calm).await;
    let before = gateway.rss()?;
    let waiting = connect(gateway.address, way, ids).await?;
    tokio::time::sleep(calm).await;
    let after = gateway.rss()?;
    let quiet = waiting.iter().filter(|connection| connection.is_quiet()).count();
    ensure!(quiet == ids.len(), "only {quiet} of {} still wait", ids.len());
    Ok((after - before) / ids.len() as f64)
}

async fn connect(
    address: SocketAddr,
    way: WaitMode,
    ids: &[String],
) -> anyhow::Result<Vec<HttpConnection>> {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut connecting = JoinSet::new();
    for (n, id) in ids.iter().enumerate() {
        let (room, id) = (Arc::clone(&room), id.clone());
        let source = u8::try_from(1 + n / PER_SOURCE)?;
        connecting.spawn(async move {
            let _turn = room.acquire().await?;
            let mut connection = HttpConnection::open_from(source, address).await?;
            way.wait(&mut connection, &id).await?;
            anyhow::Ok(connection)
        });
    }
    let mut waiting = Vec::with_capacity(ids.len());
    while let Some(connection) = connecting.join_next().await {
        waiting.push(connection??);
    }
    Ok(waiting)
}
