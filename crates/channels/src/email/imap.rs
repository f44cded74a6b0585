//! Fetches emails from a mailbox as they arrive: IMAP with IDLE (RFC 9051, RFC 2177).
//!
//! An email is marked as read, or moved, only after the handler has accepted it. Until then it
//! is fetched again. No one else should read this mailbox, because emails that are marked as
//! read are skipped.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_imap::error::Error;
use async_imap::types::{Capabilities, UnsolicitedResponse};
use async_imap::{Client, Session};
use futures_util::TryStreamExt;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use super::reader::{EmailReader, ReadEmail};
use super::smtp::Wire;
use crate::{DeliveryError, InboundHandler, SecretString};

/// The timeout for each step.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout for fetching an email.
const FETCH_TIMEOUT: Duration = Duration::from_mins(5);
/// The delay before the first retry. It doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest delay before a retry.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// The polling interval for servers without IDLE.
const POLL_INTERVAL: Duration = Duration::from_mins(1);
/// The most emails that are fetched before the next search.
const MAX_FETCHED: usize = 200;

/// The settings of a mailbox.
#[derive(Debug, Clone)]
pub struct ImapSettings {
    /// The host name of the server.
    pub host: String,
    /// The port: 993 for [`ImapSecurity::Tls`], 143 otherwise.
    pub port: u16,
    /// How the connection is encrypted.
    pub security: ImapSecurity,
    /// The user name.
    pub user: String,
    /// The password of the user.
    pub password: SecretString,
    /// The folder that replies arrive in.
    pub folder: String,
    /// What happens to an email after it was handled or ignored.
    pub done: AfterRead,
    /// The size limit in bytes. Larger emails are not fetched.
    pub largest: u32,
    /// How long to wait in one IDLE command before renewing it. It is less than the 29 minutes of
    /// RFC 2177, and less than routers keep idle connections.
    pub renew: Duration,
}

impl ImapSettings {
    /// A mailbox at the default port, with the default limits.
    pub fn new(host: &str, user: &str, password: SecretString) -> Self {
        Self {
            host: host.to_owned(),
            port: 993,
            security: ImapSecurity::Tls,
            user: user.to_owned(),
            password,
            folder: "INBOX".to_owned(),
            done: AfterRead::Seen,
            largest: 25 * 1024 * 1024,
            renew: Duration::from_mins(9),
        }
    }
}

/// How the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImapSecurity {
    /// TLS from the first byte.
    Tls,
    /// STARTTLS before the login. Fails if the server does not support it.
    StartTls,
    /// Unencrypted, for tests and for servers on the same machine.
    None,
}

/// What happens to an email after it was handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterRead {
    /// The email is marked as read.
    Seen,
    /// The email is moved into this folder.
    Move(String),
}

/// Fetches emails from a mailbox.
pub struct Imap {
    settings: ImapSettings,
    tls: Arc<ClientConfig>,
    reader: EmailReader,
}

/// A session and the server's capabilities.
struct MailboxSession {
    session: Session<Wire>,
    can: Capabilities,
    letters: u32,
}

impl Imap {
    /// A client for a mailbox. `tls` decides which servers it trusts.
    pub fn new(
        settings: ImapSettings,
        tls: Arc<ClientConfig>,
        reader: EmailReader,
    ) -> Result<Self, String> {
        for (what, text) in [
            ("the host", &settings.host),
            ("the user", &settings.user),
            ("the folder", &settings.folder),
        ] {
            if text.is_empty() || text.contains(|c: char| c.is_control()) {
                return Err(format!("{what} of the mailbox is missing or not valid"));
            }
        }
        if settings.password.reveal().is_empty() {
            return Err("the password of the mailbox is not set".to_owned());
        }
        Ok(Self { settings, tls, reader })
    }

