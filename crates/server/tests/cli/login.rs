//! `countersign login`, `logout`, `whoami` and the saved sign-ins. HTTP calls stand in for the
//! person and their browser.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use reqwest::header::{COOKIE, HeaderMap, REFRESH, SET_COOKIE};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::support::{Server, countersign, eventually, serve};
use super::{Ran, run};

/// The answer to a call.
struct Page {
    status: u16,
    headers: HeaderMap,
    text: String,
}

/// A browser with the cookies of one server.
struct Browser {
    runtime: Runtime,
    http: reqwest::Client,
    url: String,
    cookies: Vec<(String, String)>,
}

impl Browser {
    /// A browser that has been nowhere yet.
    fn new(server: &Server) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let http = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
        Self { runtime, http, url: server.url.clone(), cookies: Vec::new() }
    }

    /// A browser that is signed in with the link that the server printed.
    fn signed_in(server: &Server) -> Self {
        let mut browser = Self::new(server);
        browser.enter(&sign_in_link(server));
        browser
    }

    /// Signs in with a link.
    fn enter(&mut self, link: &str) -> Page {
        let page = self.get(link);
        let token = link.split_once("token=").unwrap().1.to_owned();
        let csrf = hidden(&page.text, "csrf");
        let entered = self.post("/sign-in", &[("csrf", &csrf), ("token", &token)]);
        assert_eq!(entered.status, 303, "{}", entered.text);
        entered
    }

    fn get(&mut self, url: &str) -> Page {
        let url = self.address(url);
        let request = self.http.get(url).header(COOKIE, self.cookie());
        self.call(request)
    }

    fn post(&mut self, url: &str, form: &[(&str, &str)]) -> Page {
        let url = self.address(url);
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(form);
        let request = self.http.post(url).header(COOKIE, self.cookie());
        let kind = "application/x-www-form-urlencoded";
        self.call(request.header("content-type", kind).body(body.finish()))
    }

    fn json(&mut self, url: &str, body: &Value) -> Page {
        let request = self.http.post(self.address(url)).json(body);
        self.call(request)
    }

    fn with_token(&mut self, method: reqwest::Method, url: &str, token: &str) -> Page {
        let request = self.http.request(method, self.address(url)).bearer_auth(token);
        self.call(request)
    }

    fn address(&self, url: &str) -> String {
        if url.starts_with("http") { url.to_owned() } else { format!("{}{url}", self.url) }
    }

    fn cookie(&self) -> String {
        let pairs = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    fn call(&mut self, request: reqwest::RequestBuilder) -> Page {
        let page = self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            Page { status, headers, text: answer.text().await.unwrap() }
        });
        for line in page.headers.get_all(SET_COOKIE) {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
        page
    }

    /// Confirms on the page of a login, and gives the answer to that.
    fn confirm(&mut self, page: &Page) -> Page {
        let names = ["csrf", "challenge", "state", "device", "port"];
        let values: Vec<(&str, String)> = names
            .into_iter()
            .filter(|name| page.text.contains(&format!("name=\"{name}\"")))
            .map(|name| (name, hidden(&page.text, name)))
            .collect();
        let form: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post("/cli-login", &form)
    }
}

/// The value of an input.
fn hidden(page: &str, name: &str) -> String {
    let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| {
        panic!("there is no {name} in {page}");
    });
    rest.1.split('"').next().unwrap().to_owned()
}

/// The link that the server printed on its first start.
fn sign_in_link(server: &Server) -> String {
    let said = server.stdout();
    let line = said.lines().find(|line| line.contains("/sign-in?token=")).unwrap();
    line.trim().trim_start_matches("Sign in").trim().to_owned()
}

/// A user of a computer: a configuration folder, and a folder to work in.
struct User {
    folder: TempDir,
}

impl User {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    fn logins(&self) -> PathBuf {
        self.config().join("countersign/logins.toml")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = countersign();
        command.env("XDG_CONFIG_HOME", self.config()).current_dir(self.folder.path()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        run(&mut self.command(args))
    }

