//! Passkey evidence: proves that a person's authenticator signed the answer that a receipt claims,
//! without trust in the server that issued the receipt. `docs/receipts.md` lists the checks.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::actor::{ActorRef, Assurance};
use kernel::audit::{Digest, open};
use kernel::directory::CredentialKind;
use kernel::passkey_evidence::{PasskeyEvidence, VERSION, answer_digest};
use kernel::seal::{self, Block};
use kernel::{DirectoryEvent, DomainEvent, Subject, Time};
use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256, Sha384};

use super::jwks::Jwks;
use super::jws;
use super::receipt::{ClaimedOutcome, ReceiptClaims};
use super::record_check::Inclusion;

/// Where the evidence of an answer with the assurance `passkey` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EvidenceStatus {
    /// It comes with the receipt.
    Kept,
    /// It was erased together with the person.
    Erased,
    /// The answer was given before evidence was kept.
    NotRecorded,
    /// It would name a person of a pool, whom this caller does not learn.
    Withheld,
}

/// Why evidence does not prove the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// The receipt does not claim an answer confirmed with a passkey.
    #[error("the receipt does not claim an answer confirmed with a passkey")]
    Assurance,
    /// The statement has an unknown version.
    #[error("the statement is not of version 1")]
    Version,
    /// A part is not canonical base64url.
    #[error("a part of the evidence is not base64url without padding")]
    Encoding,
    /// The statement is about another ask.
    #[error("the passkey signed an answer to another request")]
    Ask,
    /// The statement names another person.
    #[error("the passkey signed an answer of another person")]
    Person,
    /// The statement is about another question.
    #[error("the passkey signed an answer to another question")]
    Question,
    /// The person saw something other than the receipt says.
    #[error("the passkey signed an answer to a text other than the one that the receipt names")]
    Shown,
    /// The statement holds another answer.
    #[error("the passkey signed another answer")]
    Answer,
    /// The client data is not valid JSON.
    #[error("the client data is not the JSON of a WebAuthn client")]
    ClientData,
    /// The client data is not of an assertion.
    #[error("the client data is not of the type webauthn.get")]
    Type,
    /// The challenge is not the hash of the statement.
    #[error("the challenge in the client data is not the hash of the statement")]
    Challenge,
    /// The origin is not the issuer's.
    #[error("the answer was confirmed on a website other than the issuer's")]
    Origin,
    /// The authenticator data is too short.
    #[error("the authenticator data is too short")]
    AuthenticatorData,
    /// The relying party is not the issuer.
    #[error("the passkey was made for another relying party than the issuer")]
    RpId,
    /// The authenticator did not detect a person.
    #[error("the authenticator did not confirm that a person was present")]
    UserPresence,
    /// The authenticator did not verify the person.
    #[error("the authenticator did not verify the person")]
    UserVerification,
    /// The public key is not supported.
    #[error("the public key is not a COSE key for ES256, ES384, EdDSA or RS256")]
    PublicKey,
    /// The signature is not valid for this key and data.
    #[error("the signature is not valid: the data was changed, or another key signed it")]
    Signature,
    /// The record is not the enrolment of this passkey.
    #[error("the record is not the enrolment of the passkey that signed")]
    Enrolment,
    /// The record does not have the hash it claims.
    #[error("the record of the enrolment does not have the hash it claims")]
    EnrolmentHash,
    /// Another person enrolled the passkey.
    #[error("the passkey was enrolled by another person")]
    EnrolmentPerson,
    /// The enrolment names another key or credential.
    #[error("the enrolled public key or credential is not the one that signed")]
    EnrolmentKey,
    /// The passkey was enrolled after the answer.
    #[error("the passkey was enrolled after the answer")]
    EnrolmentLate,
    /// The enrolment is not in the signed block.
    #[error("the enrolment is not in the named block")]
    EnrolmentBlock,
}

impl EvidenceError {
    /// A stable code, the same in every language.
    pub fn code(self) -> &'static str {
        match self {
            Self::Assurance => "assurance",
            Self::Version => "version",
            Self::Encoding => "encoding",
            Self::Ask => "ask",
            Self::Person => "person",
            Self::Question => "question",
            Self::Shown => "shown",
            Self::Answer => "answer",
            Self::ClientData => "client-data",
            Self::Type => "type",
            Self::Challenge => "challenge",
            Self::Origin => "origin",
            Self::AuthenticatorData => "authenticator-data",
            Self::RpId => "rp-id",
            Self::UserPresence => "user-presence",
            Self::UserVerification => "user-verification",
            Self::PublicKey => "public-key",
            Self::Signature => "signature",
            Self::Enrolment => "enrolment",
            Self::EnrolmentHash => "enrolment-hash",
            Self::EnrolmentPerson => "enrolment-person",
            Self::EnrolmentKey => "enrolment-key",
            Self::EnrolmentLate => "enrolment-late",
            Self::EnrolmentBlock => "enrolment-block",
        }
    }
}

