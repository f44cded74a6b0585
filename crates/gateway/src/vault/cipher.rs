//! Encryption of stored data: with nonces long enough to be random, and bound to the purpose
//! of the data.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};

use crate::ids::random;

/// The length of a nonce of the extended cipher.
const NONCE: usize = 24;

/// Encrypts data. The result differs every time. `None` only if the data is too large
/// for the cipher.
pub fn encrypt(key: &[u8; 32], about: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
    let nonce: [u8; NONCE] = random();
    let payload = Payload { msg: plain, aad: about };
    let closed = cipher(key).encrypt(&XNonce::from(nonce), payload).ok()?;
    Some([&nonce[..], &closed].concat())
}

/// Decrypts data that was encrypted with this key for the same purpose and not changed since.
pub fn decrypt(key: &[u8; 32], about: &[u8], closed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, closed) = closed.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: closed, aad: about };
    cipher(key).decrypt(&XNonce::from(*nonce), payload).ok()
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*key))
}
