//! The schema and how it got there. Several nodes may start at once: one of them migrates, under a
//! lock, and the others find it done.

use deadpool_postgres::Client;

use super::Failure;
use crate::migrations::{self, Applied, Migration};

pub(super) const MIGRATIONS: &[Migration] =
    &[Migration { version: 1, name: "begin", sql: include_str!("migrations/0001_begin.sql") }];

/// Held while a schema is brought up to date.
const LOCK: i64 = 0x636f_756e_7465_7272;

/// Brings a database to the newest version, all steps or none.
pub(super) async fn migrate(client: &mut Client, steps: &[Migration]) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS migration (
                 version bigint PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL
             )",
        )
        .await?;
    let rows = transaction
        .query("SELECT version, name, sha256 FROM migration ORDER BY version", &[])
        .await?;
    let applied: Result<Vec<Applied>, tokio_postgres::Error> =
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).collect();
    let applied = migrations::check(applied?, steps)?;
    for step in steps.iter().filter(|step| step.version > applied) {
        transaction.batch_execute(step.sql).await?;
        let note = "INSERT INTO migration (version, name, sha256) VALUES ($1, $2, $3)";
        transaction.execute(note, &[&step.version, &step.name, &step.checksum()]).await?;
    }
    Ok(transaction.commit().await?)
}
