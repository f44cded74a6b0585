//! Signing keys over time: one is current, earlier ones are retired and still trusted, and revoked
//! ones are neither. A retired key whose private half was destroyed is trusted but cannot sign.

use anyhow::{Context, bail, ensure};
use dialects::proof::{Jwk, Jwks, RevokedKey, SecretKey};
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

/// How long a key continues to sign after its successor was created. This is longer than writing
/// the file takes, so that a running server knows the new key before it must sign with it.
pub(crate) const ROTATION_DELAY_SECONDS: u64 = 5;

/// A key as it is stored.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredKey {
    /// The key id.
    pub(crate) kid: String,
    /// The public half.
    pub(crate) public: String,
    /// The private half. Removed when the key is revoked or destroyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
    /// The private half, encrypted under the master key of the data directory. The file
    /// contains this form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sealed: Option<String>,
    pub(crate) created_at: Time,
    /// The time from which its successor signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retired_at: Option<Time>,
    /// Set if nothing it signed is trusted any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revoked: Option<KeyRevocation>,
    /// Set if the private half was destroyed, after the signatures of its receipts were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) destroyed: Option<DestroyedBy>,
}

/// When and by whom the private half of a key was destroyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestroyedBy {
    pub at: Time,
    /// The administrator who destroyed it.
    pub by: HumanId,
}

/// When and why a key was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRevocation {
    pub at: Time,
    pub reason: String,
}

/// A new key, which is current until it has a successor.
pub(crate) fn first(seed: &[u8; 32], now: Time) -> StoredKey {
    let Jwk { kid, x, .. } = SecretKey::new(seed).public();
    StoredKey {
        kid,
        public: x,
        secret: Some(hex::encode(seed)),
        sealed: None,
        created_at: now,
        retired_at: None,
        revoked: None,
        destroyed: None,
    }
}

/// Adds a new key after the current one, which retires shortly. Returns its id and the time from
/// which it signs.
pub(crate) fn rotate(keys: &mut Vec<StoredKey>, seed: &[u8; 32], now: Time) -> (String, Time) {
    add_successor(keys, seed, now, now.plus_seconds(ROTATION_DELAY_SECONDS))
}

fn add_successor(
    keys: &mut Vec<StoredKey>,
    seed: &[u8; 32],
    now: Time,
    from: Time,
) -> (String, Time) {
    // The order of keys does not depend on the clock.
    let from = keys.iter().filter_map(|key| key.retired_at).fold(from, Time::max);
    if let Some(current) = keys.last_mut() {
        current.retired_at = Some(from);
    }
    let new = first(seed, now);
    let kid = new.kid.clone();
    keys.push(new);
    (kid, from)
}

/// Revokes a key: it signs nothing more, and nothing it signed is trusted. If it was the current
/// one, a new key replaces it immediately. Returns the id of that one.
pub(crate) fn revoke(
    keys: &mut Vec<StoredKey>,
    kid: &str,
    reason: String,
    seed: &[u8; 32],
    now: Time,
) -> anyhow::Result<Option<String>> {
    let key = keys.iter_mut().find(|key| key.kid == kid);
    let key = key.with_context(|| format!("signing key {kid} not found"))?;
    if let Some(revoked) = &key.revoked {
        bail!("{kid} was already revoked at {}", revoked.at);
    }
    key.revoked = Some(KeyRevocation { at: now, reason });
    key.secret = None;
    key.sealed = None;
    let current = keys.last().is_some_and(|last| last.kid == kid);
    Ok(current.then(|| add_successor(keys, seed, now, now).0))
}

/// Destroys the private half of a retired key. `false` if it was already destroyed.
pub(crate) fn destroy(keys: &mut [StoredKey], kid: &str, by: DestroyedBy) -> anyhow::Result<bool> {
    let key = keys.iter_mut().find(|key| key.kid == kid);
    let key = key.with_context(|| format!("signing key {kid} not found"))?;
    ensure!(key.retired_at.is_some(), "{kid} is not retired");
    ensure!(key.revoked.is_none(), "{kid} was revoked, and its private half was deleted");
    if key.destroyed.is_some() {
        return Ok(false);
    }
    key.destroyed = Some(by);
    key.secret = None;
    key.sealed = None;
    Ok(true)
}

