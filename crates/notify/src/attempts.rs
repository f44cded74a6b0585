//! Attempts at a delivery: the result of one, how many there are, and when the next one is made.

use channels::DeliveryError;
use gateway::Gateway;
use kernel::Time;
use kernel::quota::QuotaExceeded;

/// How often a delivery is attempted.
pub(crate) const ATTEMPTS: u32 = 12;
/// After so many failures the next contact method is tried, beside further attempts.
pub(crate) const KEEPS_FAILING: u32 = 3;

/// The result of one attempt to notify a person by one contact method.
#[derive(Debug)]
pub(crate) enum AttemptResult {
    /// The notification was sent.
    Sent,
    /// The person need not be notified any more.
    NotNeeded,
    /// The person is not to be notified before `until`.
    Held { until: Time, why: &'static str },
    /// A later attempt may succeed, but not before `at` if the platform said so.
    Later { at: Option<Time>, error: String },
    /// A quota is used up. Unlike a platform that accepts no more, this delays no other
    /// notification.
    OverQuota { until: Option<Time>, error: String },
    /// No later attempt will succeed.
    Refused { error: String },
    /// The address or the channel no longer exists. This is not worth a log line.
    Gone,
}

impl AttemptResult {
    /// The result of an attempt that the channel did not accept.
    pub(crate) fn failed(error: DeliveryError, gateway: &Gateway) -> Self {
        match error {
            DeliveryError::Gone { .. } => Self::Gone,
            DeliveryError::Never { why } => Self::Refused { error: why },
            DeliveryError::Later { why, after } => {
                let at = after.map(|after| gateway.now().plus_seconds(after.as_secs().max(1)));
                Self::Later { at, error: why }
            }
        }
    }

    /// The quota does not allow the notification now. It is sent when the quota starts again.
    pub(crate) fn over_quota(exceeded: &QuotaExceeded) -> Self {
        let (per, quota) = (exceeded.per.as_str(), exceeded.metric.as_str());
        metrics::counter!("countersign_quota_delayed_total", "per" => per, "quota" => quota)
            .increment(1);
        Self::OverQuota { until: exceeded.resets_at, error: exceeded.to_string() }
    }
}

/// When the next attempt is made: after one second, then twice as long each time, an hour at most.
pub(crate) fn retry_at(now: Time, attempt: u32) -> Time {
    now.plus_seconds(2_u64.saturating_pow(attempt.saturating_sub(1)).min(3600))
}

/// Counts an attempt in a metric.
pub(crate) fn count(name: &'static str, done: bool) {
    let result = if done { "done" } else { "failed" };
    metrics::counter!(name, "result" => result).increment(1);
}
