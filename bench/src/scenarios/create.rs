//! Durable creates over HTTP, including audit log, lists and outbox, compared with
//! the durable baseline.

use super::create_shot;
use crate::gateway::{AGENT, ASK};
use crate::load::in_turns;
use crate::report::{Goal, Row};
use crate::scale::Scale;
use crate::served::{Served, scratch};
use crate::wire::Shot;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Row>> {
    let folder = scratch()?;
    let mut rows = Vec::new();
    for connections in [32, 256] {
        // A new store each time, so that neither is affected by earlier data.
        let at = |role: &str| folder.path().join(format!("{role}-{connections}"));
        let gateway = Served::gateway(&at("gateway")).await?;
        let baseline = Served::start("baseline", &at("baseline")).await?;
        let ours = gateway.target(create_shot());
        let bare = baseline.target(Shot::post("/requests", AGENT, ASK));
        let (ours, bare) = in_turns(scale, connections, &ours, &bare).await?;
        let note = format!("{}; bare {}", ours.words(), bare.words());
        let row = Row::new(format!("durable create, {connections} connections"), ours.rate(), "/s");
        rows.push(row.against(bare.rate()).goal(Goal::AtLeast(0.60)).note(note));
    }
    Ok(rows)
}
