//! `countersign write AGENT TEXT`

use clap::Args;
use kernel::AgentId;
use reqwest::Method;
use serde_json::json;

use super::Exit;
use super::remote::Remote;
use super::render::Detail;
use super::show::print;

#[derive(Args)]
pub(super) struct Write {
    /// To whom: an agent that takes conversations
    agent: AgentId,
    /// What to say
    text: String,
    #[command(flatten)]
    remote: Remote,
}

impl Write {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human()?;
        let path = format!("/api/v1/agents/{}/conversations", self.agent);
        let body = json!({ "text": self.text });
        let call = server.client.call(Method::POST, &path, Some(&body));
        print(&call.await.map_err(server.because())?, self.remote.json, Detail::Whole)?;
        Ok(Exit::Done)
    }
}
