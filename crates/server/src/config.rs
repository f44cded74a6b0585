//! Settings. Each is a flag, an environment variable `COUNTERSIGN_…` and a TOML key of the same
//! name. A flag wins over the environment, and the environment over the file. Only this module
//! reads the environment.

mod bucket;
mod channels;
mod environment;
mod oidc;
mod retention;
mod settings;
mod sign_in;
mod smtp;
mod verification;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args as _;
use gateway::installation::DataLocation;
use gateway::jwt::TokenIssuer;
use gateway::ssrf_guard::IpRange;
use gateway::vault::shared::MasterKey;
use gateway::verification::ProofIssuer;
use kernel::AgentId;
use kernel::quota::Limits;
use kernel::spelling::suggestion;
use kernel::time::LONGEST_TIMEOUT;
use notify::links::LinkBuilder;
use serde::{Deserialize, Serialize};
use url::Url;

use ::channels::ChannelSettings;
pub use ::channels::SecretString;
pub use bucket::FilesUrl;
pub use environment::{UnknownVariable, unknown_variables};
pub use gateway::database::{DatabaseLocation, DatabaseUrl};
pub use gateway::files::Bucket;
pub use oidc::Identify;
pub use retention::{Retention, RetentionSetting};
pub use settings::Settings;
pub use sign_in::SignInSettings;
pub use verification::{InlineKeys, ProviderTable, ProviderTables};

/// The default port of the server.
pub const DEFAULT_PORT: u16 = 3402;

/// The most an artifact can have: the list of its pieces is one small file.
const LARGEST_ARTIFACT: u64 = 32 << 30;

/// How the HXP evidence hash is formed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceForm {
    /// Plain concatenation, as the protocol's text says.
    #[default]
    Seed,
    /// Joined by colons, as the reference server does.
    Upstream,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// For people.
    Text,
}

/// Validated settings, with every default filled in.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Config {
    /// The addresses to listen on.
    pub listen: Vec<SocketAddr>,
    pub location: DataLocation,
    /// The base of all links.
    pub public_url: Url,
    /// The certificate file and the key file.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The origins of web clients that CORS allows.
    pub cors_origins: Vec<String>,
    /// The largest request body in bytes.
    pub body_limit: usize,
    /// The largest upload in bytes.
    pub upload_limit: usize,
    /// The largest artifact in bytes.
    pub artifact_limit: u64,
    /// Requests per key and second.
    pub rate_limit: u32,
    /// How long a record may wait for a block.
    pub seal_every: Duration,
    /// The command that receives every block.
    pub anchor_command: Option<String>,
    /// Concurrent streams per key.
    pub stream_limit: u32,
    /// Quotas that differ from the defaults.
    pub quotas: Limits,
    /// Concurrent connections, if the settings name a limit.
    pub connection_limit: Option<usize>,
    /// Concurrent connections per client address; 0 for no limit.
    pub connection_limit_per_address: usize,
    /// Separate addresses for health, readiness and metrics.
    pub operations_listen: Vec<SocketAddr>,
    /// Whether `/metrics` names projects.
    pub metrics_projects: bool,
    /// Address ranges that callbacks may use besides public ones.
    pub callback_allow: Vec<IpRange>,
    /// The commands that receive the contracts of agent runtimes.
    pub runtime_commands: BTreeMap<AgentId, String>,
    /// How long the text of closed requests is kept; `None` keeps it permanently.
    pub retention: Option<Retention>,
    /// How long counts are kept; `None` keeps them permanently.
    pub insights_retention: Option<Retention>,
    /// How long calls of A2H wait, in seconds; `None` for no limit.
    pub a2h_timeout: Option<u64>,
    pub evidence_form: EvidenceForm,
    /// The secret of the evidence hash, if given.
    pub evidence_secret: Option<SecretString>,
    /// Whether `WebSockets` need no key.
    pub open_websockets: bool,
    /// The issuer of human JWTs.
    pub jwt: Option<TokenIssuer>,
    /// The services that can prove that a person is present.
    pub verification: Vec<ProofIssuer>,
    pub sign_in: SignInSettings,
    pub channels: Box<ChannelSettings>,
    /// Whether the server sends push notifications.
    pub push: bool,
    /// The contact for push services, if not the address of this server.
    pub push_contact: Option<String>,
    pub log_format: LogFormat,
    pub log_level: String,
    /// Whether the server accepts fixed development credentials.
    pub dev: bool,
    /// A script of people who answer by themselves.
    pub scripted: Option<PathBuf>,
    pub agent_api_keys: Vec<SecretString>,
    pub human_tokens: Vec<SecretString>,
}

