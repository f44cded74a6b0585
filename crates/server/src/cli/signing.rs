//! `countersign signing`: the keys receipts are signed with. Works on the data folder, beside a
//! running server and on a stopped one; a server that runs uses the new keys at once.

use anyhow::bail;
use clap::{Args, Subcommand};
use store::Clock;

use super::output::{say, table};
use super::{Exit, Stored};
use crate::clock::SystemClock;
use crate::config::{Config, Database};
use crate::signing::{Listed, list, revoke, rotate};

#[derive(Args)]
pub(super) struct Signing {
    #[command(subcommand)]
    command: SigningCommand,
}

#[derive(Subcommand)]
enum SigningCommand {
    /// List the keys, never their secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        stored: Stored,
    },
    /// Make a new key; what the old one signed stays valid
    Rotate {
        #[command(flatten)]
        stored: Stored,
    },
    /// Call a key back: nothing it signed counts any more
    Revoke {
        /// The name of the key, as listed
        #[arg(allow_hyphen_values = true)]
        kid: String,
        /// Why; published with the revocations
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        stored: Stored,
    },
}

impl Signing {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let now = SystemClock.now();
        match self.command {
            SigningCommand::List { json, stored } => {
                let keys = list(&folder(stored)?.data)?;
                if json {
                    say!("{}", serde_json::to_string(&keys)?);
                } else {
                    let rows: Vec<_> = keys.iter().map(row).collect();
                    table(&["KEY", "MADE", "STATE"], &rows);
                }
            }
            SigningCommand::Rotate { stored } => {
                let (kid, from) = rotate(&folder(stored)?.data, now)?;
                say!("{kid} signs from {from} on. What was signed before stays valid.");
            }
            SigningCommand::Revoke { kid, reason, stored } => {
                let next = revoke(&folder(stored)?.data, &kid, &reason, now)?;
                say!("{kid} is revoked: nothing it signed counts any more.");
                if let Some(next) = next {
                    say!("{next} signs from now on.");
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn folder(stored: Stored) -> anyhow::Result<Config> {
    let config = stored.config()?;
    if matches!(config.database, Database::Memory) {
        bail!("the database is in memory, and so are its signing keys");
    }
    Ok(config)
}

fn row(key: &Listed) -> Vec<String> {
    let state = match (&key.revoked, key.retired_at) {
        (Some(revoked), _) => format!("revoked at {}: {}", revoked.at, revoked.reason),
        (None, Some(at)) => format!("retired at {at}, still trusted"),
        (None, None) => "current".to_owned(),
    };
    vec![key.kid.clone(), key.created_at.to_string(), kernel::text::reveal(&state)]
}
