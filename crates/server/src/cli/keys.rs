//! `countersign keys`: agent keys and human tokens. A secret is shown once.

use clap::{Args, Subcommand};
use client::Client;
use dialects::native::{IssueKey, IssuedKey, KeyView};
use kernel::actor::Reach;
use kernel::directory::{Holder, NewKey};
use kernel::{AgentId, Command, HumanId, KeyId};
use serde::Deserialize;

use super::Exit;
use super::admin::{Admin, Offline, Place};
use super::remote::explain;

#[derive(Args)]
pub(super) struct Keys {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// List credentials, never their secrets
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Make an agent key or a human token, and print it once
    Create {
        /// For this agent
        #[arg(long, conflicts_with = "human", required_unless_present = "human")]
        agent: Option<AgentId>,
        /// For this person
        #[arg(long)]
        human: Option<HumanId>,
        /// Let an agent key see all of its project's requests
        #[arg(long, requires = "agent")]
        project_wide: bool,
        /// What to call it
        #[arg(long, default_value = "")]
        label: String,
        #[command(flatten)]
        place: Place,
    },
    /// Revoke a credential at once
    Revoke {
        /// Its id, as listed
        id: KeyId,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Deserialize)]
struct Listed {
    keys: Vec<KeyView>,
}

impl Keys {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            KeysCommand::List { place } => {
                let (admin, json) = place.open()?;
                list(&admin, json).await?;
            }
            KeysCommand::Create { agent, human, project_wide, label, place } => {
                let (admin, json) = place.open()?;
                let reach = project_wide.then_some(Reach::Project);
                let issued = create(&admin, IssueKey { agent, reach, human, label }).await?;
                if json {
                    println!("{}", serde_json::to_string(&issued)?);
                } else {
                    println!("{}", issued.secret);
                    eprintln!("{} for {}; shown this once.", issued.key.id, issued.key.holder);
                }
            }
            KeysCommand::Revoke { id, place } => {
                let (admin, _) = place.open()?;
                revoke(&admin, id).await?;
                println!("Revoked {id}.");
            }
        }
        Ok(Exit::Done)
    }
}

async fn list(admin: &Admin, json: bool) -> anyhow::Result<()> {
    let keys = match admin {
        Admin::Remote(client) => {
            let listed: Listed = get(client, "/api/v1/keys").await?;
            listed.keys
        }
        Admin::Offline(offline) => {
            let directory = offline.gateway.directory();
            let mut keys = Vec::new();
            for key in directory.keys() {
                let used = offline.gateway.store().key_used(key.id).await?;
                keys.push(KeyView::of(key, &directory, used));
            }
            keys
        }
    };
    if json {
        println!("{}", serde_json::to_string(&keys)?);
        return Ok(());
    }
    for key in keys {
        let state = if key.revoked_at.is_some() { "revoked" } else { "live" };
        let used =
            key.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("used {at}"));
        println!("{}  {:9}  {:20}  {state:7}  {used}  {}", key.id, key.kind, key.holder, key.label);
    }
    Ok(())
}

async fn create(admin: &Admin, new: IssueKey) -> anyhow::Result<IssuedKey> {
    match admin {
        Admin::Remote(client) => {
            client.call(reqwest::Method::POST, "/api/v1/keys", Some(&new)).await.map_err(explain)
        }
        Admin::Offline(offline) => issue(offline, new).await,
    }
}

async fn issue(offline: &Offline, new: IssueKey) -> anyhow::Result<IssuedKey> {
    let (holder, prefix) = match (new.agent, new.human) {
        (Some(agent), _) => {
            (Holder::Agent { agent, reach: new.reach.unwrap_or(Reach::Agent) }, "cs_agent_")
        }
        (None, Some(human)) => (Holder::Token { human }, "cs_human_"),
        (None, None) => anyhow::bail!("give --agent or --human"),
    };
    let minted = offline.gateway.ids().mint(prefix);
    let key = NewKey { hash: minted.hash, holder, label: new.label, expires_at: None };
    offline.run(Command::IssueKey(key)).await?;
    let directory = offline.gateway.directory();
    let key = directory
        .key_by_hash(&minted.hash)
        .ok_or_else(|| anyhow::anyhow!("the key was not kept"))?;
    Ok(IssuedKey { key: KeyView::of(key, &directory, None), secret: minted.secret })
}

async fn revoke(admin: &Admin, id: KeyId) -> anyhow::Result<()> {
    match admin {
        Admin::Remote(client) => {
            let path = format!("/api/v1/keys/{id}");
            client.call(reqwest::Method::DELETE, &path, None::<&()>).await.map_err(explain)
        }
        Admin::Offline(offline) => offline.run(Command::RevokeKey(id)).await,
    }
}

async fn get<T: serde::de::DeserializeOwned>(client: &Client, path: &str) -> anyhow::Result<T> {
    client.call(reqwest::Method::GET, path, None::<&()>).await.map_err(explain)
}
