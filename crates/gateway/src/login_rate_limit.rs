//! Limits sign-in attempts, per IP address and per person, and message checks per IP address. Each
//! node counts separately.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use kernel::HumanId;

/// The most sign-in emails to one person, or failed attempts as that person, in a row.
const PERSON_BURST: NonZeroU32 = match NonZeroU32::new(5) {
    Some(times) => times,
    None => NonZeroU32::MIN,
};
/// The time until one more is allowed.
const PERSON_REFILL_INTERVAL: Duration = Duration::from_mins(2);

/// The most message checks a minute for one IP address. It is high, because a check is cheap.
const CHECKS_PER_MINUTE: NonZeroU32 = match NonZeroU32::new(1200) {
    Some(times) => times,
    None => NonZeroU32::MIN,
};

/// Counts attempts. The default has no limits.
#[derive(Default)]
pub struct LoginRateLimit {
    limiters: Option<Limiters>,
    clock: DefaultClock,
}

struct Limiters {
    addresses: DefaultKeyedRateLimiter<IpAddr>,
    people: DefaultKeyedRateLimiter<HumanId>,
    checks: DefaultKeyedRateLimiter<IpAddr>,
}

impl LoginRateLimit {
    /// Allows `limit` attempts a minute from one IP address. 0 means no limit.
    pub fn new(limit: u32) -> Self {
        let limiters = NonZeroU32::new(limit).map(|limit| Limiters {
            addresses: RateLimiter::keyed(Quota::per_minute(limit)),
            people: RateLimiter::keyed(person_quota()),
            checks: RateLimiter::keyed(Quota::per_minute(CHECKS_PER_MINUTE)),
        });
        Self { limiters, clock: DefaultClock::default() }
    }

    /// Counts an attempt by its IP address. The error is the time to wait.
    pub fn count_address(&self, ip: IpAddr) -> Result<(), Duration> {
        let Some(limiters) = &self.limiters else { return Ok(()) };
        let counted = limiters.addresses.check_key(&network_of(ip));
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Counts a message check. Separate from attempts, so that an address with many checks can
    /// still sign in.
    pub fn count_message_check(&self, ip: IpAddr) -> Result<(), Duration> {
        let Some(limiters) = &self.limiters else { return Ok(()) };
        let counted = limiters.checks.check_key(&network_of(ip));
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Counts an email to a person, or a failed attempt to sign in as them.
    pub fn count_person(&self, human: &HumanId) -> Result<(), Duration> {
        let Some(limiters) = &self.limiters else { return Ok(()) };
        let counted = limiters.people.check_key(human);
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Drops the counters of addresses and people without recent attempts.
    pub fn drop_idle_counters(&self) {
        if let Some(limiters) = &self.limiters {
            limiters.addresses.retain_recent();
            limiters.addresses.shrink_to_fit();
            limiters.people.retain_recent();
            limiters.people.shrink_to_fit();
            limiters.checks.retain_recent();
            limiters.checks.shrink_to_fit();
        }
    }
}

fn person_quota() -> Quota {
    let again = Quota::with_period(PERSON_REFILL_INTERVAL).unwrap_or(Quota::per_hour(PERSON_BURST));
    again.allow_burst(PERSON_BURST)
}

/// The network of an IP address. A client with one IPv6 address has all addresses of its network.
pub fn network_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => Ipv6Addr::from(u128::from(ip) & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_and_people_are_counted_apart() {
        let limit = LoginRateLimit::new(2);
        let (one, same, other) = (ip("2001:db8::1"), ip("2001:db8::ffff:2"), ip("2001:db8:0:1::1"));
        assert!(limit.count_address(one).is_ok());
        assert!(limit.count_address(same).is_ok());
        let wait = limit.count_address(one).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_mins(1), "{wait:?}");
        assert!(limit.count_address(other).is_ok());
        let (ada, eve): (HumanId, HumanId) = ("ada".parse().unwrap(), "eve".parse().unwrap());
        for _ in 0..PERSON_BURST.get() {
            assert!(limit.count_person(&ada).is_ok());
        }
        assert!(limit.count_person(&ada).is_err() && limit.count_person(&eve).is_ok());
    }

    #[test]
    fn messages_are_counted_apart_from_attempts() {
        let limit = LoginRateLimit::new(1);
        let from = ip("192.0.2.1");
        assert!((0..CHECKS_PER_MINUTE.get()).all(|_| limit.count_message_check(from).is_ok()));
        assert!(limit.count_message_check(from).is_err());
        assert!(limit.count_address(from).is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let limit = LoginRateLimit::new(0);
        assert!((0..1000).all(|_| limit.count_address(ip("192.0.2.1")).is_ok()));
    }
}
