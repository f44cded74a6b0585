//! `countersign health`: checks whether a server is ready, for callers that can only run a command:
//! a container without a shell, a script that waits for a start.

use clap::Args;

use super::Exit;
use super::output::{complain, say};
use super::remote::Remote;
use super::trust::fetch;

#[derive(Args)]
#[command(after_help = "Exits with 0 if it is ready, 1 if not.")]
pub(super) struct Health {
    #[command(flatten)]
    remote: Remote,
}

impl Health {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let url = self.remote.address();
        let answer = fetch(&format!("{url}/readyz")).await;
        let why = answer.as_ref().err().map(|error| format!("{error:#}"));
        if self.remote.json {
            say!("{}", serde_json::json!({ "ready": why.is_none(), "why": why }));
        } else if let Some(why) = &why {
            complain!("countersign: not ready: {why}");
        } else {
            say!("{url} is ready.");
        }
        Ok(if why.is_none() { Exit::Done } else { Exit::Denied })
    }
}
