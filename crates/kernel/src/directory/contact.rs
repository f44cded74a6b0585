//! The contact methods of a person, in the order in which to try them. Only administrators see and
//! change them: agents learn which people exist, never how to contact them.

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::text::{is_email, is_short};

/// The maximum number of contact methods of a person.
const MOST_CONTACTS: usize = 20;

/// A contact method of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "via", deny_unknown_fields)]
pub enum Contact {
    /// A message in Slack.
    Slack {
        /// The ID of the Slack channel or person.
        id: String,
        /// The purpose of this channel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// An email.
    Email {
        /// The email address.
        address: String,
        /// The purpose of this address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// A text message.
    Sms {
        /// The phone number in E.164 format, such as +4930123456.
        number: String,
        /// The purpose of this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// A message in `WhatsApp`.
    Whatsapp {
        /// The phone number in E.164 format, such as +4930123456.
        number: String,
        /// The purpose of this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// A message in Telegram.
    Telegram {
        /// The numeric ID of the Telegram account or group.
        id: String,
        /// The purpose of this account.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// An ntfy notification.
    Ntfy {
        /// The ntfy topic.
        topic: String,
        /// The purpose of this topic.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// A call to the operator's webhook.
    Webhook {
        /// The ID of the person in that program.
        id: String,
        /// The purpose of this recipient.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
}

impl Contact {
    /// A contact of this kind, named as in [`ContactMethod::kind`](super::ContactMethod::kind).
    pub fn of_kind(kind: &str, address: &str) -> Option<Self> {
        let (address, context) = (address.to_owned(), None);
        Some(match kind {
            "slack" => Self::Slack { id: address, context },
            "email" => Self::Email { address, context },
            "sms" => Self::Sms { number: address, context },
            "whatsapp" => Self::Whatsapp { number: address, context },
            "telegram" => Self::Telegram { id: address, context },
            "ntfy" => Self::Ntfy { topic: address, context },
            "webhook" => Self::Webhook { id: address, context },
            _ => return None,
        })
    }

    /// Refuses an address that cannot be contacted.
    fn check(&self) -> Result<(), Refusal> {
        let invalid = |expected| Err(Refusal::Invalid { field: "contacts", expected });
        let context = match self {
            Self::Slack { id, context } => {
                if !is_slack_id(id) {
                    return invalid("the ID of a Slack channel or person, such as C0123ABC");
                }
                context
            }
            Self::Email { address, context } => {
                if !is_email(address) {
                    return invalid("an email address");
                }
                context
            }
            Self::Sms { number, context } | Self::Whatsapp { number, context } => {
                if !is_phone_number(number) {
                    return invalid("a phone number in E.164 format, such as +4930123456");
                }
                context
            }
            Self::Telegram { id, context } => {
                if !is_telegram_id(id) {
                    return invalid("a numeric Telegram ID, such as 123456789");
                }
                context
            }
            Self::Ntfy { topic, context } => {
                if !is_ntfy_topic(topic) {
                    return invalid("an ntfy topic: 1 to 64 characters of A-Z, a-z, 0-9, - and _");
                }
                context
            }
            Self::Webhook { id, context } => {
                if !is_webhook_address(id) {
                    return invalid("an ID of at most 200 bytes without spaces");
                }
                context
            }
        };
        if context.as_deref().is_none_or(is_short) {
            return Ok(());
        }
        invalid("a context of at most 200 bytes without NUL characters")
    }
}

/// Refuses a list that is too long or contains an invalid contact method.
pub(super) fn check(contacts: &[Contact]) -> Result<(), Refusal> {
    if contacts.len() > MOST_CONTACTS {
        return Err(Refusal::Invalid { field: "contacts", expected: "at most 20 contact methods" });
    }
    contacts.iter().try_for_each(Contact::check)
}

/// Whether a text is the id of a channel or a person in Slack. Names are not accepted.
pub fn is_slack_id(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    (2..=64).contains(&text.len())
        && text.starts_with(['C', 'D', 'G', 'U', 'W'])
        && text.bytes().all(known)
}

/// Whether a text is a phone number in E.164 format.
pub fn is_phone_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (7..=15).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is the id of a person or a group in Telegram.
pub fn is_telegram_id(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (1..=19).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is an ntfy topic.
pub fn is_ntfy_topic(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(known)
}

/// Whether a text can be a person's name for the operator's own webhook program.
pub fn is_webhook_address(text: &str) -> bool {
    !text.is_empty()
        && is_short(text)
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Actor;
    use crate::command::DirectoryCommand;
    use crate::directory::{NewHuman, Profile};
    use crate::testing::{Cast, human};

    fn saved(cast: &mut Cast, contacts: Option<Vec<Contact>>) -> Result<(), Refusal> {
        let profile = Profile { contacts, ..Profile::default() };
        let (projects, groups, skills) = Default::default();
        let id = human("ann");
        let new = NewHuman { id, profile, admin: false, active: true, projects, groups, skills };
        cast.attempt(Actor::System, DirectoryCommand::SaveHuman(new)).map(drop)
    }

    #[test]
    fn ways_are_kept_in_their_order_until_others_are_given() {
        let mut cast = Cast::new();
        let context = None;
        let slack = Contact::Slack { id: "U0123".to_owned(), context: context.clone() };
        let sms = Contact::Sms { number: "+4930123456".to_owned(), context };
        saved(&mut cast, Some(vec![sms.clone(), slack.clone()])).unwrap();
        let seen = |cast: &Cast| {
            let ann = cast.directory().human(&human("ann")).unwrap();
            ann.profile.value().unwrap().contacts.clone()
        };
        assert_eq!(seen(&cast), Some(vec![sms.clone(), slack.clone()]));
        saved(&mut cast, None).unwrap();
        assert_eq!(seen(&cast), Some(vec![sms, slack]), "unsaid, it stays");
        saved(&mut cast, Some(Vec::new())).unwrap();
        assert_eq!(seen(&cast), None);
    }

    #[test]
    fn nobody_is_reached_by_what_is_no_address() {
        let mut cast = Cast::new();
        let (slack, mail) = (
            |id: &str| Contact::Slack { id: id.to_owned(), context: None },
            |a: &str| Contact::Email { address: a.to_owned(), context: None },
        );
        let sms = |number: &str| Contact::Sms { number: number.to_owned(), context: None };
        let long = Some("x".repeat(201));
        for wrong in [
            slack("#general"),
            slack("@ann"),
            slack("U"),
            slack("u0123"),
            mail("ann"),
            sms("030123456"),
            sms("+0301234567"),
            sms("+12ab567890"),
            Contact::Whatsapp { number: "+4930123456".to_owned(), context: long },
        ] {
            let refused = saved(&mut cast, Some(vec![wrong.clone()]));
            let named = matches!(refused, Err(Refusal::Invalid { field: "contacts", .. }));
            assert!(named, "{wrong:?}: {refused:?}");
        }
        assert!(saved(&mut cast, Some(vec![slack("U0123"); 21])).is_err());
    }
}
