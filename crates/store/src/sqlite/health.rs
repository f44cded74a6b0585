//! Whether the file is writable, and whether its data is damaged.

use std::collections::HashMap;
use std::path::Path;

use async_trait::async_trait;
use kernel::{Ask, AskId, Subject, Task, TaskId, Time};
use rusqlite::{Connection, OpenFlags, Row};
use ulid::Ulid;

use super::{Sqlite, failed, search};
use crate::consistency_check::{Derived, ListRow};
use crate::health::MOST_DAMAGES;
use crate::{Damage, Durability, Inspection, Result, StoreError, StoreHealth};

/// The size of a probe write in bytes: about as much as an ordinary request with its
/// lists and indexes.
const PROBE: u32 = 64 * 1024;

#[async_trait]
impl StoreHealth for Sqlite {
    async fn probe_write(&self) -> Result<()> {
        self.in_writer(|writing| writing.savepoint(probe)).await
    }

    async fn durability(&self) -> Result<Option<Durability>> {
        // Every connection that writes sets `synchronous = FULL` for itself.
        Ok(None)
    }

    async fn inspect(&self) -> Result<Inspection> {
        self.readers.run(|conn| Ok(inspect(Path::new(conn.path().unwrap_or_default())))).await
    }
}

/// Inserts and deletes a row of the side table in one commit. Deleted content is overwritten
/// (`secure_delete`), so its pages go through the log to the disk like any others, and the next
/// probe uses the same pages again.
fn probe(conn: &Connection) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO side (kind, key, version, value) VALUES ('probe', '', 1, zeroblob(?1))",
    )
    .and_then(|mut put| put.execute([PROBE]))
    .map_err(failed)?;
    conn.prepare_cached("DELETE FROM side WHERE kind = 'probe'")
        .and_then(|mut delete| delete.execute([]))
        .map(drop)
        .map_err(failed)
}

fn inspect(path: &Path) -> Inspection {
    let mut inspection = Inspection::default();
    let conn = match connect(path) {
        Ok(conn) => conn,
        Err(error) => {
            inspection.damages.push(Damage::database(format!("cannot be opened: {error}")));
            return inspection;
        }
    };
    for sql in [
        format!("PRAGMA integrity_check({MOST_DAMAGES})"),
        "SELECT 'a row of ' || \"table\" || ' refers to a row that is missing'
         FROM pragma_foreign_key_check"
            .to_owned(),
    ] {
        match texts(&conn, &sql) {
            Ok(said) => {
                let wrong = said.into_iter().filter(|line| line != "ok");
                inspection.damages.extend(wrong.map(|line| Damage::database(one_line(&line))));
            }
            Err(error) => inspection.damages.push(Damage::database(error.to_string())),
        }
    }
    match compare(&conn, path) {
        Ok(damages) => inspection.damages.extend(damages),
        Err(error) => inspection.damages.push(Damage::database(format!(
            "cannot check lists, deadlines and the search index: {}",
            chain(&error)
        ))),
    }
    inspection
}

/// A separate connection, because it keeps a table of words in memory. The readers may not.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    conn.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;")?;
    Ok(conn)
}

