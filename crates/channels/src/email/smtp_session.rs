//! One SMTP or LMTP session: the client's commands, and the answers to them.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use smtp_proto::request::receiver::{DataReceiver, DummyDataReceiver, RequestReceiver};
use smtp_proto::{Error, MAIL_BODY_BINARYMIME, MailFrom, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::listener::{ListenerSettings, Protocol};
use super::reader::{EmailReader, IgnoredEmail, ReadEmail};
use super::smtp::Wire;
use crate::InboundHandler;

/// The number of bytes read at a time.
const CHUNK: usize = 16 * 1024;
/// How many times the size limit of an email is read and discarded before the session ends.
const MAX_DISCARDED: usize = 4;
/// The end of the DATA line, which precedes an email.
const DATA_LINE_END: &[u8] = b"\r\n";

pub(super) struct SmtpSession<'a> {
    settings: &'a ListenerSettings,
    reader: &'a EmailReader,
    wire: Wire,
    /// Received bytes that are not parsed yet.
    came: Vec<u8>,
    commands: RequestReceiver,
    stage: SessionStage,
    encrypted: bool,
    said: usize,
    mistakes: usize,
}

/// The state of the session.
enum SessionStage {
    /// The client has not sent a greeting.
    New,
    /// The client has sent a greeting.
    Greeted,
    /// The client has named these recipients of an email.
    Letter { to: Vec<String> },
}

/// The next step after a command.
enum NextStep {
    Answer(SmtpReply),
    /// The email itself follows.
    Data(Vec<String>),
    StartTls,
    Quit,
}

