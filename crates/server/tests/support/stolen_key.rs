//! A private signing key, as an attacker has it who stole a data folder with its master key.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use dialects::proof::SecretKey;
use serde_json::Value;

/// The secret of the nth key in hexadecimal.
pub(crate) fn secret(data: &Path, nth: usize) -> String {
    let text = fs::read_to_string(data.join("server-keys.json")).unwrap();
    let stored: Value = serde_json::from_str(&text).unwrap();
    let key = &stored["signing"][nth];
    assert_eq!(key["secret"], Value::Null, "no secret lies in the open");
    let master = fs::read_to_string(data.join("master.key")).unwrap();
    let master: [u8; 32] = BASE64_STANDARD.decode(master.trim()).unwrap().try_into().unwrap();
    let sealed = hex::decode(key["sealed"].as_str().unwrap()).unwrap();
    let (nonce, sealed) = sealed.split_first_chunk::<24>().unwrap();
    let about = format!("signing-key {}", key["kid"].as_str().unwrap());
    let payload = Payload { msg: sealed, aad: about.as_bytes() };
    let cipher = XChaCha20Poly1305::new(&Key::from(master));
    String::from_utf8(cipher.decrypt(&XNonce::from(*nonce), payload).unwrap()).unwrap()
}

/// The nth key.
pub(crate) fn stolen(data: &Path, nth: usize) -> SecretKey {
    SecretKey::new(&hex::decode(secret(data, nth)).unwrap().try_into().unwrap())
}
