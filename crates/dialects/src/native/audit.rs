//! The audit log on the wire: the events of an ask, and the sealed blocks.

use kernel::actor::ActorRef;
use kernel::audit::{Digest, Record};
use kernel::event::HELD_ANSWER;
use kernel::seal::Block;
use kernel::{Ask, Time};
use serde::Serialize;

use super::Viewer;

/// Everything that happened to an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Records))]
pub struct RecordListView {
    /// In order.
    pub events: Vec<RecordView>,
}

/// One event as it was recorded. Words are not in it, only commitments.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Record))]
pub struct RecordView {
    /// Its place in the chain of the ask, from 1.
    pub seq: u64,
    /// When it happened.
    pub at: Time,
    /// Who did it; `null` if the record cannot be read, and for agents where it is about an answer
    /// that was held so that its person could undo it.
    pub by: Option<ActorRef>,
    /// What happened.
    pub event: &'static str,
    /// The hash of this event.
    pub hash: Digest,
    /// The hash of the one before; zeros for the first.
    pub prev: Digest,
    /// Canonical JSON, exactly what was hashed; `null` where it would tell an agent the names of a
    /// pool, or about an answer that was held.
    pub body: Option<String>,
}

impl RecordView {
    pub fn of(record: Record, ask: &Ask, viewer: Viewer<'_>) -> Self {
        let by = record.event().ok().map(|event| viewer.shown_actor(&event.by, ask));
        let Record { seq, at, what, prev, hash, body, .. } = record;
        let told = !(matches!(viewer, Viewer::Agent(_)) && HELD_ANSWER.contains(&what));
        let body = (told && !viewer.hides_names(ask)).then_some(body);
        let by = by.filter(|_| told);
        Self { seq, at, by, event: what, hash, prev, body }
    }
}

/// A page of blocks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BlockPage {
    /// In order.
    pub blocks: Vec<BlockView>,
    /// Pass it as `after` for the next page; `null` on the last.
    pub next: Option<u64>,
}

/// A sealed block of the record.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Block))]
pub struct BlockView {
    /// Its number, from 1.
    pub n: u64,
    /// The position of its first event in the feed.
    pub first: u64,
    /// How many events it has.
    pub count: u64,
    /// The root of its Merkle tree.
    pub root: Digest,
    /// The hash of the block before; zeros for the first.
    pub prev: Digest,
    /// Its own hash.
    pub hash: Digest,
    /// When it was sealed.
    pub at: Time,
    /// Whether the anchoring command has had it.
    pub anchored: bool,
    /// What was signed: a compact JWS.
    pub block: String,
}

impl BlockView {
    /// A block with its signature. Blocks up to `anchored` have been anchored.
    pub fn new(block: &Block, jws: String, anchored: u64) -> Self {
        Self {
            n: block.n,
            first: block.first,
            count: block.count,
            root: block.root,
            prev: block.prev,
            hash: block.hash(),
            at: block.at,
            anchored: block.n <= anchored,
            block: jws,
        }
    }
}
