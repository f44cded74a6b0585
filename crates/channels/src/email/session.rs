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
use super::reader::{EmailReader, Ignored, ReadEmail};
use super::smtp::Wire;
use crate::InboundHandler;

/// The number of bytes read at a time.
const CHUNK: usize = 16 * 1024;
/// How many times the size limit of an email is read and discarded before the session ends.
const FORBEARANCE: usize = 4;
/// The end of the DATA line, which precedes an email.
const BEFORE: &[u8] = b"\r\n";

pub(super) struct Talk<'a> {
    settings: &'a ListenerSettings,
    reader: &'a EmailReader,
    wire: Wire,
    /// Received bytes that are not parsed yet.
    came: Vec<u8>,
    commands: RequestReceiver,
    stage: Stage,
    encrypted: bool,
    said: usize,
    mistakes: usize,
}

/// The state of the session.
enum Stage {
    /// The client has not sent a greeting.
    New,
    /// The client has sent a greeting.
    Greeted,
    /// The client has named these recipients of an email.
    Letter { to: Vec<String> },
}

/// The next step after a command.
enum Next {
    Answer(Answer),
    /// The email itself follows.
    Data(Vec<String>),
    StartTls,
    Quit,
}

/// The reply code, the enhanced status code (RFC 3463), and the text.
type Answer = (u16, &'static str, String);

fn answer(code: u16, fine: &'static str, words: &str) -> Answer {
    (code, fine, words.to_owned())
}

/// Why a session ends.
enum End {
    /// The client or the server ended it.
    Done,
    Broken(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl<'a> Talk<'a> {
    pub(super) fn new(settings: &'a ListenerSettings, reader: &'a EmailReader, wire: Wire) -> Self {
        Self {
            settings,
            reader,
            wire,
            came: Vec::new(),
            commands: RequestReceiver::default(),
            stage: Stage::New,
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
        match self.talk(handler, stop).await {
            Ok(()) | Err(End::Done) => {
                // The client may have closed the connection already.
                let _ = self.wire.shutdown().await;
                Ok(())
            }
            Err(End::Broken(error)) => Err(error),
        }
    }

    async fn talk(
        &mut self,
        handler: &dyn InboundHandler,
        stop: &CancellationToken,
    ) -> Result<(), End> {
        let greeting = format!("220 {} {}\r\n", self.settings.name, self.protocol());
        self.write(greeting.as_bytes()).await?;
        loop {
            let next = self.command(stop).await?;
            match next {
                Next::Answer(answer) => {
                    if answer.0 >= 500 {
                        self.mistakes += 1;
                    }
                    self.say(&answer).await?;
                    if self.mistakes > self.settings.limits.mistakes {
                        return self.leave("4.7.0", "too many mistakes").await;
                    }
                }
                Next::Data(to) => {
                    self.write(b"354 go ahead, and end with a line that is a dot\r\n").await?;
                    let letter = self.letter(stop).await?;
                    self.stage = Stage::Greeted;
                    self.hand_over(letter, to, handler).await?;
                }
                Next::StartTls => self.encrypt().await?,
                Next::Quit => {
                    self.say(&answer(221, "2.0.0", "good bye")).await?;
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
    async fn command(&mut self, stop: &CancellationToken) -> Result<Next, End> {
        loop {
            let mut came = self.came.iter();
            let parsed = self.commands.ingest(&mut came).map(Request::into_owned);
            let left = came.as_slice().len();
            self.came.drain(..self.came.len() - left);
            let request = match parsed {
                Err(Error::NeedsMoreData { .. }) => {
                    self.more(stop).await?;
                    continue;
                }
                parsed => parsed,
            };
            self.said += 1;
            if self.said > self.settings.limits.commands {
                return self.leave("4.7.0", "too many commands").await;
            }
            return match request {
                Ok(request) => Ok(self.judge(request)),
                Err(Error::ResponseTooLong) => self.leave("5.5.2", "this line is too long").await,
                Err(error) => Ok(Next::Answer(misunderstood(&error))),
            };
        }
    }

    fn judge(&mut self, request: Request<String>) -> Next {
        let lmtp = matches!(self.settings.protocol, Protocol::Lmtp);
        Next::Answer(match request {
            Request::Lhlo { .. } if lmtp => return self.greet(true),
            Request::Ehlo { .. } if !lmtp => return self.greet(true),
            Request::Helo { .. } if !lmtp => return self.greet(false),
            Request::Lhlo { .. } | Request::Ehlo { .. } | Request::Helo { .. } => {
                answer(500, "5.5.1", "another protocol is spoken here")
            }
            Request::Mail { from } => self.mail(&from),
            Request::Rcpt { to } => self.rcpt(to.address),
            Request::Data => match &mut self.stage {
                Stage::Letter { to } if !to.is_empty() => return Next::Data(std::mem::take(to)),
                Stage::Letter { .. } => answer(503, "5.5.1", "no recipient was taken"),
                Stage::New | Stage::Greeted => answer(503, "5.5.1", "say MAIL first"),
            },
            Request::Rset => {
                if let Stage::Letter { .. } = self.stage {
                    self.stage = Stage::Greeted;
                }
                answer(250, "2.0.0", "forgotten")
            }
            Request::Noop { .. } => answer(250, "2.0.0", "fine"),
            Request::Quit => return Next::Quit,
            Request::StartTls => match &self.settings.protocol {
                Protocol::Smtp(Some(_)) if !self.encrypted => return Next::StartTls,
                _ => answer(502, "5.5.1", "there is no encryption to start"),
            },
            // The server discloses no recipients.
            Request::Vrfy { .. } => answer(252, "2.5.2", "send a letter and see"),
            Request::Expn { .. }
            | Request::Help { .. }
            | Request::Auth { .. }
            | Request::Bdat { .. }
            | Request::Etrn { .. }
            | Request::Atrn { .. }
            | Request::Burl { .. } => answer(502, "5.5.1", "this cannot be done here"),
        })
    }

    fn greet(&mut self, extended: bool) -> Next {
        self.stage = Stage::Greeted;
        let name = &self.settings.name;
        if !extended {
            return Next::Answer((250, "", name.clone()));
        }
        let size = format!("SIZE {}", self.settings.limits.size);
        let mut lines =
            vec![name.as_str(), "PIPELINING", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"];
        lines.push(&size);
        if matches!(self.settings.protocol, Protocol::Smtp(Some(_))) && !self.encrypted {
            lines.push("STARTTLS");
        }
        // The answer to a greeting has no enhanced status code (RFC 2034, 3).
        Next::Answer((250, "", lines.join("\n")))
    }

    fn mail(&mut self, from: &MailFrom<String>) -> Answer {
        match self.stage {
            Stage::New => return answer(503, "5.5.1", "say who you are first"),
            Stage::Letter { .. } => return answer(503, "5.5.1", "one letter after the other"),
            Stage::Greeted => {}
        }
        if from.size > self.settings.limits.size {
            return answer(552, "5.3.4", "this letter is too large");
        }
        if from.flags & MAIL_BODY_BINARYMIME != 0 {
            return answer(555, "5.5.4", "BINARYMIME is not taken here");
        }
        self.stage = Stage::Letter { to: Vec::new() };
        answer(250, "2.1.0", "fine")
    }

    fn rcpt(&mut self, address: String) -> Answer {
        let Stage::Letter { to } = &mut self.stage else {
            return answer(503, "5.5.1", "say MAIL first");
        };
        let replies = self.reader.replies();
        let domain = address.rsplit('@').next().unwrap_or_default();
        if !domain.eq_ignore_ascii_case(replies.domain()) {
            return answer(550, "5.7.1", "letters are passed on to nobody");
        }
        if replies.read(&address).is_none() {
            return answer(550, "5.1.1", "nobody was given this address");
        }
        if to.len() >= self.settings.limits.recipients {
            return answer(452, "4.5.3", "too many recipients at once");
        }
        to.push(address);
        answer(250, "2.1.5", "fine")
    }

    /// Reads the email. Returns `None` if it is too large.
    async fn letter(&mut self, stop: &CancellationToken) -> Result<Option<Vec<u8>>, End> {
        let most = self.settings.limits.size;
        let mut letter = Vec::new();
        let mut receiver = DataReceiver::new();
        // The end of the DATA line is part of the terminator, because an email may have no
        // lines at all.
        receiver.ingest(&mut BEFORE.iter(), &mut letter);
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
                let fits = rest.is_none() && letter.len() <= most + BEFORE.len();
                letter.drain(..BEFORE.len().min(letter.len()));
                return Ok(fits.then_some(letter));
            }
            if let Some((_, inbound)) = &mut rest {
                *inbound += before - left;
                if *inbound > most.saturating_mul(FORBEARANCE) {
                    return self.leave("5.3.4", "this letter is far too large").await;
                }
            } else if letter.len() > most + BEFORE.len() {
                rest = Some((DummyDataReceiver::new_data(&receiver), 0));
                letter = Vec::new();
            }
            self.more(stop).await?;
        }
    }

    /// Handles an email and sends the result: one answer per recipient in LMTP, one for
    /// all in SMTP.
    async fn hand_over(
        &mut self,
        letter: Option<Vec<u8>>,
        to: Vec<String>,
        handler: &dyn InboundHandler,
    ) -> Result<(), End> {
        let mut answers = Vec::with_capacity(to.len());
        for address in &to {
            answers.push(match &letter {
                Some(letter) => handle(self.reader.read(letter, Some(address)), handler).await,
                None => answer(552, "5.3.4", "this letter is too large"),
            });
        }
        drop(letter);
        if matches!(self.settings.protocol, Protocol::Lmtp) {
            for answer in &answers {
                self.say(answer).await?;
            }
            return Ok(());
        }
        // After a temporary failure for one recipient, the client sends the whole email again. The
        // other recipients are deduplicated by the id.
        let later = answers.iter().position(|(code, ..)| *code < 500 && *code >= 400);
        let taken = answers.iter().position(|(code, ..)| *code < 400);
        let said = later.or(taken).unwrap_or_default();
        match answers.get(said) {
            Some(said) => self.say(said).await,
            None => Ok(()),
        }
    }

    async fn encrypt(&mut self) -> Result<(), End> {
        let Protocol::Smtp(Some(config)) = &self.settings.protocol else { return Ok(()) };
        let acceptor = TlsAcceptor::from(Arc::clone(config));
        // Bytes that arrived before the encryption may be injected by an attacker (RFC 3207, 6).
        if !self.came.is_empty() || !self.commands.buf().is_empty() {
            return self.leave("5.5.1", "wait for the answer to STARTTLS").await;
        }
        self.say(&answer(220, "2.0.0", "go ahead")).await?;
        let (nothing, _) = tokio::io::duplex(1);
        let wire = std::mem::replace(&mut self.wire, Box::new(nothing));
        let tls = timeout(self.settings.limits.silence, acceptor.accept(wire)).await;
        self.wire = Box::new(tls.map_err(|_| End::Done)??);
        self.encrypted = true;
        // The session starts over after STARTTLS.
        self.stage = Stage::New;
        Ok(())
    }

    /// Waits for more bytes.
    async fn more(&mut self, stop: &CancellationToken) -> Result<(), End> {
        self.came.reserve(CHUNK);
        let read = tokio::select! {
            () = stop.cancelled() => None,
            read = timeout(self.settings.limits.silence, self.wire.read_buf(&mut self.came)) => {
                Some(read)
            }
        };
        match read {
            None => self.leave("4.3.2", "closing, come again").await,
            Some(Err(_)) => self.leave("4.4.2", "nothing was said for too long").await,
            Some(Ok(Ok(0))) => Err(End::Done),
            Some(Ok(Ok(_))) => Ok(()),
            Some(Ok(Err(error))) => Err(End::Broken(error)),
        }
    }

    /// Sends the reason and ends the session.
    async fn leave<T>(&mut self, fine: &'static str, words: &str) -> Result<T, End> {
        self.say(&answer(421, fine, words)).await?;
        Err(End::Done)
    }

    async fn say(&mut self, (code, fine, words): &Answer) -> Result<(), End> {
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

    async fn write(&mut self, bytes: &[u8]) -> Result<(), End> {
        let written = async {
            self.wire.write_all(bytes).await?;
            self.wire.flush().await
        };
        match timeout(self.settings.limits.silence, written).await {
            Ok(written) => Ok(written?),
            Err(_) => Err(End::Done),
        }
    }
}

/// Handles an email that was read, and returns the answer.
async fn handle(read: ReadEmail, handler: &dyn InboundHandler) -> Answer {
    match read {
        ReadEmail::Inbound(inbound) => match handler.handle(*inbound).await {
            Ok(_) => answer(250, "2.6.0", "taken"),
            Err(failed) => {
                tracing::warn!("an answer by mail was not taken: {failed}");
                answer(451, "4.3.0", "this cannot be taken now, come again")
            }
        },
        // A rejection would make the sending server notify an automatic sender.
        ReadEmail::Ignored(why @ (Ignored::Automatic | Ignored::Own | Ignored::Delayed)) => {
            tracing::info!("a letter says nothing: {why}");
            answer(250, "2.6.0", "taken, and put aside")
        }
        // A rejection makes the sending server report the reason to the sender.
        ReadEmail::Ignored(
            why @ (Ignored::Unreadable | Ignored::NoAddress | Ignored::NoSender | Ignored::Empty),
        ) => (550, "5.6.0", why.to_string()),
    }
}

fn misunderstood(error: &Error) -> Answer {
    match error {
        Error::UnknownCommand => answer(500, "5.5.1", "this command is not known"),
        Error::InvalidSenderAddress => answer(501, "5.1.7", "this is no address of a sender"),
        Error::InvalidRecipientAddress => answer(501, "5.1.3", "this is no address"),
        Error::SyntaxError { syntax } => (501, "5.5.4", format!("expected {syntax}")),
        Error::InvalidParameter { param } => (501, "5.5.4", format!("{param} makes no sense")),
        Error::UnsupportedParameter { .. } => answer(555, "5.5.4", "a parameter is not known"),
        _ => answer(501, "5.5.2", "this makes no sense"),
    }
}
