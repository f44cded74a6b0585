//! The IP address of a client, also behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use gateway::ssrf_guard::IpRange;

/// The IP address of a client. The entries of trusted proxies count: from the right, the result is
/// the first address that is not a trusted proxy.
pub fn client_address(parts: &Parts, trusted_proxies: &[IpRange]) -> Option<IpAddr> {
    let ConnectInfo(peer) = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
    let peer = peer.ip().to_canonical();
    let trusted = |ip: IpAddr| trusted_proxies.iter().any(|range| range.contains(ip));
    if !trusted(peer) {
        return Some(peer);
    }
    let said = parts.headers.get_all("x-forwarded-for").iter();
    let said: Vec<&str> =
        said.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')).collect();
    let mut last = peer;
    for text in said.into_iter().rev() {
        // Entries before an invalid one do not come from a trusted proxy.
        let Ok(ip) = text.trim().parse::<IpAddr>() else { break };
        last = ip.to_canonical();
        if !trusted(last) {
            break;
        }
    }
    Some(last)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

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
        let trusted_proxies = ["10.0.0.0/8".parse().unwrap()];
        for (peer, forwarded, origin) in [
            ("192.0.2.1:1", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.1.1.1:1", &["198.51.100.7"][..], "198.51.100.7"),
            ("[::ffff:10.1.1.1]:1", &["198.51.100.7"][..], "198.51.100.7"),
            ("10.1.1.1:1", &["203.0.113.9, 198.51.100.7, 10.2.2.2"][..], "198.51.100.7"),
            ("10.1.1.1:1", &["203.0.113.9", "198.51.100.7"][..], "198.51.100.7"),
            ("10.1.1.1:1", &["203.0.113.9, nonsense, 10.2.2.2"][..], "10.2.2.2"),
            ("10.1.1.1:1", &[][..], "10.1.1.1"),
        ] {
            let found = client_address(&from(peer, forwarded), &trusted_proxies).unwrap();
            assert_eq!(found.to_string(), origin, "{peer} {forwarded:?}");
        }
    }
}
