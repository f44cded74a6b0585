//! ntfy, hosted or self-hosted. It carries notifications with a link, and no answers: a press of an
//! ntfy button is a call from the phone that does not identify the person, and anyone who knows the
//! topic could make it.

use std::sync::Arc;

use async_trait::async_trait;
use kernel::directory::contact::is_ntfy_topic;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;
use views::message_card::plain_text::{beginning, cut, defanged, one_line, quoted, units};
use views::message_card::{CardStage, MessageCard};
use views::t;

use crate::platform_http::{self, PlatformResponse, join_path};
use crate::setup::{ChannelContext, ChannelSetup};
use crate::{
    Channel, DeliveryError, ForgedCall, OutboundMessage, PostedMessage, SecretString, WebhookCall,
};

/// The name of the channel.
pub const NAME: &str = "ntfy";

/// The public server.
pub const SERVER: &str = "https://ntfy.sh";
const PLATFORM: &str = "ntfy";

/// The settings of the channel.
#[derive(Debug, Clone)]
pub struct NtfySettings {
    /// The URL of the ntfy server: [`SERVER`] or a self-hosted one.
    pub server: Url,
    /// The credentials for publishing.
    pub login: NtfyCredentials,
    /// Whether the server can update notifications (ntfy 2.16). An older server would show a
    /// second notification instead.
    pub updates: bool,
}

/// The credentials for publishing.
#[derive(Debug, Clone)]
pub enum NtfyCredentials {
    /// No credentials: messages are published anonymously.
    Nobody,
    /// An access token, `tk_…`.
    Token(SecretString),
    /// A user name and password.
    User(String, SecretString),
}

/// The ntfy channel.
#[derive(Debug)]
pub struct Ntfy {
    settings: NtfySettings,
    client: Client,
}

impl Ntfy {
    /// Creates the channel, or says what is wrong with its settings.
    pub fn new(settings: NtfySettings, client: Client) -> Result<Self, String> {
        match &settings.login {
            NtfyCredentials::Token(token) if !token.reveal().starts_with("tk_") => {
                Err("an ntfy access token starts with tk_".to_owned())
            }
            NtfyCredentials::User(name, password)
                if name.is_empty() || password.reveal().is_empty() =>
            {
                Err("an ntfy user requires a name and a password".to_owned())
            }
            NtfyCredentials::Nobody | NtfyCredentials::Token(_) | NtfyCredentials::User(..) => {
                Ok(Self { settings, client })
            }
        }
    }

    /// Publishes a notification. It replaces an earlier one with the same sequence id.
    async fn publish(
        &self,
        topic: &str,
        sequence: &str,
        message: &Value,
        token: Option<&SecretString>,
    ) -> Result<PlatformResponse, DeliveryError> {
        let mut message = message.clone();
        if let Value::Object(members) = &mut message {
            members.insert("topic".to_owned(), topic.into());
            members.insert("sequence_id".to_owned(), sequence.into());
        }
        let call = self.client.post(join_path(&self.settings.server, "")).json(&message);
        let call = match token {
            Some(token) => call.bearer_auth(token.reveal()),
            None => self.authenticated(call),
        };
        let answer = platform_http::read_response(PLATFORM, call.send().await).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(error_from(&answer)) }
    }

    fn authenticated(&self, call: RequestBuilder) -> RequestBuilder {
        match &self.settings.login {
            NtfyCredentials::Nobody => call,
            NtfyCredentials::Token(token) => call.bearer_auth(token.reveal()),
            NtfyCredentials::User(name, password) => call.basic_auth(name, Some(password.reveal())),
        }
    }
}

fn error_from(answer: &PlatformResponse) -> DeliveryError {
    if let Some(later) = answer.temporary_error(PLATFORM) {
        return later;
    }
    let said = answer.body.get("error").and_then(Value::as_str).unwrap_or_default();
    DeliveryError::never(match answer.status.as_u16() {
        401 => "ntfy refused the access token, or the user name and password; check the \
                settings"
            .to_owned(),
        403 => "ntfy does not allow publishing to this topic with these credentials; give the \
                user write access to the topic"
            .to_owned(),
        404 => "there is no ntfy server at this URL".to_owned(),
        status => format!("ntfy refused it ({status}): {said}"),
    })
}

impl ChannelSetup for NtfySettings {
    type Channel = Ntfy;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        Ntfy::new(self, context.http()?).map(Arc::new)
    }
}

