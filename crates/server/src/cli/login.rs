//! `countersign login`, `logout` and `whoami`: the sign-in of a person on this computer.
//!
//! The command generates the token and sends only its hash through the browser; the page of the
//! server explains the rest (`crates/server/src/http/pages/cli_login.rs`).

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use client::ClientError;
use dialects::native::KeyView;
use gateway::cli_login::InstallationGrant;
use gateway::clock::OsClock;
use gateway::ids::{Ids, NewSecret};
use gateway::installation::{self, DataLocation, KeyAccess};
use gateway::secrets::ServerSecrets;
use kernel::{HumanId, Time};
use reqwest::Method;
use serde_json::{Value, json};
use store::Clock as _;
use subtle::ConstantTimeEq as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::logins::{self, SavedLogin, SavedLogins};
use super::output::{complain, report_table, say};
use super::remote::{CredentialSource, RemoteArgs, client_with, is_loopback};
use super::{Exit, StoredDataArgs, browser};
use crate::config::{SecretString, variable};
use crate::http::pages::installation_proof;

/// How long the command waits for the person to confirm in the browser.
const PATIENCE: Duration = Duration::from_mins(10);
/// How long a browser may take to send its request.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest request of a browser that is read.
const MAX_REQUEST_BYTES: usize = 16 * 1024;
/// The page in which people sign in. Its query holds the secret of a sign-in link.
const SIGN_IN_PATH: &str = "/sign-in";
/// The route that exchanges a proof for a token.
const TOKEN_PATH: &str = "/cli-login/token";

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign login https://ask.example.com\n  \
    countersign login https://ask.example.com --profile work\n  \
    countersign login 'http://localhost:3402/sign-in?token=…'   (a sign-in link, works once)\n  \
    countersign login --local                                   (on the computer of the server)\n\n\
    The token is saved in ~/.config/countersign/logins.toml, which only you can read. It works for \
    90 days, or until `countersign logout`.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct LoginArgs {
    /// The server's address, or a sign-in link [default: `COUNTERSIGN_URL`, else
    /// `http://localhost:3402`]
    #[arg(value_name = "URL")]
    server: Option<String>,
    /// The name under which the sign-in is saved [default: the server's host]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Print the address to open, and ask for the code that its page shows: for a computer without
    /// a browser
    #[arg(long, conflicts_with_all = ["token", "local"])]
    no_browser: bool,
    /// Read a token from standard input instead
    #[arg(long, conflicts_with = "local")]
    token: bool,
    /// Sign in with the keys in the server's data folder, without a browser
    #[arg(long)]
    local: bool,
    /// With --local: the person to sign in as [default: the first administrator]
    #[arg(long, value_name = "ID", requires = "local")]
    human: Option<HumanId>,
    #[command(flatten)]
    stored: StoredDataArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl LoginArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let profile = self.profile.or_else(|| variable("COUNTERSIGN_PROFILE"));
        let saved = SavedLogins::load()?;
        let known = profile.as_deref().and_then(|name| saved.named(name));
        let given = self.server.or_else(|| variable("COUNTERSIGN_URL"));
        let given = given.or_else(|| known.map(|login| login.url.clone()));
        let given = given.unwrap_or_else(|| "http://localhost:3402".to_owned());
        let (url, link) = server_and_link(&given)?;
        // Fail before anything is used up if the token cannot be saved.
        ensure!(logins::path().is_some(), "set HOME or XDG_CONFIG_HOME: the token is saved there");
        let login = if let Some(link) = link {
            let proof = json!({ "link": link.reveal(), "device": device() });
            exchange(&url, &Ids::new(Arc::new(OsClock)).mint("cs_human_"), proof).await?
        } else if self.token {
            pasted(&url).await?
        } else if self.local {
            let location = self.stored.config()?.location;
            with_installation(&url, &location, self.human).await?
        } else if self.no_browser || !browser::is_available() {
            by_code(&url).await?
        } else {
            by_browser(&url).await?
        };
        let profile = profile.unwrap_or_else(|| logins::profile_name(&url));
        let login = SavedLogin { profile, ..login };
        let file = save(&login).await?;
        if self.json {
            say!(
                "{}",
                json!({
                    "profile": login.profile, "url": login.url, "person": login.person,
                    "expires_at": login.expires_at, "file": file,
                })
            );
        } else {
            say!("Signed in to {} as {}.", login.url, login.person);
            say!("Saved as profile {} in {}.", login.profile, file.display());
        }
        if variable("COUNTERSIGN_TOKEN").is_some() {
            complain!(
                "countersign: COUNTERSIGN_TOKEN is set and is used instead of this sign-in; unset it \
                 or pass --profile {}",
                login.profile
            );
        }
        Ok(Exit::Done)
    }
}

