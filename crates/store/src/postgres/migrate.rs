//! The schema migrations. Several nodes may start at once: one of them migrates, under a lock, and
//! the others find it done.
//!
//! Old and new programs run side by side while nodes are replaced one by one, so each migration
//! names the oldest program version that may continue to run after it. A migration that only adds
//! supports the version before it. A migration that removes something comes one release later, when
//! no program that needs it is left, and supports only its own version.

use deadpool_postgres::{Client, GenericClient};

use super::failure::PostgresFailure;
use crate::migrations::{self, Applied, Migration};

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        serves: 1,
        name: "begin",
        sql: include_str!("migrations/0001_begin.sql"),
    },
    Migration {
        version: 2,
        serves: 1,
        name: "drafts",
        sql: include_str!("migrations/0002_drafts.sql"),
    },
    Migration {
        version: 3,
        serves: 1,
        name: "retention",
        sql: include_str!("migrations/0003_retention.sql"),
    },
    // An older program would look for the asks of agents where they no longer are.
    Migration {
        version: 4,
        serves: 4,
        name: "inbox",
        sql: include_str!("migrations/0004_inbox.sql"),
    },
    // An older program shows the agent a commitment instead of a secret answer. The secret stays
    // stored until a newer program reads it.
    Migration {
        version: 5,
        serves: 4,
        name: "confided",
        sql: include_str!("migrations/0005_confided.sql"),
    },
    // An older program cannot read an answer that was given from a notification.
    Migration {
        version: 6,
        serves: 6,
        name: "devices",
        sql: include_str!("migrations/0006_devices.sql"),
    },
    // An older program knows no webhook endpoints and would give up their deliveries.
    Migration {
        version: 7,
        serves: 7,
        name: "webhooks",
        sql: include_str!("migrations/0007_webhooks.sql"),
    },
    // An older program cannot read notification effects and would give them up.
    Migration {
        version: 8,
        serves: 8,
        name: "reach",
        sql: include_str!("migrations/0008_reach.sql"),
    },
    Migration {
        version: 9,
        serves: 8,
        name: "messages",
        sql: include_str!("migrations/0009_messages.sql"),
    },
    // An older program would answer a checkpoint without moving its task, and give up contracts.
    Migration {
        version: 10,
        serves: 10,
        name: "tasks",
        sql: include_str!("migrations/0010_tasks.sql"),
    },
    Migration {
        version: 11,
        serves: 10,
        name: "uploads",
        sql: include_str!("migrations/0011_uploads.sql"),
    },
    Migration {
        version: 12,
        serves: 10,
        name: "unused uploads",
        sql: include_str!("migrations/0012_unused_uploads.sql"),
    },
    // An older program would leave a task out of the lists of its agents.
    Migration {
        version: 13,
        serves: 13,
        name: "known tasks",
        sql: include_str!("migrations/0013_known_tasks.sql"),
    },
    Migration {
        version: 14,
        serves: 13,
        name: "insights",
        sql: include_str!("migrations/0014_insights.sql"),
    },
    // An older program would leave a task out of the list of its agent and project.
    Migration {
        version: 15,
        serves: 15,
        name: "given projects",
        sql: include_str!("migrations/0015_given_projects.sql"),
    },
    // An older program would write counts to a table that is gone.
    Migration {
        version: 16,
        serves: 16,
        name: "running",
        sql: include_str!("migrations/0016_running.sql"),
    },
    // Triggers maintain the counters, whichever program writes.
    Migration {
        version: 17,
        serves: 16,
        name: "usage",
        sql: include_str!("migrations/0017_usage.sql"),
    },
    // An older program would leave rows behind when such an ask is resolved.
    Migration {
        version: 18,
        serves: 18,
        name: "due",
        sql: include_str!("migrations/0018_due.sql"),
    },
    // An older program would leave the signatures of an erased receipt behind.
    Migration {
        version: 19,
        serves: 19,
        name: "receipt signatures",
        sql: include_str!("migrations/0019_receipt_signatures.sql"),
    },
    // An older program would look for drafts, devices and codes in tables that are gone.
    Migration {
        version: 20,
        serves: 20,
        name: "side",
        sql: include_str!("migrations/0020_side.sql"),
    },
    // An older program would write effects to a table that is gone, and none for its commits.
    Migration {
        version: 21,
        serves: 21,
        name: "followers",
        sql: include_str!("migrations/0021_followers.sql"),
    },
    // An older program does not count the requests that it creates.
    Migration {
        version: 22,
        serves: 22,
        name: "counters",
        sql: include_str!("migrations/0022_counters.sql"),
    },
];

/// Held during a migration.
const LOCK: i64 = 0x636f_756e_7465_7272;

/// Migrates a database to the newest version, in one transaction.
pub(super) async fn migrate(
    client: &mut Client,
    steps: &[Migration],
) -> Result<(), PostgresFailure> {
    let transaction = client.transaction().await?;
    // A second node waits as long as the first one takes, and a migration may take long.
    transaction
        .batch_execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        .await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS migration (
                 version bigint PRIMARY KEY,
                 name    text   NOT NULL,
                 sha256  text   NOT NULL,
                 serves  bigint NOT NULL
             )",
        )
        .await?;
    let applied = migrations::check(applied(&transaction).await?, steps)?;
    for step in steps.iter().filter(|step| step.version > applied) {
        transaction.batch_execute(step.sql).await?;
        let sql = "INSERT INTO migration (version, name, sha256, serves) VALUES ($1, $2, $3, $4)";
        let note = transaction.prepare(sql).await?;
        let (name, sum) = (step.name, step.checksum());
        transaction.execute(&note, &[&step.version, &name, &sum, &step.serves]).await?;
    }
    Ok(transaction.commit().await?)
}

/// Fails unless a read-only database has the newest version.
pub(super) async fn check_current(
    client: &Client,
    steps: &[Migration],
) -> Result<(), PostgresFailure> {
    let there = client.query_one("SELECT to_regclass('migration') IS NOT NULL", &[]).await?;
    let found =
        if there.try_get(0)? { migrations::check(applied(client).await?, steps)? } else { 0 };
    Ok(migrations::check_current(found, steps)?)
}

async fn applied(client: &impl GenericClient) -> Result<Vec<Applied>, PostgresFailure> {
    let sql = "SELECT version, name, sha256, serves FROM migration ORDER BY version";
    let rows = client.query(sql, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(Applied {
                version: row.try_get(0)?,
                name: row.try_get(1)?,
                sha256: row.try_get(2)?,
                serves: row.try_get(3)?,
            })
        })
        .collect()
}
