//! Verification codes sent to people's addresses. Entering one proves that the address is theirs.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

use super::{SideCondition, SideKind, SideRow, SideStore, read, row};
use crate::Result;
use crate::columns::state;

/// The most attempts to enter a code.
pub const CODE_TRIES: u32 = 5;

/// A verification code that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationCode {
    /// The person it was sent to.
    pub human: HumanId,
    /// The digest of the address it was sent to.
    pub means: Digest,
    /// The hash of the code: the code itself is not stored.
    pub hash: Digest,
    /// When the code expires.
    pub expires_at: Time,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeCheck {
    /// The code is correct; it cannot be used again.
    Right,
    /// The code is wrong.
    Wrong {
        /// The number of attempts left.
        left: u32,
    },
    /// No code was sent, or it expired or was used.
    Gone,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct StoredCode {
    hash: Digest,
    tries: u32,
}

/// Storage of verification codes. None of these writes is an event; the verified address is.
#[async_trait]
pub trait CodeStore: SideStore {
    /// Stores a code, replacing any code sent to the same address before.
    async fn put_code(&self, code: VerificationCode) -> Result<()> {
        let VerificationCode { human, means, hash, expires_at } = code;
        let stored = StoredCode { hash, tries: 0 };
        let row = code_row(human, &means, expires_at, stored)?;
        self.put_side(row, SideCondition::Always).await.map(drop)
    }

    /// Checks a code. Every attempt is counted before it is answered, even if several race.
    async fn try_code(
        &self,
        human: HumanId,
        means: Digest,
        hash: Digest,
        now: Time,
    ) -> Result<CodeCheck> {
        loop {
            let found = row(self, SideKind::Code, key(&human, &means)).await?;
            let Some(found) = found else {
                return Ok(CodeCheck::Gone);
            };
            let mut stored: StoredCode = read("code", &found.value)?;
            let expires_at = found.expires_at.unwrap_or(now);
            let tried = if now >= expires_at || stored.tries >= CODE_TRIES {
                CodeCheck::Gone
            } else if stored.hash.is_same(&hash) {
                CodeCheck::Right
            } else {
                CodeCheck::Wrong { left: CODE_TRIES - stored.tries - 1 }
            };
            stored.tries = match tried {
                CodeCheck::Gone => return Ok(tried),
                CodeCheck::Wrong { .. } => stored.tries + 1,
                // A used code has no attempts left; the row is deleted when it expires.
                CodeCheck::Right => CODE_TRIES,
            };
            // Of several racing attempts, one writes this version; the others read again.
            let next = code_row(human.clone(), &means, expires_at, stored)?;
            if self.put_side(next, SideCondition::Version(found.version)).await? {
                return Ok(tried);
            }
        }
    }
}

impl<S: SideStore + ?Sized> CodeStore for S {}

fn key(human: &HumanId, means: &Digest) -> String {
    format!("{human}/{means}")
}

fn code_row(
    human: HumanId,
    means: &Digest,
    expires_at: Time,
    stored: StoredCode,
) -> Result<SideRow> {
    Ok(SideRow {
        kind: SideKind::Code,
        key: key(&human, means),
        ask: None,
        human: Some(human),
        version: 0,
        expires_at: Some(expires_at),
        value: state("code", &stored)?.into_bytes(),
    })
}
