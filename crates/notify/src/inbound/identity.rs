//! Who sent an inbound message, as seen from an ask: a known person who was asked, the reader of an
//! email, or a guest at the place that the agent chose.

use channels::email::{AddressOwner, OpenedAddress, ReplyAddress};
use channels::{SenderClaim, UnverifiedSender};
use kernel::ask::TokenPurpose;
use kernel::directory::Human;
use kernel::{Actor, AnswerInterface, Ask, Assurance, HumanId, SenderVerification};
use store::{Message, StoreError};

use super::IncomingMessage;
use crate::channel_actor::{guest, via};
use crate::people::messages::review_hash;

impl IncomingMessage<'_> {
    /// Who answers: a known person who was asked, or a guest at the place that the agent chose.
    pub(super) async fn answerer(
        &self,
        ask: &Ask,
        message: Option<&Message>,
    ) -> Result<Option<Actor>, StoreError> {
        let directory = self.inbound.gateway.directory();
        let via = via(&self.message.from);
        let known = self.known_sender().await;
        let may = |human: &Human| human.active && ask.may_be_answered_by(human);
        if let Some(human) = known.filter(may) {
            return Ok(Some(Actor::Human { id: human.id, via, assurance: Assurance::Channel }));
        }
        // Everyone at the place that the agent chose may answer, unless the agent excluded them;
        // also before the message is stored. Only the server's own messages have buttons with its
        // MAC.
        let placed = message.is_none_or(|it| it.ask == ask.id && it.human.is_none());
        let id = self.message.from.address().unwrap_or_default();
        let guest = guest(ask, via, &self.message.from, id, self.message.name.clone());
        // A person whose access was ended is no guest at their own address either.
        let placed = placed && !ask.posting_address_revoked(&directory);
        Ok(Some(guest).filter(|guest| placed && ask.is_visible_to(guest, &directory)))
    }

    /// The known person who sent the message: by a verified address, or by the email address that
    /// the platform confirms. The latter does not suffice once the person's access was ended: then
    /// they verify again.
    pub(super) async fn known_sender(&self) -> Option<Human> {
        let directory = self.inbound.gateway.directory();
        if let Some(human) = directory.human_by_contact_method(&self.message.from) {
            return Some(human.clone());
        }
        match self.channel.verified_email(self.message).await {
            Ok(email) => {
                let known = email.and_then(|email| directory.human_by_email(&email).cloned());
                known.filter(|human| human.access_ended_at.is_none())
            }
            Err(failed) => {
                tracing::warn!(channel = self.channel.name(), error = %failed, "cannot look up \
                     the sender on the \
                     platform");
                None
            }
        }
    }

    /// The email that was answered.
    pub(super) async fn answered_email(&self, token: &str) -> Result<Option<Message>, StoreError> {
        let addressed =
            self.inbound.channels.email.as_ref().and_then(|email| email.open_reply_address(token));
        let Some(OpenedAddress::Reply(ReplyAddress { ask, whom })) = addressed else {
            return Ok(None);
        };
        let messages = self.inbound.gateway.store().messages(vec![ask]).await?;
        Ok(messages
            .into_iter()
            .rev()
            .find(|message| AddressOwner::from_digest(&message.to) == whom))
    }

    /// The person to whom the answered email was sent. The sender that a reply names counts only if
    /// it is verified. `None` if that person's access was ended since: the mailbox may belong to
    /// someone else now.
    pub(super) async fn email_recipient(
        &self,
        ask: &Ask,
        message: &Message,
        sender: &Result<SenderClaim, UnverifiedSender>,
    ) -> Option<Answerer> {
        let directory = self.inbound.gateway.directory();
        let Some(id) = &message.human else {
            let place = ask.posting_address.as_ref()?.value()?;
            let hash = review_hash(&self.inbound.secrets, message.name);
            if !ask.token_works(TokenPurpose::Review, &hash, &directory) {
                return None;
            }
            let address = place.contact_method.address()?;
            return Some(
                guest(ask, AnswerInterface::Email, &place.contact_method, address, None).into(),
            );
        };
        let human =
            directory.human(id).filter(|human| human.active && ask.may_be_answered_by(human))?;
        if human.access_ended_since(message.at) {
            return None;
        }
        // A closed ask takes no answer, so nothing is looked up for it.
        let verified = match ask.check_open(self.inbound.gateway.now()) {
            Ok(()) => self.sender(&human.id, sender).await,
            Err(_) => Err(UnverifiedSender::Unsigned),
        };
        Some(Answerer::by_email(human.id.clone(), verified))
    }

    /// How the sender of the email was verified to be this person.
    pub(super) async fn sender(
        &self,
        human: &HumanId,
        claim: &Result<SenderClaim, UnverifiedSender>,
    ) -> Result<SenderVerification, UnverifiedSender> {
        let verified = self.verify_sender(human, claim).await;
        if let Err(why) = &verified {
            tracing::info!(human.id = %human, reason = %why, "sender of an email not verified");
        }
        verified
    }

    async fn verify_sender(
        &self,
        human: &HumanId,
        claim: &Result<SenderClaim, UnverifiedSender>,
    ) -> Result<SenderVerification, UnverifiedSender> {
        let email = self.inbound.channels.email.as_ref().ok_or(UnverifiedSender::Disabled)?;
        let claim = claim.as_ref().map_err(|why| *why)?;
        // Checked before the DNS is asked: strangers must not trigger lookups of names they chose.
        let owner =
            self.inbound.gateway.directory().human_by_contact_method(&self.message.from).cloned();
        if owner.is_none_or(|owner| owner.id != *human) {
            return Err(UnverifiedSender::OtherAddress);
        }
        email.verify_sender(claim, self.inbound.gateway.wall_time()).await
    }
}

/// The actor who answers, and how the sender was verified if the answer came by email.
pub(super) struct Answerer {
    pub(super) actor: Actor,
    pub(super) sender: Option<Result<SenderVerification, UnverifiedSender>>,
}

impl From<Actor> for Answerer {
    fn from(actor: Actor) -> Self {
        Self { actor, sender: None }
    }
}

impl Answerer {
    /// The person whose reply address an email was sent to. The address proves as much as a link
    /// that was sent there; only a verified sender proves more.
    pub(super) fn by_email(
        id: HumanId,
        sender: Result<SenderVerification, UnverifiedSender>,
    ) -> Self {
        let assurance = if sender.is_ok() { Assurance::Channel } else { Assurance::Link };
        let actor = Actor::Human { id, via: AnswerInterface::Email, assurance };
        Self { actor, sender: Some(sender) }
    }

    /// Why the sender was not verified, if the ask requires that.
    pub(super) fn missing_verification(&self, ask: &Ask) -> Option<UnverifiedSender> {
        match self.sender {
            Some(Err(why)) if ask.minimum_assurance == Assurance::Channel => Some(why),
            _ => None,
        }
    }
}
