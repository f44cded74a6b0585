//! The schema migrations: numbered files, forward only, never edited once released.

use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;
use crate::migrations::{self, Applied, Migration};
use crate::sqlite::failed;

/// Only one process has the file open, so no migration has to support an older program.
const fn step(version: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration { version, serves: version, name, sql }
}

pub(super) const MIGRATIONS: &[Migration] = &[
    step(1, "begin", include_str!("migrations/0001_begin.sql")),
    step(2, "blocks", include_str!("migrations/0002_blocks.sql")),
    step(3, "stream", include_str!("migrations/0003_stream.sql")),
    step(4, "outbox", include_str!("migrations/0004_outbox.sql")),
    step(5, "drafts", include_str!("migrations/0005_drafts.sql")),
    step(6, "retention", include_str!("migrations/0006_retention.sql")),
    step(7, "inbox", include_str!("migrations/0007_inbox.sql")),
    step(8, "confided", include_str!("migrations/0008_confided.sql")),
    step(9, "devices", include_str!("migrations/0009_devices.sql")),
    step(10, "webhooks", include_str!("migrations/0010_webhooks.sql")),
    step(11, "reach", include_str!("migrations/0011_reach.sql")),
    step(12, "messages", include_str!("migrations/0012_messages.sql")),
    step(13, "tasks", include_str!("migrations/0013_tasks.sql")),
    step(14, "uploads", include_str!("migrations/0014_uploads.sql")),
    step(15, "unused uploads", include_str!("migrations/0015_unused_uploads.sql")),
    step(16, "known tasks", include_str!("migrations/0016_known_tasks.sql")),
    step(17, "insights", include_str!("migrations/0017_insights.sql")),
    step(18, "kept", include_str!("migrations/0018_kept.sql")),
    step(19, "given projects", include_str!("migrations/0019_given_projects.sql")),
    step(20, "running", include_str!("migrations/0020_running.sql")),
    step(21, "usage", include_str!("migrations/0021_usage.sql")),
    step(22, "due", include_str!("migrations/0022_due.sql")),
    step(23, "receipt signatures", include_str!("migrations/0023_receipt_signatures.sql")),
    step(24, "side", include_str!("migrations/0024_side.sql")),
    step(25, "followers", include_str!("migrations/0025_followers.sql")),
    step(26, "counters", include_str!("migrations/0026_counters.sql")),
];