    /// Checks that the mailbox can be used. Returns a sentence about it, or the error.
    pub async fn check(&self) -> Result<String, DeliveryError> {
        let MailboxSession { mut session, can, letters } = self.connect().await?;
        if let AfterRead::Move(folder) = &self.settings.done {
            match step(session.status(folder, "(MESSAGES)")).await {
                Ok(_) => {}
                Err(ImapError::Imap(Error::No(_) | Error::Bad(_))) => {
                    return Err(DeliveryError::never(format!(
                        "the mailbox has no folder {folder:?} to move emails into; create it, or \
                         remove the setting"
                    )));
                }
                Err(trouble) => return Err(self.temporary_error(&trouble)),
            }
        }
        let told = if can.has_str("IDLE") {
            "reports new emails immediately"
        } else {
            "is polled every minute"
        };
        // A server that closes the connection without an answer is acceptable.
        let _ = step(session.logout()).await;
        let ImapSettings { user, host, folder, .. } = &self.settings;
        Ok(format!("{user} at {host}: {folder} has {letters} emails and {told}"))
    }

    /// Receives emails as they arrive, until the future is dropped. If the connection fails, it
    /// reconnects with a growing delay.
    pub async fn listen(&self, handler: &dyn InboundHandler) -> Infallible {
        let (mut pause, mut failures) = (FIRST_PAUSE, 0_u64);
        loop {
            let mut worked = false;
            let Err(failed) = self.receive(handler, &mut worked, &mut failures).await;
            let host = &self.settings.host;
            if worked {
                pause = FIRST_PAUSE;
            }
            failures += 1;
            let again_in = pause.as_secs();
            if failures == 1 {
                tracing::warn!(host, again_in, error = %failed, "mailbox failed, will retry");
            } else {
                tracing::debug!(host, again_in, error = %failed, "mailbox still fails");
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Receives emails over one connection until an error occurs.
    async fn receive(
        &self,
        handler: &dyn InboundHandler,
        worked: &mut bool,
        failures: &mut u64,
    ) -> Result<Infallible, DeliveryError> {
        let MailboxSession { mut session, can, .. } = self.connect().await?;
        *worked = true;
        if *failures > 0 {
            tracing::info!(host = self.settings.host, failures, "mailbox recovered");
            *failures = 0;
        }
        let mut pause = FIRST_PAUSE;
        // A server reports a new email once, in answer to any command. Reading the reports only
        // during IDLE would miss emails that arrive during a fetch.
        let told = session.unsolicited_responses.clone();
        let more = || {
            let told = std::iter::from_fn(|| told.try_recv().ok());
            told.filter(|told| matches!(told, UnsolicitedResponse::Exists(_))).count() > 0
        };
        loop {
            more();
            let took = self
                .handle_unread(&mut session, handler)
                .await
                .map_err(|trouble| self.temporary_error(&trouble))?;
            if more() {
                continue;
            }
            let wait = match took {
                FetchResult::Everything => {
                    pause = FIRST_PAUSE;
                    self.settings.renew
                }
                FetchResult::Some => continue,
                FetchResult::Refused(after) => {
                    let wait = after.unwrap_or(pause).min(self.settings.renew);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    wait
                }
            };
            session = if can.has_str("IDLE") {
                idle(session, wait, &more)
                    .await
                    .map_err(|trouble| self.temporary_error(&trouble))?
            } else {
                sleep(wait.min(POLL_INTERVAL)).await;
                step(session.noop()).await.map_err(|trouble| self.temporary_error(&trouble))?;
                session
            };
        }
    }

    async fn connect(&self) -> Result<MailboxSession, DeliveryError> {
        let ImapSettings { host, port, folder, .. } = &self.settings;
        let tcp = async { TcpStream::connect((host.as_str(), *port)).await.map_err(Error::from) };
        let tcp = step(tcp).await.map_err(|trouble| self.temporary_error(&trouble))?;
        let wire = self.connect_tls(tcp).await.map_err(|trouble| self.temporary_error(&trouble))?;
        let mut client = Client::new(wire);
        if self.settings.security != ImapSecurity::StartTls {
            self.read_greeting(&mut client).await?;
        }
        let mut session = self.log_in(client).await?;
        let can =
            step(session.capabilities()).await.map_err(|trouble| self.temporary_error(&trouble))?;
        if matches!(self.settings.done, AfterRead::Move(_)) && !can.has_str("MOVE") {
            return Err(DeliveryError::never(
                "this IMAP server cannot move emails; remove the folder to move them into, and \
                 they are marked as read",
            ));
        }
        match step(session.select(folder)).await {
            Ok(mailbox) => Ok(MailboxSession { session, can, letters: mailbox.exists }),
            Err(ImapError::Imap(Error::No(_) | Error::Bad(_))) => Err(DeliveryError::never(
                format!("the mailbox has no folder {folder:?}, or it cannot be opened"),
            )),
            Err(trouble) => Err(self.temporary_error(&trouble)),
        }
    }

    async fn read_greeting(&self, client: &mut Client<Wire>) -> Result<(), DeliveryError> {
        let greeting = async { client.read_response().await.map_err(Error::from) };
        match step(greeting).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(self.temporary_error(&ImapError::Imap(Error::ConnectionLost))),
            Err(trouble) => Err(self.temporary_error(&trouble)),
        }
    }

    async fn log_in(&self, client: Client<Wire>) -> Result<Session<Wire>, DeliveryError> {
        let ImapSettings { host, user, password, .. } = &self.settings;
        let login = client.login(user, password.reveal());
        match timeout(STEP_TIMEOUT, login).await {
            Err(_) => Err(self.temporary_error(&ImapError::Slow)),
            Ok(Ok(session)) => Ok(session),
            Ok(Err((Error::No(_) | Error::Bad(_), _))) => Err(DeliveryError::never(format!(
                "{host} refused the sign-in of {user:?}; check the user and the password of the \
                 mailbox (many providers require an app password)"
            ))),
            Ok(Err((error, _))) => Err(self.temporary_error(&ImapError::Imap(error))),
        }
    }

    async fn connect_tls(&self, tcp: TcpStream) -> Result<Wire, ImapError> {
        let ImapSettings { host, security, .. } = &self.settings;
        let tcp = match security {
            ImapSecurity::None => return Ok(Box::new(tcp)),
            ImapSecurity::Tls => tcp,
            ImapSecurity::StartTls => {
                let mut client = Client::new(tcp);
                let greeting = async { client.read_response().await.map_err(Error::from) };
                step(greeting).await?.ok_or(ImapError::Imap(Error::ConnectionLost))?;
                step(client.run_command_and_check_ok("STARTTLS", None)).await?;
                client.into_inner()
            }
        };
        let name = ServerName::try_from(host.clone()).map_err(|_| ImapError::Name)?;
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        let tls = async { connector.connect(name, tcp).await.map_err(Error::from) };
        Ok(Box::new(step(tls).await?))
    }

    /// Handles all unread emails, oldest first.
    async fn handle_unread(
        &self,
        session: &mut Session<Wire>,
        handler: &dyn InboundHandler,
    ) -> Result<FetchResult, ImapError> {
        let found = step(session.uid_search("UNSEEN UNDELETED")).await?;
        let found: BTreeSet<u32> = found.into_iter().collect();
        let more = found.len() > MAX_FETCHED;
        let (mut refused, mut after) = (false, None);
        for uid in found.into_iter().take(MAX_FETCHED) {
            let Some(letter) = self.fetch(session, uid).await? else { continue };
            match letter.map(|letter| self.reader.read(&letter, None)) {
                Some(ReadEmail::Inbound(inbound)) => {
                    if let Err(failed) = handler.handle(*inbound).await {
                        tracing::warn!(uid, "could not process an email reply: {failed}");
                        refused = true;
                        if let DeliveryError::Later { after: Some(wait), .. } = failed {
                            after = Some(after.map_or(wait, |after: Duration| after.min(wait)));
                        }
                        continue;
                    }
                }
                Some(ReadEmail::Ignored(why)) => {
                    tracing::info!(uid, "ignored an email: {why}");
                }
                None => tracing::warn!(uid, "skipped an email that exceeds the size limit"),
            }
            self.mark_handled(session, uid).await?;
        }
        Ok(match (refused, more) {
            (true, _) => FetchResult::Refused(after),
            (false, true) => FetchResult::Some,
            (false, false) => FetchResult::Everything,
        })
    }

    /// Fetches an email. Its content is absent if it is too large, and the email if it
    /// no longer exists.
    async fn fetch(
        &self,
        session: &mut Session<Wire>,
        uid: u32,
    ) -> Result<Option<Option<Vec<u8>>>, ImapError> {
        let sizes = async {
            let found = session.uid_fetch(uid.to_string(), "(UID RFC822.SIZE)").await?;
            found.try_collect::<Vec<_>>().await
        };
        let size = step(sizes).await?.into_iter().find(|found| found.uid == Some(uid));
        let Some(size) = size.and_then(|found| found.size) else { return Ok(None) };
        if size > self.settings.largest {
            return Ok(Some(None));
        }
        let bodies = async {
            let found = session.uid_fetch(uid.to_string(), "(UID BODY.PEEK[])").await?;
            found.try_collect::<Vec<_>>().await
        };
        let found = timeout(FETCH_TIMEOUT, bodies).await.map_err(|_| ImapError::Slow)?;
        let letter =
            found.map_err(ImapError::Imap)?.into_iter().find(|found| found.uid == Some(uid));
        Ok(letter.and_then(|found| found.body().map(<[u8]>::to_vec)).map(Some))
    }

    async fn mark_handled(&self, session: &mut Session<Wire>, uid: u32) -> Result<(), ImapError> {
        let uid = uid.to_string();
        match &self.settings.done {
            AfterRead::Move(folder) => step(session.uid_mv(uid, folder)).await,
            AfterRead::Seen => {
                let marked = async {
                    let marked = session.uid_store(uid, "+FLAGS (\\Seen)").await?;
                    marked.try_collect::<Vec<_>>().await
                };
                step(marked).await.map(drop)
            }
        }
    }

    fn temporary_error(&self, trouble: &ImapError) -> DeliveryError {
        DeliveryError::later(format!("{}: {trouble}", self.settings.host))
    }
}

impl fmt::Debug for Imap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imap").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The result of handling the unread emails.
enum FetchResult {
    Everything,
    /// There are more emails.
    Some,
    /// At least one email was not accepted and must be fetched again.
    Refused(Option<Duration>),
}

/// Waits until the server reports something, or until the timeout. Does not wait if the server
/// reported something before IDLE began.
async fn idle(
    session: Session<Wire>,
    wait: Duration,
    more: &(impl Fn() -> bool + Sync),
) -> Result<Session<Wire>, ImapError> {
    let mut handle = session.idle();
    step(handle.init()).await?;
    if !more() {
        let (inbound, _stop) = handle.wait_with_timeout(wait);
        // A server that sends only keepalives would reset the timeout of the IDLE itself.
        match timeout(wait, inbound).await {
            Ok(Ok(_)) | Err(_) => {}
            Ok(Err(error)) => return Err(ImapError::Imap(error)),
        }
    }
    step(handle.done()).await
}

/// Runs one step with a timeout.
async fn step<T>(doing: impl Future<Output = Result<T, Error>>) -> Result<T, ImapError> {
    match timeout(STEP_TIMEOUT, doing).await {
        Ok(done) => done.map_err(ImapError::Imap),
        Err(_) => Err(ImapError::Slow),
    }
}

/// An error. The library's own messages may contain emails and passwords, so they are not shown.
enum ImapError {
    Slow,
    Name,
    Imap(Error),
}

impl fmt::Display for ImapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slow => f.write_str("the server did not respond in time"),
            Self::Name => f.write_str("this host name cannot have a certificate"),
            Self::Imap(Error::Io(error)) if error.kind() != std::io::ErrorKind::Other => {
                write!(f, "{error}")
            }
            Self::Imap(Error::No(_)) => f.write_str("the server refused a command"),
            Self::Imap(Error::ConnectionLost) => f.write_str("the server closed the connection"),
            Self::Imap(_) => f.write_str("the server sent a response that is not IMAP"),
        }
    }
}
