//! Contact methods: a person's devices, or one of their addresses. An address counts as theirs once
//! they have verified it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::contact::{
    is_ntfy_topic, is_phone_number, is_slack_id, is_telegram_id, is_webhook_address,
};
use super::{Contact, Human, Profile};
use crate::audit::Digest;
use crate::text::is_email;

/// A contact method, identified by its text: `devices`, `email:ada@example.com`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactMethod {
    /// All devices for which the person turned on notifications.
    Devices,
    /// A channel or a person in Slack, by id.
    Slack(String),
    /// An email address, in lower case.
    Email(String),
    /// A phone number for text messages.
    Sms(String),
    /// A phone number in `WhatsApp`.
    Whatsapp(String),
    /// A person or a group in Telegram, by id.
    Telegram(String),
    /// An ntfy topic.
    Ntfy(String),
    /// A person's id in the operator's own program.
    Webhook(String),
}

/// The text is not a contact method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `devices` or an address such as email:ada@example.com")]
pub struct BadContactMethod;

impl ContactMethod {
    /// The contact method for this email address. Mail servers ignore upper case in practice, so
    /// the server does too.
    pub fn email(address: &str) -> Self {
        Self::Email(address.to_lowercase())
    }

    /// A digest that identifies the contact method where its address must not be stored. The
    /// address cannot be read from it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_string().as_bytes())
    }

    /// The kind of contact method, as one word.
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

    /// Whether several people read the messages sent there: a channel, a group, a topic.
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

    /// The address; `None` for devices.
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

impl From<&Contact> for ContactMethod {
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

impl fmt::Display for ContactMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            None => f.write_str(self.kind()),
            Some(address) => write!(f, "{}:{address}", self.kind()),
        }
    }
}

impl FromStr for ContactMethod {
    type Err = BadContactMethod;

    fn from_str(text: &str) -> Result<Self, BadContactMethod> {
        match text.split_once(':') {
            None if text == "devices" => Ok(Self::Devices),
            Some(("slack", id)) if is_slack_id(id) => Ok(Self::Slack(id.to_owned())),
            Some(("email", address)) if is_email(address) => Ok(Self::email(address)),
            Some(("sms", number)) if is_phone_number(number) => Ok(Self::Sms(number.to_owned())),
            Some(("whatsapp", number)) if is_phone_number(number) => {
                Ok(Self::Whatsapp(number.to_owned()))
            }
            Some(("telegram", id)) if is_telegram_id(id) => Ok(Self::Telegram(id.to_owned())),
            Some(("ntfy", topic)) if is_ntfy_topic(topic) => Ok(Self::Ntfy(topic.to_owned())),
            Some(("webhook", id)) if is_webhook_address(id) => Ok(Self::Webhook(id.to_owned())),
            None | Some(_) => Err(BadContactMethod),
        }
    }
}

impl Serialize for ContactMethod {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContactMethod {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
crate::openapi::text!(
    ContactMethod as Means,
    "^(devices|(slack|email|sms|whatsapp|telegram|ntfy|webhook):.+)$"
);

impl Profile {
    /// All contact methods of the person in the default order: devices, contacts in their order,
    /// and the address they sign in with.
    fn all_contact_methods(&self) -> Vec<ContactMethod> {
        let contacts = self.contacts.iter().flatten().map(ContactMethod::from);
        let mut all: Vec<ContactMethod> =
            [ContactMethod::Devices].into_iter().chain(contacts).collect();
        all.extend(self.email.as_deref().map(ContactMethod::email));
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|means| seen.insert(means.clone()));
        all
    }

    /// Whether the person has this contact method.
    pub(super) fn has_contact_method(&self, means: &ContactMethod) -> bool {
        self.all_contact_methods().contains(means)
    }

    /// The contact methods in the order in which to try them: the person's own order first, then
    /// the rest.
    pub fn contact_methods(&self) -> Vec<ContactMethod> {
        let all = self.all_contact_methods();
        let said = self.notification_preferences.iter().flat_map(|notices| &notices.order);
        let mut ordered: Vec<ContactMethod> =
            said.filter(|means| all.contains(means)).cloned().collect();
        let rest: Vec<ContactMethod> =
            all.into_iter().filter(|means| !ordered.contains(means)).collect();
        ordered.extend(rest);
        ordered
    }

