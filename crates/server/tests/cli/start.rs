//! Starting with nothing, with the names of the upstream server, and with settings that are wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::support::{Server, countersign, eventually, serve};
use super::{at, cli, run};

/// What follows a name in the words at the start.
fn told(said: &str, name: &str) -> Option<String> {
    let line = said.lines().find_map(|line| line.trim().strip_prefix(name))?;
    Some(line.trim().to_owned())
}

/// Exchanges a sign-in link for a session, as the page's button does.
fn signs_in(server: &Server, link: &str) -> bool {
    use std::io::{Read, Write};
    let (_, token) = link.split_once("token=").unwrap();
    let port: u16 = server.port().parse().unwrap();
    let exchange = |head: &str, body: &str| {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let length = body.len();
        let more = "content-type: application/x-www-form-urlencoded\r\nconnection: close";
        write!(
            stream,
            "{head}\r\nhost: localhost\r\n{more}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let between = |text: &str, start: &str, end: char| {
        let (_, rest) = text.split_once(start)?;
        rest.split(end).next().map(str::to_owned)
    };
    let page = exchange(&format!("GET /sign-in?token={token} HTTP/1.1"), "");
    let cookie = between(&page, "set-cookie: ", ';');
    let csrf = between(&page, "name=\"csrf\" value=\"", '"');
    let (Some(cookie), Some(csrf)) = (cookie, csrf) else { return false };
    let head = format!("POST /sign-in HTTP/1.1\r\ncookie: {cookie}");
    let answer = exchange(&head, &format!("csrf={csrf}&token={token}"));
    answer.starts_with("HTTP/1.1 303") && answer.contains("set-cookie: countersign=")
}

#[test]
fn nothing_is_needed_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = countersign();
    command.current_dir(folder.path()).arg("serve").env("COUNTERSIGN_LISTEN", "localhost:0");
    let first = Server::start(&mut command);
    let said = first.stdout();
    let key = told(&said, "Agent key").unwrap();
    let link = told(&said, "Sign in").unwrap();
    assert!(key.starts_with("cs_agent_"), "{said}");
    assert!(link.starts_with(&format!("{}/sign-in?token=", first.url)), "{said}");
    assert_eq!(said.matches(&*key).count(), 1);
    assert!(!first.stderr().contains(&key) && !first.stderr().contains(&link));
    run(at(&first, &["ask", "Go?"]).env("COUNTERSIGN_API_KEY", &key)).ok();
    // Both loopback addresses, on one port.
    let six = format!("http://[::1]:{}", first.port());
    run(countersign().args(["ask", "Go?", "--url", &six]).env("COUNTERSIGN_API_KEY", &key)).ok();
    first.stop();

    // Nobody has signed in yet: a fresh link, but no second key.
    let second = Server::start(&mut command);
    let said = second.stdout();
    assert_eq!(told(&said, "Agent key"), None, "{said}");
    let fresh = told(&said, "Sign in").unwrap();
    assert_ne!(fresh, link);
    assert!(signs_in(&second, &fresh));
    assert!(!signs_in(&second, &fresh), "a link works once");
    run(at(&second, &["ask", "Go?"]).env("COUNTERSIGN_API_KEY", &key)).ok();
    second.stop();
    let third = Server::start(&mut command);
    assert_eq!(told(&third.stdout(), "Sign in"), None, "somebody is signed in");

    let data = folder.path().join("countersign-data");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for name in ["countersign.db", "countersign.db-wal", "server-keys.json", "master.key"] {
        assert_eq!(mode(&data.join(name)), 0o600, "{name}");
    }
}

/// A folder everybody may look into does not make the answers public.
#[test]
fn files_are_private_in_a_folder_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _server = Server::dev(folder.path());
    for name in ["countersign.db", "countersign.db-wal", "countersign.db-shm", "server-keys.json"] {
        let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[test]
fn dev_says_so_loudly_and_keeps_its_folder_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, "dev = true\nlisten = \"127.0.0.1:0\"\n").unwrap();
    for words in [&["--dev"][..], &["--config", settings.to_str().unwrap()]] {
        let mut command = countersign();
        command.current_dir(folder.path()).arg("serve").args(words);
        command.env("COUNTERSIGN_LISTEN", "127.0.0.1:0").env("TMPDIR", folder.path());
        let server = Server::start(&mut command);
        let said = server.stdout();
        assert!(said.contains("DEV MODE") && said.contains("dev-agent-key"), "{said}");
        let data = told(&said, "Data").unwrap();
        assert!(data.contains("countersign-dev-"), "{data}");
        cli(&server, &["ask", "Go?"]).ok();
        server.stop();
        assert!(!Path::new(&data).exists(), "the temporary folder is left");
    }
    assert!(!folder.path().join("countersign-data").exists());
}

