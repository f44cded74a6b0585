//! `clients/vectors/passkeys.json`: what every verifier, in whatever language, must say of the
//! evidence of a passkey. Made from fixed keys; `cargo test -p countersign-dialects --test proof --
//! --ignored` writes it again.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use dialects::proof::passkey::CoseKey;
use dialects::proof::record_check::{Inclusion, LinkedRecord};
use dialects::proof::{BLOCK, RECEIPT, verify, verify_enrolment, verify_evidence};
use ed25519_dalek::Signer as _;
use kernel::actor::ActorRef;
use kernel::audit::{Digest, Record};
use kernel::directory::{CredentialKind, Enrolment, Key, PasskeyUses};
use kernel::passkey_evidence::{AnswerStatement, PasskeyEvidence, VERSION, answer_digest};
use kernel::seal::{self, Block, MerkleTree};
use kernel::{AskEvent, DirectoryEvent, Event, KeyId, Subject, Time};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha384};

use crate::fixtures::{claims, current, refund, stranger, trusted, typed};

const ABOUT: &str = "What a verifier of passkey evidence must say of each `evidence`, beside the receipt in \
    `jws` (valid under `jwks`). `why` is one word for the first thing that is wrong. Where there is an \
    `enrolment`, it is checked too; where there is an `origin`, answers were confirmed there and not at \
    the issuer's address. Made by crates/dialects/tests/proof/passkey_vectors.rs.";
const ORIGIN: &str = "https://countersign.example";
const RP_ID: &str = "countersign.example";
const CREDENTIAL: &[u8] = b"credential of olga";
// The primes of a key that is made for this test and used nowhere else.
const P: &str = "def0a842f4f66e2137cbe6692fcbdaf61cb827e757637a0da00a75d6e378d39a360c2b112430c1b5b627df1cceb437fc4b15b2a8662a45183157d29923180de98fe095bea3b1e171f9e0916f3a7b22dd5485eed6daaca1b9e1defc7e44f5c87b7fc7b08d439ab09f5465f8ab34660aa4eae583032b3abfda4a5b3397696f0a61";
const Q: &str = "cecc886195b513cc3a64ac412045510a9dec7f15698d327076ef5501feb1d6a0f94648ba7b51b467d0fae5c4cbb5bb28b9702ca7bac70ab9a845114dfd60b988953930d3f9978657eed769f0232fc2ed456f44d2423c1175ccbeb34286a39cd60d88c7914adbf0e7a88f3ff3db46dc29bc3d1ff9ac535beb90823879d9a2e843";

fn b64(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../clients/vectors/passkeys.json")
}

/// An authenticator with a fixed key.
enum Authenticator {
    Es256(p256::ecdsa::SigningKey),
    Es384(p384::ecdsa::SigningKey),
    EdDsa(ed25519_dalek::SigningKey),
    Rs256(rsa::RsaPrivateKey),
}

impl Authenticator {
    fn es256(seed: u8) -> Self {
        Self::Es256(p256::ecdsa::SigningKey::from_slice(&[seed; 32]).unwrap())
    }

