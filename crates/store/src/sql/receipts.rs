//! Stored signatures of receipts.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::AskId;
use kernel::audit::Digest;

use super::{SqlStore, one, values};
use crate::{ReceiptSignature, ReceiptSignatures, Result};

#[async_trait]
impl<S: SqlStore> ReceiptSignatures for S {
    async fn store_receipt_signatures(&self, new: Vec<ReceiptSignature>) -> Result<Vec<AskId>> {
        self.write(new, |sql, new| {
            Box::pin(async move {
                // PostgreSQL waits for an erasure in progress: its commit deletes signatures, and
                // none may be added after it.
                let lock = sql.dialect().pick("", "FOR SHARE");
                let put = format!(
                    "INSERT INTO receipt_signature (ask, claims, kid, signature)
                    SELECT id, $3, $4, $5 FROM ask WHERE id = $1 AND version = $2 {lock}
                    ON CONFLICT (ask, claims) DO UPDATE
                        SET kid = excluded.kid, signature = excluded.signature"
                );
                // In the same order everywhere, so that no deadlock can occur.
                let mut ordered: Vec<&ReceiptSignature> = new.iter().collect();
                ordered.sort_by_key(|one| one.ask);
                let mut changed = BTreeSet::new();
                for ReceiptSignature { ask, version, claims, kid, signature } in ordered {
                    let row = values![*ask, *version, *claims, kid, signature];
                    if sql.execute(&put, &row).await? == 0 {
                        changed.insert(*ask);
                    }
                }
                let asks = new.iter().map(|one| one.ask);
                Ok(asks.filter(|ask| changed.contains(ask)).collect())
            })
        })
        .await
    }

    async fn receipt_signature(
        &self,
        ask: AskId,
        claims: Digest,
    ) -> Result<Option<(String, Vec<u8>)>> {
        let sql = "SELECT kid, signature FROM receipt_signature WHERE ask = $1 AND claims = $2";
        let row = one(self, sql, values![ask, claims]).await?;
        row.map(|mut row| Ok((row.get(0)?, row.get(1)?))).transpose()
    }
}
