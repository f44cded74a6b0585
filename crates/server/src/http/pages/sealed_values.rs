//! Sealed values that a browser carries between two requests. It can neither read nor change them,
//! so the server stores nothing and any node can handle the next request.

use std::sync::Arc;

use gateway::secrets::Secrets;
use gateway::{Gateway, sealed_values};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long a sealed value is valid by default.
pub(super) const SECONDS: u64 = 10 * 60;

/// Seals values that a browser carries between two requests.
pub struct SealedValues {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) secrets: Arc<Secrets>,
}

impl SealedValues {
    /// Seals a value for one purpose and one holder. Returns `None` only if the
    /// value cannot be serialised.
    pub(super) fn entrust<T: Serialize>(
        &self,
        purpose: &str,
        holder: &str,
        value: T,
    ) -> Option<String> {
        self.entrust_for(SECONDS, purpose, holder, value)
    }

    /// Like [`Self::entrust`], with a validity in seconds.
    pub(crate) fn entrust_for<T: Serialize>(
        &self,
        seconds: u64,
        purpose: &str,
        holder: &str,
        value: T,
    ) -> Option<String> {
        let until = self.gateway.now().plus_seconds(seconds);
        sealed_values::seal(&self.secrets, until, purpose, holder, value)
    }

    /// Opens a sealed value. Returns `None` if it is for another purpose or holder, or has expired.
    pub(super) fn entrusted<T: DeserializeOwned>(
        &self,
        purpose: &str,
        holder: &str,
        sealed: &str,
    ) -> Option<T> {
        sealed_values::open(&self.secrets, self.gateway.now(), purpose, holder, sealed)
    }
}
