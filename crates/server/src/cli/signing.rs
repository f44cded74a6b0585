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
use serde_json::json;
use store::Clock;

use super::erase::ConfirmArgs;
use super::output::{report, report_table, say};
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
    /// List the keys, without their secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        stored: StoredDataArgs,
    },
    /// Create a new key; receipts signed by the old one stay valid
    Rotate {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        stored: StoredDataArgs,
    },
    /// Revoke a key: receipts that it signed are no longer valid
    Revoke {
        /// The id of the key, as `signing list` shows it
        #[arg(allow_hyphen_values = true)]
        kid: String,
        /// Why the key is revoked; published with the revocations
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        stored: StoredDataArgs,
    },
    /// Destroy the private half of a retired key, after storing the signatures of its receipts
    ///
    /// Talks to a running server as an administrator. Receipts keep their bytes and stay valid; the
    /// public key stays published. If it is interrupted, run it again.
    Destroy {
        /// The id of the key, as `signing list` shows it
        #[arg(allow_hyphen_values = true)]
        kid: String,
        #[command(flatten)]
        sure: ConfirmArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Encrypt the server's keys under another master key
    Rewrap {
        /// File that holds the new master key; give it to every server afterwards
        #[arg(long, value_name = "FILE")]
        new_master_key_file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
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
                report_table(json, &keys, &["KEY", "CREATED", "STATE"], row)?;
            }
            SigningCommand::Rotate { json, stored } => {
                let (kid, from) = rotate(&*vault(stored, KeyAccess::Change).await?, now).await?;
                let sentence = format!("{kid} signs from {from} on. Earlier receipts stay valid.");
                report(json, &json!({ "kid": kid, "signs_from": from }), &sentence)?;
            }
            SigningCommand::Revoke { kid, reason, json, stored } => {
                let next =
                    revoke(&*vault(stored, KeyAccess::Change).await?, &kid, &reason, now).await?;
                let next_line = next.as_ref().map(|next| format!("\n{next} signs from now on."));
                let sentence = format!(
                    "{kid} is revoked. Receipts that it signed are no longer valid.{}",
                    next_line.unwrap_or_default()
                );
                report(json, &json!({ "revoked": kid, "current": next }), &sentence)?;
            }
            SigningCommand::Destroy { kid, sure, remote } => {
                return destroy(&kid, &sure, &remote).await;
            }
            SigningCommand::Rewrap { new_master_key_file: path, json, stored } => {
                let text = std::fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                let next = MasterKey::read(&SecretString::new(text))?;
                vault(stored, KeyAccess::Change).await?.rewrap(&next).await?;
                let sentence = "The server's keys are encrypted under the new master key.\n\
                                Give it to every server and restart them: they cannot start with \
                                the old one.";
                report(json, &json!({ "rewrapped": true }), sentence)?;
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
        say!("The private half of {kid} was destroyed before.");
    } else {
        say!("The private half of {kid} is destroyed; {} signatures were stored.", done.stored);
        say!("Its receipts are unchanged and stay valid. Old backups may still contain the key.");
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
