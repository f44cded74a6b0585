//! `spec.channel`: how the agent wants a person to be contacted (A2H-029 to A2H-034), and
//! `GET /channels`, `POST /channels/validate` (A2H-120, A2H-125).
//!
//! The server stores one spelling of each field, the one every client reads (A2H-037). A
//! `bot_token` is not part of it: the server reads it separately and never logs or shows it
//! (A2H-031).

use std::fmt;

use kernel::ask::PostingAddress;
use kernel::directory::ContactMethod;
use kernel::directory::contact::{is_phone_number, is_slack_id};
use kernel::text::is_email;
use kernel::{Ask, HumanId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::create::OWN_APP;
use super::errors::A2hWireError;
use super::parse::Members;
use super::view::member;

/// Slack tokens are shorter than this.
const LONGEST_TOKEN: usize = 500;

/// A medium over which people can be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    Slack,
    Email,
    Sms,
    Whatsapp,
}

impl Medium {
    pub const ALL: [Self; 4] = [Self::Slack, Self::Email, Self::Sms, Self::Whatsapp];

    /// The medium's key in a channel object.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Slack => "slack",
            Self::Email => "email",
            Self::Sms => "sms",
            Self::Whatsapp => "whatsapp",
        }
    }

    /// The fields that agents may set, each with a description.
    fn fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Slack => &[
                ("channelOrUserId", "The Slack channel or user ID to send messages to"),
                ("contextAboutChannelOrUser", "Additional context about the Slack channel or user"),
            ],
            Self::Email => &[
                ("address", "Email address to send messages to"),
                ("contextAboutUser", "Additional context about the email recipient"),
                ("inReplyToMessageId", "The message ID of the email to reply to"),
                ("referencesMessageId", "The message ID of the email to reference"),
            ],
            Self::Sms | Self::Whatsapp => &[
                ("phoneNumber", "The phone number to send messages to"),
                ("contextAboutUser", "Additional context about the recipient"),
            ],
        }
    }
}

/// A channel after parsing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ParsedChannel {
    /// The channel as stored and shown; `None` if the agent gave none.
    pub(super) shown: Option<Value>,
    /// The person it names (A2H-129).
    pub(super) human: Option<HumanId>,
    /// Every address it names, the primary one first.
    pub(super) addresses: Vec<String>,
    pub(super) medium: Option<Medium>,
    /// The conversation it names (A2H-133).
    pub(super) conversation: Option<Value>,
    /// The destination of the message (A2H-080).
    pub(super) place: Option<PostingAddress>,
    /// The token of the agent's own Slack app, which posts the message (A2H-084).
    pub(super) bot_token: Option<BotToken>,
}

impl ParsedChannel {
    /// The additional recipients of an email.
    pub(super) fn copy_recipients(&self) -> Vec<ContactMethod> {
        self.addresses.iter().skip(1).map(|address| ContactMethod::email(address)).collect()
    }
}

/// A borrowed bot token: an agent's own Slack app, for one call. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct BotToken(String);

impl BotToken {
    /// The token in plain text, for calls to Slack.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BotToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BotToken")
    }
}

/// Reads the channel under a key. An absent member, `null`, and an object whose members are all
/// `null` mean the same.
pub(super) fn read(from: Members<'_>, key: &str) -> Result<ParsedChannel, A2hWireError> {
    let Some(map) = from.object(key)? else { return Ok(ParsedChannel::default()) };
    let path = from.path(key);
    read_map(map, &path)
}

