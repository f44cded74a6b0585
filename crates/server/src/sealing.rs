//! What signs blocks and what checks their signatures: two small traits, and the key of an
//! installation behind them.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use kernel::audit::Digest;
use serde_json::{Value, json};

use crate::ids::random;

const FILE: &str = "block-key";

/// Signs.
pub trait Signs: Send + Sync + 'static {
    /// A compact JWS (`EdDSA`) over canonical claims, with this `typ`.
    fn sign(&self, typ: &str, claims: &[u8]) -> anyhow::Result<String>;

    /// The public keys to check with, as a JWKS.
    fn jwks(&self) -> Value;
}

/// Knows public keys.
pub trait Verifies: Send + Sync + 'static {
    /// The claims of a compact JWS of this `typ`, if one of the keys signed it.
    fn verify(&self, typ: &str, jws: &str) -> Option<Vec<u8>>;
}

/// The signing key of a data folder.
pub struct FileKey {
    key: SigningKey,
    kid: String,
}

impl FileKey {
    /// Reads the key of a data folder, making it on first start.
    pub fn open(data: &Path) -> anyhow::Result<Self> {
        if let Some(found) = Self::find(data)? {
            return Ok(found);
        }
        let (path, seed) = (data.join(FILE), random());
        write(&path, &hex::encode(seed))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self::new(seed))
    }

    /// The key of a data folder, if it has one.
    pub fn find(data: &Path) -> anyhow::Result<Option<Self>> {
        let path = data.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let mut seed = [0; 32];
                hex::decode_to_slice(text.trim(), &mut seed)
                    .with_context(|| format!("{} is damaged", path.display()))?;
                Ok(Some(Self::new(seed)))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// A key that lives as long as the process.
    pub fn ephemeral() -> Self {
        Self::new(random())
    }

    fn new(seed: [u8; 32]) -> Self {
        let key = SigningKey::from_bytes(&seed);
        let kid = thumbprint(&x(&key.verifying_key()));
        Self { key, kid }
    }
}

/// Written to a new file and renamed, so that a crash leaves either no key or a whole one.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let draft = path.with_extension("new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

impl Signs for FileKey {
    fn sign(&self, typ: &str, claims: &[u8]) -> anyhow::Result<String> {
        let header = json!({ "alg": "EdDSA", "kid": self.kid, "typ": typ }).to_string();
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = self.key.sign(signed.as_bytes()).to_bytes();
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn jwks(&self) -> Value {
        let x = x(&self.key.verifying_key());
        json!({ "keys": [{
            "kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid, "alg": "EdDSA", "use": "sig",
        }]})
    }
}

/// The keys of a JWKS.
pub struct Jwks(Vec<(String, VerifyingKey)>);

impl Jwks {
    /// Reads the Ed25519 keys of a JWKS; others are passed over.
    pub fn read(jwks: &Value) -> anyhow::Result<Self> {
        let keys = jwks.get("keys").and_then(Value::as_array);
        let keys = keys.ok_or_else(|| anyhow!("expected a JWKS: an object with `keys`"))?;
        let read = |jwk: &Value| {
            let is = |name: &str, value: &str| jwk.get(name).is_some_and(|found| found == value);
            let x = jwk.get("x").filter(|_| is("kty", "OKP") && is("crv", "Ed25519"))?.as_str()?;
            let bytes: [u8; 32] = URL_SAFE_NO_PAD.decode(x).ok()?.try_into().ok()?;
            Some((thumbprint(x), VerifyingKey::from_bytes(&bytes).ok()?))
        };
        Ok(Self(keys.iter().filter_map(read).collect()))
    }
}

impl Verifies for Jwks {
    fn verify(&self, typ: &str, jws: &str) -> Option<Vec<u8>> {
        let (signed, signature) = jws.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        let is = |name: &str, value: &str| header.get(name).is_some_and(|found| found == value);
        if !is("alg", "EdDSA") || !is("typ", typ) || header.get("crit").is_some() {
            return None;
        }
        let (_, key) = self.0.iter().find(|(kid, _)| is("kid", kid))?;
        let signature: [u8; 64] = URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?;
        let signature = Signature::from_bytes(&signature);
        key.verify_strict(signed.as_bytes(), &signature).ok()?;
        URL_SAFE_NO_PAD.decode(claims).ok()
    }
}

fn x(key: &VerifyingKey) -> String {
    URL_SAFE_NO_PAD.encode(key.as_bytes())
}

/// RFC 7638.
fn thumbprint(x: &str) -> String {
    let members = json!({ "crv": "Ed25519", "kty": "OKP", "x": x });
    URL_SAFE_NO_PAD.encode(Digest::of_json(&members).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_signed_verifies_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let key = FileKey::open(folder.path()).unwrap();
        let again = FileKey::open(folder.path()).unwrap();
        assert_eq!(key.jwks(), again.jwks());
        let jws = key.sign("block+jwt", b"{}").unwrap();
        let keys = Jwks::read(&again.jwks()).unwrap();
        assert_eq!(keys.verify("block+jwt", &jws).as_deref(), Some(&b"{}"[..]));
        assert_eq!(keys.verify("receipt+jwt", &jws), None);
        assert_eq!(
            Jwks::read(&FileKey::ephemeral().jwks()).unwrap().verify("block+jwt", &jws),
            None
        );
        for place in [5, jws.len() / 2, jws.len() - 5] {
            let mut other = jws.clone().into_bytes();
            other[place] = if other[place] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(keys.verify("block+jwt", &other), None, "{other}");
        }
    }
}
