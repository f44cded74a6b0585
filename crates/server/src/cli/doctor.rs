//! `countersign doctor`: prints the effective settings, redacted, and the problems with them.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use ::channels::email;
use axum_server::tls_rustls::RustlsConfig;
use clap::Args;
use gateway::clock::OsClock;
use gateway::files::FileStorage;
use gateway::ids::Ids;
use gateway::installation;
use gateway::oidc::IdentityProvider;
use gateway::passkeys::Passkeys;
use gateway::verification::ProofIssuer;
use kernel::AgentId;
use kernel::directory::Project;
use store::Clock;

use super::output::{Style, say, styled};
use super::{Exit, LocalArgs, channels};
use crate::config::{Bucket, Config, DatabaseLocation, Settings, unknown_variables};

#[derive(Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    local: LocalArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result of one check.
#[derive(serde::Serialize)]
struct DoctorCheck {
    what: &'static str,
    ok: bool,
    /// It works, but data can be lost that need not be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    warning: bool,
    says: String,
}

impl DoctorCheck {
    fn new(what: &'static str, ok: bool, says: impl Into<String>) -> Self {
        Self { what, ok, warning: false, says: says.into() }
    }

    fn warning(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, ok: true, warning: true, says: says.into() }
    }
}

impl DoctorArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let given = self.local.settings.complete(self.local.config.as_deref());
        let applied = given.as_ref().ok().map(|settings| settings.clone().check());
        let mut findings = match (&given, &applied) {
            (Err(error), _) | (_, Some(Err(error))) => {
                vec![DoctorCheck::new("settings", false, format!("{error:#}"))]
            }
            (Ok(_), Some(Ok(config))) => run_checks(config).await,
            (Ok(_), None) => Vec::new(),
        };
        for unknown in unknown_variables() {
            findings.push(DoctorCheck::new("environment", false, unknown.to_string()));
        }
        let healthy = findings.iter().all(|finding| finding.ok);
        if self.json {
            let report = serde_json::json!({
                "healthy": healthy,
                "given": given.ok(),
                "findings": findings,
            });
            say!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            print_settings(
                given.as_ref().ok(),
                applied.as_ref().and_then(|found| found.as_ref().ok()),
            )?;
            for finding in &findings {
                let (style, mark) = match finding {
                    DoctorCheck { ok: false, .. } => (Style::Bad, "WRONG"),
                    DoctorCheck { warning: true, .. } => (Style::Warning, "WARN "),
                    DoctorCheck { .. } => (Style::Good, "ok   "),
                };
                styled(style, mark, &format!("  {}: {}", finding.what, finding.says));
            }
        }
        Ok(if healthy { Exit::Done } else { Exit::Denied })
    }
}

/// Prints the settings that were given and those that apply, without secrets.
pub(super) fn print_settings(
    given: Option<&Settings>,
    applied: Option<&Config>,
) -> anyhow::Result<()> {
    if let Some(settings) = given {
        say!("Settings given:\n{}", indent(&toml::to_string(settings)?));
    }
    if let Some(config) = applied {
        say!("Settings that apply:\n{}", indent(&applied_text(config)));
    }
    Ok(())
}

fn indent(text: &str) -> String {
    if text.trim().is_empty() {
        return "  (none)\n".to_owned();
    }
    text.lines().fold(String::new(), |shown, line| shown + "  " + line + "\n")
}

