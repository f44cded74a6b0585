//! A mail server that keeps what it is given, or refuses it as it is told to.

use std::sync::{Arc, Mutex};

use server::config::{SecretString, Settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::world::{World, dev, eventually};

#[derive(Clone, Default)]
struct Box {
    letters: Arc<Mutex<Vec<Letter>>>,
    says: Arc<Mutex<Vec<&'static str>>>,
}

/// One letter as it came.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) to: String,
    raw: String,
}

pub(crate) struct Post {
    port: u16,
    kept: Box,
    _serving: JoinSet<()>,
}

impl Post {
    /// It answers letters with these, last first, then takes them.
    pub(crate) async fn open(says: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let kept = Box { says: Arc::new(Mutex::new(says.to_vec())), ..Box::default() };
        let mut serving = JoinSet::new();
        let desk = kept.clone();
        serving.spawn(async move {
            let mut clerks = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let desk = desk.clone();
                clerks.spawn(async move { drop(serve(stream, desk).await) });
            }
        });
        Self { port, kept, _serving: serving }
    }

    /// A server in development whose mail goes here.
    pub(crate) async fn world(&self) -> World {
        World::with(self.carrying(dev())).await
    }

    /// These settings, with mail that goes here.
    pub(crate) fn carrying(&self, settings: Settings) -> Settings {
        let url = format!("smtp://127.0.0.1:{}?tls=none&from=agents%40example.com", self.port);
        Settings { smtp_url: Some(SecretString::new(url)), ..settings }
    }

    /// What it will answer next, last first.
    pub(crate) fn say(&self, says: &[&'static str]) {
        *self.kept.says.lock().unwrap() = says.to_vec();
    }

    /// Until it has only so much left of what it was to answer.
    pub(crate) async fn said_until(&self, left: usize) {
        let said = async || self.kept.says.lock().unwrap().len() == left;
        eventually("an answer of the mail server", said).await;
    }

    /// How much is left of what it was to answer.
    pub(crate) fn left(&self) -> usize {
        self.kept.says.lock().unwrap().len()
    }

    pub(crate) fn letters(&self) -> Vec<Letter> {
        self.kept.letters.lock().unwrap().clone()
    }

    /// The last letter, when so many have come.
    pub(crate) async fn letter(&self, times: usize) -> Letter {
        eventually("a letter", async || self.letters().len() >= times).await;
        assert_eq!(self.letters().len(), times, "{:#?}", self.letters());
        self.letters().pop().unwrap()
    }
}

impl Letter {
    /// Its source, without what mail does to lines that are long.
    pub(crate) fn source(&self) -> String {
        self.raw.replace("=\r\n", "").replace("=3D", "=")
    }

    /// A header of it.
    pub(crate) fn header(&self, name: &str) -> String {
        let head = self.raw.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
        let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("{name}: {head}")).to_owned()
    }

    /// The code in it.
    pub(crate) fn code(&self) -> String {
        let digits = |line: &&str| line.len() == 6 && line.bytes().all(|b| b.is_ascii_digit());
        self.raw.lines().find(digits).unwrap().to_owned()
    }
}

async fn serve(stream: TcpStream, desk: Box) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut to = String::new();
    write.write_all(b"220 here\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let word = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let answer = match word.as_str() {
            "RCPT" => {
                to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                let refused = desk.says.lock().unwrap().pop();
                refused.unwrap_or("250 fine").to_owned()
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await?;
                let mut raw = String::new();
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    raw.push_str(line.strip_prefix('.').unwrap_or(&line));
                    raw.push_str("\r\n");
                }
                desk.letters.lock().unwrap().push(Letter { to: to.clone(), raw });
                "250 taken".to_owned()
            }
            "QUIT" => "221 bye".to_owned(),
            _ => "250 fine".to_owned(),
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}
