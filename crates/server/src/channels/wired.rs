//! The platforms that are set up here.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::channels::{Channel, Medium};
use kernel::directory::Means;

/// Each platform that is set up, by what it is.
#[derive(Default)]
pub struct Platforms {
    all: BTreeMap<Medium, Arc<dyn Channel>>,
}

impl Platforms {
    /// Adds one.
    pub fn add(&mut self, channel: impl Channel + 'static) {
        self.all.insert(channel.medium(), Arc::new(channel));
    }

    /// The one of this kind, if it is set up.
    pub fn get(&self, medium: Medium) -> Option<&Arc<dyn Channel>> {
        self.all.get(&medium)
    }

    /// The one of this name.
    pub fn named(&self, name: &str) -> Option<&Arc<dyn Channel>> {
        self.all.iter().find(|(medium, _)| medium.as_str() == name).map(|(_, channel)| channel)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Medium, &Arc<dyn Channel>)> {
        self.all.iter().map(|(medium, channel)| (*medium, channel))
    }
}

/// What carries messages by such a means; devices have their own way.
pub fn medium(means: &Means) -> Option<Medium> {
    match means {
        Means::Devices => None,
        Means::Slack(_) => Some(Medium::Slack),
        Means::Email(_) => Some(Medium::Email),
        Means::Sms(_) => Some(Medium::Sms),
        Means::Whatsapp(_) => Some(Medium::Whatsapp),
        Means::Telegram(_) => Some(Medium::Telegram),
        Means::Ntfy(_) => Some(Medium::Ntfy),
        Means::Webhook(_) => Some(Medium::Webhook),
    }
}
