//! What somebody has entered and not sent yet.

use deadpool_postgres::Client;
use kernel::AskId;

use super::failure::Failure;
use super::uuid;

/// Keeps it, if the ask is there and open. Whoever ends the ask meanwhile is waited for: their commit
/// takes drafts away, and none may come behind it.
const PUT: &str = "INSERT INTO draft (ask, draft)
    SELECT id, $2 FROM ask WHERE id = $1 AND state::json #>> '{state,is}' <> 'over' FOR SHARE
    ON CONFLICT (ask) DO UPDATE SET draft = excluded.draft";

pub(super) async fn put(client: &Client, ask: AskId, draft: &[u8]) -> Result<bool, Failure> {
    let statement = client.prepare_cached(PUT).await?;
    Ok(client.execute(&statement, &[&uuid(ask.ulid()), &draft]).await? == 1)
}

pub(super) async fn of(client: &Client, ask: AskId) -> Result<Option<Vec<u8>>, Failure> {
    let statement = client.prepare_cached("SELECT draft FROM draft WHERE ask = $1").await?;
    let row = client.query_opt(&statement, &[&uuid(ask.ulid())]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}
