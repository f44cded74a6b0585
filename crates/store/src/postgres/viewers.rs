//! The people who view each ask, for a minute at a time.

use deadpool_postgres::Client;
use kernel::{AskId, HumanId, Time};
use uuid::Uuid;

use super::failure::{PostgresFailure, damaged};
use super::{ulid, uuid};

/// Records that a person views an ask, or has stopped.
pub(super) async fn view(
    client: &Client,
    ask: AskId,
    human: &HumanId,
    until: Option<Time>,
) -> Result<(), PostgresFailure> {
    let (ask, human) = (uuid(ask.ulid()), human.as_str());
    let Some(until) = until else {
        let statement =
            client.prepare_cached("DELETE FROM looking WHERE ask = $1 AND human = $2").await?;
        client.execute(&statement, &[&ask, &human]).await?;
        return Ok(());
    };
    let sql = "INSERT INTO looking (ask, human, until) VALUES ($1, $2, $3)
        ON CONFLICT (ask, human) DO UPDATE SET until = excluded.until";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&ask, &human, &until.millis()]).await?;
    Ok(())
}

/// The people who view these asks now.
pub(super) async fn viewers(
    client: &Client,
    asks: &[AskId],
    now: Time,
) -> Result<Vec<(AskId, HumanId)>, PostgresFailure> {
    let sql = "SELECT ask, human FROM looking WHERE ask = ANY ($1) AND until > $2
        ORDER BY ask, human";
    let statement = client.prepare_cached(sql).await?;
    let asks: Vec<Uuid> = asks.iter().map(|ask| uuid(ask.ulid())).collect();
    let rows = client.query(&statement, &[&asks, &now.millis()]).await?;
    rows.iter()
        .map(|row| {
            let name: &str = row.try_get(1)?;
            let human = name.parse().map_err(|error: kernel::ids::BadId| damaged(name, error))?;
            Ok((AskId::new(ulid(row.try_get(0)?)), human))
        })
        .collect()
}
