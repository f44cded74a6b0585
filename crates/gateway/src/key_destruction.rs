//! Destroys the private half of a retired signing key. This is safe: every receipt keeps its bytes,
//! because the signatures are stored first, and the public half stays published.

use std::sync::Arc;

use dialects::proof::{RECEIPT, jws};
use kernel::audit::Digest;
use kernel::{Actor, AskId, DirectoryCommand, Refusal};
use store::{ReceiptSignature, StoreError};
use tokio::sync::Mutex;

use crate::gateway::Gateway;
use crate::receipts::Receipts;
use crate::signing::{self, DestroyedBy, SigningKeySummary};

/// The number of requests between two writes.
const BATCH: usize = 100;
/// How often a request is read again if it changes while its signatures are stored.
const MAX_ATTEMPTS: usize = 10;
/// How many seconds after a key's retirement its last signatures may still appear: longer than a
/// transaction takes, and than nodes take to learn of the next key.
pub const SETTLE_SECONDS: u64 = 60;

/// Destroys private halves. Clones share their progress.
#[derive(Clone)]
pub struct KeyDestruction {
    gateway: Gateway,
    receipts: Receipts,
    /// The progress of this process with storing the signatures of a key. Another process, or this
    /// one after a restart, starts over and skips stored signatures.
    walk: Arc<Mutex<Option<DestructionCursor>>>,
}

struct DestructionCursor {
    kid: String,
    after: Option<AskId>,
    examined: u64,
    stored: u64,
}

/// The progress of a destruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestructionProgress {
    /// Whether the private half is destroyed. If not, call again.
    pub destroyed: bool,
    /// The number of examined requests. 0 if the key was already destroyed.
    pub examined: u64,
    /// The number of stored receipt signatures.
    pub stored: u64,
}

/// Why a key cannot be destroyed.
#[derive(Debug)]
pub enum KeyDestructionError {
    /// There is no such key.
    UnknownKey {
        /// The existing keys.
        known: Vec<String>,
    },
    /// A rule forbids it.
    Refused(Refusal),
    /// The keys cannot be read or changed.
    Unreadable(anyhow::Error),
    /// The store failed.
    Store(StoreError),
}

impl From<Refusal> for KeyDestructionError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for KeyDestructionError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn precondition(why: String) -> KeyDestructionError {
    Refusal::Precondition { why }.into()
}

impl KeyDestruction {
    /// Destroys keys of these receipts.
    pub fn new(gateway: Gateway, receipts: Receipts) -> Self {
        Self { gateway, receipts, walk: Arc::default() }
    }

    async fn listed(&self) -> Result<Vec<SigningKeySummary>, KeyDestructionError> {
        self.receipts.signer().listed().await.map_err(KeyDestructionError::Unreadable)
    }