pub(super) fn read_map(
    map: &Map<String, Value>,
    path: &str,
) -> Result<ParsedChannel, A2hWireError> {
    let members = Members::new(map, path);
    let mut channel = ParsedChannel::default();
    let mut shown = Map::new();
    let mut put = |medium: Medium, value: Map<String, Value>| {
        shown.insert(medium.as_str().to_owned(), Value::Object(value));
        channel.medium.get_or_insert(medium);
    };
    let place = |means: ContactMethod| PostingAddress {
        contact_method: means,
        only: Vec::new(),
        thread: None,
    };
    if let Some(slack) = members.object("slack")? {
        let path = members.path("slack");
        let slack = Members::new(slack, &path);
        channel.bot_token = read_token(slack)?;
        let slack = read_slack(slack)?;
        channel.place = slack_place(&slack);
        put(Medium::Slack, slack);
    }
    if let Some(email) = members.object("email")? {
        let path = members.path("email");
        let (email, addresses) = read_email(Members::new(email, &path))?;
        channel.place = addresses.first().map(|address| place(ContactMethod::email(address)));
        channel.addresses = addresses;
        put(Medium::Email, email);
    }
    for medium in [Medium::Sms, Medium::Whatsapp] {
        if let Some(phone) = members.object(medium.as_str())? {
            let path = members.path(medium.as_str());
            let phone = read_phone(Members::new(phone, &path))?;
            let number = phone.get("phone_number").and_then(Value::as_str).map(ToOwned::to_owned);
            let means =
                if medium == Medium::Sms { ContactMethod::Sms } else { ContactMethod::Whatsapp };
            channel.place = number.map(|number| place(means(number)));
            put(medium, phone);
        }
    }
    if shown.len() > 1 {
        return Err(A2hWireError::field(path, "exactly one of slack, email, sms and whatsapp"));
    }
    if let Some(id) = members.either(&["human_id", "humanId"])? {
        let human = id.parse().map_err(|_| members.bad("human_id", "the ID of a human"))?;
        channel.human = Some(human);
        shown.insert("human_id".to_owned(), json!(id));
    }
    if let Some(id) = members.present("channel_id") {
        if !id.is_string() && !id.is_number() {
            return Err(members.bad("channel_id", "a string or a number"));
        }
        channel.conversation = Some(id.clone());
        shown.insert("channel_id".to_owned(), id.clone());
    }
    channel.shown = (!shown.is_empty()).then_some(Value::Object(shown));
    Ok(channel)
}

