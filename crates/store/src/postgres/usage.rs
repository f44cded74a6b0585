//! Usage counters.

use async_trait::async_trait;
use deadpool_postgres::{Client, Transaction};
use kernel::Time;
use ulid::Ulid;

use super::connect::on;
use super::failure::Failure;
use super::{Postgres, uuid};
use crate::Result as Stored;
use crate::rows::{int, uint};
use crate::usage::{Charge, Counting, Usage, member};

const ADD: &str = "INSERT INTO usage AS known (name, shard, used, until) VALUES ($1, 0, $2, $3)
    ON CONFLICT (name, shard) DO UPDATE SET used = known.used + excluded.used";
const ONCE: &str = "INSERT INTO usage (name, shard, used, until) VALUES ($1, 0, 1, $2)
    ON CONFLICT (name, shard) DO NOTHING";
const HOLD: &str = "INSERT INTO usage_held AS known (holder, name, bytes) VALUES ($1, $2, $3)
    ON CONFLICT (holder, name) DO UPDATE SET bytes = known.bytes + excluded.bytes";
const USED: &str = "SELECT name, sum(used)::bigint FROM usage WHERE name = ANY ($1) GROUP BY name";

#[async_trait]
impl Usage for Postgres {
    async fn charge(&self, charges: Vec<Charge>) -> Stored<Option<usize>> {
        self.writers()?;
        Ok(on!(self.database, client => charge(client, &charges))?)
    }

    async fn used(&self, names: Vec<String>) -> Stored<Vec<u64>> {
        Ok(on!(self.database, client => used(client, &names))?)
    }

    async fn release(&self, holder: Ulid) -> Stored<()> {
        self.execute("DELETE FROM usage_held WHERE holder = $1", &[&uuid(holder)]).await.map(drop)
    }
}

async fn charge(client: &mut Client, charges: &[Charge]) -> Result<Option<usize>, Failure> {
    // In the order of their names, so that two transactions do not deadlock.
    let mut ordered: Vec<(usize, &Charge)> = charges.iter().enumerate().collect();
    ordered.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    let transaction = client.transaction().await?;
    let mut exceeded = None;
    for (place, charge) in ordered {
        add(&transaction, charge).await?;
        if let Some(limit) = charge.limit {
            let sum = transaction.prepare_cached(USED).await?;
            let row = transaction.query_opt(&sum, &[&[charge.name.as_str()].as_slice()]).await?;
            let now: i64 = row.map(|row| row.try_get(1)).transpose()?.unwrap_or(0);
            if now > int(limit) {
                exceeded = Some(exceeded.map_or(place, |first: usize| first.min(place)));
            }
        }
    }
    if exceeded.is_some() {
        transaction.rollback().await?;
    } else {
        transaction.commit().await?;
    }
    Ok(exceeded)
}

async fn add(transaction: &Transaction<'_>, charge: &Charge) -> Result<(), Failure> {
    let (name, by) = (&charge.name, int(charge.by));
    let add = transaction.prepare_cached(ADD).await?;
    match &charge.kind {
        Counting::Until(until) => {
            transaction.execute(&add, &[name, &by, &until.millis()]).await?;
        }
        Counting::OnceUntil(until, who) => {
            let once = transaction.prepare_cached(ONCE).await?;
            let known = member(name, who);
            if transaction.execute(&once, &[&known, &until.millis()]).await? == 1 {
                transaction.execute(&add, &[name, &by, &until.millis()]).await?;
            }
        }
        Counting::Held(holder) => {
            let hold = transaction.prepare_cached(HOLD).await?;
            transaction.execute(&hold, &[&uuid(*holder), name, &by]).await?;
        }
    }
    Ok(())
}

async fn used(client: &Client, names: &[String]) -> Result<Vec<u64>, Failure> {
    let statement = client.prepare_cached(USED).await?;
    let rows = client.query(&statement, &[&names]).await?;
    let mut found = std::collections::HashMap::new();
    for row in &rows {
        found.insert(row.try_get::<_, &str>(0)?, uint(row.try_get::<_, i64>(1)?.max(0)));
    }
    Ok(names.iter().map(|name| found.get(name.as_str()).copied().unwrap_or(0)).collect())
}

/// Deletes expired counters.
pub(super) async fn sweep(client: &Client, now: Time) -> Result<(), Failure> {
    let statement = client.prepare_cached("DELETE FROM usage WHERE until <= $1").await?;
    client.execute(&statement, &[&now.millis()]).await?;
    Ok(())
}
