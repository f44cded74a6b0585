//! `ledger.read`, `ledger.write`, `ledger.history`. HACP-023.

use kernel::task::{NewEntry, Scope, TaskCommand};

use super::super::errors::HacpError;
use super::super::parse::Members;
use super::queries::page;
use super::{Caller, Params};

fn scope(params: Members<'_>) -> Result<Scope, HacpError> {
    let expected = "project:, team: or org: followed by a name";
    params.required("scope")?;
    params.read("scope", expected)?.ok_or_else(|| params.bad("scope", expected))
}

/// Without a key, this reads the ledger itself.
pub(super) fn read(params: Members<'_>) -> Result<Params, HacpError> {
    params.only(&["scope", "key"])?;
    let key = params.given("key").map(|_| params.required("key")).transpose()?;
    Ok(Params::Entry { scope: scope(params)?, key: key.map(ToOwned::to_owned) })
}

/// `by` is the task that writes. `null` is a valid value.
pub(super) fn write(params: Members<'_>, caller: Caller<'_>) -> Result<Params, HacpError> {
    caller.only(params, &["scope", "key", "value", "by"], &["expected_revision"])?;
    let value = params.map().get("value").cloned();
    let new = NewEntry {
        scope: scope(params)?,
        key: params.required("key")?.to_owned(),
        value: value.ok_or_else(|| params.bad("value", "any JSON"))?,
        expected: params.count("expected_revision")?,
    };
    let task = params.required_id("by", "task")?;
    Ok(Params::command(TaskCommand::Write(task, Box::new(new))))
}

pub(super) fn history(params: Members<'_>) -> Result<Params, HacpError> {
    params.only(&["scope", "key", "limit", "cursor"])?;
    let (scope, key) = (scope(params)?, params.required("key")?.to_owned());
    Ok(Params::History { scope, key, page: page(params)? })
}