    /// Whether notifications may go there. The person must have verified the address or turned on
    /// the device, and must not have turned the contact method off.
    pub fn may_notify(&self, means: &ContactMethod) -> bool {
        let off = self
            .notification_preferences
            .as_ref()
            .is_some_and(|notices| notices.off.contains(means));
        !off && self.is_verified(means)
    }

    /// Whether the person verified it. Devices count as verified.
    pub fn is_verified(&self, means: &ContactMethod) -> bool {
        *means == ContactMethod::Devices || self.verified.contains(means)
    }

    /// The email address with this digest, as the person writes it.
    pub fn email_address(&self, mark: &Digest) -> Option<(ContactMethod, &str)> {
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
        let address = known.find(|address| ContactMethod::email(address).digest() == *mark)?;
        Some((ContactMethod::email(address), address))
    }

    /// The profile without settings for contact methods that were removed. An address that is added
    /// again later must be verified again.
    #[must_use]
    pub(super) fn without_stale_settings(mut self) -> Self {
        let all = self.all_contact_methods();
        self.verified.retain(|means| all.contains(means));
        if let Some(notices) = &mut self.notification_preferences {
            notices.order.retain(|means| all.contains(means));
            notices.off.retain(|means| all.contains(means));
        }
        self.notification_preferences =
            self.notification_preferences.filter(|notices| !notices.is_default());
        self
    }
}

impl Human {
    /// The addresses that the person verified.
    pub(super) fn verified(&self) -> impl Iterator<Item = &ContactMethod> {
        self.profile.value().into_iter().flat_map(|profile| &profile.verified)
    }

    /// The contact methods that may be used, in the order in which to try them.
    pub fn usable_contact_methods(&self) -> Vec<ContactMethod> {
        let Some(profile) = self.profile.value() else { return Vec::new() };
        let mut means = profile.contact_methods();
        means.retain(|means| profile.may_notify(means));
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NotificationPreferences;

    fn mail(address: &str) -> Contact {
        Contact::Email { address: address.to_owned(), context: None }
    }

    fn texts(means: &[ContactMethod]) -> Vec<String> {
        means.iter().map(ContactMethod::to_string).collect()
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
            assert_eq!(text.parse::<ContactMethod>().unwrap().to_string(), text);
        }
        assert_eq!("email:Ada@Example.com".parse(), Ok(ContactMethod::email("ada@example.com")));
        for text in ["", "devices:", "email:", "email:ada", "sms:030123", "slack:#general", "fax:1"]
        {
            assert_eq!(text.parse::<ContactMethod>(), Err(BadContactMethod), "{text}");
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
        assert_eq!(texts(&profile.contact_methods()), plain, "each once");
        let order = vec![
            ContactMethod::email("home@example.com"),
            ContactMethod::email("gone@example.com"),
        ];
        profile.notification_preferences =
            Some(Box::new(NotificationPreferences { order, ..NotificationPreferences::default() }));
        assert_eq!(
            texts(&profile.contact_methods()),
            ["email:home@example.com", "devices", "sms:+4930123456", "email:ada@example.com"]
        );
    }

    #[test]
    fn only_what_is_verified_and_not_off_is_used_and_a_spelling_is_kept() {
        let home = ContactMethod::email("home@example.com");
        let mut profile =
            Profile { contacts: Some(vec![mail("Home@example.com")]), ..Profile::default() };
        assert!(profile.may_notify(&ContactMethod::Devices) && !profile.may_notify(&home));
        profile.verified.insert(home.clone());
        assert!(profile.may_notify(&home));
        assert_eq!(profile.email_address(&home.digest()), Some((home.clone(), "Home@example.com")));
        assert_eq!(profile.email_address(&ContactMethod::Devices.digest()), None);
        let off = [home.clone(), ContactMethod::Devices].into();
        profile.notification_preferences =
            Some(Box::new(NotificationPreferences { off, ..NotificationPreferences::default() }));
        assert!(!profile.may_notify(&ContactMethod::Devices) && !profile.may_notify(&home));
    }

    #[test]
    fn what_is_gone_is_neither_verified_nor_ordered_any_more() {
        let (home, off) =
            (ContactMethod::email("home@example.com"), [ContactMethod::email("home@example.com")]);
        let notices = NotificationPreferences {
            order: vec![home.clone()],
            off: off.into(),
            ..NotificationPreferences::default()
        };
        let profile = Profile {
            verified: [home].into(),
            notification_preferences: Some(Box::new(notices)),
            ..Profile::default()
        };
        assert_eq!(profile.without_stale_settings(), Profile::default());
    }
}