fn applied_text(config: &Config) -> String {
    let listen: Vec<String> = config.listen.iter().map(ToString::to_string).collect();
    [
        format!("listen      {}", listen.join(", ")),
        format!("public_url  {}", config.public_url),
        format!("database    {}", config.location.database),
        format!("data        {}", config.location.data.display()),
        format!("files       {}", where_files_are(config)),
        format!("tls         {}", if config.tls.is_some() { "built in" } else { "off" }),
        format!("rate_limit  {} a second per key", config.rate_limit),
        format!("streams     {} at once per key", config.stream_limit),
        format!("quotas      {}", quotas(&config.quotas)),
        format!("body_limit  {} bytes", config.body_limit),
        format!(
            "sealing     every {} s, anchor command {}",
            config.seal_every.as_secs(),
            if config.anchor_command.is_some() { "given" } else { "off" }
        ),
        format!("runtimes    {}", runtimes(config)),
        match config.retention {
            Some(retention) => {
                format!("retention   text of closed requests is erased after {retention}")
            }
            None => "retention   off: text is kept until it is erased manually".to_owned(),
        },
        match config.insights_retention {
            Some(retention) => format!("insights    counts are deleted after {retention}"),
            None => "insights    counts are kept".to_owned(),
        },
        format!("jwt         {}", config.jwt.as_ref().map_or("off", |jwt| &jwt.issuer)),
        format!("proofs      {}", proofs(config)),
        format!("email       {}", mail(config)),
        format!("channels    {}", configured_channels(config)),
        format!(
            "oidc        {}",
            config.sign_in.oidc.as_ref().map_or("off", |oidc| oidc.issuer.as_str())
        ),
        format!("dev         {}", config.dev),
    ]
    .join("\n")
}

/// The agents whose runtime has a command.
fn runtimes(config: &Config) -> String {
    let all: Vec<&str> = config.runtime_commands.keys().map(AgentId::as_str).collect();
    if all.is_empty() { "polled by the runtimes, no commands".to_owned() } else { all.join(", ") }
}

/// Whether the program of a command exists. A bare name is not checked: the shell searches for it.
fn program(command: &str) -> (bool, String) {
    let name = command.split_whitespace().next().unwrap_or_default();
    if !name.contains('/') {
        return (true, format!("{name} is resolved by the shell and was not checked"));
    }
    match std::fs::metadata(name) {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => {
            (true, format!("{name} is executable"))
        }
        Ok(_) => (false, format!("{name} is not executable; run chmod +x")),
        Err(error) => (false, format!("{name}: {error}")),
    }
}

/// The services that can prove that a person is present.
fn proofs(config: &Config) -> String {
    let one = |by: &ProofIssuer| format!("{} ({})", by.name, by.issuer);
    let all: Vec<String> = config.verification.iter().map(one).collect();
    if all.is_empty() { "off".to_owned() } else { all.join(", ") }
}

fn mail(config: &Config) -> String {
    config.sign_in.smtp.as_ref().map_or_else(|| "off".to_owned(), ToString::to_string)
}

/// The channels that can notify people.
fn configured_channels(config: &Config) -> String {
    let channels = channels::open(config).unwrap_or_default();
    let all: Vec<&str> = channels.addressable().map(|channel| channel.name()).collect();
    if all.is_empty() { "off".to_owned() } else { all.join(", ") }
}

