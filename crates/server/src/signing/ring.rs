//! Signing keys over time: one is current, those before it are retired and still trusted, and a
//! revoked one is neither.

use anyhow::{Context, bail, ensure};
use dialects::proof::{Jwk, Jwks, RevokedKey, SecretKey};
use kernel::Time;
use serde::{Deserialize, Serialize};

/// How long a key signs on after its successor was made: longer than it takes to write the file, so
/// that a running server knows the new key before anything happens that it must sign.
pub(crate) const LEAD: u64 = 5;

/// A key as it lies in the file.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredKey {
    /// Its name.
    pub(crate) kid: String,
    /// Its public half.
    pub(crate) public: String,
    /// Its secret half; wiped when it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// When it was made.
    pub(crate) created_at: Time,
    /// Since when the next one signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retired_at: Option<Time>,
    /// Why nothing it signed counts any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revoked: Option<Revoked>,
}

/// That a key was called back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    /// When.
    pub at: Time,
    /// Why.
    pub reason: String,
}

/// A new key, current until there is another.
pub(crate) fn first(seed: &[u8; 32], now: Time) -> StoredKey {
    let Jwk { kid, x, .. } = SecretKey::new(seed).public();
    StoredKey {
        kid,
        public: x,
        secret: Some(hex::encode(seed)),
        created_at: now,
        retired_at: None,
        revoked: None,
    }
}

/// Puts a new key behind the current one, which retires in a moment. Gives its name and since when
/// it signs.
pub(crate) fn rotate(keys: &mut Vec<StoredKey>, seed: &[u8; 32], now: Time) -> (String, Time) {
    succeed(keys, seed, now, now.plus_seconds(LEAD))
}

fn succeed(keys: &mut Vec<StoredKey>, seed: &[u8; 32], now: Time, from: Time) -> (String, Time) {
    // Keys follow each other, whatever the clock did.
    let from = keys.iter().filter_map(|key| key.retired_at).fold(from, Time::max);
    if let Some(current) = keys.last_mut() {
        current.retired_at = Some(from);
    }
    let new = first(seed, now);
    let kid = new.kid.clone();
    keys.push(new);
    (kid, from)
}

/// Calls a key back: it signs nothing more, and nothing it signed counts. If it was the current one,
/// a new one takes its place at once; gives the name of that one.
pub(crate) fn revoke(
    keys: &mut Vec<StoredKey>,
    kid: &str,
    reason: String,
    seed: &[u8; 32],
    now: Time,
) -> anyhow::Result<Option<String>> {
    let key = keys.iter_mut().find(|key| key.kid == kid);
    let key = key.with_context(|| format!("there is no signing key {kid}"))?;
    if let Some(revoked) = &key.revoked {
        bail!("{kid} was revoked already, at {}", revoked.at);
    }
    key.revoked = Some(Revoked { at: now, reason });
    key.secret = None;
    let current = keys.last().is_some_and(|last| last.kid == kid);
    Ok(current.then(|| succeed(keys, seed, now, now).0))
}

/// The keys of an installation, oldest first.
pub(crate) struct Ring {
    /// Those before the current one.
    earlier: Vec<Earlier>,
    current: SecretKey,
    /// Every public key there ever was, revoked ones too.
    ever: Jwks,
}

struct Earlier {
    retired_at: Time,
    state: State,
}

enum State {
    /// Still trusted.
    Retired(SecretKey),
    /// Not any more.
    Revoked(RevokedKey),
}

impl Ring {
    /// Reads the keys of a file.
    pub(crate) fn of(stored: &[StoredKey]) -> anyhow::Result<Self> {
        let (last, rest) = stored.split_last().context("there is no signing key")?;
        ensure!(last.retired_at.is_none(), "the last signing key is retired");
        let current = last.secret_key()?;
        let earlier = |key: &StoredKey| {
            let retired_at = key.retired_at.context("a signing key with a successor signs on")?;
            let state = match &key.revoked {
                Some(Revoked { at, reason }) => State::Revoked(RevokedKey {
                    kid: key.kid.clone(),
                    at: *at,
                    reason: reason.clone(),
                }),
                None => State::Retired(key.secret_key()?),
            };
            Ok(Earlier { retired_at, state })
        };
        let ever = Jwks { keys: stored.iter().map(StoredKey::published).collect() };
        Ok(Self {
            earlier: rest.iter().map(earlier).collect::<anyhow::Result<_>>()?,
            current,
            ever,
        })
    }

