//! Verifies a chain, link by link.

use super::{Digest, Head, Record, RecordRow, link_hash};
use crate::event::Event;
use crate::ids::Subject;

/// The event at which a chain fails verification, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{subject} event {seq}: {why}")]
pub struct ChainError {
    /// The subject of the chain.
    pub subject: Subject,
    /// The number of the event.
    pub seq: u64,
    /// The check that failed.
    pub why: ChainFault,
}

/// What can be wrong with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// The stored bytes do not hash to the stored hash.
    #[error("its bytes do not have its hash")]
    Hash,
    /// It does not link to the previous event, is dated before it, or belongs to another subject.
    #[error("it does not follow the event before it")]
    Link,
    /// A number is missing or doubled.
    #[error("a number is missing or doubled here")]
    Gap,
    /// A value beside the event does not match its commitment, or the event cannot be read.
    #[error("a stored value does not match its commitment")]
    Content,
    /// The columns contradict the hashed bytes.
    #[error("its columns do not match its bytes")]
    Columns,
    /// The subject's row does not match the end of its chain.
    #[error("the subject's state does not match the end of its chain")]
    Head,
}

/// Verifies one subject's chain from its first event, link by link.
#[derive(Debug, Default)]
pub struct Verifier {
    last: Option<(Subject, Head)>,
}

impl Verifier {
    /// Checks the next record and returns its event.
    pub fn check(&mut self, record: &Record) -> Result<Event, ChainError> {
        let place = RecordLink {
            subject: &record.subject,
            seq: record.seq,
            prev: record.prev,
            hash: record.hash,
        };
        self.follow(place, || {
            if link_hash(record.prev, record.body.as_bytes()) != record.hash {
                return Err(ChainFault::Hash);
            }
            let event = record.event().map_err(|broken| broken.why)?;
            let columns = event.subject == record.subject
                && event.seq == record.seq
                && event.at == record.at
                && event.what.name() == record.what;
            if columns { Ok(event) } else { Err(ChainFault::Columns) }
        })
    }

    /// Checks a row of this subject. The caller may have opened the row already.
    pub fn check_row(
        &mut self,
        subject: &Subject,
        row: &RecordRow,
        opened: impl FnOnce() -> Result<Event, ChainFault>,
    ) -> Result<Event, ChainError> {
        self.follow(RecordLink { subject, seq: row.seq, prev: row.prev, hash: row.hash }, opened)
    }

    fn follow(
        &mut self,
        place: RecordLink<'_>,
        opened: impl FnOnce() -> Result<Event, ChainFault>,
    ) -> Result<Event, ChainError> {
        let broken = |why| ChainError { subject: place.subject.clone(), seq: place.seq, why };
        let (seq, prev) =
            self.last.as_ref().map_or((1, Digest::ZERO), |(_, head)| (head.seq + 1, head.hash));
        if place.seq != seq {
            return Err(broken(ChainFault::Gap));
        }
        if place.prev != prev {
            return Err(broken(ChainFault::Link));
        }
        let event = opened().map_err(broken)?;
        let follows =
            |(subject, head): &(Subject, Head)| *subject == event.subject && head.at <= event.at;
        if !self.last.as_ref().is_none_or(follows) {
            return Err(broken(ChainFault::Link));
        }
        let head = Head { seq, hash: place.hash, at: event.at };
        self.last = Some((event.subject.clone(), head));
        Ok(event)
    }

    /// Continues after a head that was verified before or is trusted.
    pub fn after(subject: Subject, head: Head) -> Self {
        Self { last: Some((subject, head)) }
    }

    /// The end of the verified chain; `None` before the first event.
    pub fn head(&self) -> Option<Head> {
        self.last.as_ref().map(|(_, head)| *head)
    }
}

/// The fields of a record that place it in the chain.
#[derive(Clone, Copy)]
struct RecordLink<'a> {
    subject: &'a Subject,
    seq: u64,
    prev: Digest,
    hash: Digest,
}