/// The base of an address, and the secret if it is a sign-in link.
fn server_and_link(given: &str) -> anyhow::Result<(String, Option<SecretString>)> {
    let expected =
        || format!("“{given}” is not the address of a server: expected http://… or https://…");
    let parsed = Url::parse(given).ok().filter(Url::has_host).with_context(expected)?;
    ensure!(matches!(parsed.scheme(), "http" | "https"), "{}", expected());
    let mut base = parsed.clone();
    base.set_query(None);
    base.set_fragment(None);
    let link = parsed.query_pairs().find(|(name, _)| name == "token");
    let link = link.map(|(_, secret)| SecretString::new(secret.into_owned()));
    let link = link.filter(|_| parsed.path().ends_with(SIGN_IN_PATH));
    if link.is_some() {
        let path = parsed.path().strip_suffix(SIGN_IN_PATH).unwrap_or_default().to_owned();
        base.set_path(&path);
    }
    Ok((base.as_str().trim_end_matches('/').to_owned(), link))
}

/// The name of this computer, for the list of credentials on the server.
fn device() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| {
        let said = std::process::Command::new("hostname").output().ok()?;
        String::from_utf8(said.stdout).ok()
    });
    name.map_or_else(String::new, |name| name.trim().to_owned())
}

/// Gives the server the hash of our token, with a proof of who it is for.
async fn exchange(url: &str, token: &NewSecret, proof: Value) -> anyhow::Result<SavedLogin> {
    try_exchange(url, token, proof).await.map_err(|error| refusal(url, error))
}

async fn try_exchange(
    url: &str,
    token: &NewSecret,
    mut proof: Value,
) -> Result<SavedLogin, ClientError> {
    proof["token"] = json!(token.secret);
    let secret = SecretString::new(token.secret.clone());
    let client = client_with(url, &secret).map_err(|_| ClientError::BadUrl(url.to_owned()))?;
    let key: KeyView = client.call(Method::POST, TOKEN_PATH, Some(&proof)).await?;
    Ok(SavedLogin {
        profile: logins::profile_name(url),
        url: url.to_owned(),
        person: key.holder,
        expires_at: key.expires_at,
        token: secret,
    })
}

fn refusal(url: &str, error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Unreachable { .. } => {
            anyhow::Error::from(error).context(format!("no server answers at {url}"))
        }
        other => other.into(),
    }
}

/// Saves the sign-in. A token of the same name is revoked on its server, because nothing refers to
/// it any more.
async fn save(login: &SavedLogin) -> anyhow::Result<PathBuf> {
    let mut replaced = None;
    let file = SavedLogins::change(|saved| {
        replaced = saved.named(&login.profile).cloned();
        saved.add(login.clone());
    })?;
    if let Some(old) = replaced.filter(|old| old.token.reveal() != login.token.reveal()) {
        // The old token may be expired, or its server gone.
        let _ = revoke(&old).await;
    }
    Ok(file)
}

