//! Which hosts the server may call: over HTTPS, at public IP addresses. Loopback, private networks
//! and a cloud's metadata service are rejected unless the operator lists them. `--dev` allows
//! loopback, also over plain HTTP.
//!
//! `GuardedResolver` resolves names and gives the client only permitted addresses. The checked
//! address is the one that the client connects to, so a second DNS answer changes nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The rules for outgoing calls.
#[derive(Debug, Clone, Default)]
pub struct OutboundPolicy {
    /// Allows loopback, also over plain HTTP.
    pub dev: bool,
    /// Non-public ranges that the operator allows.
    pub allowed: Vec<IpRange>,
}

/// A range of IP addresses, such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange {
    base: IpAddr,
    bits: u8,
}

/// A name that resolves to no permitted address.
#[derive(Debug)]
pub struct ForbiddenHost;

impl fmt::Display for ForbiddenHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host name resolves to addresses that outgoing calls cannot use")
    }
}

impl std::error::Error for ForbiddenHost {}

impl OutboundPolicy {
    /// The URL, if it may be called. The error names the accepted form. A host name is checked
    /// again when it is resolved.
    pub fn address(&self, text: &str) -> Result<Url, &'static str> {
        let expected = if self.dev {
            "an https URL, or http to localhost or 127.0.0.1"
        } else {
            "an https URL on a public address"
        };
        let url = Url::parse(text).map_err(|_| expected)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a URL without a user name or password");
        }
        let fine = match (url.scheme(), url.host()) {
            ("https", Some(Host::Domain(name))) => self.dev || !is_local(name),
            ("https", Some(Host::Ipv4(ip))) => self.permits(ip.into()),
            ("https", Some(Host::Ipv6(ip))) => self.permits(ip.into()),
            ("http", Some(Host::Domain(name))) => self.dev && name == "localhost",
            ("http", Some(Host::Ipv4(ip))) => self.dev && ip == Ipv4Addr::LOCALHOST,
            _ => false,
        };
        if fine { Ok(url) } else { Err(expected) }
    }

    /// Whether a connection to this IP address is permitted.
    pub fn permits(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        (self.dev && ip.is_loopback())
            || self.allowed.iter().any(|range| range.contains(ip))
            || is_public(ip)
    }
}

/// Names of this machine, whatever a resolver says.
fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether the IP address is public.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_documentation()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        // Carrier-grade NAT, protocol assignments, benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, third, middle @ .., seventh, eighth] = ip.segments();
    let embedded = |high: u16, low: u16| {
        is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    match (first, second) {
        // An embedded IPv4 address: translated or tunnelled.
        (0x64, 0xff9b) if third == 0 && middle == [0; 3] => embedded(seventh, eighth),
        (0x2002, _) => embedded(second, third),
        // All allocated addresses are in 2000::/3, except for tunnels,
        // benchmarks and documentation.
        (0x2001, 0..0x200 | 0xdb8) | (0x3fff, 0..0x1000) => false,
        _ => (0x2000..0x4000).contains(&first),
    }
}

impl IpRange {
    /// Whether an IP address is in the range.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let shift = |width: u32| width.saturating_sub(u32::from(self.bits));
        match (self.base, ip) {
            (IpAddr::V4(base), IpAddr::V4(ip)) => {
                let (base, ip) = (u32::from(base), u32::from(ip));
                (base ^ ip).checked_shr(shift(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(base), IpAddr::V6(ip)) => {
                let (base, ip) = (u128::from(base), u128::from(ip));
                (base ^ ip).checked_shr(shift(128)).unwrap_or(0) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for IpRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "an IP address or a range such as 10.0.0.0/8 or fd00::/8";
        let (base, bits) = match text.split_once('/') {
            Some((base, bits)) => (base, Some(bits)),
            None => (text, None),
        };
        let base: IpAddr = base.trim().parse().map_err(|_| expected)?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| expected)?;
        if bits > most { Err(expected) } else { Ok(Self { base, bits }) }
    }
}

/// Resolves names to permitted addresses only.
pub struct GuardedResolver(pub Arc<OutboundPolicy>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                found.filter(|address| policy.permits(address.ip())).collect();
            if allowed.is_empty() {
                return Err(ForbiddenHost.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(dev: bool, allowed: &[&str]) -> OutboundPolicy {
        OutboundPolicy {
            dev,
            allowed: allowed.iter().map(|range| range.parse().unwrap()).collect(),
        }
    }

    /// HITL-180, HITL-185, HITL-242: HTTPS, and no addresses that only this server can reach.
    #[test]
    fn only_public_addresses_over_https() {
        let strict = policy(false, &[]);
        for good in [
            "https://agent.example/hook?x=1",
            "https://93.184.216.34/",
            "https://[2606:2800:220:1:248:1893:25c8:1946]:8443/a",
        ] {
            assert!(strict.address(good).is_ok(), "{good}");
        }
        for bad in [
            "http://agent.example/hook",
            "http://localhost/hook",
            "http://127.0.0.1/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://10.1.2.3/",
            "https://172.31.0.1/",
            "https://192.168.1.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://100.64.0.1/",
            "https://0.0.0.0/",
            "https://255.255.255.255/",
            "https://198.18.0.1/",
            "https://224.0.0.1/",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[64:ff9b::a00:1]/",
            "https://[2002:a00:1::]/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://[2001:db8::1]/",
            "https://[ff02::1]/",
            "https://user:pass@agent.example/",
            "https://user@agent.example/",
            "ftp://agent.example/",
            "file:///etc/passwd",
            "https:",
            "agent.example",
            "",
        ] {
            assert!(strict.address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn development_may_call_this_machine_and_no_other() {
        let dev = policy(true, &[]);
        for good in
            ["http://localhost:9/x", "http://127.0.0.1:9/x", "https://localhost/", "https://[::1]/"]
        {
            assert!(dev.address(good).is_ok(), "{good}");
        }
        for bad in
            ["http://agent.example/", "https://10.0.0.1/", "http://[::1]/", "http://127.0.0.2/"]
        {
            assert!(dev.address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_operator_may_allow_ranges() {
        let wide = policy(false, &["10.0.0.0/8", "fd00::/8", "192.168.7.7"]);
        for good in ["https://10.255.0.1/", "https://[fd12::1]/", "https://192.168.7.7/"] {
            assert!(wide.address(good).is_ok(), "{good}");
        }
        for bad in [
            "https://11.0.0.1.nip/",
            "https://192.168.7.8/",
            "https://[fe80::1]/",
            "http://10.0.0.1/",
        ] {
            let refused = wide.address(bad);
            assert!(refused.is_err() || bad.contains("nip"), "{bad}");
        }
        let everything = policy(false, &["0.0.0.0/0"]);
        assert!(everything.permits(Ipv4Addr::LOCALHOST.into()));
        for bad in ["10.0.0.0/33", "10.0.0/8", "fd00::/129", "x", "", "10.0.0.0/-1"] {
            assert!(bad.parse::<IpRange>().is_err(), "{bad}");
        }
    }

    /// The addresses of a name are checked too, when it is resolved.
    #[tokio::test]
    async fn a_name_that_leads_inside_leads_nowhere() {
        let strict = GuardedResolver(Arc::new(policy(false, &[])));
        let name = || "localhost".parse::<Name>().unwrap();
        assert!(strict.resolve(name()).await.is_err_and(|error| error.is::<ForbiddenHost>()));
        let dev = GuardedResolver(Arc::new(policy(true, &[])));
        assert!(dev.resolve(name()).await.is_ok());
    }
}
