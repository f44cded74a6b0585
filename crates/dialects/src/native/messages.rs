//! Notifications that were sent about an ask.

use kernel::follow_up::Occasion;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

/// `GET /api/v1/asks/{id}/messages`, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Messages))]
pub struct MessagesView {
    /// Each.
    pub messages: Vec<MessageView>,
}

/// One message about an ask, to one person or place, by one means.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Message))]
pub struct MessageView {
    /// What carries it: `devices`, `email`, `slack`, `sms`, `whatsapp`, `telegram`, `ntfy` or `webhook`.
    pub channel: String,
    /// To whom, for people alone; nobody, if it went where the agent wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<HumanId>,
    /// Why they were told.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub why: Occasion,
    /// How it stands: `waiting`, `sent`, `delivered`, `read` or `failed`.
    pub state: String,
    /// What went wrong, for people alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was first tried.
    pub at: Time,
    /// When anything last became of it.
    pub updated_at: Time,
}
