//! Emails taken over SMTP and LMTP: line by line, by a library that sends mail, and by a real
//! server.

use std::future::Future;
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use channels::email::listener::{EmailListener, ListenerLimits, ListenerSettings, Protocol};
use channels::inbound::{InReplyTo, InboundContent};
use lettre::address::Envelope;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::handlers::{KeepingHandler, address, answer, asked, invitation, reader};
use crate::servers::{Leaves, Servers, post};
use crate::tls;

/// A story that happens while somebody listens, told the port.
async fn while_listening<F: Future<Output = ()>>(
    protocol: Protocol,
    limits: ListenerLimits,
    handlers: &KeepingHandler,
    story: impl FnOnce(u16, CancellationToken) -> F,
) {
    let name = "ask.example.com".to_owned();
    let listener =
        EmailListener::new(ListenerSettings { name, protocol, limits }, reader()).unwrap();
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = socket.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let told = async {
        story(port, stop.clone()).await;
        stop.cancel();
    };
    // It can be given to a task of its own.
    let listening: &mut (dyn Future<Output = ()> + Send + Unpin) =
        &mut Box::pin(listener.listen(&socket, handlers, &stop));
    let both = async { tokio::join!(listening, told) };
    timeout(Duration::from_mins(1), both).await.expect("the listener does not end");
}

/// Somebody who types.
struct Client(BufReader<TcpStream>);

impl Client {
    async fn connect(port: u16) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        let mut client = Self(BufReader::new(stream));
        assert!(client.answer().await.starts_with("220 "));
        client
    }

    async fn type_in(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).await.unwrap();
    }

    /// All lines of an answer; empty if they hung up.
    async fn answer(&mut self) -> String {
        let mut answer = String::new();
        loop {
            let from = answer.len();
            let read = timeout(Duration::from_secs(20), self.0.read_line(&mut answer)).await;
            let ended = read.expect("no answer").unwrap_or(0) == 0;
            if ended || answer.get(from + 3..from + 4) != Some("-") {
                return answer.replace("\r\n", "\n").trim_end().to_owned();
            }
        }
    }

    async fn say(&mut self, line: &str) -> String {
        self.type_in(&format!("{line}\r\n")).await;
        self.answer().await
    }
}

fn words(what: &InboundContent) -> (&str, u128) {
    let InboundContent::Wrote { text, about: InReplyTo::Token { token, .. } } = what else {
        panic!("{what:?}")
    };
    (text, asked(token))
}

#[tokio::test]
async fn a_conversation_line_by_line() {
    let handlers = KeepingHandler::new();
    while_listening(Protocol::Smtp(None), ListenerLimits::default(), &handlers, async |port, _| {
        let mut client = Client::connect(port).await;
        let (to, invitation) = (address(1), invitation());
        for (line, said) in [
            ("RCPT TO:<x@y>", "503 5.5.1 say MAIL first"),
            ("MAIL FROM:<ada@example.org>", "503 5.5.1 send EHLO first"),
            ("DATA", "503 5.5.1 say MAIL first"),
            ("LHLO there", "500 5.5.1 wrong protocol"),
            ("HELO there", "250 ask.example.com"),
            (
                "EHLO there",
                "250-ask.example.com\n250-PIPELINING\n250-8BITMIME\n250-SMTPUTF8\n\
                 250-ENHANCEDSTATUSCODES\n250 SIZE 26214400",
            ),
            ("STARTTLS", "502 5.5.1 STARTTLS is not available"),
            ("AUTH PLAIN AAAA", "502 5.5.1 not supported"),
            ("VRFY ada", "252 2.5.2 send an email to find out"),
            ("NOOP", "250 2.0.0 fine"),
            ("WHATEVER", "500 5.5.1 unknown command"),
            (
                "MAIL FROM:<ada@example.org> SIZE=99999999",
                "552 5.3.4 the email exceeds the size limit",
            ),
            (
                "MAIL FROM:<ada@example.org> BODY=BINARYMIME",
                "555 5.5.4 BINARYMIME is not supported",
            ),
            ("MAIL FROM:<ada@example.org> BODY=8BITMIME SMTPUTF8 SIZE=100", "250 2.1.0 fine"),
            ("MAIL FROM:<ada@example.org>", "503 5.5.1 finish the current email first"),
            ("RCPT TO:<bob@example.org>", "550 5.7.1 relaying is not allowed"),
            ("RCPT TO:<bob%example.org@example.com>", "550 5.1.1 unknown recipient"),
            ("RCPT TO:<replies@example.com>", "550 5.1.1 unknown recipient"),
            ("DATA", "503 5.5.1 no valid recipient"),
            (&format!("RCPT TO:<{to}>"), "250 2.1.5 fine"),
            (&format!("RCPT TO:<{invitation}>"), "250 2.1.5 fine"),
            ("RSET", "250 2.0.0 forgotten"),
            ("DATA", "503 5.5.1 say MAIL first"),
            ("MAIL FROM:<>", "250 2.1.0 fine"),
            (&format!("RCPT TO:<{}>", to.to_uppercase()), "250 2.1.5 fine"),
            ("DATA", "354 go ahead, and end with a line that is a dot"),
            ("From: ada@example.org\r\nMessage-ID: <1@x>\r\n\r\n..dots\r\n.", "250 2.6.0 taken"),
            ("QUIT", "221 2.0.0 good bye"),
        ] {
            assert_eq!(client.say(line).await, said, "{line}");
        }
        assert_eq!(client.answer().await, "", "they hang up");
        assert_eq!(words(&handlers.next().await.what), (".dots", 1));
    })
    .await;
    assert_eq!(handlers.rest().await, 0);
}