/// The public information about the keys. Reading it needs no secret.
pub(crate) struct PublishedKeys {
    /// Every public key so far, including revoked ones.
    pub(crate) ever: Jwks,
    pub(crate) revoked: Vec<RevokedKey>,
}

impl PublishedKeys {
    pub(crate) fn of(stored: &[StoredKey]) -> anyhow::Result<Self> {
        ensure!(!stored.is_empty(), "there is no signing key");
        let ever = Jwks { keys: stored.iter().map(StoredKey::published).collect() };
        let named = ever.keys.iter().zip(stored).all(|(key, stored)| key.kid == stored.kid);
        ensure!(named, "the ID of a signing key does not match its public key");
        let revoked = stored.iter().filter_map(|key| {
            let KeyRevocation { at, reason } = key.revoked.clone()?;
            Some(RevokedKey { kid: key.kid.clone(), at, reason })
        });
        Ok(Self { revoked: revoked.collect(), ever })
    }

    /// The public keys that were not revoked, with their retirement times.
    pub(crate) fn jwks(&self) -> Jwks {
        let trusted = |key: &&Jwk| !self.revoked.iter().any(|one| one.kid == key.kid);
        Jwks { keys: self.ever.keys.iter().filter(trusted).cloned().collect() }
    }
}

/// The keys of an installation, oldest first.
pub(crate) struct KeyRing {
    /// The keys before the current one.
    earlier: Vec<PreviousKey>,
    current: SecretKey,
    published: PublishedKeys,
}

struct PreviousKey {
    retired_at: Time,
    state: PreviousKeyState,
}

enum PreviousKeyState {
    /// Trusted and able to sign.
    Retired(Box<SecretKey>),
    /// Trusted, but unable to sign.
    Destroyed,
    /// No longer trusted.
    Revoked,
}

impl KeyRing {
    /// Reads the stored keys.
    pub(crate) fn of(stored: &[StoredKey]) -> anyhow::Result<Self> {
        let (last, rest) = stored.split_last().context("there is no signing key")?;
        ensure!(last.retired_at.is_none(), "the last signing key is retired");
        let current = last.secret_key()?;
        let earlier = |key: &StoredKey| {
            let retired_at =
                key.retired_at.context("a signing key with a successor is not retired")?;
            let state = match (&key.revoked, &key.destroyed) {
                (Some(_), _) => PreviousKeyState::Revoked,
                (None, Some(_)) => PreviousKeyState::Destroyed,
                (None, None) => PreviousKeyState::Retired(Box::new(key.secret_key()?)),
            };
            Ok(PreviousKey { retired_at, state })
        };
        Ok(Self {
            earlier: rest.iter().map(earlier).collect::<anyhow::Result<_>>()?,
            current,
            published: PublishedKeys::of(stored)?,
        })
    }

    /// The public keys that were not revoked, with their retirement times.
    pub(crate) fn jwks(&self) -> Jwks {
        self.published.jwks()
    }

    /// The key that signs for events at this time. If the key of that time was destroyed, the next
    /// one with a private half signs: the same one at every read, whatever is rotated later.
    pub(crate) fn signing_key_at(&self, at: Time) -> &SecretKey {
        let mut since = self.earlier.iter().skip_while(|key| at >= key.retired_at);
        let next = match since.next() {
            Some(PreviousKey { state: PreviousKeyState::Retired(key), .. }) => Some(key.as_ref()),
            Some(PreviousKey { state: PreviousKeyState::Destroyed, .. }) => {
                since.find_map(|key| match &key.state {
                    PreviousKeyState::Retired(key) => Some(key.as_ref()),
                    PreviousKeyState::Destroyed | PreviousKeyState::Revoked => None,
                })
            }
            Some(PreviousKey { state: PreviousKeyState::Revoked, .. }) | None => None,
        };
        next.unwrap_or(&self.current)
    }

