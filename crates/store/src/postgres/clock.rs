//! The clock of the database, without a query per reading: the last known database time plus the
//! time elapsed here since. The wall clock of this machine does not matter, even if it jumps.

use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use deadpool_postgres::Client;
use kernel::Time;

use super::failure::PostgresFailure;
use crate::{Clock, later};

pub(super) struct DatabaseClock {
    known: RwLock<(Instant, Time)>,
}

impl Default for DatabaseClock {
    fn default() -> Self {
        Self { known: RwLock::new((Instant::now(), Time::from_millis(0))) }
    }
}

impl DatabaseClock {
    /// Sets the time that the database just returned.
    pub(super) fn set(&self, now: Time) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), now);
    }

    /// Queries the database.
    pub(super) async fn read(&self, client: &Client) -> Result<(), PostgresFailure> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let statement = client.prepare_cached(sql).await?;
        let row = client.query_one(&statement, &[]).await?;
        self.set(Time::from_millis(row.try_get(0)?));
        Ok(())
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> Time {
        let (at, known) = *self.known.read().unwrap_or_else(PoisonError::into_inner);
        later(known, at.elapsed())
    }
}
