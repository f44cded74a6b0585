//! Notification settings on the wire.

use std::collections::BTreeSet;

use kernel::audit::Digest;
use kernel::directory::{ContactMethod, DigestFrequency, NewNotificationPreferences};
use kernel::follow_up::NotificationReason;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

/// The notification settings of the caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Notices))]
pub struct NotificationSettingsView {
    /// The contact methods, in the order in which the server tries them.
    pub ways: Vec<ContactMethodView>,
    /// How often the server sends a digest of requests that are not urgent.
    pub digest: DigestFrequency,
}

/// A contact method.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = NoticeWay))]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ContactMethodView {
    /// The ID.
    pub id: Digest,
    /// `devices`, or an address such as `email:ada@example.com`.
    pub means: ContactMethod,
    /// Whether the address is verified. The server sends requests to verified addresses only.
    pub verified: bool,
    /// Whether the person turned it off.
    pub off: bool,
    /// Whether this server supports this kind of contact method.
    pub carried: bool,
    /// Whether it can be removed, because the person or an administrator added it.
    pub removable: bool,
}

/// `PUT /api/v1/me/notices`. Fields that are left out do not change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = NoticesBody))]
pub struct NotificationSettingsBody {
    /// The contact methods to try first, in order; the others follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<ContactMethod>>,
    /// The contact methods that are turned off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<ContactMethod>>))]
    pub off: Option<BTreeSet<ContactMethod>>,
    /// How often the server sends a digest of requests that are not urgent.
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
    /// The code from the message.
    #[cfg_attr(feature = "openapi", schema(example = "042137"))]
    pub code: String,
}

// Devices that receive push notifications.

/// A device for push notifications: a browser's push subscription in the format of its `toJSON`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewDevice {
    /// The URL of the push service for this device.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub endpoint: String,
    /// The keys with which messages to the device are encrypted.
    pub keys: DeviceKeys,
    /// A label for lists.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 100))]
    pub label: String,
    /// When the subscription expires, in milliseconds since 1970. The server ignores it, because
    /// the push service reports the expiry.
    #[serde(default, rename = "expirationTime")]
    pub expiration_time: Option<f64>,
}

/// The keys of a push subscription.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceKeys {
    /// A P-256 public key: 65 bytes in base64url.
    pub p256dh: String,
    /// 16 bytes in base64url.
    pub auth: String,
}

/// A device for push notifications. Its URL is secret and never shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Device))]
pub struct DeviceView {
    /// The ID.
    pub id: Digest,
    /// The label.
    pub label: String,
    /// The host name of the push service.
    pub service: String,
    /// When the device was added.
    pub added_at: Time,
}

/// My devices.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Devices))]
pub struct DeviceListView {
    /// The `applicationServerKey` with which a browser subscribes; `null` if push notifications are
    /// turned off.
    pub key: Option<String>,
    /// At most ten devices, oldest first.
    pub devices: Vec<DeviceView>,
}

/// The result of a test notification.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeviceTried))]
pub struct DeviceTestView {
    /// The result.
    pub result: DeviceTestResult,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The response of a push service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Tried))]
pub enum DeviceTestResult {
    /// The push service accepted the notification.
    Taken,
    /// The subscription no longer exists; the server removed the device.
    Gone,
    /// The push service is unreachable or rate-limits the server.
    Later,
    /// The push service refused the notification.
    Refused,
}

// Notifications that were sent about an ask.

/// `GET /api/v1/asks/{id}/messages`, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Messages))]
pub struct MessagesView {
    /// The messages, oldest first.
    pub messages: Vec<MessageView>,
}

/// One message about an ask, to one address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Message))]
pub struct MessageView {
    /// The channel: `devices`, `email`, `slack`, `sms`, `whatsapp`, `telegram`, `ntfy` or
    /// `webhook`.
    pub channel: String,
    /// The recipient, which agents do not see; `null` if the message went to the `place` of the
    /// ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<HumanId>,
    /// The reason for the message.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub why: NotificationReason,
    /// The state: `waiting`, `sent`, `delivered`, `read` or `failed`.
    pub state: String,
    /// The error, which agents do not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time of the first attempt.
    pub at: Time,
    /// The time of the last change.
    pub updated_at: Time,
}
