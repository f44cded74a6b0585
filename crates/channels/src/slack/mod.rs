//! Slack: messages with blocks, buttons, menus and modals, and threads. Slack calls the server over
//! HTTP under the names `events` and `interactions`, or the server opens a socket.
//!
//! | module | contents |
//! |---|---|
//! | `render`, `text` | a message card as a Slack message |
//! | `view` | a form as a modal |
//! | `api` | calls to Slack, and its error codes |
//! | `verify`, `parse`, `interactions` | calls from Slack |
//! | `socket` | Socket Mode |

mod api;
mod interactions;
mod parse;
mod render;
mod socket;
mod text;
mod verify;
mod view;

use std::sync::Arc;
use std::time::Duration;

use api::{CallToken, SlackError, SlackResponse, TokenOwner};
use async_trait::async_trait;
use kernel::text::{is_email, reveal};
use reqwest::{Client, StatusCode};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;
use url::Url;
use views::message_card::{DialogError, FormDialog, MessageCard};

use crate::inbound::ParsedCall;
use crate::setup::{ChannelContext, ChannelSetup};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundHandler, InboundMessage, OutboundMessage,
    PostedMessage, SecretString, UnreadableCall, WebhookCall,
};

/// The name of the channel.
pub const NAME: &str = "slack";

/// The URL of Slack's Web API.
const BASE: &str = "https://slack.com/api/";
/// The scopes that the app needs, and the purpose of each.
const SCOPES: [(&str, &str); 3] = [
    ("chat:write", "to write"),
    ("users:read", "to know who answers"),
    ("users:read.email", "to know them by their email address"),
];
/// The longest error below a field.
const LONGEST_ERROR: usize = 300;
/// The first delay before a socket is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// The settings of the channel. Either the signing secret or the app token is required: without
/// both, the server receives no answers.
#[derive(Debug, Clone)]
pub struct SlackSettings {
    /// The bot token that sends messages, `xoxb-…`.
    pub bot_token: SecretString,
    /// The secret that signs Slack's calls.
    pub signing_secret: Option<SecretString>,
    /// The app token for Socket Mode, `xapp-…`.
    pub app_token: Option<SecretString>,
    /// The URL of the Web API, if it is not at slack.com.
    pub base: Option<Url>,
}

/// Slack, as one app in one workspace.
#[derive(Debug)]
pub struct Slack {
    bot_token: SecretString,
    signing_secret: Option<SecretString>,
    app_token: Option<SecretString>,
    base: Url,
    client: Client,
    pause: Duration,
    /// The app's identity, fetched once.
    us: OnceCell<SlackWorkspace>,
}

/// The workspace of the app.
#[derive(Debug)]
struct SlackWorkspace {
    team: String,
    enterprise: Option<String>,
}

impl Slack {
    /// Creates the channel, or says which setting is missing. The client must have timeouts.
    pub fn new(settings: SlackSettings, client: Client) -> Result<Self, String> {
        let SlackSettings { bot_token, signing_secret, app_token, base } = settings;
        if !bot_token.reveal().starts_with("xoxb-") {
            return Err(
                "slack_bot_token must start with xoxb-; copy the Bot User OAuth Token from OAuth \
                 & Permissions of the app"
                    .to_owned(),
            );
        }
        if app_token.as_ref().is_some_and(|token| !token.reveal().starts_with("xapp-")) {
            return Err(
                "slack_app_token must start with xapp-; create one with connections:write under \
                 App-Level Tokens of the app"
                    .to_owned(),
            );
        }
        if signing_secret.as_ref().is_some_and(|secret| secret.reveal().trim().is_empty()) {
            return Err("slack_signing_secret is empty".to_owned());
        }
        if signing_secret.is_none() && app_token.is_none() {
            return Err("slack_bot_token requires slack_signing_secret, or slack_app_token for \
                        Socket Mode, so that people can answer"
                .to_owned());
        }
        let mut base = match base {
            Some(base) => base,
            None => BASE.parse().map_err(|_| "the URL of Slack's API is not valid".to_owned())?,
        };
        if !base.path().ends_with('/') {
            let path = format!("{}/", base.path());
            base.set_path(&path);
        }
        let (pause, us) = (PAUSE, OnceCell::new());
        Ok(Self { bot_token, signing_secret, app_token, base, client, pause, us })
    }

