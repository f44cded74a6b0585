//! Verifies every chain from its first event, and compares the resulting state with the stored one.

use std::sync::Arc;

use futures_util::{Stream, StreamExt, stream};
use kernel::audit::{ChainError, ChainFault, Verifier};
use kernel::task::{Artifact, Entry};
use kernel::{Ask, Entity, Subject, Task, evolve};
use store::{Store, StoreError, StoredChain, StoredState};

use super::{AuditFinding, AuditProgress, AuditReport, cores};

/// The approximate number of records per read.
const RECORDS_PER_READ: usize = 2_048;

/// Reads the log by subject in groups of chains, and checks the groups on all cores.
pub(super) async fn check(
    store: &Arc<dyn Store>,
    report: &mut AuditReport,
    progress: &mut (dyn FnMut(AuditProgress) + Send),
) -> Result<(), StoreError> {
    let total = store.last_position().await?;
    // One more than there are cores, so that one can be read while the others are checked.
    let mut checked = chain_groups(store).map(check_group).buffered(cores() + 1);
    while let Some(checked) = checked.next().await {
        let ChainCheck { events, subjects, findings } = checked?;
        report.events += events;
        report.subjects += subjects;
        for finding in findings {
            report.add_finding(finding);
        }
        progress(AuditProgress { done: report.events, total, events: report.events });
    }
    Ok(())
}

fn chain_groups(
    store: &Arc<dyn Store>,
) -> impl Stream<Item = Result<Vec<StoredChain>, StoreError>> {
    stream::unfold(Some(None), move |after: Option<Option<String>>| async move {
        match store.chains(after?, RECORDS_PER_READ).await {
            Ok(read) => Some((Ok(read.chains), read.next.map(Some))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

#[derive(Default)]
struct ChainCheck {
    events: u64,
    subjects: u64,
    findings: Vec<AuditFinding>,
}

async fn check_group(
    chains: Result<Vec<StoredChain>, StoreError>,
) -> Result<ChainCheck, StoreError> {
    let chains = chains?;
    let check = move || {
        let mut checked = ChainCheck::default();
        for chain in &chains {
            checked.events += chain.rows.len() as u64;
            checked.subjects += 1;
            checked.findings.extend(check_chain(chain).err());
        }
        checked
    };
    tokio::task::spawn_blocking(check).await.map_err(|error| StoreError::Unavailable(error.into()))
}

/// Checks one chain, up to its first finding.
fn check_chain(chain: &StoredChain) -> Result<(), AuditFinding> {
    let Ok(subject) = chain.subject.parse::<Subject>() else {
        return Err(match chain.rows.first() {
            Some(row) => AuditFinding::Nameless { position: row.position },
            None => AuditFinding::Unreadable(chain.subject.clone()),
        });
    };
    let mut verifier = Verifier::default();
    let mut state = None;
    let mut position = 0;
    for row in &chain.rows {
        let event =
            verifier.check_row(&subject, row, || row.open()).map_err(AuditFinding::Broken)?;
        if row.position <= position {
            let (subject, seq, position) = (chain.subject.clone(), row.seq, row.position);
            return Err(AuditFinding::Misplaced { subject, seq, position });
        }
        position = row.position;
        state = Some(evolve(state, &event, row.hash).map_err(AuditFinding::Nonsense)?);
    }
    let Some(held) = &chain.state else { return Err(AuditFinding::Stray(chain.subject.clone())) };
    let mut stored =
        read(&subject, held).ok_or_else(|| AuditFinding::Unreadable(chain.subject.clone()))?;
    // States that were stored before `visible_head` existed do not have it.
    if let (Some(Entity::Ask(folded)), Entity::Ask(stored)) = (&state, &mut stored) {
        stored.visible_head = stored.visible_head.or(folded.visible_head);
    }
    let seq = state.as_ref().map_or(0, |state| state.head().seq);
    if state.as_ref() != Some(&stored) || held.version != seq {
        return Err(AuditFinding::Broken(ChainError {
            subject,
            seq: seq.max(1),
            why: ChainFault::Head,
        }));
    }
    Ok(())
}

fn read(subject: &Subject, held: &StoredState) -> Option<Entity> {
    match subject {
        Subject::Ask(_) => {
            let ask: Ask = serde_json::from_str(&held.state).ok()?;
            Some(Entity::Ask(Box::new(ask)))
        }
        Subject::Task(_) => {
            let task: Task = serde_json::from_str(&held.state).ok()?;
            Some(Entity::Task(Box::new(task)))
        }
        Subject::Artifact(_) => {
            let artifact: Artifact = serde_json::from_str(&held.state).ok()?;
            Some(Entity::Artifact(Box::new(artifact)))
        }
        Subject::Entry(_) => {
            let entry: Entry = serde_json::from_str(&held.state).ok()?;
            Some(Entity::Entry(Box::new(entry)))
        }
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Human(_)
        | Subject::Key(_)
        | Subject::Rule(_)
        | Subject::Webhook(_) => serde_json::from_str(&held.state).ok(),
    }
}
