//! `countersign erase ID`

use clap::Args;
use reqwest::Method;

use super::Exit;
use super::output::say;
use super::remote::Remote;
use super::render::Detail;
use super::show::{plain, print};

#[derive(Args)]
pub(super) struct Erase {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    #[command(flatten)]
    remote: Remote,
}

impl Erase {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human()?;
        let id = plain(&self.id);
        let path = format!("/api/v1/asks/{id}/erase");
        let call = server.client.call(Method::POST, &path, None::<&()>);
        let ask: client::Ask = call.await.map_err(server.because())?;
        if self.remote.json {
            print(&ask, true, Detail::Brief)?;
        } else {
            say!("The words of {id} are gone. That it was asked and how it ended stays on record.");
        }
        Ok(Exit::Done)
    }
}
