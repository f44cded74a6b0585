//! Polls of one ask, compared with axum that answers a fixed JSON of the same size.

use super::{create_at, poll_shot};
use crate::gateway::AGENT;
use crate::http_client::PreparedRequest;
use crate::load::in_turns;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

const CONNECTIONS: usize = 32;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let gateway = ServerProcess::gateway(&folder.path().join("gateway")).await?;
    let baseline = ServerProcess::start("baseline", &folder.path().join("baseline")).await?;
    let id = create_at(gateway.address).await?;
    let ours = gateway.target(poll_shot(&id));
    let bare = baseline.target(PreparedRequest::get("/fixed", AGENT));
    let (ours, bare) = in_turns(scale, CONNECTIONS, &ours, &bare).await?;
    let note = format!("{}; bare {}", ours.words(), bare.words());
    let row =
        Measurement::new(format!("poll of one ask, {CONNECTIONS} connections"), ours.rate(), "/s");
    Ok(vec![row.against(bare.rate()).goal(Goal::AtLeast(0.50)).note(note)])
}
