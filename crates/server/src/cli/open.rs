//! `countersign open ID`: opens the page of a request or task in the browser.

use clap::Args;
use serde_json::json;

use super::output::say;
use super::remote::RemoteArgs;
use super::requests::native_id;
use super::{Exit, browser};

#[derive(Args)]
pub(super) struct OpenArgs {
    /// The request, under any prefix (`ask_…`, `hxp_…`), or a task (`task_…`) [default: the inbox]
    id: Option<String>,
    /// Only print the address
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl OpenArgs {
    /// Needs no credential: the browser has its own session, and signs in if it has none.
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.choose()?.url;
        let path = match self.id.as_deref() {
            None => "/".to_owned(),
            Some(id) if id.starts_with("task_") => format!("/tasks/{id}"),
            Some(id) => format!("/asks/{}", native_id(id)),
        };
        let url = format!("{server}{path}");
        let opened = !self.print && !self.remote.json && browser::open(&url);
        if self.remote.json {
            say!("{}", json!({ "url": url }));
        } else {
            say!("{url}");
        }
        if !opened && !self.print && !self.remote.json {
            eprintln!("There is no browser here; open this address yourself.");
        }
        Ok(Exit::Done)
    }
}
