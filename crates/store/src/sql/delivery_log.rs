//! The webhook delivery log.

use async_trait::async_trait;
use kernel::{Time, WebhookId};

use super::work::unleased;
use super::{SqlRow, SqlStore, Statements, ranges, values};
use crate::Result;
use crate::columns::{read_state, state};
use crate::work_queue::{
    DeliveryLog, DeliveryLogEntry, DeliveryLogQuery, DeliveryLogUpdate, WebhookDeliveryStatus,
};

const LOG: &str = "log of deliveries";

/// Logs the outcome of a delivery.
pub(super) async fn log_attempt(sql: &mut dyn Statements, entry: &DeliveryLogUpdate) -> Result<()> {
    let before = find(sql, entry.webhook, &entry.message.id).await?;
    put(sql, &entry.clone().onto(before)).await
}

/// One delivery, locked until the end of the transaction.
pub(super) async fn find(
    sql: &mut dyn Statements,
    webhook: WebhookId,
    id: &str,
) -> Result<Option<DeliveryLogEntry>> {
    let lock = sql.dialect().pick("", "FOR UPDATE");
    let select =
        format!("SELECT state FROM delivery_log WHERE webhook = $1 AND message = $2 {lock}");
    sql.query(&select, &values![webhook, id]).await?.pop().map(read).transpose()
}

pub(super) async fn put(sql: &mut dyn Statements, logged: &DeliveryLogEntry) -> Result<()> {
    let put = "INSERT INTO delivery_log (webhook, message, at, status, updated_at, state)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (webhook, message) DO UPDATE
            SET status = excluded.status, updated_at = excluded.updated_at, state = excluded.state";
    let DeliveryLogEntry { webhook, message, status, updated_at, .. } = logged;
    let (status, state) = (status.as_str(), state(LOG, logged)?);
    let row = values![*webhook, &message.id, message.at, status, *updated_at, state];
    sql.execute(put, &row).await.map(drop)
}

#[async_trait]
impl<S: SqlStore> DeliveryLog for S {
    async fn delivery_log(&self, wanted: DeliveryLogQuery) -> Result<Vec<DeliveryLogEntry>> {
        // Each status is a range of the index. All come from one snapshot, so that a delivery
        // settled meanwhile appears once.
        let range = "SELECT state FROM delivery_log
            WHERE status = $1 AND webhook = $2 AND (at, message) < ($3, $4)
            ORDER BY at DESC, message DESC LIMIT $5";
        let statuses: Vec<&str> =
            wanted.statuses().into_iter().map(WebhookDeliveryStatus::as_str).collect();
        let (at, message) = wanted.place();
        let shared = values![wanted.webhook, at, message, wanted.limit];
        let rows = ranges(self, range, statuses, shared).await?;
        Ok(wanted.newest(rows.into_iter().map(read).collect::<Result<_>>()?))
    }

    async fn redeliver(
        &self,
        webhook: WebhookId,
        id: &str,
        now: Time,
    ) -> Result<Option<DeliveryLogEntry>> {
        self.write((webhook, id.to_owned(), now), |sql, (webhook, id, now)| {
            Box::pin(async move {
                let Some(logged) = find(sql, *webhook, id).await? else {
                    return Ok(None);
                };
                let work = logged.again();
                let hurry = format!(
                    "UPDATE work SET due_at = $3, attempt = 0{}
                    WHERE id = $1 AND lane = $2 AND NOT dead",
                    unleased(sql)
                );
                let waiting = match logged.delivery {
                    Some(delivery) => {
                        let row = values![delivery, &*work.lane(), *now];
                        (sql.execute(&hurry, &row).await? > 0).then_some(delivery)
                    }
                    None => None,
                };
                let delivery = match waiting {
                    Some(delivery) => delivery,
                    None => sql.put_work(&[(*now, work)]).await?,
                };
                let logged = logged.awaiting(delivery, *now);
                put(sql, &logged).await?;
                Ok(Some(logged))
            })
        })
        .await
    }

    async fn clear_delivery_log(&self, webhook: WebhookId, limit: usize) -> Result<usize> {
        let sql = "DELETE FROM delivery_log WHERE webhook = $1 AND message IN (
                SELECT message FROM delivery_log WHERE webhook = $1 ORDER BY message LIMIT $2)";
        let gone = self.execute(sql, values![webhook, limit]).await?;
        Ok(usize::try_from(gone).unwrap_or(limit))
    }
}

fn read(mut row: SqlRow) -> Result<DeliveryLogEntry> {
    read_state(LOG, &row.get::<String>(0)?)
}
