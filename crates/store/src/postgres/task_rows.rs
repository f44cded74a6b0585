//! Tasks, artifacts, ledgers and contracts, as parts of the statement that writes a batch of jobs.

use std::collections::BTreeSet;

use kernel::task::Contract;
use kernel::{ReviewId, TaskId, Time};
use serde::Serialize;

use super::batch::BatchWrites;
use super::uuid;
use super::write::{Param, TableChange, column, if_any, json};
use crate::Result;
use crate::columns::int;
use crate::job::contracts;

const NEW_TASKS: &str = "INSERT INTO task (id, version, state, over_at)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[])";

const CHANGED_TASKS: &str = "UPDATE task
    SET version = new.version, state = new.state, over_at = new.over_at
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
        AS new (id, version, state, over_at, read)
    WHERE task.id = new.id AND task.version = new.read";

const UNLISTED: &str = "DELETE FROM task_list
    USING unnest($1::text[], $2::uuid[]) AS old (scope, id)
    WHERE task_list.scope = old.scope AND task_list.id = old.id";

const LISTED: &str = "INSERT INTO task_list (scope, id)
    SELECT * FROM unnest($1::text[], $2::uuid[])";

const NEW_ARTIFACTS: &str = "INSERT INTO artifact (id, version, state)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[])";

const CHANGED_ARTIFACTS: &str = "UPDATE artifact SET version = new.version, state = new.state
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[])
        AS new (id, version, state, read)
    WHERE artifact.id = new.id AND artifact.version = new.read";

const NEW_ENTRIES: &str = "INSERT INTO entry (id, version, state, scope, key)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])";

const CHANGED_ENTRIES: &str = "UPDATE entry SET version = new.version, state = new.state
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
        AS new (id, version, state, read)
    WHERE entry.id = new.id AND entry.version = new.read";

const REVIEWS: &str = "INSERT INTO review (id, task)
    SELECT * FROM unnest($1::uuid[], $2::uuid[])";

const CONTRACTS: &str = "INSERT INTO contract (agent, task, seq, duty, run, at, contract)
    SELECT agent, task, seq, duty, run, at, contract
    FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::text[], $5::uuid[], $6::bigint[],
            $7::text[])
        WITH ORDINALITY AS new (agent, task, seq, duty, run, at, contract, place)
    ORDER BY place";

const USED: &str = "UPDATE upload SET used = true, at = $2::bigint
    WHERE id = ANY ($1::uuid[]) AND checksum IS NOT NULL AND NOT given_up";

pub(super) fn parts(out: &BatchWrites, now: Time) -> Result<Vec<TableChange>> {
    let all = [
        tasks(out, false)?,
        tasks(out, true)?,
        listed(UNLISTED, &out.unlisted_tasks),
        listed(LISTED, &out.listed_tasks),
        artifacts(out, false)?,
        artifacts(out, true)?,
        entries(out, false)?,
        entries(out, true)?,
        reviews(&out.reviews),
        contracted(out)?,
        used(out, now),
    ];
    Ok(all.into_iter().flatten().collect())
}

fn used(out: &BatchWrites, now: Time) -> Option<TableChange> {
    let ids: Vec<_> = out.uses.iter().map(|id| uuid(id.ulid())).collect();
    if_any(&ids)?;
    let rows = Some(ids.len() as u64);
    Some(TableChange { sql: USED, params: vec![Box::new(ids), Box::new(now.millis())], rows })
}

/// The tasks that existed before, or the new ones.
fn tasks(out: &BatchWrites, there: bool) -> Result<Option<TableChange>> {
    let rows: Vec<_> = out.tasks.values().filter(|(read, _)| (*read > 0) == there).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut params: Vec<Param> = vec![
        Box::new(column(&rows, |(_, task)| uuid(task.id.ulid()))),
        Box::new(column(&rows, |(_, task)| int(task.head.seq))),
        Box::new(states(rows.iter().map(|(_, task)| (task, task.id.to_string())))?),
        Box::new(column(&rows, |(_, task)| task.retention_start().map(Time::millis))),
    ];
    if there {
        params.push(Box::new(column(&rows, |(read, _)| int(*read))));
    }
    let sql = if there { CHANGED_TASKS } else { NEW_TASKS };
    Ok(Some(TableChange { sql, params, rows: Some(rows.len() as u64) }))
}

