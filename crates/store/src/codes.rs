//! Codes that were sent to addresses of people, who show by them that these are theirs.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{HumanId, Time};

use crate::Result;

/// How often somebody may try to enter a code.
pub const CODE_TRIES: u32 = 5;

/// A code that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// To whom.
    pub human: HumanId,
    /// To which address of theirs, by its mark.
    pub means: Digest,
    /// What is known of it.
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

/// A code as it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) hash: Digest,
    pub(crate) expires_at: Time,
    pub(crate) tries: u32,
}

impl Kept {
    /// What comes of trying this one; whoever has tried too often, or too late, tries in vain.
    pub(crate) fn tried(self, hash: &Digest, now: Time) -> CodeTried {
        if now >= self.expires_at || self.tries >= CODE_TRIES {
            CodeTried::Gone
        } else if self.hash.is_same(hash) {
            CodeTried::Right
        } else {
            CodeTried::Wrong { left: CODE_TRIES - self.tries - 1 }
        }
    }
}

/// None of this is an event: what it leads to is.
#[async_trait]
pub trait Codes {
    /// Keeps a code in place of any that was sent there before.
    async fn put_code(&self, code: Code) -> Result<()>;

    /// Tries one. Whatever is tried is counted before it is answered.
    async fn try_code(
        &self,
        human: HumanId,
        means: Digest,
        hash: Digest,
        now: Time,
    ) -> Result<CodeTried>;
}
