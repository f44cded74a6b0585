//! Findings of a verification, and where they are.

use std::fmt;

use kernel::audit::{ChainError, Digest};
use kernel::evolve::InapplicableEvent;
use kernel::seal::BlockError;
use serde::Serialize;
use store::Damage;

use crate::sealed_head::LostEvents;

/// A finding of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditFinding {
    /// A chain is broken here, or does not end at the stored state of its subject.
    Broken(ChainError),
    /// An event that is impossible in the state before it.
    Nonsense(InapplicableEvent),
    /// An event is in the feed before its predecessor.
    Misplaced {
        /// The subject of the event.
        subject: String,
        /// The number of the event.
        seq: u64,
        /// The position in the feed.
        position: u64,
    },
    /// Events before this position are missing from the feed.
    Missing {
        /// The first position after the gap.
        position: u64,
    },
    /// A position of the feed is repeated or too late.
    Disorder {
        /// The position in the feed.
        position: u64,
    },
    /// Events of a subject that has no stored state.
    Stray(String),
    /// A stored state that cannot be read.
    Unreadable(String),
    /// A record whose subject cannot be read.
    Nameless {
        /// The position of the record.
        position: u64,
    },
    /// Values are missing although no event says that they were erased.
    Hollow {
        /// The subject of the event.
        subject: String,
        /// The number of the event.
        seq: u64,
    },
    /// A block is invalid.
    Unsound(BlockError),
    /// The block that the operator recorded is not in the chain.
    Unknown {
        /// The number of the block.
        n: u64,
        /// The hash that the operator recorded.
        hash: Digest,
    },
    /// A line of an export is invalid.
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// Why it is invalid.
        why: &'static str,
    },
    /// The database, or data that derives from states, is damaged.
    Damaged(Damage),
    /// Acknowledged events are missing.
    Lost(LostEvents),
    /// An export without its last line is incomplete.
    CutOff {
        /// The number of lines.
        lines: u64,
    },
}

impl fmt::Display for AuditFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(broken) => broken.fmt(f),
            Self::Nonsense(misfit) => misfit.fmt(f),
            Self::Misplaced { subject, seq, position } => write!(
                f,
                "{subject} event {seq}: it is at position {position}, before an event that it \
                 follows"
            ),
            Self::Missing { position } => {
                write!(f, "events are missing before position {position} of the feed")
            }
            Self::Disorder { position } => {
                write!(f, "position {position} of the feed is duplicated or out of order")
            }
            Self::Stray(subject) => write!(f, "{subject}: it has events but no state"),
            Self::Unreadable(subject) => write!(f, "{subject}: its state cannot be read"),
            Self::Nameless { position } => {
                write!(f, "the event at position {position} has an invalid subject")
            }
            Self::Hollow { subject, seq } => {
                write!(f, "{subject} event {seq}: values are missing but were not erased")
            }
            Self::Unsound(unsound) => unsound.fmt(f),
            Self::Unknown { n, hash } => {
                write!(f, "block {n} with hash {hash} is not in the chain")
            }
            Self::Line { line, why } => write!(f, "line {line} of the export: {why}"),
            Self::Damaged(Damage { subject: Some(subject), why }) => write!(f, "{subject}: {why}"),
            Self::Damaged(Damage { subject: None, why }) => write!(f, "the database: {why}"),
            Self::Lost(loss) => loss.fmt(f),
            Self::CutOff { lines } => {
                write!(
                    f,
                    "the export is incomplete: it ends after line {lines}, without its signed \
                     last line"
                )
            }
        }
    }
}

/// The place of a finding, for programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FindingLocation {
    /// The subject of the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The number of the event in its chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// The position in the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// The number of the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// The line of the export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl AuditFinding {
    /// The place of the finding.
    pub fn location(&self) -> FindingLocation {
        let of = |subject: String, event: Option<u64>| FindingLocation {
            subject: Some(subject),
            event,
            ..FindingLocation::default()
        };
        match self {
            Self::Broken(broken) => of(broken.subject.to_string(), Some(broken.seq)),
            Self::Nonsense(misfit) => of(misfit.subject.to_string(), Some(misfit.seq)),
            Self::Misplaced { subject, seq, position } => {
                FindingLocation { position: Some(*position), ..of(subject.clone(), Some(*seq)) }
            }
            Self::Hollow { subject, seq } => of(subject.clone(), Some(*seq)),
            Self::Stray(subject) | Self::Unreadable(subject) => of(subject.clone(), None),
            Self::Damaged(Damage { subject, .. }) => {
                FindingLocation { subject: subject.clone(), ..FindingLocation::default() }
            }
            Self::Lost(loss) => {
                FindingLocation { position: Some(loss.from), ..FindingLocation::default() }
            }
            Self::Missing { position }
            | Self::Disorder { position }
            | Self::Nameless { position } => {
                FindingLocation { position: Some(*position), ..FindingLocation::default() }
            }
            Self::Unsound(BlockError { n, .. }) | Self::Unknown { n, .. } => {
                FindingLocation { block: Some(*n), ..FindingLocation::default() }
            }
            Self::Line { line, .. } | Self::CutOff { lines: line } => {
                FindingLocation { line: Some(*line), ..FindingLocation::default() }
            }
        }
    }
}