    /// Continues to destroy the private half of a retired key: examines up to `limit`
    /// requests, and destroys the key after the last one. It may be interrupted between any
    /// two steps and called again.
    ///
    /// 1. It stores the signatures of the receipts of each request, in batches.
    /// 2. It records in the audit log who destroys the key.
    /// 3. It removes the private half from the vault.
    pub async fn destroy(
        &self,
        actor: &Actor,
        kid: &str,
        limit: usize,
    ) -> Result<DestructionProgress, KeyDestructionError> {
        let Actor::Human { id: by, .. } = actor else {
            return Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into());
        };
        let mut walks = self.walk.lock().await;
        if self.is_destroyed(&self.listed().await?, kid)? {
            return Ok(DestructionProgress { destroyed: true, examined: 0, stored: 0 });
        }
        let begun = walks.take().filter(|walk| walk.kid == kid);
        let mut walk = begun.unwrap_or_else(|| DestructionCursor {
            kid: kid.to_owned(),
            after: None,
            examined: 0,
            stored: 0,
        });
        let mut left = limit;
        let mut whole = false;
        while left > 0 && !whole {
            let wanted = left.min(BATCH);
            let ids = self.gateway.store().ask_ids(walk.after, wanted).await?;
            whole = ids.len() < wanted;
            walk.stored += self.store_signatures(kid, &ids).await?;
            walk.examined += ids.len() as u64;
            walk.after = ids.last().copied().or(walk.after);
            left -= ids.len();
        }
        let (examined, stored) = (walk.examined, walk.stored);
        if !whole {
            *walks = Some(walk);
            return Ok(DestructionProgress { destroyed: false, examined, stored });
        }
        self.gateway
            .run(actor.clone(), DirectoryCommand::DestroySigningKey(kid.to_owned()))
            .await?;
        let destroyed = DestroyedBy { at: self.gateway.now(), by: by.clone() };
        let gone = signing::destroy(self.receipts.signer().vault(), kid, destroyed).await;
        gone.map_err(KeyDestructionError::Unreadable)?;
        // This node drops the key now. Others check every two seconds.
        self.receipts.signer().refresh().await.map_err(KeyDestructionError::Unreadable)?;
        tracing::warn!(key.id = kid, %by, stored, "destroyed the private half of a signing key");
        Ok(DestructionProgress { destroyed: true, examined, stored })
    }

    /// Whether a key is already destroyed. Fails if it cannot be destroyed.
    fn is_destroyed(
        &self,
        keys: &[SigningKeySummary],
        kid: &str,
    ) -> Result<bool, KeyDestructionError> {
        let Some(key) = keys.iter().find(|key| key.kid == kid) else {
            let known = keys.iter().map(|key| key.kid.clone()).collect();
            return Err(KeyDestructionError::UnknownKey { known });
        };
        if key.revoked.is_some() {
            let why = format!("{kid} was revoked, which already deleted its private half");
            return Err(precondition(why));
        }
        if key.destroyed.is_some() {
            return Ok(true);
        }
        let Some(retired) = key.retired_at else {
            let why = format!(
                "{kid} is the current key; create a new key with `countersign signing rotate` first"
            );
            return Err(precondition(why));
        };
        let settled = retired.plus_seconds(SETTLE_SECONDS);
        if self.gateway.now() < settled {
            let why = format!("{kid} retires at {retired} and can be destroyed from {settled}");
            return Err(precondition(why));
        }
        Ok(false)
    }

    /// Stores the signatures of this key for these requests that are not stored yet.
    /// Returns their number.
    async fn store_signatures(&self, kid: &str, ids: &[AskId]) -> Result<u64, KeyDestructionError> {
        let mut stored = 0;
        let mut ids = ids.to_vec();
        for _ in 0..MAX_ATTEMPTS {
            let mut new = Vec::new();
            for id in &ids {
                new.extend(self.signatures_of(kid, *id).await?);
            }
            let count = new.len();
            ids = self.gateway.store().store_receipt_signatures(new).await?;
            stored += count.saturating_sub(ids.len()) as u64;
            ids.dedup();
            if ids.is_empty() {
                return Ok(stored);
            }
        }
        Err(precondition("requests changed during the operation; try again".to_owned()))
    }

    /// The signatures of this key for the receipts of one request.
    async fn signatures_of(
        &self,
        kid: &str,
        id: AskId,
    ) -> Result<Vec<ReceiptSignature>, StoreError> {
        // A request whose deadline has passed ends now, dated at its deadline. That may be in the
        // time of this key, and a receipt that is first read between this and the destruction would
        // have to change.
        let Some(ask) = Box::pin(self.gateway.ask(id)).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for claims in self.receipts.all_claims(&ask) {
            let digest = Digest::of_json(&claims);
            let stored = self.gateway.store().receipt_signature(id, digest).await?;
            if stored.is_some_and(|(by, _)| by == kid) {
                continue;
            }
            let receipt = self.receipts.sign_receipt(&claims).await?;
            let signed_here = jws::kid(&receipt, RECEIPT).is_ok_and(|by| by == kid);
            if let Some(signature) = jws::signature(&receipt).filter(|_| signed_here) {
                found.push(ReceiptSignature {
                    ask: id,
                    version: ask.head.seq,
                    claims: digest,
                    kid: kid.to_owned(),
                    signature,
                });
            }
        }
        Ok(found)
    }
}
