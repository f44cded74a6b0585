//! `countersign serve`

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use futures_util::future::select_all;
use gateway::clock::OsClock;
use gateway::installation;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Exit, LocalArgs};
use crate::config::{DatabaseLocation, refuse_unknown_variables};
use crate::serve::Server;
use crate::telemetry;

#[derive(Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    local: LocalArgs,
    /// Create new server keys for a database whose keys are lost. Receipts that the lost keys signed
    /// can no longer be verified, and secrets that they encrypted can no longer be read
    #[arg(long)]
    new_server_keys: bool,
    /// Start although acknowledged events are missing from the database; the loss stays recorded
    #[arg(long)]
    accept_loss: bool,
}

impl ServeArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        refuse_unknown_variables()?;
        let mut settings = self.local.settings.complete(self.local.config.as_deref())?;
        let scratch = if settings.dev == Some(true) && settings.data.is_none() {
            Some(tempfile::Builder::new().prefix("countersign-dev-").tempdir()?)
        } else {
            None
        };
        if let Some(folder) = &scratch {
            settings.data = Some(folder.path().to_owned());
        }
        let config = settings.check()?;
        telemetry::start_logging(config.log_format, &config.log_level)?;
        if self.new_server_keys {
            installation::new_keys(&config.location).await?;
        }
        if self.accept_loss {
            installation::accept_loss(&config.location).await?;
        }
        let server = Box::pin(Server::start(config, Arc::new(OsClock))).await?;
        let stop = StopSignals::listen();
        // Continue without standard output.
        let _ = writeln!(std::io::stdout(), "{}", welcome(&server));
        let dev = server.app().core.config.dev;
        tracing::info!(listening = ?server.listening(), dev, "ready");
        stop.wait().await;
        tracing::info!("stopping");
        server.stop().await;
        Ok(Exit::Done)
    }
}

/// The startup message for the operator. Secrets are shown here once and nowhere else.
fn welcome(server: &Server) -> String {
    let config = &server.app().core.config;
    let url = config.public_url.as_str().trim_end_matches('/');
    let mut lines = vec![
        format!("Countersign {}\n", env!("CARGO_PKG_VERSION")),
        format!("  Inbox      {url}/"),
    ];
    if let Some(link) = &server.welcome().sign_in {
        lines.push(format!("  Sign in    {link}"));
        lines.push("             (works once, within 24 hours)".to_owned());
    }
    if let Some(human) = &server.welcome().sign_in_elsewhere {
        lines.push(format!(
            "  Sign in    another node printed a sign-in link for {human}, which is still valid"
        ));
        lines.push(format!(
            "             (`countersign people link {human} --offline` creates another)"
        ));
    }
    if let Some(first) = &server.welcome().first {
        lines.push(format!("  Agent key  {}", first.agent_key));
        lines.push("             (shown only once; give it to your agent)".to_owned());
    }
    if config.dev {
        lines.push("  Agent key  dev-agent-key     Human token  dev-human-token".to_owned());
        lines.push("\n  DEV MODE: these credentials are publicly known. Loopback only.".to_owned());
    }
    lines.push(match &config.location.database {
        DatabaseLocation::Memory => {
            "  Data       in memory: data is lost when the server stops\n".to_owned()
        }
        DatabaseLocation::Sqlite(path) => format!("  Data       {}\n", path.display()),
        DatabaseLocation::Postgres(url) => format!("  Data       {url}\n"),
    });
    lines.join("\n")
}

/// The signals that stop a server gracefully. It listens from its creation on, so a signal sent
/// after the ready message is always graceful.
struct StopSignals(Vec<Signal>);

impl StopSignals {
    fn listen() -> Self {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
        let heard = kinds.map(|kind| {
            let heard = signal(kind);
            heard.inspect_err(|error| tracing::error!(%error, ?kind, "cannot listen for a signal"))
        });
        Self(heard.into_iter().flatten().collect())
    }

    async fn wait(mut self) {
        let heard: Vec<_> = self.0.iter_mut().map(|signal| Box::pin(signal.recv())).collect();
        if heard.is_empty() {
            std::future::pending::<()>().await;
        }
        select_all(heard).await;
    }
}
