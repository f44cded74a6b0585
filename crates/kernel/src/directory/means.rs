//! By which means somebody can be told: their devices, or an address of theirs. An address counts as
//! theirs once they have shown that they read what is sent there.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::contact::{is_phone_number, is_slack_id, is_telegram_id, is_topic, is_webhook_address};
use super::{Contact, Human, Profile};
use crate::audit::Digest;
use crate::text::is_email;

/// One means to tell somebody, known by its text: `devices`, `email:ada@example.com`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Means {
    /// Whatever devices they turned notices on for.
    Devices,
    /// A place or a person in Slack.
    Slack(String),
    /// Mail, to an address in lower case.
    Email(String),
    /// Text messages to a number.
    Sms(String),
    /// `WhatsApp`, at a number.
    Whatsapp(String),
    /// A person in Telegram.
    Telegram(String),
    /// A topic of ntfy.
    Ntfy(String),
    /// Somebody as a program of the operator's knows them.
    Webhook(String),
}

/// Not the text of any means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected devices, or an address such as email:ada@example.com")]
pub struct BadMeans;

impl Means {
    /// Mail to this address. Nobody tells capitals of an address apart, so neither do we.
    pub fn email(address: &str) -> Self {
        Self::Email(address.to_lowercase())
    }

    /// What it is called where its address must not lie: the address cannot be read from it.
    pub fn mark(&self) -> Digest {
        Digest::of(self.to_string().as_bytes())
    }

    /// What kind it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Devices => "devices",
            Self::Slack(_) => "slack",
            Self::Email(_) => "email",
            Self::Sms(_) => "sms",
            Self::Whatsapp(_) => "whatsapp",
            Self::Telegram(_) => "telegram",
            Self::Ntfy(_) => "ntfy",
            Self::Webhook(_) => "webhook",
        }
    }

    /// Whether several people read what is sent there: a channel, a group, a topic.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Slack(id) => id.starts_with(['C', 'D', 'G']),
            Self::Telegram(id) => id.starts_with('-'),
            Self::Ntfy(_) => true,
            Self::Devices
            | Self::Email(_)
            | Self::Sms(_)
            | Self::Whatsapp(_)
            | Self::Webhook(_) => false,
        }
    }

    /// Its address, if it has one.
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::Devices => None,
            Self::Slack(at)
            | Self::Email(at)
            | Self::Sms(at)
            | Self::Whatsapp(at)
            | Self::Telegram(at)
            | Self::Ntfy(at)
            | Self::Webhook(at) => Some(at),
        }
    }
}

impl From<&Contact> for Means {
    fn from(contact: &Contact) -> Self {
        match contact {
            Contact::Slack { id, .. } => Self::Slack(id.clone()),
            Contact::Email { address, .. } => Self::email(address),
            Contact::Sms { number, .. } => Self::Sms(number.clone()),
            Contact::Whatsapp { number, .. } => Self::Whatsapp(number.clone()),
            Contact::Telegram { id, .. } => Self::Telegram(id.clone()),
            Contact::Ntfy { topic, .. } => Self::Ntfy(topic.clone()),
            Contact::Webhook { id, .. } => Self::Webhook(id.clone()),
        }
    }
}

impl fmt::Display for Means {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            None => f.write_str(self.kind()),
            Some(address) => write!(f, "{}:{address}", self.kind()),
        }
    }
}

impl FromStr for Means {
    type Err = BadMeans;

    fn from_str(text: &str) -> Result<Self, BadMeans> {
        match text.split_once(':') {
            None if text == "devices" => Ok(Self::Devices),
            Some(("slack", id)) if is_slack_id(id) => Ok(Self::Slack(id.to_owned())),
            Some(("email", address)) if is_email(address) => Ok(Self::email(address)),
            Some(("sms", number)) if is_phone_number(number) => Ok(Self::Sms(number.to_owned())),
            Some(("whatsapp", number)) if is_phone_number(number) => {
                Ok(Self::Whatsapp(number.to_owned()))
            }
            Some(("telegram", id)) if is_telegram_id(id) => Ok(Self::Telegram(id.to_owned())),
            Some(("ntfy", topic)) if is_topic(topic) => Ok(Self::Ntfy(topic.to_owned())),
            Some(("webhook", id)) if is_webhook_address(id) => Ok(Self::Webhook(id.to_owned())),
            None | Some(_) => Err(BadMeans),
        }
    }
}

impl Serialize for Means {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Means {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
crate::openapi::text!(Means, "^(devices|(slack|email|sms|whatsapp|telegram|ntfy|webhook):.+)$");

impl Profile {
    /// Every means there is, in the order in which they are tried where nothing else is said: devices,
    /// contacts as they stand, and the address they sign in with.
    fn all_means(&self) -> Vec<Means> {
        let contacts = self.contacts.iter().flatten().map(Means::from);
        let mut all: Vec<Means> = [Means::Devices].into_iter().chain(contacts).collect();
        all.extend(self.email.as_deref().map(Means::email));
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|means| seen.insert(means.clone()));
        all
    }

    /// Whether there is such a means.
    pub(super) fn has(&self, means: &Means) -> bool {
        self.all_means().contains(means)
    }

    /// In the order in which to try: as they said, and behind that what they did not speak of.
    pub fn means(&self) -> Vec<Means> {
        let all = self.all_means();
        let said = self.notices.iter().flat_map(|notices| &notices.order);
        let mut ordered: Vec<Means> = said.filter(|means| all.contains(means)).cloned().collect();
        let rest: Vec<Means> = all.into_iter().filter(|means| !ordered.contains(means)).collect();
        ordered.extend(rest);
        ordered
    }

