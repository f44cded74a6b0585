//! Ids: ULIDs for objects the server creates, chosen names for objects that people name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::audit::Digest;

/// A text that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct BadId {
    /// The accepted format.
    pub expected: &'static str,
}

macro_rules! made_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// The prefix of its own textual form.
            pub const PREFIX: &'static str = $prefix;

            /// Creates an id. The caller generates the ULID.
            pub const fn new(ulid: Ulid) -> Self {
                Self(ulid)
            }

            /// The bare ULID, sortable by creation time.
            pub const fn ulid(self) -> Ulid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let expected = concat!($prefix, " followed by a ULID");
                let bare = text.strip_prefix($prefix).ok_or(BadId { expected })?;
                Ok(Self(ulid(bare).ok_or(BadId { expected })?))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        #[cfg(feature = "openapi")]
        crate::openapi::text!($name, concat!("^", $prefix, "[0-7][0-9A-HJKMNP-TV-Z]{25}$"));

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Accepts only the canonical spelling, so that an ask has exactly one id.
fn ulid(text: &str) -> Option<Ulid> {
    Ulid::from_string(text).ok().filter(|u| u.to_string() == text)
}

made_id!(
    /// The id of an ask. Each dialect shows the same ULID with its own prefix.
    AskId,
    "ask_"
);
made_id!(
    /// The id of a credential: agent key, human token, sign-in link or session.
    KeyId,
    "key_"
);
made_id!(
    /// The id of a delegation rule.
    RuleId,
    "rule_"
);
made_id!(
    /// The id of a webhook endpoint.
    WebhookId,
    "hook_"
);
made_id!(
    /// The id of a task, which is work that a person owns.
    TaskId,
    "task_"
);
made_id!(
    /// The id of a review of a delivery.
    ReviewId,
    "rev_"
);
made_id!(
    /// The id of an artifact, which is a deliverable.
    ArtifactId,
    "art_"
);
made_id!(
    /// The id of an upload: bytes that are being received, and then stored until an artifact uses
    /// them.
    UploadId,
    "upl_"
);
made_id!(
    /// The id of a run of an agent's runtime.
    RunId,
    "run_"
);
made_id!(
    /// The id of a ledger. A ledger has no row of its own: its scope determines its id.
    LedgerId,
    "led_"
);

impl AskId {
    /// The ask's id under a dialect's prefix, for example `hxp_`.
    pub fn with_prefix(self, prefix: &str) -> String {
        format!("{prefix}{}", self.0)
    }

    /// Reads an id shown under `prefix`.
    pub fn parse_with_prefix(prefix: &str, text: &str) -> Option<Self> {
        ulid(text.strip_prefix(prefix)?).map(Self)
    }
}

macro_rules! chosen_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        #[cfg(feature = "openapi")]
        crate::openapi::text!($name, "^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$");

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                if is_name(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(BadId {
                        expected: "1 to 64 characters of A-Z, a-z, 0-9, _ - . : and @, starting \
                                   with a letter or digit",
                    })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:@".contains(c))
}

chosen_id!(
    /// The id of a project, which groups agents and people.
    ProjectId
);
chosen_id!(
    /// The id of an agent, which asks.
    AgentId
);
chosen_id!(
    /// The id of a person, who answers.
    HumanId
);
chosen_id!(
    /// The id of a group of people.
    GroupId
);

/// The id of one entry of a ledger. Keys are arbitrary text, so the id is a digest of scope and
/// key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(Digest);

impl EntryId {
    /// The id of a key in a ledger. A scope contains no line break, so no two pairs have the same
    /// digest input.
    pub fn of(scope: &str, key: &str) -> Self {
        Self(Digest::of(format!("{scope}\n{key}").as_bytes()))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry/{}", self.0)
    }
}

impl LedgerId {
    /// The ledger of a scope: the same id on every node, without an object being created.
    pub fn of(scope: &str) -> Self {
        let Digest(digest) = Digest::of(format!("ledger\n{scope}").as_bytes());
        let mut first = [0; 16];
        first.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(Ulid::from_bytes(first))
    }
}

/// An entity with its own history: the unit of a hash chain and of a transaction's keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
pub enum Subject {
    /// The chain of an ask.
    Ask(AskId),
    /// The chain of a project.
    Project(ProjectId),
    /// The chain of an agent.
    Agent(AgentId),
    /// The chain of a person.
    Human(HumanId),
    /// The chain of a credential.
    Key(KeyId),
    /// The chain of a delegation rule.
    Rule(RuleId),
    /// The chain of a webhook endpoint.
    Webhook(WebhookId),
    /// The chain of a task.
    Task(TaskId),
    /// The chain of an artifact.
    Artifact(ArtifactId),
    /// The chain of one entry of a ledger.
    Entry(EntryId),
}

