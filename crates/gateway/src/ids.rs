//! The only place that generates random values: ids, salts, tokens.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::audit::{Digest, Salts};
use rand::Rng;
use store::Clock;
use ulid::Ulid;

/// Generates all values that must be unpredictable or unique.
#[derive(Clone)]
pub struct Ids {
    clock: Arc<dyn Clock>,
    last: Arc<Mutex<Ulid>>,
}

/// A new credential. Its secret is shown once, and later only the hash is known.
pub struct NewSecret {
    /// The secret that the holder presents.
    pub secret: String,
    /// The stored hash.
    pub hash: Digest,
}

impl Ids {
    /// Ids with the time of `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: Arc::new(Mutex::new(Ulid::nil())) }
    }

    /// A new ULID. ULIDs of one process increase, even within a millisecond, so that lists show
    /// the newest first.
    pub fn ulid(&self) -> Ulid {
        let millis = u64::try_from(self.clock.now().millis()).unwrap_or(0);
        let drawn = Ulid::from_parts(millis, u128::from_be_bytes(random()));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = if drawn > *last { drawn } else { Ulid::from(u128::from(*last).wrapping_add(1)) };
        *last
    }

    /// Salts for one command.
    pub fn salts(&self) -> Salts {
        Salts::new(random())
    }

    /// A 256-bit credential with a prefix that names its kind.
    pub fn mint(&self, prefix: &str) -> NewSecret {
        let secret = format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(random::<32>()));
        NewSecret { hash: Digest::of(secret.as_bytes()), secret }
    }
}

/// Fresh random bytes from the operating system's generator.
#[expect(clippy::disallowed_methods, reason = "the only place that reads this")]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::OsClock;

    #[test]
    fn ids_grow() {
        let ids = Ids::new(Arc::new(OsClock));
        let drawn: Vec<Ulid> = (0..1000).map(|_| ids.ulid()).collect();
        assert!(drawn.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn credentials_say_what_they_are_and_do_not_repeat() {
        let ids = Ids::new(Arc::new(OsClock));
        let (one, other) = (ids.mint("cs_agent_"), ids.mint("cs_agent_"));
        assert!(one.secret.starts_with("cs_agent_"));
        assert_eq!(one.secret.len(), "cs_agent_".len() + 43);
        assert_ne!(one.secret, other.secret);
    }
}