#[tokio::test]
async fn everything_at_once_and_in_pieces() {
    let handlers = KeepingHandler::new();
    while_listening(Protocol::Lmtp, ListenerLimits::default(), &handlers, async |port, _| {
        let mut client = Client::connect(port).await;
        let (one, two) = (address(1), address(2));
        let letter = answer("1", &one, "Both\r\n..");
        // Pipelined (RFC 2920), and each recipient is answered (RFC 2033, 4.2).
        let all = format!(
            "LHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<{one}>\r\nRCPT TO:<x@example.com>\r\n\
             RCPT TO:<{two}>\r\nDATA\r\n{letter}.\r\nQUIT\r\n"
        );
        for piece in all.as_bytes().chunks(7) {
            client.0.get_mut().write_all(piece).await.unwrap();
        }
        let mut said = Vec::new();
        for _ in 0..9 {
            said.push(client.answer().await.lines().last().unwrap_or_default().to_owned());
        }
        let codes: Vec<&str> = said.iter().map(|line| line.get(..3).unwrap_or("")).collect();
        assert_eq!(
            codes,
            ["250", "250", "250", "550", "250", "354", "250", "250", "221"],
            "{said:?}"
        );
        let (first, second) = (handlers.next().await, handlers.next().await);
        assert_eq!(words(&first.what), ("Both\n.", 1));
        assert_eq!(words(&second.what), ("Both\n.", 2));
        assert_ne!(first.id, second.id, "one letter, and two answers");
    })
    .await;
}

#[tokio::test]
async fn what_came_of_each_letter_is_said() {
    // To whom it says nothing, it is said why; a machine is not written to.
    let handlers = KeepingHandler::refusing(1);
    while_listening(Protocol::Lmtp, ListenerLimits::default(), &handlers, async |port, _| {
        let mut client = Client::connect(port).await;
        client.say("LHLO x").await;
        let to = address(1);
        let yes = answer("1", &to, "Yes");
        let away = yes.replace("From:", "Auto-Submitted: auto-replied\r\nFrom:");
        for (letter, said) in [
            (yes.as_str(), "451 4.3.0 temporary failure, try again later"),
            (yes.as_str(), "250 2.6.0 taken"),
            (away.as_str(), "250 2.6.0 accepted and ignored"),
            ("From: a@b\r\n\r\n> May I?\r\n", "550 5.6.0 it has no text"),
            ("Subject: x\r\n\r\nYes\r\n", "550 5.6.0 it has no sender"),
            ("", "550 5.6.0 it cannot be parsed as an email"),
        ] {
            assert!(client.say("MAIL FROM:<a@b>").await.starts_with("250 "));
            assert!(client.say(&format!("RCPT TO:<{to}>")).await.starts_with("250 "));
            assert!(client.say("DATA").await.starts_with("354 "));
            client.type_in(letter).await;
            assert_eq!(client.say(".").await, said, "{letter}");
        }
    })
    .await;
    assert_eq!(handlers.refused.load(Ordering::SeqCst), 1);
    assert_eq!(handlers.rest().await, 1);
}

