//! `countersign revoke ID --reason TEXT`

use clap::Args;
use reqwest::Method;
use serde_json::json;

use super::Exit;
use super::output::say;
use super::remote::Remote;
use super::render::Detail;
use super::show::{plain, print};

#[derive(Args)]
pub(super) struct Revoke {
    /// The request, under any prefix: `ask_…`, `hxp_…`, `rcpt_…`
    id: String,
    /// Why its receipt no longer counts; anybody who checks it is told
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    remote: Remote,
}

impl Revoke {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human()?;
        let id = plain(&self.id);
        let path = format!("/api/v1/asks/{id}/revoke");
        let body = json!({ "reason": self.reason });
        let call = server.client.call(Method::POST, &path, Some(&body));
        let ask: client::Ask = call.await.map_err(server.because())?;
        if self.remote.json {
            print(&ask, true, Detail::Brief)?;
        } else {
            let reason = ask.revoked.and_then(|revoked| revoked.reason).unwrap_or_default();
            say!("The receipt of {id} no longer counts: {reason}");
            say!("What happened stays on the record.");
        }
        Ok(Exit::Done)
    }
}
