//! HXP Human eXperience Protocol 1.0: the envelope around an agent's message. Specification:
//! `hxp-experience-1.0`, all sections.
//!
//! | file | content | section |
//! |---|---|---|
//! | [`check`] | validation of a message | 5, 6, 7 |
//! | [`finding`] | findings and levels | 6 |
//! | [`registry`] | namespaces of extensions | 7.10, 9 |
//! | [`message`], [`view`] | a message to store, and to show | 5, 7 |
//! | [`headers`] | `HXP-Intent` and the other headers | 8.2 |
//! | [`prelude`] | streams that start with an envelope | 8.3 |
//! | [`claims`] | envelopes on asks | 5, 9 |
//!
//! ADR 0038 explains how bytes are read, and why with our own reader.
//!
//! A consumer accepts the messages that the published schema accepts: it ignores and keeps unknown
//! fields. In strict mode, a message must also follow the specification's text. Everything in an
//! envelope is a claim of its agent; validation does not make it true.

pub mod check;
mod check_fields;
mod check_sections;
pub mod claims;
mod extensions;
mod fast_path;
pub mod finding;
pub mod headers;
pub mod message;
pub mod prelude;
mod privacy;
pub mod registry;
mod syntax;
mod token_stream;
pub mod view;

pub use check::{Checker, ValidationOptions};
pub use finding::{ConformanceLevel, ExperienceFinding, ExperienceReport, FindingSeverity};
pub use kernel::insight::{ACTIONS, INTENTS};
pub use message::{ExperienceMessage, core_shape};
pub use registry::{Namespace, NamespaceError, NamespaceRegistry};
pub use syntax::is_language;
pub use token_stream::Unreadable;
pub use view::{EnvelopeView, label};

/// The version of the specification.
pub const VERSION: &str = "1.0.0";

/// A schema of our own, equivalent to the published one.
pub const SCHEMA: &str = include_str!("schema.json");

/// From this confidence on, nothing else in the envelope should contradict it.
const NEAR_CERTAIN: f64 = 0.95;

/// From this load on, a text is very hard to read.
const VERY_HARD: f64 = 9.0;

const VERBOSITY: &[&str] = &["low", "medium", "high"];
const FORMAT: &[&str] = &["bullets", "steps", "narrative", "code", "table", "mixed"];
const TONE: &[&str] = &["neutral", "direct", "warm", "formal", "playful"];
const CHUNKING: &[&str] = &["none", "light", "structured"];
const REFUSAL_TYPE: &[&str] = &["safety", "legal", "capability", "policy", "unknown"];
const SEVERITY: &[&str] = &["soft", "hard"];
const HARM_RISK: &[&str] = &["low", "medium", "high"];