    /// Whether the key for events at this time was destroyed, so that a signature may be stored.
    pub(crate) fn is_destroyed_at(&self, at: Time) -> bool {
        let then = self.earlier.iter().find(|key| at < key.retired_at);
        then.is_some_and(|key| matches!(key.state, PreviousKeyState::Destroyed))
    }

    pub(crate) fn ever(&self) -> &Jwks {
        &self.published.ever
    }

    pub(crate) fn revoked(&self) -> &[RevokedKey] {
        &self.published.revoked
    }

    /// Logs the differences between two states.
    pub(crate) fn log_changes(&self, now: &Self) {
        let (before, after) = (self.current.public().kid, now.current.public().kid);
        if before != after {
            tracing::info!(key.id = after, before, "the signing key was rotated");
        }
        let known = self.revoked();
        for RevokedKey { kid, at, .. } in now.revoked() {
            if !known.iter().any(|key| key.kid == *kid) {
                tracing::warn!(key.id = kid, %at, "a signing key was revoked");
            }
        }
        let destroyed = |ring: &Self| {
            ring.earlier
                .iter()
                .filter(|key| matches!(key.state, PreviousKeyState::Destroyed))
                .count()
        };
        if destroyed(now) > destroyed(self) {
            tracing::warn!("the private half of a retired signing key was destroyed");
        }
    }
}

impl StoredKey {
    /// The public half. The retirement time of a revoked key is irrelevant: of its signatures, only
    /// those of blocks with successors count.
    fn published(&self) -> Jwk {
        let key = Jwk::named(&self.public);
        match self.retired_at.filter(|_| self.revoked.is_none()) {
            Some(at) => key.retired(at),
            None => key,
        }
    }

    fn secret_key(&self) -> anyhow::Result<SecretKey> {
        let mut seed = [0; 32];
        ensure!(
            self.secret.is_some() || self.sealed.is_none(),
            "the signing key {} is encrypted with another master_key",
            self.kid
        );
        let secret = self.secret.as_deref().unwrap_or_default();
        hex::decode_to_slice(secret, &mut seed).context("a signing key cannot be read")?;
        let key = SecretKey::new(&seed);
        ensure!(
            key.public().kid == self.kid,
            "the ID of a signing key does not match its public key"
        );
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(1_770_372_000_000).plus_seconds(seconds)
    }

    fn kid(n: u8) -> String {
        SecretKey::new(&[n; 32]).public().kid
    }

    fn signs(keys: &[StoredKey], seconds: u64) -> String {
        KeyRing::of(keys).unwrap().signing_key_at(at(seconds)).public().kid
    }

    #[test]
    fn each_key_signs_its_own_time() {
        let mut keys = vec![first(&[1; 32], at(0))];
        let (two, from) = rotate(&mut keys, &[2; 32], at(100));
        assert_eq!((two, from), (kid(2), at(100 + ROTATION_DELAY_SECONDS)));
        rotate(&mut keys, &[3; 32], at(200));
        for (seconds, key) in [
            (0, 1),
            (100 + ROTATION_DELAY_SECONDS - 1, 1),
            (100 + ROTATION_DELAY_SECONDS, 2),
            (200, 2),
            (205, 3),
        ] {
            assert_eq!(signs(&keys, seconds), kid(key), "{seconds}");
        }
        let published = KeyRing::of(&keys).unwrap().jwks().keys;
        let until: Vec<_> = published.iter().map(|key| key.exp).collect();
        let second = |seconds| Some(at(seconds).millis() / 1000);
        assert_eq!(
            until,
            [second(100 + ROTATION_DELAY_SECONDS), second(200 + ROTATION_DELAY_SECONDS), None]
        );
    }

    /// A clock that is set back between two rotations does not reorder keys.
    #[test]
    fn a_clock_gone_back_reorders_nothing() {
        let mut keys = vec![first(&[1; 32], at(0))];
        rotate(&mut keys, &[2; 32], at(100));
        rotate(&mut keys, &[3; 32], at(50));
        assert_eq!(signs(&keys, 104), kid(1));
        assert_eq!(signs(&keys, 105), kid(3));
    }

