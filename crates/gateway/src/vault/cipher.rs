//! Encryption of what lies in a store: with nonces long enough to be drawn, and bound to what it is.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};

use crate::ids::random;

/// The length of a nonce of the extended cipher.
const NONCE: usize = 24;

/// Encrypts; every time differently. `None` only for what is too large for the cipher.
pub fn close(key: &[u8; 32], about: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
    let nonce: [u8; NONCE] = random();
    let payload = Payload { msg: plain, aad: about };
    let closed = cipher(key).encrypt(&XNonce::from(nonce), payload).ok()?;
    Some([&nonce[..], &closed].concat())
}

/// Decrypts what was encrypted under this very key, about the same, and not changed since.
pub fn open(key: &[u8; 32], about: &[u8], closed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, closed) = closed.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: closed, aad: about };
    cipher(key).decrypt(&XNonce::from(*nonce), payload).ok()
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*key))
}