async fn run_checks(config: &Config) -> Vec<DoctorCheck> {
    let mut findings = Vec::new();
    let running = is_running(config);
    let listen = config.listen.iter().map(|address| ("listen", address));
    let operations = config.operations_listen.iter().map(|address| ("operations_listen", address));
    for (what, address) in listen.chain(operations) {
        let (ok, says) = match TcpListener::bind(address) {
            Ok(_) => (true, format!("{address} is free")),
            Err(error) if running && error.kind() == ErrorKind::AddrInUse => {
                (true, format!("{address} is in use, and a server is running on this database"))
            }
            Err(error) => (false, format!("{address}: {error}")),
        };
        findings.push(DoctorCheck::new(what, ok, says));
    }
    if let Some((cert, key)) = &config.tls {
        let (ok, says) = match RustlsConfig::from_pem_file(cert, key).await {
            Ok(_) => (true, format!("{} and {} match", cert.display(), key.display())),
            Err(error) => (false, format!("{}, {}: {error}", cert.display(), key.display())),
        };
        findings.push(DoctorCheck::new("tls", ok, says));
    }
    let found = database(config).await;
    if found.ok {
        findings.extend(project_retention(config).await);
        findings.extend(durability(config).await);
        findings.extend(keys(config).await);
    }
    findings.push(found);
    findings.extend(anchoring(config));
    if let Some(bucket) = &config.location.bucket {
        findings.push(files(bucket).await);
    }
    for (agent, command) in &config.runtime_commands {
        let (ok, says) = program(command);
        findings.push(DoctorCheck::new("runtime", ok, format!("{agent}: {says}")));
    }
    if let Some(oidc) = &config.sign_in.oidc {
        let checked = match IdentityProvider::new(oidc.clone()) {
            Ok(provider) => provider.check(OsClock.now()).await,
            Err(error) => Err(error),
        };
        let (ok, says) = match checked {
            Ok(()) => (true, format!("{} is a valid OpenID provider", oidc.issuer)),
            Err(error) => (false, format!("{}: {error:#}", oidc.issuer)),
        };
        findings.push(DoctorCheck::new("oidc", ok, says));
    }
    if let Some(why) = Passkeys::new(&config.public_url).err() {
        // Passkeys are optional.
        findings.push(DoctorCheck::new("passkeys", true, format!("none: {why}")));
    }
    match channels::open(config) {
        Err(error) => {
            findings.push(DoctorCheck::new("channels", false, format!("{error:#}")));
        }
        Ok(channels) => {
            for channel in channels.addressable() {
                let (ok, says) = match channel.check().await {
                    Ok(says) => (true, says),
                    Err(failed) => (false, failed.to_string()),
                };
                findings.push(match channel.name() {
                    email::NAME => {
                        DoctorCheck::new("mail", ok, format!("{}: {says}", mail(config)))
                    }
                    name => DoctorCheck::new(name, ok, says),
                });
            }
        }
    }
    let public = config.public_url.scheme() == "https"
        || config.public_url.host_str().is_some_and(|host| host == "localhost");
    let says = if public {
        format!("links use {}", config.public_url)
    } else {
        "links use plain HTTP; set public_url to the https URL".to_owned()
    };
    findings.push(DoctorCheck::new("public_url", public, says));
    findings
}

/// The projects with their own retention period. Empty if the database does not exist yet.
async fn project_retention(config: &Config) -> Vec<DoctorCheck> {
    let what = "retention";
    match &config.location.database {
        DatabaseLocation::Memory => return Vec::new(),
        DatabaseLocation::Sqlite(path) if !path.exists() => return Vec::new(),
        DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => {}
    }
    let directory = match installation::directory(&config.location).await {
        Ok(directory) => directory,
        Err(error) => return vec![DoctorCheck::new(what, false, format!("{error:#}"))],
    };
    let words = |project: &Project| {
        let own = project.retention?.period();
        let says = match own {
            own if own == config.retention => return None,
            Some(retention) => format!(
                "project {}: text of closed requests is erased after {retention}",
                project.id
            ),
            None => format!("project {}: text is kept until it is erased manually", project.id),
        };
        Some(DoctorCheck::new(what, true, says))
    };
    directory.projects().filter_map(words).collect()
}

/// Checks whether the database can be used.
async fn database(config: &Config) -> DoctorCheck {
    let shown = &config.location.database;
    let (ok, says) = match shown {
        DatabaseLocation::Memory => {
            (true, "in memory: data is lost when the server stops".to_owned())
        }
        DatabaseLocation::Sqlite(path) if !path.exists() => {
            (true, format!("{shown} will be created at the first start"))
        }
        DatabaseLocation::Postgres(_) if config.location.master_key.is_none() => {
            (false, format!("{shown} requires master_key, the same on every node"))
        }
        DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => {
            match installation::open_read_only(&config.location).await {
                Ok(_) => (true, format!("{shown} is readable")),
                Err(error) => (false, format!("{shown}: {error:#}")),
            }
        }
    };
    DoctorCheck::new("database", ok, says)
}