impl Subject {
    /// The kind of entity, as one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ask(_) => "ask",
            Self::Project(_) => "project",
            Self::Agent(_) => "agent",
            Self::Human(_) => "human",
            Self::Key(_) => "key",
            Self::Rule(_) => "rule",
            Self::Webhook(_) => "webhook",
            Self::Task(_) => "task",
            Self::Artifact(_) => "artifact",
            Self::Entry(_) => "entry",
        }
    }

    /// The id without the kind.
    pub fn id(&self) -> String {
        match self {
            Self::Ask(id) => id.to_string(),
            Self::Project(id) => id.to_string(),
            Self::Agent(id) => id.to_string(),
            Self::Human(id) => id.to_string(),
            Self::Key(id) => id.to_string(),
            Self::Rule(id) => id.to_string(),
            Self::Webhook(id) => id.to_string(),
            Self::Task(id) => id.to_string(),
            Self::Artifact(id) => id.to_string(),
            Self::Entry(id) => id.to_string(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(id) => id.fmt(f),
            Self::Project(id) => write!(f, "project/{id}"),
            Self::Agent(id) => write!(f, "agent/{id}"),
            Self::Human(id) => write!(f, "human/{id}"),
            Self::Key(id) => id.fmt(f),
            Self::Rule(id) => id.fmt(f),
            Self::Webhook(id) => id.fmt(f),
            Self::Task(id) => id.fmt(f),
            Self::Artifact(id) => id.fmt(f),
            Self::Entry(id) => id.fmt(f),
        }
    }
}

impl FromStr for Subject {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        if let Some((kind, name)) = text.split_once('/') {
            return match kind {
                "project" => name.parse().map(Self::Project),
                "agent" => name.parse().map(Self::Agent),
                "human" => name.parse().map(Self::Human),
                "entry" => name
                    .parse()
                    .map(|digest| Self::Entry(EntryId(digest)))
                    .map_err(|_| BadId { expected: "entry/ followed by 64 hex digits" }),
                _ => Err(BadId { expected: "project/…, agent/…, human/… or entry/…" }),
            };
        }
        if text.starts_with(KeyId::PREFIX) {
            return text.parse().map(Self::Key);
        }
        if text.starts_with(RuleId::PREFIX) {
            return text.parse().map(Self::Rule);
        }
        if text.starts_with(WebhookId::PREFIX) {
            return text.parse().map(Self::Webhook);
        }
        if text.starts_with(TaskId::PREFIX) {
            return text.parse().map(Self::Task);
        }
        if text.starts_with(ArtifactId::PREFIX) {
            return text.parse().map(Self::Artifact);
        }
        text.parse().map(Self::Ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_has_one_name_per_prefix() {
        let id = AskId::new(Ulid::from(u128::MAX));
        let shown = id.with_prefix("hxp_");
        assert_eq!(AskId::parse_with_prefix("hxp_", &shown), Some(id));
        assert_eq!(AskId::parse_with_prefix("hxp_", &shown.to_lowercase()), None);
        assert_eq!(AskId::parse_with_prefix("ask_", &shown), None);
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn names_are_plain() {
        for good in ["dev", "user_dev", "a", "ops@acme.io", "team:refunds"] {
            assert!(good.parse::<HumanId>().is_ok(), "{good}");
        }
        let long = "x".repeat(65);
        for bad in ["", "_x", "a b", "a/b", "é", "a\u{202e}b", &long] {
            assert!(bad.parse::<HumanId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn subjects_read_back() {
        let ulid = Ulid::from(9_u128);
        for subject in [
            Subject::Ask(AskId::new(ulid)),
            Subject::Key(KeyId::new(ulid)),
            Subject::Rule(RuleId::new(ulid)),
            Subject::Webhook(WebhookId::new(ulid)),
            Subject::Task(TaskId::new(ulid)),
            Subject::Artifact(ArtifactId::new(ulid)),
            Subject::Entry(EntryId::of("project:dev", "a\nkey")),
            Subject::Project("dev".parse().unwrap()),
            Subject::Human("user_dev".parse().unwrap()),
        ] {
            assert_eq!(subject.to_string().parse(), Ok(subject));
        }
    }
}
