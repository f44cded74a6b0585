//! What a browser carries for us between two requests and can neither read nor change: so nothing has
//! to be kept, and any node can go on.

use std::sync::Arc;

use gateway::secrets::Secrets;
use gateway::{Gateway, sealed_values};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long it is good for.
pub(super) const SECONDS: u64 = 10 * 60;

/// Seals values that a browser carries between two requests.
pub struct SealedValues {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) secrets: Arc<Secrets>,
}

impl SealedValues {
    /// Gives a browser a value to carry, for one purpose and one holder. `None` only for what cannot be written.
    pub(super) fn entrust<T: Serialize>(
        &self,
        purpose: &str,
        holder: &str,
        value: T,
    ) -> Option<String> {
        self.entrust_for(SECONDS, purpose, holder, value)
    }

    /// The same, for as many seconds as it is to be good for.
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

    /// The value it carried, if it was for this purpose and holder, and not too long ago.
    pub(super) fn entrusted<T: DeserializeOwned>(
        &self,
        purpose: &str,
        holder: &str,
        sealed: &str,
    ) -> Option<T> {
        sealed_values::open(&self.secrets, self.gateway.now(), purpose, holder, sealed)
    }
}