#[tokio::test]
async fn too_much_of_anything() {
    let handlers = KeepingHandler::new();
    let limits = ListenerLimits {
        size: 1000,
        recipients: 2,
        commands: 30,
        mistakes: 3,
        ..ListenerLimits::default()
    };
    while_listening(Protocol::Smtp(None), limits, &handlers, async |port, _| {
        let to = address(1);
        let start = async || {
            let mut client = Client::connect(port).await;
            client.say("EHLO x").await;
            client.say("MAIL FROM:<a@b>").await;
            client.say(&format!("RCPT TO:<{to}>")).await;
            client
        };

        let mut client = start().await;
        client.say(&format!("RCPT TO:<{to}>")).await;
        let third = client.say(&format!("RCPT TO:<{to}>")).await;
        assert_eq!(third, "452 4.5.3 too many recipients");

        let mut client = start().await;
        client.say("DATA").await;
        client.type_in(&answer("1", &to, &"a".repeat(3000))).await;
        assert_eq!(client.say(".").await, "552 5.3.4 the email exceeds the size limit");
        assert_eq!(client.say("NOOP").await, "250 2.0.0 fine", "and they go on");

        let mut client = start().await;
        client.say("DATA").await;
        client.type_in(&"a".repeat(60_000)).await;
        // They hang up without listening any more, so their answer may be lost.
        let said = client.answer().await;
        assert!(
            ["421 5.3.4 the email exceeds the size limit", ""].contains(&said.as_str()),
            "{said}"
        );

        let mut client = start().await;
        client.type_in(&"a".repeat(4096)).await;
        assert_eq!(client.answer().await, "421 5.5.2 line too long");

        let mut client = start().await;
        for _ in 0..4 {
            client.type_in("WHAT\r\n").await;
        }
        let mut last = String::new();
        for _ in 0..5 {
            last = client.answer().await;
        }
        assert_eq!(last, "421 4.7.0 too many invalid commands");

        let mut client = start().await;
        for _ in 0..27 {
            assert_eq!(client.say("NOOP").await, "250 2.0.0 fine");
        }
        assert_eq!(client.say("NOOP").await, "421 4.7.0 too many commands");
    })
    .await;
    assert_eq!(handlers.rest().await, 0);
}

#[tokio::test]
async fn no_bytes_break_it() {
    let handlers = KeepingHandler::new();
    while_listening(Protocol::Smtp(None), ListenerLimits::default(), &handlers, async |port, _| {
        let letters = b"EHLO MAIL FROM:<>RCPT TO:<DATA\r\n.\r\nBDAT 9 LAST\0\xff\x80@+=";
        for seed in 0..40_u32 {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                letters[(state >> 16) as usize % letters.len()]
            };
            let bytes: Vec<u8> = (0..3000).map(|_| next()).collect();
            let mut client = Client::connect(port).await;
            // They may have had enough before it is over.
            let _ = client.0.get_mut().write_all(&bytes).await;
            let _ = client.0.get_mut().shutdown().await;
            let _ = client.0.read_to_end(&mut Vec::new()).await;
        }
        let to = address(1);
        post(port, "ada@example.org", &to, &answer("1", &to, "Yes")).await.unwrap();
    })
    .await;
    assert_eq!(handlers.rest().await, 1);
}

#[tokio::test]
async fn silence_ends_a_session() {
    let limits = ListenerLimits { silence: Duration::from_millis(50), ..ListenerLimits::default() };
    while_listening(Protocol::Smtp(None), limits, &KeepingHandler::new(), async |port, _| {
        let mut client = Client::connect(port).await;
        assert_eq!(client.answer().await, "421 4.4.2 idle for too long");
        assert_eq!(client.answer().await, "");
    })
    .await;
}

