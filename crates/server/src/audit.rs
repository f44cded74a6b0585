//! Checking the record: every chain from its first event, and the state it gives.

use std::collections::HashMap;

use kernel::audit::{Broken, Record, Verifier, Why};
use kernel::{Entity, Phase, Subject, evolve};
use store::{Filter, List, Scope, Store, StoreError};

/// How much is read at once.
const PAGE: usize = 1000;

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

impl Chain {
    /// Where it ends so far.
    fn seq(&self) -> u64 {
        self.verifier.head().map_or(0, |head| head.seq)
    }

    /// Checks its next record, and tells the first that does not hold.
    fn read(&mut self, record: &Record) -> Result<(), Broken> {
        if self.broken {
            return Ok(());
        }
        let misfit =
            || Broken { subject: record.subject.clone(), seq: record.seq, why: Why::Content };
        let outcome = self
            .verifier
            .check(record)
            .and_then(|event| evolve(self.state.take(), &event, record.hash).map_err(|_| misfit()));
        match outcome {
            Ok(state) => self.state = Some(state),
            Err(broken) => {
                self.broken = true;
                return Err(broken);
            }
        }
        Ok(())
    }
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
        let records = store.all_records(position, PAGE).await?;
        if records.is_empty() {
            break;
        }
        for (at, record) in records {
            position = at;
            report.events += 1;
            let chain = chains.entry(record.subject.clone()).or_default();
            report.broken.extend(chain.read(&record).err());
        }
        progress(report.events);
    }
    report.subjects = chains.len();
    for (subject, chain) in &mut chains {
        report.broken.extend(compare(store, subject, chain).await?);
    }
    unrecorded(store, &chains, &mut report).await?;
    Ok(report)
}

/// A subject's stored state must be what its events give.
async fn compare(
    store: &dyn Store,
    subject: &Subject,
    chain: &mut Chain,
) -> Result<Option<Broken>, StoreError> {
    if chain.broken {
        return Ok(None);
    }
    let misfit = |seq| Some(Broken { subject: subject.clone(), seq, why: Why::Head });
    let stored = match subject {
        Subject::Ask(id) => match store.ask(*id).await {
            Err(StoreError::Damaged { .. }) => return Ok(misfit(chain.seq())),
            ask => ask?.map(|ask| Entity::Ask(Box::new(ask))),
        },
        other => store.directory().entity(other),
    };
    // A running server may have gone on since its records were read; then there are more of them.
    let ahead = stored.as_ref().map_or(0, |stored| stored.head().seq.saturating_sub(chain.seq()));
    if let Ok(ahead @ 1..) = usize::try_from(ahead) {
        for record in store.records(subject.clone(), chain.seq(), ahead).await? {
            if let Err(broken) = chain.read(&record) {
                return Ok(Some(broken));
            }
        }
    }
    Ok(if stored == chain.state { None } else { misfit(chain.seq()) })
}

/// Asks without any record: somebody took the whole chain away.
async fn unrecorded(
    store: &dyn Store,
    chains: &HashMap<Subject, Chain>,
    report: &mut Report,
) -> Result<(), StoreError> {
    for project in store.directory().projects() {
        let mut list = List {
            scopes: vec![Scope::Project(project.id.clone())],
            phases: Phase::ALL.to_vec(),
            filter: Filter::default(),
            after: None,
            limit: PAGE,
        };
        loop {
            let page = match store.list(list.clone()).await {
                // What lists cannot read has been told by its name.
                Err(StoreError::Damaged { .. }) if !report.broken.is_empty() => break,
                page => page?,
            };
            for ask in page.asks {
                let subject = Subject::Ask(ask.id);
                // One made since the records were read has its own by now.
                if !chains.contains_key(&subject)
                    && store.records(subject.clone(), 0, 1).await?.is_empty()
                {
                    report.broken.push(Broken { subject, seq: 1, why: Why::Gap });
                }
            }
            list.after = page.next;
            if list.after.is_none() {
                break;
            }
        }
    }
    Ok(())
}
