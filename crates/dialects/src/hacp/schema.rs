//! `GET /hacp/v1/schemas/{name}`: the JSON Schemas of the objects. HACP-085.
//!
//! Like the protocol's own schemas, these are shallow and open: they name the required members,
//! their types, and the protocol version. The same table generates and validates, so the published
//! schemas match the behaviour.

use serde_json::{Map, Value, json};

use super::errors::{HacpError, code};
use super::version::HacpVersion;

/// A member of an object.
struct MemberSchema {
    name: &'static str,
    is: MemberType,
    /// Whether 0.1 lacks it.
    later: bool,
}

/// The type of a member.
#[derive(Clone, Copy)]
enum MemberType {
    Text,
    MaybeText,
    /// A time as in RFC 3339.
    Moment,
    MaybeMoment,
    Whole,
    Flag,
    List,
    Object,
    MaybeObject,
    Word(&'static [&'static str]),
    Any,
}

struct ObjectSchema {
    name: &'static str,
    fields: &'static [MemberSchema],
    /// Whether 0.1 lacks it.
    later: bool,
    /// Whether it is sent on its own, and so states the version of the specification. Every object
    /// states its schema version and profile.
    alone: bool,
}

const fn since_v01(name: &'static str, is: MemberType) -> MemberSchema {
    MemberSchema { name, is, later: false }
}

const fn since_v02(name: &'static str, is: MemberType) -> MemberSchema {
    MemberSchema { name, is, later: true }
}

const STATES: MemberType = MemberType::Word(&[
    "created",
    "assigned",
    "in_progress",
    "blocked",
    "review_ready",
    "under_review",
    "accepted",
    "completed",
    "rejected",
]);
const DUTIES: MemberType =
    MemberType::Word(&["delegate", "block", "resume", "handoff", "steer", "cancel"]);

