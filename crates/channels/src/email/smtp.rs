//! Sends through a mail server. If the server cannot be reached, further emails fail immediately
//! for some seconds, because each would wait for the same timeout.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use dialects::a2h::{EmailOptions, RecipientField};
use kernel::Time;
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tokio::io::{AsyncRead, AsyncWrite};
use views::email::Email;

use crate::errors::DeliveryError;
use crate::secret::SecretString;
use crate::setup::OutageLog;

/// The timeout for each step.
const PATIENCE: Duration = Duration::from_secs(15);
/// The pause after the server could not be reached, in seconds.
const REST: u64 = 10;

/// The mail server that accepts outgoing emails.
#[derive(Clone)]
pub struct SmtpSettings {
    /// The host name or IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// How the connection is encrypted.
    pub security: SmtpSecurity,
    /// The user name and the password, if the server requires them.
    pub credentials: Option<(String, SecretString)>,
    /// The sender of every email.
    pub from: Mailbox,
}

/// How a connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpSecurity {
    /// TLS from the first byte.
    Tls,
    /// STARTTLS. Fails if the server does not offer it.
    StartTls,
    /// The connection is unencrypted.
    None,
}

/// Leaves out the password.
impl fmt::Display for SmtpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.security {
            SmtpSecurity::Tls => "TLS",
            SmtpSecurity::StartTls => "STARTTLS",
            SmtpSecurity::None => "no TLS",
        };
        write!(f, "{}:{} ({how}), from {}", self.host, self.port, self.from)
    }
}

impl fmt::Debug for SmtpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

pub(super) struct SmtpSender {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    /// The end of the pause after the server could not be reached.
    rests: Mutex<Option<Time>>,
    outage: Box<dyn OutageLog>,
}

impl SmtpSender {
    /// A sender for this mail server.
    pub(super) fn new(smtp: &SmtpSettings, outage: Box<dyn OutageLog>) -> anyhow::Result<Self> {
        let tls = || TlsParameters::new(smtp.host.clone()).context("smtp_url: cannot use TLS");
        let tls = match smtp.security {
            SmtpSecurity::Tls => Tls::Wrapper(tls()?),
            SmtpSecurity::StartTls => Tls::Required(tls()?),
            SmtpSecurity::None => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&smtp.host)
            .port(smtp.port)
            .tls(tls)
            .timeout(Some(PATIENCE));
        if let Some((user, password)) = &smtp.credentials {
            let known = Credentials::new(user.clone(), password.reveal().to_owned());
            transport = transport.credentials(known);
        }
        let from = smtp.from.clone();
        Ok(Self { transport: transport.build(), from, rests: Mutex::default(), outage })
    }

    /// The sender address of every email.
    pub(super) fn from(&self) -> String {
        self.from.email.to_string()
    }

    /// Sends an email.
    pub(super) async fn send(&self, email: &Email, now: Time) -> Result<(), DeliveryError> {
        let message = self.message(email, now).map_err(|error| refused(&error))?;
        let rests = *self.resting_until();
        if rests.is_some_and(|until| now < until) {
            return Err(later(&"the mail server was unreachable a moment ago"));
        }
        let sent = match &email.reply_to {
            None => self.transport.send(message).await,
            // A bounce goes to the address that identifies the email.
            Some(address) => {
                let sender = address.parse().context("the reply address is not valid");
                let sender = Some(sender.map_err(|error| refused(&error))?);
                let to = message.envelope().to().to_vec();
                let envelope = Envelope::new(sender, to).context("an email has a recipient");
                let envelope = envelope.map_err(|error| refused(&error))?;
                self.transport.send_raw(&envelope, &message.formatted()).await
            }
        };
        match sent {
            Ok(_) => {
                self.outage.worked("email");
                Ok(())
            }
            // The server answered, and rejects only this email.
            Err(error) if error.is_permanent() => {
                self.outage.worked("email");
                Err(refused(&anyhow::Error::from(error)))
            }
            Err(error) => {
                self.outage.failed("email", &error);
                if !error.is_transient() {
                    *self.resting_until() = Some(now.plus_seconds(REST));
                }
                Err(later(&format_args!("{:#}", anyhow::Error::from(error))))
            }
        }
    }

    fn resting_until(&self) -> MutexGuard<'_, Option<Time>> {
        // The value is a single time, so a panic cannot leave it inconsistent.
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the server answers and accepts the credentials.
    pub(super) async fn check(&self) -> anyhow::Result<()> {
        let works = self.transport.test_connection().await?;
        anyhow::ensure!(works, "the server's response is not SMTP");
        Ok(())
    }

