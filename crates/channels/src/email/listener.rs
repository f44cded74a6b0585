//! Emails taken over SMTP or LMTP: a mail server hands over what is addressed to the domain of our
//! reply addresses, and nothing else. Nothing is passed on to anybody, so this is no relay.
//!
//! An email is acknowledged only after the handler took it; otherwise whoever brought it keeps it and comes
//! again. Everything is bounded: lines, emails, recipients, commands, silence, sessions.

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
use super::session::Talk;
use crate::InboundHandler;

/// How long we leave the network alone when it gives us no connection.
const REST: Duration = Duration::from_secs(1);

/// What a listener is set up with.
#[derive(Clone)]
pub struct ListenerSettings {
    /// What we call ourselves: the name of this machine in the network.
    pub name: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// What is too much.
    pub limits: ListenerLimits,
}

/// What is spoken.
#[derive(Clone)]
pub enum Protocol {
    /// SMTP (RFC 5321), as mail servers talk with strangers; with STARTTLS where there is a
    /// certificate.
    Smtp(Option<Arc<ServerConfig>>),
    /// LMTP (RFC 2033), as a mail server talks with whoever keeps its mailboxes: each recipient is
    /// answered on its own. For a private network only.
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

/// What is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenerLimits {
    /// How many bytes an email may have.
    pub size: usize,
    /// To how many of our addresses it may go.
    pub recipients: usize,
    /// How many commands one session may have.
    pub commands: usize,
    /// How many of them may be refused.
    pub mistakes: usize,
    /// How long somebody may say nothing.
    pub silence: Duration,
    /// How long a session may last.
    pub session: Duration,
    /// How many sessions there may be at a time; more wait.
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

/// Takes emails.
#[derive(Debug)]
pub struct EmailListener {
    settings: ListenerSettings,
    reader: EmailReader,
}

impl EmailListener {
    /// Takes emails to the addresses this reader knows.
    pub fn new(settings: ListenerSettings, reader: EmailReader) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-[]:".contains(c);
        if settings.name.is_empty() || !settings.name.chars().all(plain) {
            return Err("the mail listener needs the name of this machine, such as \
                        ask.example.com"
                .to_owned());
        }
        Ok(Self { settings, reader })
    }

    /// Takes emails on this socket until `stop`; whoever is connected then is told to come again, but a
    /// email that is being heard is heard to its end.
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
                            let talk = Talk::new(&self.settings, &self.reader, Box::new(stream));
                            let talked = talk.run(handler, stop);
                            match timeout(self.settings.limits.session, talked).await {
                                Ok(Ok(())) => {}
                                Ok(Err(error)) => tracing::debug!(%peer, "a mail session broke off: {error}"),
                                Err(_) => tracing::info!(%peer, "a mail session took too long"),
                            }
                        }),
                        Err(error) => self.rest(&error, stop).await,
                    }
                }
                Some(()) = sessions.next(), if !sessions.is_empty() => {}
            }
        }
        while sessions.next().await.is_some() {}
    }

    async fn rest(&self, error: &io::Error, stop: &CancellationToken) {
        tracing::warn!("no connection can be taken: {error}");
        tokio::select! {
            () = stop.cancelled() => {}
            () = sleep(REST) => {}
        }
    }
}
