//! Telegram, through a bot. Presses and texts arrive by webhook, or by long polling for servers
//! that Telegram cannot call.
//!
//! | file | contents |
//! |---|---|
//! | `render.rs` | a message card as a Telegram message |
//! | `parse.rs` | reads Telegram's updates |

mod parse;
mod render;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kernel::directory::contact::is_telegram_id;
use parse::{ALLOWED_UPDATES, Update, message_key};
use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use url::Url;
use views::message_card::MessageCard;
use views::message_card::plain_text::{beginning, units};

use crate::inbound::ParsedCall;
use crate::platform_http::{self, PlatformResponse, join_path};
use crate::setup::{ChannelContext, ChannelSetup};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundHandler, InboundMessage, OutboundMessage,
    PostedMessage, SecretString, UnreadableCall, WebhookCall,
};

/// The name of the channel.
pub const NAME: &str = "telegram";

/// The URL of the public Bot API.
pub const API: &str = "https://api.telegram.org";
/// The timeout of a long poll. Telegram then answers that there are no updates.
const POLL: Duration = Duration::from_secs(50);
/// The longest text that is shown in reply to a press.
const LONGEST_TOAST: usize = 200;

/// The settings of the channel.
#[derive(Debug, Clone)]
pub struct TelegramSettings {
    /// The URL of the Bot API: [`API`], or a self-hosted server.
    pub api: Url,
    /// The bot's token, as `@BotFather` shows it.
    pub token: SecretString,
    /// How the server receives updates.
    pub hearing: UpdateSource,
}

/// How the server receives updates.
#[derive(Debug, Clone)]
pub enum UpdateSource {
    /// The server polls Telegram.
    Poll,
    /// Telegram calls the server.
    Webhook {
        /// The webhook URL, which must use HTTPS.
        url: Url,
        /// The secret that Telegram sends with each call: 1 to 256 characters out of `A-Z`, `a-z`,
        /// `0-9`, `_` and `-`.
        secret: SecretString,
    },
}

/// The Telegram channel.
#[derive(Debug)]
pub struct Telegram {
    settings: TelegramSettings,
    client: Client,
}

impl Telegram {
    /// Creates the channel, or says what is wrong with its settings.
    pub fn new(settings: TelegramSettings, client: Client) -> Result<Self, String> {
        let token = settings.token.reveal();
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let whole = token.split_once(':').is_some_and(|(id, rest)| {
            !id.is_empty()
                && id.chars().all(|c| c.is_ascii_digit())
                && !rest.is_empty()
                && rest.chars().all(known)
        });
        if !whole {
            return Err(
                "telegram_token must look like 123456:ABC-DEF; @BotFather shows it".to_owned()
            );
        }
        if let UpdateSource::Webhook { secret, .. } = &settings.hearing {
            let secret = secret.reveal();
            if !(1..=256).contains(&secret.len()) || !secret.chars().all(known) {
                let wrong = "the Telegram webhook secret must have 1 to 256 characters of A-Z, \
                             a-z, 0-9, _ and -";
                return Err(wrong.to_owned());
            }
        }
        Ok(Self { settings, client })
    }

    /// Sends a message. If a group became a supergroup, the message goes to its new chat id.
    async fn send(
        &self,
        mut message: Value,
        token: Option<&SecretString>,
    ) -> Result<SentTelegram, DeliveryError> {
        let first = self.call("sendMessage", &message, token, None).await;
        let moved = match &first {
            Err(TelegramError::Refused(refused)) => refused.moved_to,
            Ok(_) | Err(TelegramError::Failed(_)) => None,
        };
        let Some(chat) = moved else { return Ok(first?) };
        put(&mut message, "chat_id", chat.into());
        // Message ids of the old group do not exist in the new one.
        put(&mut message, "reply_parameters", Value::Null);
        Ok(self.call("sendMessage", &message, token, None).await?)
    }