    /// The public keys of those that were not revoked, with since when each is retired.
    pub(crate) fn jwks(&self) -> Jwks {
        let revoked = self.revoked();
        let trusted = |key: &&Jwk| !revoked.iter().any(|one| one.kid == key.kid);
        Jwks { keys: self.ever.keys.iter().filter(trusted).cloned().collect() }
    }

    /// The key for what happened at a moment.
    pub(crate) fn signs_at(&self, at: Time) -> &SecretKey {
        match self.earlier.iter().find(|key| at < key.retired_at) {
            Some(Earlier { state: State::Retired(key), .. }) => key,
            Some(Earlier { state: State::Revoked(_), .. }) | None => &self.current,
        }
    }

    pub(crate) fn ever(&self) -> &Jwks {
        &self.ever
    }

    pub(crate) fn revoked(&self) -> Vec<RevokedKey> {
        let revoked = self.earlier.iter().filter_map(|key| match &key.state {
            State::Retired(_) => None,
            State::Revoked(key) => Some(key.clone()),
        });
        revoked.collect()
    }

    /// For the log: what is different now.
    pub(crate) fn tell_changes(&self, now: &Self) {
        let (before, after) = (self.current.public().kid, now.current.public().kid);
        if before != after {
            tracing::info!(key.id = after, before, "the signing key was rotated");
        }
        let known = self.revoked();
        for RevokedKey { kid, at, .. } in now.revoked() {
            if !known.iter().any(|key| key.kid == kid) {
                tracing::warn!(key.id = kid, %at, "a signing key was revoked");
            }
        }
    }
}

impl StoredKey {
    /// Its public half. When a revoked key was retired does not matter: nothing it signed counts but
    /// blocks that later ones follow.
    fn published(&self) -> Jwk {
        let key = Jwk::named(&self.public);
        match self.retired_at.filter(|_| self.revoked.is_none()) {
            Some(at) => key.retired(at),
            None => key,
        }
    }

    fn secret_key(&self) -> anyhow::Result<SecretKey> {
        let mut seed = [0; 32];
        let secret = self.secret.as_deref().unwrap_or_default();
        hex::decode_to_slice(secret, &mut seed).context("a signing key cannot be read")?;
        let key = SecretKey::new(&seed);
        ensure!(key.public().kid == self.kid, "a signing key does not have the name it bears");
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
        Ring::of(keys).unwrap().signs_at(at(seconds)).public().kid
    }

    #[test]
    fn each_key_signs_its_own_time() {
        let mut keys = vec![first(&[1; 32], at(0))];
        let (two, from) = rotate(&mut keys, &[2; 32], at(100));
        assert_eq!((two, from), (kid(2), at(100 + LEAD)));
        rotate(&mut keys, &[3; 32], at(200));
        for (seconds, key) in [(0, 1), (100 + LEAD - 1, 1), (100 + LEAD, 2), (200, 2), (205, 3)] {
            assert_eq!(signs(&keys, seconds), kid(key), "{seconds}");
        }
        let published = Ring::of(&keys).unwrap().jwks().keys;
        let until: Vec<_> = published.iter().map(|key| key.exp).collect();
        let second = |seconds| Some(at(seconds).millis() / 1000);
        assert_eq!(until, [second(100 + LEAD), second(200 + LEAD), None]);
    }

    /// Even if the clock is set back between two rotations.
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
        let ring = Ring::of(&keys).unwrap();
        assert_eq!(ring.jwks().keys.len(), 1);
        assert_eq!(ring.revoked().len(), 2);
        for unknown in [kid(1), kid(7)] {
            assert!(revoke(&mut keys, &unknown, String::new(), &[4; 32], at(500)).is_err());
        }
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
            Ring::of(&keys).is_err()
        };
        assert!(!spoilt(|_| ()));
        assert!(spoilt(Vec::clear));
        assert!(spoilt(|keys| keys[0].retired_at = None));
        assert!(spoilt(|keys| keys[1].retired_at = Some(at(0))));
        assert!(spoilt(|keys| keys[0].secret = None));
        assert!(spoilt(|keys| keys[1].kid = kid(7)));
    }
}
