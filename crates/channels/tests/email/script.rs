//! A mail server that says what it is told to, for what a real one cannot be made to do in time.

use std::net::Ipv4Addr;
use std::time::Duration;

use channels::SecretString;
use channels::email::imap::{Imap, ImapSecurity, ImapSettings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use crate::handlers::{KeepingHandler, reader};
use crate::tls::trusting;

struct Server {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writes: OwnedWriteHalf,
}

impl Server {
    /// What it is asked: the tag and the command.
    async fn asked(&mut self) -> (String, String) {
        let line = timeout(Duration::from_secs(20), self.lines.next_line()).await;
        let line = line.expect("nothing is asked").unwrap().unwrap_or_default();
        let (tag, command) = line.split_once(' ').unwrap_or(("", &line));
        (tag.to_owned(), command.to_owned())
    }

    async fn say(&mut self, text: &str) {
        self.writes.write_all(text.as_bytes()).await.unwrap();
    }

    /// Waits for a command, and answers it with these lines and that it was done.
    async fn expect(&mut self, command: &str, lines: &str) {
        let (tag, asked) = self.asked().await;
        assert!(asked.starts_with(command), "{asked}, not {command}");
        self.say(&format!("{lines}{tag} OK done\r\n")).await;
    }

    async fn open(&mut self, can: &str) {
        self.say("* OK ready\r\n").await;
        self.expect("LOGIN", "").await;
        self.expect("CAPABILITY", &format!("* CAPABILITY IMAP4rev1 {can}\r\n")).await;
        self.expect("SELECT", "* 0 EXISTS\r\n").await;
    }
}

/// What happens while a mailbox at a scripted server is listened to.
async fn scripted(renew: Duration, script: impl AsyncFn(Server)) {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let settings = ImapSettings {
        port: socket.local_addr().unwrap().port(),
        security: ImapSecurity::None,
        renew,
        ..ImapSettings::new("localhost", "replies", SecretString::new("secret"))
    };
    let imap = Imap::new(settings, trusting(None), reader()).unwrap();
    let handlers = KeepingHandler::new();
    let told = async {
        let (stream, _) = socket.accept().await.unwrap();
        let (reads, writes) = stream.into_split();
        script(Server { lines: BufReader::new(reads).lines(), writes }).await;
    };
    tokio::select! {
        never = imap.listen(&handlers) => match never {},
        () = told => {}
    }
}

#[tokio::test]
async fn the_wait_is_renewed_though_the_server_says_that_it_is_there() {
    scripted(Duration::from_millis(100), async |mut server: Server| {
        server.open("IDLE").await;
        for _ in 0..3 {
            server.expect("UID SEARCH UNSEEN", "* SEARCH\r\n").await;
            let (tag, asked) = server.asked().await;
            assert_eq!(asked, "IDLE");
            server.say("+ idling\r\n* OK still here\r\n").await;
            let (done, _) = server.asked().await;
            assert_eq!(done, "", "DONE has no tag");
            server.say(&format!("{tag} OK\r\n")).await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_comes_while_we_read_is_not_missed() {
    scripted(Duration::from_mins(9), async |mut server: Server| {
        server.open("IDLE").await;
        // It comes while the server answers another question.
        server.expect("UID SEARCH UNSEEN", "* SEARCH\r\n* 1 EXISTS\r\n").await;
        server.expect("UID SEARCH UNSEEN", "* SEARCH\r\n").await;
        let (tag, asked) = server.asked().await;
        assert_eq!(asked, "IDLE");
        // And while we begin to wait.
        server.say("* 2 EXISTS\r\n+ idling\r\n").await;
        server.asked().await;
        server.say(&format!("{tag} OK\r\n")).await;
        server.expect("UID SEARCH UNSEEN", "* SEARCH\r\n").await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_cannot_tell_is_asked() {
    scripted(Duration::from_millis(50), async |mut server: Server| {
        server.open("").await;
        for _ in 0..3 {
            server.expect("UID SEARCH UNSEEN", "* SEARCH\r\n").await;
            server.expect("NOOP", "").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_large_letter_is_not_fetched_and_one_that_is_gone_is_no_trouble() {
    scripted(Duration::from_mins(1), async |mut server: Server| {
        server.open("IDLE").await;
        server.expect("UID SEARCH UNSEEN", "* SEARCH 9 7\r\n").await;
        server.expect("UID FETCH 7 (UID RFC822.SIZE)", "").await;
        let size = "* 1 FETCH (UID 9 RFC822.SIZE 999999999)\r\n";
        server.expect("UID FETCH 9 (UID RFC822.SIZE)", size).await;
        server.expect("UID STORE 9 +FLAGS (\\Seen)", "").await;
        let (_, asked) = server.asked().await;
        assert_eq!(asked, "IDLE");
    })
    .await;
}
