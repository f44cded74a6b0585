//! `/humans`, `/humans/search`, `/humans/{id}`: agents see people and their expertise, but no
//! contact methods. Administrators see and change those too (A2H-007, A2H-121 to A2H-126, A2H-130).

use kernel::ProjectId;
use kernel::directory::{Contact, Human};
use serde_json::{Map, Value, json};

use super::channel;
use super::create::storable;
use super::errors::A2hWireError;
use super::parse::Members;

/// A person as an agent sees them, or with `whole` as an administrator does.
pub fn human(human: &Human, whole: bool) -> Value {
    let profile = human.profile.value();
    let name = profile.map(|profile| profile.name.as_str()).filter(|name| !name.is_empty());
    let description = human.profile_settings().and_then(|about| about.description.as_deref());
    let mut shown = json!({
        "id": human.id,
        "name": name.unwrap_or(human.id.as_str()),
        "description": description.unwrap_or_default(),
    });
    if whole {
        let contacts = human.contacts().unwrap_or_default();
        shown["prioritizedContactChannels"] = contacts.iter().map(contact).collect();
        shown["projects"] = json!(human.projects);
    }
    shown
}

pub fn humans<'h>(people: impl IntoIterator<Item = &'h Human>, whole: bool) -> Value {
    let people: Vec<Value> = people.into_iter().map(|one| human(one, whole)).collect();
    json!({ "humans": people })
}

fn contact(contact: &Contact) -> Value {
    let (key, id, about, context) = match contact {
        Contact::Slack { id, context } => {
            ("slack", ("channelOrUserId", id), "contextAboutChannelOrUser", context)
        }
        Contact::Email { address, context } => {
            ("email", ("address", address), "contextAboutUser", context)
        }
        Contact::Sms { number, context } => {
            ("sms", ("phoneNumber", number), "contextAboutUser", context)
        }
        Contact::Whatsapp { number, context } => {
            ("whatsapp", ("phoneNumber", number), "contextAboutUser", context)
        }
        Contact::Telegram { id, context } => {
            ("telegram", ("userId", id), "contextAboutUser", context)
        }
        Contact::Ntfy { topic, context } => ("ntfy", ("topic", topic), "contextAboutUser", context),
        Contact::Webhook { id, context } => ("webhook", ("id", id), "contextAboutUser", context),
    };
    let mut fields = Map::new();
    fields.insert(id.0.to_owned(), json!(id.1));
    fields.extend(context.as_ref().map(|context| (about.to_owned(), json!(context))));
    json!({ key: fields })
}

/// A person as an administrator sends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanBody {
    pub name: String,
    /// The person's expertise.
    pub description: Option<String>,
    /// The contact methods, the preferred one first.
    pub contacts: Vec<Contact>,
    /// The projects in which the person is asked; if absent, those of the administrator who adds
    /// them.
    pub projects: Option<Vec<ProjectId>>,
}

/// Reads `POST /humans` and `PUT /humans/{id}`.
pub fn parse_human(bytes: &[u8]) -> Result<HumanBody, A2hWireError> {
    let body = storable(bytes)?;
    let body = Members::new(&body, "");
    let name = body.required("name")?.to_owned();
    let description = body.text("description")?.map(ToOwned::to_owned);
    let keys = ["prioritizedContactChannels", "prioritized_contact_channels"];
    let key = keys.into_iter().find(|key| body.present(key).is_some()).unwrap_or(keys[0]);
    let list = body.list(key)?.unwrap_or_default();
    let contacts = list.iter().enumerate().map(|(n, item)| {
        let path = format!("{key}[{n}]");
        let map = item.as_object().ok_or_else(|| A2hWireError::field(&path, "an object"))?;
        if let Some(contact) = other_contact(Members::new(map, &path))? {
            return Ok(contact);
        }
        let channel = channel::read_map(map, &path)?;
        let expected = "slack, email, sms, whatsapp, telegram, ntfy or webhook";
        read_contact(channel.shown.as_ref()).ok_or_else(|| A2hWireError::field(&path, expected))
    });
    let contacts = contacts.collect::<Result<_, A2hWireError>>()?;
    let projects = match body.texts("projects")? {
        None => None,
        Some(names) => {
            let read = names.iter().map(|name| name.parse::<ProjectId>().ok()).collect();
            let read: Option<Vec<ProjectId>> = read;
            Some(read.ok_or_else(|| body.bad("projects", "IDs of projects"))?)
        }
    };
    Ok(HumanBody { name, description, contacts, projects })
}

/// A contact method that A2H has no name for. It is read as it is shown, so that a client that
/// reads a person and writes them back loses nothing.
fn other_contact(from: Members<'_>) -> Result<Option<Contact>, A2hWireError> {
    let read = |key: &str, id: &[&str; 2]| {
        let Some(map) = from.object(key)? else { return Ok(None) };
        let path = from.path(key);
        let members = Members::new(map, &path);
        let found = members.either(id)?.ok_or_else(|| members.bad(id[0], "a string"))?;
        Ok(Some((found, members.either(&["context_about_user", "contextAboutUser"])?)))
    };
    if let Some((id, context)) = read("telegram", &["userId", "user_id"])? {
        return Ok(Some(Contact::Telegram { id, context }));
    }
    if let Some((topic, context)) = read("ntfy", &["topic", "topic"])? {
        return Ok(Some(Contact::Ntfy { topic, context }));
    }
    let webhook = read("webhook", &["id", "id"])?;
    Ok(webhook.map(|(id, context)| Contact::Webhook { id, context }))
}

/// Converts a channel to a contact method.
fn read_contact(shown: Option<&Value>) -> Option<Contact> {
    let shown = shown?.as_object()?;
    let text = |fields: &Value, key: &str| fields.get(key)?.as_str().map(ToOwned::to_owned);
    let (key, fields) = shown.iter().next()?;
    let context = text(fields, "context_about_user");
    Some(match key.as_str() {
        "slack" => Contact::Slack {
            id: text(fields, "channel_or_user_id")?,
            context: text(fields, "context_about_channel_or_user"),
        },
        "email" => Contact::Email { address: text(fields, "address")?, context },
        "sms" => Contact::Sms { number: text(fields, "phone_number")?, context },
        "whatsapp" => Contact::Whatsapp { number: text(fields, "phone_number")?, context },
        _ => return None,
    })
}