    /// Polls once. The next poll acknowledges the updates of this one, and only then does Telegram
    /// drop them. A poll without anything to acknowledge names no offset, because Telegram
    /// sometimes restarts its numbering.
    async fn poll(
        &self,
        taken: Option<i64>,
        handler: &dyn InboundHandler,
    ) -> Result<Option<i64>, DeliveryError> {
        let mut parameters =
            json!({ "timeout": POLL.as_secs(), "allowed_updates": ALLOWED_UPDATES });
        if let Some(last) = taken {
            put(&mut parameters, "offset", last.saturating_add(1).into());
        }
        let patience = POLL + Duration::from_secs(10);
        let updates: Vec<Value> =
            self.call("getUpdates", &parameters, None, Some(patience)).await?;
        let mut taken = None;
        for update in updates {
            let id = update.get("update_id").and_then(Value::as_i64);
            match serde_json::from_value::<Update>(update) {
                Ok(update) => {
                    if let Some(inbound) = update.inbound() {
                        handler.handle(inbound).await?;
                    }
                }
                // Without skipping it, Telegram would repeat this update and block all later ones.
                Err(error) => {
                    tracing::warn!(update.id = id, %error, "cannot parse a Telegram update");
                }
            }
            taken = taken.max(id);
        }
        Ok(taken)
    }
}

/// Telegram's description of a message it accepted.
#[derive(Deserialize)]
struct SentTelegram {
    message_id: i64,
    chat: Chat,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
}

/// The stored position of a message, for updating it.
#[derive(Deserialize)]
struct MessagePosition {
    chat: i64,
    message: i64,
}

#[derive(Deserialize)]
struct Bot {
    username: String,
}

#[derive(Deserialize)]
struct WebhookInfo {
    last_error_message: Option<String>,
}

/// Sets a member of an object. Null removes it.
fn put(object: &mut Value, name: &str, value: Value) {
    let Value::Object(members) = object else { return };
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(name.to_owned(), value);
    }
}

impl ChannelSetup for TelegramSettings {
    type Channel = Telegram;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        // Telegram answers a poll only when there is an update.
        Telegram::new(self, context.patient_http()?).map(Arc::new)
    }
}

