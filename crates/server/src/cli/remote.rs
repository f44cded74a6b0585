//! The server a command talks to, and the credential it uses.

use std::error::Error;

use anyhow::{Context, anyhow};
use clap::Args;
use client::{Client, ClientError};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::config::{SecretString, variable};

/// Which server.
#[derive(Args)]
pub(super) struct RemoteArgs {
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

/// A server, and our credential.
pub(super) struct RemoteServer {
    pub(super) client: Client,
    url: String,
    role: CredentialRole,
}

/// The kind of credential.
#[derive(Clone, Copy)]
enum CredentialRole {
    Agent,
    Human,
}

impl CredentialRole {
    fn variable(self) -> &'static str {
        match self {
            Self::Agent => "COUNTERSIGN_API_KEY",
            Self::Human => "COUNTERSIGN_TOKEN",
        }
    }

    /// The fixed credential that `serve --dev` accepts.
    fn dev(self) -> &'static str {
        match self {
            Self::Agent => "dev-agent-key",
            Self::Human => "dev-human-token",
        }
    }

    fn origin(self, url: &str) -> String {
        match self {
            Self::Agent => "The first `countersign serve` printed an agent key; `countersign keys \
                            create --agent NAME` makes another."
                .to_owned(),
            Self::Human => format!(
                "Sign in at {url} and make a token at {url}/settings/tokens; or stop the server and \
                 run `countersign keys create --human NAME --data DIR`."
            ),
        }
    }
}

const AGENT: &str = concat!("countersign-cli/", env!("CARGO_PKG_VERSION"));

impl RemoteArgs {
    /// Connects as an agent, with the key in `COUNTERSIGN_API_KEY`.
    pub(super) fn agent(&self) -> anyhow::Result<RemoteServer> {
        self.connect(CredentialRole::Agent)
    }

    /// Connects as a person, with the token in `COUNTERSIGN_TOKEN`.
    pub(super) fn human(&self) -> anyhow::Result<RemoteServer> {
        self.connect(CredentialRole::Human)
    }

    /// The server's URL, without a trailing slash.
    pub(super) fn address(&self) -> &str {
        self.url.trim_end_matches('/')
    }

    /// Connects with whichever credential is set; as an agent if both or neither are.
    pub(super) fn agent_or_human(&self) -> anyhow::Result<RemoteServer> {
        let has = |role: CredentialRole| variable(role.variable()).is_some();
        self.connect(if !has(CredentialRole::Agent) && has(CredentialRole::Human) {
            CredentialRole::Human
        } else {
            CredentialRole::Agent
        })
    }

    /// Connects with whichever credential is set; as a person if both or neither are.
    pub(super) fn human_or_agent(&self) -> anyhow::Result<RemoteServer> {
        let has = |role: CredentialRole| variable(role.variable()).is_some();
        self.connect(if has(CredentialRole::Agent) && !has(CredentialRole::Human) {
            CredentialRole::Agent
        } else {
            CredentialRole::Human
        })
    }

    /// On loopback, the credentials of `serve --dev` are used if none is set.
    fn connect(&self, role: CredentialRole) -> anyhow::Result<RemoteServer> {
        let url = self.address().to_owned();
        let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
        let fallback = || local.iter().any(|start| url.starts_with(start)).then(|| role.dev());
        let credential = variable(role.variable())
            .or_else(|| fallback().map(str::to_owned))
            .map(SecretString::new)
            .with_context(|| format!("set {}. {}", role.variable(), role.origin(&url)))?;
        let client = Client::named(&url, credential.reveal(), AGENT)?;
        Ok(RemoteServer { client, url, role })
    }
}

impl RemoteServer {
    /// All items of a list, page by page.
    pub(super) async fn all<T: DeserializeOwned>(&self, what: &str) -> anyhow::Result<Vec<T>> {
        let mut all = Vec::new();
        let mut path = format!("/api/v1/{what}?limit=100");
        loop {
            let mut page: Map<String, Value> = self.get(&path).await?;
            let items = page.remove(what).unwrap_or_default();
            all.append(&mut serde_json::from_value(items)?);
            match page.get("next").and_then(Value::as_str) {
                Some(next) => path = format!("/api/v1/{what}?limit=100&cursor={next}"),
                None => return Ok(all),
            }
        }
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.call(Method::GET, path).await
    }

    /// A call without a body.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
    ) -> anyhow::Result<T> {
        self.client.call(method, path, None::<&()>).await.map_err(self.with_advice())
    }

    /// A call with a JSON body.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.client.call(method, path, Some(body)).await.map_err(self.with_advice())
    }

    /// Adds advice to an error, if there is any.
    pub(super) fn with_advice(&self) -> impl Fn(ClientError) -> anyhow::Error + '_ {
        |error| match error {
            ClientError::Refused { status: 401, .. } => self.unknown(),
            ClientError::Unreachable { source, .. } => anyhow!(
                "no server answers at {}: {}. Start one with `countersign serve`, or name another \
                 with --url",
                self.url,
                root(&source)
            ),
            other => other.into(),
        }
    }

    fn unknown(&self) -> anyhow::Error {
        let (url, name) = (&self.url, self.role.variable());
        let why = if variable(name).is_some() {
            format!("{url} does not accept {name}: it is mistyped, revoked or for another server")
        } else {
            format!("set {name}: {url} is not a `serve --dev` server")
        };
        anyhow!("{why}. {}", self.role.origin(url))
    }
}

/// The innermost cause of an error; the outer ones only describe the transport.
fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