async fn revoke(login: &SavedLogin) -> anyhow::Result<()> {
    let client = client_with(&login.url, &login.token)?;
    match client.call::<(), Value>(Method::DELETE, TOKEN_PATH, None).await {
        Ok(_) | Err(ClientError::Refused { status: 401, .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

// With a token.

async fn pasted(url: &str) -> anyhow::Result<SavedLogin> {
    let token = read_line("Token: ")?;
    ensure!(!token.is_empty(), "no token was given on standard input");
    let token = SecretString::new(token);
    let client = client_with(url, &token)?;
    let me: Value =
        client.call(Method::GET, "/api/v1/me", None::<&()>).await.map_err(|error| match error {
            ClientError::Refused { status: 401, .. } => {
                anyhow::anyhow!("{url} does not accept this token: it is mistyped or revoked")
            }
            other => refusal(url, other),
        })?;
    ensure!(
        me["kind"] == "human",
        "this is an agent key; set COUNTERSIGN_API_KEY to act as an agent"
    );
    Ok(SavedLogin {
        profile: logins::profile_name(url),
        url: url.to_owned(),
        person: me["id"].as_str().unwrap_or_default().to_owned(),
        expires_at: None,
        token,
    })
}

fn read_line(prompt: &str) -> anyhow::Result<String> {
    let mut terminal = std::io::stderr();
    // The answer can be piped in without anyone seeing the prompt.
    let _ = write!(terminal, "{prompt}");
    let _ = terminal.flush();
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

// With the keys of the installation.

/// Signs in with the keys in the data folder that `countersign serve` uses when it is started in
/// the current folder. `None` if there is none that this user can read, or the server at this
/// address has other keys.
pub(super) async fn with_installation_here(url: &str) -> anyhow::Result<Option<SavedLogin>> {
    let data =
        variable("COUNTERSIGN_DATA").map_or_else(|| "countersign-data".into(), PathBuf::from);
    let readable = std::fs::File::open(data.join("server-keys.json")).is_ok();
    if !readable || logins::path().is_none() {
        return Ok(None);
    }
    let stored = StoredDataArgs {
        data: Some(data.clone()),
        database: None,
        master_key_file: variable("COUNTERSIGN_MASTER_KEY_FILE").map(PathBuf::from),
        config: variable("COUNTERSIGN_CONFIG").map(PathBuf::from),
    };
    let Ok(config) = stored.config() else { return Ok(None) };
    let signing_in = with_installation(url, &config.location, None).await;
    let Ok(login) = signing_in else { return Ok(None) };
    let file = save(&login).await?;
    complain!(
        "Signed in to {url} as {} with the keys in {}. Saved in {}; `countersign logout` ends it.",
        login.person,
        data.display(),
        file.display()
    );
    Ok(Some(login))
}

async fn with_installation(
    url: &str,
    location: &DataLocation,
    human: Option<HumanId>,
) -> anyhow::Result<SavedLogin> {
    ensure!(
        is_loopback(url) || url.starts_with("https://"),
        "{url} is neither https nor this computer: the sign-in would be readable on the way"
    );
    let vault = installation::vault(location, KeyAccess::Look).await?;
    let secrets = ServerSecrets::read(&vault).await?;
    let secrets = secrets.with_context(|| {
        format!(
            "there are no server keys in {}: name the server's data folder with --data",
            vault.description()
        )
    })?;
    let token = Ids::new(Arc::new(OsClock)).mint("cs_human_");
    let sealed = InstallationGrant { human }
        .seal(&secrets, OsClock.now(), &token.hash.to_string())
        .context("the sign-in could not be sealed")?;
    let proof = ProofFile::create(&location.data, &token)?;
    let login = exchange(url, &token, json!({ "installation": sealed, "device": device() })).await;
    drop(proof);
    login
}

/// The file that shows the server that we can write into its data folder. The server removes it; if
/// the server is another one, we do.
struct ProofFile(PathBuf);

impl ProofFile {
    fn create(data: &Path, token: &NewSecret) -> anyhow::Result<Self> {
        let path = data.join(installation_proof(&token.hash.to_string()));
        let created = std::fs::File::create_new(&path);
        created.with_context(|| format!("cannot write into {}", data.display()))?;
        Ok(Self(path))
    }
}

impl Drop for ProofFile {
    fn drop(&mut self) {
        // It is there only if the server did not accept it.
        let _ = std::fs::remove_file(&self.0);
    }
}

// In the browser.

/// A login that is confirmed in the browser: the page to open, and the token that it will let in.
struct PendingLogin {
    token: NewSecret,
    state: String,
    page: String,
}

impl PendingLogin {
    fn new(url: &str, port: Option<u16>) -> anyhow::Result<Self> {
        let ids = Ids::new(Arc::new(OsClock));
        let (token, state) = (ids.mint("cs_human_"), ids.mint("").secret);
        let mut page = Url::parse(&format!("{url}/cli-login"))?;
        page.query_pairs_mut()
            .append_pair("challenge", &token.hash.to_string())
            .append_pair("state", &state)
            .append_pair("device", &device())
            .extend_pairs(port.map(|port| ("port", port.to_string())));
        Ok(Self { token, state, page: page.into() })
    }

    /// The code that the page shows too.
    fn check(&self) -> String {
        let hex = self.token.hash.to_string().to_uppercase();
        format!("{}-{}", hex.get(..4).unwrap_or_default(), hex.get(4..8).unwrap_or_default())
    }
}

/// The person copies a code from the page.
async fn by_code(url: &str) -> anyhow::Result<SavedLogin> {
    let pending = PendingLogin::new(url, None)?;
    complain!("Open this page in a browser in which you are signed in:\n\n  {}\n", pending.page);
    complain!(
        "It must show the code {}. Confirm, and copy the code it then shows.",
        pending.check()
    );
    let code = read_line("Code: ")?;
    ensure!(!code.is_empty(), "no code was given on standard input");
    exchange(url, &pending.token, json!({ "code": code })).await
}

/// The browser brings the code back to a port of this computer.
async fn by_browser(url: &str) -> anyhow::Result<SavedLogin> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let pending = PendingLogin::new(url, Some(listener.local_addr()?.port()))?;
    complain!("Confirm in your browser that it shows the code {}.", pending.check());
    complain!("If it does not open, use this address:\n\n  {}\n", pending.page);
    if !browser::open(&pending.page) {
        complain!("The browser could not be started. Without one, use --no-browser.");
    }
    match tokio::time::timeout(PATIENCE, receive(&listener, url, &pending)).await {
        Ok(login) => login,
        Err(_) => bail!("no one confirmed within ten minutes; run `countersign login` again"),
    }
}

/// Waits for the browser. A request with another state is refused and changes nothing: any page in
/// the browser can send one.
async fn receive(
    listener: &TcpListener,
    url: &str,
    pending: &PendingLogin,
) -> anyhow::Result<SavedLogin> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let Ok(target) = tokio::time::timeout(READ_TIMEOUT, request_target(&mut stream)).await
        else {
            continue;
        };
        let Some(code) = target.as_deref().and_then(|target| code_in(target, &pending.state))
        else {
            respond(&mut stream, "400 Bad Request", "This is not the answer to this sign-in.")
                .await;
            continue;
        };
        let login = exchange(url, &pending.token, json!({ "code": code })).await;
        let (status, text) = match &login {
            Ok(_) => ("200 OK", "You are signed in. Go back to your terminal."),
            Err(_) => ("403 Forbidden", "The sign-in failed. Your terminal shows why."),
        };
        respond(&mut stream, status, text).await;
        return login;
    }
}

/// The target of a GET request; `None` if it is something else.
async fn request_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut part = [0; 2048];
        let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(part.get(..read)?);
        if head.len() > MAX_REQUEST_BYTES {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned))?
}

