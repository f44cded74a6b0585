//! Accepts emails over SMTP or LMTP. A mail server hands over emails to the domain of the reply
//! addresses, and no others. The listener forwards nothing, so it is not a relay.
//!
//! An email is acknowledged only after the handler has accepted it. Otherwise the sending
//! server keeps it and tries again. Everything is bounded: lines, emails, recipients,
//! commands, silence, sessions.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::reader::EmailReader;
use super::smtp_session::SmtpSession;
use crate::InboundHandler;

/// The pause after the operating system failed to accept a connection.
const REST: Duration = Duration::from_secs(1);

/// The settings of a listener.
#[derive(Clone)]
pub struct ListenerSettings {
    /// The host name of this machine, for the greeting.
    pub name: String,
    /// The protocol to speak.
    pub protocol: Protocol,
    /// The limits of a session.
    pub limits: ListenerLimits,
}

/// The protocol of a listener.
#[derive(Clone)]
pub enum Protocol {
    /// SMTP (RFC 5321), for any mail server. Offers STARTTLS if there is a certificate.
    Smtp(Option<Arc<ServerConfig>>),
    /// LMTP (RFC 2033), for the local mail server: each recipient gets its own answer. For a
    /// private network only.
    Lmtp,
}

impl fmt::Debug for ListenerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match &self.protocol {
            Protocol::Smtp(None) => "SMTP",
            Protocol::Smtp(Some(_)) => "SMTP with STARTTLS",
            Protocol::Lmtp => "LMTP",
        };
        f.debug_struct("Settings")
            .field("name", &self.name)
            .field("protocol", &protocol)
            .field("limits", &self.limits)
            .finish()
    }
}

/// The limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenerLimits {
    /// The largest email, in bytes.
    pub size: usize,
    /// The most recipients of one email.
    pub recipients: usize,
    /// The most commands in one session.
    pub commands: usize,
    /// The most rejected commands in one session.
    pub mistakes: usize,
    /// The longest time without a command or data.
    pub silence: Duration,
    /// The longest duration of a session.
    pub session: Duration,
    /// The most concurrent sessions. Further connections wait.
    pub sessions: usize,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            size: 25 * 1024 * 1024,
            recipients: 20,
            commands: 1000,
            mistakes: 20,
            // RFC 5321, 4.5.3.2.7.
            silence: Duration::from_mins(5),
            session: Duration::from_mins(30),
            sessions: 64,
        }
    }
}

/// Accepts emails from mail servers.
#[derive(Debug)]
pub struct EmailListener {
    settings: ListenerSettings,
    reader: EmailReader,
}

impl EmailListener {
    /// Accepts emails to the addresses that this reader knows.
    pub fn new(settings: ListenerSettings, reader: EmailReader) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-[]:".contains(c);
        if settings.name.is_empty() || !settings.name.chars().all(plain) {
            return Err("the mail listener requires the host name of this machine, such as \
                        ask.example.com"
                .to_owned());
        }
        Ok(Self { settings, reader })
    }

    /// Accepts emails on this socket until `stop`. Open sessions then end with a temporary error,
    /// so the client tries again. An email that is being handled is handled to its end.
    pub async fn listen(
        &self,
        socket: &TcpListener,
        handler: &dyn InboundHandler,
        stop: &CancellationToken,
    ) {
        let mut sessions = FuturesUnordered::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = socket.accept(), if sessions.len() < self.settings.limits.sessions => {
                    match accepted {
                        Ok((stream, peer)) => sessions.push(async move {
                            let talk = SmtpSession::new(&self.settings, &self.reader, Box::new(stream));
                            let talked = talk.run(handler, stop);
                            match timeout(self.settings.limits.session, talked).await {
                                Ok(Ok(())) => {}
                                Ok(Err(error)) => tracing::debug!(%peer, "a mail session ended \
                     early: {error}"),
                                Err(_) => tracing::info!(%peer, "a mail session timed out"),
                            }
                        }),
                        Err(error) => self.pause_after_error(&error, stop).await,
                    }
                }
                Some(()) = sessions.next(), if !sessions.is_empty() => {}
            }
        }
        while sessions.next().await.is_some() {}
    }

    async fn pause_after_error(&self, error: &io::Error, stop: &CancellationToken) {
        tracing::warn!("cannot accept a mail connection: {error}");
        tokio::select! {
            () = stop.cancelled() => {}
            () = sleep(REST) => {}
        }
    }
}