impl Config {
    /// Makes links to the server's own pages.
    pub fn links(&self) -> LinkBuilder {
        LinkBuilder::new(self.public_url.clone())
    }
}

/// The given quotas. In development mode there are no others.
fn quotas(given: Option<&str>, dev: bool) -> anyhow::Result<Limits> {
    let given: Limits = given
        .unwrap_or_default()
        .parse()
        .map_err(|error: kernel::quota::BadLimit| anyhow::anyhow!("quotas: {error}"))?;
    Ok(if dev { given.or(&Limits::unlimited()) } else { given })
}

/// What is wrong with a settings file. Serde's error about an unknown setting lists all settings;
/// the line and the setting that was probably meant help more.
fn file_error(error: toml::de::Error, text: &str) -> anyhow::Error {
    let unknown = error.message().strip_prefix("unknown field `");
    let Some((name, known)) = unknown.and_then(|rest| rest.split_once('`')) else {
        return error.into();
    };
    let known = known.split('`').skip(1).step_by(2);
    let start = error.span().map_or(0, |span| span.start);
    let line = text.get(..start).map_or(1, |before| before.matches('\n').count() + 1);
    let meant = suggestion(name, known);
    anyhow::anyhow!(
        "line {line}: unknown setting {name}{meant}; docs/configuration.md lists all settings"
    )
}