/// The checked members of the client data; browsers add others.
#[derive(Deserialize)]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    cross_origin: bool,
}

/// The flag for user presence.
const USER_PRESENT: u8 = 0x01;
/// The flag for user verification.
const USER_VERIFIED: u8 = 0x04;

/// Checks that a passkey signed the answer that a verified receipt claims. `origin` is the website
/// on which people confirmed answers, if it is not the issuer's own URL.
pub fn verify_evidence(
    evidence: &PasskeyEvidence,
    receipt: &ReceiptClaims,
    origin: Option<&str>,
) -> Result<(), EvidenceError> {
    let (ClaimedOutcome::Completed, Some(Assurance::Passkey), Some(answer), ActorRef::Human(human)) =
        (receipt.outcome, receipt.assurance, &receipt.answer, &receipt.by)
    else {
        return Err(EvidenceError::Assurance);
    };
    let statement = &evidence.statement;
    if statement.v != VERSION {
        return Err(EvidenceError::Version);
    }
    let public_key = decode(&evidence.public_key)?;
    let authenticator_data = decode(&evidence.authenticator_data)?;
    let client_data = decode(&evidence.client_data_json)?;
    let signature = decode(&evidence.signature)?;
    decode(&evidence.credential_id)?;

    let answer = answer_digest(answer, receipt.comment.as_deref(), &receipt.redacted);
    for (same, error) in [
        (statement.ask == receipt.sub, EvidenceError::Ask),
        (statement.human == *human, EvidenceError::Person),
        (statement.question_sha256 == receipt.question_sha256, EvidenceError::Question),
        (statement.shown_sha256 == receipt.shown_sha256, EvidenceError::Shown),
        (statement.answer_sha256 == answer, EvidenceError::Answer),
    ] {
        if !same {
            return Err(error);
        }
    }

    let client: ClientData =
        serde_json::from_slice(&client_data).map_err(|_| EvidenceError::ClientData)?;
    if client.kind != "webauthn.get" {
        return Err(EvidenceError::Type);
    }
    if BASE64_URL_SAFE_NO_PAD.decode(&client.challenge).ok().as_deref()
        != Some(&statement.challenge().0)
    {
        return Err(EvidenceError::Challenge);
    }
    let expected = origin_of(origin.unwrap_or(&receipt.iss));
    if client.origin != expected || evidence.origin != expected || client.cross_origin {
        return Err(EvidenceError::Origin);
    }

    let (Some((rp_id_hash, rest)), true) =
        (authenticator_data.split_first_chunk::<32>(), authenticator_data.len() >= 37)
    else {
        return Err(EvidenceError::AuthenticatorData);
    };
    let flags = rest.first().copied().unwrap_or_default();
    if evidence.rp_id != host_of(expected) || Digest::of(evidence.rp_id.as_bytes()).0 != *rp_id_hash
    {
        return Err(EvidenceError::RpId);
    }
    if flags & USER_PRESENT == 0 {
        return Err(EvidenceError::UserPresence);
    }
    if flags & USER_VERIFIED == 0 {
        return Err(EvidenceError::UserVerification);
    }

    let key = CoseKey::read(&public_key).ok_or(EvidenceError::PublicKey)?;
    let signed = [authenticator_data.as_slice(), &Sha256::digest(&client_data)].concat();
    if key.verifies(&signed, &signature)? { Ok(()) } else { Err(EvidenceError::Signature) }
}

/// Checks that the signing passkey is the enrolled one, by a record of the audit log and the proof
/// that it is in a signed block.
pub fn verify_enrolment(
    proof: &Inclusion,
    evidence: &PasskeyEvidence,
    receipt: &ReceiptClaims,
    trusted: &Jwks,
) -> Result<Block, EvidenceError> {
    let record = &proof.record;
    let body = record.body.as_deref().ok_or(EvidenceError::Enrolment)?;
    enrolled(body, &record.subject, record.seq, evidence, receipt.ended_at)?;
    if record.prev != Digest::ZERO
        || Digest::of(&[record.prev.0.as_slice(), body.as_bytes()].concat()) != record.hash
    {
        return Err(EvidenceError::EnrolmentHash);
    }
    let block: Block = jws::open(&proof.block, super::BLOCK, trusted)
        .map_err(|_| EvidenceError::EnrolmentBlock)?;
    let placed = block.first.checked_add(proof.index) == Some(proof.position);
    if placed && seal::proves(record.hash, proof.index, block.count, &proof.path, block.root) {
        Ok(block)
    } else {
        Err(EvidenceError::EnrolmentBlock)
    }
}