    /// Sets the first delay before a lost socket is opened again. The delay doubles six times.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    fn bot(&self) -> CallToken<'_> {
        CallToken { whose: TokenOwner::Bot, token: &self.bot_token }
    }

    fn token_for<'a>(&'a self, given: Option<&'a SecretString>) -> CallToken<'a> {
        given.map_or_else(|| self.bot(), |token| CallToken { whose: TokenOwner::Given, token })
    }

    async fn call(
        &self,
        method: &str,
        body: &Value,
        by: CallToken<'_>,
    ) -> Result<SlackResponse, SlackError> {
        api::call(&self.client, &self.base, method, body, by).await
    }

    async fn workspace(&self) -> Result<&SlackWorkspace, DeliveryError> {
        self.us
            .get_or_try_init(|| async {
                let found = self.call("auth.test", &json!({}), self.bot()).await?;
                let member = |name| found.body.get(name).and_then(Value::as_str).map(str::to_owned);
                let team = member("team_id")
                    .ok_or_else(|| DeliveryError::later("Slack did not return the workspace"))?;
                Ok(SlackWorkspace { team, enterprise: member("enterprise_id") })
            })
            .await
    }

    /// Replies to a press, at the response URL that came with it.
    async fn respond(&self, url: Url, body: &Value) -> Result<(), SlackError> {
        const WHAT: &str = "response_url";
        let request = self.client.post(url).header("content-type", "application/json");
        let response = request
            .body(body.to_string())
            .send()
            .await
            .map_err(|error| api::unreachable(WHAT, &error))?;
        let (status, after) = (response.status(), api::retry_after(&response));
        if status.is_success() {
            return Ok(());
        }
        let why = format!("Slack responded to {WHAT} with {status}");
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            return Err(DeliveryError::Later { why, after }.into());
        }
        Err(SlackError { code: Some("expired_url".to_owned()), failed: DeliveryError::never(why) })
    }

    /// The response URL of a press, if it is Slack's. A payload cannot make the server
    /// call another host.
    fn response_url(&self, place: &Value) -> Option<Url> {
        let url: Url = place.get("response_url")?.as_str()?.parse().ok()?;
        let hooks = format!("hooks.{}", self.base.host_str()?);
        let theirs = url.scheme() == "https"
            && url.host_str() == Some(&hooks)
            && url.port().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        // A test server plays all of Slack at one origin.
        let played = self.base.scheme() == "http" && url.origin() == self.base.origin();
        (theirs || played).then_some(url)
    }
}

/// Renders a card as text without blocks.
pub fn plain(card: &MessageCard) -> Value {
    render::plain_text(card)
}

impl ChannelSetup for SlackSettings {
    type Channel = Slack;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        Slack::new(self, context.http()?).map(Arc::new)
    }
}

