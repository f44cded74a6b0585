//! What all nodes share: opaque here, kept once.

use deadpool_postgres::GenericClient;

use super::failure::Failure;

pub(super) async fn find(
    client: &impl GenericClient,
    name: &str,
) -> Result<Option<Vec<u8>>, Failure> {
    let statement = client.prepare_cached("SELECT secret FROM secret WHERE name = $1").await?;
    let row = client.query_opt(&statement, &[&name]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Whoever comes second waits for the first to commit, and finds what that one kept.
pub(super) async fn keep(
    client: &impl GenericClient,
    name: &str,
    secret: &[u8],
) -> Result<Vec<u8>, Failure> {
    let sql = "INSERT INTO secret (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&name, &secret]).await?;
    Ok(find(client, name).await?.unwrap_or_else(|| secret.to_vec()))
}
