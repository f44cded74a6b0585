//! The contact methods by which a person can be notified now, and whether the person may be
//! notified.

use std::sync::Arc;

use channels::ChannelRegistry;
use dialects::native::ContactMethodView;
use gateway::Gateway;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, DigestFrequency, Human};
use kernel::notification_steps::Addressee;
use kernel::{AskId, HumanId, Time};
use store::StoreError;

use crate::devices::DeviceRegistry;

/// Knows by which contact methods people can be notified.
#[derive(Clone)]
pub struct ContactMethods {
    pub(crate) gateway: Gateway,
    pub(crate) channels: Arc<ChannelRegistry>,
    pub(crate) devices: DeviceRegistry,
}

impl ContactMethods {
    /// The contact methods that can be used for a person now, in the order in which they are tried.
    pub(crate) async fn usable(&self, human: &Human) -> Result<Vec<ContactMethod>, StoreError> {
        let mut means = human.usable_contact_methods();
        means.retain(|means| self.has_channel(means));
        if means.contains(&ContactMethod::Devices)
            && self.devices.devices_of(&human.id).await?.is_empty()
        {
            means.retain(|means| *means != ContactMethod::Devices);
        }
        Ok(means)
    }

    /// Whether this server can notify people anywhere but in the inbox.
    pub(crate) fn exist(&self) -> bool {
        self.channels.push.is_some() || self.channels.addressable().next().is_some()
    }

    /// Whether this server has the channel of a contact method.
    pub fn has_channel(&self, means: &ContactMethod) -> bool {
        match means {
            ContactMethod::Devices => self.channels.push.is_some(),
            ContactMethod::Email(_)
            | ContactMethod::Slack(_)
            | ContactMethod::Sms(_)
            | ContactMethod::Whatsapp(_)
            | ContactMethod::Telegram(_)
            | ContactMethod::Ntfy(_)
            | ContactMethod::Webhook(_) => self.channels.named(means.kind()).is_some(),
        }
    }

    /// Every contact method of a person, in the order in which they are tried.
    pub fn list(&self, human: &Human) -> Vec<ContactMethodView> {
        let Some(profile) = human.profile.value() else { return Vec::new() };
        let contacts: Vec<ContactMethod> =
            profile.contacts.iter().flatten().map(ContactMethod::from).collect();
        let off = profile
            .notification_preferences
            .as_ref()
            .map(|notices| notices.off.clone())
            .unwrap_or_default();
        let view = |means: ContactMethod| ContactMethodView {
            id: means.digest(),
            verified: profile.is_verified(&means),
            off: off.contains(&means),
            carried: self.has_channel(&means),
            removable: contacts.contains(&means),
            means,
        };
        profile.contact_methods().into_iter().map(view).collect()
    }

    /// Until when, and why, a person is not to be notified of an ask.
    pub(super) async fn quiet_until(
        &self,
        human: &HumanId,
        ask: AskId,
        priority: Priority,
    ) -> Result<Option<(Time, &'static str)>, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let about = directory.human(human).and_then(Human::profile_settings);
        let quiet = about.and_then(|about| about.quiet_until(now));
        let quiet = quiet.filter(|_| priority != Priority::Critical);
        let snoozed = self.snoozed_until(human, ask).await?;
        Ok(quiet.map(|at| (at, "quiet hours")).max(snoozed.map(|at| (at, "snoozed"))))
    }

    /// Until when a person snoozes an ask.
    pub(super) async fn snoozed_until(
        &self,
        human: &HumanId,
        ask: AskId,
    ) -> Result<Option<Time>, StoreError> {
        let snoozed = self.gateway.store().snoozed(human.clone(), self.gateway.now()).await?;
        Ok(snoozed.into_iter().find(|(id, _)| *id == ask).map(|(_, until)| until))
    }
}

/// A person as the kernel's notification plan sees them.
pub(super) fn addressee<'a>(human: &'a Human, means: &'a [ContactMethod]) -> Addressee<'a> {
    Addressee {
        contact_methods: means,
        about: human.profile_settings(),
        digest: digest_cadence(human),
    }
}

/// How often a person gets the digest.
pub fn digest_cadence(human: &Human) -> DigestFrequency {
    let notices =
        human.profile.value().and_then(|profile| profile.notification_preferences.as_ref());
    notices.map(|notices| notices.digest).unwrap_or_default()
}

/// The address with this digest, as the person wrote it, if notifications may go there.
pub(super) fn address(human: &Human, mark: &Digest) -> Option<(ContactMethod, String)> {
    let profile = human.profile.value()?;
    if let Some((means, address)) = profile.email_address(mark) {
        return profile.may_notify(&means).then(|| (means, address.to_owned()));
    }
    let means = profile.contact_methods().into_iter().find(|means| means.digest() == *mark)?;
    let address = means.address()?.to_owned();
    profile.may_notify(&means).then_some((means, address))
}
