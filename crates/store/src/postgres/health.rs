//! Whether the database is writable, how durable its commits are, and whether its data is damaged.

use std::collections::HashMap;
use std::pin::pin;

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient, Transaction};
use futures_util::TryStreamExt;
use kernel::{Ask, Subject, Task, Time};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use ulid::Ulid;
use uuid::Uuid;

use super::connect::on;
use super::failure::{DatabaseError, PostgresFailure};
use super::{Postgres, query, ulid};
use crate::consistency_check::{Derived, ListRow};
use crate::health::MOST_DAMAGES;
use crate::{Damage, Durability, Inspection, Result, StoreHealth};

/// A claim moves a wake-up by less than this. A wake-up further off was not moved by a claim.
const LONGEST_LEASE: i64 = 3_600_000;

#[async_trait]
impl StoreHealth for Postgres {
    async fn probe_write(&self) -> Result<()> {
        self.writers()?;
        // Write the last use of a key that cannot exist: one row, updated in place.
        Ok(on!(self.database, client => async {
            let sql = "INSERT INTO key_use (key, at)
                VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                ON CONFLICT (key) DO UPDATE SET at = excluded.at";
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, &[&Uuid::nil()]).await?;
            Ok::<_, PostgresFailure>(())
        })?)
    }

    async fn durability(&self) -> Result<Option<Durability>> {
        Ok(Some(on!(self.database, client => durability(&*client))?))
    }

    async fn inspect(&self) -> Result<Inspection> {
        // On separate connections without time limits, because everything is read once.
        let mut inspection = Inspection::default();
        let mut client = self.database.checkout().await?;
        client.batch_execute("SET statement_timeout = 0").await.map_err(PostgresFailure::from)?;
        own_check(&client, &mut inspection).await?;
        match compare(&mut client).await {
            Ok(damages) => inspection.damages.extend(damages),
            Err(PostgresFailure::Database(DatabaseError::Said { message, .. })) => {
                inspection.damages.push(Damage::database(format!(
                    "cannot check lists, deadlines and the search index: {message}"
                )));
            }
            Err(failure) => return Err(failure.into()),
        }
        client.batch_execute("RESET statement_timeout").await.map_err(PostgresFailure::from)?;
        Ok(inspection)
    }
}

async fn durability(client: &impl GenericClient) -> Result<Durability, PostgresFailure> {
    let sql = "SELECT current_setting('fsync'), current_setting('full_page_writes'),
        current_setting('synchronous_commit'), current_setting('synchronous_standby_names')";
    let row = client.query_one(sql, &[]).await?;
    Ok(Durability {
        fsync: row.try_get(0)?,
        full_page_writes: row.try_get(1)?,
        synchronous_commit: row.try_get(2)?,
        synchronous_standby_names: row.try_get(3)?,
    })
}

/// The database's own checks of its pages and indexes, if it has them.
async fn own_check(client: &Client, inspection: &mut Inspection) -> Result<(), PostgresFailure> {
    let sql = "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace
        ON pg_namespace.oid = extnamespace WHERE extname = 'amcheck'";
    let Some(row) = client.query_opt(sql, &[]).await? else {
        inspection.notes.push(
            "amcheck is not installed in this database, so its pages and indexes were not checked; \
             install it with: CREATE EXTENSION amcheck"
                .to_owned(),
        );
        return Ok(());
    };
    let schema: String = row.try_get(0)?;
    let relations = "SELECT pg_class.oid, relname, relkind = 'i' FROM pg_class
        JOIN pg_am ON pg_am.oid = relam
        WHERE relnamespace = current_schema()::text::regnamespace AND relpersistence = 'p'
            AND (relkind = 'r' OR (relkind = 'i' AND amname = 'btree'))
        ORDER BY relname";
    let index = format!("SELECT '' FROM {schema}.bt_index_check($1::oid::regclass, true)");
    let table = format!(
        "SELECT msg FROM {schema}.verify_heapam($1::oid::regclass, check_toast => true) \
         LIMIT {MOST_DAMAGES}"
    );
    for relation in client.query(relations, &[]).await? {
        let (oid, name): (u32, String) = (relation.try_get(0)?, relation.try_get(1)?);
        let sql = if relation.try_get(2)? { index.as_str() } else { table.as_str() };
        match client.query(sql, &[&oid]).await.map_err(DatabaseError::from) {
            Ok(found) => {
                for row in found {
                    let said: String = row.try_get(0)?;
                    if !said.is_empty() {
                        inspection.damages.push(Damage::database(format!("{name}: {said}")));
                    }
                }
            }
            Err(DatabaseError::Said { code, message })
                if code == SqlState::INSUFFICIENT_PRIVILEGE =>
            {
                inspection.notes.push(format!(
                    "this database user cannot use amcheck, so pages and indexes were not \
                     checked: {message}"
                ));
                return Ok(());
            }
            Err(DatabaseError::Said { message, .. }) => {
                inspection.damages.push(Damage::database(format!("{name}: {message}")));
            }
            Err(fault) => return Err(PostgresFailure::Database(fault)),
        }
    }
    Ok(())
}

