//! The audit log on the wire: the events of an ask, and the sealed blocks.

use kernel::actor::ActorRef;
use kernel::audit::{Digest, Record};
use kernel::event::HELD_ANSWER;
use kernel::seal::Block;
use kernel::{Ask, Time};
use serde::Serialize;

use super::Viewer;

/// The audit log of an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Records))]
pub struct RecordListView {
    /// The entries, oldest first.
    pub events: Vec<RecordView>,
}

/// One recorded event. It has commitments instead of text.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Record))]
pub struct RecordView {
    /// The position in the hash chain of the ask, from 1.
    pub seq: u64,
    /// The time of the event.
    pub at: Time,
    /// The actor; `null` if the record cannot be read, and for agents if the event is about a held
    /// answer that could still be undone.
    pub by: Option<ActorRef>,
    /// The name of the event.
    pub event: &'static str,
    /// The hash of this event.
    pub hash: Digest,
    /// The hash of the previous event; zeros for the first one.
    pub prev: Digest,
    /// The canonical JSON that was hashed; `null` if it would reveal to an agent the names of a
    /// pool or a held answer.
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
    /// The entries, oldest first.
    pub blocks: Vec<BlockView>,
    /// Pass it as `after` for the next page; `null` on the last.
    pub next: Option<u64>,
}

/// A sealed block of the audit log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Block))]
pub struct BlockView {
    /// The number of the block, from 1.
    pub n: u64,
    /// The position of its first event in the feed.
    pub first: u64,
    /// The number of events in the block.
    pub count: u64,
    /// The root of the Merkle tree.
    pub root: Digest,
    /// The hash of the previous block; zeros for the first one.
    pub prev: Digest,
    /// The hash of the block.
    pub hash: Digest,
    /// The time of sealing.
    pub at: Time,
    /// Whether the anchor command has received the block.
    pub anchored: bool,
    /// The signed block as a compact JWS.
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
