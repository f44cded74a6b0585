//! Ledgers: `GET /ledger`, `GET /ledger/{scope}`, and the history of one key with `?key=`.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use gateway::Gateway;
use kernel::EntryId;
use kernel::task::LedgerScope;
use serde::Deserialize;
use views::ledger::{self, LedgerSummary};
use views::message_page;
use views::site::paths;

use super::{PageResult, html, page};
use crate::http::pages::visitor::Visitor;

/// The number of keys or values per page.
const PAGE: usize = 30;
/// The most ledgers whose content is read for the list.
const MAX_LEDGERS_READ: usize = 60;
/// The most organisation ledgers that are listed. Others can be opened by name.
const ORGANISATION: usize = 200;

#[derive(Deserialize)]
pub(super) struct LedgerScopeQuery {
    scope: Option<String>,
}

/// `GET /ledger`
pub(super) async fn list(
    State(gateway): State<Gateway>,
    Query(named): Query<LedgerScopeQuery>,
    visitor: Visitor,
) -> PageResult {
    let typed = named.scope.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let scope = typed.and_then(|text| text.parse::<LedgerScope>().ok());
    let directory = gateway.directory();
    if let Some(scope) = scope.filter(|scope| scope.is_read_by(&visitor.actor, &directory)) {
        return Ok(Redirect::to(&paths::ledger(&scope)).into_response());
    }
    let mut known = ledger::listed_ledgers(&visitor.human, &directory);
    // Every person may read the organisation's ledgers. Ledgers that are already listed are
    // skipped.
    let named = gateway.store().organisation_ledgers(ORGANISATION).await?;
    let named: Vec<LedgerScope> =
        named.into_iter().filter(|scope| !known.contains(scope)).collect();
    known.truncate(MAX_LEDGERS_READ);
    known.extend(named);
    let mut listed = Vec::new();
    for scope in known {
        let first = gateway.store().entries(scope.clone(), None, 1).await?;
        listed.push(LedgerSummary { scope, written: !first.is_empty() });
    }
    let wrong = typed.is_some();
    let status = if wrong { StatusCode::NOT_FOUND } else { StatusCode::OK };
    Ok(html(status, ledger::list(&visitor.frame, &listed, wrong)))
}

#[derive(Deserialize)]
pub(super) struct LedgerQuery {
    key: Option<String>,
    after: Option<String>,
    before: Option<u64>,
}

/// `GET /ledger/{scope}`
pub(super) async fn show(
    State(gateway): State<Gateway>,
    Path(scope): Path<String>,
    Query(part): Query<LedgerQuery>,
    visitor: Visitor,
) -> PageResult {
    let missing = || page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame));
    let directory = gateway.directory();
    let scope = scope.parse::<LedgerScope>().ok();
    let scope = scope.filter(|scope| scope.is_read_by(&visitor.actor, &directory));
    let scope = scope.ok_or_else(missing)?;
    let store = gateway.store();
    let Some(key) = part.key else {
        let later_page = part.after.is_some();
        let mut entries = store.entries(scope.clone(), part.after, PAGE + 1).await?;
        let more = entries.len() > PAGE;
        entries.truncate(PAGE);
        let last = entries.last().filter(|_| more);
        let next = last.map(|entry| address(&scope, &[("after", &entry.key)]));
        let shown = ledger::page(&visitor.frame, &scope, &entries, next.as_deref(), later_page);
        return Ok(html(StatusCode::OK, shown));
    };
    let id = EntryId::of(scope.as_str(), &key);
    let entry = store.entry(id).await?.ok_or_else(missing)?;
    // Newest first: one page of entries before the entry the page begins with.
    let end = part.before.map_or(entry.head.seq, |before| before.saturating_sub(1));
    let start = end.saturating_sub(PAGE as u64);
    let most = usize::try_from(end - start).unwrap_or(PAGE);
    let mut entries = store.entry_history(id, start, most).await?;
    entries.reverse();
    let next = (start > 0).then(|| {
        let before = (start + 1).to_string();
        address(&scope, &[("key", &key), ("before", &before)])
    });
    let shown = ledger::history(&visitor.frame, &scope, &key, &entries, next.as_deref());
    Ok(html(StatusCode::OK, shown))
}

fn address(scope: &LedgerScope, pairs: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    format!("{}?{}", paths::ledger(scope), query.finish())
}