#[async_trait]
impl Channel for Ntfy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render(card)
    }

    /// The same message has the same sequence id, so a repetition replaces the first.
    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        if !is_ntfy_topic(outbound.to) {
            return Err(DeliveryError::never(
                "an ntfy topic has 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
            ));
        }
        let digest = hex::encode(Sha256::digest(outbound.key.as_bytes()));
        let sequence = digest.get(..32).unwrap_or_default();
        let answer = self.publish(outbound.to, sequence, outbound.message, outbound.token).await?;
        let id = answer.body.get("id").and_then(Value::as_str).unwrap_or(sequence).to_owned();
        Ok(PostedMessage {
            id,
            thread: None,
            place: json!({ "topic": outbound.to, "sequence": sequence }),
        })
    }

    async fn update(
        &self,
        posted: &PostedMessage,
        message: &Value,
        token: Option<&SecretString>,
    ) -> Result<(), DeliveryError> {
        if !self.settings.updates {
            return Ok(());
        }
        let text = |name: &str| posted.place.get(name).and_then(Value::as_str);
        let (Some(topic), Some(sequence)) = (text("topic"), text("sequence")) else {
            return Err(DeliveryError::never("the ntfy message of the notification is unknown"));
        };
        self.publish(topic, sequence, message, token).await.map(|_| ())
    }

    fn verify(&self, _: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        Err(ForgedCall("ntfy does not call this server"))
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        let at = |path: &str| self.client.get(join_path(&self.settings.server, path));
        let health = platform_http::read_response(PLATFORM, at("v1/health").send().await).await?;
        if !health.status.is_success() {
            return Err(error_from(&health));
        }
        if health.body.get("healthy") != Some(&Value::Bool(true)) {
            return Err(DeliveryError::later("ntfy reports that it is not healthy"));
        }
        if let NtfyCredentials::Nobody = &self.settings.login {
            return Ok("ntfy is healthy; notifications are published anonymously".to_owned());
        }
        let account = self.authenticated(at("v1/account"));
        let account = platform_http::read_response(PLATFORM, account.send().await).await?;
        if !account.status.is_success() {
            return Err(error_from(&account));
        }
        let name = account.body.get("username").and_then(Value::as_str).unwrap_or("?");
        Ok(format!("ntfy is healthy; notifications are published as {name}"))
    }
}

// A message card as an ntfy notification: the title, the beginning of the question and the link,
// without details. Anyone who knows the topic can read all of it.

/// The longest beginning of a question that is shown.
const BEGINNING: usize = 500;
/// The longest title.
const TITLE: usize = 150;

/// Renders a notification, without its topic.
fn render(card: &MessageCard) -> Value {
    let title = defanged(&one_line(&card.title));
    let words = cut(&card.words, BEGINNING);
    let has_more = words.ends_with('…') || card.context.is_some() || !card.facts.is_empty();
    let mut lines = Vec::new();
    lines.extend(card.note.as_deref().map(defanged));
    lines.push(quoted(&words));
    let priority = match &card.stage {
        CardStage::Open(_) => {
            lines.extend(
                card.until.as_deref().map(|until| t!("chat-expires", until = defanged(until))),
            );
            lines.push(if has_more {
                t!("chat-read-on-page")
            } else {
                t!("chat-answer-on-page-only")
            });
            if card.urgent { 5 } else { 3 }
        }
        // The notification about the request is replaced by its outcome, without a sound.
        CardStage::Closed { headline, at, comment } => {
            lines.push(format!("{}, {at}", defanged(&one_line(headline))));
            lines.extend(comment.as_deref().map(|comment| quoted(&cut(comment, BEGINNING))));
            2
        }
    };
    lines.retain(|line| !line.is_empty());
    let tags: &[&str] = if priority == 5 { &["rotating_light"] } else { &[] };
    json!({
        "title": beginning(&title, TITLE, units),
        "message": lines.join("\n"),
        "priority": priority,
        "tags": tags,
        "click": card.link,
        "actions": [{ "action": "view", "label": t!("chat-open-short"), "url": card.link, "clear": true }],
        "markdown": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ntfy::checked;
    use crate::testing::sample_cards;

    #[test]
    fn as_they_are_read() {
        for (name, card) in sample_cards::samples() {
            let message = render(&card);
            checked(&message).unwrap();
            insta::assert_json_snapshot!(name, message);
        }
    }
}
