//! `countersign serve`

use std::sync::Arc;

use clap::Args;

use super::{Exit, Local};
use crate::clock::SystemClock;
use crate::config::{Config, Database};
use crate::serve::Server;
use crate::telemetry;

#[derive(Args)]
pub(super) struct Serve {
    #[command(flatten)]
    local: Local,
}

impl Serve {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
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
        let server = Box::pin(Server::start(config, Arc::new(SystemClock))).await?;
        welcome(&server.app().config, &server);
        let dev = server.app().config.dev;
        tracing::info!(listening = ?server.listening(), dev, "ready");
        stopped().await;
        tracing::info!("stopping");
        server.stop().await;
        Ok(Exit::Done)
    }
}

/// What whoever started it needs to know. Secrets are shown here once and nowhere else.
fn welcome(config: &Config, server: &Server) {
    let url = config.public_url.as_str().trim_end_matches('/');
    println!("Countersign {}\n", env!("CARGO_PKG_VERSION"));
    println!("  Inbox      {url}/");
    if let Some(link) = &server.welcome().sign_in {
        println!("  Sign in    {link}");
        println!("             (works once, within 24 hours)");
    }
    if let Some(first) = &server.welcome().first {
        println!("  Agent key  {}", first.agent_key);
        println!("             (shown this once; give it to your agent)");
    }
    if config.dev {
        println!("  Agent key  dev-agent-key     Human token  dev-human-token");
        println!();
        println!("  DEV MODE: these credentials are known to everybody. Loopback only.");
    }
    match &config.database {
        Database::Memory => println!("  Data       in memory: nothing is kept"),
        Database::Sqlite(path) => println!("  Data       {}", path.display()),
    }
    println!();
}

async fn stopped() {
    let mut terminate =
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(signal) => signal,
            Err(error) => {
                tracing::error!(%error, "cannot listen for SIGTERM");
                let _ = tokio::signal::ctrl_c().await;
                return;
            }
        };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
