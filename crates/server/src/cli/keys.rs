//! `countersign keys`: agent keys and human tokens. The command shows a secret once.

use anyhow::Context;
use clap::{Args, Subcommand};
use dialects::native::{IssueKey, IssuedKey, KeyView};
use gateway::bootstrap;
use gateway::clock::OsClock;
use kernel::actor::KeyScope;
use kernel::{Actor, AgentId, DirectoryCommand, HumanId, KeyId, Time};
use reqwest::Method;
use store::Clock;

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::output::{report, report_object, report_table, say};

#[derive(Args)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// List credentials, without their secrets
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Show a credential, without its secret
    Show {
        /// The id of the credential: `key_…`
        id: KeyId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Create an agent key or a human token, and print it once
    #[command(alias = "add")]
    Create {
        /// Create a key for this agent
        #[arg(
            long,
            value_name = "ID",
            conflicts_with = "human",
            required_unless_present = "human"
        )]
        agent: Option<AgentId>,
        /// Create a token for this person
        #[arg(long, value_name = "ID")]
        human: Option<HumanId>,
        /// Let the agent key read all requests of the project
        #[arg(long, requires = "agent")]
        project_wide: bool,
        /// Let the agent key submit answers that the agent received from people
        #[arg(long, requires = "agent")]
        respond: bool,
        /// Let the agent key send requests through a Slack app of its own (`bot_token` of A2H)
        #[arg(long, requires = "agent")]
        own_app: bool,
        /// A label for the list of credentials
        #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
        label: String,
        /// When it expires, such as 2027-01-31T00:00:00Z [default: never]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Time>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Revoke a credential, effective immediately
    #[command(alias = "remove")]
    Revoke {
        /// The id of the credential: `key_…`
        id: KeyId,
        /// Also revoke the review, submit and poll tokens of the open requests that were created
        /// with this agent key
        #[arg(long)]
        end_tokens: bool,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Confirm a person's new passkey, so that it counts immediately
    Confirm {
        /// The id of the passkey: `key_…`
        id: KeyId,
        #[command(flatten)]
        place: TargetArgs,
    },
}

impl KeysArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            KeysCommand::List { place } => {
                let (admin, json) = place.open().await?;
                list(&admin, json).await?;
            }
            KeysCommand::Show { id, place } => {
                let (admin, json) = place.open().await?;
                report_object(json, &one(&admin, id).await?)?;
            }
            KeysCommand::Create {
                agent,
                human,
                project_wide,
                respond,
                own_app,
                label,
                expires_at,
                place,
            } => {
                let (admin, json) = place.open().await?;
                let reach = project_wide.then_some(KeyScope::Project);
                let new = IssueKey { agent, reach, respond, own_app, human, label, expires_at };
                let issued = create(&admin, new).await?;
                if json {
                    say!("{}", serde_json::to_string(&issued)?);
                } else {
                    say!("{}", issued.secret);
                    eprintln!("{} for {}; shown only once.", issued.key.id, issued.key.holder);
                }
            }
            KeysCommand::Confirm { id, place } => {
                let (admin, json) = place.open().await?;
                let path = format!("/api/v1/keys/{id}/confirm");
                let command = DirectoryCommand::ConfirmPasskey(id);
                admin.change(Method::POST, &path, command).await?;
                report(json, &serde_json::json!({ "confirmed": id }), &format!("Confirmed {id}."))?;
            }
            KeysCommand::Revoke { id, end_tokens, place } => {
                let (admin, json) = place.open().await?;
                if end_tokens {
                    let path = format!("/api/v1/keys/{id}?tokens=end");
                    let command = DirectoryCommand::RevokeKeyWithTokens(id);
                    admin.change(Method::DELETE, &path, command).await?;
                } else {
                    revoke(&admin, id).await?;
                }
                report(json, &serde_json::json!({ "revoked": id }), &format!("Revoked {id}."))?;
            }
        }
        Ok(Exit::Done)
    }
}

async fn one(admin: &AdminTarget, id: KeyId) -> anyhow::Result<KeyView> {
    match admin {
        AdminTarget::Remote(server) => server.get(&format!("/api/v1/keys/{id}")).await,
        AdminTarget::Offline(offline) => {
            let directory = offline.gateway.directory();
            let key = directory.key(id).with_context(|| format!("there is no credential {id}"))?;
            let used = offline.gateway.store().key_used(id).await?;
            Ok(KeyView::of(key, &directory, used, offline.gateway.now()))
        }
    }
}

async fn list(admin: &AdminTarget, json: bool) -> anyhow::Result<()> {
    let keys = match admin {
        AdminTarget::Remote(server) => server.all("keys").await?,
        AdminTarget::Offline(offline) => {
            let directory = offline.gateway.directory();
            let mut keys = Vec::new();
            for key in directory.keys() {
                let used = offline.gateway.store().key_used(key.id).await?;
                keys.push(KeyView::of(key, &directory, used, offline.gateway.now()));
            }
            keys
        }
    };
    let now = OsClock.now();
    let names = ["ID", "KIND", "HOLDER", "STATE", "LAST USED", "LABEL"];
    report_table(json, &keys, &names, |key| row(key, now))
}

fn row(key: &KeyView, now: Time) -> Vec<String> {
    let state = if key.revoked_at.is_some() {
        // A used link is marked as revoked, but no one revoked it.
        if key.kind == "link" { "used" } else { "revoked" }
    } else if key.expires_at.is_some_and(|at| at <= now) {
        "expired"
    } else {
        "active"
    };
    let waits = key.passkey.as_ref().filter(|passkey| passkey.confirmable && state == "active");
    let state = match waits {
        Some(passkey) => format!("pending until {} or confirmed", passkey.counts_from),
        None => state.to_owned(),
    };
    let used = key.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let kind = key.kind.replace('_', " ");
    vec![key.id.to_string(), kind, key.holder.clone(), state, used, key.label.clone()]
}

async fn create(admin: &AdminTarget, new: IssueKey) -> anyhow::Result<IssuedKey> {
    match admin {
        AdminTarget::Remote(server) => server.send(Method::POST, "/api/v1/keys", &new).await,
        AdminTarget::Offline(offline) => {
            Ok(bootstrap::issue_key(&offline.gateway, Actor::System, new).await?)
        }
    }
}

pub(super) async fn revoke(admin: &AdminTarget, id: KeyId) -> anyhow::Result<()> {
    let path = format!("/api/v1/keys/{id}");
    admin.change(Method::DELETE, &path, DirectoryCommand::RevokeKey(id)).await
}

#[cfg(test)]
mod tests {
    use dialects::native::PasskeyView;

    use super::*;

    #[test]
    fn a_pending_passkey_shows_until_when() {
        let now: Time = "2026-03-01T09:00:00Z".parse().unwrap();
        let counts_from = now.plus_seconds(86_400);
        let key = |confirmable, revoked_at| KeyView {
            id: KeyId::new(7.into()),
            kind: "passkey".to_owned(),
            holder: "ada".to_owned(),
            project: None,
            reach: None,
            respond: false,
            own_app: false,
            label: "laptop".to_owned(),
            issued_at: now,
            expires_at: None,
            revoked_at,
            last_used_at: None,
            passkey: Some(PasskeyView { counts_from, confirmable }),
        };
        assert_eq!(
            row(&key(true, None), now)[3],
            "pending until 2026-03-02T09:00:00.000Z or confirmed"
        );
        assert_eq!(row(&key(false, None), now)[3], "active");
        assert_eq!(row(&key(true, Some(now)), now)[3], "revoked");
    }
}
