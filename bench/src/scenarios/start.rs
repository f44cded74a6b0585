//! From the start of the process to its first answer, on an empty store.

use crate::latency::Latencies;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, build_folder, scratch};

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let binary = build_folder()?.join("countersign");
    let mut starts = Latencies::new()?;
    for n in 0..scale.starts {
        let folder = folder.path().join(n.to_string());
        let served = if binary.exists() {
            ServerProcess::countersign(&binary, &folder).await?
        } else {
            ServerProcess::gateway(&folder).await?
        };
        starts.add(served.started);
    }
    let which = if binary.exists() { "the binary" } else { "the driver's own server" };
    let note =
        format!("{which}, {} starts, the slowest {:.0} ms", starts.len(), starts.percentile(100.0));
    let row = Measurement::new("start to first answer, empty store: p50", starts.p50(), "ms");
    Ok(vec![row.goal(Goal::AtMost(100.0)).note(note)])
}
