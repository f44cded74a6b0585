//! The server a command talks to, and the credential it uses.

use std::error::Error;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use client::{Client, ClientError};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;

use super::login;
use super::logins::{SavedLogin, SavedLogins};
use crate::config::{SecretString, variable};

/// The default address of a server.
const DEFAULT_URL: &str = "http://localhost:3402";

/// Which server.
#[derive(Args)]
pub(super) struct RemoteArgs {
    /// The server's address [env: `COUNTERSIGN_URL`] [default: the server of the last `countersign
    /// login`, else `http://localhost:3402`]
    #[arg(long, value_name = "URL", conflicts_with = "profile")]
    pub(super) url: Option<String>,
    /// The saved sign-in to use [env: `COUNTERSIGN_PROFILE`]
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A server, and our credential.
pub(super) struct RemoteServer {
    pub(super) client: Client,
    pub(super) url: String,
    role: CredentialRole,
    pub(super) source: CredentialSource,
    pub(super) credential: SecretString,
}

/// The kind of credential.
#[derive(Clone, Copy)]
enum CredentialRole {
    Agent,
    Human,
}

/// Where a credential comes from.
pub(super) enum CredentialSource {
    /// An environment variable.
    Variable,
    /// `countersign login`.
    Saved(Box<SavedLogin>),
    /// The fixed credentials of `serve --dev`.
    Dev,
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

    /// What to do to get a credential.
    fn advice(self, url: &str) -> String {
        match self {
            Self::Agent => "Set COUNTERSIGN_API_KEY to an agent key. The first `countersign serve` \
                            printed one; `countersign keys create --agent NAME` creates another. To act as \
                            a person, run `countersign login`."
                .to_owned(),
            Self::Human => format!(
                "Run `countersign login {url}`. On the computer of the server, run it in the folder \
                 in which you started `countersign serve`, with --local: it needs no browser. For \
                 scripts, create a token at {url}/settings/tokens and set COUNTERSIGN_TOKEN."
            ),
        }
    }
}

const AGENT: &str = concat!("countersign-cli/", env!("CARGO_PKG_VERSION"));

/// The server that a command talks to, and the saved sign-in to it.
pub(super) struct ServerChoice {
    pub(super) url: String,
    pub(super) login: Option<SavedLogin>,
    /// Whether the user named the sign-in. It then wins over the credentials in the environment,
    /// which may be those of another server.
    named: bool,
}

impl ServerChoice {
    /// Whether a credential of a person is at hand.
    fn has_human(&self) -> bool {
        self.login.is_some() || variable(CredentialRole::Human.variable()).is_some()
    }