/// The reply code, the enhanced status code (RFC 3463), and the text.
type SmtpReply = (u16, &'static str, String);

fn reply(code: u16, fine: &'static str, words: &str) -> SmtpReply {
    (code, fine, words.to_owned())
}

/// Why a session ends.
enum SessionEnd {
    /// The client or the server ended it.
    Done,
    Broken(io::Error),
}

impl From<io::Error> for SessionEnd {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl<'a> SmtpSession<'a> {
    pub(super) fn new(settings: &'a ListenerSettings, reader: &'a EmailReader, wire: Wire) -> Self {
        Self {
            settings,
            reader,
            wire,
            came: Vec::new(),
            commands: RequestReceiver::default(),
            stage: SessionStage::New,
            encrypted: false,
            said: 0,
            mistakes: 0,
        }
    }

    /// Runs the session to its end.
    pub(super) async fn run(
        mut self,
        handler: &dyn InboundHandler,
        stop: &CancellationToken,
    ) -> io::Result<()> {
        match self.run_commands(handler, stop).await {
            Ok(()) | Err(SessionEnd::Done) => {
                // The client may have closed the connection already.
                let _ = self.wire.shutdown().await;
                Ok(())
            }
            Err(SessionEnd::Broken(error)) => Err(error),
        }
    }

    async fn run_commands(
        &mut self,
        handler: &dyn InboundHandler,
        stop: &CancellationToken,
    ) -> Result<(), SessionEnd> {
        let greeting = format!("220 {} {}\r\n", self.settings.name, self.protocol());
        self.write(greeting.as_bytes()).await?;
        loop {
            let next = self.read_command(stop).await?;
            match next {
                NextStep::Answer(answer) => {
                    if answer.0 >= 500 {
                        self.mistakes += 1;
                    }
                    self.send_reply(&answer).await?;
                    if self.mistakes > self.settings.limits.mistakes {
                        return self.close("4.7.0", "too many invalid commands").await;
                    }
                }
                NextStep::Data(to) => {
                    self.write(b"354 go ahead, and end with a line that is a dot\r\n").await?;
                    let letter = self.receive_email(stop).await?;
                    self.stage = SessionStage::Greeted;
                    self.deliver_email(letter, to, handler).await?;
                }
                NextStep::StartTls => self.encrypt().await?,
                NextStep::Quit => {
                    self.send_reply(&reply(221, "2.0.0", "good bye")).await?;
                    return Ok(());
                }
            }
        }
    }

    fn protocol(&self) -> &'static str {
        match self.settings.protocol {
            Protocol::Smtp(_) => "ESMTP",
            Protocol::Lmtp => "LMTP",
        }
    }

    /// Reads the next command.
    async fn read_command(&mut self, stop: &CancellationToken) -> Result<NextStep, SessionEnd> {
        loop {
            let mut came = self.came.iter();
            let parsed = self.commands.ingest(&mut came).map(Request::into_owned);
            let left = came.as_slice().len();
            self.came.drain(..self.came.len() - left);
            let request = match parsed {
                Err(Error::NeedsMoreData { .. }) => {
                    self.read_more(stop).await?;
                    continue;
                }
                parsed => parsed,
            };
            self.said += 1;
            if self.said > self.settings.limits.commands {
                return self.close("4.7.0", "too many commands").await;
            }
            return match request {
                Ok(request) => Ok(self.execute(request)),
                Err(Error::ResponseTooLong) => self.close("5.5.2", "line too long").await,
                Err(error) => Ok(NextStep::Answer(syntax_error_reply(&error))),
            };
        }
    }

    fn execute(&mut self, request: Request<String>) -> NextStep {
        let lmtp = matches!(self.settings.protocol, Protocol::Lmtp);
        NextStep::Answer(match request {
            Request::Lhlo { .. } if lmtp => return self.greet(true),
            Request::Ehlo { .. } if !lmtp => return self.greet(true),
            Request::Helo { .. } if !lmtp => return self.greet(false),
            Request::Lhlo { .. } | Request::Ehlo { .. } | Request::Helo { .. } => {
                reply(500, "5.5.1", "wrong protocol")
            }
            Request::Mail { from } => self.mail(&from),
            Request::Rcpt { to } => self.rcpt(to.address),
            Request::Data => match &mut self.stage {
                SessionStage::Letter { to } if !to.is_empty() => {
                    return NextStep::Data(std::mem::take(to));
                }
                SessionStage::Letter { .. } => reply(503, "5.5.1", "no valid recipient"),
                SessionStage::New | SessionStage::Greeted => reply(503, "5.5.1", "say MAIL first"),
            },
            Request::Rset => {
                if let SessionStage::Letter { .. } = self.stage {
                    self.stage = SessionStage::Greeted;
                }
                reply(250, "2.0.0", "forgotten")
            }
            Request::Noop { .. } => reply(250, "2.0.0", "fine"),
            Request::Quit => return NextStep::Quit,
            Request::StartTls => match &self.settings.protocol {
                Protocol::Smtp(Some(_)) if !self.encrypted => return NextStep::StartTls,
                _ => reply(502, "5.5.1", "STARTTLS is not available"),
            },
            // The server discloses no recipients.
            Request::Vrfy { .. } => reply(252, "2.5.2", "send an email to find out"),
            Request::Expn { .. }
            | Request::Help { .. }
            | Request::Auth { .. }
            | Request::Bdat { .. }
            | Request::Etrn { .. }
            | Request::Atrn { .. }
            | Request::Burl { .. } => reply(502, "5.5.1", "not supported"),
        })
    }

    fn greet(&mut self, extended: bool) -> NextStep {
        self.stage = SessionStage::Greeted;
        let name = &self.settings.name;
        if !extended {
            return NextStep::Answer((250, "", name.clone()));
        }
        let size = format!("SIZE {}", self.settings.limits.size);
        let mut lines =
            vec![name.as_str(), "PIPELINING", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"];
        lines.push(&size);
        if matches!(self.settings.protocol, Protocol::Smtp(Some(_))) && !self.encrypted {
            lines.push("STARTTLS");
        }
        // The answer to a greeting has no enhanced status code (RFC 2034, 3).
        NextStep::Answer((250, "", lines.join("\n")))
    }

    fn mail(&mut self, from: &MailFrom<String>) -> SmtpReply {
        match self.stage {
            SessionStage::New => return reply(503, "5.5.1", "send EHLO first"),
            SessionStage::Letter { .. } => {
                return reply(503, "5.5.1", "finish the current email first");
            }
            SessionStage::Greeted => {}
        }
        if from.size > self.settings.limits.size {
            return reply(552, "5.3.4", "the email exceeds the size limit");
        }
        if from.flags & MAIL_BODY_BINARYMIME != 0 {
            return reply(555, "5.5.4", "BINARYMIME is not supported");
        }
        self.stage = SessionStage::Letter { to: Vec::new() };
        reply(250, "2.1.0", "fine")
    }

    fn rcpt(&mut self, address: String) -> SmtpReply {
        let SessionStage::Letter { to } = &mut self.stage else {
            return reply(503, "5.5.1", "say MAIL first");
        };
        let replies = self.reader.replies();
        let domain = address.rsplit('@').next().unwrap_or_default();
        if !domain.eq_ignore_ascii_case(replies.domain()) {
            return reply(550, "5.7.1", "relaying is not allowed");
        }
        if replies.read(&address).is_none() {
            return reply(550, "5.1.1", "unknown recipient");
        }
        if to.len() >= self.settings.limits.recipients {
            return reply(452, "4.5.3", "too many recipients");
        }
        to.push(address);
        reply(250, "2.1.5", "fine")
    }

    /// Reads the email. Returns `None` if it is too large.
    async fn receive_email(
        &mut self,
        stop: &CancellationToken,
    ) -> Result<Option<Vec<u8>>, SessionEnd> {
        let most = self.settings.limits.size;
        let mut letter = Vec::new();
        let mut receiver = DataReceiver::new();
        // The end of the DATA line is part of the terminator, because an email may have no
        // lines at all.
        receiver.ingest(&mut DATA_LINE_END.iter(), &mut letter);
        let mut rest: Option<(DummyDataReceiver, usize)> = None;
        loop {
            let mut came = self.came.iter();
            let before = came.as_slice().len();
            let ended = match &mut rest {
                None => receiver.ingest(&mut came, &mut letter),
                Some((rest, _)) => rest.ingest(&mut came),
            };
            let left = came.as_slice().len();
            self.came.drain(..before - left);
            if ended {
                let fits = rest.is_none() && letter.len() <= most + DATA_LINE_END.len();
                letter.drain(..DATA_LINE_END.len().min(letter.len()));
                return Ok(fits.then_some(letter));
            }
            if let Some((_, inbound)) = &mut rest {
                *inbound += before - left;
                if *inbound > most.saturating_mul(MAX_DISCARDED) {
                    return self.close("5.3.4", "the email exceeds the size limit").await;
                }
            } else if letter.len() > most + DATA_LINE_END.len() {
                rest = Some((DummyDataReceiver::new_data(&receiver), 0));
                letter = Vec::new();
            }
            self.read_more(stop).await?;
        }
    }

    /// Handles an email and sends the result: one answer per recipient in LMTP, one for
    /// all in SMTP.
    async fn deliver_email(
        &mut self,
        letter: Option<Vec<u8>>,
        to: Vec<String>,
        handler: &dyn InboundHandler,
    ) -> Result<(), SessionEnd> {
        let mut answers = Vec::with_capacity(to.len());
        for address in &to {
            answers.push(match &letter {
                Some(letter) => handle(self.reader.read(letter, Some(address)), handler).await,
                None => reply(552, "5.3.4", "the email exceeds the size limit"),
            });
        }
        drop(letter);
        if matches!(self.settings.protocol, Protocol::Lmtp) {
            for answer in &answers {
                self.send_reply(answer).await?;
            }
            return Ok(());
        }
        // After a temporary failure for one recipient, the client sends the whole email again. The
        // other recipients are deduplicated by the id.
        let later = answers.iter().position(|(code, ..)| *code < 500 && *code >= 400);
        let taken = answers.iter().position(|(code, ..)| *code < 400);
        let said = later.or(taken).unwrap_or_default();
        match answers.get(said) {
            Some(said) => self.send_reply(said).await,
            None => Ok(()),
        }
    }

    async fn encrypt(&mut self) -> Result<(), SessionEnd> {
        let Protocol::Smtp(Some(config)) = &self.settings.protocol else { return Ok(()) };
        let acceptor = TlsAcceptor::from(Arc::clone(config));
        // Bytes that arrived before the encryption may be injected by an attacker (RFC 3207, 6).
        if !self.came.is_empty() || !self.commands.buf().is_empty() {
            return self.close("5.5.1", "wait for the response to STARTTLS").await;
        }
        self.send_reply(&reply(220, "2.0.0", "go ahead")).await?;
        let (nothing, _) = tokio::io::duplex(1);
        let wire = std::mem::replace(&mut self.wire, Box::new(nothing));
        let tls = timeout(self.settings.limits.silence, acceptor.accept(wire)).await;
        self.wire = Box::new(tls.map_err(|_| SessionEnd::Done)??);
        self.encrypted = true;
        // The session starts over after STARTTLS.
        self.stage = SessionStage::New;
        Ok(())
    }

    /// Waits for more bytes.
    async fn read_more(&mut self, stop: &CancellationToken) -> Result<(), SessionEnd> {
        self.came.reserve(CHUNK);
        let read = tokio::select! {
            () = stop.cancelled() => None,
            read = timeout(self.settings.limits.silence, self.wire.read_buf(&mut self.came)) => {
                Some(read)
            }
        };
        match read {
            None => self.close("4.3.2", "closing, try again later").await,
            Some(Err(_)) => self.close("4.4.2", "idle for too long").await,
            Some(Ok(Ok(0))) => Err(SessionEnd::Done),
            Some(Ok(Ok(_))) => Ok(()),
            Some(Ok(Err(error))) => Err(SessionEnd::Broken(error)),
        }
    }

    /// Sends the reason and ends the session.
    async fn close<T>(&mut self, fine: &'static str, words: &str) -> Result<T, SessionEnd> {
        self.send_reply(&reply(421, fine, words)).await?;
        Err(SessionEnd::Done)
    }

    async fn send_reply(&mut self, (code, fine, words): &SmtpReply) -> Result<(), SessionEnd> {
        let apart = if fine.is_empty() { "" } else { " " };
        let lines: Vec<&str> = words.lines().collect();
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let mark = if at + 1 == lines.len() { ' ' } else { '-' };
            // Writing to a String cannot fail.
            let _ = write!(text, "{code}{mark}{fine}{apart}{line}\r\n");
        }
        self.write(text.as_bytes()).await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        let written = async {
            self.wire.write_all(bytes).await?;
            self.wire.flush().await
        };
        match timeout(self.settings.limits.silence, written).await {
            Ok(written) => Ok(written?),
            Err(_) => Err(SessionEnd::Done),
        }
    }
}

/// Handles an email that was read, and returns the answer.
async fn handle(read: ReadEmail, handler: &dyn InboundHandler) -> SmtpReply {
    match read {
        ReadEmail::Inbound(inbound) => match handler.handle(*inbound).await {
            Ok(_) => reply(250, "2.6.0", "taken"),
            Err(failed) => {
                tracing::warn!("could not process an email reply: {failed}");
                reply(451, "4.3.0", "temporary failure, try again later")
            }
        },
        // A rejection would make the sending server notify an automatic sender.
        ReadEmail::Ignored(
            why @ (IgnoredEmail::Automatic | IgnoredEmail::Own | IgnoredEmail::Delayed),
        ) => {
            tracing::info!("ignored an email: {why}");
            reply(250, "2.6.0", "accepted and ignored")
        }
        // A rejection makes the sending server report the reason to the sender.
        ReadEmail::Ignored(
            why @ (IgnoredEmail::Unreadable
            | IgnoredEmail::NoAddress
            | IgnoredEmail::NoSender
            | IgnoredEmail::Empty),
        ) => (550, "5.6.0", why.to_string()),
    }
}

fn syntax_error_reply(error: &Error) -> SmtpReply {
    match error {
        Error::UnknownCommand => reply(500, "5.5.1", "unknown command"),
        Error::InvalidSenderAddress => reply(501, "5.1.7", "invalid sender address"),
        Error::InvalidRecipientAddress => reply(501, "5.1.3", "invalid address"),
        Error::SyntaxError { syntax } => (501, "5.5.4", format!("expected {syntax}")),
        Error::InvalidParameter { param } => (501, "5.5.4", format!("{param} is not valid")),
        Error::UnsupportedParameter { .. } => reply(555, "5.5.4", "unknown parameter"),
        _ => reply(501, "5.5.2", "syntax error"),
    }
}
