//! Notification settings on the wire.

use std::collections::BTreeSet;

use kernel::audit::Digest;
use kernel::directory::{ContactMethod, DigestFrequency, NewNotificationPreferences};
use kernel::follow_up::NotificationReason;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

/// How I am told that something waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Notices))]
pub struct NotificationSettingsView {
    /// By which means, in the order in which they are tried.
    pub ways: Vec<ContactMethodView>,
    /// How often I am told of what can wait.
    pub digest: DigestFrequency,
}

/// One means by which somebody is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = NoticeWay))]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ContactMethodView {
    /// Its id.
    pub id: Digest,
    /// What it is: `devices`, or an address such as `email:ada@example.com`.
    pub means: ContactMethod,
    /// Whether it was shown to be theirs; nothing goes to an address before that.
    pub verified: bool,
    /// Whether they turned it off.
    pub off: bool,
    /// Whether this server can tell anybody by such a means.
    pub carried: bool,
    /// Whether it can be removed: what they added, or an administrator did.
    pub removable: bool,
}

/// `PUT /api/v1/me/notices`. What is left out stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = NoticesBody))]
pub struct NotificationSettingsBody {
    /// Which means come first; others follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<ContactMethod>>,
    /// By which means I am not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<ContactMethod>>))]
    pub off: Option<BTreeSet<ContactMethod>>,
    /// How often I am told of what can wait.
    #[serde(
        default,
        deserialize_with = "kernel::strict::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub digest: Option<DigestFrequency>,
}

impl NotificationSettingsBody {
    /// The settings of this person.
    pub fn of(self, human: HumanId) -> NewNotificationPreferences {
        let Self { order, off, digest } = self;
        NewNotificationPreferences { human, order, off, digest }
    }
}

/// `POST /api/v1/me/contacts/{id}/verify`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CodeBody {
    /// The code that was sent there.
    #[cfg_attr(feature = "openapi", schema(example = "042137"))]
    pub code: String,
}

// Devices that receive push notifications.

/// A device to be told: a browser's push subscription, as its `toJSON` writes it.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewDevice {
    /// Where the push service takes what is for it.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub endpoint: String,
    /// What is for it is encrypted with these.
    pub keys: DeviceKeys,
    /// What to call it.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 100))]
    pub label: String,
    /// When the browser ends it, in milliseconds since 1970. Not kept: the push service says so
    /// then.
    #[serde(default, rename = "expirationTime")]
    pub expiration_time: Option<f64>,
}

/// The keys of a push subscription.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceKeys {
    /// A point of P-256, 65 bytes in Base64 for addresses.
    pub p256dh: String,
    /// 16 bytes in Base64 for addresses.
    pub auth: String,
}

/// A device that is told. Its address is a secret and never shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Device))]
pub struct DeviceView {
    /// Its id.
    pub id: Digest,
    /// What it is called.
    pub label: String,
    /// The push service, by the name of its host.
    pub service: String,
    /// Since when it is told.
    pub added_at: Time,
}

/// My devices.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Devices))]
pub struct DeviceListView {
    /// What a browser must know to subscribe (`applicationServerKey`); `null` where no devices are
    /// told.
    pub key: Option<String>,
    /// At most ten, the oldest first.
    pub devices: Vec<DeviceView>,
}

/// What came of a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeviceTried))]
pub struct DeviceTestView {
    /// In a word.
    pub result: DeviceTestResult,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a push service said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Tried))]
pub enum DeviceTestResult {
    /// It has it.
    Taken,
    /// There is no such device any more; it is forgotten.
    Gone,
    /// It could not be reached, or wants to be left alone for a while.
    Later,
    /// It will not take it.
    Refused,
}

// Notifications that were sent about an ask.

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
    /// What carries it: `devices`, `email`, `slack`, `sms`, `whatsapp`, `telegram`, `ntfy` or
    /// `webhook`.
    pub channel: String,
    /// To whom, for people alone; nobody, if it went where the agent wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<HumanId>,
    /// Why they were told.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub why: NotificationReason,
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
