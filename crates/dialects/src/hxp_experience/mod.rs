//! HXP Human eXperience Protocol 1.0: the envelope an agent puts around what it says.
//! Specification: `hxp-experience-1.0`, all sections.
//!
//! | file | what | section |
//! |---|---|---|
//! | [`check`] | judging a message | 5, 6, 7 |
//! | [`finding`] | what is said of it, and levels | 6 |
//! | [`registry`] | namespaces of extensions | 7.10, 9 |
//! | [`message`], [`view`] | a message to keep, and to show | 5, 7 |
//! | [`headers`] | `HXP-Intent` and its like | 8.2 |
//! | [`prelude`] | streams that begin with an envelope | 8.3 |
//! | [`claims`] | envelopes on asks | 5, 9 |
//!
//! How bytes are read, and why by a reader of our own, is ADR 0038.
//!
//! A consumer takes a message as the published schema does: unknown fields are ignored and kept. In
//! strict mode a message must be what the specification's sentences say as well. Whatever an
//! envelope claims is a claim of its agent; nothing here makes it true.

pub mod check;
pub mod claims;
mod extensions;
pub mod finding;
mod glance;
pub mod headers;
pub mod message;
mod parts;
pub mod prelude;
mod privacy;
pub mod registry;
mod syntax;
mod tape;
mod tools;
pub mod view;

pub use check::{Checker, Rules};
pub use finding::{Finding, Level, Report, Severity};
pub use kernel::insight::{ACTIONS, INTENTS};
pub use message::{Message, core_shape};
pub use registry::{Namespace, Registry, Unfit};
pub use syntax::is_language;
pub use tape::Unreadable;
pub use view::{View, label};

/// The version of the specification.
pub const VERSION: &str = "1.0.0";

/// A schema of our own, equivalent to the published one.
pub const SCHEMA: &str = include_str!("schema.json");

/// Where confidence begins that nothing should speak against.
const NEAR_CERTAIN: f64 = 0.95;

/// Where reading begins to be very hard work.
const VERY_HARD: f64 = 9.0;

const VERBOSITY: &[&str] = &["low", "medium", "high"];
const FORMAT: &[&str] = &["bullets", "steps", "narrative", "code", "table", "mixed"];
const TONE: &[&str] = &["neutral", "direct", "warm", "formal", "playful"];
const CHUNKING: &[&str] = &["none", "light", "structured"];
const REFUSAL_TYPE: &[&str] = &["safety", "legal", "capability", "policy", "unknown"];
const SEVERITY: &[&str] = &["soft", "hard"];
const HARM_RISK: &[&str] = &["low", "medium", "high"];
