//! Codes that were sent, in a map.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{HumanId, Time};

use super::Memory;
use crate::codes::Kept;
use crate::{Code, CodeTried, Codes, Result};

#[async_trait]
impl Codes for Memory {
    async fn put_code(&self, code: Code) -> Result<()> {
        let Code { human, means, hash, expires_at } = code;
        self.state().codes.insert((human, means), Kept { hash, expires_at, tries: 0 });
        Ok(())
    }

    async fn try_code(
        &self,
        human: HumanId,
        means: Digest,
        hash: Digest,
        now: Time,
    ) -> Result<CodeTried> {
        let mut state = self.state();
        let key = (human, means);
        let Some(kept) = state.codes.get_mut(&key) else { return Ok(CodeTried::Gone) };
        let tried = kept.tried(&hash, now);
        match tried {
            CodeTried::Wrong { .. } => kept.tries += 1,
            CodeTried::Right | CodeTried::Gone => drop(state.codes.remove(&key)),
        }
        Ok(tried)
    }
}