    /// Whether an agent key is at hand, and no sign-in was named.
    fn has_agent(&self) -> bool {
        !self.named && variable(CredentialRole::Agent.variable()).is_some()
    }
}

/// Whether an address leads to this computer.
pub(super) fn is_loopback(url: &str) -> bool {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.is_some_and(|host| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]"))
}

impl RemoteArgs {
    /// Selects the server: the sign-in that is named, else the address that is given, else the
    /// server of the last sign-in. A credential in the environment belongs to the address in the
    /// environment or to the default one, so it is never sent to the server of a sign-in.
    pub(super) fn choose(&self) -> anyhow::Result<ServerChoice> {
        let named = self.profile.clone();
        let named =
            named.or_else(|| variable("COUNTERSIGN_PROFILE").filter(|_| self.url.is_none()));
        let saved = SavedLogins::load()?;
        if let Some(name) = named {
            let login = saved.named(&name).cloned().with_context(|| {
                let known: Vec<&str> =
                    saved.all().iter().map(|login| login.profile.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                format!(
                    "there is no saved sign-in called {name} (saved: {known}). Run `countersign \
                     login URL --profile {name}`"
                )
            })?;
            return Ok(ServerChoice { url: login.url.clone(), login: Some(login), named: true });
        }
        let given = self.url.clone().or_else(|| variable("COUNTERSIGN_URL"));
        let set = |role: CredentialRole| variable(role.variable()).is_some();
        if given.is_none()
            && !set(CredentialRole::Agent)
            && !set(CredentialRole::Human)
            && let Some(login) = saved.default_login()
        {
            let login = login.clone();
            return Ok(ServerChoice { url: login.url.clone(), login: Some(login), named: false });
        }
        let url = given.as_deref().unwrap_or(DEFAULT_URL).trim_end_matches('/').to_owned();
        let login = saved.for_url(&url).cloned();
        Ok(ServerChoice { url, login, named: false })
    }

    /// Connects as an agent, with the key in `COUNTERSIGN_API_KEY`.
    pub(super) async fn agent(&self) -> anyhow::Result<RemoteServer> {
        self.connect(self.choose()?, CredentialRole::Agent).await
    }

    /// Connects as a person: with the token in `COUNTERSIGN_TOKEN`, else with the saved sign-in,
    /// else with the keys of the installation in the current folder.
    pub(super) async fn human(&self) -> anyhow::Result<RemoteServer> {
        self.connect(self.choose()?, CredentialRole::Human).await
    }

    /// Connects as an agent if there is an agent key, else as a person if possible.
    pub(super) async fn agent_or_human(&self) -> anyhow::Result<RemoteServer> {
        let mut choice = self.choose()?;
        if !choice.has_agent() && !choice.has_human() && is_loopback(&choice.url) {
            choice.login = Box::pin(login::with_installation_here(&choice.url)).await?;
        }
        let human = !choice.has_agent() && choice.has_human();
        let role = if human { CredentialRole::Human } else { CredentialRole::Agent };
        self.connect(choice, role).await
    }

    /// Connects as a person, or as an agent if there is only an agent key.
    pub(super) async fn human_or_agent(&self) -> anyhow::Result<RemoteServer> {
        let choice = self.choose()?;
        let agent = choice.has_agent() && !choice.has_human();
        let role = if agent { CredentialRole::Agent } else { CredentialRole::Human };
        self.connect(choice, role).await
    }

    /// On loopback, the credentials of `serve --dev` are used if there is no other.
    async fn connect(
        &self,
        choice: ServerChoice,
        role: CredentialRole,
    ) -> anyhow::Result<RemoteServer> {
        let ServerChoice { url, login, named } = choice;
        let variable = variable(role.variable()).filter(|_| !named);
        let saved = login.filter(|_| matches!(role, CredentialRole::Human));
        let (credential, source) = match (variable, saved) {
            (Some(credential), _) => (SecretString::new(credential), CredentialSource::Variable),
            (None, Some(login)) => (login.token.clone(), CredentialSource::Saved(Box::new(login))),
            (None, None) => match implicit(&url, role).await? {
                Some(found) => found,
                None => bail!("{} {}", missing(role), role.advice(&url)),
            },
        };
        let client = Client::named(&url, credential.reveal(), AGENT)?;
        Ok(RemoteServer { client, url, role, source, credential })
    }
}

/// The start of the message for a missing credential.
fn missing(role: CredentialRole) -> &'static str {
    match role {
        CredentialRole::Agent => "there is no agent key.",
        CredentialRole::Human => "you are not signed in.",
    }
}

/// A credential for a server on this computer: a person who can read the keys of the installation
/// is signed in with them, otherwise `serve --dev` may accept its fixed credential.
async fn implicit(
    url: &str,
    role: CredentialRole,
) -> anyhow::Result<Option<(SecretString, CredentialSource)>> {
    if !is_loopback(url) {
        return Ok(None);
    }
    if matches!(role, CredentialRole::Human)
        && let Some(login) = Box::pin(login::with_installation_here(url)).await?
    {
        return Ok(Some((login.token.clone(), CredentialSource::Saved(Box::new(login)))));
    }
    Ok(Some((SecretString::new(role.dev()), CredentialSource::Dev)))
}

/// A client without a credential of ours, for signing in: the token is not valid yet.
pub(super) fn client_with(url: &str, token: &SecretString) -> anyhow::Result<Client> {
    Ok(Client::named(url, token.reveal(), AGENT)?)
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
                 one with --url",
                self.url,
                root(&source)
            ),
            other => other.into(),
        }
    }

    fn unknown(&self) -> anyhow::Error {
        let url = &self.url;
        let why = match &self.source {
            CredentialSource::Variable => {
                let name = self.role.variable();
                format!(
                    "{url} does not accept {name}: it is mistyped, revoked or for another server."
                )
            }
            CredentialSource::Saved(login) => format!(
                "{url} does not accept the sign-in {} any more: it expired, was revoked, or the \
                 address belongs to another server now.",
                login.profile
            ),
            CredentialSource::Dev => missing(self.role).to_owned(),
        };
        anyhow!("{why} {}", self.role.advice(url))
    }
}

/// The innermost cause of an error; the outer ones only describe the transport.
pub(super) fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