    /// Whether notices may go there: devices belong to whoever turned them on, an address to whoever
    /// showed that they read what is sent there; and they did not turn it off.
    pub fn may_tell(&self, means: &Means) -> bool {
        let off = self.notices.as_ref().is_some_and(|notices| notices.off.contains(means));
        !off && self.is_verified(means)
    }

    /// Whether it was shown to be theirs.
    pub fn is_verified(&self, means: &Means) -> bool {
        *means == Means::Devices || self.verified.contains(means)
    }

    /// The mail address of this mark, as they write it.
    pub fn mail_address(&self, mark: &Digest) -> Option<(Means, &str)> {
        let contacts = self.contacts.iter().flatten().filter_map(|contact| match contact {
            Contact::Email { address, .. } => Some(address.as_str()),
            Contact::Slack { .. }
            | Contact::Sms { .. }
            | Contact::Whatsapp { .. }
            | Contact::Telegram { .. }
            | Contact::Ntfy { .. }
            | Contact::Webhook { .. } => None,
        });
        let mut known = self.email.as_deref().into_iter().chain(contacts);
        let address = known.find(|address| Means::email(address).mark() == *mark)?;
        Some((Means::email(address), address))
    }

    /// The same without what was said of means that are gone: an address that comes back later has to
    /// be verified anew.
    #[must_use]
    pub(super) fn tidied(mut self) -> Self {
        let all = self.all_means();
        self.verified.retain(|means| all.contains(means));
        if let Some(notices) = &mut self.notices {
            notices.order.retain(|means| all.contains(means));
            notices.off.retain(|means| all.contains(means));
        }
        self.notices = self.notices.filter(|notices| !notices.is_plain());
        self
    }
}

impl Human {
    /// The addresses they showed to be theirs.
    pub(super) fn verified(&self) -> impl Iterator<Item = &Means> {
        self.profile.value().into_iter().flat_map(|profile| &profile.verified)
    }

    /// By which means they can be told at all, in the order in which to try.
    pub fn reachable_by(&self) -> Vec<Means> {
        let Some(profile) = self.profile.value() else { return Vec::new() };
        let mut means = profile.means();
        means.retain(|means| profile.may_tell(means));
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Notices;

    fn mail(address: &str) -> Contact {
        Contact::Email { address: address.to_owned(), context: None }
    }

    fn texts(means: &[Means]) -> Vec<String> {
        means.iter().map(Means::to_string).collect()
    }

    #[test]
    fn means_are_known_by_their_texts() {
        for text in [
            "devices",
            "email:ada@example.com",
            "slack:U0123",
            "sms:+4930123456",
            "whatsapp:+4930123456",
        ] {
            assert_eq!(text.parse::<Means>().unwrap().to_string(), text);
        }
        assert_eq!("email:Ada@Example.com".parse(), Ok(Means::email("ada@example.com")));
        for text in ["", "devices:", "email:", "email:ada", "sms:030123", "slack:#general", "fax:1"]
        {
            assert_eq!(text.parse::<Means>(), Err(BadMeans), "{text}");
        }
    }

    #[test]
    fn what_was_said_comes_first_and_the_rest_as_it_stands() {
        let sms = Contact::Sms { number: "+4930123456".to_owned(), context: None };
        let mut profile = Profile {
            email: Some("Ada@example.com".to_owned()),
            contacts: Some(vec![sms, mail("ada@EXAMPLE.com"), mail("home@example.com")]),
            ..Profile::default()
        };
        let plain =
            ["devices", "sms:+4930123456", "email:ada@example.com", "email:home@example.com"];
        assert_eq!(texts(&profile.means()), plain, "each once");
        let order = vec![Means::email("home@example.com"), Means::email("gone@example.com")];
        profile.notices = Some(Box::new(Notices { order, ..Notices::default() }));
        assert_eq!(
            texts(&profile.means()),
            ["email:home@example.com", "devices", "sms:+4930123456", "email:ada@example.com"]
        );
    }

    #[test]
    fn only_what_is_verified_and_not_off_is_used_and_a_spelling_is_kept() {
        let home = Means::email("home@example.com");
        let mut profile =
            Profile { contacts: Some(vec![mail("Home@example.com")]), ..Profile::default() };
        assert!(profile.may_tell(&Means::Devices) && !profile.may_tell(&home));
        profile.verified.insert(home.clone());
        assert!(profile.may_tell(&home));
        assert_eq!(profile.mail_address(&home.mark()), Some((home.clone(), "Home@example.com")));
        assert_eq!(profile.mail_address(&Means::Devices.mark()), None);
        let off = [home.clone(), Means::Devices].into();
        profile.notices = Some(Box::new(Notices { off, ..Notices::default() }));
        assert!(!profile.may_tell(&Means::Devices) && !profile.may_tell(&home));
    }

    #[test]
    fn what_is_gone_is_neither_verified_nor_ordered_any_more() {
        let (home, off) = (Means::email("home@example.com"), [Means::email("home@example.com")]);
        let notices = Notices { order: vec![home.clone()], off: off.into(), ..Notices::default() };
        let profile = Profile {
            verified: [home].into(),
            notices: Some(Box::new(notices)),
            ..Profile::default()
        };
        assert_eq!(profile.tidied(), Profile::default());
    }
}