impl Settings {
    /// Adds settings from the file, if there is one, and from the variables of the upstream server.
    pub fn complete(self, file: Option<&Path>) -> anyhow::Result<Self> {
        let from_file = match file {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let read = toml::from_str(&text).map_err(|error| file_error(error, &text));
                read.with_context(|| format!("in {}", path.display()))?
            }
            None => Self::default(),
        };
        let list = |name: &str| {
            let text = variable(name)?;
            Some(text.split(',').map(|key| SecretString::new(key.trim())).collect::<Vec<_>>())
        };
        let upstream = Self {
            listen: variable("PORT").map(|port| format!("localhost:{port}")),
            evidence_secret: variable("SERVER_SECRET").map(SecretString::new),
            agent_api_keys: list("AGENT_API_KEYS"),
            human_tokens: list("HUMAN_TOKENS"),
            ..Self::default()
        };
        Ok(self.or(from_file).or(upstream))
    }

    /// Validates the settings.
    pub fn check(self) -> anyhow::Result<Config> {
        let dev = self.dev.unwrap_or(false);
        let given = self.clone();
        let sign_in = SignInSettings::read(&self, dev)?;
        let listen = addresses("listen", self.listen.as_deref().unwrap_or("localhost:3402"))?;
        let operations = self.operations_listen.as_deref();
        let operations_listen = operations.map(|text| addresses("operations_listen", text));
        let operations_listen = operations_listen.transpose()?.unwrap_or_default();
        if operations_listen.iter().any(|address| address.port() != 0 && listen.contains(address)) {
            bail!("operations_listen: expected an address other than that of listen");
        }
        if self.connection_limit.is_some_and(|limit| limit < 4) {
            bail!("connection_limit: expected at least 4");
        }
        let loopback = listen.iter().all(|address| address.ip().is_loopback());
        let tls = match (self.tls_cert, self.tls_key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => bail!("tls_cert and tls_key must be set together"),
        };
        if dev && !loopback {
            bail!(
                "--dev uses publicly known credentials, so it can listen on a loopback address \
                 only, such as 127.0.0.1:3402"
            );
        }
        if self.scripted.is_some() && !dev {
            bail!("scripted: scripted people require --dev");
        }
        if !loopback && tls.is_none() && !self.allow_plain_http.unwrap_or(false) {
            bail!(
                "refusing to listen on {} without TLS: set tls_cert and tls_key, or set \
                 allow_plain_http if a reverse proxy terminates TLS",
                self.listen.as_deref().unwrap_or_default()
            );
        }
        let port = listen.first().map_or(DEFAULT_PORT, SocketAddr::port);
        let public_url = match self.public_url {
            Some(url)
                if matches!(url.scheme(), "http" | "https")
                    && url.host().is_some()
                    && url.path() == "/" =>
            {
                url
            }
            Some(url) => {
                bail!(
                    "public_url: expected an http or https URL without a path, such as \
                     https://ask.example.com, not {url}"
                )
            }
            None => {
                let scheme = if tls.is_some() { "https" } else { "http" };
                Url::parse(&format!("{scheme}://localhost:{port}"))?
            }
        };
        let data = self.data.unwrap_or_else(|| PathBuf::from("countersign-data"));
        let database = DatabaseUrl::database(self.database, &data)?;
        let bucket = bucket::read(&given, variable)?;
        if bucket.is_some() && matches!(database, DatabaseLocation::Memory) {
            bail!(
                "files: a bucket requires a persistent database; set database to postgres://… or \
                 sqlite:FILE"
            );
        }
        let whole = |text: &str| SecretString::new(text.trim_end());
        let master_key =
            secret_or_file("master_key", self.master_key, self.master_key_file, whole)?;
        let master_key = master_key.as_ref().map(MasterKey::read).transpose()?;
        let (secret, file) = (self.evidence_secret, self.evidence_secret_file);
        let evidence_secret = secret_or_file("evidence_secret", secret, file, whole)?;
        let lines = |text: &str| text.lines().map(|line| SecretString::new(line.trim())).collect();
        let (keys, file) = (self.agent_api_keys, self.agent_api_keys_file);
        let agent_api_keys = non_empty(secret_or_file("agent_api_keys", keys, file, lines)?);
        let (tokens, file) = (self.human_tokens, self.human_tokens_file);
        let human_tokens = non_empty(secret_or_file("human_tokens", tokens, file, lines)?);
        let jwt = match (self.jwt_issuer, self.jwt_audience, self.jwt_jwks) {
            (Some(issuer), Some(audience), Some(jwks)) => {
                Some(TokenIssuer { issuer, audience, jwks })
            }
            (None, None, None) => None,
            _ => bail!("jwt_issuer, jwt_audience and jwt_jwks must be set together"),
        };
        let body_limit = self.body_limit.unwrap_or(1 << 20);
        if body_limit < 4096 {
            bail!("body_limit: expected at least 4096 bytes");
        }
        let artifact_limit = self.artifact_limit.unwrap_or(1 << 30);
        if artifact_limit > LARGEST_ARTIFACT {
            bail!("artifact_limit: expected at most {LARGEST_ARTIFACT} bytes, 32 GiB");
        }
        let seal_seconds = self.seal_seconds.unwrap_or(10);
        if seal_seconds > 86_400 {
            bail!("seal_seconds: expected at most 86400 (one day)");
        }
        let channels = Box::new(channels::read(&given, &public_url, sign_in.smtp.clone())?);
        let push_contact = self.push_contact.map(contact).transpose()?;
        let a2h_timeout = self.a2h_timeout;
        if a2h_timeout.is_some_and(|seconds| !(1..=LONGEST_TIMEOUT).contains(&seconds)) {
            bail!("a2h_timeout: expected a number of seconds, at least 1 and at most 100 years");
        }
        let callback_allow = ranges("callback_allow", self.callback_allow.as_deref())?;
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let usual = if terminal { LogFormat::Text } else { LogFormat::Json };
        Ok(Config {
            listen,
            location: DataLocation { data, database, bucket, master_key },
            public_url,
            tls,
            cors_origins: self.cors_origins.unwrap_or_default(),
            body_limit,
            upload_limit: self.upload_limit.unwrap_or(25 << 20),
            artifact_limit,
            rate_limit: self.rate_limit.unwrap_or(if dev { 0 } else { 100 }),
            seal_every: Duration::from_secs(seal_seconds),
            anchor_command: self.anchor_command.filter(|command| !command.trim().is_empty()),
            stream_limit: self.stream_limit.unwrap_or(if dev { 0 } else { 100 }),
            quotas: quotas(self.quotas.as_deref(), dev)?,
            connection_limit: self.connection_limit,
            connection_limit_per_address: self.connection_limit_per_address.unwrap_or(1000),
            operations_listen,
            metrics_projects: self.metrics_projects.unwrap_or(false),
            callback_allow,
            runtime_commands: runtimes(self.runtime_command.as_deref())?,
            retention: self.retention.and_then(RetentionSetting::period),
            insights_retention: self.insights_retention.and_then(RetentionSetting::period),
            a2h_timeout,
            evidence_form: self.evidence_form.unwrap_or_default(),
            evidence_secret,
            open_websockets: self.open_websockets.unwrap_or(false),
            jwt,
            verification: verification::providers(self.verification)?,
            sign_in,
            channels,
            push: self.push.unwrap_or(true),
            push_contact,
            log_format: self.log_format.unwrap_or(usual),
            log_level: self.log_level.unwrap_or_else(|| "info".to_owned()),
            dev,
            scripted: self.scripted,
            agent_api_keys,
            human_tokens,
        })
    }
}