#[tokio::test]
async fn whoever_is_connected_at_the_end_is_told() {
    let handlers = KeepingHandler::new();
    while_listening(
        Protocol::Smtp(None),
        ListenerLimits::default(),
        &handlers,
        async |port, stop| {
            let mut client = Client::connect(port).await;
            stop.cancel();
            assert_eq!(client.answer().await, "421 4.3.2 closing, try again later");
        },
    )
    .await;
}

#[tokio::test]
async fn encrypted_where_there_is_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    tls::certificate(folder.path());
    let protocol = Protocol::Smtp(Some(tls::serving(folder.path())));
    let pem = std::fs::read(folder.path().join("cert.pem")).unwrap();
    let handlers = KeepingHandler::new();
    while_listening(protocol, ListenerLimits::default(), &handlers, async |port, _| {
        let to = address(6);
        let parameters = TlsParameters::builder("localhost".to_owned())
            .add_root_certificate(Certificate::from_pem(&pem).unwrap())
            .build()
            .unwrap();
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("localhost")
            .port(port)
            .tls(Tls::Required(parameters))
            .build();
        let from = Some("ada@example.org".parse().unwrap());
        let envelope = Envelope::new(from, vec![to.parse().unwrap()]).unwrap();
        transport.send_raw(&envelope, answer("1", &to, "In secret").as_bytes()).await.unwrap();
        assert_eq!(words(&handlers.next().await.what), ("In secret", 6));

        // What is said before the encryption begins does not count behind it.
        let mut client = Client::connect(port).await;
        assert!(client.say("EHLO x").await.contains("STARTTLS"));
        client.type_in("STARTTLS\r\nMAIL FROM:<eve@example.org>\r\n").await;
        assert_eq!(client.answer().await, "421 5.5.1 wait for the response to STARTTLS");
        let mut client = Client::connect(port).await;
        client.say("STARTTLS").await;
        client.type_in("this is no handshake\r\n").await;
        let mut rest = Vec::new();
        let _ = client.0.read_to_end(&mut rest).await;
        assert!(!rest.starts_with(b"250"));
    })
    .await;
}

#[tokio::test]
async fn a_library_that_sends_mail_is_understood() {
    let handlers = KeepingHandler::new();
    while_listening(Protocol::Smtp(None), ListenerLimits::default(), &handlers, async |port, _| {
        let to = address(8);
        post(port, "ada@example.org", &to, &answer("1", &to, "Yes")).await.unwrap();
        assert_eq!(words(&handlers.next().await.what), ("Yes", 8));
        let refused = post(port, "ada@example.org", "bob@example.org", "x").await.unwrap_err();
        assert!(refused.is_permanent(), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_real_server_hands_answers_over_and_comes_again() {
    let handlers = KeepingHandler::refusing(1);
    while_listening(Protocol::Lmtp, ListenerLimits::default(), &handlers, async |port, _| {
        let Some(servers) = Servers::start(Leaves::At(port)).await else { return };
        let to = address(9);
        let letter = format!("{}.\r\n..\r\n.one\r\n", answer("1", &to, "Yes"));
        servers.post("ada@example.org", &to, &letter).await;
        assert_eq!(words(&handlers.next().await.what), ("Yes\n.\n..\n.one", 9));
        assert_eq!(handlers.refused.load(Ordering::SeqCst), 1);
        // What is refused for good comes back to whoever wrote it.
        servers.post("ada@example.org", &to, &answer("2", &to, "> quoted only")).await;
        servers.until("ada", "", (1, 0)).await;
        assert!(servers.letter("ada").contains("it has no text"));
    })
    .await;
}

#[test]
fn a_listener_has_a_name() {
    for name in ["", "two words", "a\r\nb"] {
        let name = name.to_owned();
        let (protocol, limits) = (Protocol::Lmtp, ListenerLimits::default());
        assert!(EmailListener::new(ListenerSettings { name, protocol, limits }, reader()).is_err());
    }
}
