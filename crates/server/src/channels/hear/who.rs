//! Who somebody is, seen from an ask: a person we know and who was asked, whoever reads a letter, or a
//! guest where the agent wanted it put.

use ::channels::email::{AddressOwner, OpenedAddress, ReplyAddress};
use ::channels::{SenderClaim, UnverifiedSender};
use kernel::actor::Attested;
use kernel::ask::Purpose;
use kernel::directory::{Human, Means};
use kernel::{Actor, Ask, Assurance, HumanId, SenderVerification, Via};
use store::{Message, StoreError};

use super::Hearing;
use crate::channels::send::via;

impl Hearing<'_> {
    /// Who answers: somebody we know and who was asked, or a guest where the agent wanted it put.
    pub(super) async fn who(
        &self,
        ask: &Ask,
        message: Option<&Message>,
    ) -> Result<Option<Actor>, StoreError> {
        let directory = self.app.gateway.directory();
        let via = via(&self.heard.from);
        let known = self.known().await;
        let may = |human: &Human| human.active && ask.admits(human);
        if let Some(human) = known.filter(may) {
            return Ok(Some(Actor::Human { id: human.id, via, assurance: Assurance::Channel }));
        }
        // What was put where the agent wanted may be answered by whoever is there and was not left out:
        // also before it is noted that it was put there. A button of ours is on messages of ours alone.
        let placed = message.is_none_or(|it| it.ask == ask.id && it.human.is_none());
        let id = self.heard.from.address().unwrap_or_default();
        let guest = guest(ask, via, &self.heard.from, id, self.heard.name.clone());
        // Somebody whose access was ended is no guest at their own address either.
        let placed = placed && !ask.place_is_ended(&directory);
        Ok(Some(guest).filter(|guest| placed && ask.is_shown_to(guest, &directory)))
    }

    /// Somebody we know: by an address they have shown to be theirs, or by the mail address their
    /// platform has confirmed. The latter does not do once all their access was ended: then they show
    /// anew what is theirs.
    pub(super) async fn known(&self) -> Option<Human> {
        let directory = self.app.gateway.directory();
        if let Some(human) = directory.human_by_means(&self.heard.from) {
            return Some(human.clone());
        }
        match self.channel.verified_email(self.heard).await {
            Ok(email) => {
                let known = email.and_then(|email| directory.human_by_email(&email).cloned());
                known.filter(|human| human.access_ended_at.is_none())
            }
            Err(failed) => {
                tracing::warn!(channel = self.channel.name(), error = %failed, "cannot ask who somebody is");
                None
            }
        }
    }

    /// The letter an answer was written to.
    pub(super) async fn answered_letter(&self, token: &str) -> Result<Option<Message>, StoreError> {
        let addressed = self.app.channels.email.as_ref().and_then(|email| email.addressed(token));
        let Some(OpenedAddress::Reply(ReplyAddress { ask, whom })) = addressed else {
            return Ok(None);
        };
        let messages = self.app.gateway.store().messages(vec![ask]).await?;
        Ok(messages.into_iter().rev().find(|message| AddressOwner::of_mark(&message.to) == whom))
    }

    /// The person an email was sent to that somebody answers. The sender an email names means nothing
    /// unless it is verified. `None` if that person's access was ended since: the address it is answered
    /// at lies in a mailbox that may be another's.
    pub(super) async fn reader(
        &self,
        ask: &Ask,
        message: &Message,
        sender: &Result<SenderClaim, UnverifiedSender>,
    ) -> Option<Answerer> {
        let directory = self.app.gateway.directory();
        let Some(id) = &message.human else {
            let place = ask.place.as_ref()?.value()?;
            let hash = self.app.review_hash(message.name);
            if !ask.token_works(Purpose::Review, &hash, &directory) {
                return None;
            }
            let address = place.means.address()?;
            return Some(guest(ask, Via::Email, &place.means, address, None).into());
        };
        let human = directory.human(id).filter(|human| human.active && ask.admits(human))?;
        if human.has_ended(message.at) {
            return None;
        }
        // What is over is not answered, so nothing needs to be looked up for it.
        let verified = match ask.still_open(self.app.gateway.now()) {
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
        let email = self.app.channels.email.as_ref().ok_or(UnverifiedSender::Disabled)?;
        let claim = claim.as_ref().map_err(|why| *why)?;
        // Before anything is looked up: strangers must not make us ask the DNS for names of theirs.
        let owner = self.app.gateway.directory().human_by_means(&self.heard.from).cloned();
        if owner.is_none_or(|owner| owner.id != *human) {
            return Err(UnverifiedSender::OtherAddress);
        }
        email.verify_sender(claim, self.app.gateway.wall_time()).await
    }
}

/// Somebody who answers, and how the sender was verified if it came by email.
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
    /// The person whose reply address an email was sent to. The address is worth as much as a link that
    /// was sent there; only a verified sender is worth more.
    pub(super) fn by_email(
        id: HumanId,
        sender: Result<SenderVerification, UnverifiedSender>,
    ) -> Self {
        let assurance = if sender.is_ok() { Assurance::Channel } else { Assurance::Link };
        let actor = Actor::Human { id, via: Via::Email, assurance };
        Self { actor, sender: Some(sender) }
    }

    /// Why the sender was not verified, where an ask takes no answer without.
    pub(super) fn too_weak(&self, ask: &Ask) -> Option<UnverifiedSender> {
        match self.sender {
            Some(Err(why)) if ask.floor == Assurance::Channel => Some(why),
            _ => None,
        }
    }
}

/// Somebody a platform knows, as a guest of one ask.
pub(crate) fn guest(ask: &Ask, via: Via, from: &Means, id: &str, name: Option<String>) -> Actor {
    let attested = Attested {
        via: from.kind().to_owned(),
        platform: from.kind().to_owned(),
        platform_user_id: id.to_owned(),
        display_name: name,
    };
    Actor::Guest { ask: ask.id, via, attested }
}
