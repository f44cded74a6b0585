//! Managing who there is: through a running server as an administrator, or on the data folder of a
//! stopped one.

use std::sync::Arc;

use clap::Args;
use client::Client;
use kernel::{Actor, Command};

use super::Local;
use super::remote::Remote;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::gateway::Gateway;
use crate::serve::open_store;

/// Where to do it.
#[derive(Args)]
pub(super) struct Place {
    /// Work on the data folder of a stopped server instead of talking to a running one
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    local: Local,
    #[command(flatten)]
    pub(super) remote: Remote,
}

/// Where it is done.
pub(super) enum Admin {
    /// Through a server.
    Remote(Client),
    /// On the store itself; servers are kept out meanwhile.
    Offline(Box<Offline>),
}

pub(super) struct Offline {
    pub(super) gateway: Gateway,
    pub(super) config: Config,
}

impl Place {
    /// Opens it. Naming a data folder or a database means the stopped server that used it.
    pub(super) fn open(self) -> anyhow::Result<(Admin, bool)> {
        let json = self.remote.json;
        let named = self.local.settings.data.is_some() || self.local.settings.database.is_some();
        if !self.offline && !named {
            return Ok((Admin::Remote(self.remote.human()?), json));
        }
        let config = self.local.config()?;
        let clock = Arc::new(SystemClock);
        let store = open_store(&config, clock.clone())?;
        let gateway = Gateway::new(store, clock);
        Ok((Admin::Offline(Box::new(Offline { gateway, config })), json))
    }
}

impl Offline {
    /// Does something as the operator.
    pub(super) async fn run(&self, command: Command) -> anyhow::Result<()> {
        self.gateway.run(Actor::System, command).await?;
        Ok(())
    }
}
