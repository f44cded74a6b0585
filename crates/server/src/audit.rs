//! Checking the record: every chain from its first event, and the state it gives.

use std::collections::HashMap;

use kernel::audit::{Broken, Verifier, Why};
use kernel::{Entity, Subject, evolve};
use store::{Store, StoreError};

/// What a check found.
pub struct Report {
    /// How many events were read.
    pub events: u64,
    /// Of how many subjects.
    pub subjects: usize,
    /// What does not hold: the first break of each chain.
    pub broken: Vec<Broken>,
}

/// One subject while its chain is read: the state its events give so far.
#[derive(Default)]
struct Chain {
    verifier: Verifier,
    state: Option<Entity>,
    broken: bool,
}

/// Reads every chain from its first event, replays it, and compares with what is stored.
/// `progress` is told how many events were read so far.
pub async fn check(
    store: &dyn Store,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Report, StoreError> {
    let mut chains: HashMap<Subject, Chain> = HashMap::new();
    let mut report = Report { events: 0, subjects: 0, broken: Vec::new() };
    let mut position = 0;
    loop {
        let records = store.all_records(position, 1000).await?;
        if records.is_empty() {
            break;
        }
        for (at, record) in records {
            position = at;
            report.events += 1;
            let chain = chains.entry(record.subject.clone()).or_default();
            if chain.broken {
                continue;
            }
            let misfit =
                || Broken { subject: record.subject.clone(), seq: record.seq, why: Why::Content };
            let outcome = chain.verifier.check(&record).and_then(|event| {
                chain.state =
                    Some(evolve(chain.state.take(), &event, record.hash).map_err(|_| misfit())?);
                Ok(())
            });
            if let Err(broken) = outcome {
                chain.broken = true;
                report.broken.push(broken);
            }
        }
        progress(report.events);
    }
    report.subjects = chains.len();
    compare(store, chains, &mut report).await?;
    Ok(report)
}

/// Every subject's stored state must be what its events give.
async fn compare(
    store: &dyn Store,
    chains: HashMap<Subject, Chain>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let directory = store.directory();
    for (subject, chain) in chains {
        if chain.broken {
            continue;
        }
        let stored = match &subject {
            Subject::Ask(id) => store.ask(*id).await?.map(|ask| Entity::Ask(Box::new(ask))),
            other => directory.entity(other),
        };
        // A running server may have gone on since its records were read.
        let moved = |stored: &Entity| {
            chain.state.as_ref().is_some_and(|state| stored.head().seq > state.head().seq)
        };
        if stored != chain.state && !stored.as_ref().is_some_and(moved) {
            let seq = chain.verifier.head().map_or(0, |head| head.seq);
            report.broken.push(Broken { subject, seq, why: Why::Head });
        }
    }
    Ok(())
}