/// Checks the durability settings of a database server, and the head of the feed that
/// this node stores.
async fn durability(config: &Config) -> Vec<DoctorCheck> {
    let what = "durability";
    if !matches!(config.location.database, DatabaseLocation::Postgres(_)) {
        return Vec::new();
    }
    let found = match installation::open_read_only(&config.location).await {
        Ok(store) => store.durability().await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![DoctorCheck::new(what, false, format!("{error:#}"))],
    };
    let raised = match found.synchronous_commit.as_str() {
        "off" | "local" | "remote_write" => " (raised to on in every session of the server)",
        _ => "",
    };
    let standbys = match found.synchronous_standby_names.as_str() {
        "" => "no standby server",
        names => names,
    };
    let says = format!(
        "fsync = {}, full_page_writes = {}, synchronous_commit = {}{raised}, \
         synchronous_standby_names: {standbys}",
        found.fsync, found.full_page_writes, found.synchronous_commit
    );
    let mut findings = vec![DoctorCheck::new(what, true, says)];
    findings.extend(found.warnings().into_iter().map(|why| DoctorCheck::warning(what, why)));
    let head = if config.location.data.is_dir() {
        DoctorCheck::new("feed head", true, format!("stored in {}", config.location.data.display()))
    } else {
        let says = format!(
            "not stored on this node; create the folder {} on a separate disk, so that the next \
             start detects a database that lost acknowledged events",
            config.location.data.display()
        );
        DoctorCheck::warning("feed head", says)
    };
    findings.push(head);
    findings
}

/// Checks whether the server's keys exist, once there is an audit log.
async fn keys(config: &Config) -> Vec<DoctorCheck> {
    match &config.location.database {
        DatabaseLocation::Memory => return Vec::new(),
        DatabaseLocation::Sqlite(path) if !path.exists() => return Vec::new(),
        DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => {}
    }
    let looked = async {
        let vault = installation::vault(&config.location, installation::KeyAccess::Look).await?;
        let there = vault.read().await?.is_some();
        let store = installation::open_read_only(&config.location).await?;
        anyhow::Ok((vault.description(), there || store.last_position().await? == 0))
    };
    vec![match looked.await {
        Ok((place, true)) => DoctorCheck::new("keys", true, format!("{place} is readable")),
        Ok((place, false)) => {
            let says = format!(
                "there are no server keys in {place}, but the database has data: restore the keys \
                 from a backup, or start once with --new-server-keys"
            );
            DoctorCheck::new("keys", false, says)
        }
        Err(error) => DoctorCheck::new("keys", false, format!("{error:#}")),
    }]
}

/// Checks whether blocks are anchored outside the server.
fn anchoring(config: &Config) -> Option<DoctorCheck> {
    if matches!(config.location.database, DatabaseLocation::Memory) || config.dev {
        return None;
    }
    let what = "anchoring";
    Some(match &config.anchor_command {
        Some(command) => {
            let (ok, says) = program(command);
            DoctorCheck::new(what, ok, format!("the anchor command receives every block: {says}"))
        }
        None => DoctorCheck::warning(
            what,
            "blocks are stored in the database only, so replacing all data with an older copy \
             cannot be detected; set anchor_command (see docs/audit.md)",
        ),
    })
}

/// Where uploads and artifacts are stored.
fn where_files_are(config: &Config) -> String {
    match (&config.location.bucket, &config.location.database) {
        (Some(bucket), _) => bucket.to_string(),
        (None, DatabaseLocation::Sqlite(_)) => {
            config.location.data.join("files").display().to_string()
        }
        (None, DatabaseLocation::Postgres(_)) => "in the database".to_owned(),
        (None, DatabaseLocation::Memory) => "in memory".to_owned(),
    }
}

/// Checks whether a bucket accepts, returns and deletes files.
async fn files(bucket: &Bucket) -> DoctorCheck {
    let name = Ids::new(Arc::new(OsClock)).ulid();
    let tried = match FileStorage::bucket(bucket, None) {
        Ok(files) => files.test_access(name).await,
        Err(error) => Err(error),
    };
    let (ok, says) = match tried {
        Ok(()) => (true, format!("{bucket} can be written, read and deleted")),
        Err(error) => (false, format!("{bucket}: {error:#}")),
    };
    DoctorCheck::new("files", ok, says)
}

/// Whether a server has the database open.
fn is_running(config: &Config) -> bool {
    let DatabaseLocation::Sqlite(path) = &config.location.database else { return false };
    let mut lock = path.clone().into_os_string();
    lock.push(".lock");
    let Ok(lock) = File::open(lock) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The quotas that differ from the defaults.
fn quotas(given: &kernel::quota::Limits) -> String {
    if given.is_empty() { "defaults".to_owned() } else { given.to_string() }
}
