//! `countersign sessions`: the browsers in which a person is signed in.

use clap::{Args, Subcommand};
use dialects::native::{SessionListView as Listed, SessionView};
use gateway::clock::OsClock;
use kernel::directory::SignInMethod;
use kernel::{DirectoryCommand, HumanId, KeyId};
use reqwest::Method;
use store::Clock;

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::output::{report, report_table};

#[derive(Args)]
pub(super) struct SessionsArgs {
    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Subcommand)]
enum SessionsCommand {
    /// List the browsers in which a person is signed in
    List {
        /// The person [default: yourself]
        #[arg(long, value_name = "ID")]
        human: Option<HumanId>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Sign a browser out, effective immediately
    #[command(alias = "remove")]
    Revoke {
        /// The id of the session: `key_…`
        id: KeyId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Sign a person out everywhere, effective immediately
    RevokeAll {
        /// The person [default: yourself]
        #[arg(long, value_name = "ID")]
        human: Option<HumanId>,
        #[command(flatten)]
        place: TargetArgs,
    },
}

impl SessionsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            SessionsCommand::List { human, place } => {
                let (admin, json) = place.open().await?;
                let sessions = list(&admin, human).await?;
                report_table(
                    json,
                    &sessions,
                    &["ID", "BROWSER", "SIGNED IN", "SINCE", "LAST USED"],
                    row,
                )?;
            }
            SessionsCommand::Revoke { id, place } => {
                let (admin, json) = place.open().await?;
                super::keys::revoke(&admin, id).await?;
                report(json, &serde_json::json!({ "revoked": id }), &format!("Signed out {id}."))?;
            }
            SessionsCommand::RevokeAll { human, place } => {
                let (admin, json) = place.open().await?;
                let human = admin.person_or_self(human).await?;
                let path = format!("/api/v1/people/{human}/sessions");
                let command = DirectoryCommand::EndSessions(human.clone(), None);
                admin.change(Method::DELETE, &path, command).await?;
                report(
                    json,
                    &serde_json::json!({ "signed_out": human }),
                    &format!("Signed out {human} everywhere."),
                )?;
            }
        }
        Ok(Exit::Done)
    }
}

async fn list(admin: &AdminTarget, human: Option<HumanId>) -> anyhow::Result<Vec<SessionView>> {
    let human = admin.person_or_self(human).await?;
    match admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/people/{human}/sessions");
            let listed: Listed = server.get(&path).await?;
            Ok(listed.sessions)
        }
        AdminTarget::Offline(offline) => {
            let (directory, now) = (offline.gateway.directory(), OsClock.now());
            let mut sessions = Vec::new();
            for key in directory.sessions_of(&human).rev().filter(|key| key.is_live(now)) {
                let used = offline.gateway.store().key_used(key.id).await?;
                sessions.push(SessionView::of(key, used.unwrap_or(key.issued_at)));
            }
            Ok(sessions)
        }
    }
}

/// The sign-in method of a session, in words.
fn sign_in_method(way: SignInMethod) -> &'static str {
    match way {
        SignInMethod::Link => "with a sign-in link",
        SignInMethod::Mail => "with a link by email",
        SignInMethod::Passkey => "with a passkey",
        SignInMethod::Oidc => "with your organisation",
    }
}

fn row(session: &SessionView) -> Vec<String> {
    vec![
        session.id.to_string(),
        session.browser.clone(),
        session.way.map_or("", sign_in_method).to_owned(),
        session.issued_at.to_string(),
        session.last_used_at.to_string(),
    ]
}
