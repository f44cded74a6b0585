//! A build without passkeys: there is never one of these.

use kernel::audit::Digest;
use serde_json::Value;
use url::Url;

use super::{Asked, Asserted, Made};

/// Never there.
pub enum Passkeys {}

impl Passkeys {
    /// Says why there are none.
    pub fn new(public_url: &Url) -> Result<Self, &'static str> {
        super::relying_party(public_url)?;
        Err("this server was built without passkeys")
    }

    /// Never called.
    pub fn make(&self, _: &str, _: &str, _: &[&str]) -> anyhow::Result<Asked> {
        match *self {}
    }

    /// Never called.
    pub fn made(&self, _: Value, _: &str) -> anyhow::Result<Made> {
        match *self {}
    }

    /// Never called.
    pub fn ask(&self, _: [u8; 32], _: &[&str]) -> anyhow::Result<Value> {
        match *self {}
    }

    /// Never called.
    pub fn named(&self, _: &str) -> anyhow::Result<Digest> {
        match *self {}
    }

    /// Never called.
    pub fn check(&self, _: [u8; 32], _: &str, _: &str) -> anyhow::Result<Asserted> {
        match *self {}
    }
}
