//! Stored signatures of receipts.

use std::collections::BTreeSet;

use deadpool_postgres::Client;
use kernel::AskId;
use kernel::audit::Digest;

use super::failure::Failure;
use super::uuid;
use crate::ReceiptSignature;
use crate::rows::int;

/// Stores the signatures whose ask still has the signed version. It waits for an erasure in
/// progress, because the commit of the erasure deletes signatures and none may be added after it.
const PUT: &str = "WITH new AS (
        SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::text[], $5::bytea[])
            AS new (ask, version, claims, kid, signature)
    ), same AS (
        SELECT ask.id, ask.version FROM ask
        WHERE ask.id = ANY ($1::uuid[]) ORDER BY ask.id FOR SHARE
    )
    INSERT INTO receipt_signature (ask, claims, kid, signature)
    SELECT new.ask, new.claims, new.kid, new.signature
    FROM new JOIN same ON same.id = new.ask AND same.version = new.version
    ON CONFLICT (ask, claims) DO UPDATE SET kid = excluded.kid, signature = excluded.signature
    RETURNING ask";

pub(super) async fn put(client: &Client, new: &[ReceiptSignature]) -> Result<Vec<AskId>, Failure> {
    let asks: Vec<uuid::Uuid> = new.iter().map(|one| uuid(one.ask.ulid())).collect();
    let versions: Vec<i64> = new.iter().map(|one| int(one.version)).collect();
    let claims: Vec<&[u8]> = new.iter().map(|one| one.claims.0.as_slice()).collect();
    let kids: Vec<&str> = new.iter().map(|one| one.kid.as_str()).collect();
    let signatures: Vec<&[u8]> = new.iter().map(|one| one.signature.as_slice()).collect();
    let statement = client.prepare_cached(PUT).await?;
    let rows = client.query(&statement, &[&asks, &versions, &claims, &kids, &signatures]).await?;
    let mut stored: BTreeSet<uuid::Uuid> = BTreeSet::new();
    for row in &rows {
        stored.insert(row.try_get(0)?);
    }
    let missing = new.iter().filter(|one| !stored.contains(&uuid(one.ask.ulid())));
    Ok(missing.map(|one| one.ask).collect())
}

pub(super) async fn find(
    client: &Client,
    ask: AskId,
    claims: &Digest,
) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let sql = "SELECT kid, signature FROM receipt_signature WHERE ask = $1 AND claims = $2";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_opt(&statement, &[&uuid(ask.ulid()), &claims.0.as_slice()]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}