/// HXPX-082: a deployment of the upstream server keeps its environment.
#[test]
fn the_names_of_the_upstream_server_work() {
    let data = tempfile::tempdir().unwrap();
    let upstream = |port: &str| {
        let mut command = countersign();
        command.args(["serve", "--data"]).arg(data.path());
        command.env("PORT", port).env("SERVER_SECRET", "upstream-secret");
        command.env("AGENT_API_KEYS", "agent-one, agent-two").env("HUMAN_TOKENS", "human-one");
        command
    };
    let server = Server::start(&mut upstream("0"));
    let agent =
        |key: &str| run(at(&server, &["ask", "Go?", "--json"]).env("COUNTERSIGN_API_KEY", key));
    agent("agent-two").json();
    let id = agent("agent-one").json()["id"].as_str().unwrap().to_owned();
    let mut answer = at(&server, &["answer", &id, "approve"]);
    run(answer.env("COUNTERSIGN_TOKEN", "human-one")).ok();
    let said = server.stdout();
    assert!(told(&said, "Agent key").is_none(), "no key is made beside those given: {said}");
    for secret in ["agent-one", "human-one", "upstream-secret"] {
        assert!(!said.contains(secret) && !server.stderr().contains(secret));
    }
    // The port is the one that was asked for, and the secret seals the receipts.
    let port = server.port().to_owned();
    server.stop();
    let server =
        eventually("the port is free again", || Server::try_start(&mut upstream(&port)).ok());
    assert_eq!(server.port(), port);
    let keys = fs::read_to_string(data.path().join("server-keys.json")).unwrap();
    assert!(!keys.contains("upstream-secret"), "given secrets are not stored");

    let wrong = run(&mut upstream("http")).failed(4);
    assert!(wrong.contains("a port from 0 to 65535"), "{wrong}");
}

#[test]
fn settings_that_are_wrong_are_named() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("settings.toml");
    let refused = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut command = serve(data.path().join("never"));
        run(command.arg("--config").arg(&file)).failed(4)
    };
    let unknown = refused("lisen = \"localhost:1\"");
    assert!(unknown.contains("lisen") && unknown.contains("settings.toml"), "{unknown}");
    assert!(refused("body_limit = \"much\"").contains("body_limit"));
    assert!(refused("no toml").contains("settings.toml"));
    let mut missing = serve(data.path().join("never"));
    let missing = run(missing.args(["--config", "/nowhere.toml"])).failed(4);
    assert!(missing.contains("cannot read /nowhere.toml"), "{missing}");
    let mut level = serve(data.path().join("never"));
    assert!(run(level.args(["--log-level", "a=b=c"])).failed(4).contains("log_level"));
    let file = data.path().join("file");
    fs::write(&file, "").unwrap();
    let folder = run(&mut serve(file.join("data"))).failed(4);
    assert!(folder.contains("cannot make the folder"), "{folder}");
    assert!(!data.path().join("never").exists(), "nothing is made");
}

#[test]
fn memory_keeps_nothing_and_says_so() {
    let data = tempfile::tempdir().unwrap();
    let mut command = serve(data.path().join("never"));
    let server = Server::start(command.args(["--dev", "--database", "memory:"]));
    assert!(server.stdout().contains("in memory: data is lost when the server stops"));
    cli(&server, &["ask", "Go?"]).ok();
    server.stop();
    assert!(!data.path().join("never").exists());
}

/// Without its keys a server cannot prove what it signed: it never makes others by itself.
#[test]
fn lost_keys_are_not_replaced_silently() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::dev(&data);
    cli(&server, &["ask", "Go?"]).ok();
    server.stop();
    let keys = data.join("server-keys.json");
    let kept = fs::read(&keys).unwrap();
    let refused = |more: &[&str]| {
        let mut command = serve(&data);
        let Err((status, said)) = Server::try_start(command.arg("--dev").args(more)) else {
            panic!("it started without its keys")
        };
        assert_eq!(status.code(), Some(4), "{said}");
        said
    };
    fs::remove_file(&keys).unwrap();
    let said = refused(&[]);
    assert!(said.contains("there are no server keys in"), "{said}");
    assert!(said.contains("from a backup") && said.contains("--new-server-keys"), "{said}");
    assert!(!keys.exists(), "nothing was made");
    let looked = run(countersign().args(["doctor", "--data"]).arg(&data)).out;
    assert!(looked.contains("WRONG  keys: there are no server keys in"), "{looked}");
    for damaged in [&b"{"[..], b"", b"[]"] {
        fs::write(&keys, damaged).unwrap();
        let said = refused(&[]);
        assert!(said.contains("the server's keys cannot be read: restore"), "{said}");
        assert_eq!(fs::read(&keys).unwrap(), damaged, "nothing was overwritten");
    }
    // What cannot be read at all.
    fs::remove_file(&keys).unwrap();
    fs::create_dir(&keys).unwrap();
    assert!(refused(&[]).contains("the server's keys cannot be read: restore"));
    fs::remove_dir(&keys).unwrap();

    // A backup of them is all it takes.
    fs::write(&keys, &kept).unwrap();
    Server::dev(&data).stop();
    let said = refused(&["--new-server-keys"]);
    assert!(said.contains("there are server keys in"), "{said}");

    // Who has none makes others on purpose, once.
    fs::remove_file(&keys).unwrap();
    let server = Server::start(serve(&data).args(["--dev", "--new-server-keys"]));
    cli(&server, &["ask", "Go?"]).ok();
    server.stop();
    assert_ne!(fs::read(&keys).unwrap(), kept);
    Server::dev(&data).stop();
}