    /// Starts `countersign login` with a browser that notes the address to open.
    fn login(&self, args: &[&str]) -> (Child, String) {
        let opened = self.folder.path().join("opened");
        let _ = fs::remove_file(&opened);
        let program = self.folder.path().join("browser");
        let script =
            format!("#!/bin/sh\necho \"$1\" > {0}.new && mv {0}.new {0}\n", opened.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = self.command(args);
        command.env("BROWSER", &program).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let page = eventually("the browser is opened", || fs::read_to_string(&opened).ok());
        (child, page.trim().to_owned())
    }

    /// The token of the newest sign-in.
    fn token(&self) -> String {
        let saved: toml::Table = fs::read_to_string(self.logins()).unwrap().parse().unwrap();
        let newest = saved["login"].as_array().unwrap().last().unwrap();
        newest["token"].as_str().unwrap().to_owned()
    }
}

fn ended(child: Child) -> Ran {
    let done = child.wait_with_output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

/// The address to which a confirmed page leads back.
fn back(page: &Page) -> String {
    assert_eq!(page.status, 200, "{}", page.text);
    let refresh = page.headers[REFRESH].to_str().unwrap();
    refresh.strip_prefix("0;url=").unwrap().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_person_confirms_in_the_browser() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&mut serve(data.path()));
    let (mut browser, user) = (Browser::signed_in(&server), User::new());
    let (child, page) = user.login(&["login", &server.url]);
    assert!(page.starts_with(&format!("{}/cli-login?challenge=", server.url)), "{page}");
    assert!(!page.contains("cs_human_"), "the token is not in the address");

    // Anyone else gets the sign-in page, and a form without the token of the session nothing.
    assert_eq!(Browser::new(&server).get(&page).status, 401);
    let shown = browser.get(&page);
    assert_eq!(shown.status, 200);
    let challenge = hidden(&shown.text, "challenge");
    let check = format!("{}-{}", &challenge[..4], &challenge[4..8]).to_uppercase();
    assert!(shown.text.contains(&check), "{}", shown.text);
    let state = hidden(&shown.text, "state");
    let forged = [("challenge", challenge.as_str()), ("state", &state), ("csrf", "x")];
    assert_eq!(browser.post("/cli-login", &forged).status, 403);

    let confirmed = browser.confirm(&shown);
    let back = back(&confirmed);
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");
    let wrong = back.replace(&state, "another-state-of-some-length");
    assert_eq!(browser.get(&wrong).status, 400);
    let (port, _) = back.split_once("/?").unwrap();
    assert_eq!(browser.get(&format!("{port}/favicon.ico")).status, 400);
    assert!(!user.logins().exists(), "nothing is saved before the right answer comes");
    let done = browser.get(&back);
    assert_eq!(done.status, 200);
    assert!(done.text.contains("You are signed in"), "{}", done.text);
    let ran = ended(child);
    assert!(ran.err.contains(&check), "{}", ran.err);
    let said = ran.ok();
    assert!(said.contains(&format!("Signed in to {} as owner.", server.url)), "{said}");

    assert_eq!(mode(&user.logins()), 0o600);
    assert_eq!(mode(user.logins().parent().unwrap()), 0o700);
    assert_eq!(user.run(&["inbox"]).ok(), "All caught up: no request waits for you.\n");
    let me = user.run(&["whoami"]).ok();
    assert!(me.contains(&format!("owner (administrator) at {}", server.url)), "{me}");
    let me = user.run(&["whoami", "--json"]).json();
    assert_eq!(me["me"]["id"], "owner");
    assert!(me["expires_at"].is_string(), "{me}");
    let listed = user.run(&["keys", "list"]).ok();
    assert!(listed.contains("countersign login on "), "{listed}");

    // The code works once, even for the token that it was made for.
    let token = user.token();
    let code = back.split_once("code=").unwrap().1.split('&').next().unwrap().to_owned();
    let again = browser.json("/cli-login/token", &json!({ "token": token, "code": code }));
    assert_eq!(again.status, 401, "{}", again.text);
    let other = format!("cs_human_{}", "A".repeat(43));
    let stolen = browser.json("/cli-login/token", &json!({ "token": other, "code": code }));
    assert_eq!(stolen.status, 401, "{}", stolen.text);

    assert_eq!(user.run(&["logout"]).ok(), format!("Signed out of {}.\n", server.url));
    let me = browser.with_token(reqwest::Method::GET, "/api/v1/me", &token);
    assert_eq!(me.status, 401, "the token is revoked on the server");
    assert!(!fs::read_to_string(user.logins()).unwrap().contains("cs_human_"));
    assert_eq!(user.run(&["logout"]).ok(), "You are not signed in.\n");
    assert!(!server.stderr().contains(&token) && !server.stderr().contains(&code));
    server.stop();
}

#[test]
fn a_code_is_copied_where_there_is_no_browser() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&mut serve(data.path()));
    let (mut browser, user) = (Browser::signed_in(&server), User::new());
    let begin = || {
        let mut command = user.command(&["login", &server.url, "--json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let page = lines.find_map(|line| {
            let line = line.unwrap().trim().to_owned();
            line.starts_with("http").then_some(line)
        });
        (child, page.unwrap())
    };
    let finish = |mut child: Child, code: &str| {
        writeln!(child.stdin.take().unwrap(), "{code}").unwrap();
        ended(child)
    };
    let (first, page) = begin();
    let shown = browser.get(&page);
    assert!(!shown.text.contains("name=\"port\""), "{}", shown.text);
    let confirmed = browser.confirm(&shown);
    assert!(!confirmed.headers.contains_key(REFRESH));
    let code = hidden(
        &confirmed
            .text
            .replace("id=\"code\" class=\"mono\" type=\"text\" readonly", "name=\"code\""),
        "code",
    );

