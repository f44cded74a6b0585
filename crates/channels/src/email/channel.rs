//! The channel `email`: notifications go out through a mail server. Replies come in through a
//! mailbox, a built-in SMTP or LMTP listener, or a provider that posts them.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use async_trait::async_trait;
use kernel::directory::ContactMethod;
use kernel::{AgentId, AskId, HumanId, SenderVerification, Time};
use rustls_platform_verifier::ConfigVerifierExt;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use views::email::{Email, reply_subject, without_links};
use views::message_card::{CardStage, MessageCard};
use views::t;

use super::imap::{Imap, ImapSettings};
use super::listener::{EmailListener, ListenerLimits, ListenerSettings, Protocol};
use super::provider_webhook::{EmailProvider, ProviderWebhook};
use super::reader::EmailReader;
use super::reply_address::{AddressOwner, Invitation, OpenedAddress, ReplyAddress, ReplyAddresses};
use super::sender::{SenderSettings, SenderVerifier};
use super::smtp::{SmtpSender, SmtpSettings};
use crate::inbound::{InboundMessage, ParsedCall};
use crate::sender_claim::{SenderClaim, UnverifiedSender};
use crate::setup::{ChannelContext, ChannelSetup, ClockFn};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundHandler, OutboundMessage, PostedMessage,
    UnreadableCall, WebhookCall,
};

/// The name of the channel.
pub const NAME: &str = "email";

/// The settings of the channel.
#[derive(Debug, Clone)]
pub struct EmailSettings {
    /// The mail server that accepts outgoing emails.
    pub smtp: SmtpSettings,
    /// How replies come in, if the server accepts them.
    pub replies: Option<ReplySettings>,
}

/// How replies come in.
#[derive(Clone)]
pub struct ReplySettings {
    /// The reply address, to which each email adds a token.
    pub address: String,
    /// The key that signs reply addresses.
    pub key: [u8; 32],
    /// The mailbox that replies are fetched from.
    pub imap: Option<ImapSettings>,
    /// The protocol and address of the built-in listener.
    pub listen: Option<(ListenerProtocol, SocketAddr)>,
    /// The provider that posts replies.
    pub inbound: Option<EmailProvider>,
    /// How the senders of replies are verified.
    pub senders: SenderSettings,
}

/// Leaves out the key.
impl fmt::Debug for ReplySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplySettings").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The protocol of the built-in listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerProtocol {
    /// SMTP, for any mail server.
    Smtp,
    /// LMTP, for the local mail server.
    Lmtp,
}

/// The email channel, outgoing and incoming.
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

impl ChannelSetup for EmailSettings {
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

    /// The reply address for one request and one contact method of a person.
    pub fn reply_to(&self, ask: AskId, means: &ContactMethod) -> Option<String> {
        let replies = self.replies.as_ref()?.reader.replies();
        Some(replies.address(ReplyAddress { ask, whom: AddressOwner::of(means) }))
    }

    /// The content of a reply address, if this server issued it.
    pub fn open_reply_address(&self, token: &str) -> Option<OpenedAddress> {
        self.replies.as_ref()?.reader.replies().open(token)
    }

    /// Verifies that an email came from the address it claims. Finishes within
    /// the configured timeout.
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

    /// Whether the server verifies the senders of emails.
    pub fn verifies_senders(&self) -> bool {
        self.replies.as_ref().is_some_and(|inbox| inbox.senders.is_enabled())
    }

    /// The address at which a person writes to an agent, if the server accepts emails.
    pub fn invitation(&self, agent: &AgentId, human: &HumanId) -> Option<String> {
        let replies = self.replies.as_ref()?.reader.replies();
        Some(replies.invitation(Invitation::new(agent, human)))
    }

    /// The reply address without the token that makes it one person's own.
    pub fn reply_address_without_token(&self) -> Option<String> {
        Some(self.replies.as_ref()?.reader.replies().without_token())
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

    /// Renders a plain email. Notifications have [their own view](views::email::notification).
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
            .map_err(|error| DeliveryError::never(format!("not a valid email: {error}")))?;
        let email = Email { id: outbound.key.to_owned(), to: outbound.to.to_owned(), ..email };
        self.smtp.send(&email, outbound.now).await?;
        Ok(PostedMessage::new(email.id))
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        match self.replies.as_ref().and_then(|inbox| inbox.inbound.as_ref()) {
            Some(inbound) => inbound.verify(call),
            None => Err(ForgedCall(
                "this server does not accept emails over HTTP: mail_inbound is not set",
            )),
        }
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        match self.replies.as_ref().and_then(|inbox| inbox.inbound.as_ref()) {
            Some(inbound) => inbound.parse(call),
            None => Ok(ParsedCall::of(Vec::new())),
        }
    }

    /// Replies to the sender in the same thread. The email is marked as automatic, so that no
    /// autoresponder replies to it.
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
            None => t!("email-about"),
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
            Some(imap) => Ok(format!("emails are accepted; {}", imap.check().await?)),
            None => Ok("emails are accepted".to_owned()),
        }
    }
}