/// An object of the members that have a value.
fn object(members: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Map<String, Value> {
    let there = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    there.collect()
}

fn read_slack(slack: Members<'_>) -> Result<Map<String, Value>, A2hWireError> {
    let id = slack.either(&["channel_or_user_id", "channelOrUserId"])?;
    let id = id.ok_or_else(|| slack.bad("channel_or_user_id", "a string"))?;
    // An empty id stands for the person who installed the app (A2H-030).
    if !id.is_empty() && !is_slack_id(&id) {
        let expected = "the ID of a channel or user such as C0123ABC, not its name";
        return Err(slack.bad("channel_or_user_id", expected));
    }
    let allowed = match slack.present("allowed_responder_ids") {
        Some(_) => slack.texts("allowed_responder_ids")?,
        None => slack.texts("allowedResponderIds")?,
    };
    if allowed.as_ref().is_some_and(Vec::is_empty) {
        return Err(slack.bad("allowed_responder_ids", "at least one ID, or null"));
    }
    let context = ["context_about_channel_or_user", "contextAboutChannelOrUser"];
    let blocks = match slack.flag("experimental_slack_blocks")? {
        Some(blocks) => Some(blocks),
        None => slack.flag("experimentalSlackBlocks")?,
    };
    Ok(object([
        ("channel_or_user_id", Some(json!(id))),
        ("context_about_channel_or_user", slack.either(&context)?.map(Value::from)),
        ("allowed_responder_ids", allowed.map(Value::from)),
        ("experimental_slack_blocks", blocks.map(Value::from)),
        ("thread_ts", slack.either(&["thread_ts", "threadTs"])?.map(Value::from)),
    ]))
}

/// The token of the agent's own app; an empty token counts as none.
fn read_token(slack: Members<'_>) -> Result<Option<BotToken>, A2hWireError> {
    let token = slack.either(&["bot_token", "botToken"])?.filter(|token| !token.is_empty());
    let sent = |token: &String| {
        token.len() <= LONGEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if !token.as_ref().is_none_or(sent) {
        return Err(slack.bad("bot_token", "a Slack bot token such as xoxb-…"));
    }
    Ok(token.map(BotToken))
}

/// The destination of a Slack channel. An empty id stands for the person who installed the app,
/// whom the server does not know.
fn slack_place(slack: &Map<String, Value>) -> Option<PostingAddress> {
    let text = |key: &str| slack.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let only = slack.get("allowed_responder_ids").and_then(Value::as_array);
    let only = only.into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned);
    let means = ContactMethod::Slack(text("channel_or_user_id")?.to_owned());
    Some(PostingAddress {
        contact_method: means,
        only: only.collect(),
        thread: text("thread_ts").map(ToOwned::to_owned),
    })
}

fn read_email(email: Members<'_>) -> Result<(Map<String, Value>, Vec<String>), A2hWireError> {
    let address = email.required("address")?;
    if !is_email(address) {
        return Err(email.bad("address", "an email address"));
    }
    let recipients = read_recipients(email)?;
    let mut addresses = vec![address.to_owned()];
    addresses.extend(recipients.iter().map(|recipient| recipient.address.clone()));
    let subject = ["subject", "experimental_subject_line"];
    let references =
        ["references_message_id", "referencesMessageId", "experimental_references_message_id"];
    let in_reply_to = [
        "in_reply_to_message_id",
        "inReplyToMessageId",
        "experimental_in_reply_to_message_id",
        "in_reply_to",
    ];
    let context = email.either(&["context_about_user", "contextAboutUser"])?;
    let recipients: Vec<Value> = recipients.iter().map(EmailRecipient::shown).collect();
    let shown = object([
        ("address", Some(json!(address))),
        ("context_about_user", context.map(Value::from)),
        ("additional_recipients", (!recipients.is_empty()).then(|| Value::from(recipients))),
        ("experimental_subject_line", email.either(&subject)?.map(Value::from)),
        ("experimental_references_message_id", email.either(&references)?.map(Value::from)),
        ("experimental_in_reply_to_message_id", email.either(&in_reply_to)?.map(Value::from)),
        ("template", email.text("template")?.map(Value::from)),
    ]);
    Ok((shown, addresses))
}

fn read_phone(phone: Members<'_>) -> Result<Map<String, Value>, A2hWireError> {
    let number = phone.either(&["phone_number", "phoneNumber"])?.unwrap_or_default();
    if !is_phone_number(&number) {
        let expected = "a phone number in E.164 format, such as +4930123456";
        return Err(phone.bad("phone_number", expected));
    }
    let context = phone.either(&["context_about_user", "contextAboutUser"])?;
    Ok(object([
        ("phone_number", Some(json!(number))),
        ("context_about_user", context.map(Value::from)),
    ]))
}

/// An additional recipient of an email (A2H-033).
pub(super) struct EmailRecipient {
    pub(super) address: String,
    context: Option<String>,
    field: Option<&'static str>,
}

impl EmailRecipient {
    fn shown(&self) -> Value {
        Value::Object(object([
            ("address", Some(json!(self.address))),
            ("context_about_user", self.context.clone().map(Value::from)),
            ("field", self.field.map(Value::from)),
        ]))
    }
}

/// Reads `additional_recipients`, in either spelling. Empty if the member is absent.
pub(super) fn read_recipients(from: Members<'_>) -> Result<Vec<EmailRecipient>, A2hWireError> {
    let keys = ["additional_recipients", "additionalRecipients"];
    let Some(key) = keys.into_iter().find(|key| from.present(key).is_some()) else {
        return Ok(Vec::new());
    };
    let list = from.list(key)?.unwrap_or_default();
    if list.len() > 100 {
        return Err(from.bad(key, "at most 100 recipients"));
    }
    let read = |(n, item): (usize, &Value)| {
        let path = format!("{}[{n}]", from.path(key));
        let map = item.as_object().ok_or_else(|| A2hWireError::field(&path, "an object"))?;
        let item = Members::new(map, &path);
        let address = item.required("address")?;
        if !is_email(address) {
            return Err(item.bad("address", "an email address"));
        }
        let field = match item.text("field")? {
            None => None,
            Some("to") => Some("to"),
            Some("cc") => Some("cc"),
            Some("bcc") => Some("bcc"),
            Some(_) => return Err(item.bad("field", "to, cc or bcc")),
        };
        let context = item.either(&["context_about_user", "contextAboutUser"])?;
        Ok(EmailRecipient { address: address.to_owned(), context, field })
    };
    list.iter().enumerate().map(read).collect()
}

/// `GET /channels`: the configured media and their fields (A2H-120).
pub fn channels(configured: &[Medium]) -> Value {
    let field = |(name, description): &(&str, &str)| {
        ((*name).to_owned(), json!({ "type": "string", "description": description }))
    };
    let medium = |medium: &Medium| {
        let fields: Map<String, Value> = medium.fields().iter().map(field).collect();
        (medium.as_str().to_owned(), Value::Object(fields))
    };
    let all: Map<String, Value> = configured.iter().map(medium).collect();
    json!({ "channels": all })
}

/// `POST /channels/validate`: whether the body is a channel, and whether its medium is configured.
/// It sends nothing (A2H-125).
pub fn validate_channel(bytes: &[u8], configured: &[Medium]) -> Result<Value, A2hWireError> {
    let body = super::parse::object::<A2hWireError>(bytes)?;
    let (medium, errors) = match read_map(&body, "") {
        Ok(ParsedChannel { medium: None, human: None, .. }) => {
            let message = "expected slack, email, sms, whatsapp or human_id";
            (None, vec![json!({ "field": "", "message": message })])
        }
        Ok(channel) => (channel.medium, Vec::new()),
        Err(error) => {
            let field = error.field_path().unwrap_or_default();
            (None, vec![json!({ "field": field, "message": error.message })])
        }
    };
    let set_up = medium.is_some_and(|medium| configured.contains(&medium));
    Ok(json!({ "valid": errors.is_empty(), "errors": errors, "configured": set_up }))
}

// The agent's settings for the email that asks the question: subject, thread, additional
// recipients, and its own HTML template (A2H-088 to A2H-090).

/// The agent's settings for an email.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmailOptions {
    pub subject: Option<String>,
    /// The `Message-ID` of the email it replies to.
    pub in_reply_to: Option<String>,
    /// The `Message-ID` of the thread it belongs to.
    pub references: Option<String>,
    /// The additional recipients.
    pub others: Vec<(RecipientField, String)>,
    /// The agent's own HTML template, with placeholders.
    pub template: Option<String>,
}

