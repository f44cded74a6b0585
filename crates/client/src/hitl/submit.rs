//! Submits an action that a person took in a messenger. Section 6 of the protocol.
//!
//! Only the person's own action may trigger a submit, and `submit_token` stays with the agent. A
//! button holds [`Case::button`], which names the case and the action and grants no access
//! (HITL-037).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Case, Follower, HitlError, Result};

const CHANNELS: [&str; 5] = [
    "telegram_inline_button",
    "slack_block_action",
    "discord_component",
    "whatsapp_reply_button",
    "teams_adaptive_card",
];
const PLATFORMS: [&str; 5] = ["telegram", "slack", "discord", "whatsapp", "teams"];

/// The person who pressed the button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubmittedBy {
    /// `telegram`, `slack`, `discord`, `whatsapp`, `teams` or `x-…`.
    pub platform: String,
    /// The person's id on that platform.
    pub platform_user_id: String,
    /// The person's name on that platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// The service accepted the answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Submitted {
    pub case_id: String,
    /// The time, if the service names it.
    pub completed_at: Option<Timestamp>,
    /// The case that continues this one, if there is one.
    pub next_case_id: Option<String>,
}

impl Case {
    /// The data of a button: `case_id:action`, at most `limit` bytes (64 for Telegram, 100 for
    /// Discord, 256 for `WhatsApp`, 2000 for Slack). It never holds a token.
    pub fn button(&self, action: &str, limit: usize) -> Result<String> {
        self.inline(action)?;
        let button = format!("{}:{action}", self.case_id);
        if button.len() > limit {
            let said = format!("{button:?} exceeds {limit} bytes; use a shorter name");
            return Err(HitlError::Invalid(said));
        }
        Ok(button)
    }

    /// The case id and the action in a button's data.
    pub fn pressed(button: &str) -> Option<(&str, &str)> {
        button.rsplit_once(':').filter(|(id, action)| !id.is_empty() && !action.is_empty())
    }

    fn inline(&self, action: &str) -> Result<(&reqwest::Url, &str)> {
        let Some((url, token)) = &self.submit else {
            let said = format!("{} can only be answered on its page", self.case_id);
            return Err(HitlError::NotInline(said));
        };
        if self.inline_actions.as_ref().is_some_and(|may| !may.iter().any(|one| one == action)) {
            let said = format!("{action:?} is possible on the page only");
            return Err(HitlError::NotInline(said));
        }
        Ok((url, token))
    }
}

impl Follower {
    /// Submits a person's action. Call it only from the handler of their button. It is sent once:
    /// after a failure, follow the case to learn whether the service received it. `evidence` holds
    /// the person's proofs (`verification_evidence` of 0.8). They are passed on unchanged; an agent
    /// neither creates nor changes them (HITL-224).
    pub async fn submit(
        &self,
        case: &Case,
        action: &str,
        data: Map<String, Value>,
        via: &str,
        by: &SubmittedBy,
        evidence: &[Value],
    ) -> Result<Submitted> {
        let (url, token) = case.inline(action)?;
        named("submitted_via", via, &CHANNELS)?;
        named("submitted_by.platform", &by.platform, &PLATFORMS)?;
        if by.platform_user_id.is_empty() {
            return Err(HitlError::Invalid("submitted_by.platform_user_id is empty".to_owned()));
        }
        let mut body =
            json!({ "action": action, "data": data, "submitted_via": via, "submitted_by": by });
        if let (false, Some(body)) = (evidence.is_empty(), body.as_object_mut()) {
            body.insert("verification_evidence".to_owned(), json!(evidence));
        }
        let answer = self.wire.call(url, self.wire.post(url, token, &body)).await?;
        let bytes =
            answer.bytes().await.map_err(|source| super::http_client::unreachable(url, source))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| HitlError::Malformed(format!("the response to a submit: {error}")))
    }
}

fn named(field: &str, name: &str, known: &[&str]) -> Result<()> {
    let custom = name.strip_prefix("x-").is_some_and(|rest| !rest.is_empty());
    if known.contains(&name) || custom {
        return Ok(());
    }
    Err(HitlError::Invalid(format!(
        "{field} is one of {}, or a custom name that starts with x-, not {name:?}",
        known.join(", ")
    )))
}
