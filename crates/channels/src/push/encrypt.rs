//! Encrypts messages so that the push service that carries them cannot read them: RFC 8291
//! on RFC 8188.

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Key, Nonce};
use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use rand::Rng;
use sha2::Sha256;

/// The length of an uncompressed point, as browsers encode their keys.
pub(super) const POINT: usize = 65;
/// The length of the authentication secret that a browser creates beside its key.
pub(super) const AUTH: usize = 16;
const SALT: usize = 16;
/// The record size. One record holds the whole message.
const RECORD: u32 = 4096;
/// The header: salt, record size, and the sender's key with its length.
const HEADER: usize = SALT + 4 + 1 + POINT;
/// The tag of the cipher and the padding delimiter.
const OVERHEAD: usize = 16 + 1;
/// The longest text. A push service need not accept more than one record with its header.
pub(super) const LONGEST: usize = RECORD as usize - HEADER - OVERHEAD;
/// Texts are padded to a multiple of this, so that their length reveals nothing.
const FILLED: usize = 1024;

/// The keys of the receiving device.
pub(super) struct EncryptionKeys {
    /// The browser's public key.
    pub(super) public: PublicKey,
    /// The browser's authentication secret.
    pub(super) auth: [u8; AUTH],
}

/// Encrypts a text of at most [`LONGEST`] bytes. The result differs every time.
pub(super) fn encrypt(to: &EncryptionKeys, words: &[u8]) -> Option<Vec<u8>> {
    // All but one in four thousand million 32-byte values are valid keys.
    let own = (0..8).find_map(|_| SecretKey::from_slice(&random::<32>()).ok())?;
    let filled = words.len().next_multiple_of(FILLED).min(LONGEST);
    encrypt_with(to, words, filled, &own, &random())
}

/// Fresh random bytes from the operating system's generator.
#[expect(clippy::disallowed_methods, reason = "two encryptions of a message must differ")]
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

fn encrypt_with(
    to: &EncryptionKeys,
    words: &[u8],
    filled: usize,
    own: &SecretKey,
    salt: &[u8; SALT],
) -> Option<Vec<u8>> {
    if words.len() > LONGEST {
        return None;
    }
    let (theirs, ours) = (to.public.to_sec1_point(false), own.public_key().to_sec1_point(false));
    let shared = p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), to.public.as_affine());
    let info = [b"WebPush: info\0", theirs.as_bytes(), ours.as_bytes()].concat();
    let secret: [u8; 32] = derived(&to.auth, shared.raw_secret_bytes(), &info)?;
    let key: [u8; 16] = derived(salt, &secret, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; 12] = derived(salt, &secret, b"Content-Encoding: nonce\0")?;
    let mut plain = words.to_vec();
    // The delimiter of the last record, and the padding.
    plain.push(2);
    plain.resize(plain.len().max(filled + 1), 0);
    let cipher = Aes128Gcm::new(&Key::<Aes128Gcm>::from(key));
    let closed = cipher.encrypt(&Nonce::from(nonce), plain.as_slice()).ok()?;
    let length = [u8::try_from(POINT).ok()?];
    Some([&salt[..], &RECORD.to_be_bytes(), &length, ours.as_bytes(), &closed].concat())
}

fn derived<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> Option<[u8; N]> {
    let mut key = [0; N];
    Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut key).ok()?;
    Some(key)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;

    use super::*;

    fn device() -> EncryptionKeys {
        let public = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        EncryptionKeys {
            public: PublicKey::from_sec1_bytes(&BASE64.decode(public).unwrap()).unwrap(),
            auth: BASE64.decode("BTBZMqHH6r4Tts7J_aSIgg").unwrap().try_into().unwrap(),
        }
    }

    /// The example of RFC 8291, section 5 and appendix A.
    #[test]
    fn encrypted_as_everybody_does() {
        let own = BASE64.decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw").unwrap();
        let own = SecretKey::from_slice(&own).unwrap();
        let salt = BASE64.decode("DGv6ra1nlYgDCS1FRnbzlw").unwrap().try_into().unwrap();
        let words = b"When I grow up, I want to be a watermelon";
        let closed = encrypt_with(&device(), words, words.len(), &own, &salt).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc\
                        InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV\
                        WGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(BASE64.encode(closed), expected);
    }

    #[test]
    fn the_length_tells_nothing_and_fits() {
        let size = |words: usize| encrypt(&device(), &vec![b'x'; words]).map(|all| all.len());
        assert_eq!(size(1), size(FILLED));
        assert_eq!(size(FILLED + 1), size(2 * FILLED));
        assert_eq!(size(LONGEST), Some(RECORD as usize));
        assert_eq!(size(LONGEST + 1), None);
        let twice = [0; 2].map(|_| encrypt(&device(), b"same").unwrap());
        assert_ne!(twice[0], twice[1]);
    }
}
