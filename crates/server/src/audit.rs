//! Checking the record: every chain from its first event, the state it gives against the state that
//! is stored, and that nothing stands beside the chains.
//!
//! What cannot be noticed yet: the newest events taken away together with the rows they made. That
//! needs the sealed blocks that are to come.

use std::fmt;

use kernel::audit::{Broken, Verifier, Why};
use kernel::{Entity, Subject, evolve};
use store::{Store, StoreError};

/// How many rows are read at once.
const PAGE: usize = 500;

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many events were read.
    pub events: u64,
    /// Of how many subjects.
    pub subjects: u64,
    /// What does not hold.
    pub findings: Vec<Finding>,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A chain breaks here, or does not end where its subject stands.
    Broken(Broken),
    /// Events were taken out of the feed before this position.
    Missing {
        /// The first position after the gap.
        position: u64,
    },
    /// Events of a subject that is not there.
    Stray(Subject),
    /// A state that cannot be read.
    Unreadable(Subject),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(broken) => broken.fmt(f),
            Self::Missing { position } => {
                write!(f, "events are missing before position {position} of the feed")
            }
            Self::Stray(subject) => write!(f, "{subject}: there are events but no state"),
            Self::Unreadable(subject) => write!(f, "{subject}: its state cannot be read"),
        }
    }
}

/// Checks everything. `progress` is told how many events were read so far.
pub async fn check(
    store: &dyn Store,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let directory = store.directory();
    for subject in directory.subjects() {
        if let Some(entity) = directory.entity(&subject) {
            check_chain(store, &entity, &mut report).await?;
        }
    }
    let mut after = None;
    loop {
        let ids = store.ids(after, PAGE).await?;
        let Some(last) = ids.last() else { break };
        after = Some(*last);
        for id in ids {
            match store.ask(id).await {
                Ok(Some(ask)) => {
                    check_chain(store, &Entity::Ask(Box::new(ask)), &mut report).await?;
                }
                Err(StoreError::Damaged { .. }) => {
                    report.findings.push(Finding::Unreadable(Subject::Ask(id)));
                }
                // Asks do not go; if one did, its events say so below.
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        progress(report.events);
    }
    check_feed(store, &mut report).await?;
    Ok(report)
}

/// The chain of one subject, replayed and compared with its state. A running server may have gone
/// on since the state was read, so the replay is looked at where the state stands.
async fn check_chain(
    store: &dyn Store,
    stored: &Entity,
    report: &mut Report,
) -> Result<(), StoreError> {
    report.subjects += 1;
    let (subject, end) = (stored.subject(), stored.head().seq);
    let mut verifier = Verifier::default();
    let mut state = None;
    let mut seq = 0;
    while seq < end {
        let limit = usize::try_from(end - seq).unwrap_or(PAGE).min(PAGE);
        let records = store.records(subject.clone(), seq, limit).await?;
        if records.is_empty() {
            break;
        }
        for record in records {
            seq = record.seq;
            report.events += 1;
            let replayed = verifier.check(&record).and_then(|event| {
                evolve(state.take(), &event, record.hash).map_err(|_| Broken {
                    subject: subject.clone(),
                    seq,
                    why: Why::Content,
                })
            });
            match replayed {
                Ok(entity) => state = Some(entity),
                Err(broken) => {
                    report.findings.push(Finding::Broken(broken));
                    return Ok(());
                }
            }
        }
    }
    if state.as_ref() != Some(stored) {
        let seq = seq.max(1);
        report.findings.push(Finding::Broken(Broken { subject, seq, why: Why::Head }));
    }
    Ok(())
}

/// Positions follow each other, and every chain belongs to somebody.
async fn check_feed(store: &dyn Store, report: &mut Report) -> Result<(), StoreError> {
    let mut position = 0;
    loop {
        let records = store.all_records(position, PAGE).await?;
        if records.is_empty() {
            return Ok(());
        }
        for (at, record) in records {
            if at != position + 1 {
                report.findings.push(Finding::Missing { position: at });
            }
            position = at;
            if record.seq == 1 && !is_there(store, &record.subject).await? {
                report.findings.push(Finding::Stray(record.subject));
            }
        }
    }
}

async fn is_there(store: &dyn Store, subject: &Subject) -> Result<bool, StoreError> {
    Ok(match subject {
        Subject::Ask(id) => match store.ask(*id).await {
            // There, though it cannot be read; that was told already.
            Err(StoreError::Damaged { .. }) => true,
            found => found?.is_some(),
        },
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Human(_)
        | Subject::Key(_)
        | Subject::Rule(_) => store.directory().entity(subject).is_some(),
    })
}
