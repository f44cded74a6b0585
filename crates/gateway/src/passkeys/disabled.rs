//! A build without passkeys. This type has no values.

use kernel::audit::Digest;
use serde_json::Value;
use url::Url;

use super::{CreatedPasskey, PasskeyAssertion, PasskeyOptions};

/// A type without values.
pub enum Passkeys {}

impl Passkeys {
    /// Always fails, with the reason.
    pub fn new(public_url: &Url) -> Result<Self, &'static str> {
        super::relying_party(public_url)?;
        Err("this server was built without passkeys")
    }

    /// Cannot be called.
    pub fn make(&self, _: &str, _: &str, _: &[&str]) -> anyhow::Result<PasskeyOptions> {
        match *self {}
    }

    /// Cannot be called.
    pub fn made(&self, _: Value, _: &str) -> anyhow::Result<CreatedPasskey> {
        match *self {}
    }

    /// Cannot be called.
    pub fn ask(&self, _: [u8; 32], _: &[&str]) -> anyhow::Result<Value> {
        match *self {}
    }

    /// Cannot be called.
    pub fn named(&self, _: &str) -> anyhow::Result<Digest> {
        match *self {}
    }

    /// Cannot be called.
    pub fn check(&self, _: [u8; 32], _: &str, _: &str) -> anyhow::Result<PasskeyAssertion> {
        match *self {}
    }
}