/// The code in a request, if it carries our state.
fn code_in(target: &str, state: &str) -> Option<String> {
    let url = Url::parse("http://127.0.0.1").ok()?.join(target).ok()?;
    let value = |name: &str| {
        let mut found = url.query_pairs().filter(|(given, _)| given == name);
        found.next().map(|(_, value)| value.into_owned())
    };
    let ours: bool = value("state")?.as_bytes().ct_eq(state.as_bytes()).into();
    value("code").filter(|_| ours && url.path() == "/")
}

async fn respond(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Countersign</title><p>{text}"
    );
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\ncontent-security-policy: default-src 'none'\r\n\
         referrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // The browser may be gone; the terminal says the same.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

// `countersign logout`

#[derive(Args)]
pub(super) struct LogoutArgs {
    /// The saved sign-in to end [default: `COUNTERSIGN_PROFILE`, else the default one]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    profile: Option<String>,
    /// End all saved sign-ins
    #[arg(long)]
    all: bool,
    /// Forget the token even if the server cannot be reached to revoke it
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl LogoutArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let saved = SavedLogins::load()?;
        let named = self.profile.or_else(|| variable("COUNTERSIGN_PROFILE")).filter(|_| !self.all);
        let ended: Vec<SavedLogin> = match named {
            _ if self.all => saved.all().to_vec(),
            Some(name) => {
                let login = saved.named(&name);
                vec![login.cloned().with_context(|| format!("there is no saved sign-in {name}"))?]
            }
            None => saved.default_login().cloned().into_iter().collect(),
        };
        for login in &ended {
            if let Err(error) = revoke(login).await
                && !self.force
            {
                return Err(error.context(format!(
                    "the token for {} could not be revoked and is kept; --force forgets it anyway",
                    login.url
                )));
            }
            SavedLogins::change(|saved| saved.remove(&login.profile))?;
        }
        if self.json {
            let profiles: Vec<&str> = ended.iter().map(|login| login.profile.as_str()).collect();
            say!("{}", json!({ "signed_out": profiles }));
        } else if ended.is_empty() {
            say!("You are not signed in.");
        } else {
            for login in &ended {
                say!("Signed out of {}.", login.url);
            }
        }
        Ok(Exit::Done)
    }
}

