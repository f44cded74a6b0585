//! Mail as a channel: letters out through the same server as all our mail, answers in through a mailbox, a
//! listener of our own, or a provider that posts them.

use std::net::SocketAddr;
use std::sync::Arc;

use ::channels::card::{Card, Stage};
use ::channels::heard::Parsed;
use ::channels::mail::imap::Imap;
use ::channels::mail::inbound::Inbound;
use ::channels::mail::listener::{self, Limits, Listener, Protocol};
use ::channels::mail::{Addressed, Invitation, Reader, Replies, Reply, Whom};
use ::channels::{
    Channel, Ear, Failed, Forged, Heard, Knock, Medium, Parcel, Posted, Secret, Unread,
};
use anyhow::{Context, anyhow};
use async_trait::async_trait;
use dialects::a2h::LetterWish;
use kernel::directory::Means;
use kernel::{AgentId, AskId, HumanId};
use rustls_platform_verifier::ConfigVerifierExt;
use serde_json::{Value, json};
use store::Clock;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::notice::inert;
use super::{Letter, Mailer, Unsent};
use crate::config::{self, Spoken};

/// Mail, out and in.
pub struct Mail {
    mailer: Arc<Mailer>,
    clock: Arc<dyn Clock>,
    answers: Option<Answers>,
}

/// How answers come in.
struct Answers {
    reader: Reader,
    inbound: Option<Inbound>,
    imap: Option<Imap>,
    listener: Option<(Listener, SocketAddr)>,
    stop: CancellationToken,
}

impl Mail {
    /// Mail that goes out through this server; with settings for answers, those are heard.
    pub fn new(
        mailer: Arc<Mailer>,
        clock: Arc<dyn Clock>,
        answers: Option<(&config::Replies, [u8; 32])>,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let answers = match answers {
            None => None,
            Some((settings, key)) => {
                let replies = Replies::new(&settings.address, key).context("mail_replies")?;
                let reader = Reader::new(replies, [mailer.from.email.to_string()]);
                Some(Answers::new(settings, reader, stop)?)
            }
        };
        Ok(Self { mailer, clock, answers })
    }

    /// Where answers to an ask go that somebody was told of by this means.
    pub fn reply_to(&self, ask: AskId, means: &Means) -> Option<String> {
        let replies = self.answers.as_ref()?.reader.replies();
        Some(replies.address(Reply { ask, whom: Whom::of(means) }))
    }

    /// What the address of a letter says, if it is one of ours.
    pub fn addressed(&self, token: &str) -> Option<Addressed> {
        self.answers.as_ref()?.reader.replies().open(token)
    }

    /// Where somebody writes to an agent, if letters are heard.
    pub fn invitation(&self, agent: &AgentId, human: &HumanId) -> Option<String> {
        let replies = self.answers.as_ref()?.reader.replies();
        Some(replies.invitation(Invitation::new(agent, human)))
    }

    /// Where letters go, without what makes an address somebody's own.
    pub fn bare(&self) -> Option<String> {
        Some(self.answers.as_ref()?.reader.replies().bare())
    }
}

impl Answers {
    fn new(
        settings: &config::Replies,
        reader: Reader,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let said = |name: &'static str| move |error: String| anyhow!("{name}: {error}");
        let inbound = settings.inbound.clone();
        let inbound = inbound
            .map(|provider| Inbound::new(provider, reader.clone()))
            .transpose()
            .map_err(said("mail_inbound"))?;
        let imap = match &settings.imap {
            None => None,
            Some(mailbox) => {
                let tls = rustls::ClientConfig::with_platform_verifier().context("imap_url")?;
                let imap = Imap::new(mailbox.clone(), Arc::new(tls), reader.clone());
                Some(imap.map_err(said("imap_url"))?)
            }
        };
        let listener = match settings.listen {
            None => None,
            Some((spoken, place)) => {
                let protocol = match spoken {
                    Spoken::Smtp => Protocol::Smtp(None),
                    Spoken::Lmtp => Protocol::Lmtp,
                };
                let name = reader.replies().domain().to_owned();
                let settings = listener::Settings { name, protocol, limits: Limits::default() };
                let listener =
                    Listener::new(settings, reader.clone()).map_err(said("mail_listen"))?;
                Some((listener, place))
            }
        };
        Ok(Self { reader, inbound, imap, listener, stop })
    }
}

#[async_trait]
impl Channel for Mail {
    fn medium(&self) -> Medium {
        Medium::Email
    }

    /// A plain letter. Notices have [their own](super::notice).
    fn render(&self, card: &Card) -> Value {
        let over = match &card.stage {
            Stage::Over { headline, at, .. } => format!("{headline}, {at}.\n\n"),
            Stage::Open(_) => String::new(),
        };
        let words = inert(&card.words);
        json!({
            "subject": card.title,
            "text": format!("{over}{words}\n\n{}\n", card.link),
        })
    }

