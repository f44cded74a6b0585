//! Signed receipts: what each reader may learn about the respondent, and which key signs.

use std::sync::Arc;

use dialects::hitl::wire::Signature;
use dialects::proof::{EvidenceStatus, NameDisclosure, ProofError, RECEIPT, ReceiptClaims};
use kernel::audit::Digest;
use kernel::passkey_evidence::PasskeyEvidence;
use kernel::{Actor, ActorRef, Ask, Assurance};
use store::StoreError;

use crate::gateway::Gateway;
use crate::secrets::ServerSecrets;
use crate::signing::Signer;

/// Creates and signs receipts. Clones share the keys.
#[derive(Clone)]
pub struct Receipts {
    gateway: Gateway,
    signer: Signer,
    secrets: Arc<ServerSecrets>,
    issuer: Arc<str>,
}

impl Receipts {
    /// Receipts of this issuer, which is the public URL without a trailing slash.
    pub fn new(
        gateway: Gateway,
        signer: Signer,
        secrets: Arc<ServerSecrets>,
        issuer: &str,
    ) -> Self {
        Self { gateway, signer, secrets, issuer: issuer.into() }
    }

    /// The receipt of an ask for this actor. `None` while the ask is open, and after its
    /// texts were erased.
    pub async fn receipt_for(
        &self,
        ask: &Ask,
        actor: &Actor,
    ) -> Result<Option<String>, StoreError> {
        match self.claims_for(ask, actor) {
            Some(claims) => self.sign_receipt(&claims).await.map(Some),
            None => Ok(None),
        }
    }

    /// Signs a receipt. If the key of its time was destroyed, the stored signature is attached: the
    /// bytes stay the same. A receipt that this key never signed, such as one whose comment was
    /// erased since, is signed with the next available key.
    pub async fn sign_receipt(&self, claims: &ReceiptClaims) -> Result<String, StoreError> {
        if self.signer.is_destroyed_at(claims.ended_at) {
            let (ask, digest) = (claims.sub, Digest::of_json(claims));
            let stored = self.gateway.store().receipt_signature(ask, digest).await?;
            if let Some((kid, signature)) = stored {
                if let Some(receipt) = self.signer.attach(claims, &kid, &signature) {
                    return Ok(receipt);
                }
                tracing::error!(ask.id = %ask, key.id = kid, "a stored signature is not valid");
            }
        }
        Ok(self.signer.sign(RECEIPT, claims, claims.ended_at))
    }

    /// The name of the respondent, if it is known and the agent may learn it (HITL-068).
    pub fn respondent_name(&self, ask: &Ask) -> Option<String> {
        let ActorRef::Human(id) = &ask.deciding_answer()?.by else { return None };
        if ask.is_pooled() {
            return None;
        }
        Some(views::components::wording::person_name(&self.gateway.directory(), id))
    }

    /// The receipt of a closed ask as HITL carries it, beside the result.
    pub async fn hitl_signature(&self, ask: &Ask) -> Result<Option<Signature>, StoreError> {
        let Some(resolution) = ask.deciding_answer() else { return Ok(None) };
        let value = self.receipt_for(ask, &Actor::System).await?;
        let signer = format!("{}/.well-known/jwks.json", self.issuer());
        let signed_at = resolution.at;
        Ok(value.map(|value| Signature { algorithm: "EdDSA", value, signed_at, signer }))
    }

    /// The claims of every receipt of an ask: for agents, and for people if theirs differ.
    pub fn all_claims(&self, ask: &Ask) -> Vec<ReceiptClaims> {
        let claims =
            [self.hidden_names(), NameDisclosure::Shown].map(|names| self.claims_with(ask, names));
        let mut all: Vec<ReceiptClaims> = claims.into_iter().flatten().collect();
        all.dedup();
        all
    }

    pub fn claims_for(&self, ask: &Ask, actor: &Actor) -> Option<ReceiptClaims> {
        let names = match actor {
            Actor::Human { .. } => NameDisclosure::Shown,
            // The agent gave the link to its holder, so the holder learns no more than the agent.
            Actor::Agent { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => self.hidden_names(),
        };
        self.claims_with(ask, names)
    }

    fn hidden_names(&self) -> NameDisclosure<'_> {
        NameDisclosure::Hidden(self.secrets.evidence.reveal().as_bytes())
    }

    fn claims_with(&self, ask: &Ask, names: NameDisclosure<'_>) -> Option<ReceiptClaims> {
        let claims = ReceiptClaims::of(ask, self.issuer(), names)?;
        // Verifiers reject receipts from the future, and the clock of `--dev` may have been moved
        // there. `ended_at` is the time of the end. A wall clock that was set back has no effect: a
        // receipt has the same bytes at every read.
        let now = self.gateway.now();
        let wall = self.gateway.wall_time();
        let iat =
            if now > wall { claims.iat.min(wall.millis().div_euclid(1000)) } else { claims.iat };
        Some(ReceiptClaims { iat, ..claims })
    }

    /// The issuer: the public URL without a trailing slash.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The keys that sign and verify.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Why a receipt is not accepted, as text.
    pub fn reason(&self, unproven: &ProofError) -> String {
        if let ProofError::UnknownKey { kid } = unproven
            && let Some(key) = self.signer.revoked().into_iter().find(|key| key.kid == *kid)
        {
            return format!("the key that signed it was revoked at {}: {}", key.at, key.reason);
        }
        unproven.to_string()
    }
}

/// The evidence of an answer that was confirmed with a passkey, for this actor.
pub fn evidence_for(ask: &Ask, actor: &Actor) -> (Option<EvidenceStatus>, Option<PasskeyEvidence>) {
    let resolution = ask.deciding_answer().filter(|given| given.assurance == Assurance::Passkey);
    let Some(resolution) = resolution else { return (None, None) };
    let status = match &resolution.passkey {
        None => EvidenceStatus::NotRecorded,
        // A credential is the same in every request, so it would identify the members of a pool.
        Some(_) if ask.is_pooled() && !matches!(actor, Actor::Human { .. }) => {
            EvidenceStatus::Withheld
        }
        Some(evidence) => match evidence.value() {
            Some(found) => return (Some(EvidenceStatus::Kept), Some(found.clone())),
            None => EvidenceStatus::Erased,
        },
    };
    (Some(status), None)
}
