//! When keys were last used.

use async_trait::async_trait;
use kernel::{KeyId, Time};

use super::{SqlStore, one, values};
use crate::{KeyUseStore, Result};

#[async_trait]
impl<S: SqlStore> KeyUseStore for S {
    async fn touch_keys(&self, mut used: Vec<(KeyId, Time)>) -> Result<()> {
        // In the same order everywhere, so that no deadlock can occur.
        used.sort_unstable();
        self.write(used, |sql, used| {
            Box::pin(async move {
                let touch = "INSERT INTO key_use (key, at) VALUES ($1, $2)
                    ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE key_use.at < excluded.at";
                for (key, at) in used {
                    sql.execute(touch, &values![*key, *at]).await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn key_used(&self, id: KeyId) -> Result<Option<Time>> {
        let row = one(self, "SELECT at FROM key_use WHERE key = $1", values![id]).await?;
        row.map(|mut row| row.get(0)).transpose()
    }
}
