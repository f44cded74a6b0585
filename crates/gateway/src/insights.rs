//! Reads the counts that a person or an agent may see. Only counts are read, so the number of asks
//! does not matter.

use kernel::directory::Agent;
use kernel::insight::access::{Insights, InsightsQuery, select_counts};
use kernel::insight::summary::StoredCount;
use kernel::insight::{CountScope, InsightSummary, Measure};
use kernel::{Actor, Refusal};
use store::{CountsQuery, Grain, Store, StoreError};

/// Why there are no insights.
#[derive(Debug)]
pub enum InsightsError {
    /// The actor may not see them, or they do not exist.
    Refused(Refusal),
    /// The store failed.
    Store(StoreError),
}

/// Reads the insights that an actor wants.
pub async fn read(
    store: &dyn Store,
    wanted: &InsightsQuery,
    actor: &Actor,
) -> Result<Insights, InsightsError> {
    let directory = store.directory();
    let (whose, compared) =
        select_counts(wanted, actor, &directory).map_err(InsightsError::Refused)?;
    let (from, to) = (wanted.from, wanted.to);
    let counts = |whose, measures: &[Measure], grain| CountsQuery {
        whose,
        measures: measures.to_vec(),
        from,
        to,
        grain,
    };
    let (daily, others): (Vec<Measure>, Vec<Measure>) =
        Measure::ALL.into_iter().partition(|measure| Measure::BY_DAY.contains(measure));
    let by_day = counts(whose.clone(), &daily, Grain::Day);
    let mut all = store.counts(by_day).await.map_err(InsightsError::Store)?;
    let others = counts(whose, &others, Grain::Span);
    all.extend(store.counts(others).await.map_err(InsightsError::Store)?);
    let each = |agent: &Agent| CountScope::Agent(agent.project.clone(), agent.id.clone());
    let of_agents = compared.iter().map(each).collect();
    let of_agents = counts(of_agents, &Measure::OF_AGENTS, Grain::Span);
    let lines = store.counts(of_agents).await.map_err(InsightsError::Store)?;
    let mut agents = Vec::with_capacity(compared.len());
    for agent in compared {
        let whose = each(&agent);
        let own: Vec<&StoredCount> = lines.iter().filter(|line| line.scope == whose).collect();
        if !own.is_empty() {
            agents.push((agent.project, agent.id, InsightSummary::of(own, from, to)));
        }
    }
    Ok(Insights { summary: InsightSummary::of(&all, from, to), agents })
}
