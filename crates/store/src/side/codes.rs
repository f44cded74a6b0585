//! Codes that were sent to addresses of people, who show by them that these are theirs.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{HumanId, Time};
use serde::{Deserialize, Serialize};

use super::{Side, SideCondition, SideKind, SideRow, read, row};
use crate::Result;
use crate::rows::state;

/// How often somebody may try to enter a code.
pub const CODE_TRIES: u32 = 5;

/// A code that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// To whom.
    pub human: HumanId,
    /// To which address of theirs, by its mark.
    pub means: Digest,
    /// The hash of the code: the code itself is not kept.
    pub hash: Digest,
    /// Until when it counts.
    pub expires_at: Time,
}

/// What came of trying one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeTried {
    /// It was the one; it is used up.
    Right,
    /// It was another.
    Wrong {
        /// How often they may still try.
        left: u32,
    },
    /// None was sent, or it counts no more.
    Gone,
}

/// A code as it is stored.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct StoredCode {
    hash: Digest,
    tries: u32,
}

/// Nothing here is an event: what it leads to is.
#[async_trait]
pub trait Codes: Side {
    /// Keeps a code in place of any that was sent there before.
    async fn put_code(&self, code: Code) -> Result<()> {
        let Code { human, means, hash, expires_at } = code;
        let stored = StoredCode { hash, tries: 0 };
        let row = code_row(human, &means, expires_at, stored)?;
        self.put_side(row, SideCondition::Always).await.map(drop)
    }

    /// Tries one. Every try is counted before it is answered, however many race.
    async fn try_code(
        &self,
        human: HumanId,
        means: Digest,
        hash: Digest,
        now: Time,
    ) -> Result<CodeTried> {
        loop {
            let found = row(self, SideKind::Code, key(&human, &means)).await?;
            let Some(found) = found else {
                return Ok(CodeTried::Gone);
            };
            let mut stored: StoredCode = read("code", &found.value)?;
            let expires_at = found.expires_at.unwrap_or(now);
            let tried = if now >= expires_at || stored.tries >= CODE_TRIES {
                CodeTried::Gone
            } else if stored.hash.is_same(&hash) {
                CodeTried::Right
            } else {
                CodeTried::Wrong { left: CODE_TRIES - stored.tries - 1 }
            };
            stored.tries = match tried {
                CodeTried::Gone => return Ok(tried),
                CodeTried::Wrong { .. } => stored.tries + 1,
                // A code that was used has no tries left; the row goes when it expires.
                CodeTried::Right => CODE_TRIES,
            };
            // Only one of those who race writes this version; the others look again.
            let next = code_row(human.clone(), &means, expires_at, stored)?;
            if self.put_side(next, SideCondition::Version(found.version)).await? {
                return Ok(tried);
            }
        }
    }
}

impl<S: Side + ?Sized> Codes for S {}

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