    fn id(&self, name: &str) -> String {
        format!("<{name}@{}>", self.from.email.domain())
    }

    fn message(&self, email: &Email, now: Time) -> anyhow::Result<Message> {
        let to: Address = email.to.parse().context("this is not a valid email address")?;
        let millis = u64::try_from(email.at.unwrap_or(now).millis()).unwrap_or(0);
        let at: SystemTime = UNIX_EPOCH + Duration::from_millis(millis);
        // Marks the email as automatic, so that autoresponders do not reply.
        let automatic = HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        );
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&email.subject)
            .date(at)
            .message_id(Some(self.id(&email.id)))
            .raw_header(automatic);
        let EmailOptions { in_reply_to, references, others, .. } = &email.wish;
        let own = email.thread.as_ref().map(|thread| self.id(thread));
        let message = match in_reply_to.clone().or_else(|| own.clone()) {
            Some(id) => message.in_reply_to(id),
            None => message,
        };
        let message = match references.clone().or(own) {
            Some(id) => message.references(id),
            None => message,
        };
        let message = others.iter().try_fold(message, |message, (field, address)| {
            let address =
                address.parse::<Address>().context("cannot send an email to a recipient")?;
            let mailbox = Mailbox::new(None, address);
            anyhow::Ok(match field {
                RecipientField::To => message.to(mailbox),
                RecipientField::Cc => message.cc(mailbox),
                RecipientField::Bcc => message.bcc(mailbox),
            })
        })?;
        let message = match &email.reply_to {
            Some(address) => {
                let address =
                    address.parse::<Address>().context("the reply address is not valid")?;
                message.reply_to(Mailbox::new(None, address))
            }
            None => message,
        };
        let message = message
            .multipart(MultiPart::alternative_plain_html(email.text.clone(), email.html.clone()))?;
        Ok(message)
    }
}

/// The mail server rejects this email permanently.
fn refused(error: &anyhow::Error) -> DeliveryError {
    DeliveryError::never(format!("the mail server refused the email: {error:#}"))
}

/// The mail server may accept the email later.
fn later(error: &dyn fmt::Display) -> DeliveryError {
    DeliveryError::later(format!(
        "the mail server is unreachable or temporarily refuses emails: {error}"
    ))
}

// A connection, encrypted or not.

/// A connection that emails arrive over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Stream for S {}

/// A connection of either kind.
pub(super) type Wire = Box<dyn Stream>;

#[cfg(test)]
mod tests {
    use super::*;

    struct NoOutages;

    impl OutageLog for NoOutages {
        fn worked(&self, _: &str) {}

        fn failed(&self, _: &str, _: &dyn fmt::Display) {}
    }

    #[tokio::test]
    async fn an_email_has_text_and_a_page_and_no_room_for_more_headers() {
        let from = "Countersign <agents@example.com>".parse().unwrap();
        let smtp = SmtpSettings {
            host: "localhost".to_owned(),
            port: 25,
            security: SmtpSecurity::None,
            credentials: None,
            from,
        };
        let mailer = SmtpSender::new(&smtp, Box::new(NoOutages)).unwrap();
        let email = Email {
            id: "key_1".to_owned(),
            thread: Some("ask_1".to_owned()),
            to: "ada@example.com".to_owned(),
            wish: EmailOptions::default(),
            reply_to: Some("ask+token@example.com".to_owned()),
            subject: "Sign in\r\nBcc: eve@example.com".to_owned(),
            at: Some("2026-03-01T09:00:00Z".parse().unwrap()),
            text: "Hello".to_owned(),
            html: "<p>Hello</p>".to_owned(),
        };
        let message = mailer.message(&email, Time::from_millis(0)).unwrap();
        let text = String::from_utf8(message.formatted()).unwrap();
        for part in [
            "Message-ID: <key_1@example.com>\r\n",
            "References: <ask_1@example.com>\r\n",
            "In-Reply-To: <ask_1@example.com>\r\n",
            "Date: Sun, 01 Mar 2026 09:00:00 +0000\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "Reply-To: ask+token@example.com\r\n",
            "multipart/alternative",
            "text/plain; charset=utf-8",
            "text/html; charset=utf-8",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let recipients = message.envelope().to();
        assert_eq!(recipients.len(), 1, "{recipients:?}");
        assert!(!text.lines().any(|line| line.starts_with("Bcc:")), "{text}");
        let nowhere =
            Email { to: "ada@example.com\r\nRCPT TO:<eve@example.com>".to_owned(), ..email };
        assert!(mailer.message(&nowhere, Time::from_millis(0)).is_err());
    }
}
