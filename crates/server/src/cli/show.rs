//! `countersign show ID`

use clap::Args;

use super::Exit;
use super::output::say;
use super::remote::Remote;
use super::render::{self, Detail};

#[derive(Args)]
pub(super) struct Show {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    #[command(flatten)]
    remote: Remote,
}

impl Show {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.either()?;
        let ask = server.client.show(&plain(&self.id)).await.map_err(server.because())?;
        print(&ask, self.remote.json, Detail::Whole)?;
        Ok(Exit::Done)
    }
}

/// The id our own API knows, whichever dialect's prefix it came with.
pub(super) fn plain(id: &str) -> String {
    match id.split_once('_') {
        Some((_, ulid)) => format!("ask_{ulid}"),
        None => format!("ask_{id}"),
    }
}

/// Prints a request for people or for programs.
pub(super) fn print(ask: &client::Ask, json: bool, detail: Detail) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(ask)?);
    } else {
        render::ask(ask, detail);
    }
    Ok(())
}

/// The exit code a finished request stands for.
pub(super) fn outcome(ask: &client::Ask) -> Exit {
    match ask.state.as_str() {
        "expired" | "failed" => Exit::Expired,
        "cancelled" => Exit::Cancelled,
        "completed" => match ask.verdict() {
            Some("rejected" | "declined" | "changes_requested" | "abort") => Exit::Denied,
            _ => Exit::Done,
        },
        _ => Exit::Done,
    }
}
