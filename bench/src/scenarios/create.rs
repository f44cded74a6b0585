//! Durable creates over HTTP, including audit log, lists and deadline, compared with
//! the durable baseline.

use super::create_shot;
use crate::gateway::{AGENT, ASK};
use crate::http_client::PreparedRequest;
use crate::load::in_turns;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let mut rows = Vec::new();
    for connections in [32, 256] {
        // A new store each time, so that neither is affected by earlier data.
        let at = |role: &str| folder.path().join(format!("{role}-{connections}"));
        let gateway = ServerProcess::gateway(&at("gateway")).await?;
        let baseline = ServerProcess::start("baseline", &at("baseline")).await?;
        let ours = gateway.target(create_shot());
        let bare = baseline.target(PreparedRequest::post("/requests", AGENT, ASK));
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
        rows.push(if connections == 32 { processor.goal(Goal::AtMost(3.3)) } else { processor });
    }
    Ok(rows)
}