#[async_trait]
impl Channel for Slack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render::message(card)
    }

    /// Slack has no idempotency keys. The key goes into the metadata of the message, where programs
    /// can find it.
    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let mut body = without_previews(without_markup(outbound.message));
        body["channel"] = json!(outbound.to);
        body["metadata"] = json!({
            "event_type": "countersign_notice", "event_payload": { "key": outbound.key },
        });
        let thread = outbound.thread.map(|thread| thread.rsplit('/').next().unwrap_or(thread));
        if let Some(thread) = thread {
            if parse::moment(thread).is_none() {
                return Err(DeliveryError::never(
                    "invalid Slack thread; expected a thread_ts such as 1503435956.000247",
                ));
            }
            body["thread_ts"] = json!(thread);
        }
        let posted = self.call("chat.postMessage", &body, self.token_for(outbound.token)).await?;
        let member = |name| posted.body.get(name).and_then(Value::as_str);
        // For a message to a user id, Slack returns the id of the conversation, which is required
        // for later calls.
        let (Some(channel), Some(ts)) = (member("channel"), member("ts")) else {
            return Err(DeliveryError::later("Slack did not return the position of the message"));
        };
        let thread = thread.map(|thread| posted_id(channel, thread));
        Ok(PostedMessage { id: posted_id(channel, ts), thread, place: Value::Null })
    }

    async fn update(
        &self,
        posted: &PostedMessage,
        message: &Value,
        token: Option<&SecretString>,
    ) -> Result<(), DeliveryError> {
        let Some((channel, ts)) = posted.id.split_once('/') else {
            return Err(DeliveryError::never("that is not a Slack message"));
        };
        let mut body = without_markup(message);
        body["channel"] = json!(channel);
        body["ts"] = json!(ts);
        match self.call("chat.update", &body, self.token_for(token)).await {
            Ok(_) => Ok(()),
            Err(refusal)
                if refusal.is(&[
                    "message_not_found",
                    "cant_update_message",
                    "edit_window_closed",
                ]) =>
            {
                tracing::debug!(message.id = posted.id, "could not change a Slack message");
                Ok(())
            }
            Err(refusal) => Err(refusal.into()),
        }
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        let secret = self.signing_secret.as_ref();
        verify::verify(
            call,
            secret.ok_or(ForgedCall(
                "slack_signing_secret is not set, so the call cannot be verified",
            ))?,
        )
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        parse::parse(call)
    }

    /// Only the person sees the reply: below the message they pressed, in the channel they wrote
    /// in, or else as a direct message.
    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        // Slack was already answered when it called, and accepts no empty text.
        if words.trim().is_empty() {
            return Ok(());
        }
        let member = |name| inbound.place.get(name).and_then(Value::as_str);
        let user = inbound.from.address().unwrap_or_default();
        let said: Vec<Value> = text::sections(words).take(text::BLOCKS).collect();
        let mut body = json!({ "text": text::beginning(words, text::SECTION), "blocks": said });
        if let Some(thread) = member("thread") {
            body["thread_ts"] = json!(thread);
        }
        if let Some(url) = self.response_url(&inbound.place) {
            let mut body = body.clone();
            body["response_type"] = json!("ephemeral");
            body["replace_original"] = json!(false);
            match self.respond(url, &body).await {
                Ok(()) => return Ok(()),
                // A response URL works five times and for half an hour.
                Err(refusal) if refusal.is(&["expired_url"]) => {}
                Err(refusal) => return Err(refusal.into()),
            }
        }
        let mut body = without_markup(&body);
        if let Some(channel) = member("channel") {
            body["channel"] = json!(channel);
            body["user"] = json!(user);
            match self.call("chat.postEphemeral", &body, self.bot()).await {
                Ok(_) => return Ok(()),
                Err(refusal)
                    if refusal.is(&[
                        "user_not_in_channel",
                        "not_in_channel",
                        "channel_not_found",
                    ]) => {}
                Err(refusal) => return Err(refusal.into()),
            }
        }
        if let Some(body) = body.as_object_mut() {
            body.remove("user");
            body.remove("thread_ts");
        }
        let mut body = without_previews(body);
        body["channel"] = json!(user);
        self.call("chat.postMessage", &body, self.bot()).await?;
        Ok(())
    }

    async fn open_form(
        &self,
        inbound: &InboundMessage,
        sheet: &FormDialog,
    ) -> Result<(), DeliveryError> {
        let member = |name| inbound.place.get(name).and_then(Value::as_str);
        let Some(trigger) = member("trigger_id") else {
            return Err(DeliveryError::never(
                "Slack shows a form only to the person who pressed a button",
            ));
        };
        let carried = view::ModalMetadata {
            token: sheet.token.clone(),
            channel: member("channel").map(str::to_owned),
            thread: member("thread").map(str::to_owned),
        };
        let Some(view) = view::modal(sheet, &carried) else {
            return Err(DeliveryError::never("Slack cannot show this form: it is on its page"));
        };
        self.call("views.open", &json!({ "trigger_id": trigger, "view": view }), self.bot())
            .await?;
        Ok(())
    }

    fn correct_form(&self, wrong: &[DialogError]) -> Option<Value> {
        let errors: Map<String, Value> = wrong
            .iter()
            .map(|one| (one.key.clone(), text::beginning(&one.words, LONGEST_ERROR).into()))
            .collect();
        Some(json!({ "response_action": "errors", "errors": errors }))
    }

    /// The address that the person confirmed to Slack, for members of this workspace only: another
    /// workspace could claim anything about its members.
    async fn verified_email(
        &self,
        inbound: &InboundMessage,
    ) -> Result<Option<String>, DeliveryError> {
        let Some(id) = inbound.from.address() else { return Ok(None) };
        let us = self.workspace().await?;
        let query = [("user", id)];
        let found = api::get(&self.client, &self.base, "users.info", &query, self.bot()).await;
        let found = match found {
            Ok(found) => found.body,
            Err(refusal) if refusal.is(&["user_not_found", "user_not_visible"]) => return Ok(None),
            Err(refusal) => return Err(refusal.into()),
        };
        Ok(found.get("user").and_then(|user| confirmed_email(user, id, us)))
    }

    async fn listen(&self, handler: &dyn InboundHandler) -> Result<(), DeliveryError> {
        match &self.app_token {
            Some(token) => self.listen_on(token, handler).await,
            None => std::future::pending().await,
        }
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        let found = self.call("auth.test", &json!({}), self.bot()).await?;
        let member = |name| reveal(found.body.get(name).and_then(Value::as_str).unwrap_or("?"));
        let mut said = format!("Slack knows this app as {} in {}", member("user"), member("team"));
        if let Some(scopes) = &found.scopes {
            let has = |wanted: &str| scopes.split(',').any(|scope| scope.trim() == wanted);
            let lacks = SCOPES.iter().filter(|(scope, _)| !has(scope));
            let lacks: Vec<String> =
                lacks.map(|(scope, what)| format!("{scope} ({what})")).collect();
            if !has("chat:write") {
                let lacks = lacks.join(", ");
                return Err(DeliveryError::never(format!(
                    "the Slack app is missing the scopes {lacks}; add them under OAuth & \
                     Permissions and reinstall the app"
                )));
            }
            if !lacks.is_empty() {
                said = format!("{said}, without {}", lacks.join(", "));
            }
        }
        if let Some(token) = &self.app_token {
            let by = CallToken { whose: TokenOwner::App, token };
            self.call("apps.connections.open", &json!({}), by).await?;
            said.push_str(", with Socket Mode");
        }
        Ok(said)
    }
}