    fn all() -> [(&'static str, Self); 4] {
        let number = |hex: &str| {
            let bytes = hex::decode(hex).unwrap();
            rsa::BoxedUint::from_be_slice_vartime(&bytes)
        };
        let exponent = rsa::BoxedUint::from(65_537_u32);
        let rsa = rsa::RsaPrivateKey::from_p_q(number(P), number(Q), exponent).unwrap();
        [
            ("es256", Self::es256(1)),
            ("es384", Self::Es384(p384::ecdsa::SigningKey::from_slice(&[1; 48]).unwrap())),
            ("eddsa", Self::EdDsa(ed25519_dalek::SigningKey::from_bytes(&[1; 32]))),
            ("rs256", Self::Rs256(rsa)),
        ]
    }

    fn public(&self) -> Vec<u8> {
        let key = match self {
            Self::Es256(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                let x = point.x().unwrap().as_slice().try_into().unwrap();
                let y = point.y().unwrap().as_slice().try_into().unwrap();
                CoseKey::Es256 { x, y }
            }
            Self::Es384(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                let x = point.x().unwrap().as_slice().try_into().unwrap();
                let y = point.y().unwrap().as_slice().try_into().unwrap();
                CoseKey::Es384 { x, y }
            }
            Self::EdDsa(key) => CoseKey::EdDsa { x: key.verifying_key().to_bytes() },
            Self::Rs256(key) => {
                use rsa::traits::PublicKeyParts as _;
                CoseKey::Rs256 { n: key.n_bytes().to_vec() }
            }
        };
        key.bytes()
    }

    fn sign(&self, signed: &[u8]) -> Vec<u8> {
        use p256::ecdsa::signature::hazmat::PrehashSigner as _;
        match self {
            Self::Es256(key) => {
                let signature: p256::ecdsa::Signature =
                    key.sign_prehash(&Sha256::digest(signed)).unwrap();
                signature.to_der().as_bytes().to_vec()
            }
            Self::Es384(key) => {
                let signature: p384::ecdsa::Signature =
                    key.sign_prehash(&Sha384::digest(signed)).unwrap();
                signature.to_der().as_bytes().to_vec()
            }
            Self::EdDsa(key) => key.sign(signed).to_bytes().to_vec(),
            Self::Rs256(key) => {
                let scheme = rsa::Pkcs1v15Sign::new::<Sha256>();
                key.sign(scheme, &Sha256::digest(signed)).unwrap()
            }
        }
    }
}

/// What an authenticator is asked to sign, and what a browser makes of it.
struct Assertion {
    statement: AnswerStatement,
    client_data: String,
    authenticator_data: Vec<u8>,
    origin: String,
    rp_id: String,
}

fn key() -> KeyId {
    "key_01KGRM8Q0G0000000000000009".parse().unwrap()
}

fn receipt(more: &Value) -> Value {
    let mut members = json!({ "assurance": "passkey" });
    members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claims(&refund(), members)
}

impl Assertion {
    /// The honest one for a receipt.
    fn of(receipt: &Value) -> Self {
        let claims = typed(receipt.clone());
        let ActorRef::Human(human) = claims.by else { panic!("{claims:?}") };
        let answer = claims.answer.unwrap();
        let statement = AnswerStatement {
            v: VERSION,
            ask: claims.sub,
            human,
            question_sha256: claims.question_sha256,
            shown_sha256: claims.shown_sha256,
            answer_sha256: answer_digest(&answer, claims.comment.as_deref(), &claims.redacted),
            nonce: Digest([7; 32]),
        };
        Self::stating(statement, ORIGIN, RP_ID)
    }

    fn stating(statement: AnswerStatement, origin: &str, rp_id: &str) -> Self {
        let challenge = b64(&statement.challenge().0);
        let client_data = json!({
            "type": "webauthn.get", "challenge": challenge, "origin": origin, "crossOrigin": false,
        });
        let flags_and_counter = [0x05, 0, 0, 0, 9];
        let authenticator_data =
            [Digest::of(rp_id.as_bytes()).0.as_slice(), &flags_and_counter].concat();
        Self {
            statement,
            client_data: client_data.to_string(),
            authenticator_data,
            origin: origin.to_owned(),
            rp_id: rp_id.to_owned(),
        }
    }

    fn client(mut self, member: &str, value: Value) -> Self {
        let mut data: Value = serde_json::from_str(&self.client_data).unwrap();
        data[member] = value;
        self.client_data = data.to_string();
        self
    }

    fn flags(mut self, flags: u8) -> Self {
        self.authenticator_data[32] = flags;
        self
    }

