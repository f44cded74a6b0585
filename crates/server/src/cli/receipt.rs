//! `countersign receipt ID`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::Exit;
use super::output::say;
use super::remote::Remote;
use super::show::plain;

#[derive(Args)]
pub(super) struct Receipt {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// Write it to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    remote: Remote,
}

impl Receipt {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.either()?;
        let signed = server.client.receipt(&plain(&self.id)).await.map_err(server.because())?;
        if let Some(path) = &self.out {
            tokio::fs::write(path, format!("{}\n", signed.receipt))
                .await
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if self.remote.json {
            say!("{}", serde_json::to_string(&signed)?);
        } else if let Some(path) = &self.out {
            say!("Check it with `countersign verify {}`.", path.display());
        } else {
            say!("{}", signed.receipt);
        }
        Ok(Exit::Done)
    }
}
