//! Codes that were sent to addresses of people.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{HumanId, Time};
use rusqlite::{Connection, params};

use super::ledger::one;
use super::{Sqlite, failed};
use crate::codes::Kept;
use crate::{Code, CodeTried, Codes, Result};

#[async_trait]
impl Codes for Sqlite {
    async fn put_code(&self, code: Code) -> Result<()> {
        self.write(move |ledger| ledger.savepoint(|conn| put(conn, &code))).await
    }

    async fn try_code(
        &self,
        human: HumanId,
        means: Digest,
        hash: Digest,
        now: Time,
    ) -> Result<CodeTried> {
        let attempt = move |conn: &Connection| attempt(conn, &human, &means, &hash, now);
        self.write(move |ledger| ledger.savepoint(attempt)).await
    }
}

fn put(conn: &Connection, code: &Code) -> Result<()> {
    let Code { human, means, hash, expires_at } = code;
    let sql = "INSERT INTO code (human, means, hash, expires_at, tries) VALUES (?1, ?2, ?3, ?4, 0)
         ON CONFLICT (human, means) DO UPDATE SET hash = ?3, expires_at = ?4, tries = 0";
    conn.prepare_cached(sql)
        .and_then(|mut put| {
            put.execute(params![human.as_str(), means.0, hash.0, expires_at.millis()])
        })
        .map(drop)
        .map_err(failed)
}

fn attempt(
    conn: &Connection,
    human: &HumanId,
    means: &Digest,
    hash: &Digest,
    now: Time,
) -> Result<CodeTried> {
    let sql = "SELECT hash, expires_at, tries FROM code WHERE human = ?1 AND means = ?2";
    let kept = one(conn, sql, params![human.as_str(), means.0], |row| {
        let (hash, expires_at, tries) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Kept { hash: Digest(hash), expires_at: Time::from_millis(expires_at), tries })
    })?;
    let tried = kept.map_or(CodeTried::Gone, |kept| kept.tried(hash, now));
    let sql = match tried {
        CodeTried::Wrong { .. } => {
            "UPDATE code SET tries = tries + 1 WHERE human = ?1 AND means = ?2"
        }
        CodeTried::Right | CodeTried::Gone => "DELETE FROM code WHERE human = ?1 AND means = ?2",
    };
    conn.prepare_cached(sql)
        .and_then(|mut note| note.execute(params![human.as_str(), means.0]))
        .map_err(failed)?;
    Ok(tried)
}

/// Forgets those that count no more.
pub(super) fn sweep(conn: &Connection, now: Time) -> Result<()> {
    conn.prepare_cached("DELETE FROM code WHERE expires_at <= ?1")
        .and_then(|mut drop| drop.execute([now.millis()]))
        .map(drop)
        .map_err(failed)
}