    async fn deliver(&self, parcel: Parcel<'_>) -> Result<Posted, Failed> {
        let said = |key: &str| {
            parcel.message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let letter = plain(parcel.key, parcel.to, said("subject"), said("text"), parcel.now);
        let id = letter.id.clone();
        self.post(&letter).await.map(|()| Posted { id, thread: None, place: Value::Null })
    }

    /// A letter that was sent stays as it is.
    async fn update(&self, _: &Posted, _: &Value, _: Option<&Secret>) -> Result<(), Failed> {
        Ok(())
    }

    fn verify(&self, knock: &Knock<'_>) -> Result<(), Forged> {
        match self.answers.as_ref().and_then(|answers| answers.inbound.as_ref()) {
            Some(inbound) => inbound.verify(knock),
            None => Err(Forged("no letters are taken here: mail_inbound is not set")),
        }
    }

    fn parse(&self, knock: &Knock<'_>) -> Result<Parsed, Unread> {
        match self.answers.as_ref().and_then(|answers| answers.inbound.as_ref()) {
            Some(inbound) => inbound.parse(knock),
            None => Ok(Parsed::of(Vec::new())),
        }
    }

    /// A letter to whoever wrote, below theirs. It is marked as a machine's, so that no machine answers
    /// it.
    async fn answer(&self, heard: &Heard, words: &str) -> Result<(), Failed> {
        let Some(to) = heard.from.address() else { return Ok(()) };
        let id = kernel::audit::Digest::of(heard.id.as_bytes()).to_string();
        let said = |name: &str| {
            let said = heard.place.get(name).and_then(Value::as_str).unwrap_or_default();
            Some(said.split_whitespace().collect::<Vec<_>>().join(" "))
                .filter(|said| !said.is_empty())
        };
        let subject = match said("subject") {
            Some(subject) => inert(&re(&subject)),
            None => "About your letter".to_owned(),
        };
        let mut letter =
            plain(&format!("answer.{id}"), to, subject, format!("{words}\n"), self.clock.now());
        let theirs = said("message_id").map(|id| format!("<{id}>"));
        letter.wish.in_reply_to.clone_from(&theirs);
        letter.wish.references = theirs;
        self.post(&letter).await
    }

    async fn listen(&self, ear: &dyn Ear) -> Result<(), Failed> {
        let Some(answers) = &self.answers else { return std::future::pending().await };
        let fetch = async {
            match &answers.imap {
                Some(imap) => match imap.listen(ear).await {},
                None => std::future::pending::<Result<(), Failed>>().await,
            }
        };
        let take = async {
            let Some((listener, place)) = &answers.listener else {
                return std::future::pending().await;
            };
            let socket = TcpListener::bind(place).await;
            let socket = socket.map_err(|error| Failed::later(format!("mail_listen: {error}")))?;
            listener.listen(&socket, ear, &answers.stop).await;
            Ok(())
        };
        tokio::select! {
            ended = fetch => ended,
            ended = take => ended,
        }
    }

    async fn check(&self) -> Result<String, Failed> {
        self.mailer.check().await.map_err(|error| Failed::later(format!("{error:#}")))?;
        match self.answers.as_ref().and_then(|answers| answers.imap.as_ref()) {
            Some(imap) => Ok(format!("letters are taken; {}", imap.check().await?)),
            None => Ok("letters are taken".to_owned()),
        }
    }
}

impl Mail {
    async fn post(&self, letter: &Letter) -> Result<(), Failed> {
        let said = |error: Unsent| format!("{:#}", anyhow::Error::from(error));
        self.mailer.send(letter, self.clock.now()).await.map_err(|error| match error {
            Unsent::Refused(_) => Failed::never(said(error)),
            Unsent::Later(_) => Failed::later(said(error)),
        })
    }
}

/// The subject of a letter that answers one with this.
pub(crate) fn re(subject: &str) -> String {
    let answers = subject.get(..3).is_some_and(|begins| begins.eq_ignore_ascii_case("re:"));
    if answers { subject.to_owned() } else { format!("Re: {subject}") }
}

/// A letter of a few words.
fn plain(id: &str, to: &str, subject: String, text: String, at: kernel::Time) -> Letter {
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>\n");
    Letter {
        id: id.to_owned(),
        thread: None,
        to: to.to_owned(),
        reply_to: None,
        wish: LetterWish::default(),
        subject,
        at,
        text,
        html: format!("<!doctype html>\n<html lang=\"en\"><body><p>{html}</p></body></html>"),
    }
}