    // Someone else's terminal cannot use it, and guessing changes nothing.
    let (other, _) = begin();
    let refused = finish(other, &code);
    assert_eq!(refused.code, 4);
    assert!(!user.logins().exists());

    let signed_in = finish(first, &code).json();
    assert_eq!(signed_in["person"], "owner");
    assert_eq!(signed_in["profile"], json!(server.url.strip_prefix("http://").unwrap()));
    user.run(&["inbox"]).ok();
    server.stop();
}

/// Whoever is not signed in yet comes back to the page after signing in.
#[test]
fn signing_in_leads_back_to_the_confirmation() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&mut serve(data.path()));
    let (mut browser, user) = (Browser::new(&server), User::new());
    let (child, page) = user.login(&["login", &server.url]);
    assert_eq!(browser.get(&page).status, 401);
    let entered = browser.enter(&sign_in_link(&server));
    let next = entered.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(format!("{}{next}", server.url), page);
    let shown = browser.get(&next);
    let back = back(&browser.confirm(&shown));
    assert_eq!(browser.get(&back).status, 200);
    ended(child).ok();
    // Only to this page, and only once.
    for elsewhere in ["//evil.example/", "https://evil.example", "/cli-login?x=\\evil", "/history"]
    {
        let link = user.run(&["people", "link", "owner"]).ok();
        let mut browser = Browser::new(&server);
        browser.cookies.push(("countersign-return".to_owned(), elsewhere.to_owned()));
        assert_eq!(browser.enter(link.trim()).headers["location"], "/", "{elsewhere}");
    }
    server.stop();
}

#[test]
fn a_sign_in_link_works_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&mut serve(data.path()));
    let (link, user) = (sign_in_link(&server), User::new());
    let said = user.run(&["login", &link]).ok();
    assert!(said.contains("as owner"), "{said}");
    user.run(&["people", "list"]).ok();
    let sessions = user.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions, json!([]), "the session that used the link has ended");
    let again = User::new().run(&["login", &link]).failed(4);
    assert!(again.contains("wrong, has expired or was used before"), "{again}");
    let nonsense = format!("{}/sign-in?token=nonsense", server.url);
    assert!(user.run(&["login", &nonsense]).failed(4).contains("was used before"));
    // A browser cannot use it either.
    let mut browser = Browser::new(&server);
    let page = browser.get(&link);
    let csrf = hidden(&page.text, "csrf");
    let token = link.split_once("token=").unwrap().1;
    assert_eq!(browser.post("/sign-in", &[("csrf", &csrf), ("token", token)]).status, 401);
    server.stop();
}

