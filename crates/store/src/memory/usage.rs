//! Usage counters. What databases count as they write requests is computed here on each query.

use async_trait::async_trait;
use kernel::Phase;
use ulid::Ulid;

use super::Memory;
use super::state::MemoryState;
use crate::Result;
use crate::usage::{Charge, ChargeLifetime, UsageStore, member};

#[async_trait]
impl UsageStore for Memory {
    async fn charge(&self, charges: Vec<Charge>) -> Result<Option<usize>> {
        let mut state = self.state();
        let (used, held) = (state.used.clone(), state.held.clone());
        for (place, charge) in charges.iter().enumerate() {
            state.add(charge);
            if charge.limit.is_some_and(|limit| state.counter_value(&charge.name) > limit) {
                (state.used, state.held) = (used, held);
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    async fn used(&self, names: Vec<String>) -> Result<Vec<u64>> {
        let state = self.state();
        Ok(names.iter().map(|name| state.counter_value(name)).collect())
    }

    async fn release(&self, holder: Ulid) -> Result<()> {
        self.state().held.retain(|(of, _), _| *of != holder);
        Ok(())
    }
}

impl MemoryState {
    fn add(&mut self, charge: &Charge) {
        let Charge { name, by, .. } = charge;
        match &charge.kind {
            ChargeLifetime::Until(until) => {
                self.used.entry(name.clone()).or_insert((0, *until)).0 += by;
            }
            ChargeLifetime::OnceUntil(until, who) => {
                let known = member(name, who);
                if let std::collections::btree_map::Entry::Vacant(e) = self.used.entry(known) {
                    e.insert((1, *until));
                    self.used.entry(name.clone()).or_insert((0, *until)).0 += by;
                }
            }
            ChargeLifetime::Held(holder) => {
                *self.held.entry((*holder, name.clone())).or_default() += by;
            }
        }
    }

    fn counter_value(&self, name: &str) -> u64 {
        let held = self.held.iter().filter(|((_, of), _)| of == name).map(|(_, bytes)| bytes);
        let counted = self.used.get(name).map_or(0, |(used, _)| *used) + held.sum::<u64>();
        let of_asks: usize = match name.split_once('/') {
            Some(("open_asks", scope)) => {
                let lists = self.listing.iter().map(|(entry, _)| entry);
                lists
                    .filter(|entry| entry.scope == scope && Phase::OPEN.contains(&entry.phase))
                    .count()
            }
            Some(("stored_bytes", account)) => {
                let asks = self.asks.values().filter(|ask| {
                    account == format!("agent/{}", ask.agent)
                        || account == format!("project/{}", ask.project)
                });
                asks.map(|ask| serde_json::to_string(ask).map_or(0, |text| text.len())).sum()
            }
            _ => 0,
        };
        counted + of_asks as u64
    }
}
