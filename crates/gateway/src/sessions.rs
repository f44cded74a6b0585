//! When a browser session was last used, and whether it was idle for too long.

use std::sync::Arc;

use kernel::Time;
use kernel::directory::Key;
use store::StoreError;

use crate::auth::Authenticator;
use crate::gateway::Gateway;

/// Judges how long sessions may be idle.
#[derive(Clone)]
pub struct Sessions {
    gateway: Gateway,
    authenticator: Arc<Authenticator>,
    idle_seconds: u64,
}

impl Sessions {
    /// Sessions end after `idle_seconds` without use.
    pub fn new(gateway: Gateway, authenticator: Arc<Authenticator>, idle_seconds: u64) -> Self {
        Self { gateway, authenticator, idle_seconds }
    }

    /// When a session was last used, to the minute.
    pub async fn last_used(&self, key: &Key) -> Result<Time, StoreError> {
        let written = self.gateway.store().key_used(key.id).await?;
        let used = written.max(self.authenticator.just_used(key.id));
        Ok(used.map_or(key.issued_at, |used| used.max(key.issued_at)))
    }

    /// Whether a session that was last used at `used` was idle for too long.
    pub fn is_idle(&self, used: Time, now: Time) -> bool {
        now >= used.plus_seconds(self.idle_seconds)
    }
}
