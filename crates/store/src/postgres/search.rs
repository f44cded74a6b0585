//! The full-text index: `tsvector` with GIN, built from the feed by one node at a time.

use std::collections::BTreeSet;

use deadpool_postgres::Client;
use kernel::{Ask, AskId, Subject};
use uuid::Uuid;

use super::failure::PostgresFailure;
use super::query::{read_ask, snapshot};
use super::{record, uuid};
use crate::columns::{int, uint};
use crate::search::{SearchQuery, SearchTerms, changes_tokens, tokens};

/// A longer search is aborted. This happens with two common words that rarely occur together.
const PATIENCE: &str = "SET LOCAL statement_timeout = '3s'; \
                        SET LOCAL plan_cache_mode = force_custom_plan";

/// Indexes at most `limit` changes, unless another node is doing it. Returns how many.
pub(super) async fn index(client: &mut Client, limit: usize) -> Result<usize, PostgresFailure> {
    let work = client.transaction().await?;
    let sql = "SELECT position FROM search_place FOR UPDATE SKIP LOCKED";
    let Some(row) = work.query_opt(sql, &[]).await? else { return Ok(0) };
    let position = uint(row.try_get(0)?);
    let changes = record::changes(&work, position, limit).await?;
    let Some(last) = changes.last() else { return Ok(0) };
    let mut asks = BTreeSet::new();
    for change in changes.iter().filter(|change| changes_tokens(&change.what)) {
        if let Subject::Ask(id) = change.subject {
            asks.insert(id);
        }
    }
    let asks: Vec<Uuid> = asks.iter().map(|id: &AskId| uuid(id.ulid())).collect();
    let statement = work.prepare_cached("SELECT id, state FROM ask WHERE id = ANY ($1)").await?;
    let (mut gone, mut ids, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for row in work.query(&statement, &[&asks]).await? {
        let (id, tokens) = (row.try_get::<_, Uuid>(0)?, tokens(&read_ask(&row)?));
        if tokens.is_empty() {
            gone.push(id);
        } else {
            ids.push(id);
            words.push(vector(&tokens));
        }
    }
    let drop = work.prepare_cached("DELETE FROM search WHERE id = ANY ($1)").await?;
    work.execute(&drop, &[&gone]).await?;
    let sql = "INSERT INTO search (id, words)
        SELECT id, words::tsvector FROM unnest($1::uuid[], $2::text[]) AS new (id, words)
        ON CONFLICT (id) DO UPDATE SET words = excluded.words";
    let put = work.prepare_cached(sql).await?;
    work.execute(&put, &[&ids, &words]).await?;
    let on = work.prepare_cached("UPDATE search_place SET position = $1").await?;
    work.execute(&on, &[&int(last.position)]).await?;
    let changes = changes.len();
    work.commit().await?;
    Ok(changes)
}

/// Tokens as the text of a `tsvector`.
fn vector(tokens: &BTreeSet<String>) -> String {
    tokens.iter().map(|token| quoted(token)).collect::<Vec<_>>().join(" ")
}

pub(super) async fn search(
    client: &mut Client,
    wanted: &SearchQuery,
) -> Result<Vec<Ask>, PostgresFailure> {
    let Some(terms) = wanted.terms() else { return Ok(Vec::new()) };
    let snapshot = snapshot(client).await?;
    snapshot.batch_execute(PATIENCE).await?;
    // Read backwards by id if the words are common, or from the GIN index if they are rare: the
    // planner chooses by the statistics.
    let sql = "SELECT ask.id, ask.state FROM (
            SELECT id FROM search WHERE words @@ $1::text::tsquery ORDER BY id DESC LIMIT $2
        ) AS found JOIN ask ON ask.id = found.id ORDER BY found.id DESC";
    let rows = snapshot.query(sql, &[&query(&terms), &int(wanted.limit())]).await?;
    let asks: Vec<Ask> = rows.iter().map(read_ask).collect::<Result<_, _>>()?;
    // The index may lag; check the current state.
    Ok(asks.into_iter().filter(|ask| terms.admit(ask)).collect())
}

fn query(terms: &SearchTerms) -> String {
    let all = terms.all.iter().map(|term| quoted(term));
    let any = terms.any.iter().map(|union| {
        let union: Vec<String> = union.iter().map(|term| quoted(term)).collect();
        format!("({})", union.join(" | "))
    });
    let last = format!("{}:*", quoted(&terms.last));
    all.chain(any).chain([last]).collect::<Vec<_>>().join(" & ")
}

fn quoted(token: &str) -> String {
    format!("'{}'", token.replace('\\', "\\\\").replace('\'', "''"))
}