    #[test]
    fn a_revoked_key_signs_nothing_and_is_wiped() {
        let mut keys = vec![first(&[1; 32], at(0))];
        rotate(&mut keys, &[2; 32], at(100));
        let new = revoke(&mut keys, &kid(1), "lost".to_owned(), &[9; 32], at(300)).unwrap();
        assert_eq!(new, None, "another one is current");
        assert_eq!(signs(&keys, 0), kid(2));
        let new = revoke(&mut keys, &kid(2), "stolen".to_owned(), &[3; 32], at(400)).unwrap();
        assert_eq!(new, Some(kid(3)));
        for seconds in [0, 200, 399, 400] {
            assert_eq!(signs(&keys, seconds), kid(3));
        }
        let text = serde_json::to_string(&keys).unwrap();
        assert!(!text.contains(&"01".repeat(32)) && !text.contains(&"02".repeat(32)));
        let ring = KeyRing::of(&keys).unwrap();
        assert_eq!(ring.jwks().keys.len(), 1);
        assert_eq!(ring.revoked().len(), 2);
        for unknown in [kid(1), kid(7)] {
            assert!(revoke(&mut keys, &unknown, String::new(), &[4; 32], at(500)).is_err());
        }
    }

    fn by(seconds: u64) -> DestroyedBy {
        DestroyedBy { at: at(seconds), by: "ann".parse().unwrap() }
    }

    /// A destroyed key is published but cannot sign. The next key that can sign replaces it.
    #[test]
    fn a_destroyed_key_is_trusted_and_signs_nothing() {
        let mut keys = vec![first(&[1; 32], at(0))];
        for n in [2, 3, 4] {
            rotate(&mut keys, &[n; 32], at(100 * u64::from(n)));
        }
        assert!(destroy(&mut keys, &kid(1), by(900)).unwrap());
        assert!(!destroy(&mut keys, &kid(1), by(901)).unwrap(), "once");
        assert_eq!(keys[0].destroyed, Some(by(900)));
        assert_eq!(signs(&keys, 0), kid(2));
        assert!(destroy(&mut keys, &kid(2), by(900)).unwrap());
        assert_eq!((signs(&keys, 0), signs(&keys, 250)), (kid(3), kid(3)));
        rotate(&mut keys, &[5; 32], at(950));
        assert_eq!(signs(&keys, 0), kid(3), "a rotation changes nothing");
        let ring = KeyRing::of(&keys).unwrap();
        assert!(ring.is_destroyed_at(at(0)) && !ring.is_destroyed_at(at(350)));
        assert_eq!(ring.jwks().keys.len(), 5);
        assert!(ring.jwks().keys[0].exp.is_some());
        let text = serde_json::to_string(&keys).unwrap();
        assert!(!text.contains(&"01".repeat(32)) && text.contains(&"03".repeat(32)));
        for refused in [kid(5), kid(9)] {
            assert!(destroy(&mut keys, &refused, by(999)).is_err(), "{refused}");
        }
        // The key is revoked later, because a copy of it was in an old backup.
        revoke(&mut keys, &kid(1), "leaked".to_owned(), &[9; 32], at(999)).unwrap();
        assert_eq!(signs(&keys, 0), kid(5));
        assert_eq!(KeyRing::of(&keys).unwrap().jwks().keys.len(), 4);
        assert!(destroy(&mut keys, &kid(1), by(999)).is_err());
    }

    #[test]
    fn what_does_not_fit_together_is_not_used() {
        let good = || {
            let mut keys = vec![first(&[1; 32], at(0))];
            rotate(&mut keys, &[2; 32], at(100));
            keys
        };
        let spoilt = |spoil: fn(&mut Vec<StoredKey>)| {
            let mut keys = good();
            spoil(&mut keys);
            KeyRing::of(&keys).is_err()
        };
        assert!(!spoilt(|_| ()));
        assert!(spoilt(Vec::clear));
        assert!(spoilt(|keys| keys[0].retired_at = None));
        assert!(spoilt(|keys| keys[1].retired_at = Some(at(0))));
        assert!(spoilt(|keys| keys[0].secret = None));
        assert!(spoilt(|keys| keys[1].kid = kid(7)));
    }
}