#[async_trait]
impl Channel for Telegram {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render::render(card)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let chat: i64 = Some(outbound.to)
            .filter(|to| is_telegram_id(to))
            .and_then(|to| to.parse().ok())
            .ok_or_else(|| DeliveryError::never("a Telegram person or group must be a number"))?;
        let mut message = outbound.message.clone();
        put(&mut message, "chat_id", chat.into());
        let above = outbound.thread.and_then(|id| id.split_once(':'));
        if let Some((_, number)) = above.filter(|(there, _)| *there == outbound.to)
            && let Ok(number) = number.parse::<i64>()
        {
            let below = json!({ "message_id": number, "allow_sending_without_reply": true });
            put(&mut message, "reply_parameters", below);
        }
        let sent = self.send(message, outbound.token).await?;
        let place = json!({ "chat": sent.chat.id, "message": sent.message_id });
        Ok(PostedMessage { id: message_key(sent.chat.id, sent.message_id), thread: None, place })
    }

    async fn update(
        &self,
        posted: &PostedMessage,
        message: &Value,
        token: Option<&SecretString>,
    ) -> Result<(), DeliveryError> {
        let place = MessagePosition::deserialize(&posted.place).map_err(|_| {
            DeliveryError::never("the Telegram message of the notification is unknown")
        })?;
        let mut message = message.clone();
        put(&mut message, "chat_id", place.chat.into());
        put(&mut message, "message_id", place.message.into());
        match self.call::<Value>("editMessageText", &message, token, None).await {
            Ok(_) => Ok(()),
            Err(wrong) if wrong.says("message is not modified") => Ok(()),
            Err(wrong) => Err(wrong.into()),
        }
    }

    /// Telegram neither signs nor dates its calls. A caller that knows the secret counts as
    /// Telegram, and repetitions have the same id.
    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        let UpdateSource::Webhook { secret, .. } = &self.settings.hearing else {
            return Err(ForgedCall("this server polls Telegram; webhooks are not configured"));
        };
        let shown = call
            .header("x-telegram-bot-api-secret-token")
            .ok_or(ForgedCall("the Telegram secret is missing or duplicated"))?;
        if bool::from(shown.as_bytes().ct_eq(secret.reveal().as_bytes())) {
            Ok(())
        } else {
            Err(ForgedCall("the Telegram secret is wrong"))
        }
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let update: Update = serde_json::from_slice(call.body)
            .map_err(|error| UnreadableCall(format!("expected a Bot API Update: {error}")))?;
        Ok(ParsedCall::of(update.inbound().into_iter().collect()))
    }

    /// Acknowledges a press even without a text: until then, phones show a progress indicator.
    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        if let Some(query) = inbound.place.get("query") {
            let mut toast = json!({ "callback_query_id": query });
            if !words.is_empty() {
                let shown = beginning(words, LONGEST_TOAST - 1, units);
                let more = if shown == words.trim_end() { "" } else { "…" };
                put(&mut toast, "text", format!("{shown}{more}").into());
                put(&mut toast, "show_alert", true.into());
            }
            self.call::<Value>("answerCallbackQuery", &toast, None, None).await?;
            return Ok(());
        }
        let Some(chat) = inbound.place.get("chat").filter(|_| !words.is_empty()) else {
            return Ok(());
        };
        let mut message = json!({
            "chat_id": chat,
            "text": beginning(words, render::LONGEST, units),
            "link_preview_options": { "is_disabled": true },
        });
        if let Some(number) = inbound.place.get("message") {
            let below = json!({ "message_id": number, "allow_sending_without_reply": true });
            put(&mut message, "reply_parameters", below);
        }
        self.send(message, None).await.map(|_| ())
    }

    /// Polls in a loop, or registers the webhook and then waits. Never drops pending updates.
    async fn listen(&self, handler: &dyn InboundHandler) -> Result<(), DeliveryError> {
        match &self.settings.hearing {
            UpdateSource::Poll => {
                let kept = json!({ "drop_pending_updates": false });
                self.call::<Value>("deleteWebhook", &kept, None, None).await?;
                let mut taken = None;
                loop {
                    taken = self.poll(taken, handler).await?;
                }
            }
            UpdateSource::Webhook { url, secret } => {
                let webhook = json!({
                    "url": url,
                    "secret_token": secret.reveal(),
                    "allowed_updates": ALLOWED_UPDATES,
                    "drop_pending_updates": false,
                });
                self.call::<Value>("setWebhook", &webhook, None, None).await?;
                std::future::pending().await
            }
        }
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        let bot: Bot = self.call("getMe", &json!({}), None, None).await?;
        let name = format!("the bot is @{}", bot.username);
        let UpdateSource::Webhook { url, .. } = &self.settings.hearing else { return Ok(name) };
        let info: WebhookInfo = self.call("getWebhookInfo", &json!({}), None, None).await?;
        match info.last_error_message {
            None => Ok(format!("{name}, and Telegram calls {url}")),
            Some(words) => {
                Ok(format!("{name}; the last error when Telegram called {url}: {words}"))
            }
        }
    }
}

// Calls of the Bot API, and their errors.

const PLATFORM: &str = "Telegram";

/// An error from the Bot API, with its description.
#[derive(Debug)]
struct BotApiError {
    code: u64,
    words: String,
    /// The new chat id of a group that became a supergroup.
    moved_to: Option<i64>,
}

/// Why a call failed.
#[derive(Debug)]
enum TelegramError {
    Refused(BotApiError),
    Failed(DeliveryError),
}

