//! The channel `email`: notifications go out through a mail server; replies come in through a mailbox, a
//! listener of our own, or a provider that posts them.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use async_trait::async_trait;
use kernel::directory::Means;
use kernel::{AgentId, AskId, HumanId, SenderVerification, Time};
use rustls_platform_verifier::ConfigVerifierExt;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use views::email::{Email, reply_subject, without_links};
use views::message_card::{CardStage, MessageCard};

use super::imap::{Imap, ImapSettings};
use super::listener::{EmailListener, ListenerLimits, ListenerSettings, Protocol};
use super::provider_webhook::{EmailProvider, ProviderWebhook};
use super::reader::EmailReader;
use super::reply_address::{AddressOwner, Invitation, OpenedAddress, ReplyAddress, ReplyAddresses};
use super::sender::{SenderSettings, SenderVerifier};
use super::smtp::{SmtpSender, SmtpSettings};
use crate::inbound::{InboundMessage, ParsedCall};
use crate::sender_claim::{SenderClaim, UnverifiedSender};
use crate::setup::{ChannelContext, ClockFn, Setup};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundHandler, OutboundMessage, PostedMessage,
    UnreadableCall, WebhookCall,
};

/// What the channel is called.
pub const NAME: &str = "email";

/// What email needs.
#[derive(Debug, Clone)]
pub struct EmailSettings {
    /// The mail server that takes our emails.
    pub smtp: SmtpSettings,
    /// How replies come in, if they are accepted.
    pub replies: Option<ReplySettings>,
}

/// How replies come in.
#[derive(Clone)]
pub struct ReplySettings {
    /// The address they go to, before its token.
    pub address: String,
    /// What reply addresses are signed with.
    pub key: [u8; 32],
    /// The mailbox they are fetched from.
    pub imap: Option<ImapSettings>,
    /// Where they are accepted as a mail server does.
    pub listen: Option<(ListenerProtocol, SocketAddr)>,
    /// The provider that posts them.
    pub inbound: Option<EmailProvider>,
    /// How their senders are verified.
    pub senders: SenderSettings,
}

/// Never with the key.
impl fmt::Debug for ReplySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplySettings").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What a mail server speaks that hands over replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerProtocol {
    /// As mail servers talk with strangers.
    Smtp,
    /// As a mail server talks with the server that keeps its mailboxes.
    Lmtp,
}

/// Email, out and in.
pub struct EmailChannel {
    smtp: SmtpSender,
    clock: ClockFn,
    replies: Option<ReplyInbox>,
}

/// How replies come in.
struct ReplyInbox {
    reader: EmailReader,
    senders: SenderVerifier,
    inbound: Option<ProviderWebhook>,
    imap: Option<Imap>,
    listener: Option<(EmailListener, SocketAddr)>,
    stop: CancellationToken,
}

impl Setup for EmailSettings {
    type Channel = EmailChannel;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<EmailChannel>, String> {
        EmailChannel::new(self, context).map(Arc::new).map_err(|error| format!("{error:#}"))
    }
}

impl EmailChannel {
    fn new(settings: EmailSettings, context: &ChannelContext) -> anyhow::Result<Self> {
        let smtp = SmtpSender::new(&settings.smtp, context.outages.open("mail server"))?;
        let replies = match settings.replies {
            None => None,
            Some(settings) => {
                let addresses = ReplyAddresses::new(&settings.address, settings.key);
                let addresses = addresses.context("mail_replies")?;
                let reader = EmailReader::new(addresses, [smtp.from()]);
                Some(ReplyInbox::new(&settings, reader, context.stop.clone())?)
            }
        };
        Ok(Self { smtp, clock: Arc::clone(&context.clock), replies })
    }

    /// Where replies about a request go that a person was notified of by this contact method.
    pub fn reply_to(&self, ask: AskId, means: &Means) -> Option<String> {
        let replies = self.replies.as_ref()?.reader.replies();
        Some(replies.address(ReplyAddress { ask, whom: AddressOwner::of(means) }))
    }

    /// What the address of an inbound email says, if it is one of ours.
    pub fn addressed(&self, token: &str) -> Option<OpenedAddress> {
        self.replies.as_ref()?.reader.replies().open(token)
    }

    /// Verifies that an email came from the address it claims. It ends within the time of the settings.
    pub async fn verify_sender(
        &self,
        claim: &SenderClaim,
        now: Time,
    ) -> Result<SenderVerification, UnverifiedSender> {
        match &self.replies {
            Some(inbox) => inbox.senders.verify(claim, now).await,
            None => Err(UnverifiedSender::Disabled),
        }
    }

    /// Whether the senders of emails are verified here.
    pub fn verifies_senders(&self) -> bool {
        self.replies.as_ref().is_some_and(|inbox| inbox.senders.is_enabled())
    }

