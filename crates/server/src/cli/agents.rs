//! `countersign agents`: the programs that ask people.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use client::ClientError;
use dialects::native::{AgentBody, AgentView};
use kernel::{AgentId, DirectoryCommand, HumanId, ProjectId};
use reqwest::Method;

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::directory_change::save;
use super::output::{report, report_object, report_table};
use super::write::WriteArgs;

#[derive(Args)]
pub(super) struct AgentsArgs {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Subcommand)]
enum AgentsCommand {
    /// List agents
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Show an agent
    Show {
        /// The agent
        id: AgentId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add an agent; create its key with `countersign keys create --agent ID`
    Add {
        /// The id of the new agent
        id: AgentId,
        /// Its project, which never changes
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The person who is responsible for it
        #[arg(long, value_name = "ID")]
        owner: HumanId,
        /// Whether people may start conversations with it [default: false]
        #[arg(long, value_name = "BOOL")]
        conversations: Option<bool>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Change an agent: only the fields you name
    Set {
        /// The agent
        id: AgentId,
        #[command(flatten)]
        change: AgentChangeArgs,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Start a conversation with an agent
    Write(WriteArgs),
}

/// Which fields of an agent to change.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct AgentChangeArgs {
    /// The person who is responsible for it
    #[arg(long, value_name = "ID")]
    owner: Option<HumanId>,
    /// Whether people may start conversations with it
    #[arg(long, value_name = "BOOL")]
    conversations: Option<bool>,
}

impl AgentsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            AgentsCommand::List { place } => {
                let (admin, json) = place.open().await?;
                let agents = all(&admin).await?;
                report_table(json, &agents, &["AGENT", "PROJECT", "OWNER", "CONVERSATIONS"], row)?;
            }
            AgentsCommand::Show { id, place } => {
                let (admin, json) = place.open().await?;
                report_object(json, &existing(&admin, &id).await?)?;
            }
            AgentsCommand::Add { id, project, owner, conversations, place } => {
                let (admin, json) = place.open().await?;
                if find(&admin, &id).await?.is_some() {
                    bail!(
                        "the agent {id} exists already, and nothing was changed; change it with \
                         `countersign agents set {id}`"
                    );
                }
                let body = AgentBody { id: Some(id), project, owner, conversations };
                store(&admin, json, body).await?;
            }
            AgentsCommand::Set { id, change, place } => {
                let (admin, json) = place.open().await?;
                let AgentView { id, project, owner, conversations } = existing(&admin, &id).await?;
                let owner = change.owner.unwrap_or(owner);
                let conversations = Some(change.conversations.unwrap_or(conversations));
                let body = AgentBody { id: Some(id), project, owner, conversations };
                store(&admin, json, body).await?;
            }
            AgentsCommand::Write(write) => return write.run().await,
        }
        Ok(Exit::Done)
    }
}

/// All agents.
pub(super) async fn all(admin: &AdminTarget) -> anyhow::Result<Vec<AgentView>> {
    match admin {
        AdminTarget::Remote(server) => server.all("agents").await,
        AdminTarget::Offline(offline) => {
            Ok(offline.gateway.directory().agents().map(AgentView::from).collect())
        }
    }
}

async fn existing(admin: &AdminTarget, id: &AgentId) -> anyhow::Result<AgentView> {
    let found = find(admin, id).await?;
    found.with_context(|| {
        format!("there is no agent {id}; `countersign agents list` shows all agents")
    })
}

async fn find(admin: &AdminTarget, id: &AgentId) -> anyhow::Result<Option<AgentView>> {
    match admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/agents/{id}");
            match server.client.call(Method::GET, &path, None::<&()>).await {
                Ok(agent) => Ok(Some(agent)),
                Err(ClientError::Refused { status: 404, .. }) => Ok(None),
                Err(error) => Err(server.with_advice()(error)),
            }
        }
        AdminTarget::Offline(offline) => {
            Ok(offline.gateway.directory().agent(id).map(AgentView::from))
        }
    }
}

/// Creates or replaces an agent.
async fn store(admin: &AdminTarget, json: bool, body: AgentBody) -> anyhow::Result<()> {
    let id = body.id.clone().context("an agent has an id")?;
    match admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/agents/{id}");
            let _: AgentView = server.send(Method::PUT, &path, &body).await?;
        }
        AdminTarget::Offline(offline) => {
            let command = DirectoryCommand::SaveAgent(body.clone().named(id));
            offline.run(command).await?;
        }
    }
    report(json, &body, "Saved.")
}

/// `countersign people add-agent` of earlier versions: adds an agent, or changes its owner.
pub(super) async fn add_or_change(
    place: TargetArgs,
    id: AgentId,
    project: ProjectId,
    owner: HumanId,
    conversations: Option<bool>,
) -> anyhow::Result<()> {
    let body = AgentBody { id: Some(id.clone()), project, owner, conversations };
    let path = format!("/api/v1/agents/{id}");
    let command = DirectoryCommand::SaveAgent(body.clone().named(id));
    save(place, &path, &body, command).await
}

fn row(agent: &AgentView) -> Vec<String> {
    let conversations = if agent.conversations { "yes" } else { "no" };
    vec![
        agent.id.to_string(),
        agent.project.to_string(),
        agent.owner.to_string(),
        conversations.to_owned(),
    ]
}
