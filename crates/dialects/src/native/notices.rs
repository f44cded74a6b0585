//! Notification settings on the wire.

use std::collections::BTreeSet;

use kernel::HumanId;
use kernel::audit::Digest;
use kernel::directory::{Cadence, Means, NewNotices};
use serde::{Deserialize, Serialize};

/// How I am told that something waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Notices))]
pub struct NoticesView {
    /// By which means, in the order in which they are tried.
    pub ways: Vec<WayView>,
    /// How often I am told of what can wait.
    pub digest: Cadence,
}

/// One means by which somebody is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = NoticeWay))]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct WayView {
    /// Its id.
    pub id: Digest,
    /// What it is: `devices`, or an address such as `email:ada@example.com`.
    pub means: Means,
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
pub struct NoticesBody {
    /// Which means come first; others follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<Means>>,
    /// By which means I am not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<Means>>))]
    pub off: Option<BTreeSet<Means>>,
    /// How often I am told of what can wait.
    #[serde(
        default,
        deserialize_with = "kernel::strict::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub digest: Option<Cadence>,
}

impl NoticesBody {
    /// The settings of this person.
    pub fn of(self, human: HumanId) -> NewNotices {
        let Self { order, off, digest } = self;
        NewNotices { human, order, off, digest }
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