/// Checks that the body of a record is the enrolment of the signing passkey, at or before `at`. The
/// caller checks the record's hash.
pub fn enrolled(
    body: &str,
    subject: &str,
    seq: u64,
    evidence: &PasskeyEvidence,
    at: Time,
) -> Result<(), EvidenceError> {
    let event = open(body, &[]).ok_or(EvidenceError::Enrolment)?;
    let named = subject == evidence.key.to_string()
        && event.subject == Subject::Key(evidence.key)
        && (seq, event.seq) == (1, 1);
    let DomainEvent::Directory(DirectoryEvent::KeyIssued(key)) = &event.what else {
        return Err(EvidenceError::Enrolment);
    };
    let CredentialKind::Passkey { human, enrolment: Some(enrolment), .. } = &key.kind else {
        return Err(EvidenceError::Enrolment);
    };
    if !named {
        return Err(EvidenceError::Enrolment);
    }
    if *human != evidence.statement.human || event.by != ActorRef::Human(human.clone()) {
        return Err(EvidenceError::EnrolmentPerson);
    }
    let credential = decode(&evidence.credential_id)?;
    let same = enrolment.public_key == evidence.public_key
        && enrolment.credential_id == evidence.credential_id
        && key.hash == Digest::of(&credential);
    if !same {
        return Err(EvidenceError::EnrolmentKey);
    }
    if event.at > at { Err(EvidenceError::EnrolmentLate) } else { Ok(()) }
}

fn decode(text: &str) -> Result<Vec<u8>, EvidenceError> {
    BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| EvidenceError::Encoding)
}

/// The scheme, host and port of a URL.
fn origin_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(0, |(scheme, _)| scheme.len() + 3);
    let end = address.get(rest..).and_then(|rest| rest.find('/')).map(|end| rest + end);
    address.get(..end.unwrap_or(address.len())).unwrap_or_default()
}

fn host_of(origin: &str) -> &str {
    let rest = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    rest.split(':').next().unwrap_or_default()
}

/// A COSE key (RFC 9052) in the only encoding that CTAP2 allows. Other encodings are rejected, so
/// that all implementations agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoseKey {
    /// ECDSA on P-256 with SHA-256, algorithm -7.
    Es256 {
        /// The x coordinate of the point.
        x: [u8; 32],
        /// The y coordinate of the point.
        y: [u8; 32],
    },
    /// ECDSA on P-384 with SHA-384, algorithm -35.
    Es384 {
        /// The x coordinate of the point.
        x: [u8; 48],
        /// The y coordinate of the point.
        y: [u8; 48],
    },
    /// Ed25519, algorithm -8.
    EdDsa {
        /// The public key.
        x: [u8; 32],
    },
    /// RSA with PKCS #1 v1.5 and SHA-256, algorithm -257. The exponent is 65537.
    Rs256 {
        /// The modulus, of 256 to 512 bytes.
        n: Vec<u8>,
    },
}

