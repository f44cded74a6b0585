//! Work and the delivery log of webhook endpoints, in maps.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use kernel::{Time, WebhookId};

use super::Memory;
use super::state::WaitingWork;
use crate::work_queue::{
    BACKLOG_COUNTED, Backlog, ClaimedWork, DeliveryLog, DeliveryLogEntry, DeliveryLogQuery,
    DeliveryLogUpdate, Settlement, WebhookDeliveryStatus, WorkQueue,
};
use crate::{Result, Work, later};

#[async_trait]
impl WorkQueue for Memory {
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<ClaimedWork>> {
        let mut state = self.state();
        let mut due: Vec<(&u64, &mut WaitingWork)> = state
            .work
            .iter_mut()
            .filter(|(_, row)| row.dead.is_none() && row.due_at <= now && row.work.lane() == lane)
            .collect();
        let urgency = |work: &Work| (lane == Work::PEOPLE).then(|| work.rank());
        due.sort_by_key(|(id, row)| (urgency(&row.work), row.due_at, **id));
        let claimed = due.into_iter().take(limit).map(|(id, row)| {
            row.attempt = row.attempt.saturating_add(1);
            row.due_at = later(now, lease);
            let (work, attempt) = (row.work.clone(), row.attempt);
            ClaimedWork { id: *id, work, attempt, written_at: row.written_at }
        });
        Ok(claimed.collect())
    }

    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>> {
        let state = self.state();
        let mut lanes: BTreeMap<String, bool> = BTreeMap::new();
        for row in state.work.values().filter(|row| row.dead.is_none()) {
            *lanes.entry(row.work.lane().into_owned()).or_default() |= row.due_at <= now;
        }
        Ok(lanes.into_iter().filter(|(lane, _)| lane.as_str() > after).take(limit).collect())
    }

    async fn settle(
        &self,
        settled: Vec<(u64, Settlement)>,
        log: Vec<DeliveryLogUpdate>,
    ) -> Result<()> {
        let mut state = self.state();
        for (id, settlement) in settled {
            match settlement {
                Settlement::Done => {
                    state.work.remove(&id);
                }
                Settlement::Split { into } => {
                    if state.work.remove(&id).is_some() {
                        for (at, work) in into {
                            if !state.has_waiting(&work) {
                                state.put_work(work, at);
                            }
                        }
                    }
                }
                Settlement::Retry { at, error: _ } => {
                    if let Some(row) = state.work.get_mut(&id).filter(|row| row.dead.is_none()) {
                        row.due_at = at;
                    }
                }
                Settlement::Back { at } => {
                    if let Some(row) = state.work.get_mut(&id).filter(|row| row.dead.is_none()) {
                        row.due_at = at;
                        row.attempt = row.attempt.saturating_sub(1);
                    }
                }
                Settlement::Dead { error } => {
                    if let Some(row) = state.work.get_mut(&id) {
                        row.dead = Some(error);
                    }
                }
            }
        }
        for entry in log {
            let key = (entry.webhook, entry.message.id.clone());
            let before = state.log.remove(&key);
            state.log.insert(key, entry.onto(before));
        }
        Ok(())
    }

    async fn make_due(&self, work: Work, now: Time) -> Result<()> {
        let (mut state, name) = (self.state(), work.name());
        let same = |row: &&mut WaitingWork| row.dead.is_none() && row.work.name() == name;
        let waits = state.work.values_mut().find(same).filter(|_| name.is_some());
        if let Some(row) = waits {
            (row.work, row.due_at, row.attempt) = (work, now, 0);
        } else {
            state.put_work(work, now);
        }
        Ok(())
    }

    async fn backlog(&self) -> Result<Backlog> {
        let state = self.state();
        let dead = state.work.values().filter(|row| row.dead.is_some()).count();
        let letters = state
            .log
            .values()
            .filter(|logged| logged.status == WebhookDeliveryStatus::Dead)
            .count();
        let waiting = state.work.len() - dead;
        let bounded = |n: usize| (n as u64).min(BACKLOG_COUNTED);
        Ok(Backlog { waiting: bounded(waiting), dead: bounded(dead + letters) })
    }
}

#[async_trait]
impl DeliveryLog for Memory {
    async fn delivery_log(&self, wanted: DeliveryLogQuery) -> Result<Vec<DeliveryLogEntry>> {
        let (statuses, place) = (wanted.statuses(), wanted.place());
        let fits = |logged: &&DeliveryLogEntry| {
            let told = &logged.message;
            logged.webhook == wanted.webhook
                && statuses.contains(&logged.status)
                && (told.at.millis(), told.id.as_str()) < place
        };
        let found = self.state().log.values().filter(fits).cloned().collect();
        Ok(wanted.newest(found))
    }

    async fn redeliver(
        &self,
        webhook: WebhookId,
        id: &str,
        now: Time,
    ) -> Result<Option<DeliveryLogEntry>> {
        let mut state = self.state();
        let key = (webhook, id.to_owned());
        let Some(logged) = state.log.get(&key).cloned() else { return Ok(None) };
        let waits = logged.delivery.and_then(|id| Some((id, state.work.get_mut(&id)?)));
        let delivery = match waits {
            Some((id, row)) => {
                (row.due_at, row.attempt) = (now, 0);
                id
            }
            None => state.put_work(logged.again(), now),
        };
        let logged = logged.awaiting(delivery, now);
        state.log.insert(key, logged.clone());
        Ok(Some(logged))
    }

    async fn clear_delivery_log(&self, webhook: WebhookId, limit: usize) -> Result<usize> {
        let mut state = self.state();
        let own = state.log.keys().filter(|(of, _)| *of == webhook).take(limit).cloned();
        let gone: Vec<_> = own.collect();
        for key in &gone {
            state.log.remove(key);
        }
        Ok(gone.len())
    }
}
