//! The platforms that are set up here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ::channels::ntfy::Ntfy;
use ::channels::slack::Slack;
use ::channels::sms::Sms;
use ::channels::telegram::Telegram;
use ::channels::webhook::Webhook;
use ::channels::whatsapp::{Carried, Cloud};
use ::channels::{Channel, Medium};
use kernel::directory::Means;

use crate::config::{self, Whatsapp};
use crate::mail::channel::Mail;

/// How long a platform may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Each platform that is set up, by what it is.
#[derive(Default)]
pub struct Platforms {
    all: BTreeMap<Medium, Arc<dyn Channel>>,
}

impl Platforms {
    /// Every platform the settings name; what is wrong with one is said by the name of its setting.
    pub fn open(
        config: &config::Channels,
        clock: &Arc<dyn store::Clock>,
        mail: Option<&Arc<Mail>>,
    ) -> anyhow::Result<Self> {
        let mut platforms = Self::default();
        let client = reqwest::Client::builder()
            .http1_only()
            .timeout(PATIENCE)
            .connect_timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        if let Some(mail) = mail {
            platforms.all.insert(Medium::Email, Arc::clone(mail) as Arc<dyn Channel>);
        }
        if let Some(settings) = config.slack.clone() {
            platforms.add(Slack::new(settings, client.clone()))?;
        }
        if let Some(settings) = config.telegram.clone() {
            // Telegram keeps whoever asks waiting until there is something to say.
            let patient =
                reqwest::Client::builder().http1_only().connect_timeout(PATIENCE).build()?;
            platforms.add(Telegram::new(settings, patient))?;
        }
        if let Some(account) = config.sms.clone() {
            platforms.add(Sms::new(account, client.clone()))?;
        }
        match config.whatsapp.clone() {
            Some(Whatsapp::Meta(settings)) => {
                platforms.add(Cloud::new(*settings, client.clone()))?;
            }
            Some(Whatsapp::Twilio(account, template)) => {
                platforms.add(Carried::new(*account, template, client.clone()))?;
            }
            None => {}
        }
        if let Some(settings) = config.ntfy.clone() {
            platforms.add(Ntfy::new(settings, client.clone()))?;
        }
        if let Some(settings) = &config.webhook {
            let clock = Arc::clone(clock);
            platforms.add(Webhook::new(settings, client, Arc::new(move || clock.now())))?;
        }
        Ok(platforms)
    }

    fn add<C: Channel + 'static>(&mut self, made: Result<C, String>) -> anyhow::Result<()> {
        let channel = made.map_err(anyhow::Error::msg)?;
        self.all.insert(channel.medium(), Arc::new(channel));
        Ok(())
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
