//! The versions of the protocol and their negotiation. HACP-086, HACP-087.
//!
//! HACP 0.1 was renamed HLP in 0.2, which contains all of it. 0.2 is the default. With the header
//! [`VERSION_HEADER`] a client selects 0.1, which rejects later parameters and hides later members.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::json;

use super::errors::{HacpError, code};
use super::operation::Operation;
use super::parse::{Members, object};
use super::wire::{Nested, Stamp, Stamped};

/// The header in which a client requests a version, and every response states it.
pub const VERSION_HEADER: &str = "hacp-version";
/// The header that states `schema_version` for a list.
pub const SCHEMA_HEADER: &str = "hacp-schema-version";
/// The header that states `profile` for a list.
pub const PROFILE_HEADER: &str = "hacp-profile";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HacpVersion {
    /// HACP 0.1.0-draft.
    V01,
    /// HLP 0.2.0-draft, with Countersign's extensions.
    #[default]
    V02,
}

impl HacpVersion {
    /// Every version, newest first, in the order of negotiation.
    pub const ALL: [Self; 2] = [Self::V02, Self::V01];

    /// The value of `spec_version` on the wire.
    pub fn spec(self) -> &'static str {
        match self {
            Self::V01 => "0.1.0-draft",
            Self::V02 => "0.2.0-draft",
        }
    }

    /// The value of `schema_version` on the wire.
    pub fn schema(self) -> &'static str {
        match self {
            Self::V01 => "0.1",
            Self::V02 => "0.2",
        }
    }

    /// `profile`: the conformance claim.
    pub fn profile(self) -> &'static str {
        match self {
            Self::V01 => "HACP",
            Self::V02 => "HLP-industrial",
        }
    }

    /// The version that the header requests; the newest if there is no header.
    pub fn from_header(header: Option<&str>) -> Result<Self, HacpError> {
        let Some(name) = header else { return Ok(Self::default()) };
        let known = Self::ALL.into_iter().find(|version| version.spec() == name.trim());
        known.ok_or_else(|| {
            HacpError::new(code::VERSION_UNSUPPORTED, "unsupported version")
                .with("requested", json!(name))
                .with("supported", json!(Self::ALL.map(Self::spec)))
        })
    }

    /// The version members of every object.
    pub fn stamp(self) -> Stamp {
        let [spec_version, schema_version, profile] =
            [self.spec(), self.schema(), self.profile()].map(Cow::Borrowed);
        Stamp { spec_version, schema_version, profile }
    }

    /// An object with its version members.
    pub fn stamped<T>(self, object: T) -> Stamped<T> {
        Stamped { object, stamp: self.stamp() }
    }

    /// A nested object with its version members.
    pub(super) fn nested<T>(self, object: T) -> Nested<T> {
        Nested { object, stamp: Some(self.stamp()) }
    }

    /// A value that exists from 0.2 on.
    pub(super) fn since_v02<T>(self, value: impl FnOnce() -> T) -> Option<T> {
        (self >= Self::V02).then(value)
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct VersionResponse {
    /// The version of the response.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// Every supported version, newest first.
    pub supported: [Stamp; 2],
    /// The operations of this version.
    pub operations: Vec<&'static str>,
    pub transports: [&'static str; 3],
}

/// The body of `GET /hacp/v1/version`.
pub fn version_response(version: HacpVersion) -> VersionResponse {
    let operations = Operation::ALL.into_iter().filter(|operation| operation.is_in(version));
    VersionResponse {
        stamp: version.stamp(),
        supported: HacpVersion::ALL.map(HacpVersion::stamp),
        operations: operations.map(Operation::name).collect(),
        transports: ["POST /hacp/v1/ops/{operation}", "GET /hacp/v1/events", "GET /hacp/ws"],
    }
}

/// `POST /hacp/v1/version`: the newest version that matches the client's `spec_versions`,
/// `schema_versions` and `profiles`. An absent list matches every version. Without a match, the
/// negotiation fails (HACP-087).
pub fn negotiate(body: &[u8]) -> Result<HacpVersion, HacpError> {
    let body = object(body)?;
    let members = Members::new(&body, "");
    members.only(&["spec_versions", "schema_versions", "profiles"])?;
    let offered = [
        ("spec_versions", HacpVersion::spec as fn(HacpVersion) -> &'static str),
        ("schema_versions", HacpVersion::schema),
        ("profiles", HacpVersion::profile),
    ];
    let mut common = HacpVersion::ALL.to_vec();
    for (key, of) in offered {
        let Some(offer) = members.texts(key)? else { continue };
        common.retain(|version| offer.iter().any(|name| name == of(*version)));
        if common.is_empty() {
            let message = format!("{key}: this server supports none of these");
            return Err(HacpError::new(code::VERSION_UNSUPPORTED, message)
                .with("field", json!(key))
                .with("offered", json!(offer))
                .with("supported", json!(HacpVersion::ALL.map(of))));
        }
    }
    Ok(common.into_iter().max().unwrap_or_default())
}
