//! The contact methods by which a person can be notified now, and whether the person may be notified.

use std::sync::Arc;

use channels::ChannelRegistry;
use dialects::native::WayView;
use gateway::Gateway;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{Cadence, Human, Means};
use kernel::reach::Addressee;
use kernel::{AskId, HumanId, Time};
use store::StoreError;

use crate::devices::Devices;

/// Knows by which contact methods people can be notified.
#[derive(Clone)]
pub struct ContactMethods {
    pub(crate) gateway: Gateway,
    pub(crate) channels: Arc<ChannelRegistry>,
    pub(crate) devices: Devices,
}

impl ContactMethods {
    /// The contact methods that can be used for a person now, in the order in which they are tried.
    pub(crate) async fn usable(&self, human: &Human) -> Result<Vec<Means>, StoreError> {
        let mut means = human.reachable_by();
        means.retain(|means| self.carries(means));
        if means.contains(&Means::Devices) && self.devices.of(&human.id).await?.is_empty() {
            means.retain(|means| *means != Means::Devices);
        }
        Ok(means)
    }

    /// Whether this server can notify people anywhere but in the inbox.
    pub(crate) fn exist(&self) -> bool {
        self.channels.push.is_some() || self.channels.addressable().next().is_some()
    }

    /// Whether this server has the channel of a contact method.
    pub fn carries(&self, means: &Means) -> bool {
        match means {
            Means::Devices => self.channels.push.is_some(),
            Means::Email(_)
            | Means::Slack(_)
            | Means::Sms(_)
            | Means::Whatsapp(_)
            | Means::Telegram(_)
            | Means::Ntfy(_)
            | Means::Webhook(_) => self.channels.named(means.kind()).is_some(),
        }
    }

    /// Every contact method of a person, in the order in which they are tried.
    pub fn list(&self, human: &Human) -> Vec<WayView> {
        let Some(profile) = human.profile.value() else { return Vec::new() };
        let contacts: Vec<Means> = profile.contacts.iter().flatten().map(Means::from).collect();
        let off = profile.notices.as_ref().map(|notices| notices.off.clone()).unwrap_or_default();
        let view = |means: Means| WayView {
            id: means.mark(),
            verified: profile.is_verified(&means),
            off: off.contains(&means),
            carried: self.carries(&means),
            removable: contacts.contains(&means),
            means,
        };
        profile.means().into_iter().map(view).collect()
    }

    /// Until when, and why, a person is not to be notified of an ask.
    pub(super) async fn quiet_until(
        &self,
        human: &HumanId,
        ask: AskId,
        priority: Priority,
    ) -> Result<Option<(Time, &'static str)>, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let about = directory.human(human).and_then(Human::about);
        let quiet = about.and_then(|about| about.quiet_until(now));
        let quiet = quiet.filter(|_| priority != Priority::Critical);
        let snoozed = self.snoozed_until(human, ask).await?;
        Ok(quiet.map(|at| (at, "quiet hours")).max(snoozed.map(|at| (at, "put aside"))))
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
pub(super) fn addressee<'a>(human: &'a Human, means: &'a [Means]) -> Addressee<'a> {
    Addressee { means, about: human.about(), digest: digest_cadence(human) }
}

/// How often a person gets the digest.
pub fn digest_cadence(human: &Human) -> Cadence {
    let notices = human.profile.value().and_then(|profile| profile.notices.as_ref());
    notices.map(|notices| notices.digest).unwrap_or_default()
}

/// The address of this mark, as the person writes it, if notifications may go there.
pub(super) fn address(human: &Human, mark: &Digest) -> Option<(Means, String)> {
    let profile = human.profile.value()?;
    if let Some((means, address)) = profile.mail_address(mark) {
        return profile.may_tell(&means).then(|| (means, address.to_owned()));
    }
    let means = profile.means().into_iter().find(|means| means.mark() == *mark)?;
    let address = means.address()?.to_owned();
    profile.may_tell(&means).then_some((means, address))
}
