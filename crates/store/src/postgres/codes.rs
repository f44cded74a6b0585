//! Codes that were sent to addresses of people.

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::audit::Digest;
use kernel::{HumanId, Time};

use super::Postgres;
use super::connect::on;
use super::failure::{Failure, damaged};
use crate::codes::Kept;
use crate::{Code, CodeTried, Codes, Result as Stored};

#[async_trait]
impl Codes for Postgres {
    async fn put_code(&self, code: Code) -> Stored<()> {
        let Code { human, means, hash, expires_at } = code;
        let sql =
            "INSERT INTO code (human, means, hash, expires_at, tries) VALUES ($1, $2, $3, $4, 0)
            ON CONFLICT (human, means) DO UPDATE
                SET hash = excluded.hash, expires_at = excluded.expires_at, tries = 0";
        let (means, hash) = (&means.0[..], &hash.0[..]);
        self.execute(sql, &[&human.as_str(), &means, &hash, &expires_at.millis()]).await.map(drop)
    }

    async fn try_code(
        &self,
        human: HumanId,
        means: Digest,
        hash: Digest,
        now: Time,
    ) -> Stored<CodeTried> {
        self.writers()?;
        Ok(on!(self.database, client => attempt(client, &human, &means, &hash, now))?)
    }
}

async fn attempt(
    client: &mut Client,
    human: &HumanId,
    means: &Digest,
    hash: &Digest,
    now: Time,
) -> Result<CodeTried, Failure> {
    let (human, means) = (human.as_str(), &means.0[..]);
    let transaction = client.transaction().await?;
    let sql = "SELECT hash, expires_at, tries FROM code WHERE human = $1 AND means = $2 FOR UPDATE";
    let select = transaction.prepare_cached(sql).await?;
    let tried = match transaction.query_opt(&select, &[&human, &means]).await? {
        None => CodeTried::Gone,
        Some(row) => {
            let (bytes, tries): (&[u8], i64) = (row.try_get(0)?, row.try_get(2)?);
            let known = bytes.try_into().map(Digest).map_err(|error| damaged("a code", error))?;
            let expires_at = Time::from_millis(row.try_get(1)?);
            let tries = u32::try_from(tries).unwrap_or(u32::MAX);
            Kept { hash: known, expires_at, tries }.tried(hash, now)
        }
    };
    let sql = match tried {
        CodeTried::Wrong { .. } => {
            "UPDATE code SET tries = tries + 1 WHERE human = $1 AND means = $2"
        }
        CodeTried::Right | CodeTried::Gone => "DELETE FROM code WHERE human = $1 AND means = $2",
    };
    let note = transaction.prepare_cached(sql).await?;
    transaction.execute(&note, &[&human, &means]).await?;
    transaction.commit().await?;
    Ok(tried)
}

/// Forgets those that count no more.
pub(super) async fn sweep(client: &Client, now: Time) -> Result<(), Failure> {
    let statement = client.prepare_cached("DELETE FROM code WHERE expires_at <= $1").await?;
    client.execute(&statement, &[&now.millis()]).await?;
    Ok(())
}