impl Telegram {
    /// Calls a method, as another bot if a token is given.
    async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        parameters: &Value,
        token: Option<&SecretString>,
        patience: Option<Duration>,
    ) -> Result<T, TelegramError> {
        let token = token.unwrap_or(&self.settings.token).reveal();
        let mut call = self
            .client
            .post(join_path(&self.settings.api, &format!("bot{token}/{method}")))
            .json(parameters);
        if let Some(patience) = patience {
            call = call.timeout(patience);
        }
        let answer = platform_http::read_response(PLATFORM, call.send().await)
            .await
            .map_err(TelegramError::Failed)?;
        if answer.status.is_success() && answer.body.get("ok") == Some(&Value::Bool(true)) {
            let result = answer.body.get("result").cloned().unwrap_or_default();
            return serde_json::from_value(result).map_err(|_| {
                let why = format!("Telegram sent an unknown response to {method}");
                TelegramError::Failed(DeliveryError::later(why))
            });
        }
        Err(error_from(&answer))
    }
}

fn error_from(answer: &PlatformResponse) -> TelegramError {
    let parameters = answer.body.get("parameters");
    let number = |name: &str| parameters.and_then(|p| p.get(name));
    if let Some(later) = answer.temporary_error(PLATFORM) {
        let said = number("retry_after").and_then(Value::as_u64).map(Duration::from_secs);
        return TelegramError::Failed(match later {
            DeliveryError::Later { why, after } => {
                DeliveryError::Later { why, after: said.or(after) }
            }
            never @ (DeliveryError::Never { .. } | DeliveryError::Gone { .. }) => never,
        });
    }
    TelegramError::Refused(BotApiError {
        code: u64::from(answer.status.as_u16()),
        words: answer
            .body
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        moved_to: number("migrate_to_chat_id").and_then(Value::as_i64),
    })
}

impl TelegramError {
    /// Whether the Bot API rejected the call with a description that contains these words.
    fn says(&self, words: &str) -> bool {
        matches!(self, Self::Refused(refused) if refused.words.contains(words))
    }
}

impl From<TelegramError> for DeliveryError {
    fn from(wrong: TelegramError) -> Self {
        match wrong {
            TelegramError::Failed(failed) => failed,
            TelegramError::Refused(refused) => refused.into_delivery_error(),
        }
    }
}

impl BotApiError {
    /// The error in words for the operator, with what to do about it.
    fn into_delivery_error(self) -> DeliveryError {
        let says = |words: &str| self.words.contains(words);
        let why = match self.code {
            401 | 404 => "Telegram does not know this bot; check telegram_token, which @BotFather \
                          shows"
                .to_owned(),
            409 if says("webhook") => {
                let why = "another program set a webhook for this Telegram bot; use the bot in \
                           one program only";
                return DeliveryError::later(why);
            }
            409 => {
                let why = "another program polls this Telegram bot; use the bot on one server \
                           only, or set a webhook";
                return DeliveryError::later(why);
            }
            403 if says("blocked") => "the person has blocked the bot".to_owned(),
            403 if says("initiate") => {
                "the person has never written to the bot; ask them to open it and press \
                 Start"
                    .to_owned()
            }
            403 if says("deactivated") => "the person's Telegram account no longer \
                                           exists"
                .to_owned(),
            403 => format!(
                "the bot cannot write to this group; add it to the group again ({})",
                self.words
            ),
            400 if says("chat not found") => {
                "Telegram cannot find this chat; the person must write to the bot first, or the \
                 bot must be in the group"
                    .to_owned()
            }
            400 if says("message to edit not found") || says("can't be edited") => {
                "the Telegram message no longer exists, so it cannot be changed".to_owned()
            }
            400 if says("query is too old") => {
                "the button was pressed too long ago for Telegram to show a text".to_owned()
            }
            code => format!("Telegram refused it ({code}): {}", self.words),
        };
        DeliveryError::never(why)
    }
}