// `countersign whoami`

#[derive(Args)]
pub(super) struct WhoamiArgs {
    /// List the saved sign-ins instead, without calling a server
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl WhoamiArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        if self.all {
            return list(self.remote.json);
        }
        let server = self.remote.human_or_agent().await?;
        let me: Value = server.get("/api/v1/me").await?;
        let source = match &server.source {
            CredentialSource::Variable => "the environment".to_owned(),
            CredentialSource::Saved(login) => format!("the saved sign-in {}", login.profile),
            CredentialSource::Dev => "the credentials of `serve --dev`".to_owned(),
        };
        let expires_at = match &server.source {
            CredentialSource::Saved(login) => login.expires_at,
            CredentialSource::Variable | CredentialSource::Dev => None,
        };
        if self.remote.json {
            let profile = match &server.source {
                CredentialSource::Saved(login) => Some(&login.profile),
                CredentialSource::Variable | CredentialSource::Dev => None,
            };
            say!(
                "{}",
                json!({
                    "url": server.url, "profile": profile, "expires_at": expires_at, "me": me,
                })
            );
            return Ok(Exit::Done);
        }
        let id = me["id"].as_str().unwrap_or_default();
        let name = me["name"].as_str().filter(|name| !name.is_empty() && *name != id);
        let kind = match me["kind"].as_str() {
            Some("agent") => "agent",
            _ if me["admin"] == true => "administrator",
            _ => "member",
        };
        let name = name.map(|name| format!("{}, ", kernel::text::reveal(name))).unwrap_or_default();
        say!("{id} ({name}{kind}) at {}", server.url);
        let expires = expires_at.map(|at| format!(", until {at}")).unwrap_or_default();
        say!("by {source}{expires}");
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> anyhow::Result<Exit> {
    let saved = SavedLogins::load()?;
    let default = saved.default_login().map(|login| login.profile.as_str());
    let shown: Vec<Value> = saved
        .all()
        .iter()
        .map(|login| {
            json!({
                "profile": login.profile, "url": login.url, "person": login.person,
                "expires_at": login.expires_at, "default": Some(login.profile.as_str()) == default,
            })
        })
        .collect();
    let row = |login: &Value| {
        let text = |name: &str| login[name].as_str().unwrap_or_default().to_owned();
        let default = if login["default"] == true { "yes" } else { "" };
        let expires: Option<Time> = serde_json::from_value(login["expires_at"].clone()).ok();
        let expires = expires.map_or_else(String::new, |at| at.to_string());
        vec![text("profile"), text("url"), text("person"), default.to_owned(), expires]
    };
    report_table(json, &shown, &["PROFILE", "SERVER", "PERSON", "DEFAULT", "EXPIRES"], row)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_link_names_its_server() {
        let (url, link) = server_and_link("https://ask.example.com/sign-in?token=s3cret").unwrap();
        assert_eq!(url, "https://ask.example.com");
        assert_eq!(link.unwrap().reveal(), "s3cret");
        for (given, url) in [
            ("http://localhost:3402", "http://localhost:3402"),
            ("https://ask.example.com/", "https://ask.example.com"),
            ("https://ask.example.com/?token=x", "https://ask.example.com"),
        ] {
            let (base, link) = server_and_link(given).unwrap();
            assert_eq!(base, url);
            assert!(link.is_none(), "{given}");
        }
        for wrong in ["ask.example.com", "localhost:3402", "ftp://ask.example.com", ""] {
            let error = server_and_link(wrong).err().unwrap().to_string();
            assert!(error.contains("expected http://… or https://…"), "{error}");
        }
    }

    #[test]
    fn only_a_request_with_our_state_carries_a_code() {
        assert_eq!(code_in("/?code=c&state=mine", "mine").as_deref(), Some("c"));
        for target in [
            "/?code=c&state=other",
            "/?code=c",
            "/?state=mine",
            "/favicon.ico?code=c&state=mine",
            "/?code=c&state=other&state=mine",
        ] {
            assert_eq!(code_in(target, "mine"), None, "{target}");
        }
    }
}
