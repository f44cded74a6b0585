//! Devices that receive push notifications.

use kernel::Time;
use kernel::audit::Digest;
use serde::{Deserialize, Serialize};

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
    /// When the browser ends it, in milliseconds since 1970. Not kept: the push service says so then.
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
pub struct Devices {
    /// What a browser must know to subscribe (`applicationServerKey`); `null` where no devices are told.
    pub key: Option<String>,
    /// At most ten, the oldest first.
    pub devices: Vec<DeviceView>,
}

/// What came of a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceTried {
    /// In a word.
    pub result: Tried,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a push service said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tried {
    /// It has it.
    Taken,
    /// There is no such device any more; it is forgotten.
    Gone,
    /// It could not be reached, or wants to be left alone for a while.
    Later,
    /// It will not take it.
    Refused,
}
