//! Every channel there is. To add one, write its folder and add one line to the list below: the name of
//! its field, and its settings, which say what the channel is called and make it ([`Setup`]).

use std::sync::Arc;

use crate::channel::Channel;
use crate::setup::{ChannelContext, Setup};
use crate::{email, ntfy, push, slack, sms, telegram, terminal, webhook, whatsapp};

/// Writes the settings, the registry and what goes through all channels from one list.
macro_rules! registry {
    ($($(#[$doc:meta])* $field:ident: $settings:ty),* $(,)?) => {
        /// The settings of each channel that is set up, complete.
        #[derive(Debug, Clone, Default)]
        pub struct ChannelSettings {
            $($(#[$doc])* pub $field: Option<$settings>,)*
        }

        /// The channels that are set up.
        #[derive(Default)]
        pub struct ChannelRegistry {
            $($(#[$doc])* pub $field: Option<Arc<<$settings as Setup>::Channel>>,)*
        }

        impl ChannelRegistry {
            /// Makes every channel that is set up, or says what is wrong with one, by the name of its
            /// setting.
            pub fn open(settings: ChannelSettings, context: &ChannelContext) -> Result<Self, String> {
                Ok(Self {
                    $($field: settings.$field.map(|settings| settings.open(context)).transpose()?,)*
                })
            }

            /// Every channel that takes an address, set up or not, by its name.
            pub fn names() -> impl Iterator<Item = &'static str> {
                let all = [$((<$settings as Setup>::NAME, <$settings as Setup>::TAKES_ADDRESS)),*];
                all.into_iter().filter(|(_, takes_address)| *takes_address).map(|(name, _)| name)
            }

            /// The channels that are set up, in the order of the list.
            pub fn iter(&self) -> impl Iterator<Item = Arc<dyn Channel>> {
                let all = [$(self.$field.clone().map(|channel| -> Arc<dyn Channel> { channel }),)*];
                all.into_iter().flatten()
            }
        }
    };
}

registry! {
    /// Slack.
    slack: slack::SlackSettings,
    /// Email.
    email: email::EmailSettings,
    /// Text messages.
    sms: sms::SmsSettings,
    /// `WhatsApp`.
    whatsapp: whatsapp::WhatsappSettings,
    /// Telegram.
    telegram: telegram::TelegramSettings,
    /// ntfy.
    ntfy: ntfy::NtfySettings,
    /// A program of the operator.
    webhook: webhook::WebhookSettings,
    /// People's devices.
    push: push::PushSettings,
    /// The terminal the server runs in.
    terminal: terminal::TerminalSettings,
}

impl ChannelRegistry {
    /// The channels that are set up and take an address, in the order of the list.
    pub fn addressable(&self) -> impl Iterator<Item = Arc<dyn Channel>> {
        let names: Vec<&str> = Self::names().collect();
        self.iter().filter(move |channel| names.contains(&channel.name()))
    }

    /// The channel of this name, if it is set up and takes an address.
    pub fn named(&self, name: &str) -> Option<Arc<dyn Channel>> {
        self.addressable().find(|channel| channel.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Names are stored, and in URLs and metrics: each is one channel's, and none may change.
    #[test]
    fn channels_that_take_an_address_keep_their_names() {
        let names: Vec<&str> = ChannelRegistry::names().collect();
        let expected = ["slack", "email", "sms", "whatsapp", "telegram", "ntfy", "webhook"];
        assert_eq!(names, expected);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn without_settings_there_is_no_channel() {
        assert_eq!(ChannelRegistry::default().iter().count(), 0);
        assert!(ChannelRegistry::default().named("slack").is_none());
    }
}