/// The header that lists a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecipientField {
    To,
    Cc,
    Bcc,
}

/// How many copies of the email go to addresses that the agent names.
pub fn copy_count(ask: &Ask) -> u64 {
    email_options(ask).map_or(0, |wish| wish.others.len() as u64)
}

/// Whether there are such copies. A link or a reply address in the email is then known to more
/// people than its recipient.
pub fn is_copied(ask: &Ask) -> bool {
    copy_count(ask) > 0
}

/// The agent's settings for the email; `None` if the call names no email channel.
pub fn email_options(ask: &Ask) -> Option<EmailOptions> {
    let channel = member(ask, "channel")?;
    let email = channel.get("email")?;
    let text = |key: &str| email.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let other = |one: &Value| {
        let address = one.get("address")?.as_str()?.to_owned();
        let field = match one.get("field").and_then(Value::as_str) {
            Some("cc") => RecipientField::Cc,
            Some("bcc") => RecipientField::Bcc,
            Some(_) | None => RecipientField::To,
        };
        Some((field, address))
    };
    let others = email.get("additional_recipients").and_then(Value::as_array);
    Some(EmailOptions {
        subject: text("experimental_subject_line"),
        in_reply_to: text("experimental_in_reply_to_message_id"),
        references: text("experimental_references_message_id"),
        others: others.into_iter().flatten().filter_map(other).collect(),
        template: text("template"),
    })
}

// The agent's settings for the Slack message that asks the question (A2H-084, A2H-085).

/// Whether the message is sent with a borrowed bot token: that of the agent's own Slack app.
pub fn is_sent_by_own_app(ask: &Ask) -> bool {
    member(ask, OWN_APP) == Some(Value::Bool(true))
}

/// Whether the agent asked for plain text by disabling blocks. Blocks are the default, because a
/// message without them has no buttons.
pub fn wants_plain_text(ask: &Ask) -> bool {
    let channel = member(ask, "channel");
    let slack = channel.as_ref().and_then(|channel| channel.get("slack"));
    slack.and_then(|slack| slack.get("experimental_slack_blocks")) == Some(&Value::Bool(false))
}