    /// Where a person writes to an agent, if emails are accepted.
    pub fn invitation(&self, agent: &AgentId, human: &HumanId) -> Option<String> {
        let replies = self.replies.as_ref()?.reader.replies();
        Some(replies.invitation(Invitation::new(agent, human)))
    }

    /// Where emails go, without what makes an address one person's own.
    pub fn bare(&self) -> Option<String> {
        Some(self.replies.as_ref()?.reader.replies().bare())
    }
}

impl ReplyInbox {
    fn new(
        settings: &ReplySettings,
        reader: EmailReader,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let said = |name: &'static str| move |error: String| anyhow!("{name}: {error}");
        let inbound = settings.inbound.clone();
        let inbound = inbound
            .map(|provider| ProviderWebhook::new(provider, reader.clone()))
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
                    ListenerProtocol::Smtp => Protocol::Smtp(None),
                    ListenerProtocol::Lmtp => Protocol::Lmtp,
                };
                let name = reader.replies().domain().to_owned();
                let settings =
                    ListenerSettings { name, protocol, limits: ListenerLimits::default() };
                let listener =
                    EmailListener::new(settings, reader.clone()).map_err(said("mail_listen"))?;
                Some((listener, place))
            }
        };
        let senders = SenderVerifier::new(settings.senders.clone()).map_err(said("mail_dns"))?;
        Ok(Self { reader, senders, inbound, imap, listener, stop })
    }
}

#[async_trait]
impl Channel for EmailChannel {
    fn name(&self) -> &'static str {
        NAME
    }

    /// A plain email. Notifications have [their own view](views::email::notification).
    fn render(&self, card: &MessageCard) -> Value {
        let closed = match &card.stage {
            CardStage::Closed { headline, at, .. } => format!("{headline}, {at}.\n\n"),
            CardStage::Open(_) => String::new(),
        };
        let words = without_links(&card.words);
        let text = format!("{closed}{words}\n\n{}\n", card.link);
        Email::plain(card.title.clone(), text).message()
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let email: Email = serde_json::from_value(outbound.message.clone())
            .map_err(|error| DeliveryError::never(format!("this is no email: {error}")))?;
        let email = Email { id: outbound.key.to_owned(), to: outbound.to.to_owned(), ..email };
        self.smtp.send(&email, outbound.now).await?;
        Ok(PostedMessage::new(email.id))
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        match self.replies.as_ref().and_then(|inbox| inbox.inbound.as_ref()) {
            Some(inbound) => inbound.verify(call),
            None => Err(ForgedCall("no letters are taken here: mail_inbound is not set")),
        }
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        match self.replies.as_ref().and_then(|inbox| inbox.inbound.as_ref()) {
            Some(inbound) => inbound.parse(call),
            None => Ok(ParsedCall::of(Vec::new())),
        }
    }

    /// An email to the person who wrote, below theirs. It is marked as automatic, so that no machine replies
    /// to it.
    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        let Some(to) = inbound.from.address() else { return Ok(()) };
        let id = kernel::audit::Digest::of(inbound.id.as_bytes()).to_string();
        let said = |name: &str| {
            let said = inbound.place.get(name).and_then(Value::as_str).unwrap_or_default();
            Some(said.split_whitespace().collect::<Vec<_>>().join(" "))
                .filter(|said| !said.is_empty())
        };
        let subject = match said("subject") {
            Some(subject) => without_links(&reply_subject(&subject)),
            None => "About your letter".to_owned(),
        };
        let mut email = Email::plain(subject, format!("{words}\n"));
        email.id = format!("answer.{id}");
        to.clone_into(&mut email.to);
        let theirs = said("message_id").map(|id| format!("<{id}>"));
        email.wish.in_reply_to.clone_from(&theirs);
        email.wish.references = theirs;
        self.smtp.send(&email, (self.clock)()).await
    }

    async fn listen(&self, handler: &dyn InboundHandler) -> Result<(), DeliveryError> {
        let Some(inbox) = &self.replies else { return std::future::pending().await };
        let fetch = async {
            match &inbox.imap {
                Some(imap) => match imap.listen(handler).await {},
                None => std::future::pending::<Result<(), DeliveryError>>().await,
            }
        };
        let take = async {
            let Some((listener, place)) = &inbox.listener else {
                return std::future::pending().await;
            };
            let socket = TcpListener::bind(place).await;
            let socket =
                socket.map_err(|error| DeliveryError::later(format!("mail_listen: {error}")))?;
            listener.listen(&socket, handler, &inbox.stop).await;
            Ok(())
        };
        tokio::select! {
            ended = fetch => ended,
            ended = take => ended,
        }
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        self.smtp.check().await.map_err(|error| DeliveryError::later(format!("{error:#}")))?;
        match self.replies.as_ref().and_then(|inbox| inbox.imap.as_ref()) {
            Some(imap) => Ok(format!("letters are taken; {}", imap.check().await?)),
            None => Ok("letters are taken".to_owned()),
        }
    }
}