/// Compares everything in one snapshot.
async fn compare(client: &mut Client) -> Result<Vec<Damage>, PostgresFailure> {
    let snapshot = query::snapshot(client).await?;
    // Whole tables are read, however large they are.
    snapshot
        .batch_execute(
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; \
             SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on",
        )
        .await?;
    let mut derived = Derived::default();
    let (mut wakes, mut ends) = (HashMap::new(), HashMap::new());
    each(&snapshot, "SELECT id, state FROM ask", |row| {
        let id = id(row, 0)?;
        let Ok(ask) = serde_json::from_str::<Ask>(row.try_get(1)?) else { return Ok(()) };
        if ask.id.ulid() != id {
            derived.wrong(&kernel::AskId::new(id), "its row has the state of another request");
        }
        wakes.extend(ask.wake_at().map(|at| (id, at)));
        // Earlier versions stored no time for a conversation that a person began until
        // the agent replied.
        let kept = ask.retention_start().map(|at| (id, (at, ask.starts_conversation())));
        ends.extend(kept);
        derived.ask(&ask);
        Ok(())
    })
    .await?;
    each(&snapshot, "SELECT id, over_at, state FROM task", |row| {
        let id = id(row, 0)?;
        let Ok(task) = serde_json::from_str::<Task>(row.try_get(2)?) else { return Ok(()) };
        if task.id.ulid() != id {
            derived.wrong(&kernel::TaskId::new(id), "its row has the state of another task");
        }
        if row.try_get::<_, Option<i64>>(1)? != task.retention_start().map(Time::millis) {
            derived.wrong(&task.id, "the start of its retention period does not match its state");
        }
        derived.task(&task);
        Ok(())
    })
    .await?;
    lists(&snapshot, &mut derived).await?;
    moments(&snapshot, wakes, ends, &mut derived).await?;
    words(&snapshot, &mut derived).await?;
    Ok(derived.finish())
}

async fn lists(snapshot: &Transaction<'_>, derived: &mut Derived) -> Result<(), PostgresFailure> {
    let listing = "SELECT scope, phase, rank, id, kind, priority, agent_label, project_label, fold
        FROM listing";
    each(snapshot, listing, |row| {
        let found = ListRow {
            scope: row.try_get(0)?,
            phase: row.try_get(1)?,
            rank: row.try_get::<_, i16>(2)?.into(),
            kind: row.try_get(4)?,
            priority: row.try_get::<_, i16>(5)?.into(),
            agent_label: row.try_get(6)?,
            project_label: row.try_get(7)?,
        };
        derived.listed(id(row, 3)?, &found, row.try_get(8)?);
        Ok(())
    })
    .await?;
    each(snapshot, "SELECT scope, at, id FROM deadline", |row| {
        derived.expires(id(row, 2)?, row.try_get(0)?, row.try_get(1)?);
        Ok(())
    })
    .await?;
    each(snapshot, "SELECT scope, id FROM task_list", |row| {
        derived.task_listed(id(row, 1)?, row.try_get(0)?);
        Ok(())
    })
    .await?;
    each(snapshot, "SELECT task, id FROM review", |row| {
        derived.review(id(row, 0)?, id(row, 1)?);
        Ok(())
    })
    .await
}

/// Checks the wake-up and end times of asks. A claim moves a wake-up to the end of the claim.
async fn moments(
    snapshot: &Transaction<'_>,
    mut wakes: HashMap<Ulid, Time>,
    mut ends: HashMap<Ulid, (Time, bool)>,
    derived: &mut Derived,
) -> Result<(), PostgresFailure> {
    let wake = "its next reminder, escalation or deadline does not match its state";
    let sql = format!(
        "SELECT ask, at, at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint + {LONGEST_LEASE}
         FROM wake"
    );
    each(snapshot, &sql, |row| {
        let (id, at, far): (_, i64, bool) = (id(row, 0)?, row.try_get(1)?, row.try_get(2)?);
        let expected = wakes.remove(&id).map(Time::millis);
        if expected.is_none_or(|expected| at < expected || (far && at != expected)) {
            derived.wrong(&kernel::AskId::new(id), wake);
        }
        Ok(())
    })
    .await?;
    let over = "the start of its retention period does not match its state";
    each(snapshot, "SELECT ask, at FROM ended", |row| {
        let id = id(row, 0)?;
        if ends.remove(&id).map(|(at, _)| at.millis()) != Some(row.try_get(1)?) {
            derived.wrong(&kernel::AskId::new(id), over);
        }
        Ok(())
    })
    .await?;
    for id in wakes.into_keys() {
        derived.wrong(&kernel::AskId::new(id), wake);
    }
    for (id, _) in ends.into_iter().filter(|(_, (_, early))| !early) {
        derived.wrong(&kernel::AskId::new(id), over);
    }
    Ok(())
}

async fn words(snapshot: &Transaction<'_>, derived: &mut Derived) -> Result<(), PostgresFailure> {
    let later = "SELECT subject FROM feed WHERE position > (SELECT position FROM search_place)
        UNION ALL SELECT unnest(subjects) FROM pending";
    each(snapshot, later, |row| {
        if let Ok(Subject::Ask(id)) = row.try_get::<_, &str>(0)?.parse() {
            derived.changed(id.ulid());
        }
        Ok(())
    })
    .await?;
    each(snapshot, "SELECT id, tsvector_to_array(words) FROM search", |row| {
        let id = id(row, 0)?;
        for word in row.try_get::<_, Vec<&str>>(1)? {
            derived.word(id, word);
        }
        Ok(())
    })
    .await
}

fn id(row: &Row, n: usize) -> Result<Ulid, PostgresFailure> {
    Ok(ulid(row.try_get(n)?))
}

/// Reads rows one by one: no table is held in memory.
async fn each(
    snapshot: &Transaction<'_>,
    sql: &str,
    mut found: impl FnMut(&Row) -> Result<(), PostgresFailure>,
) -> Result<(), PostgresFailure> {
    let none: [&(dyn ToSql + Sync); 0] = [];
    let mut rows = pin!(snapshot.query_raw(sql, none).await?);
    while let Some(row) = rows.try_next().await? {
        found(&row)?;
    }
    Ok(())
}
