//! `countersign signing`: the keys receipts are signed with. Works on the data folder or the shared
//! database, beside running servers and stopped ones; those that run use the new keys at once.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use store::Clock;

use super::output::{say, table};
use super::{Exit, Stored};
use crate::clock::SystemClock;
use crate::config::Secret;
use crate::home::{self, Access};
use crate::signing::{Listed, list, revoke, rotate};
use crate::vault::Vault;
use crate::vault::shared::MasterKey;

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
    /// Encrypt the server's keys in a shared database under another master key
    Rewrap {
        /// File that holds the new master key, from now on the one to give to every node
        #[arg(long, value_name = "FILE")]
        new_master_key_file: PathBuf,
        #[command(flatten)]
        stored: Stored,
    },
}

impl Signing {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let now = SystemClock.now();
        match self.command {
            SigningCommand::List { json, stored } => {
                let keys = list(&*vault(stored, Access::Look).await?).await?;
                if json {
                    say!("{}", serde_json::to_string(&keys)?);
                } else {
                    let rows: Vec<_> = keys.iter().map(row).collect();
                    table(&["KEY", "MADE", "STATE"], &rows);
                }
            }
            SigningCommand::Rotate { stored } => {
                let (kid, from) = rotate(&*vault(stored, Access::Change).await?, now).await?;
                say!("{kid} signs from {from} on. What was signed before stays valid.");
            }
            SigningCommand::Revoke { kid, reason, stored } => {
                let next =
                    revoke(&*vault(stored, Access::Change).await?, &kid, &reason, now).await?;
                say!("{kid} is revoked: nothing it signed counts any more.");
                if let Some(next) = next {
                    say!("{next} signs from now on.");
                }
            }
            SigningCommand::Rewrap { new_master_key_file: path, stored } => {
                let text = std::fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                let next = MasterKey::read(&Secret::new(text))?;
                let vault = vault(stored, Access::Change).await?;
                let Vault::Shared(keys) = &*vault else {
                    bail!("the keys lie in {}, which no master key encrypts", vault.place())
                };
                keys.rewrap(&next).await?;
                say!("The server's keys are encrypted under the new master key.");
                say!("Give it to every node and start them again: with the old one they cannot.");
            }
        }
        Ok(Exit::Done)
    }
}

async fn vault(stored: Stored, to: Access) -> anyhow::Result<Arc<Vault>> {
    home::vault(&stored.config()?, to).await
}

fn row(key: &Listed) -> Vec<String> {
    let state = match (&key.revoked, key.retired_at) {
        (Some(revoked), _) => format!("revoked at {}: {}", revoked.at, revoked.reason),
        (None, Some(at)) => format!("retired at {at}, still trusted"),
        (None, None) => "current".to_owned(),
    };
    vec![key.kid.clone(), key.created_at.to_string(), kernel::text::reveal(&state)]
}
