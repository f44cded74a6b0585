//! The real server, as a process.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use client::Client;
use client::hitl::Case;
use serde_json::{Value, json};

pub(crate) const KEY: &str = "dev-agent-key";

pub(crate) struct Server {
    pub(crate) url: String,
    process: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `COUNTERSIGN_BIN`, or the one built beside these tests.
#[expect(clippy::disallowed_methods, reason = "a test is told by its environment what to run")]
fn binary() -> Option<PathBuf> {
    let named = std::env::var_os("COUNTERSIGN_BIN").map(PathBuf::from);
    let built = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("countersign"));
    let found = named.or_else(built).filter(|path| path.is_file());
    let must = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(found.is_some() || !must, "there is no server to test against");
    found
}

impl Server {
    /// `None`, said aloud, where there is no server to start.
    pub(crate) fn start() -> Option<Self> {
        let Some(binary) = binary() else {
            eprintln!("skipped: there is no countersign binary; set COUNTERSIGN_BIN");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let process = Command::new(binary)
            .args(["serve", "--dev", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.path().join("data"))
            .env_remove("COUNTERSIGN_URL")
            .stdout(std::fs::File::create(&out).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { url: String::new(), process, _folder: folder };
        let end = Instant::now() + Duration::from_mins(1);
        while server.url.is_empty() {
            assert!(Instant::now() < end, "the server did not start");
            std::thread::sleep(Duration::from_millis(20));
            let said = std::fs::read_to_string(&out).unwrap();
            let whole = said.lines().any(|line| line.starts_with("  Data"));
            let line = said.lines().find_map(|line| line.strip_prefix("  Inbox "));
            if let Some(url) =
                line.filter(|_| whole).and_then(|line| line.split_whitespace().next())
            {
                url.trim_end_matches('/').clone_into(&mut server.url);
            }
        }
        Some(server)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, KEY).unwrap()
    }

    /// A case, as a service makes it.
    pub(crate) async fn case(&self, body: &Value) -> Case {
        let made = reqwest::Client::new()
            .post(format!("{}/hitl/v1/cases", self.url))
            .bearer_auth(KEY)
            .json(body)
            .send();
        Case::of(made.await.unwrap()).await.unwrap().1.unwrap()
    }

    /// What somebody does on the page, by its link.
    pub(crate) async fn respond(&self, review_url: &str, action: &str, data: Value) {
        let url = review_url.replace("/review/", "/hitl/v1/reviews/").replace('?', "/respond?");
        let body = json!({ "action": action, "data": data });
        let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{:?}", answer.text().await);
    }

    /// The key withdraws a case.
    pub(crate) async fn cancel(&self, case_id: &str) {
        let url = format!("{}/hitl/v1/reviews/{case_id}/cancel", self.url);
        let body = json!({ "reason": "changed our mind" });
        let request = reqwest::Client::new().post(url).bearer_auth(KEY).json(&body);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
}