const OBJECTS: [ObjectSchema; 16] = [
    ObjectSchema {
        name: "Task",
        fields: &[
            since_v01("id", MemberType::Text),
            since_v01("type", MemberType::Text),
            since_v01("spec", MemberType::Object),
            since_v01("ownership", MemberType::Object),
            since_v01("state", STATES),
            since_v01("parent_task", MemberType::MaybeText),
            since_v01("created_at", MemberType::Moment),
            since_v01("deadline", MemberType::MaybeMoment),
            since_v01("checkpoints", MemberType::List),
            since_v01("artifacts", MemberType::List),
            since_v01("audit_trail", MemberType::Text),
            since_v02("steering_log", MemberType::List),
            since_v02("revision", MemberType::Whole),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "Checkpoint",
        fields: &[
            since_v01("id", MemberType::Text),
            since_v01("task_id", MemberType::Text),
            since_v01(
                "kind",
                MemberType::Word(&["approval", "choice", "input", "escalation", "interrupt"]),
            ),
            since_v01("prompt", MemberType::MaybeText),
            since_v01("options", MemberType::List),
            since_v01("context", MemberType::List),
            since_v01("state", MemberType::Word(&["pending", "resolved", "expired"])),
            since_v01("raised_at", MemberType::Moment),
            since_v01("expires_at", MemberType::MaybeMoment),
            since_v01("resolution", MemberType::MaybeObject),
            since_v02("raised_by", MemberType::Word(&["agent", "human", "system"])),
            since_v02("proposed_actions", MemberType::List),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "Ownership",
        fields: &[
            since_v01("task_id", MemberType::Text),
            since_v01("principal", MemberType::Text),
            since_v01("assignee", MemberType::Text),
            since_v01("delegable", MemberType::Flag),
            since_v01("chain", MemberType::List),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "Review",
        fields: &[
            since_v01("id", MemberType::Text),
            since_v01("task_id", MemberType::Text),
            since_v01("artifact_id", MemberType::Text),
            since_v01("reviewer", MemberType::Text),
            since_v01("verdict", MemberType::Word(&["approved", "changes_requested", "rejected"])),
            since_v01("comments", MemberType::List),
            since_v01("requested_changes", MemberType::List),
            since_v01("at", MemberType::Moment),
            since_v02("kind", MemberType::Word(&["plan", "deliverable"])),
            since_v02("artifact_version", MemberType::MaybeText),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "Artifact",
        fields: &[
            since_v01("id", MemberType::Text),
            since_v01("type", MemberType::Text),
            since_v01("provenance", MemberType::Object),
            since_v01("version", MemberType::Text),
            since_v01("parent_version", MemberType::MaybeText),
            since_v01("payload", MemberType::Object),
            since_v01("references", MemberType::List),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "Ledger",
        fields: &[since_v01("id", MemberType::Text), since_v01("scope", MemberType::Text)],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "ProtocolError",
        fields: &[
            since_v01("code", MemberType::Text),
            since_v01("message", MemberType::Text),
            since_v01("details", MemberType::Object),
            since_v01("retryable", MemberType::Flag),
            since_v01("operation_id", MemberType::MaybeText),
            since_v01("correlation_id", MemberType::MaybeText),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "AuditEvent",
        fields: &[
            since_v01("id", MemberType::Text),
            since_v01("seq", MemberType::Whole),
            since_v01("at", MemberType::Moment),
            since_v01("actor", MemberType::Text),
            since_v01("action", MemberType::Text),
            since_v01("subject", MemberType::Object),
            since_v01("task_id", MemberType::MaybeText),
            since_v01("before", MemberType::MaybeObject),
            since_v01("after", MemberType::MaybeObject),
            since_v02("reducer", MemberType::MaybeObject),
            since_v02("prev_hash", MemberType::Text),
            since_v02("hash", MemberType::Text),
        ],
        later: false,
        alone: true,
    },
    ObjectSchema {
        name: "HarnessEvent",
        fields: &[
            since_v02("operation_id", MemberType::Text),
            since_v02("operation", DUTIES),
            since_v02("task_id", MemberType::Text),
            since_v02("correlation_id", MemberType::Text),
            since_v02("run_id", MemberType::Text),
            since_v02("agent_id", MemberType::Text),
            since_v02("parent_run", MemberType::MaybeText),
            since_v02("capability", MemberType::MaybeText),
            since_v02("input", MemberType::Any),
            since_v02("at", MemberType::Moment),
            since_v02("operation_context", MemberType::Object),
        ],
        later: true,
        alone: false,
    },
    ObjectSchema {
        name: "HarnessEventDelivery",
        fields: &[since_v02("cursor", MemberType::Text), since_v02("event", MemberType::Object)],
        later: true,
        alone: true,
    },
    ObjectSchema {
        name: "PermissionGrant",
        fields: &[
            since_v02("scope", MemberType::Text),
            since_v02("decision", MemberType::Word(&["allow", "deny"])),
            since_v02("until", MemberType::Text),
            since_v02("granted_by", MemberType::Text),
            since_v02("granted_at", MemberType::Moment),
        ],
        later: true,
        alone: false,
    },
    ObjectSchema {
        name: "ProposedAction",
        fields: &[
            since_v02("id", MemberType::Text),
            since_v02("kind", MemberType::Text),
            since_v02("summary", MemberType::Text),
        ],
        later: true,
        alone: false,
    },
    ObjectSchema {
        name: "AdapterOperationContext",
        fields: &[
            since_v02("operation_id", MemberType::Text),
            since_v02("task_id", MemberType::Text),
            since_v02("correlation_id", MemberType::Text),
            since_v02("operation", DUTIES),
            since_v02("idempotency_key", MemberType::MaybeText),
            since_v02("request_fingerprint", MemberType::Text),
            since_v02("task_revision", MemberType::Whole),
        ],
        later: true,
        alone: false,
    },
    ObjectSchema {
        name: "AdapterOutboxRecord",
        fields: &[
            since_v02("operation_id", MemberType::Text),
            since_v02("task_id", MemberType::Text),
            since_v02("operation", DUTIES),
            since_v02("request_fingerprint", MemberType::Text),
            since_v02("context", MemberType::Object),
            since_v02("request", MemberType::Object),
            since_v02("result", MemberType::Any),
            since_v02("state", MemberType::Word(&["pending", "succeeded", "failed"])),
            since_v02("created_at", MemberType::Moment),
            since_v02("updated_at", MemberType::Moment),
        ],
        later: true,
        alone: true,
    },
    ObjectSchema { name: "VersionNegotiation", fields: &[], later: true, alone: true },
    ObjectSchema {
        name: "ReviewPolicy",
        fields: &[
            since_v02("required_reviewers", MemberType::List),
            since_v02("quorum", MemberType::Word(&["all", "majority", "any"])),
        ],
        later: true,
        alone: false,
    },
];

impl MemberType {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::MaybeText => json!({ "type": ["string", "null"] }),
            Self::Moment => json!({ "type": "string", "format": "date-time" }),
            Self::MaybeMoment => json!({ "type": ["string", "null"], "format": "date-time" }),
            Self::Whole => json!({ "type": "integer", "minimum": 0 }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::List => json!({ "type": "array" }),
            Self::Object => json!({ "type": "object" }),
            Self::MaybeObject => json!({ "type": ["object", "null"] }),
            Self::Word(words) => json!({ "enum": words }),
            Self::Any => json!(true),
        }
    }

    /// The expected type, if the value does not match.
    fn mismatch(self, value: &Value) -> Option<String> {
        let moment = |text: &str| text.parse::<kernel::Time>().is_ok();
        let fits = match self {
            Self::Text => value.is_string(),
            Self::MaybeText => value.is_string() || value.is_null(),
            Self::Moment => value.as_str().is_some_and(moment),
            Self::MaybeMoment => value.is_null() || value.as_str().is_some_and(moment),
            Self::Whole => value.is_u64(),
            Self::Flag => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::MaybeObject => value.is_object() || value.is_null(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Any => true,
        };
        let expected = match self {
            Self::Text => "a string".to_owned(),
            Self::MaybeText => "a string or null".to_owned(),
            Self::Moment => "a time in RFC 3339 format".to_owned(),
            Self::MaybeMoment => "a time in RFC 3339 format, or null".to_owned(),
            Self::Whole => "a whole number".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::List => "a list".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::MaybeObject => "an object or null".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Any => "anything".to_owned(),
        };
        (!fits).then_some(expected)
    }
}

/// The names of a version's schemas.
pub fn names(version: HacpVersion) -> impl Iterator<Item = &'static str> {
    let known = move |object: &&ObjectSchema| !object.later || version >= HacpVersion::V02;
    OBJECTS.iter().filter(known).map(|object| object.name)
}

fn find(name: &str, version: HacpVersion) -> Result<&'static ObjectSchema, HacpError> {
    let known = names(version).any(|known| known == name);
    let object = OBJECTS.iter().find(|object| object.name == name).filter(|_| known);
    object.ok_or_else(|| HacpError::new(code::NOT_FOUND, "unknown schema"))
}

fn fields(object: &ObjectSchema, version: HacpVersion) -> impl Iterator<Item = &MemberSchema> {
    object.fields.iter().filter(move |field| !field.later || version >= HacpVersion::V02)
}

impl ObjectSchema {
    /// Whether one of the [constants](consts) is required.
    fn requires(&self, key: &str) -> bool {
        self.alone || key != SPEC_VERSION
    }
}

const SPEC_VERSION: &str = "spec_version";

fn consts(version: HacpVersion) -> [(&'static str, &'static str); 3] {
    [
        (SPEC_VERSION, version.spec()),
        ("schema_version", version.schema()),
        ("profile", version.profile()),
    ]
}

/// A JSON Schema, draft 2020-12.
pub fn schema(name: &str, version: HacpVersion) -> Result<Value, HacpError> {
    let object = find(name, version)?;
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields(object, version) {
        properties.insert(field.name.to_owned(), field.is.schema());
        required.push(field.name);
    }
    for (key, value) in consts(version) {
        properties.insert(key.to_owned(), json!({ "const": value }));
        if object.requires(key) {
            required.push(key);
        }
    }
    Ok(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:hacp:{}:{name}", version.schema()),
        "title": name,
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": true,
    }))
}

/// Validates a value against the schema of this name.
pub fn validate(name: &str, value: &Value, version: HacpVersion) -> Result<(), HacpError> {
    let object = find(name, version)?;
    let map = value.as_object().ok_or_else(|| HacpError::field(name, "an object"))?;
    let at = |key: &str| format!("{name}.{key}");
    // An object of another protocol may lack these constants.
    for (key, expected) in consts(version) {
        match map.get(key) {
            None if !object.requires(key) => {}
            None => return Err(HacpError::field(&at(key), &format!("{expected:?}"))),
            Some(value) if value.as_str() == Some(expected) => {}
            Some(value) if value.is_string() => {
                let message = format!("{}: expected {expected:?}", at(key));
                return Err(HacpError::new(code::VERSION_UNSUPPORTED, message)
                    .with("field", json!(at(key)))
                    .with("expected", json!(expected)));
            }
            Some(_) => return Err(HacpError::field(&at(key), "a string")),
        }
    }
    for field in fields(object, version) {
        let value = map
            .get(field.name)
            .ok_or_else(|| HacpError::field(&at(field.name), "a value; it is missing"))?;
        if let Some(expected) = field.is.mismatch(value) {
            return Err(HacpError::field(&at(field.name), &expected));
        }
    }
    Ok(())
}