/// The confirmed address of a member of this workspace.
fn confirmed_email(user: &Value, id: &str, us: &SlackWorkspace) -> Option<String> {
    let text = |pointer: &str| user.pointer(pointer).and_then(Value::as_str);
    let yes = |name: &str| user.get(name).and_then(Value::as_bool).unwrap_or_default();
    let ours = text("/team_id") == Some(us.team.as_str())
        || us.enterprise.is_some()
            && text("/enterprise_user/enterprise_id") == us.enterprise.as_deref();
    let person =
        !yes("deleted") && !yes("is_bot") && !yes("is_stranger") && !yes("is_workflow_bot");
    let email = text("/profile/email").filter(|email| is_email(email))?;
    (text("/id") == Some(id) && ours && person && yes("is_email_confirmed"))
        .then(|| email.to_owned())
}

/// The id of a message: its channel and its timestamp.
fn posted_id(channel: &str, ts: &str) -> String {
    format!("{channel}/{ts}")
}

/// A message with everything disabled that would turn text into links or mentions.
fn without_markup(message: &Value) -> Value {
    let mut body = if message.is_object() { message.clone() } else { json!({}) };
    body["parse"] = json!("none");
    body["link_names"] = json!(false);
    body
}

/// A new message without link previews.
fn without_previews(mut body: Value) -> Value {
    body["mrkdwn"] = json!(false);
    body["unfurl_links"] = json!(false);
    body["unfurl_media"] = json!(false);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In an organisation with several workspaces, members of each are accepted.
    #[test]
    fn people_of_the_same_organisation_are_known() {
        let user = json!({
            "id": "W1", "team_id": "T2", "is_email_confirmed": true,
            "enterprise_user": { "enterprise_id": "E1" }, "profile": { "email": "ada@example.com" },
        });
        let us = |enterprise: Option<&str>| SlackWorkspace {
            team: "T1".to_owned(),
            enterprise: enterprise.map(str::to_owned),
        };
        let found = |us: &SlackWorkspace, id| confirmed_email(&user, id, us);
        assert_eq!(found(&us(Some("E1")), "W1").as_deref(), Some("ada@example.com"));
        assert_eq!(found(&us(Some("E1")), "W2"), None, "somebody else was asked for");
        assert_eq!(found(&us(Some("E2")), "W1"), None);
        assert_eq!(found(&us(None), "W1"), None);
        let outside = json!({ "id": "W1", "is_email_confirmed": true,
                              "profile": { "email": "ada@example.com" } });
        assert_eq!(confirmed_email(&outside, "W1", &us(None)), None, "of no workspace at all");
    }

    #[test]
    fn an_answer_goes_to_slack_alone() {
        let settings = |base: Option<&str>| SlackSettings {
            bot_token: SecretString::new("xoxb-1"),
            signing_secret: Some(SecretString::new("s")),
            app_token: None,
            base: base.map(|base| base.parse().unwrap()),
        };
        let gov = Some("https://slack-gov.com/api/");
        for (base, url, taken) in [
            (None, "https://hooks.slack.com/actions/T1/1/x", true),
            (None, "http://hooks.slack.com/actions/T1/1/x", false),
            (None, "https://hooks.slack.com:8443/actions", false),
            (None, "https://u:p@hooks.slack.com/actions", false),
            (None, "https://slack.com/actions", false),
            (None, "https://files.slack.com/actions", false),
            (None, "https://hooks.slack.com.evil.example/", false),
            (None, "https://evil.example/hooks.slack.com", false),
            (None, "file:///etc/passwd", false),
            (None, "", false),
            (gov, "https://hooks.slack-gov.com/actions", true),
            (gov, "https://hooks.slack.com/actions", false),
        ] {
            let slack = Slack::new(settings(base), Client::new()).unwrap();
            let found = slack.response_url(&json!({ "response_url": url }));
            assert_eq!(found.is_some(), taken, "{url}");
        }
    }
}
