//! The list of all channels. To add one, write its folder and add one line to the list below: the
//! name of its field, and its settings type, which names and creates the channel
//! ([`ChannelSetup`]).

use std::sync::Arc;

use crate::channel::Channel;
use crate::setup::{ChannelContext, ChannelSetup};
use crate::{email, ntfy, push, slack, sms, telegram, terminal, webhook, whatsapp};

/// Generates the settings, the registry and the functions over all channels from one list.
macro_rules! registry {
    ($($(#[$doc:meta])* $field:ident: $settings:ty),* $(,)?) => {
        /// The settings of each configured channel.
        #[derive(Debug, Clone, Default)]
        pub struct ChannelSettings {
            $($(#[$doc])* pub $field: Option<$settings>,)*
        }

        /// The configured channels.
        #[derive(Default)]
        pub struct ChannelRegistry {
            $($(#[$doc])* pub $field: Option<Arc<<$settings as ChannelSetup>::Channel>>,)*
        }

        impl ChannelRegistry {
            /// Creates every configured channel. The error names the setting that is wrong.
            pub fn open(settings: ChannelSettings, context: &ChannelContext) -> Result<Self, String> {
                Ok(Self {
                    $($field: settings.$field.map(|settings| settings.open(context)).transpose()?,)*
                })
            }

            /// The names of all channels that take an address, configured or not.
            pub fn names() -> impl Iterator<Item = &'static str> {
                let all = [$((<$settings as ChannelSetup>::NAME, <$settings as ChannelSetup>::TAKES_ADDRESS)),*];
                all.into_iter().filter(|(_, takes_address)| *takes_address).map(|(name, _)| name)
            }

            /// The configured channels, in the order of the list.
            pub fn iter(&self) -> impl Iterator<Item = Arc<dyn Channel>> {
                let all = [$(self.$field.clone().map(|channel| -> Arc<dyn Channel> { channel }),)*];
                all.into_iter().flatten()
            }
        }
    };
}

registry! {
    /// The Slack channel.
    slack: slack::SlackSettings,
    /// The email channel.
    email: email::EmailSettings,
    /// The SMS channel.
    sms: sms::SmsSettings,
    /// The `WhatsApp` channel.
    whatsapp: whatsapp::WhatsappSettings,
    /// The Telegram channel.
    telegram: telegram::TelegramSettings,
    /// The ntfy channel.
    ntfy: ntfy::NtfySettings,
    /// The channel to a program that the operator runs.
    webhook: webhook::WebhookSettings,
    /// The Web Push channel to people's devices.
    push: push::PushSettings,
    /// The terminal the server runs in.
    terminal: terminal::TerminalSettings,
}

impl ChannelRegistry {
    /// The configured channels that take an address, in the order of the list.
    pub fn addressable(&self) -> impl Iterator<Item = Arc<dyn Channel>> {
        let names: Vec<&str> = Self::names().collect();
        self.iter().filter(move |channel| names.contains(&channel.name()))
    }

    /// The channel of this name, if it is configured and takes an address.
    pub fn named(&self, name: &str) -> Option<Arc<dyn Channel>> {
        self.addressable().find(|channel| channel.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Names are stored, and occur in URLs and metrics. Each belongs to one channel, and
    /// none may change.
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
