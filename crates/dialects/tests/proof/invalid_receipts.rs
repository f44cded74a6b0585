//! Receipts that are none: each with what is wrong with it.

use base64::Engine as _;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use dialects::proof::{RECEIPT, SecretKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::fixtures::{claims, current, refund, retired, stranger};

/// The order of the group, little-endian: a signature whose second half is this much larger fits
/// the same equation, and is not the one that was made.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(text: &str) -> Vec<u8> {
    BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()
}

fn parts(jws: &str) -> [String; 3] {
    jws.split('.').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap()
}

fn flipped(part: &str, byte: usize) -> String {
    let mut bytes = decode(part);
    bytes[byte] ^= 1;
    encode(bytes)
}

/// Signs any header and any payload, letter by letter.
fn signed(key: &SecretKey, header: &str, payload: &str) -> String {
    key.sign_text(&format!("{}.{}", encode(header), encode(payload)))
}

fn header(more: &str) -> String {
    let kid = current().public().kid;
    format!(r#"{{"alg":"EdDSA","kid":"{kid}","typ":"receipt+jwt"{more}}}"#)
}

/// Every case: its name, the text, and one word for why it is refused.
pub(crate) fn all() -> Vec<(&'static str, String, &'static str)> {
    let key = current();
    let plain = claims(&refund(), json!({}));
    let receipt = key.sign(RECEIPT, &plain);
    let [head, payload, signature] = parts(&receipt);
    let text = String::from_utf8(kernel::audit::canonical(&plain)).unwrap();
    let kid = key.public().kid;
    let headed = |header: &str| signed(&key, header, &text);
    let claiming = |payload: &str| signed(&key, &header(""), payload);
    let changed = |more: Value| key.sign(RECEIPT, &claims(&refund(), more));
    let late = |more: Value| retired().sign(RECEIPT, &claims(&refund(), more));
    vec![
        (
            "issued-after-its-key-was-retired",
            late(json!({ "iat": 1_770_372_600, "ended_at": "2026-02-06T10:10:00.000Z" })),
            "retired-key",
        ),
        (
            "ended-after-its-key-was-retired-with-an-earlier-date",
            late(json!({ "ended_at": "2026-02-06T10:10:00.000Z" })),
            "retired-key",
        ),
        (
            "dated-after-its-key-was-retired-with-an-earlier-end",
            late(json!({ "iat": 1_770_372_600 })),
            "retired-key",
        ),
        (
            "flipped-bit-in-the-header",
            format!("{}.{payload}.{signature}", flipped(&head, 25)),
            "unknown-key",
        ),
        (
            "flipped-bit-in-the-claims",
            format!("{head}.{}.{signature}", flipped(&payload, 40)),
            "signature",
        ),
        (
            "flipped-bit-in-the-first-half-of-the-signature",
            format!("{head}.{payload}.{}", flipped(&signature, 3)),
            "signature",
        ),
        (
            "flipped-bit-in-the-second-half-of-the-signature",
            format!("{head}.{payload}.{}", flipped(&signature, 40)),
            "signature",
        ),
        (
            "signature-of-another-receipt",
            {
                let [_, _, other] = parts(&changed(json!({ "outcome": "failed", "answer": null })));
                format!("{head}.{payload}.{other}")
            },
            "signature",
        ),
        (
            "signature-with-high-s",
            format!("{head}.{payload}.{}", malleated(&signature)),
            "signature",
        ),
        ("signature-of-zeros", format!("{head}.{payload}.{}", encode([0; 64])), "signature"),
        (
            "signature-too-short",
            format!("{head}.{payload}.{}", encode(&decode(&signature)[..63])),
            "signature",
        ),
        (
            "signature-too-long",
            format!("{head}.{payload}.{}", encode([decode(&signature), vec![0]].concat())),
            "signature",
        ),
        ("signature-missing", format!("{head}.{payload}."), "signature"),
        (
            "alg-none",
            format!(
                "{}.{payload}.",
                encode(format!(r#"{{"alg":"none","kid":"{kid}","typ":"receipt+jwt"}}"#))
            ),
            "algorithm",
        ),
        (
            "alg-none-in-capitals",
            format!(
                "{}.{payload}.",
                encode(format!(r#"{{"alg":"NONE","kid":"{kid}","typ":"receipt+jwt"}}"#))
            ),
            "algorithm",
        ),
        ("alg-missing", headed(&format!(r#"{{"kid":"{kid}","typ":"receipt+jwt"}}"#)), "algorithm"),
        (
            "alg-hs256-with-the-public-key-as-secret",
            {
                let head =
                    encode(format!(r#"{{"alg":"HS256","kid":"{kid}","typ":"receipt+jwt"}}"#));
                let signed = format!("{head}.{payload}");
                let mac = hmac(&decode(&key.public().x), signed.as_bytes());
                format!("{signed}.{}", encode(mac))
            },
            "algorithm",
        ),
        (
            "alg-ed25519-by-its-other-name",
            headed(&format!(r#"{{"alg":"Ed25519","kid":"{kid}","typ":"receipt+jwt"}}"#)),
            "algorithm",
        ),
        (
            "signed-with-another-key-under-this-name",
            signed(&stranger(), &header(""), &text),
            "signature",
        ),
        ("signed-with-an-unknown-key", stranger().sign(RECEIPT, &plain), "unknown-key"),
        (
            "key-in-the-header",
            {
                let jwk = serde_json::to_string(&stranger().public()).unwrap();
                let other = stranger().public().kid;
                signed(
                    &stranger(),
                    &format!(
                        r#"{{"alg":"EdDSA","jwk":{jwk},"kid":"{other}","typ":"receipt+jwt"}}"#
                    ),
                    &text,
                )
            },
            "header",
        ),
        ("kid-missing", headed(r#"{"alg":"EdDSA","typ":"receipt+jwt"}"#), "header"),
        (
            "crit",
            headed(&format!(
                r#"{{"alg":"EdDSA","crit":["exp"],"kid":"{kid}","typ":"receipt+jwt"}}"#
            )),
            "critical",
        ),
        (
            "crit-with-b64-false",
            headed(&format!(
                r#"{{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":"{kid}","typ":"receipt+jwt"}}"#
            )),
            "critical",
        ),
        ("typ-of-a-block", key.sign("block+jwt", &plain), "typ"),
        ("typ-of-any-jwt", key.sign("JWT", &plain), "typ"),
        ("typ-missing", headed(&format!(r#"{{"alg":"EdDSA","kid":"{kid}"}}"#)), "typ"),
        ("another-member-in-the-header", headed(&header(r#","zip":"DEF""#)), "header"),
        (
            "header-with-a-member-twice",
            headed(&format!(
                r#"{{"alg":"EdDSA","alg":"EdDSA","kid":"{kid}","typ":"receipt+jwt"}}"#
            )),
            "header",
        ),
        (
            "header-with-spaces",
            headed(&format!(r#"{{"alg": "EdDSA", "kid": "{kid}", "typ": "receipt+jwt"}}"#)),
            "header",
        ),
        (
            "header-in-another-order",
            headed(&format!(r#"{{"typ":"receipt+jwt","alg":"EdDSA","kid":"{kid}"}}"#)),
            "header",
        ),
        ("header-that-is-no-object", headed(r#"["EdDSA"]"#), "header"),
        ("version-2", changed(json!({ "v": 2 })), "version"),
        ("version-as-text", changed(json!({ "v": "1" })), "version"),
        ("version-missing", changed(json!({ "v": null })), "version"),
        ("claims-without-an-ask", changed(json!({ "sub": null })), "claims"),
        ("claims-with-an-unknown-outcome", changed(json!({ "outcome": "approved" })), "claims"),
        (
            "claims-with-a-member-twice",
            claiming(&text.replacen(r#""v":1"#, r#""v":1,"v":1"#, 1)),
            "claims",
        ),
        ("claims-with-spaces", claiming(&text.replacen(r#""v":1"#, r#""v": 1"#, 1)), "claims"),
        ("claims-that-are-no-json", claiming("approved"), "claims"),
        ("padding-after-the-signature", format!("{receipt}=="), "encoding"),
        (
            "padding-after-the-header",
            format!("{}.{payload}.{signature}", BASE64_URL_SAFE.encode(decode(&head)) + "="),
            "encoding",
        ),
        (
            "base64-with-plus-and-slash",
            {
                // Signed like this, so that only the spelling is wrong.
                let plus = base64::prelude::BASE64_STANDARD_NO_PAD;
                let claims = claims(&refund(), json!({ "comment": "???>>>~~~" }));
                let text = kernel::audit::canonical(&claims);
                let spelt = plus.encode(&text);
                assert!(spelt.contains(['+', '/']));
                key.sign_text(&format!("{}.{spelt}", encode(header(""))))
            },
            "encoding",
        ),
        (
            "bits-left-over-in-the-signature",
            format!("{head}.{payload}.{}", loosened(&signature)),
            "encoding",
        ),
        ("space-before", format!(" {receipt}"), "encoding"),
        ("line-break-after", format!("{receipt}\n"), "encoding"),
        ("line-break-inside", format!("{head}.\n{payload}.{signature}"), "signature"),
        ("dot-after", format!("{receipt}."), "shape"),
        ("dot-before", format!(".{receipt}"), "shape"),
        ("four-parts", format!("{receipt}.{signature}"), "shape"),
        ("two-parts", format!("{head}.{payload}"), "shape"),
        ("truncated", receipt[..receipt.len() / 2].to_owned(), "shape"),
        ("last-letter-missing", receipt[..receipt.len() - 1].to_owned(), "encoding"),
        ("empty", String::new(), "shape"),
        ("only-dots", "..".to_owned(), "header"),
        (
            "json-serialisation",
            json!({ "payload": payload, "protected": head, "signature": signature }).to_string(),
            "shape",
        ),
    ]
}

/// The same signature with its second half moved by the order of the group.
fn malleated(signature: &str) -> String {
    let mut bytes = decode(signature);
    let mut carry = 0;
    for (byte, more) in bytes[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(more) + carry;
        *byte = u8::try_from(sum & 0xff).unwrap();
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    encode(bytes)
}

/// The same bytes, with bits set that no byte has.
fn loosened(part: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (rest, last) = part.split_at(part.len() - 1);
    let place = LETTERS.iter().position(|letter| *letter == last.as_bytes()[0]).unwrap();
    format!("{rest}{}", char::from(LETTERS[place | 1]))
}

fn hmac(secret: &[u8], text: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    block[..secret.len()].copy_from_slice(secret);
    let inner = Sha256::new().chain_update(block.map(|b| b ^ 0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(block.map(|b| b ^ 0x5c)).chain_update(inner).finalize().to_vec()
}
