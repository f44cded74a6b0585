//! The schema and how it got there. Several nodes may start at once: one of them migrates, under a
//! lock, and the others find it done.
//!
//! Old and new programs run side by side while nodes are replaced one by one, so each step says the
//! oldest version of a program that may go on working beside it. A step that only adds serves the
//! version before it. A step that takes something away comes one release later, when no program
//! that needs it is left, and serves itself alone.

use deadpool_postgres::{Client, GenericClient};

use super::failure::Failure;
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
    // A program of before would look for agents' asks where they no longer are.
    Migration {
        version: 4,
        serves: 4,
        name: "inbox",
        sql: include_str!("migrations/0004_inbox.sql"),
    },
    // A program of before shows an agent a commitment in place of what was given in confidence, which
    // stays there until it is read by one that knows.
    Migration {
        version: 5,
        serves: 4,
        name: "confided",
        sql: include_str!("migrations/0005_confided.sql"),
    },
    // A program of before cannot read an answer that was given from a notice.
    Migration {
        version: 6,
        serves: 6,
        name: "devices",
        sql: include_str!("migrations/0006_devices.sql"),
    },
    // A program of before knows no endpoints and would set aside what they are to be told.
    Migration {
        version: 7,
        serves: 7,
        name: "webhooks",
        sql: include_str!("migrations/0007_webhooks.sql"),
    },
    // A program of before cannot read what is to be done about a notice, and would give it up.
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
    // A program of before would answer a checkpoint without moving its task, and set aside what
    // runtimes have to do.
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
    // A program of before would leave a task out of the lists of its agents.
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
    // A program of before would leave a task out of the list of its agent and project.
    Migration {
        version: 15,
        serves: 15,
        name: "given projects",
        sql: include_str!("migrations/0015_given_projects.sql"),
    },
    // A program of before would count into a table that is gone.
    Migration {
        version: 16,
        serves: 16,
        name: "running",
        sql: include_str!("migrations/0016_running.sql"),
    },
    // The counters follow their tables by triggers, whichever program writes.
    Migration {
        version: 17,
        serves: 16,
        name: "usage",
        sql: include_str!("migrations/0017_usage.sql"),
    },
    // A program of before would leave rows behind when such an ask is resolved.
    Migration {
        version: 18,
        serves: 18,
        name: "due",
        sql: include_str!("migrations/0018_due.sql"),
    },
    // A program of before would leave the signatures of a receipt behind that was erased.
    Migration {
        version: 19,
        serves: 19,
        name: "receipt signatures",
        sql: include_str!("migrations/0019_receipt_signatures.sql"),
    },
    // A program of before would look for drafts, devices and codes in tables that are gone.
    Migration {
        version: 20,
        serves: 20,
        name: "side",
        sql: include_str!("migrations/0020_side.sql"),
    },
];

/// Held while a schema is brought up to date.
const LOCK: i64 = 0x636f_756e_7465_7272;

/// Brings a database to the newest version, all steps or none.
pub(super) async fn migrate(client: &mut Client, steps: &[Migration]) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    // Whoever comes second waits as long as the first takes, and a step may take its time.
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

/// Checks that a database that is only read has the newest version.
pub(super) async fn check_current(client: &Client, steps: &[Migration]) -> Result<(), Failure> {
    let there = client.query_one("SELECT to_regclass('migration') IS NOT NULL", &[]).await?;
    let found =
        if there.try_get(0)? { migrations::check(applied(client).await?, steps)? } else { 0 };
    Ok(migrations::check_current(found, steps)?)
}

async fn applied(client: &impl GenericClient) -> Result<Vec<Applied>, Failure> {
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
