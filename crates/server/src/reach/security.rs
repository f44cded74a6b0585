//! Notifying a person of a change to what lets them in, by every contact method they verified: whoever
//! made the change must not be the only one to know.

use ::channels::OutboundMessage;
use kernel::audit::Digest;
use kernel::directory::{Human, Means};
use kernel::effect::SecurityEvent;
use kernel::{HumanId, Time};
use store::{Settlement, StoreError};

use super::step::Came;
use crate::http::App;
use views::email::security::SecurityEmail;
use views::message_card::MessageCard;
use views::site::paths;

/// A notification on its way, by one contact method.
pub(crate) struct SecurityNotice<'a> {
    pub(crate) human: &'a HumanId,
    pub(crate) event: SecurityEvent,
    /// The mark of the address.
    pub(crate) to: Digest,
}

impl App {
    /// Sends it. It was decided whom to notify when the change was made, so an address that is no longer
    /// verified still gets it; one that is gone does not.
    pub(crate) async fn notify_security(
        &self,
        notice: SecurityNotice<'_>,
        attempt: u32,
        since: Time,
    ) -> Result<Settlement, StoreError> {
        let directory = self.gateway.directory();
        let came = match directory.living(notice.human) {
            Some(human) => self.send_security(human, &notice, since).await,
            None => Came::Nothing,
        };
        if let Came::Never { error } = &came {
            tracing::warn!(human.id = %notice.human, error, "security notification failed");
        }
        self.settled(came, attempt, None).await
    }

    async fn send_security(&self, human: &Human, notice: &SecurityNotice<'_>, since: Time) -> Came {
        let Some(profile) = human.profile.value() else { return Came::Nothing };
        let contacts = profile.contacts.iter().flatten().map(Means::from);
        let mut means = contacts.chain(profile.email.as_deref().map(Means::email));
        let Some(means) = means.find(|means| means.mark() == notice.to) else {
            return Came::Nothing;
        };
        let mail = profile.mail_address(&notice.to).map(|(_, address)| address);
        let Some(address) = mail.or_else(|| means.address()) else { return Came::Nothing };
        if !self.carries(&means) {
            return Came::Gone;
        }
        let host = self.config.public_url.host_str().unwrap_or_default();
        let id = format!("security.{}.{}", since.millis(), notice.to);
        let (title, words) = said(notice.event, host);
        let link = self.link(paths::PASSKEYS);
        match (&means, self.channels.named(means.kind())) {
            (Means::Email(_), _) | (_, None) => {
                let email =
                    SecurityEmail { id, to: address, at: since, title: &title, words, link: &link };
                self.post(&email.email()).await
            }
            (_, Some(channel)) => {
                let card = MessageCard::plain(title, words.to_owned(), link);
                let message = channel.render(&card);
                let outbound = OutboundMessage::new(address, &message, &id, self.gateway.now());
                self.deliver(&channel, outbound).await.map_or_else(|came| came, |_| Came::Told)
            }
        }
    }
}

/// What changed, and what to do if the person did not expect it.
fn said(event: SecurityEvent, host: &str) -> (String, &'static str) {
    match event {
        SecurityEvent::PasskeyAdded => (
            format!("A passkey was added to your account at {host}"),
            "If this was not you, tell an administrator at once: they can end all access to your \
             account. A first passkey does not confirm answers for a waiting period.",
        ),
        SecurityEvent::PasskeyRemoved => (
            format!("A passkey was removed from your account at {host}"),
            "If this was not you and you did not ask for it, tell an administrator at once: they can \
             end all access to your account.",
        ),
        SecurityEvent::AccessEnded => (
            format!("All access to your account at {host} was ended"),
            "An administrator ended your sessions, tokens, sign-in links, passkeys and contact \
             methods. Ask them for a new sign-in link.",
        ),
    }
}
