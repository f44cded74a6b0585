//! `countersign wait ID`: exits 0 approved, 1 denied, 2 expired, 3 cancelled.

use std::time::Duration;

use anyhow::bail;
use clap::Args;

use super::Exit;
use super::remote::Remote;
use super::render::Detail;
use super::show::{outcome, plain, print};

#[derive(Args)]
#[command(after_help = super::OUTCOMES)]
pub(super) struct Wait {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    up_to: u64,
    #[command(flatten)]
    remote: Remote,
}

impl Wait {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.either()?;
        let id = plain(&self.id);
        let mut ask = server.client.show(&id).await.map_err(server.because())?;
        if !ask.is_over() {
            eprintln!("Waiting for an answer to {id}…");
            let up_to = Duration::from_secs(self.up_to);
            ask = server.client.wait(&id, up_to).await.map_err(server.because())?;
        }
        if !ask.is_over() {
            bail!("{id} is still {} after {} seconds", ask.state, self.up_to);
        }
        print(&ask, self.remote.json, Detail::Brief)?;
        Ok(outcome(&ask))
    }
}
