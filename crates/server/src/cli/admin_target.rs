//! Where administration commands run: through a running server as an administrator, or on the data
//! directory of a stopped one.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use gateway::Gateway;
use gateway::clock::OsClock;
use gateway::files::FileStorage;
use gateway::installation::Installation;
use kernel::{Actor, Command, HumanId};
use reqwest::Method;
use serde_json::Value;

use super::remote::{RemoteArgs, RemoteServer};
use crate::config::{Config, DatabaseLocation, DatabaseUrl, SecretString, Settings, variable};

/// Where to do it. The environment does not decide it: only what is said on the command line means
/// the folder of a stopped server.
#[derive(Args)]
pub(super) struct TargetArgs {
    /// Change the data folder of a stopped server, instead of calling a running one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Change this database: `sqlite:FILE` of a stopped server, or `postgres://…`
    #[arg(long, value_name = "URL")]
    database: Option<DatabaseUrl>,
    /// Change the stopped server that the environment and the settings file describe
    #[arg(long)]
    offline: bool,
    /// A TOML file with settings
    #[arg(long, env = "COUNTERSIGN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) remote: RemoteArgs,
}

/// The target of an administration command.
pub(super) enum AdminTarget {
    /// A running server.
    Remote(RemoteServer),
    /// The store itself. Its lock keeps servers from starting meanwhile.
    Offline(Box<OfflineTarget>),
}

pub(super) struct OfflineTarget {
    pub(super) gateway: Gateway,
    pub(super) config: Config,
    pub(super) files: FileStorage,
}

impl TargetArgs {
    pub(super) async fn open(self) -> anyhow::Result<(AdminTarget, bool)> {
        self.open_with(Settings::default()).await
    }

    /// The same, with further settings.
    pub(super) async fn open_with(self, settings: Settings) -> anyhow::Result<(AdminTarget, bool)> {
        let json = self.remote.json;
        if !self.offline && self.data.is_none() && self.database.is_none() {
            return Ok((AdminTarget::Remote(self.remote.human().await?), json));
        }
        let Self { data, database, config, .. } = self;
        let usual = data.is_none() && database.is_none();
        let named = |name| variable(name).filter(|_| usual);
        let master_key_file = variable("COUNTERSIGN_MASTER_KEY_FILE").map(PathBuf::from);
        let master_key = variable("COUNTERSIGN_MASTER_KEY").map(SecretString::new);
        let settings = Settings {
            data: data.or_else(|| named("COUNTERSIGN_DATA").map(PathBuf::from)),
            database: database.or_else(|| named("COUNTERSIGN_DATABASE")?.parse().ok()),
            master_key: master_key.filter(|_| master_key_file.is_none()),
            master_key_file,
            ..settings
        };
        let config = settings.complete(config.as_deref())?.check()?;
        if let DatabaseLocation::Sqlite(path) = &config.location.database
            && !path.exists()
        {
            bail!("there is no database at {}", path.display());
        }
        let installation = Installation::open(&config.location, Arc::new(OsClock), false).await?;
        let gateway = Gateway::new(installation.store, installation.clock);
        let files = installation.files;
        Ok((AdminTarget::Offline(Box::new(OfflineTarget { gateway, config, files })), json))
    }
}

impl AdminTarget {
    /// Makes a change: through the server by this call, or in the store by this command.
    pub(super) async fn change(
        &self,
        method: Method,
        path: &str,
        command: impl Into<Command>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Remote(server) => {
                let _: Value = server.call(method, path).await?;
                Ok(())
            }
            Self::Offline(offline) => offline.run(command).await,
        }
    }

    /// The named person, or else the person the token belongs to.
    pub(super) async fn person_or_self(&self, human: Option<HumanId>) -> anyhow::Result<HumanId> {
        match (self, human) {
            (_, Some(human)) => Ok(human),
            (Self::Remote(server), None) => {
                let me: Value = server.get("/api/v1/me").await?;
                let id = me.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
                id.context("the server does not say who you are")
            }
            (Self::Offline(_), None) => {
                bail!("name the person with --human: without a server, no one is signed in")
            }
        }
    }
}

impl OfflineTarget {
    /// Runs a command as the operator.
    pub(super) async fn run(&self, command: impl Into<Command>) -> anyhow::Result<()> {
        self.gateway.run(Actor::System, command).await?;
        Ok(())
    }
}
