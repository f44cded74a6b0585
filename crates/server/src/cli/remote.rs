//! The server a command talks to, and as whom.

use anyhow::Context;
use clap::Args;
use client::Client;

use crate::config::{Secret, variable};

/// Which server.
#[derive(Args)]
pub(super) struct Remote {
    /// The server's address
    #[arg(
        long,
        env = "COUNTERSIGN_URL",
        default_value = "http://localhost:3402",
        value_name = "URL"
    )]
    url: String,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

const AGENT: &str = concat!("countersign-cli/", env!("CARGO_PKG_VERSION"));

impl Remote {
    /// As an agent, with the key in `COUNTERSIGN_API_KEY`.
    pub(super) fn agent(&self) -> anyhow::Result<Client> {
        self.connect("COUNTERSIGN_API_KEY", "dev-agent-key", "an agent key")
    }

    /// As a person, with the token in `COUNTERSIGN_TOKEN`.
    pub(super) fn human(&self) -> anyhow::Result<Client> {
        self.connect("COUNTERSIGN_TOKEN", "dev-human-token", "a human token")
    }

    /// As whoever there is a credential for.
    pub(super) fn either(&self) -> anyhow::Result<Client> {
        if variable("COUNTERSIGN_API_KEY").is_none() && variable("COUNTERSIGN_TOKEN").is_some() {
            return self.human();
        }
        self.agent()
    }

    /// On loopback the credentials of `serve --dev` are tried when none is given.
    fn connect(&self, name: &str, dev: &str, what: &str) -> anyhow::Result<Client> {
        let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
        let fallback =
            || local.iter().any(|start| self.url.starts_with(start)).then(|| Secret::new(dev));
        let credential = variable(name)
            .map(Secret::new)
            .or_else(fallback)
            .with_context(|| format!("set {name} to {what} for {}", self.url))?;
        Ok(Client::named(&self.url, credential.reveal(), AGENT)?)
    }
}

/// A refusal of the credential says where credentials come from.
pub(super) fn explain(error: client::ClientError) -> anyhow::Error {
    if let client::ClientError::Refused { status: 401, .. } = &error {
        return anyhow::Error::from(error).context(
            "the server does not know this credential: set COUNTERSIGN_API_KEY (agents) or \
             COUNTERSIGN_TOKEN (people); `countersign serve` prints an agent key on first start, \
             and a signed-in person can make a token at /settings/tokens",
        );
    }
    error.into()
}
