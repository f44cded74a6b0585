//! How often somebody may try to sign in: from one address, and as one person; and how often one
//! address may have a message judged. Each node counts for itself.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use kernel::HumanId;

use crate::callbacks::Range;
use crate::config::SignIn;

/// How often one person is written to, or wrongly claimed to be, in a row.
const PERSON_BURST: NonZeroU32 = match NonZeroU32::new(5) {
    Some(times) => times,
    None => NonZeroU32::MIN,
};
/// And after how long once more.
const PERSON_AGAIN: Duration = Duration::from_mins(2);

/// How many messages a minute are judged for one address: many, because it costs little.
const CHECKS: NonZeroU32 = match NonZeroU32::new(1200) {
    Some(times) => times,
    None => NonZeroU32::MIN,
};

/// Counts attempts; by default, none.
#[derive(Default)]
pub struct Knocks {
    limiters: Option<Limiters>,
    clock: DefaultClock,
    trusted: Vec<Range>,
}

struct Limiters {
    addresses: DefaultKeyedRateLimiter<IpAddr>,
    people: DefaultKeyedRateLimiter<HumanId>,
    checks: DefaultKeyedRateLimiter<IpAddr>,
}

impl Knocks {
    /// Counts as the settings say.
    pub fn new(settings: &SignIn) -> Self {
        let limiters = NonZeroU32::new(settings.limit).map(|limit| Limiters {
            addresses: RateLimiter::keyed(Quota::per_minute(limit)),
            people: RateLimiter::keyed(person_quota()),
            checks: RateLimiter::keyed(Quota::per_minute(CHECKS)),
        });
        let trusted = settings.trusted_proxies.clone();
        Self { limiters, clock: DefaultClock::default(), trusted }
    }

    /// Counts an attempt by where it came from; an error says how long to wait.
    pub fn address(&self, parts: &Parts) -> Result<(), Duration> {
        let (Some(limiters), Some(ip)) = (&self.limiters, self.origin(parts)) else {
            return Ok(());
        };
        let counted = limiters.addresses.check_key(&neighbourhood(ip));
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Counts a message to be judged. Apart from attempts: whoever has many of them can still sign in.
    pub fn check(&self, parts: &Parts) -> Result<(), Duration> {
        let (Some(limiters), Some(ip)) = (&self.limiters, self.origin(parts)) else {
            return Ok(());
        };
        let counted = limiters.checks.check_key(&neighbourhood(ip));
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Counts a letter to a person, or an attempt that claimed to be them and failed.
    pub fn person(&self, human: &HumanId) -> Result<(), Duration> {
        let Some(limiters) = &self.limiters else { return Ok(()) };
        let counted = limiters.people.check_key(human);
        counted.map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Forgets whoever has not tried for a while.
    pub fn forget_quiet(&self) {
        if let Some(limiters) = &self.limiters {
            limiters.addresses.retain_recent();
            limiters.addresses.shrink_to_fit();
            limiters.people.retain_recent();
            limiters.people.shrink_to_fit();
            limiters.checks.retain_recent();
            limiters.checks.shrink_to_fit();
        }
    }

    /// Where a call comes from. What a proxy says about it counts if we trust that proxy: from the
    /// right, the first address that is none of them.
    fn origin(&self, parts: &Parts) -> Option<IpAddr> {
        let ConnectInfo(peer) = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
        let peer = peer.ip().to_canonical();
        let trusted = |ip: IpAddr| self.trusted.iter().any(|range| range.contains(ip));
        if !trusted(peer) {
            return Some(peer);
        }
        let said = parts.headers.get_all("x-forwarded-for").iter();
        let said: Vec<&str> =
            said.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')).collect();
        let mut last = peer;
        for text in said.into_iter().rev() {
            // Whatever stands before nonsense was not said by anybody we trust.
            let Ok(ip) = text.trim().parse::<IpAddr>() else { break };
            last = ip.to_canonical();
            if !trusted(last) {
                break;
            }
        }
        Some(last)
    }
}

fn person_quota() -> Quota {
    let again = Quota::with_period(PERSON_AGAIN).unwrap_or(Quota::per_hour(PERSON_BURST));
    again.allow_burst(PERSON_BURST)
}

/// Whoever has one IPv6 address has all of its network.
pub(crate) fn neighbourhood(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => Ipv6Addr::from(u128::from(ip) & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn knocks(limit: u32) -> Knocks {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Knocks::new(&SignIn {
            lifetime: 1,
            idle: 1,
            passkey_wait: 0,
            limit,
            smtp: None,
            oidc: None,
            trusted_proxies,
        })
    }

    fn from(peer: &str, forwarded: &[&str]) -> Parts {
        let mut request = Request::builder();
        for line in forwarded {
            request = request.header("x-forwarded-for", *line);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let peer: SocketAddr = peer.parse().unwrap();
        parts.extensions.insert(ConnectInfo(peer));
        parts
    }

    #[test]
    fn a_proxy_is_believed_only_if_it_is_ours() {
        for (peer, forwarded, origin) in [
            ("192.0.2.1:1", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.1.1.1:1", &["198.51.100.7"][..], "198.51.100.7"),
            ("[::ffff:10.1.1.1]:1", &["198.51.100.7"][..], "198.51.100.7"),
            ("10.1.1.1:1", &["203.0.113.9, 198.51.100.7, 10.2.2.2"][..], "198.51.100.7"),
            ("10.1.1.1:1", &["203.0.113.9", "198.51.100.7"][..], "198.51.100.7"),
            ("10.1.1.1:1", &["203.0.113.9, nonsense, 10.2.2.2"][..], "10.2.2.2"),
            ("10.1.1.1:1", &[][..], "10.1.1.1"),
        ] {
            let found = knocks(1).origin(&from(peer, forwarded)).unwrap();
            assert_eq!(found.to_string(), origin, "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn addresses_and_people_are_counted_apart() {
        let knocks = knocks(2);
        let (one, same, other) = ("[2001:db8::1]:1", "[2001:db8::ffff:2]:9", "[2001:db8:0:1::1]:1");
        assert!(knocks.address(&from(one, &[])).is_ok());
        assert!(knocks.address(&from(same, &[])).is_ok());
        let wait = knocks.address(&from(one, &[])).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_mins(1), "{wait:?}");
        assert!(knocks.address(&from(other, &[])).is_ok());
        let (ada, eve): (HumanId, HumanId) = ("ada".parse().unwrap(), "eve".parse().unwrap());
        for _ in 0..PERSON_BURST.get() {
            assert!(knocks.person(&ada).is_ok());
        }
        assert!(knocks.person(&ada).is_err() && knocks.person(&eve).is_ok());
    }

    #[test]
    fn messages_are_counted_apart_from_attempts() {
        let knocks = knocks(1);
        let from = from("192.0.2.1:1", &[]);
        assert!((0..CHECKS.get()).all(|_| knocks.check(&from).is_ok()));
        assert!(knocks.check(&from).is_err());
        assert!(knocks.address(&from).is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let knocks = knocks(0);
        assert!((0..1000).all(|_| knocks.address(&from("192.0.2.1:1", &[])).is_ok()));
    }
}