/// An environment variable; empty counts as absent.
#[expect(clippy::disallowed_methods, reason = "the only place that reads this")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names of all environment variables that are settings. Commands that the server runs do
/// not inherit them.
pub fn variables() -> Vec<String> {
    let command = Settings::augment_args(clap::Command::new("settings"));
    let ours = command.get_arguments().filter_map(|setting| setting.get_env());
    let ours = ours.map(|name| name.to_string_lossy().into_owned());
    let upstream = ["PORT", "SERVER_SECRET", "AGENT_API_KEYS", "HUMAN_TOKENS"];
    ours.chain(upstream.map(str::to_owned)).collect()
}

/// Refuses unknown variables, as unknown keys of the settings file are refused.
pub fn refuse_unknown_variables() -> anyhow::Result<()> {
    let unknown: Vec<String> = unknown_variables().iter().map(ToString::to_string).collect();
    if unknown.is_empty() { Ok(()) } else { bail!("{}", unknown.join("; ")) }
}

/// A secret, given directly or in a file.
fn secret_or_file<T>(
    name: &str,
    value: Option<T>,
    file: Option<PathBuf>,
    read: impl FnOnce(&str) -> T,
) -> anyhow::Result<Option<T>> {
    match (value, file) {
        (Some(_), Some(_)) => bail!("{name} and {name}_file cannot both be set"),
        (value, None) => Ok(value),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("{name}_file: cannot read {}", path.display()))?;
            Ok(Some(read(&text)))
        }
    }
}

/// A contact for push services: a `mailto:` or an `https` URL.
fn contact(text: String) -> anyhow::Result<String> {
    let known = text.strip_prefix("mailto:").is_some_and(|address| address.contains('@'))
        || Url::parse(&text).is_ok_and(|url| url.scheme() == "https");
    if known {
        return Ok(text);
    }
    bail!("push_contact: expected mailto:ADDRESS or an https URL, not {text}")
}

/// Parses address ranges.
fn ranges(name: &str, given: Option<&[String]>) -> anyhow::Result<Vec<IpRange>> {
    let range = |text: &String| {
        let range = text.trim().parse::<IpRange>();
        range.map_err(|expected| anyhow!("{name}: expected {expected}, not {text}"))
    };
    given.unwrap_or_default().iter().map(range).collect()
}

/// The commands of agent runtimes, by agent.
fn runtimes(given: Option<&[String]>) -> anyhow::Result<BTreeMap<AgentId, String>> {
    let mut commands = BTreeMap::new();
    for text in given.unwrap_or_default().iter().filter(|text| !text.trim().is_empty()) {
        let (agent, command) = text
            .split_once('=')
            .map(|(agent, command)| (agent.trim(), command.trim()))
            .filter(|(_, command)| !command.is_empty())
            .with_context(|| format!("runtime_command: expected AGENT=COMMAND, not {text}"))?;
        let agent: AgentId = agent.parse().map_err(|bad| {
            anyhow!("runtime_command: {agent} is not a valid agent ID: expected {bad}")
        })?;
        if commands.insert(agent.clone(), command.to_owned()).is_some() {
            bail!("runtime_command: {agent} has two commands");
        }
    }
    Ok(commands)
}

/// Drops empty secrets: a trailing comma must not make the empty text a credential.
fn non_empty(secrets: Option<Vec<SecretString>>) -> Vec<SecretString> {
    let secrets = secrets.unwrap_or_default();
    secrets.into_iter().filter(|secret| !secret.reveal().is_empty()).collect()
}

