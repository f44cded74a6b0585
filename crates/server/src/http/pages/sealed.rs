//! What a browser carries for us between two requests and can neither read nor change: so nothing has
//! to be kept, and any node can go on.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gateway::vault::cipher;
use kernel::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::http::App;

/// How long it is good for.
pub(super) const SECONDS: u64 = 10 * 60;

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    until: Time,
    value: T,
}

impl App {
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
        let plain = serde_json::to_vec(&Sealed { until, value }).ok()?;
        let closed = cipher::close(&self.secrets.form(), &about(purpose, holder), &plain)?;
        Some(BASE64_URL_SAFE_NO_PAD.encode(closed))
    }

    /// The value it carried, if it was for this purpose and holder, and not too long ago.
    pub(super) fn entrusted<T: DeserializeOwned>(
        &self,
        purpose: &str,
        holder: &str,
        sealed: &str,
    ) -> Option<T> {
        let closed = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let plain = cipher::open(&self.secrets.form(), &about(purpose, holder), &closed)?;
        let Sealed { until, value } = serde_json::from_slice(&plain).ok()?;
        (self.gateway.now() < until).then_some(value)
    }
}

fn about(purpose: &str, holder: &str) -> Vec<u8> {
    [purpose.as_bytes(), b"\0", holder.as_bytes()].concat()
}
