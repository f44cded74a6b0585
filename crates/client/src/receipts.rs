//! Verifies receipts without the server. Fetch the keys and the revocations once over a connection
//! that you trust, and store them.

use dialects::proof::{self, RevocationClaims};
use reqwest::Method;

pub use dialects::proof::record_check::Inclusion;
pub use dialects::proof::{
    EvidenceError, EvidenceStatus, Jwks, ProofError, ReceiptClaims, RevokedReceipt, explanation,
    verify_enrolment, verify_evidence,
};
pub use kernel::passkey_evidence::PasskeyEvidence;

use crate::{Client, Result};

/// Verifies a receipt with trusted keys and returns its claims. [`Revocations`] says whether it was
/// revoked since.
pub fn verify_receipt(receipt: &str, keys: &Jwks) -> Result<ReceiptClaims, ProofError> {
    proof::verify(receipt.trim(), keys)
}

/// The revoked receipts and keys.
#[derive(Debug, Clone, Default)]
pub struct Revocations {
    pages: Vec<RevocationClaims>,
}

impl Revocations {
    /// Adds a page that the server signed, from any source.
    pub fn add(&mut self, page: &str, keys: &Jwks) -> Result<(), ProofError> {
        self.pages.push(RevocationClaims::verify(page.trim(), keys)?);
        Ok(())
    }

    /// The revocation of a receipt, if it was revoked.
    pub fn of(&self, receipt: &ReceiptClaims) -> Option<&RevokedReceipt> {
        let pages = self.pages.iter().filter(|page| page.iss == receipt.iss);
        pages.flat_map(|page| &page.revoked).find(|revoked| revoked.jti == receipt.jti)
    }
}

impl Client {
    pub async fn keys(&self) -> Result<Jwks> {
        self.call(Method::GET, "/.well-known/jwks.json", None::<&()>).await
    }
}

#[cfg(test)]
mod tests {
    use dialects::proof::{REVOCATIONS, SecretKey};
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    /// The test vectors that every client must pass.
    #[derive(Deserialize)]
    struct Vectors {
        jwks: Jwks,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        jws: String,
        valid: bool,
        #[serde(default)]
        why: Option<String>,
        #[serde(default)]
        claims: Value,
    }

    fn vectors() -> Vectors {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/vectors/receipts.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn every_receipt_is_judged_as_in_the_other_languages() {
        let Vectors { jwks, cases } = vectors();
        assert!(cases.len() > 90);
        for Case { name, jws, valid, why, claims } in cases {
            match proof::verify(&jws, &jwks) {
                Ok(read) => {
                    assert!(valid, "{name}");
                    assert_eq!(claims["jti"], read.jti.as_str(), "{name}");
                }
                Err(unproven) => {
                    assert!(!valid, "{name}: {unproven}");
                    assert_eq!(why.as_deref(), Some(unproven.code()), "{name}");
                }
            }
        }
    }

    #[derive(Deserialize)]
    struct PasskeyCase {
        name: String,
        jws: String,
        evidence: PasskeyEvidence,
        #[serde(default)]
        enrolment: Option<Inclusion>,
        #[serde(default)]
        origin: Option<String>,
        valid: bool,
        #[serde(default)]
        why: Option<String>,
    }

    #[test]
    fn passkey_evidence_is_judged_as_in_the_other_languages() {
        #[derive(Deserialize)]
        struct File {
            jwks: Jwks,
            cases: Vec<PasskeyCase>,
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/vectors/passkeys.json");
        let File { jwks, cases } =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(cases.len() > 60);
        for case in cases {
            let PasskeyCase { name, jws, evidence, enrolment, origin, valid, why } = case;
            let claims = verify_receipt(&jws, &jwks).unwrap();
            let judged = verify_evidence(&evidence, &claims, origin.as_deref());
            let judged = judged.and_then(|()| match &enrolment {
                Some(proof) => verify_enrolment(proof, &evidence, &claims, &jwks).map(drop),
                None => Ok(()),
            });
            assert_eq!(judged.is_ok(), valid, "{name}");
            assert_eq!(judged.err().map(EvidenceError::code), why.as_deref(), "{name}");
        }
    }

    #[test]
    fn what_was_revoked_is_known_from_what_was_kept() {
        let Vectors { jwks, cases } = vectors();
        let good = cases.iter().find(|case| case.valid).unwrap();
        let claims = verify_receipt(&format!("{}\n", good.jws), &jwks).unwrap();
        let key = SecretKey::new(&[9; 32]);
        let page = |iss: &str| {
            let revoked = json!([{ "jti": claims.jti, "at": "2026-11-15T00:00:00.000Z" }]);
            key.sign(REVOCATIONS, &json!({ "iss": iss, "iat": 0, "revoked": revoked, "keys": [] }))
        };
        let trusted = Jwks { keys: vec![key.public()] };
        let mut revocations = Revocations::default();
        assert!(revocations.add(&page(&claims.iss), &jwks).is_err(), "signed by a stranger");
        revocations.add(&page("https://other.example"), &trusted).unwrap();
        assert!(revocations.of(&claims).is_none(), "from another issuer");
        revocations.add(&page(&claims.iss), &trusted).unwrap();
        assert_eq!(revocations.of(&claims).unwrap().jti, claims.jti);
    }
}
