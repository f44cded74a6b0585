//! `countersign write AGENT TEXT`, `countersign write AGENT --address`

use clap::Args;
use kernel::AgentId;
use reqwest::Method;
use serde_json::{Value, json};

use super::Exit;
use super::output::say;
use super::remote::{RemoteArgs, RemoteServer};
use super::render::DetailLevel;
use super::requests::print;

#[derive(Args)]
pub(super) struct WriteArgs {
    /// The agent; it must accept conversations
    agent: AgentId,
    /// The message
    #[arg(required_unless_present = "address")]
    text: Option<String>,
    /// Only show the email address of the agent
    #[arg(long, conflicts_with = "text")]
    address: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl WriteArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human().await?;
        let Some(text) = self.text else {
            return address(&server, &self.agent, self.remote.json).await;
        };
        let path = format!("/api/v1/agents/{}/conversations", self.agent);
        let body = json!({ "text": text });
        let call = server.client.call(Method::POST, &path, Some(&body));
        print(&call.await.map_err(server.with_advice())?, self.remote.json, DetailLevel::Whole)?;
        Ok(Exit::Done)
    }
}

async fn address(server: &RemoteServer, agent: &AgentId, json: bool) -> anyhow::Result<Exit> {
    let path = format!("/api/v1/agents/{agent}/address");
    let found: Value = server.get(&path).await?;
    match found.get("email").and_then(Value::as_str) {
        _ if json => say!("{found}"),
        Some(email) => say!("{email}"),
        None => anyhow::bail!("this server receives no email: mail_replies is not set"),
    }
    Ok(Exit::Done)
}
