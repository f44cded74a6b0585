//! The real gateway: with the credentials of `--dev`, and otherwise the default settings, including
//! the log, which goes to a file.

use std::path::Path;
use std::sync::Arc;

use gateway::clock::OsClock;
use gateway::installation;
use server::config::{DatabaseLocation, SecretString, Settings};
use server::serve::Server;
use server::telemetry;

/// The agent key and the human token of `--dev`.
pub(crate) const AGENT: &str = "dev-agent-key";
pub(crate) const PERSON: &str = "dev-human-token";

/// The request that agents send.
pub(crate) const ASK: &str = r#"{"action":"APPROVE","role":"owner","priority":"normal","timeout_seconds":3600,"fallback":"fail","agent_id":"bench","payload":{"item":"Refund €120.00 to Ada Lovelace for order 4711?","details":{"amount":"€120.00","recipient":"ada@example.com","order":4711},"context":"The parcel was lost; the carrier confirmed it this morning."}}"#;

/// Serves until the process ends. Prints its address first.
pub(crate) async fn serve(settings: Settings) -> anyhow::Result<()> {
    let config = settings.check()?;
    telemetry::start_logging(config.log_format, &config.log_level)?;
    // A store that was filled directly has no keys yet.
    let embedded = matches!(config.location.database, DatabaseLocation::Sqlite(_));
    if embedded && !config.location.data.join("server-keys.json").exists() {
        installation::new_keys(&config.location).await?;
    }
    let server = Box::pin(Server::start(config, Arc::new(OsClock))).await?;
    if let Some(address) = server.listening().first() {
        println!("{address}");
    }
    std::future::pending().await
}

pub(crate) fn settings(folder: &Path) -> Settings {
    Settings {
        listen: Some("127.0.0.1:0".to_owned()),
        data: Some(folder.to_owned()),
        dev: Some(true),
        ..Settings::default()
    }
}

/// The settings of one of several nodes on a database.
pub(crate) fn node(folder: &Path, database: &str) -> anyhow::Result<Settings> {
    let master_key = Some(SecretString::new("5".repeat(64)));
    Ok(Settings { database: Some(database.parse()?), master_key, ..settings(folder) })
}

/// The settings of a gateway that notifies people through a program at this URL.
pub(crate) fn messenger(folder: &Path, program: &str) -> Settings {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    Settings {
        channel_webhook_url: Some(program.to_owned()),
        channel_webhook_secret: Some(SecretString::new(secret.to_owned())),
        ..settings(folder)
    }
}
