//! Mail to people, over SMTP. Letters are effects: rows first, and sent from the outbox, so that a mail
//! server that is slow or gone holds up nobody.

pub mod channel;
pub mod code;
pub(crate) mod gathered;
pub mod notice;
pub mod security;
pub mod sign_in;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use dialects::a2h::{Field, LetterWish};
use kernel::Time;
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use store::outage::Outage;

use crate::config::{Security, Smtp};

/// How long a mail server may take over each step.
const PATIENCE: Duration = Duration::from_secs(15);
/// For how many seconds it is left alone when it was not there.
const REST: u64 = 10;

/// Sends letters.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    /// Until when nothing is sent, because the server was not there a moment ago.
    rests: Mutex<Option<Time>>,
    outage: Outage,
}

/// What is sent to one person. The same letter twice is the same to their mail program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// What it is known by, before the `@` of its id.
    pub id: String,
    /// What it belongs to: letters with the same are shown together.
    pub thread: Option<String>,
    /// To whom.
    pub to: String,
    /// Who else gets it, and whose thread it joins, as an agent wants.
    pub wish: LetterWish,
    /// Where an answer goes, if one is taken.
    pub reply_to: Option<String>,
    /// What it is about.
    pub subject: String,
    /// When it was written.
    pub at: Time,
    /// As text.
    pub text: String,
    /// As a page, saying the same.
    pub html: String,
}

/// Why a letter was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Unsent {
    /// The mail server will never take it.
    #[error("the mail server refuses this letter")]
    Refused(#[source] anyhow::Error),
    /// It may do so later.
    #[error("the mail server cannot be reached or takes nothing now")]
    Later(#[source] anyhow::Error),
}

impl Mailer {
    /// A mailer that goes through this server.
    pub fn new(smtp: &Smtp) -> anyhow::Result<Self> {
        let tls = || TlsParameters::new(smtp.host.clone()).context("smtp_url: cannot use TLS");
        let tls = match smtp.security {
            Security::Tls => Tls::Wrapper(tls()?),
            Security::StartTls => Tls::Required(tls()?),
            Security::None => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&smtp.host)
            .port(smtp.port)
            .tls(tls)
            .timeout(Some(PATIENCE));
        if let Some((user, password)) = &smtp.credentials {
            let known = Credentials::new(user.clone(), password.reveal().to_owned());
            transport = transport.credentials(known);
        }
        let (from, outage) = (smtp.from.clone(), Outage::new("mail server"));
        Ok(Self { transport: transport.build(), from, rests: Mutex::default(), outage })
    }

    /// Sends a letter. When the server was not there, the next letters are not tried for a moment: each
    /// would wait as long for nothing, and whoever has another means is told by that the sooner.
    pub async fn send(&self, letter: &Letter, now: Time) -> Result<(), Unsent> {
        let message = self.message(letter).map_err(Unsent::Refused)?;
        let rests = *self.rests();
        if rests.is_some_and(|until| now < until) {
            return Err(Unsent::Later(anyhow!("it could not be reached a moment ago")));
        }
        let sent = match &letter.reply_to {
            None => self.transport.send(message).await,
            // What cannot be delivered comes back to the address that says which letter it was.
            Some(address) => {
                let sender = address.parse().context("answers can go to no such address");
                let sender = Some(sender.map_err(Unsent::Refused)?);
                let to = message.envelope().to().to_vec();
                let envelope = Envelope::new(sender, to).context("a letter goes to somebody");
                let envelope = envelope.map_err(Unsent::Refused)?;
                self.transport.send_raw(&envelope, &message.formatted()).await
            }
        };
        match sent {
            Ok(_) => {
                self.outage.worked("email");
                Ok(())
            }
            // It answered: this one message is not taken.
            Err(error) if error.is_permanent() => {
                self.outage.worked("email");
                Err(Unsent::Refused(error.into()))
            }
            Err(error) => {
                self.outage.failed("email", &error);
                if !error.is_transient() {
                    *self.rests() = Some(now.plus_seconds(REST));
                }
                Err(Unsent::Later(error.into()))
            }
        }
    }

    fn rests(&self) -> MutexGuard<'_, Option<Time>> {
        // A moment: a panic leaves it whole.
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server answers and knows us.
    pub async fn check(&self) -> anyhow::Result<()> {
        let works = self.transport.test_connection().await?;
        anyhow::ensure!(works, "the mail server answers, but not as one");
        Ok(())
    }

    fn id(&self, name: &str) -> String {
        format!("<{name}@{}>", self.from.email.domain())
    }

    fn message(&self, letter: &Letter) -> anyhow::Result<Message> {
        let to: Address = letter.to.parse().context("this is no address mail can be sent to")?;
        let millis = u64::try_from(letter.at.millis()).unwrap_or(0);
        let at: SystemTime = UNIX_EPOCH + Duration::from_millis(millis);
        // No answer is expected, least of all from a machine.
        let automatic = HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        );
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&letter.subject)
            .date(at)
            .message_id(Some(self.id(&letter.id)))
            .raw_header(automatic);
        let LetterWish { in_reply_to, references, others, .. } = &letter.wish;
        let own = letter.thread.as_ref().map(|thread| self.id(thread));
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
                address.parse::<Address>().context("mail cannot be sent to a recipient")?;
            let mailbox = Mailbox::new(None, address);
            anyhow::Ok(match field {
                Field::To => message.to(mailbox),
                Field::Cc => message.cc(mailbox),
                Field::Bcc => message.bcc(mailbox),
            })
        })?;
        let message = match &letter.reply_to {
            Some(address) => {
                let address =
                    address.parse::<Address>().context("answers can go to no such address")?;
                message.reply_to(Mailbox::new(None, address))
            }
            None => message,
        };
        let message = message.multipart(MultiPart::alternative_plain_html(
            letter.text.clone(),
            letter.html.clone(),
        ))?;
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_letter_has_text_and_a_page_and_no_room_for_more_headers() {
        let from = "Countersign <agents@example.com>".parse().unwrap();
        let smtp = Smtp {
            host: "localhost".to_owned(),
            port: 25,
            security: Security::None,
            credentials: None,
            from,
        };
        let mailer = Mailer::new(&smtp).unwrap();
        let letter = Letter {
            id: "key_1".to_owned(),
            thread: Some("ask_1".to_owned()),
            to: "ada@example.com".to_owned(),
            wish: LetterWish::default(),
            reply_to: Some("ask+token@example.com".to_owned()),
            subject: "Sign in\r\nBcc: eve@example.com".to_owned(),
            at: "2026-03-01T09:00:00Z".parse().unwrap(),
            text: "Hello".to_owned(),
            html: "<p>Hello</p>".to_owned(),
        };
        let message = mailer.message(&letter).unwrap();
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
            Letter { to: "ada@example.com\r\nRCPT TO:<eve@example.com>".to_owned(), ..letter };
        assert!(mailer.message(&nowhere).is_err());
    }
}
