//! `GET /hacp/v1/schemas/{name}`: the JSON Schemas of the objects. HACP-085.
//!
//! Like the protocol's own schemas, these are shallow and open: they name the required members,
//! their types, and the protocol version. The same table generates and validates, so the published
//! schemas match the behaviour.

use serde_json::{Map, Value, json};

use super::errors::{HacpError, code};
use super::version::Version;

/// A member of an object.
struct Field {
    name: &'static str,
    is: Is,
    /// Whether 0.1 lacks it.
    later: bool,
}

/// The type of a member.
#[derive(Clone, Copy)]
enum Is {
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

struct Object {
    name: &'static str,
    fields: &'static [Field],
    /// Whether 0.1 lacks it.
    later: bool,
    /// Whether it is sent on its own, and so states the version of the specification. Every object
    /// states its schema version and profile.
    alone: bool,
}

const fn first(name: &'static str, is: Is) -> Field {
    Field { name, is, later: false }
}

const fn later(name: &'static str, is: Is) -> Field {
    Field { name, is, later: true }
}

const STATES: Is = Is::Word(&[
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
const DUTIES: Is = Is::Word(&["delegate", "block", "resume", "handoff", "steer", "cancel"]);

const OBJECTS: [Object; 16] = [
    Object {
        name: "Task",
        fields: &[
            first("id", Is::Text),
            first("type", Is::Text),
            first("spec", Is::Object),
            first("ownership", Is::Object),
            first("state", STATES),
            first("parent_task", Is::MaybeText),
            first("created_at", Is::Moment),
            first("deadline", Is::MaybeMoment),
            first("checkpoints", Is::List),
            first("artifacts", Is::List),
            first("audit_trail", Is::Text),
            later("steering_log", Is::List),
            later("revision", Is::Whole),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "Checkpoint",
        fields: &[
            first("id", Is::Text),
            first("task_id", Is::Text),
            first("kind", Is::Word(&["approval", "choice", "input", "escalation", "interrupt"])),
            first("prompt", Is::MaybeText),
            first("options", Is::List),
            first("context", Is::List),
            first("state", Is::Word(&["pending", "resolved", "expired"])),
            first("raised_at", Is::Moment),
            first("expires_at", Is::MaybeMoment),
            first("resolution", Is::MaybeObject),
            later("raised_by", Is::Word(&["agent", "human", "system"])),
            later("proposed_actions", Is::List),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "Ownership",
        fields: &[
            first("task_id", Is::Text),
            first("principal", Is::Text),
            first("assignee", Is::Text),
            first("delegable", Is::Flag),
            first("chain", Is::List),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "Review",
        fields: &[
            first("id", Is::Text),
            first("task_id", Is::Text),
            first("artifact_id", Is::Text),
            first("reviewer", Is::Text),
            first("verdict", Is::Word(&["approved", "changes_requested", "rejected"])),
            first("comments", Is::List),
            first("requested_changes", Is::List),
            first("at", Is::Moment),
            later("kind", Is::Word(&["plan", "deliverable"])),
            later("artifact_version", Is::MaybeText),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "Artifact",
        fields: &[
            first("id", Is::Text),
            first("type", Is::Text),
            first("provenance", Is::Object),
            first("version", Is::Text),
            first("parent_version", Is::MaybeText),
            first("payload", Is::Object),
            first("references", Is::List),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "Ledger",
        fields: &[first("id", Is::Text), first("scope", Is::Text)],
        later: false,
        alone: true,
    },
    Object {
        name: "ProtocolError",
        fields: &[
            first("code", Is::Text),
            first("message", Is::Text),
            first("details", Is::Object),
            first("retryable", Is::Flag),
            first("operation_id", Is::MaybeText),
            first("correlation_id", Is::MaybeText),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "AuditEvent",
        fields: &[
            first("id", Is::Text),
            first("seq", Is::Whole),
            first("at", Is::Moment),
            first("actor", Is::Text),
            first("action", Is::Text),
            first("subject", Is::Object),
            first("task_id", Is::MaybeText),
            first("before", Is::MaybeObject),
            first("after", Is::MaybeObject),
            later("reducer", Is::MaybeObject),
            later("prev_hash", Is::Text),
            later("hash", Is::Text),
        ],
        later: false,
        alone: true,
    },
    Object {
        name: "HarnessEvent",
        fields: &[
            later("operation_id", Is::Text),
            later("operation", DUTIES),
            later("task_id", Is::Text),
            later("correlation_id", Is::Text),
            later("run_id", Is::Text),
            later("agent_id", Is::Text),
            later("parent_run", Is::MaybeText),
            later("capability", Is::MaybeText),
            later("input", Is::Any),
            later("at", Is::Moment),
            later("operation_context", Is::Object),
        ],
        later: true,
        alone: false,
    },
    Object {
        name: "HarnessEventDelivery",
        fields: &[later("cursor", Is::Text), later("event", Is::Object)],
        later: true,
        alone: true,
    },
    Object {
        name: "PermissionGrant",
        fields: &[
            later("scope", Is::Text),
            later("decision", Is::Word(&["allow", "deny"])),
            later("until", Is::Text),
            later("granted_by", Is::Text),
            later("granted_at", Is::Moment),
        ],
        later: true,
        alone: false,
    },
    Object {
        name: "ProposedAction",
        fields: &[later("id", Is::Text), later("kind", Is::Text), later("summary", Is::Text)],
        later: true,
        alone: false,
    },
    Object {
        name: "AdapterOperationContext",
        fields: &[
            later("operation_id", Is::Text),
            later("task_id", Is::Text),
            later("correlation_id", Is::Text),
            later("operation", DUTIES),
            later("idempotency_key", Is::MaybeText),
            later("request_fingerprint", Is::Text),
            later("task_revision", Is::Whole),
        ],
        later: true,
        alone: false,
    },
    Object {
        name: "AdapterOutboxRecord",
        fields: &[
            later("operation_id", Is::Text),
            later("task_id", Is::Text),
            later("operation", DUTIES),
            later("request_fingerprint", Is::Text),
            later("context", Is::Object),
            later("request", Is::Object),
            later("result", Is::Any),
            later("state", Is::Word(&["pending", "succeeded", "failed"])),
            later("created_at", Is::Moment),
            later("updated_at", Is::Moment),
        ],
        later: true,
        alone: true,
    },
    Object { name: "VersionNegotiation", fields: &[], later: true, alone: true },
    Object {
        name: "ReviewPolicy",
        fields: &[
            later("required_reviewers", Is::List),
            later("quorum", Is::Word(&["all", "majority", "any"])),
        ],
        later: true,
        alone: false,
    },
];

impl Is {
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
    fn misses(self, value: &Value) -> Option<String> {
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
            Self::Moment => "a moment as in RFC 3339".to_owned(),
            Self::MaybeMoment => "a moment as in RFC 3339, or null".to_owned(),
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
pub fn names(version: Version) -> impl Iterator<Item = &'static str> {
    let known = move |object: &&Object| !object.later || version >= Version::V02;
    OBJECTS.iter().filter(known).map(|object| object.name)
}

fn find(name: &str, version: Version) -> Result<&'static Object, HacpError> {
    let known = names(version).any(|known| known == name);
    let object = OBJECTS.iter().find(|object| object.name == name).filter(|_| known);
    object.ok_or_else(|| HacpError::new(code::NOT_FOUND, "there is no schema of this name"))
}

fn fields(object: &Object, version: Version) -> impl Iterator<Item = &Field> {
    object.fields.iter().filter(move |field| !field.later || version >= Version::V02)
}

impl Object {
    /// Whether one of the [constants](consts) is required.
    fn requires(&self, key: &str) -> bool {
        self.alone || key != SPEC_VERSION
    }
}

const SPEC_VERSION: &str = "spec_version";

fn consts(version: Version) -> [(&'static str, &'static str); 3] {
    [
        (SPEC_VERSION, version.spec()),
        ("schema_version", version.schema()),
        ("profile", version.profile()),
    ]
}

/// A JSON Schema, draft 2020-12.
pub fn schema(name: &str, version: Version) -> Result<Value, HacpError> {
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
pub fn validate(name: &str, value: &Value, version: Version) -> Result<(), HacpError> {
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
        let value =
            map.get(field.name).ok_or_else(|| HacpError::field(&at(field.name), "it there"))?;
        if let Some(expected) = field.is.misses(value) {
            return Err(HacpError::field(&at(field.name), &expected));
        }
    }
    Ok(())
}