fn listed(sql: &'static str, rows: &BTreeSet<(String, TaskId)>) -> Option<TableChange> {
    let rows: Vec<&(String, TaskId)> = rows.iter().collect();
    if_any(&rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |(scope, _)| scope.clone())),
        Box::new(column(&rows, |(_, id)| uuid(id.ulid()))),
    ];
    Some(TableChange { sql, params, rows: None })
}

fn artifacts(out: &BatchWrites, there: bool) -> Result<Option<TableChange>> {
    let rows: Vec<_> = out.artifacts.values().filter(|(read, _)| (*read > 0) == there).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut params: Vec<Param> = vec![
        Box::new(column(&rows, |(_, made)| uuid(made.id.ulid()))),
        Box::new(column(&rows, |(_, made)| int(made.head.seq))),
        Box::new(states(rows.iter().map(|(_, made)| (made, made.id.to_string())))?),
    ];
    if there {
        params.push(Box::new(column(&rows, |(read, _)| int(*read))));
    }
    let sql = if there { CHANGED_ARTIFACTS } else { NEW_ARTIFACTS };
    Ok(Some(TableChange { sql, params, rows: Some(rows.len() as u64) }))
}

fn entries(out: &BatchWrites, there: bool) -> Result<Option<TableChange>> {
    let rows: Vec<_> = out.entries.values().filter(|(read, _)| (*read > 0) == there).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut params: Vec<Param> = vec![
        Box::new(column(&rows, |(_, entry)| entry.id.to_string())),
        Box::new(column(&rows, |(_, entry)| int(entry.head.seq))),
        Box::new(states(rows.iter().map(|(_, entry)| (entry, entry.id.to_string())))?),
    ];
    if there {
        params.push(Box::new(column(&rows, |(read, _)| int(*read))));
    } else {
        params.push(Box::new(column(&rows, |(_, entry)| entry.scope.to_string())));
        params.push(Box::new(column(&rows, |(_, entry)| entry.key.clone())));
    }
    let sql = if there { CHANGED_ENTRIES } else { NEW_ENTRIES };
    Ok(Some(TableChange { sql, params, rows: Some(rows.len() as u64) }))
}

fn reviews(rows: &[(ReviewId, TaskId)]) -> Option<TableChange> {
    if_any(rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(rows, |(review, _)| uuid(review.ulid()))),
        Box::new(column(rows, |(_, task)| uuid(task.ulid()))),
    ];
    Some(TableChange { sql: REVIEWS, params, rows: None })
}

fn contracted(out: &BatchWrites) -> Result<Option<TableChange>> {
    let rows: Vec<&Contract> = contracts(out.in_commit.iter().map(|(_, effect)| effect)).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |one| one.agent.to_string())),
        Box::new(column(&rows, |one| uuid(one.task.ulid()))),
        Box::new(column(&rows, |one| int(one.seq))),
        Box::new(column(&rows, |one| one.duty.as_str())),
        Box::new(column(&rows, |one| uuid(one.run.ulid()))),
        Box::new(column(&rows, |one| one.at.millis())),
        Box::new(states(rows.iter().map(|one| (*one, one.id())))?),
    ];
    Ok(Some(TableChange { sql: CONTRACTS, params, rows: Some(rows.len() as u64) }))
}

fn states<'a, T: Serialize + 'a>(
    rows: impl Iterator<Item = (&'a T, String)>,
) -> Result<Vec<String>> {
    rows.map(|(state, name)| json(state, || name)).collect()
}
