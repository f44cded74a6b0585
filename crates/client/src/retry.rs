//! Retries with growing pauses.

use std::time::Duration;

use crate::ClientError;

/// The maximum number of retries.
const ATTEMPTS: u32 = 5;
/// The first pause; each one is about twice as long as the previous one.
const FIRST: Duration = Duration::from_millis(200);
/// The maximum pause.
const LONGEST: Duration = Duration::from_secs(10);

/// The number of attempts, and their limit.
#[derive(Debug)]
pub(crate) struct Retry {
    tried: u32,
    attempts: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self { tried: 0, attempts: ATTEMPTS }
    }
}

impl Retry {
    pub(crate) fn never() -> Self {
        Self { tried: 0, attempts: 0 }
    }

    pub(crate) fn unlimited() -> Self {
        Self { tried: 0, attempts: u32::MAX }
    }

    /// Whether to try again; waits before it returns true.
    pub(crate) async fn wait_and_retry(&mut self, error: &ClientError) -> bool {
        if !error.is_passing() || self.tried >= self.attempts {
            return false;
        }
        let pause = self.pause(error);
        self.tried += 1;
        tokio::time::sleep(pause).await;
        true
    }

    /// How long to wait: the server's `Retry-After`, otherwise a pause that doubles. Half of it is
    /// random, so that clients that failed together do not retry together.
    pub(crate) fn pause(&self, error: &ClientError) -> Duration {
        if let ClientError::Refused { retry_after: Some(after), .. } = error {
            return (*after).min(Duration::from_mins(1));
        }
        let whole = FIRST.saturating_mul(2_u32.saturating_pow(self.tried)).min(LONGEST);
        whole / 2 + whole.mul_f64(chance() / 2.0)
    }

    /// Resets the count after a success.
    pub(crate) fn reset(&mut self) {
        self.tried = 0;
    }
}

/// A random idempotency key.
pub(crate) fn fresh_key() -> String {
    format!("rust-{:032x}", random::<u128>())
}

fn chance() -> f64 {
    f64::from(random::<u32>()) / f64::from(u32::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a client is no kernel: it draws for itself")]
fn random<T>() -> T
where
    rand::distr::StandardUniform: rand::distr::Distribution<T>,
{
    use rand::RngExt as _;
    rand::rng().random()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, after: Option<u64>) -> ClientError {
        let retry_after = after.map(Duration::from_secs);
        let (code, message) = (String::new(), String::new());
        ClientError::Refused { status, code, message, retry_after, details: Box::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn passing_errors_are_tried_again_and_others_are_not() {
        for (status, again) in [(429, true), (503, true), (502, true), (500, false), (409, false)] {
            assert_eq!(
                Retry::default().wait_and_retry(&refused(status, None)).await,
                again,
                "{status}"
            );
        }
        assert!(!Retry::never().wait_and_retry(&refused(503, None)).await);
        let mut retry = Retry::default();
        for _ in 0..ATTEMPTS {
            assert!(retry.wait_and_retry(&refused(503, None)).await);
        }
        assert!(!retry.wait_and_retry(&refused(503, None)).await);
    }

    #[test]
    fn pauses_grow_and_the_server_is_obeyed() {
        let mut retry = Retry::unlimited();
        for tried in 0..40 {
            retry.tried = tried;
            let whole = FIRST.saturating_mul(2_u32.saturating_pow(tried)).min(LONGEST);
            let pause = retry.pause(&refused(503, None));
            assert!(pause >= whole / 2 && pause <= whole, "{tried}: {pause:?}");
        }
        assert_eq!(retry.pause(&refused(429, Some(7))), Duration::from_secs(7));
        assert_eq!(retry.pause(&refused(429, Some(7000))), Duration::from_mins(1));
    }

    #[test]
    fn keys_do_not_repeat() {
        assert_ne!(fresh_key(), fresh_key());
    }
}