fn texts(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn chain(error: &StoreError) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Compares everything in one snapshot.
fn compare(conn: &Connection, path: &Path) -> Result<Vec<Damage>> {
    let index = search::path(path);
    let searchable = index.exists() && attach(conn, &index);
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let mut derived = Derived::default();
    let numbers = asks(&moment, &mut derived)?;
    tasks(&moment, &mut derived)?;
    rows(
        &moment,
        "SELECT scope, phase, rank, id, kind, priority, agent_label, project_label, fold
         FROM listing",
        |row| {
            let text = |n: usize| row.get_ref(n)?.as_str().map_err(rusqlite::Error::from);
            let label = |n: usize| row.get_ref(n)?.as_str_or_null().map_err(rusqlite::Error::from);
            let (scope, phase, kind) = (text(0)?, text(1)?, text(4)?);
            let (agent_label, project_label) = (label(6)?, label(7)?);
            let (rank, priority) = (row.get(2)?, row.get(5)?);
            let found = ListRow { scope, phase, rank, kind, priority, agent_label, project_label };
            derived.listed(ulid(row, 3)?, &found, row.get(8)?);
            Ok(())
        },
    )?;
    rows(&moment, "SELECT scope, at, id FROM deadline", |row| {
        derived.expires(ulid(row, 2)?, row.get_ref(0)?.as_str()?, row.get(1)?);
        Ok(())
    })?;
    rows(&moment, "SELECT scope, id FROM task_list", |row| {
        derived.task_listed(ulid(row, 1)?, row.get_ref(0)?.as_str()?);
        Ok(())
    })?;
    rows(&moment, "SELECT task, id FROM review", |row| {
        derived.review(ulid(row, 0)?, ulid(row, 1)?);
        Ok(())
    })?;
    if searchable {
        words(&moment, &numbers, &mut derived)?;
    } else {
        derived.without_words();
    }
    Ok(derived.finish())
}

/// Attaches the search index to the connection. Without an index there is nothing to compare, and
/// the server rebuilds it.
fn attach(conn: &Connection, index: &Path) -> bool {
    conn.execute("ATTACH ?1 AS search", [index.to_string_lossy()]).is_ok()
        && conn
            .execute_batch(
                "CREATE VIRTUAL TABLE temp.found_word USING fts5vocab('search', 'text', 'instance')",
            )
            .is_ok()
}

/// Adds the expected rows of every ask and checks the times in its own row. Returns the ids
/// by row number.
fn asks(conn: &Connection, derived: &mut Derived) -> Result<HashMap<i64, Ulid>> {
    let mut numbers = HashMap::new();
    rows(conn, "SELECT n, id, wake_at, over_at, state FROM ask", |row| {
        let id = ulid(row, 1)?;
        numbers.insert(row.get(0)?, id);
        // The check of its chain reports a state that cannot be read.
        let Ok(ask) = serde_json::from_slice::<Ask>(row.get_ref(4)?.as_bytes()?) else {
            return Ok(());
        };
        if ask.id.ulid() != id {
            derived.wrong(&AskId::new(id), "its row has the state of another request");
        }
        if row.get::<_, Option<i64>>(2)? != ask.wake_at().map(Time::millis) {
            derived.wrong(
                &ask.id,
                "its next reminder, escalation or deadline does not match its state",
            );
        }
        let over_at: Option<i64> = row.get(3)?;
        // Earlier versions stored no time for a conversation that a person began until
        // the agent replied.
        let early = over_at.is_none() && ask.starts_conversation();
        if over_at != ask.retention_start().map(Time::millis) && !early {
            derived.wrong(&ask.id, "the start of its retention period does not match its state");
        }
        derived.ask(&ask);
        Ok(())
    })?;
    Ok(numbers)
}

fn tasks(conn: &Connection, derived: &mut Derived) -> Result<()> {
    rows(conn, "SELECT id, over_at, state FROM task", |row| {
        let id = ulid(row, 0)?;
        let Ok(task) = serde_json::from_slice::<Task>(row.get_ref(2)?.as_bytes()?) else {
            return Ok(());
        };
        if task.id.ulid() != id {
            derived.wrong(&TaskId::new(id), "its row has the state of another task");
        }
        if row.get::<_, Option<i64>>(1)? != task.retention_start().map(Time::millis) {
            derived.wrong(&task.id, "the start of its retention period does not match its state");
        }
        derived.task(&task);
        Ok(())
    })
}

/// The words of the index, unless it belongs to another database and will be rebuilt.
fn words(conn: &Connection, numbers: &HashMap<i64, Ulid>, derived: &mut Derived) -> Result<()> {
    let place: (i64, Vec<u8>) = conn
        .query_row("SELECT position, hash FROM search.place", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(failed)?;
    let same = "SELECT EXISTS (SELECT 1 FROM record WHERE position = ?1 AND hash = ?2)";
    let same = conn.query_row(same, (place.0, &place.1), |row| row.get::<_, bool>(0));
    if !same.map_err(failed)? {
        derived.without_words();
        return Ok(());
    }
    let later = format!("SELECT subject FROM record WHERE position > {}", place.0);
    rows(conn, &later, |row| {
        if let Ok(Subject::Ask(id)) = row.get_ref(0)?.as_str()?.parse() {
            derived.changed(id.ulid());
        }
        Ok(())
    })?;
    rows(conn, "SELECT doc, term FROM temp.found_word", |row| {
        let n: i64 = row.get(0)?;
        let id = numbers.get(&n).copied().unwrap_or_else(|| Ulid(u128::from(n.unsigned_abs())));
        derived.word(id, row.get_ref(1)?.as_str()?);
        Ok(())
    })
}

fn ulid(row: &Row<'_>, n: usize) -> rusqlite::Result<Ulid> {
    Ok(Ulid::from_bytes(row.get::<_, [u8; 16]>(n)?))
}

fn rows(
    conn: &Connection,
    sql: &str,
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> Result<()> {
    let mut select = conn.prepare(sql).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        each(row).map_err(failed)?;
    }
    Ok(())
}
