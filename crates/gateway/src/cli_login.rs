//! Signing in on the command line with the keys of the installation, by someone who can read its
//! data folder.
//!
//! The keys on disk already give full control over the installation: they sign its receipts and
//! seal its forms. So whoever can read them may also act as one of its people. The server checks
//! nothing but the seal, and the command line keeps no other secret.

use kernel::directory::Directory;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

use crate::sealed_values;
use crate::secrets::ServerSecrets;

/// The purpose that separates these grants from other sealed values.
pub const INSTALLATION_PURPOSE: &str = "command line login by the installation";

/// How long a grant works, in seconds. The command line uses it at once.
const GRANT_SECONDS: u64 = 60;

/// The grant of someone who can read the installation's keys.
#[derive(Serialize, Deserialize)]
pub struct InstallationGrant {
    /// The person to sign in as; `None` for the first administrator.
    pub human: Option<HumanId>,
}

impl InstallationGrant {
    /// Seals the grant for the token with this hash. `None` only if it cannot be serialised.
    pub fn seal(&self, secrets: &ServerSecrets, now: Time, token_hash: &str) -> Option<String> {
        let until = now.plus_seconds(GRANT_SECONDS);
        sealed_values::seal(secrets, until, INSTALLATION_PURPOSE, token_hash, self)
    }

    /// The person to sign in as, if they are active.
    pub fn person(&self, directory: &Directory) -> Option<HumanId> {
        let active = directory.humans().filter(|human| human.active);
        let mut named = active.filter(|human| match &self.human {
            Some(id) => human.id == *id,
            None => human.admin,
        });
        named.next().map(|human| human.id.clone())
    }
}
