//! Where administration commands run: through a running server as an administrator, or on the data
//! directory of a stopped one.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use gateway::Gateway;
use gateway::clock::SystemClock;
use gateway::files::Files;
use gateway::installation::Installation;
use kernel::{Actor, Command, HumanId};
use reqwest::Method;
use serde_json::Value;

use super::remote::{Remote, Server};
use crate::config::{Config, Database, DatabaseUrl, Secret, Settings, variable};

/// Where to do it. The environment does not decide it: only what is said on the command line means
/// the folder of a stopped server.
#[derive(Args)]
pub(super) struct Place {
    /// Work on this data folder, of a stopped server, instead of talking to a running one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Work on this database: `sqlite:FILE` of a stopped server, or `postgres://…`
    #[arg(long, value_name = "URL")]
    database: Option<DatabaseUrl>,
    /// Work on the stopped server that the environment and the settings file describe
    #[arg(long)]
    offline: bool,
    /// A TOML file with settings
    #[arg(long, env = "COUNTERSIGN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) remote: Remote,
}

/// The target of an administration command.
pub(super) enum Admin {
    /// A running server.
    Remote(Server),
    /// The store itself. Its lock keeps servers from starting meanwhile.
    Offline(Box<Offline>),
}

pub(super) struct Offline {
    pub(super) gateway: Gateway,
    pub(super) config: Config,
    pub(super) files: Files,
}

impl Place {
    pub(super) async fn open(self) -> anyhow::Result<(Admin, bool)> {
        self.open_with(Settings::default()).await
    }

    /// The same, with further settings.
    pub(super) async fn open_with(self, settings: Settings) -> anyhow::Result<(Admin, bool)> {
        let json = self.remote.json;
        if !self.offline && self.data.is_none() && self.database.is_none() {
            return Ok((Admin::Remote(self.remote.human()?), json));
        }
        let Self { data, database, config, .. } = self;
        let usual = data.is_none() && database.is_none();
        let named = |name| variable(name).filter(|_| usual);
        let master_key_file = variable("COUNTERSIGN_MASTER_KEY_FILE").map(PathBuf::from);
        let master_key = variable("COUNTERSIGN_MASTER_KEY").map(Secret::new);
        let settings = Settings {
            data: data.or_else(|| named("COUNTERSIGN_DATA").map(PathBuf::from)),
            database: database.or_else(|| named("COUNTERSIGN_DATABASE")?.parse().ok()),
            master_key: master_key.filter(|_| master_key_file.is_none()),
            master_key_file,
            ..settings
        };
        let config = settings.complete(config.as_deref())?.check()?;
        if let Database::Sqlite(path) = &config.location.database
            && !path.exists()
        {
            bail!("there is no database at {}", path.display());
        }
        let installation =
            Installation::open(&config.location, Arc::new(SystemClock), false).await?;
        let gateway = Gateway::new(installation.store, installation.clock);
        let files = installation.files;
        Ok((Admin::Offline(Box::new(Offline { gateway, config, files })), json))
    }
}

impl Admin {
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
    pub(super) async fn whose(&self, human: Option<HumanId>) -> anyhow::Result<HumanId> {
        match (self, human) {
            (_, Some(human)) => Ok(human),
            (Self::Remote(server), None) => {
                let me: Value = server.get("/api/v1/me").await?;
                let id = me.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
                id.context("the server does not say who you are")
            }
            (Self::Offline(_), None) => {
                bail!("say who with --human: nobody is signed in on a data folder")
            }
        }
    }
}

impl Offline {
    /// Runs a command as the operator.
    pub(super) async fn run(&self, command: impl Into<Command>) -> anyhow::Result<()> {
        self.gateway.run(Actor::System, command).await?;
        Ok(())
    }
}