fn addresses(name: &str, text: &str) -> anyhow::Result<Vec<SocketAddr>> {
    if let Some(port) = text.strip_prefix("localhost:") {
        let port: u16 =
            port.parse().with_context(|| format!("{name}: expected a port from 0 to 65535"))?;
        return Ok(vec![
            ([127, 0, 0, 1], port).into(),
            (std::net::Ipv6Addr::LOCALHOST, port).into(),
        ]);
    }
    let address = text
        .parse()
        .with_context(|| format!("{name}: expected HOST:PORT such as 0.0.0.0:3402, not {text}"))?;
    Ok(vec![address])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: Settings) -> String {
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn nothing_set_is_a_working_server_on_both_loopbacks() {
        let config = Settings::default().check().unwrap();
        let ports: Vec<_> = config.listen.iter().map(ToString::to_string).collect();
        assert_eq!(ports, ["127.0.0.1:3402", "[::1]:3402"]);
        assert_eq!(config.public_url.as_str(), "http://localhost:3402/");
        assert!(!config.dev);
    }

    /// HXPX-005: plain HTTP beyond loopback requires an explicit setting.
    #[test]
    fn plain_http_stays_on_loopback() {
        let open = || Settings { listen: Some("0.0.0.0:80".into()), ..Settings::default() };
        assert!(refused(open()).contains("without TLS"));
        assert!(Settings { allow_plain_http: Some(true), ..open() }.check().is_ok());
        assert!(refused(Settings { dev: Some(true), ..open() }).contains("loopback"));
    }

    #[test]
    fn halves_are_refused() {
        let half = Settings { tls_cert: Some("a.pem".into()), ..Settings::default() };
        assert!(refused(half).contains("tls_cert and tls_key must be set together"));
        let half = Settings { jwt_issuer: Some("x".into()), ..Settings::default() };
        assert!(refused(half).contains("jwt_audience and jwt_jwks must be set together"));
        let alone = Settings { scripted: Some("people.toml".into()), ..Settings::default() };
        assert!(refused(alone).contains("--dev"));
        let never = Settings { seal_seconds: Some(86_401), ..Settings::default() };
        assert!(refused(never).contains("seal_seconds"));
        let few = Settings { connection_limit: Some(3), ..Settings::default() };
        assert!(refused(few).contains("connection_limit: expected at least 4"));
        let same =
            Settings { operations_listen: Some("127.0.0.1:3402".into()), ..Settings::default() };
        assert!(refused(same).contains("operations_listen: expected an address other than"));
        let nowhere = Settings { operations_listen: Some("here".into()), ..Settings::default() };
        assert!(refused(nowhere).contains("operations_listen: expected HOST:PORT"));
        let open = Settings { callback_allow: Some(vec!["10/8".into()]), ..Settings::default() };
        assert!(refused(open).contains("callback_allow: expected an IP address or a range"));
        let nobody = Settings { push_contact: Some("ops".into()), ..Settings::default() };
        assert!(refused(nobody).contains("push_contact: expected mailto:"));
        for (text, why) in [
            ("agent_dev", "expected AGENT=COMMAND"),
            ("agent_dev= ", "expected AGENT=COMMAND"),
            ("a b=run", "is not a valid agent ID"),
            ("bot=one,bot=two", "has two commands"),
        ] {
            let given = text.split(',').map(str::to_owned).collect();
            let wrong = Settings { runtime_command: Some(given), ..Settings::default() };
            assert!(refused(wrong).contains(why), "{text}");
        }
        let weak =
            Settings { master_key: Some(SecretString::new("secret")), ..Settings::default() };
        assert!(refused(weak).contains("32 random bytes"));
    }

    #[test]
    fn an_unknown_key_in_the_file_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "lisen = \"localhost:1\"\n").unwrap();
        let error = Settings::default().complete(Some(file.path())).unwrap_err();
        assert!(format!("{error:#}").contains("lisen"), "{error:#}");
        std::fs::write(file.path(), "listen = \"localhost:1\"\ndev = true\n").unwrap();
        let settings = Settings::default().complete(Some(file.path())).unwrap();
        assert_eq!(settings.check().unwrap().listen[0].port(), 1);
    }

    #[test]
    fn secrets_may_come_from_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\n two \n\n").unwrap();
        let path = || Some(file.path().to_owned());
        let from_file = Settings { human_tokens_file: path(), ..Settings::default() };
        let tokens = from_file.check().unwrap().human_tokens;
        assert_eq!(tokens.iter().map(SecretString::reveal).collect::<Vec<_>>(), ["one", "two"]);
        let both = Settings {
            agent_api_keys: Some(vec![SecretString::new("a")]),
            agent_api_keys_file: path(),
            ..Settings::default()
        };
        assert!(refused(both).contains("agent_api_keys_file"));
        let gone =
            Settings { evidence_secret_file: Some("/nowhere".into()), ..Settings::default() };
        assert!(refused(gone).contains("cannot read /nowhere"));
    }

    #[test]
    fn secrets_do_not_print() {
        let secret =
            Settings { evidence_secret: Some(SecretString::new("s3")), ..Settings::default() };
        assert!(!format!("{secret:?}").contains("s3"));
        assert!(!toml::to_string(&secret).unwrap().contains("s3"));
    }
}
