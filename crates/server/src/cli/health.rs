//! `countersign health`: whether a server is ready, for those who can only run a command: a container
//! without a shell, a script that waits for a start.

use clap::Args;

use super::Exit;
use super::output::say;
use super::trust::fetch;

#[derive(Args)]
#[command(after_help = "Exits with 0 if it is ready, 1 if not.")]
pub(super) struct Health {
    /// The server's address
    #[arg(
        long,
        env = "COUNTERSIGN_URL",
        default_value = "http://localhost:3402",
        value_name = "URL"
    )]
    url: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Health {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let url = self.url.trim_end_matches('/');
        let answer = fetch(&format!("{url}/readyz")).await;
        let why = answer.as_ref().err().map(|error| format!("{error:#}"));
        if self.json {
            say!("{}", serde_json::json!({ "ready": why.is_none(), "why": why }));
        } else if let Some(why) = &why {
            eprintln!("countersign: not ready: {why}");
        } else {
            say!("{url} is ready.");
        }
        Ok(if why.is_none() { Exit::Done } else { Exit::Denied })
    }
}
