//! `countersign wait ID`: exits 0 approved, 1 denied, 2 expired, 3 cancelled.

use std::time::Duration;

use anyhow::bail;
use clap::Args;

use super::Exit;
use super::remote::{Remote, explain};
use super::show::{outcome, plain, print_ask};

#[derive(Args)]
pub(super) struct Wait {
    /// The request
    id: String,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    up_to: u64,
    #[command(flatten)]
    remote: Remote,
}

impl Wait {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let client = self.remote.either()?;
        let up_to = Duration::from_secs(self.up_to);
        let ask = client.wait(&plain(&self.id), up_to).await.map_err(explain)?;
        if !ask.is_over() {
            bail!("{} is still {} after {} seconds", ask.id, ask.state, self.up_to);
        }
        print_ask(&ask, self.remote.json)?;
        Ok(outcome(&ask))
    }
}
