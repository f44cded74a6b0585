//! `countersign signing`: the keys that sign receipts. It works on the data directory or the shared
//! database, whether servers run or not; running servers use new keys at once.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use gateway::clock::OsClock;
use gateway::installation::{self, KeyAccess};
use gateway::signing::{DestroyedBy, SigningKeySummary, list, revoke, rotate};
use gateway::vault::Vault;
use gateway::vault::shared::MasterKey;
use reqwest::Method;
use store::Clock;

use super::erase::ConfirmArgs;
use super::output::{report_table, say};
use super::remote::RemoteArgs;
use super::{Exit, StoredDataArgs};
use crate::config::SecretString;
use crate::http::api::signing_keys::Destruction;

#[derive(Args)]
pub(super) struct SigningArgs {
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
        stored: StoredDataArgs,
    },
    /// Make a new key; what the old one signed stays valid
    Rotate {
        #[command(flatten)]
        stored: StoredDataArgs,
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
        stored: StoredDataArgs,
    },
    /// Destroy the private half of a retired key, after storing the signatures of its receipts
    ///
    /// Talks to a running server as an administrator. Receipts keep their bytes and stay valid; the
    /// public key stays published. If it is interrupted, run it again.
    Destroy {
        /// The name of the key, as listed
        #[arg(allow_hyphen_values = true)]
        kid: String,
        #[command(flatten)]
        sure: ConfirmArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Encrypt the server's keys under another master key
    Rewrap {
        /// File that holds the new master key, from now on the one to give to every server
        #[arg(long, value_name = "FILE")]
        new_master_key_file: PathBuf,
        #[command(flatten)]
        stored: StoredDataArgs,
    },
}

impl SigningArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let now = OsClock.now();
        match self.command {
            SigningCommand::List { json, stored } => {
                let keys = list(&*vault(stored, KeyAccess::Look).await?).await?;
                report_table(json, &keys, &["KEY", "MADE", "STATE"], row)?;
            }
            SigningCommand::Rotate { stored } => {
                let (kid, from) = rotate(&*vault(stored, KeyAccess::Change).await?, now).await?;
                say!("{kid} signs from {from} on. What was signed before stays valid.");
            }
            SigningCommand::Revoke { kid, reason, stored } => {
                let next =
                    revoke(&*vault(stored, KeyAccess::Change).await?, &kid, &reason, now).await?;
                say!("{kid} is revoked: nothing it signed counts any more.");
                if let Some(next) = next {
                    say!("{next} signs from now on.");
                }
            }
            SigningCommand::Destroy { kid, sure, remote } => {
                return destroy(&kid, &sure, &remote).await;
            }
            SigningCommand::Rewrap { new_master_key_file: path, stored } => {
                let text = std::fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                let next = MasterKey::read(&SecretString::new(text))?;
                vault(stored, KeyAccess::Change).await?.rewrap(&next).await?;
                say!("The server's keys are encrypted under the new master key.");
                say!("Give it to every server and start them again: with the old one they cannot.");
            }
        }
        Ok(Exit::Done)
    }
}

async fn destroy(kid: &str, sure: &ConfirmArgs, remote: &RemoteArgs) -> anyhow::Result<Exit> {
    let what = format!("the private half of {kid}");
    if !sure.confirm_action("Destroying", "destroy", &what)? {
        say!("Nothing was destroyed.");
        return Ok(Exit::Denied);
    }
    let server = remote.human().await?;
    let path = format!("/api/v1/signing-keys/{kid}/destroy");
    let done = loop {
        let done: Destruction = server.call(Method::POST, &path).await?;
        if done.destroyed {
            break done;
        }
        if !remote.json {
            eprintln!("{} requests examined, {} signatures stored", done.examined, done.stored);
        }
    };
    if remote.json {
        say!("{}", serde_json::to_string(&done)?);
    } else if done.examined == 0 {
        say!("The private half of {kid} is gone already.");
    } else {
        say!("The private half of {kid} is destroyed; {} signatures were stored.", done.stored);
        say!("Its receipts keep their bytes and stay valid. Old backups may still hold the key.");
    }
    Ok(Exit::Done)
}

async fn vault(stored: StoredDataArgs, to: KeyAccess) -> anyhow::Result<Arc<Vault>> {
    installation::vault(&stored.config()?.location, to).await
}

fn row(key: &SigningKeySummary) -> Vec<String> {
    let state = match (&key.revoked, &key.destroyed, key.retired_at) {
        (Some(revoked), _, _) => format!("revoked at {}: {}", revoked.at, revoked.reason),
        (None, Some(DestroyedBy { at, by }), _) => {
            format!("private half destroyed at {at} by {by}, still trusted")
        }
        (None, None, Some(at)) => format!("retired at {at}, still trusted"),
        (None, None, None) => "current".to_owned(),
    };
    vec![key.kid.clone(), key.created_at.to_string(), kernel::text::reveal(&state)]
}
