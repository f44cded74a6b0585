//! Calls of the Bot API, and their errors.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Telegram;
use crate::wire::{self, Answer, below};
use crate::{DeliveryError, Secret};

const PLATFORM: &str = "Telegram";

/// An error from the Bot API, with its description.
#[derive(Debug)]
pub(super) struct Refused {
    code: u64,
    pub(super) words: String,
    /// The new chat id of a group that became a supergroup.
    pub(super) moved_to: Option<i64>,
}

/// Why a call failed.
#[derive(Debug)]
pub(super) enum Wrong {
    Refused(Refused),
    Failed(DeliveryError),
}

impl Telegram {
    /// Calls a method, as another bot if a token is given.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        parameters: &Value,
        token: Option<&Secret>,
        patience: Option<Duration>,
    ) -> Result<T, Wrong> {
        let token = token.unwrap_or(&self.settings.token).reveal();
        let mut call = self
            .client
            .post(below(&self.settings.api, &format!("bot{token}/{method}")))
            .json(parameters);
        if let Some(patience) = patience {
            call = call.timeout(patience);
        }
        let answer = wire::answer(PLATFORM, call.send().await).await.map_err(Wrong::Failed)?;
        if answer.status.is_success() && answer.body.get("ok") == Some(&Value::Bool(true)) {
            let result = answer.body.get("result").cloned().unwrap_or_default();
            return serde_json::from_value(result).map_err(|_| {
                let why = format!("Telegram answered {method} with something unknown");
                Wrong::Failed(DeliveryError::later(why))
            });
        }
        Err(wrong(&answer))
    }
}

fn wrong(answer: &Answer) -> Wrong {
    let parameters = answer.body.get("parameters");
    let number = |name: &str| parameters.and_then(|p| p.get(name));
    if let Some(later) = answer.later(PLATFORM) {
        let said = number("retry_after").and_then(Value::as_u64).map(Duration::from_secs);
        return Wrong::Failed(match later {
            DeliveryError::Later { why, after } => {
                DeliveryError::Later { why, after: said.or(after) }
            }
            never @ (DeliveryError::Never { .. } | DeliveryError::Gone { .. }) => never,
        });
    }
    Wrong::Refused(Refused {
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

impl Wrong {
    /// Whether the Bot API rejected the call with a description that contains these words.
    pub(super) fn says(&self, words: &str) -> bool {
        matches!(self, Self::Refused(refused) if refused.words.contains(words))
    }
}

impl From<Wrong> for DeliveryError {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Failed(failed) => failed,
            Wrong::Refused(refused) => refused.explained(),
        }
    }
}

impl Refused {
    /// The error in words for the operator, with what to do about it.
    fn explained(self) -> DeliveryError {
        let says = |words: &str| self.words.contains(words);
        let why = match self.code {
            401 | 404 => "Telegram does not know this bot: check the bot's token, which @BotFather \
                          shows"
                .to_owned(),
            409 if says("webhook") => {
                let why = "Telegram sends what this bot hears to a webhook that something else has \
                           set: let one program alone use this bot";
                return DeliveryError::later(why);
            }
            409 => {
                let why = "another program asks Telegram what this bot hears: let one server alone \
                           use this bot, or set a webhook";
                return DeliveryError::later(why);
            }
            403 if says("blocked") => "they have blocked the bot".to_owned(),
            403 if says("initiate") => {
                "they have never written to the bot: ask them to open it and press Start".to_owned()
            }
            403 if says("deactivated") => "their account of Telegram is gone".to_owned(),
            403 => format!("the bot may not write there: add it to the group again ({})", self.words),
            400 if says("chat not found") => {
                "Telegram knows no such chat: they have to write to the bot first, or the bot has to be \
                 in the group"
                    .to_owned()
            }
            400 if says("message to edit not found") || says("can't be edited") => {
                "the message is gone from Telegram, so it cannot be changed".to_owned()
            }
            400 if says("query is too old") => {
                "it was pressed too long ago for Telegram to show words".to_owned()
            }
            code => format!("Telegram refused it ({code}): {}", self.words),
        };
        DeliveryError::never(why)
    }
}