const ES256: [&[u8]; 2] = [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", b"\x22\x58\x20"];
const ES384: [&[u8]; 2] = [b"\xa5\x01\x02\x03\x38\x22\x20\x02\x21\x58\x30", b"\x22\x58\x30"];
const EDDSA: &[u8] = b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20";
const RS256: [&[u8]; 2] = [b"\xa4\x01\x03\x03\x39\x01\x00\x20\x59", b"\x21\x43\x01\x00\x01"];

impl CoseKey {
    /// Decodes a key; `None` if the type is not supported or the encoding is not canonical.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if let Some((x, y)) = coordinates(bytes, ES256) {
            return Some(Self::Es256 { x, y });
        }
        if let Some((x, y)) = coordinates(bytes, ES384) {
            return Some(Self::Es384 { x, y });
        }
        if let Some(x) = bytes.strip_prefix(EDDSA) {
            return Some(Self::EdDsa { x: x.try_into().ok()? });
        }
        let [head, tail] = RS256;
        let (length, rest) = bytes.strip_prefix(head)?.split_first_chunk::<2>()?;
        let n = rest.strip_suffix(tail)?;
        let fits = usize::from(u16::from_be_bytes(*length)) == n.len()
            && (256..=512).contains(&n.len())
            && n.first().is_some_and(|first| *first != 0);
        fits.then(|| Self::Rs256 { n: n.to_vec() })
    }

    /// Encodes the key.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Es256 { x, y } => [ES256[0], x, ES256[1], y].concat(),
            Self::Es384 { x, y } => [ES384[0], x, ES384[1], y].concat(),
            Self::EdDsa { x } => [EDDSA, x].concat(),
            Self::Rs256 { n } => {
                let length = u16::try_from(n.len()).unwrap_or_default().to_be_bytes();
                [RS256[0], &length, n, RS256[1]].concat()
            }
        }
    }

    /// Whether this key signed these bytes; an error if it is not a valid key.
    fn verifies(&self, signed: &[u8], signature: &[u8]) -> Result<bool, EvidenceError> {
        let no_key = |_| EvidenceError::PublicKey;
        match self {
            Self::Es256 { x, y } => {
                let point = [b"\x04".as_slice(), x, y].concat();
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&point).map_err(no_key)?;
                let signature = p256::ecdsa::Signature::from_der(signature);
                Ok(signature
                    .is_ok_and(|found| key.verify_prehash(&Sha256::digest(signed), &found).is_ok()))
            }
            Self::Es384 { x, y } => {
                let point = [b"\x04".as_slice(), x, y].concat();
                let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(&point).map_err(no_key)?;
                let signature = p384::ecdsa::Signature::from_der(signature);
                Ok(signature
                    .is_ok_and(|found| key.verify_prehash(&Sha384::digest(signed), &found).is_ok()))
            }
            Self::EdDsa { x } => {
                let key = ed25519_dalek::VerifyingKey::from_bytes(x);
                let key = key.map_err(|_| EvidenceError::PublicKey)?;
                if key.is_weak() {
                    return Err(EvidenceError::PublicKey);
                }
                let signature = ed25519_dalek::Signature::from_slice(signature);
                Ok(signature.is_ok_and(|found| key.verify_strict(signed, &found).is_ok()))
            }
            Self::Rs256 { n } => {
                let n = rsa::BoxedUint::from_be_slice_vartime(n);
                let key = rsa::RsaPublicKey::new(n, rsa::BoxedUint::from(65_537_u32));
                let key = key.map_err(|_| EvidenceError::PublicKey)?;
                let scheme = rsa::Pkcs1v15Sign::new::<Sha256>();
                Ok(key.verify(scheme, &Sha256::digest(signed), signature).is_ok())
            }
        }
    }
}

/// The two coordinates between fixed bytes.
fn coordinates<const N: usize>(
    bytes: &[u8],
    [before, between]: [&[u8]; 2],
) -> Option<([u8; N], [u8; N])> {
    let (x, rest) = bytes.strip_prefix(before)?.split_first_chunk::<N>()?;
    let y = rest.strip_prefix(between)?;
    Some((*x, y.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_and_hosts() {
        for (address, origin, host) in [
            ("https://a.example", "https://a.example", "a.example"),
            ("https://a.example/path/x", "https://a.example", "a.example"),
            ("http://localhost:3402/", "http://localhost:3402", "localhost"),
            ("nonsense", "nonsense", "nonsense"),
        ] {
            assert_eq!((origin_of(address), host_of(origin_of(address))), (origin, host));
        }
    }

    #[test]
    fn a_key_has_one_spelling() {
        let keys = [
            CoseKey::Es256 { x: [1; 32], y: [2; 32] },
            CoseKey::Es384 { x: [1; 48], y: [2; 48] },
            CoseKey::EdDsa { x: [3; 32] },
            CoseKey::Rs256 { n: vec![4; 256] },
        ];
        for key in keys {
            let bytes = key.bytes();
            assert_eq!(CoseKey::read(&bytes), Some(key));
            let longer = [bytes.as_slice(), b"\x00"].concat();
            assert_eq!(CoseKey::read(&longer), None);
            assert_eq!(CoseKey::read(bytes.split_last().unwrap().1), None);
        }
        assert_eq!(CoseKey::read(&CoseKey::Rs256 { n: vec![4; 128] }.bytes()), None);
        assert_eq!(CoseKey::read(&[]), None);
    }
}
