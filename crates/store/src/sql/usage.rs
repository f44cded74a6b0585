//! Usage counters.

use std::collections::HashMap;

use async_trait::async_trait;
use ulid::Ulid;

use super::{SqlStore, Statements, values};
use crate::usage::{Charge, ChargeLifetime, UsageStore, member};
use crate::{Result, StoreError};

#[async_trait]
impl<S: SqlStore> UsageStore for S {
    async fn charge(&self, charges: Vec<Charge>) -> Result<Option<usize>> {
        let charged = self.write(charges, |sql, charges| Box::pin(charge(sql, charges))).await;
        match charged {
            Ok(()) => Ok(None),
            Err(StoreError::Unavailable(error)) => match error.downcast::<ChargeExceeded>() {
                Ok(exceeded) => Ok(Some(exceeded.0)),
                Err(error) => Err(StoreError::Unavailable(error)),
            },
            Err(error) => Err(error),
        }
    }

    async fn used(&self, names: Vec<String>) -> Result<Vec<u64>> {
        let sql = "SELECT name, CAST(sum(used) AS bigint) FROM usage
            WHERE name = ANY ($1) GROUP BY name";
        let rows = self.query(sql, vec![names.iter().collect()]).await?;
        let mut found = HashMap::new();
        for mut row in rows {
            found.insert(row.get::<String>(0)?, row.get::<u64>(1)?);
        }
        Ok(names.iter().map(|name| found.get(name).copied().unwrap_or(0)).collect())
    }

    async fn release(&self, holder: Ulid) -> Result<()> {
        let sql = "DELETE FROM usage_held WHERE holder = $1";
        self.execute(sql, values![holder]).await.map(drop)
    }
}

/// The charge at this index would exceed the limit of its counter. As an error it undoes the
/// charges before it.
#[derive(Debug, thiserror::Error)]
#[error("a counter went above its limit")]
struct ChargeExceeded(usize);

async fn charge(sql: &mut dyn Statements, charges: &[Charge]) -> Result<()> {
    // In the order of their names, so that two transactions do not deadlock.
    let mut ordered: Vec<(usize, &Charge)> = charges.iter().enumerate().collect();
    ordered.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    let mut exceeded = None;
    for (index, charge) in ordered {
        add(sql, charge).await?;
        if let Some(limit) = charge.limit
            && used(sql, &charge.name).await? > limit
        {
            exceeded = Some(exceeded.map_or(index, |first: usize| first.min(index)));
        }
    }
    match exceeded {
        Some(index) => Err(StoreError::Unavailable(ChargeExceeded(index).into())),
        None => Ok(()),
    }
}

async fn add(sql: &mut dyn Statements, charge: &Charge) -> Result<()> {
    let Charge { name, by, .. } = charge;
    // PostgreSQL spreads the counters of triggers over shards; charged counters use the first.
    let key = sql.dialect().pick("name", "name, shard");
    let shard = sql.dialect().pick("$1", "$1, 0");
    let add = format!(
        "INSERT INTO usage ({key}, used, until) VALUES ({shard}, $2, $3)
        ON CONFLICT ({key}) DO UPDATE SET used = usage.used + excluded.used"
    );
    match &charge.kind {
        ChargeLifetime::Until(until) => {
            sql.execute(&add, &values![name, *by, *until]).await.map(drop)
        }
        ChargeLifetime::OnceUntil(until, who) => {
            let once = format!(
                "INSERT INTO usage ({key}, used, until) VALUES ({shard}, 1, $2)
                ON CONFLICT ({key}) DO NOTHING"
            );
            if sql.execute(&once, &values![member(name, who), *until]).await? == 1 {
                sql.execute(&add, &values![name, *by, *until]).await?;
            }
            Ok(())
        }
        ChargeLifetime::Held(holder) => {
            let hold = "INSERT INTO usage_held (holder, name, bytes) VALUES ($1, $2, $3)
                ON CONFLICT (holder, name)
                DO UPDATE SET bytes = usage_held.bytes + excluded.bytes";
            sql.execute(hold, &values![*holder, name, *by]).await.map(drop)
        }
    }
}

async fn used(sql: &mut dyn Statements, name: &str) -> Result<u64> {
    let sum = "SELECT CAST(sum(used) AS bigint) FROM usage WHERE name = $1";
    let row = sql.query(sum, &values![name]).await?.pop();
    let used = row.map(|mut row| row.get::<Option<i64>>(0)).transpose()?.flatten();
    Ok(crate::columns::uint(used.unwrap_or(0)))
}
