//! Notifies a person of a change to their access, by every contact method they verified: an
//! attacker who made the change must not be the only one who knows.

use channels::OutboundMessage;
use gateway::Gateway;
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, Human};
use kernel::follow_up::SecurityEvent;
use kernel::{HumanId, Time};
use store::{Settlement, StoreError};

use super::contact_methods::ContactMethods;
use super::notification_steps::NotificationSteps;
use crate::attempts::AttemptResult;
use crate::links::LinkBuilder;
use crate::outgoing::Outgoing;
use views::email::security::SecurityEmail;
use views::locale::{self, ReaderLocale};
use views::message_card::MessageCard;
use views::site::paths;
use views::t;

/// A notification by one contact method.
pub(super) struct SecurityNotice<'a> {
    pub(crate) human: &'a HumanId,
    pub(crate) event: SecurityEvent,
    /// The digest of the address.
    pub(crate) to: Digest,
}

/// Sends notifications of changes to access.
pub(super) struct SecurityNotices {
    pub(super) gateway: Gateway,
    pub(super) contacts: ContactMethods,
    pub(super) links: LinkBuilder,
    pub(super) outgoing: Outgoing,
    pub(super) steps: NotificationSteps,
}

impl SecurityNotices {
    /// Sends a notification. The change itself decided whom to notify, so an address that is no
    /// longer verified still gets it; an address that was removed does not.
    pub(super) async fn send(
        &self,
        notice: SecurityNotice<'_>,
        attempt: u32,
        since: Time,
    ) -> Result<Settlement, StoreError> {
        let directory = self.gateway.directory();
        let result = match directory.existing_human(notice.human) {
            Some(human) => {
                let attempt = self.attempt(human, &notice, since);
                locale::scope(ReaderLocale::of(human), attempt).await
            }
            None => AttemptResult::NotNeeded,
        };
        if let AttemptResult::Refused { error } = &result {
            tracing::warn!(human.id = %notice.human, error, "security notification failed");
        }
        self.steps.settle(result, attempt, None).await
    }

    async fn attempt(
        &self,
        human: &Human,
        notice: &SecurityNotice<'_>,
        since: Time,
    ) -> AttemptResult {
        let Some(profile) = human.profile.value() else { return AttemptResult::NotNeeded };
        let contacts = profile.contacts.iter().flatten().map(ContactMethod::from);
        let mut means = contacts.chain(profile.email.as_deref().map(ContactMethod::email));
        let Some(means) = means.find(|means| means.digest() == notice.to) else {
            return AttemptResult::NotNeeded;
        };
        let mail = profile.email_address(&notice.to).map(|(_, address)| address);
        let Some(address) = mail.or_else(|| means.address()) else {
            return AttemptResult::NotNeeded;
        };
        if !self.contacts.has_channel(&means) {
            return AttemptResult::Gone;
        }
        let host = self.links.host();
        let id = format!("security.{}.{}", since.millis(), notice.to);
        let (title, words) = security_text(notice.event, host);
        let link = self.links.page(paths::PASSKEYS);
        match (&means, self.contacts.channels.named(means.kind())) {
            (ContactMethod::Email(_), _) | (_, None) => {
                let email = SecurityEmail {
                    id,
                    to: address,
                    at: since,
                    title: &title,
                    words: &words,
                    link: &link,
                };
                self.outgoing.notify_by_email(&email.email()).await
            }
            (_, Some(channel)) => {
                let card = MessageCard::plain(title, words, link);
                let message = channel.render(&card);
                let outbound = OutboundMessage::new(address, &message, &id, self.gateway.now());
                self.outgoing.notify(&channel, outbound).await
            }
        }
    }
}

/// What changed, and what to do if the person did not expect it.
fn security_text(event: SecurityEvent, host: &str) -> (String, String) {
    match event {
        SecurityEvent::PasskeyAdded => {
            (t!("security-passkey-added", host = host), t!("security-passkey-added-what"))
        }
        SecurityEvent::PasskeyRemoved => {
            (t!("security-passkey-removed", host = host), t!("security-passkey-removed-what"))
        }
        SecurityEvent::AccessEnded => {
            (t!("security-access-ended", host = host), t!("security-access-ended-what"))
        }
    }
}