    fn signed_by(self, authenticator: &Authenticator) -> PasskeyEvidence {
        let hash = Sha256::digest(self.client_data.as_bytes());
        let signed = [self.authenticator_data.as_slice(), &hash].concat();
        PasskeyEvidence {
            key: key(),
            credential_id: b64(CREDENTIAL),
            public_key: b64(&authenticator.public()),
            authenticator_data: b64(&self.authenticator_data),
            client_data_json: b64(self.client_data.as_bytes()),
            signature: b64(&authenticator.sign(&signed)),
            rp_id: self.rp_id,
            origin: self.origin,
            statement: self.statement,
        }
    }
}

/// The record of an enrolment, in the middle of a block of five.
fn enrolment(evidence: &PasskeyEvidence, change: &dyn Fn(&mut Event, &mut Key)) -> Inclusion {
    let at: Time = "2026-02-01T10:00:00.000Z".parse().unwrap();
    let human = evidence.statement.human.clone();
    let mut key = Key {
        id: evidence.key,
        hash: Digest::of(CREDENTIAL),
        kind: CredentialKind::Passkey {
            human: human.clone(),
            public: "{}".to_owned(),
            enrolment: Some(Box::new(Enrolment {
                credential_id: evidence.credential_id.clone(),
                public_key: evidence.public_key.clone(),
                counts_from: at,
            })),
            uses: PasskeyUses::default(),
        },
        label: "work laptop".to_owned(),
        issued_at: at,
        expires_at: None,
        revoked_at: None,
        tokens_ended: false,
    };
    let mut event = Event {
        subject: Subject::Key(key.id),
        seq: 1,
        at,
        by: ActorRef::Human(human),
        what: AskEvent::Opened.into(),
    };
    change(&mut event, &mut key);
    if event.what == AskEvent::Opened.into() {
        event.what = DirectoryEvent::KeyIssued(Box::new(key)).into();
    }
    let record = Record::link(Digest::ZERO, &mut event);
    let hashes = [Digest([1; 32]), Digest([2; 32]), record.hash, Digest([4; 32]), Digest([5; 32])];
    let mut tree = MerkleTree::default();
    for hash in &hashes {
        tree.push(*hash);
    }
    let block = Block {
        issuer: ORIGIN.to_owned(),
        n: 3,
        first: 40,
        count: 5,
        root: tree.root(),
        prev: Digest([9; 32]),
        at: "2026-02-01T10:00:10.000Z".parse().unwrap(),
    };
    Inclusion {
        record: LinkedRecord {
            subject: record.subject.to_string(),
            seq: record.seq,
            prev: record.prev,
            hash: record.hash,
            body: Some(record.body),
        },
        position: 42,
        index: 2,
        path: seal::path(&hashes, 2).unwrap(),
        block: current().sign(BLOCK, &block),
    }
}

fn case(name: &str, receipt: &Value, evidence: &PasskeyEvidence, why: Option<&str>) -> Value {
    let mut case = json!({
        "name": name,
        "jws": current().sign(RECEIPT, receipt),
        "evidence": evidence,
        "valid": why.is_none(),
    });
    if let Some(why) = why {
        case["why"] = json!(why);
    }
    case
}

fn cases() -> Vec<Value> {
    let plain = receipt(&json!({}));
    let mine = Authenticator::es256(1);
    let honest = || Assertion::of(&plain);
    let mut cases = Vec::new();
    for (name, authenticator) in Authenticator::all() {
        let evidence = honest().signed_by(&authenticator);
        cases.push(case(name, &plain, &evidence, None));
        let mut other = evidence.clone();
        let mut signature = BASE64_URL_SAFE_NO_PAD.decode(&other.signature).unwrap();
        let last = signature.len() - 1;
        signature[last] ^= 1;
        other.signature = b64(&signature);
        cases.push(case(&format!("{name}-signature-changed"), &plain, &other, Some("signature")));
    }
    let editable = receipt(&json!({
        "answer": { "verdict": "approved", "edits": { "amount": 9_007_199_254_740_993_u64 } },
        "comment": "half of it, é \u{1f642}",
    }));
    cases.push(case(
        "edits-and-comment",
        &editable,
        &Assertion::of(&editable).signed_by(&mine),
        None,
    ));
    let redacted = receipt(&json!({
        "answer": { "verdict": "provided", "values": { "size": 2.5 } }, "redacted": ["pin"],
    }));
    cases.push(case(
        "secret-left-out",
        &redacted,
        &Assertion::of(&redacted).signed_by(&mine),
        None,
    ));
    let more = honest().client("other_keys_can_be_added_here", json!("do not compare"));
    cases.push(case("client-data-with-more", &plain, &more.signed_by(&mine), None));
    let backed_up = honest().flags(0x1d);
    cases.push(case("backed-up-passkey", &plain, &backed_up.signed_by(&mine), None));

    // An address that changed since.
    let statement = honest().statement;
    let moved = Assertion::stating(statement, "https://old.example:8443", "old.example");
    let moved = moved.signed_by(&mine);
    let mut accepted = case("origin-that-was-given", &plain, &moved, None);
    accepted["origin"] = json!("https://old.example:8443/path");
    cases.push(accepted);
    cases.push(case("origin-of-another", &plain, &moved, Some("origin")));

    cases.extend(forged(&plain, &mine));
    cases.extend(enrolments(&plain, &mine));
    cases
}

/// One for each check, each signed by a real authenticator.
fn forged(plain: &Value, mine: &Authenticator) -> Vec<Value> {
    let honest = || Assertion::of(plain);
    let evidence = honest().signed_by(mine);
    let against =
        |name: &str, more: Value, why: &str| case(name, &receipt(&more), &evidence, Some(why));
    let made = |name: &str, assertion: Assertion, why: &str| {
        case(name, plain, &assertion.signed_by(mine), Some(why))
    };
    let changed = |name: &str, change: &dyn Fn(&mut PasskeyEvidence), why: &str| {
        let mut evidence = evidence.clone();
        change(&mut evidence);
        case(name, plain, &evidence, Some(why))
    };
    let other = Authenticator::es256(2);
    let nobody = json!({ "by": { "kind": "system" }, "via": "timer" });
    let mut version = honest();
    version.statement.v = 2;
    let statement = version.statement;
    let newer = Assertion::stating(statement, ORIGIN, RP_ID);
    let mut short = honest();
    short.authenticator_data.truncate(36);
    let mut replayed = honest();
    let other_statement = AnswerStatement { nonce: Digest([8; 32]), ..replayed.statement.clone() };
    replayed.statement = other_statement;
    vec![
        against("receipt-of-a-session", json!({ "assurance": "session" }), "assurance"),
        against("receipt-of-nobody", nobody, "assurance"),
        made("statement-of-another-version", newer, "version"),
        changed("padding", &|evidence| evidence.signature.push('='), "encoding"),
        against(
            "another-ask",
            json!({ "sub": "ask_01KGRM8Q0G0000000000000008",
                "jti": "rcpt_01KGRM8Q0G0000000000000008" }),
            "ask",
        ),
        against("another-person", json!({ "by": { "kind": "human", "id": "mark" } }), "person"),
        against("another-question", json!({ "question_sha256": "6".repeat(64) }), "question"),
        against("something-else-shown", json!({ "shown_sha256": "6".repeat(64) }), "shown"),
        against("another-answer", json!({ "answer": { "verdict": "rejected" } }), "answer"),
        against("another-comment", json!({ "comment": "and more" }), "answer"),
        against("a-value-left-out", json!({ "redacted": ["pin"] }), "answer"),
        changed(
            "client-data-no-json",
            &|evidence| evidence.client_data_json = b64(b"nonsense"),
            "client-data",
        ),
        changed(
            "client-data-with-a-member-twice",
            &|evidence| {
                let twice = br#"{"type":"x","type":"webauthn.get","challenge":"","origin":""}"#;
                evidence.client_data_json = b64(twice);
            },
            "client-data",
        ),
        made("a-registration", honest().client("type", json!("webauthn.create")), "type"),
        made("another-challenge", honest().client("challenge", json!("AAAA")), "challenge"),
        made("a-statement-that-was-not-signed", replayed, "challenge"),
        made(
            "another-website",
            honest().client("origin", json!("https://countersign.example.evil.test")),
            "origin",
        ),
        changed("another-origin-claimed", &|evidence| evidence.origin.push('/'), "origin"),
        made("in-a-frame-of-another", honest().client("crossOrigin", json!(true)), "origin"),
        made("authenticator-data-too-short", short, "authenticator-data"),
        changed("another-rp-id-claimed", &|e| "example".clone_into(&mut e.rp_id), "rp-id"),
        made(
            "another-rp-id-signed",
            Assertion {
                rp_id: RP_ID.to_owned(),
                ..Assertion::stating(honest().statement, ORIGIN, "evil.test")
            },
            "rp-id",
        ),
        made("nobody-present", honest().flags(0x04), "user-presence"),
        made("nobody-verified", honest().flags(0x01), "user-verification"),
        changed("no-key", &|evidence| evidence.public_key = b64(b"\xa0"), "public-key"),
        changed(
            "key-with-more-behind-it",
            &|evidence| {
                let longer = [mine.public(), vec![0]].concat();
                evidence.public_key = b64(&longer);
            },
            "public-key",
        ),
        changed(
            "point-not-on-the-curve",
            &|evidence| {
                evidence.public_key = b64(&CoseKey::Es256 { x: [1; 32], y: [1; 32] }.bytes());
            },
            "public-key",
        ),
        changed(
            "key-of-another-passkey",
            &|evidence| evidence.public_key = b64(&other.public()),
            "signature",
        ),
        changed(
            "counter-changed-after-signing",
            &|evidence| {
                let mut data = BASE64_URL_SAFE_NO_PAD.decode(&evidence.authenticator_data).unwrap();
                data[36] ^= 1;
                evidence.authenticator_data = b64(&data);
            },
            "signature",
        ),
        changed(
            "client-data-changed-after-signing",
            &|evidence| {
                let mut data = BASE64_URL_SAFE_NO_PAD.decode(&evidence.client_data_json).unwrap();
                data.push(b' ');
                evidence.client_data_json = b64(&data);
            },
            "signature",
        ),
        changed("no-signature", &|evidence| evidence.signature = String::new(), "signature"),
    ]
}

/// Evidence beside the record of an enrolment.
fn enrolments(plain: &Value, mine: &Authenticator) -> Vec<Value> {
    let evidence = Assertion::of(plain).signed_by(mine);
    let with = |name: &str, proof: Inclusion, why: Option<&str>| {
        let mut case = case(name, plain, &evidence, why);
        case["enrolment"] = json!(proof);
        case
    };
    let enrolled = |name: &str, change: &dyn Fn(&mut Event, &mut Key), why: Option<&str>| {
        with(name, enrolment(&evidence, change), why)
    };
    let harmed = |name: &str, harm: &dyn Fn(&mut Inclusion), why: &str| {
        let mut proof = enrolment(&evidence, &|_, _| {});
        harm(&mut proof);
        with(name, proof, Some(why))
    };
    let of = |key: &mut Key, change: &dyn Fn(&mut Enrolment)| {
        let CredentialKind::Passkey { enrolment: Some(enrolment), .. } = &mut key.kind else {
            panic!("{key:?}")
        };
        change(enrolment);
    };
    let hers = Authenticator::es256(2);
    vec![
        enrolled("enrolled", &|_, _| {}, None),
        enrolled(
            "enrolment-of-another-passkey",
            &|event, key| {
                key.id = "key_01KGRM8Q0G000000000000000A".parse().unwrap();
                event.subject = Subject::Key(key.id);
            },
            Some("enrolment"),
        ),
        enrolled(
            "enrolment-that-is-a-removal",
            &|event, _| event.what = DirectoryEvent::KeyRevoked.into(),
            Some("enrolment"),
        ),
        enrolled("enrolment-not-the-first-event", &|event, _| event.seq = 2, Some("enrolment")),
        enrolled(
            "enrolment-of-a-token",
            &|_, key| key.kind = CredentialKind::Token { human: "olga".parse().unwrap() },
            Some("enrolment"),
        ),
        harmed("enrolment-without-its-body", &|proof| proof.record.body = None, "enrolment"),
        harmed(
            "enrolment-changed",
            &|proof| {
                proof.record.body = proof.record.body.as_ref().map(|b| b.replace("work", "home"));
            },
            "enrolment-hash",
        ),
        harmed(
            "enrolment-behind-another",
            &|proof| proof.record.prev = Digest([1; 32]),
            "enrolment-hash",
        ),
        enrolled(
            "enrolment-of-another-person",
            &|_, key| {
                let CredentialKind::Passkey { human, .. } = &mut key.kind else {
                    panic!("{key:?}")
                };
                *human = "mark".parse().unwrap();
            },
            Some("enrolment-person"),
        ),
        enrolled(
            "enrolment-by-the-system",
            &|event, _| event.by = ActorRef::System,
            Some("enrolment-person"),
        ),
        enrolled(
            "enrolment-of-another-key",
            &|_, key| of(key, &|enrolment| enrolment.public_key = b64(&hers.public())),
            Some("enrolment-key"),
        ),
        enrolled(
            "enrolment-of-another-credential",
            &|_, key| of(key, &|enrolment| enrolment.credential_id = b64(b"another")),
            Some("enrolment-key"),
        ),
        enrolled(
            "enrolment-with-another-hash",
            &|_, key| key.hash = Digest([3; 32]),
            Some("enrolment-key"),
        ),
        enrolled(
            "enrolment-after-the-answer",
            &|event, _| event.at = "2026-02-06T10:05:00.124Z".parse().unwrap(),
            Some("enrolment-late"),
        ),
        harmed("enrolment-elsewhere-in-the-block", &|proof| proof.index = 1, "enrolment-block"),
        harmed("enrolment-at-another-position", &|proof| proof.position = 41, "enrolment-block"),
        harmed(
            "enrolment-path-cut",
            &|proof| proof.path.truncate(proof.path.len() - 1),
            "enrolment-block",
        ),
        harmed("enrolment-path-changed", &|proof| proof.path[0] = Digest::ZERO, "enrolment-block"),
        harmed(
            "enrolment-block-of-a-stranger",
            &|proof| {
                let block: Value = dialects::proof::jws::peek(&proof.block, BLOCK).unwrap();
                proof.block = stranger().sign(BLOCK, &block);
            },
            "enrolment-block",
        ),
    ]
}

fn made() -> String {
    let file = json!({ "about": ABOUT, "jwks": trusted(), "cases": cases() });
    format!("{}\n", serde_json::to_string_pretty(&file).unwrap())
}

#[test]
fn the_file_is_what_the_code_makes() {
    let kept = std::fs::read_to_string(path()).unwrap();
    assert!(kept == made(), "run this test's neighbour with --ignored and look at the difference");
}

#[test]
#[ignore = "writes clients/vectors/passkeys.json again"]
fn write_the_file() {
    std::fs::write(path(), made()).unwrap();
}

/// We say ourselves what others must.
#[test]
fn every_case_is_judged_as_it_says() {
    let mut reasons = std::collections::BTreeSet::new();
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        let claims = verify(case["jws"].as_str().unwrap(), &trusted()).unwrap();
        let evidence: PasskeyEvidence = serde_json::from_value(case["evidence"].clone()).unwrap();
        let mut judged = verify_evidence(&evidence, &claims, case["origin"].as_str());
        if judged.is_ok() && case.get("enrolment").is_some() {
            let proof: Inclusion = serde_json::from_value(case["enrolment"].clone()).unwrap();
            judged = verify_enrolment(&proof, &evidence, &claims, &trusted()).map(drop);
        }
        let why = judged.err().map(dialects::proof::EvidenceError::code);
        assert_eq!(case.get("why").and_then(Value::as_str), why, "{name}");
        assert_eq!(case["valid"], why.is_none(), "{name}");
        reasons.extend(why);
    }
    assert_eq!(reasons.len(), 24, "every reason has a case: {reasons:?}");
}
