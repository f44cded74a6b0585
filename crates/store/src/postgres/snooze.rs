//! What people have hidden from their own lists, and who looks at what.

use deadpool_postgres::Client;
use kernel::{AskId, HumanId, Time};
use uuid::Uuid;

use super::failure::{Failure, damaged};
use super::{ulid, uuid};
use crate::MOST_SNOOZED;
use crate::rows::int;

/// Hides an ask, if there is room, or shows it again.
pub(super) async fn put(
    client: &Client,
    human: &HumanId,
    ask: AskId,
    until: Option<Time>,
) -> Result<bool, Failure> {
    let (human, ask) = (human.as_str(), uuid(ask.ulid()));
    let Some(until) = until else {
        let sql = "DELETE FROM snooze WHERE human = $1 AND ask = $2";
        let statement = client.prepare_cached(sql).await?;
        client.execute(&statement, &[&human, &ask]).await?;
        return Ok(true);
    };
    let sql = "INSERT INTO snooze (human, ask, until)
        SELECT $1::text, $2::uuid, $3::bigint
        WHERE EXISTS (SELECT 1 FROM snooze WHERE human = $1 AND ask = $2)
            OR (SELECT count(*) FROM (SELECT 1 FROM snooze WHERE human = $1 LIMIT $4) AS own) < $4
        ON CONFLICT (human, ask) DO UPDATE SET until = excluded.until";
    let statement = client.prepare_cached(sql).await?;
    let (until, most) = (until.millis(), int(MOST_SNOOZED));
    Ok(client.execute(&statement, &[&human, &ask, &until, &most]).await? == 1)
}

/// What a person has hidden.
pub(super) async fn of(
    client: &Client,
    human: &HumanId,
    now: Time,
) -> Result<Vec<(AskId, Time)>, Failure> {
    let sql = "SELECT ask, until FROM snooze WHERE human = $1 AND until > $2 ORDER BY until, ask";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&human.as_str(), &now.millis()]).await?;
    let hidden = |row: &tokio_postgres::Row| {
        Ok((AskId::new(ulid(row.try_get(0)?)), Time::from_millis(row.try_get(1)?)))
    };
    rows.iter().map(hidden).collect()
}

/// Notes that somebody looks, or no longer.
pub(super) async fn look(
    client: &Client,
    ask: AskId,
    human: &HumanId,
    until: Option<Time>,
) -> Result<(), Failure> {
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

/// Who looks at these now.
pub(super) async fn lookers(
    client: &Client,
    asks: &[AskId],
    now: Time,
) -> Result<Vec<(AskId, HumanId)>, Failure> {
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

/// Forgets what is hidden no longer, and who looks no longer.
pub(super) async fn sweep(client: &Client, now: Time) -> Result<(), Failure> {
    for table in ["snooze", "looking"] {
        let sql = format!("DELETE FROM {table} WHERE until <= $1");
        let statement = client.prepare_cached(&sql).await?;
        client.execute(&statement, &[&now.millis()]).await?;
    }
    Ok(())
}
