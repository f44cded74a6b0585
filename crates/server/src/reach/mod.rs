//! Getting notices through to people. The kernel says what to do next ([`kernel::reach`]); here it is
//! done, as a chain of deliveries of which one is there at any time.
//!
//! ```text
//! Notify ──▶ Reach, one for each person ──▶ Mail, or Push for each device
//!              ▲   │                               │
//!              │   └─▶ Gather: what can wait       │ told: after a while of silence
//!              └───────────────────────────────────┘ failed: at once
//! ```
//!
//! Each arrow is one commit that settles a delivery and writes the next, so a crash loses nothing and
//! repeats at most what was under way.
//!
//! | module | what it holds |
//! |---|---|
//! | [`step`] | the next means, and what becomes of a notice when one was tried |
//! | [`email`] | notifications by email |
//! | [`gather`] | everything that can wait, told together |
//! | [`codes`] | showing that an address is one's own |
//! | [`security`] | notifying people of changes to what lets them in |

pub mod codes;
pub mod email;
pub mod gather;
pub mod security;
pub mod step;

use dialects::native::WayView;
use kernel::ask::Priority;
use kernel::directory::{Cadence, Human, Means};
use kernel::reach::Addressee;
use kernel::{AskId, HumanId, Time};
use store::StoreError;

use crate::http::App;

impl App {
    /// By which means somebody can be told now, in the order in which to try.
    pub(crate) async fn means_of(&self, human: &Human) -> Result<Vec<Means>, StoreError> {
        let mut means = human.reachable_by();
        means.retain(|means| self.carries(means));
        if means.contains(&Means::Devices) && self.devices_of(&human.id).await?.is_empty() {
            means.retain(|means| *means != Means::Devices);
        }
        Ok(means)
    }

    /// Whether this server can tell anybody anywhere but in the inbox.
    pub(crate) fn tells_anybody(&self) -> bool {
        self.channels.push.is_some() || self.channels.addressable().next().is_some()
    }

    /// Whether this server can tell anybody by such a means.
    pub(crate) fn carries(&self, means: &Means) -> bool {
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

    /// Everything somebody could be told by, in the order in which it is tried.
    pub(crate) fn ways_of(&self, human: &Human) -> Vec<WayView> {
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

    /// Until when, and why, somebody is not to be told of an ask.
    pub(crate) async fn left_alone(
        &self,
        human: &HumanId,
        ask: AskId,
        priority: Priority,
    ) -> Result<Option<(Time, &'static str)>, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let about = directory.human(human).and_then(Human::about);
        let quiet = about.and_then(|about| about.quiet_until(now));
        let quiet = quiet.filter(|_| priority != Priority::Critical);
        let aside = self.put_aside_until(human, ask).await?;
        Ok(quiet.map(|at| (at, "quiet hours")).max(aside.map(|at| (at, "put aside"))))
    }

    /// Until when somebody has put an ask aside.
    async fn put_aside_until(
        &self,
        human: &HumanId,
        ask: AskId,
    ) -> Result<Option<Time>, StoreError> {
        let aside = self.gateway.store().snoozed(human.clone(), self.gateway.now()).await?;
        Ok(aside.into_iter().find(|(id, _)| *id == ask).map(|(_, until)| until))
    }
}

/// Somebody as the kernel's plan sees them.
fn addressee<'a>(human: &'a Human, means: &'a [Means]) -> Addressee<'a> {
    Addressee { means, about: human.about(), digest: digest_of(human) }
}

/// How often somebody is told of what can wait.
pub(crate) fn digest_of(human: &Human) -> Cadence {
    let notices = human.profile.value().and_then(|profile| profile.notices.as_ref());
    notices.map(|notices| notices.digest).unwrap_or_default()
}