#[test]
fn profiles_select_the_server_and_the_person() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let user = User::new();
    let login = |profile: &str, token: &str| {
        let mut command = user.command(&["login", &server.url, "--token", "--profile", profile]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{token}").unwrap();
        ended(child)
    };
    login("admin", "dev-human-token").ok();
    login("member", "dev-human-token-2").ok();
    let wrong = login("other", "no-token").failed(4);
    assert!(wrong.contains("does not accept this token"), "{wrong}");
    let agent = login("other", "dev-agent-key").failed(4);
    assert!(agent.contains("this is an agent key"), "{agent}");

    let who = |args: &[&str]| user.run(&[&["whoami", "--json"], args].concat()).json();
    assert_eq!(who(&[])["me"]["id"], "user_dev_2", "the newest is the default");
    assert_eq!(who(&["--profile", "admin"])["me"]["id"], "user_dev");
    let with = |name: &str, value: &str, args: &[&str]| {
        run(user.command(&[&["whoami", "--json"], args].concat()).env(name, value)).json()
    };
    assert_eq!(with("COUNTERSIGN_PROFILE", "admin", &[])["me"]["id"], "user_dev");
    let chosen = with("COUNTERSIGN_PROFILE", "admin", &["--profile", "member"]);
    assert_eq!(chosen["me"]["id"], "user_dev_2", "the option wins over the variable");
    let address = with("COUNTERSIGN_URL", &server.url, &[]);
    assert_eq!(address["profile"], "member", "the sign-in to the server that is named");
    // A token in the environment may be for another server, so it is not sent to a profile's.
    let token = run(user
        .command(&["whoami", "--json", "--profile", "admin"])
        .env("COUNTERSIGN_TOKEN", "elsewhere"));
    assert_eq!(token.json()["me"]["id"], "user_dev");
    let unknown = user.run(&["inbox", "--profile", "nobody"]).failed(4);
    assert!(unknown.contains("saved: admin, member"), "{unknown}");
    user.run(&["inbox", "--profile", "admin", "--url", &server.url]).failed(64);

    let all = user.run(&["whoami", "--all", "--json"]).json();
    assert_eq!(all[1]["default"], true, "{all}");
    assert!(!all.to_string().contains("dev-human-token"));
    let table = user.run(&["whoami", "--all"]).ok();
    assert!(table.starts_with("PROFILE  SERVER"), "{table}");
    user.run(&["logout", "--profile", "member"]).ok();
    assert_eq!(who(&[])["me"]["id"], "user_dev", "the other one becomes the default");

    // Others must not be able to read the tokens.
    fs::set_permissions(user.logins(), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = user.run(&["inbox"]).failed(4);
    assert!(
        refused.contains("readable by other users") && refused.contains("chmod 600"),
        "{refused}"
    );
    fs::set_permissions(user.logins(), fs::Permissions::from_mode(0o600)).unwrap();

    // A server that is gone cannot revoke the token; --force forgets it.
    server.stop();
    let kept = user.run(&["logout"]).failed(4);
    assert!(kept.contains("--force"), "{kept}");
    user.run(&["logout", "--force"]).ok();
    assert_eq!(user.run(&["whoami", "--all", "--json"]).json(), json!([]));
}

/// `make run`, and `countersign inbox` in the same folder.
#[test]
fn the_keys_of_the_installation_sign_in_on_the_same_computer() {
    let user = User::new();
    let data = user.folder.path().join("countersign-data");
    let server = Server::start(&mut serve(&data));
    let first = run(user.command(&["inbox"]).env("COUNTERSIGN_URL", &server.url));
    assert!(first.err.contains("Signed in to"), "{}", first.err);
    assert!(first.err.contains("as owner with the keys in countersign-data"), "{}", first.err);
    assert_eq!(first.ok(), "All caught up: no request waits for you.\n");
    assert_eq!(mode(&user.logins()), 0o600);
    let second = user.run(&["inbox"]);
    assert_eq!(second.err, "", "the sign-in is saved");
    second.ok();

    // Another person, and another folder.
    user.run(&["people", "add", "ada", "--project", "default"]).ok();
    let data = data.to_str().unwrap();
    let local = ["login", &server.url, "--local", "--data", data];
    user.run(&[&local[..], &["--human", "ada", "--profile", "ada"]].concat()).ok();
    assert_eq!(user.run(&["whoami", "--json"]).json()["me"]["id"], "ada");
    let nobody = user.run(&[&local[..], &["--human", "nobody"]].concat()).failed(4);
    assert!(nobody.contains("no such person"), "{nobody}");
    let far = user.run(&["login", "http://ask.example.com", "--local", "--data", data]).failed(4);
    assert!(far.contains("neither https nor this computer"), "{far}");
    let empty = user.run(&["login", &server.url, "--local", "--data", "/nowhere"]).failed(4);
    assert!(empty.contains("there are no server keys in"), "{empty}");

    // The keys of another installation open nothing, and the message says what to do.
    let other = User::new();
    let strange = other.folder.path().join("countersign-data");
    Server::start(&mut serve(&strange)).stop();
    let refused = run(other.command(&["inbox"]).env("COUNTERSIGN_URL", &server.url)).failed(4);
    assert!(refused.contains("you are not signed in."), "{refused}");
    assert!(refused.contains(&format!("Run `countersign login {}`", server.url)), "{refused}");
    assert!(!other.logins().exists());
    server.stop();
}

#[test]
fn a_token_is_only_accepted_in_the_form_of_the_server() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut browser = Browser::new(&server);
    let token = format!("cs_human_{}", "x".repeat(43));
    for (body, status) in [
        (json!({ "token": "short", "code": "c" }), 422),
        (json!({ "token": token }), 422),
        (json!({ "token": token, "code": "c", "link": "l" }), 422),
        (json!({ "token": token, "code": "c" }), 401),
        (json!({ "token": token, "link": "dev-human-token" }), 401),
        (json!({ "token": token, "installation": "i" }), 401),
        (json!({ "token": token, "kode": "c" }), 400),
    ] {
        let answer = browser.json("/cli-login/token", &body);
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
    }
    // Only the holder of a token revokes it, and an agent key is not one.
    let delete = reqwest::Method::DELETE;
    for (credential, status) in
        [("nobody", 401), ("dev-agent-key", 401), ("dev-human-token-2", 204)]
    {
        let answer = browser.with_token(delete.clone(), "/cli-login/token", credential);
        assert_eq!(answer.status, status, "{credential}: {}", answer.text);
    }
    server.stop();
}
