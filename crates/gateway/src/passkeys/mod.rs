//! Passkeys: a wrapper around webauthn-rs. Public keys and state are opaque texts that only
//! this module reads.

#[cfg(not(feature = "passkeys"))]
mod disabled;
#[cfg(feature = "passkeys")]
mod webauthn;

use kernel::audit::Digest;
use serde_json::Value;
use url::{Host, Url};

#[cfg(not(feature = "passkeys"))]
pub use disabled::Passkeys;
#[cfg(feature = "passkeys")]
pub use webauthn::Passkeys;

/// The timeout for the browser, in milliseconds.
pub const BROWSER_TIMEOUT_MILLIS: u64 = 5 * 60_000;

/// A passkey that was just created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedPasskey {
    /// SHA-256 of the credential id.
    pub hash: Digest,
    /// The credential id, base64url.
    pub credential_id: String,
    /// The public key as a COSE key, base64url.
    pub public_key: String,
    /// The serialized passkey, for checking assertions.
    pub public: String,
}

/// An assertion with a verified signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyAssertion {
    /// The serialized passkey after this use: its counter has changed, if it has one.
    pub public: String,
    /// The signature counter.
    pub counter: u32,
    /// The credential id, base64url.
    pub credential_id: String,
    /// The public key as a COSE key, base64url.
    pub public_key: String,
    /// The signed authenticator data, base64url.
    pub authenticator_data: String,
    /// The signed client data, base64url.
    pub client_data_json: String,
    /// The signature, base64url.
    pub signature: String,
    /// The relying party id.
    pub rp_id: String,
    /// The origin in the client data.
    pub origin: String,
}

/// The options for a browser, and the state to keep.
#[derive(Debug, Clone)]
pub struct PasskeyOptions {
    /// The options for the browser.
    pub options: Value,
    /// The state that the server keeps.
    pub state: Value,
}

/// The relying party id that passkeys are bound to: the public host name of this server.
fn relying_party(public_url: &Url) -> Result<String, &'static str> {
    match public_url.host() {
        Some(Host::Domain(name)) if name == "localhost" || public_url.scheme() == "https" => {
            Ok(name.to_owned())
        }
        Some(Host::Domain(_)) => Err("passkeys require an https public_url"),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) | None => {
            Err("passkeys require a host name or localhost in public_url, not an IP address")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_are_for_names_and_localhost() {
        for (url, good) in [
            ("http://localhost:3402", true),
            ("https://ask.example.com", true),
            ("http://ask.example.com", false),
            ("https://192.0.2.1", false),
            ("http://127.0.0.1:3402", false),
            ("https://[2001:db8::1]", false),
        ] {
            assert_eq!(relying_party(&Url::parse(url).unwrap()).is_ok(), good, "{url}");
        }
    }
}
