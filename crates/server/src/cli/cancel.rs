//! `countersign cancel ID`

use clap::Args;
use reqwest::Method;
use serde_json::json;

use super::Exit;
use super::remote::Remote;
use super::render::Detail;
use super::show::{plain, print};

#[derive(Args)]
pub(super) struct Cancel {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// Why it is no longer needed
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

impl Cancel {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.either()?;
        let path = format!("/api/v1/asks/{}/cancel", plain(&self.id));
        let body = json!({ "reason": self.reason });
        let call = server.client.call(Method::POST, &path, Some(&body));
        print(&call.await.map_err(server.because())?, self.remote.json, Detail::Brief)?;
        Ok(Exit::Done)
    }
}