/// Migrates a database to the newest version, in one transaction.
pub(super) fn migrate(conn: &mut Connection, steps: &[Migration]) -> Result<()> {
    let transaction =
        conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(failed)?;
    transaction
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS migration (
                 version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL
             ) STRICT",
        )
        .map_err(failed)?;
    let applied = check(&transaction, steps)?;
    for step in steps.iter().filter(|step| step.version > applied) {
        transaction.execute_batch(step.sql).map_err(failed)?;
        transaction
            .execute(
                "INSERT INTO migration (version, name, sha256) VALUES (?1, ?2, ?3)",
                params![step.version, step.name, step.checksum()],
            )
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// Fails unless a read-only database has the newest version.
pub(super) fn check_current(conn: &Connection, steps: &[Migration]) -> Result<()> {
    let there: Option<i64> = conn
        .query_row("SELECT 1 FROM sqlite_schema WHERE name = 'migration'", [], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    let found = if there.is_some() { check(conn, steps)? } else { 0 };
    Ok(migrations::check_current(found, steps)?)
}

/// The schema version of the database. Fails if an applied migration is unknown.
fn check(conn: &Connection, steps: &[Migration]) -> Result<i64> {
    let mut rows = conn
        .prepare("SELECT version, name, sha256 FROM migration ORDER BY version")
        .map_err(failed)?;
    let applied: Vec<Applied> = rows
        .query_map([], |row| {
            let version = row.get(0)?;
            Ok(Applied { version, serves: version, name: row.get(1)?, sha256: row.get(2)? })
        })
        .and_then(Iterator::collect)
        .map_err(failed)?;
    Ok(migrations::check(applied, steps)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(version: i64, sql: &'static str) -> Migration {
        super::step(version, "step", sql)
    }

    #[test]
    fn steps_run_once_and_in_order() {
        let mut conn = Connection::open_in_memory().unwrap();
        let one = step(1, "CREATE TABLE a (x)");
        let two = step(2, "ALTER TABLE a ADD COLUMN y");
        migrate(&mut conn, &[one]).unwrap();
        assert!(check_current(&conn, &[one, two]).is_err());
        migrate(&mut conn, &[one, two]).unwrap();
        migrate(&mut conn, &[one, two]).unwrap();
        check_current(&conn, &[one, two]).unwrap();
        conn.execute("INSERT INTO a (x, y) VALUES (1, 2)", []).unwrap();
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before() {
        let mut conn = Connection::open_in_memory().unwrap();
        let one = step(1, "CREATE TABLE a (x)");
        migrate(&mut conn, &[one]).unwrap();
        migrate(&mut conn, &[one, step(2, "CREATE TABLE b (x); nonsense")]).unwrap_err();
        check_current(&conn, &[one]).unwrap();
        let b = conn.prepare("SELECT * FROM b");
        assert!(b.is_err());
    }

    #[test]
    fn the_shipped_steps_are_in_order() {
        assert!(MIGRATIONS.is_sorted_by(|one, next| one.version < next.version));
    }

    /// Undelivered and given-up rows of an older program are still in the outbox.
    #[test]
    fn old_deliveries_stay() {
        let mut conn = Connection::open_in_memory().unwrap();
        let older: Vec<Migration> =
            MIGRATIONS.iter().copied().filter(|step| step.version < 4).collect();
        migrate(&mut conn, &older).unwrap();
        conn.execute_batch(
            "INSERT INTO outbox (rank, due_at, written_at, effect) VALUES (2, 5, 4, 'done');
             INSERT INTO outbox (rank, due_at, written_at, effect) VALUES (2, 5, 4, 'waits');
             INSERT INTO outbox (rank, due_at, attempt, written_at, dead, effect, error)
                 VALUES (1, 6, 12, 3, 1, 'dead', 'no answer');
             DELETE FROM outbox WHERE effect = 'done';",
        )
        .unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        let mut select = conn
            .prepare(
                "SELECT id || ' ' || rank || ' ' || due_at || ' ' || attempt || ' ' || written_at
                     || ' ' || dead || ' ' || effect || ' ' || ifnull(error, '-')
                 FROM work ORDER BY id",
            )
            .unwrap();
        let rows: Vec<String> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows, ["2 2 5 0 4 0 waits -", "3 1 6 12 3 1 dead no answer"]);
    }

    /// Asks closed before the end time was stored are found by it, through an index; so are the
    /// files of their answers.
    #[test]
    fn old_endings_and_files_are_found() {
        let mut conn = Connection::open_in_memory().unwrap();
        let older: Vec<Migration> =
            MIGRATIONS.iter().copied().filter(|step| step.version < 6).collect();
        migrate(&mut conn, &older).unwrap();
        let digest = "ab".repeat(32);
        let content = r#"{"commitment":"x","content":{"salt":"s","value":{}}}"#;
        let over = r#"{"is":"over","place":{"seq":2,"at":"2026-02-06T10:00:00.123Z"},"ending":"#;
        let files = format!(
            r#"{{"is":"completed","reply":{{"content":{{"value":{{"answer":{{"verdict":"provided","values":
               {{"note":"{{","n":7,"report":{{"sha256":"{digest}"}},"odd":{{"sha256":"zz"}}}}}}}}}}}}}}"#
        );
        for (id, question, state) in [
            (1_u8, content, format!("{over}{files}}}")),
            (2, r#"{"commitment":"x"}"#, format!(r#"{over}{{"is":"expired"}}}}"#)),
            (3, content, r#"{"is":"pending"}"#.to_owned()),
            (4, content, format!(r#"{over}{{"is":"cancelled"}}}}"#)),
        ] {
            let state = format!(r#"{{"asked":{{"question":{question}}},"state":{state}}}"#);
            let sql = "INSERT INTO ask (id, version, state) VALUES (?1, 1, ?2)";
            conn.execute(sql, params![[id], state]).unwrap();
        }
        migrate(&mut conn, MIGRATIONS).unwrap();
        let moments = |column: &str, from: &str| -> Vec<(Vec<u8>, Option<i64>)> {
            let sql = format!("SELECT {column} FROM {from} ORDER BY 1");
            let mut select = conn.prepare(&sql).unwrap();
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let at = Some(1_770_372_000_123);
        let known = [(vec![1], at), (vec![2], None), (vec![3], None), (vec![4], at)];
        assert_eq!(moments("id, over_at", "ask"), known);
        assert_eq!(moments("ask, length(digest)", "file_use"), [(vec![1], Some(32))]);
        let plan = format!("EXPLAIN QUERY PLAN {}", crate::sqlite::query::ENDED_ASKS);
        let wanted = params![0, 5, "acme"];
        let plan: String = conn.query_row(&plan, wanted, |row| row.get("detail")).unwrap();
        assert!(plan.contains("USING COVERING INDEX ask_kept (<expr>=? AND over_at"), "{plan}");
    }

    /// A database of the first version works after the upgrade: old records get their agent.
    #[test]
    fn old_records_get_their_agent() {
        let mut conn = Connection::open_in_memory().unwrap();
        let (first, rest) = MIGRATIONS.split_first().unwrap();
        migrate(&mut conn, &[*first]).unwrap();
        let asked = r#"{"at":"x","what":{"agent":"bot","event":"asked"}}"#;
        for (subject, seq, what, body) in [
            ("ask_1", 1, "asked", asked),
            ("human/ann", 1, "human_saved", r#"{"what":{"agent":"spy"}}"#),
            ("ask_1", 2, "opened", r#"{"what":{"event":"opened"}}"#),
        ] {
            conn.execute(
                "INSERT INTO record (subject, seq, at, what, prev, hash, body)
                 VALUES (?1, ?2, 0, ?3, x'00', x'00', ?4)",
                params![subject, seq, what, body],
            )
            .unwrap();
        }
        migrate(&mut conn, &[&[*first], rest].concat()).unwrap();
        let mut select = conn.prepare("SELECT agent FROM record ORDER BY position").unwrap();
        let agents: Vec<Option<String>> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(agents, [Some("bot".to_owned()), None, Some("bot".to_owned())]);
        let mut plan = conn
            .prepare(
                "EXPLAIN QUERY PLAN SELECT position FROM record
                 WHERE agent = 'bot' AND position > 1 ORDER BY position LIMIT 5",
            )
            .unwrap();
        let plan: String = plan.query_row([], |row| row.get("detail")).unwrap();
        assert!(plan.contains("USING COVERING INDEX record_agent"), "{plan}");
    }

    /// Rows of the former separate tables are readable in the side table.
    #[test]
    fn old_side_rows_are_moved() {
        let mut conn = Connection::open_in_memory().unwrap();
        let older: Vec<Migration> =
            MIGRATIONS.iter().copied().filter(|step| step.version < 24).collect();
        migrate(&mut conn, &older).unwrap();
        conn.execute_batch(
            "INSERT INTO anchor (id, n) VALUES (1, 17);
             INSERT INTO draft (ask, draft) VALUES (x'0A', x'FF');
             INSERT INTO confided (ask, name, closed, read_at) VALUES (x'0A', x'B0', x'FE', NULL);
             INSERT INTO confided (ask, name, closed, read_at) VALUES (x'0A', x'B1', x'FD', 1000);
             INSERT INTO snooze (human, ask, until) VALUES ('olga', x'0A', 5);
             INSERT INTO device (name, human, key, made_at, closed)
                 VALUES (x'C0', 'olga', x'D0', 6, x'FC');
             INSERT INTO device (name, human, key, made_at, closed)
                 VALUES (x'C1', 'mark', NULL, 7, x'FB');
             INSERT INTO told (ask, device) VALUES (x'0A', x'C0');
             INSERT INTO code (human, means, hash, tries, expires_at)
                 VALUES ('olga', x'E0', x'E1', 2, 8);",
        )
        .unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        let mut select = conn
            .prepare(
                "SELECT kind || ' ' || key || ' ' || iif(ask IS NULL, '-', hex(ask)) || ' '
                     || ifnull(human, '-') || ' ' || version || ' ' || ifnull(expires_at, '-')
                     || ' ' || iif(kind IN ('anchor', 'code', 'device'), CAST(value AS TEXT),
                         hex(value))
                 FROM side ORDER BY kind, key",
            )
            .unwrap();
        let rows: Vec<String> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let expected = [
            "anchor blocks - - 1 - 17",
            r#"code olga/e0 - olga 1 8 {"hash":"e1","tries":2}"#,
            r#"device c0 - olga 1 - {"key":"d0","made_at":6,"closed":"fc"}"#,
            r#"device c1 - mark 1 - {"key":null,"made_at":7,"closed":"fb"}"#,
            "device_notified c0/0a 0A - 1 - ",
            "draft 0a 0A - 1 - FF",
            "secret 0a/b0 0A - 1 - FE",
            "secret 0a/b1 0A - 1 601000 FD",
            "snooze olga/0a 0A olga 1 5 ",
        ];
        assert_eq!(rows, expected);
    }

    /// Tasks that an agent was assigned before the list existed are in the list.
    #[test]
    fn old_tasks_are_listed_by_their_agents() {
        let mut conn = Connection::open_in_memory().unwrap();
        let older: Vec<Migration> =
            MIGRATIONS.iter().copied().filter(|step| step.version < 16).collect();
        migrate(&mut conn, &older).unwrap();
        let to = |kind: &str, id: &str| format!(r#"{{"to":{{"kind":"{kind}","id":"{id}"}}}}"#);
        let chain =
            [to("agent", "bot"), to("human", "olga"), to("agent", "bob"), to("agent", "bot")];
        for (id, state, chain) in [(1_u8, "blocked", &chain[..]), (2, "created", &[])] {
            let created = r#"{"project":"acme"}"#;
            let chain = chain.join(",");
            let state = format!(r#"{{"state":"{state}","created":{created},"chain":[{chain}]}}"#);
            let sql = "INSERT INTO task (id, version, state) VALUES (?1, 1, ?2)";
            conn.execute(sql, params![[id], state]).unwrap();
        }
        migrate(&mut conn, MIGRATIONS).unwrap();
        let mut select = conn.prepare("SELECT scope, hex(id) FROM task_list ORDER BY 1").unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows: Vec<(String, String)> =
            select.query_map([], row).unwrap().map(Result::unwrap).collect();
        let one = |scope: &str| (scope.to_owned(), "01".to_owned());
        let scopes =
            ["*", "blocked", "in/acme"].map(|name| ["agent/bob", "agent/bot"].map(|of| (of, name)));
        let scopes = scopes.concat().into_iter().map(|(of, name)| one(&format!("{of} {name}")));
        let mut scopes: Vec<_> = scopes.collect();
        scopes.sort_unstable();
        assert_eq!(rows, scopes);
    }
}
