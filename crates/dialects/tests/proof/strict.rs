//! What is refused, whatever it looks like.

use dialects::proof::{ProofError, RECEIPT, verify};
use serde_json::json;

use crate::fixtures::{claims, current, refund, trusted};

/// No byte of a receipt can be changed, left out or added.
#[test]
fn every_byte_counts() {
    let receipt = current().sign(RECEIPT, &claims(&refund(), json!({})));
    assert!(verify(&receipt, &trusted()).is_ok());
    let bytes = receipt.as_bytes();
    let refused = |bytes: Vec<u8>, what: &str, at: usize| {
        let Ok(text) = String::from_utf8(bytes) else { return };
        let read = verify(&text, &trusted());
        assert!(read.is_err(), "{what} at {at} of {receipt}");
    };
    for at in 0..bytes.len() {
        for other in [bytes[at] ^ 1, bytes[at] ^ 0x20, b'A', b'=', b' ', b'.', b'\n'] {
            if other != bytes[at] {
                let mut changed = bytes.to_vec();
                changed[at] = other;
                refused(changed, "changed", at);
            }
        }
        let mut less = bytes.to_vec();
        less.remove(at);
        refused(less, "left out", at);
        let mut more = bytes.to_vec();
        more.insert(at, b'A');
        refused(more, "added", at);
    }
}

/// A receipt is of its key: the same text under another one is another text.
#[test]
fn trust_is_in_the_keys_one_has() {
    let receipt = current().sign(RECEIPT, &claims(&refund(), json!({})));
    let kid = current().public().kid;
    let nothing = dialects::proof::Jwks::default();
    assert_eq!(verify(&receipt, &nothing), Err(ProofError::UnknownKey { kid }));
}
