//! The server a command talks to, and as whom.

use std::error::Error;

use anyhow::{Context, anyhow};
use clap::Args;
use client::{Client, ClientError};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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

/// A server, and who we are there.
pub(super) struct Server {
    pub(super) client: Client,
    url: String,
    role: Role,
}

/// As whom.
#[derive(Clone, Copy)]
enum Role {
    Agent,
    Human,
}

impl Role {
    fn variable(self) -> &'static str {
        match self {
            Self::Agent => "COUNTERSIGN_API_KEY",
            Self::Human => "COUNTERSIGN_TOKEN",
        }
    }

    /// What `serve --dev` accepts.
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

impl Remote {
    /// As an agent, with the key in `COUNTERSIGN_API_KEY`.
    pub(super) fn agent(&self) -> anyhow::Result<Server> {
        self.connect(Role::Agent)
    }

    /// As a person, with the token in `COUNTERSIGN_TOKEN`.
    pub(super) fn human(&self) -> anyhow::Result<Server> {
        self.connect(Role::Human)
    }

    /// Where it is, without a slash at the end.
    pub(super) fn address(&self) -> &str {
        self.url.trim_end_matches('/')
    }

    /// As whoever there is a credential for.
    pub(super) fn either(&self) -> anyhow::Result<Server> {
        let has = |role: Role| variable(role.variable()).is_some();
        self.connect(if !has(Role::Agent) && has(Role::Human) { Role::Human } else { Role::Agent })
    }

    /// As whoever there is a credential for; as a person where there are both, or none.
    pub(super) fn anybody(&self) -> anyhow::Result<Server> {
        let has = |role: Role| variable(role.variable()).is_some();
        self.connect(if has(Role::Agent) && !has(Role::Human) { Role::Agent } else { Role::Human })
    }

    /// On loopback the credentials of `serve --dev` are tried when none is given.
    fn connect(&self, role: Role) -> anyhow::Result<Server> {
        let url = self.address().to_owned();
        let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
        let fallback = || local.iter().any(|start| url.starts_with(start)).then(|| role.dev());
        let credential = variable(role.variable())
            .or_else(|| fallback().map(str::to_owned))
            .map(Secret::new)
            .with_context(|| format!("set {}. {}", role.variable(), role.origin(&url)))?;
        let client = Client::named(&url, credential.reveal(), AGENT)?;
        Ok(Server { client, url, role })
    }
}

impl Server {
    /// Everything of a list, page by page.
    pub(super) async fn all<T: DeserializeOwned>(&self, what: &str) -> anyhow::Result<Vec<T>> {
        let mut all = Vec::new();
        let mut path = format!("/api/v1/{what}?limit=100");
        loop {
            let call = self.client.call(Method::GET, &path, None::<&()>);
            let mut page: Map<String, Value> = call.await.map_err(self.because())?;
            let items = page.remove(what).unwrap_or_default();
            all.append(&mut serde_json::from_value(items)?);
            match page.get("next").and_then(Value::as_str) {
                Some(next) => path = format!("/api/v1/{what}?limit=100&cursor={next}"),
                None => return Ok(all),
            }
        }
    }

    /// Says what to do about an error, where there is something to do.
    pub(super) fn because(&self) -> impl Fn(ClientError) -> anyhow::Error + '_ {
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

/// What is at the bottom of an error: the rest is how it travelled.
fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
