//! The open connections: how many in total, how many per client address, and which of them wait
//! for a request.
//!
//! A new connection is admitted while there is room. If there is none, the connection that has
//! waited longest for a request is closed: an idle connection must not keep out an active one. A
//! new connection is refused only if every open one is serving a request.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gateway::login_rate_limit::network_of;
use gateway::ssrf_guard::IpRange;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::Config;

/// The most connections if the settings name no limit.
const DEFAULT_TOTAL: usize = 50_000;
/// Open files that are kept free for the database, uploads, outgoing calls, refused connections and
/// the operations address.
const RESERVED_FILES: usize = 256;
/// The least number of connections admitted, however few files may be open.
const SMALLEST_TOTAL: usize = 16;
/// The most connections to the operations address.
const OPERATIONS: usize = 64;

/// How many connections may be open.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// The most connections in total.
    pub total: usize,
    /// The most from one client address, or one IPv6 /64 network; 0 for no limit.
    pub per_address: usize,
    /// Proxies, whose connections carry many clients. Loopback addresses are exempt as well.
    pub exempt: Vec<IpRange>,
}

impl ConnectionLimits {
    /// The limits for the main address: those of the settings, and never more than the process may
    /// have open files.
    pub fn from_settings(config: &Config) -> Self {
        let wanted = config.connection_limit.unwrap_or(DEFAULT_TOTAL);
        let possible = open_files().saturating_sub(RESERVED_FILES).max(SMALLEST_TOTAL);
        if config.connection_limit.is_some_and(|wanted| wanted > possible) {
            tracing::warn!(
                connection_limit = wanted,
                applied = possible,
                "the open-files limit of the process is too low for connection_limit; raise \
                 LimitNOFILE or ulimit -n"
            );
        }
        Self {
            total: wanted.min(possible),
            per_address: config.connection_limit_per_address,
            exempt: config.sign_in.trusted_proxies.clone(),
        }
    }

    /// The limits for the operations address: few connections, so that it does not compete with
    /// the main one.
    pub fn operations() -> Self {
        Self { total: OPERATIONS, per_address: 0, exempt: Vec::new() }
    }

    /// The address a connection is counted under, if it is counted.
    fn counted(&self, peer: SocketAddr) -> Option<IpAddr> {
        let ip = peer.ip().to_canonical();
        let exempt = ip.is_loopback() || self.exempt.iter().any(|range| range.contains(ip));
        (self.per_address > 0 && !exempt).then(|| network_of(ip))
    }
}

/// How many files this process may open, after raising its soft limit to the hard one.
fn open_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    current.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// Why a connection was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionRefused {
    /// The total limit is reached, and each connection is serving a request.
    Total,
    /// The limit of this client address is reached, and each of its connections is
    /// serving a request.
    Address,
}

impl ConnectionRefused {
    /// The name in metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Address => "address",
        }
    }
}

/// The connections of a listener.
pub struct Connections {
    limits: ConnectionLimits,
    state: Mutex<ConnectionsState>,
}

#[derive(Default)]
struct ConnectionsState {
    open: usize,
    by_address: HashMap<IpAddr, usize>,
    /// The connections that wait for a request, longest first.
    waiting: BTreeMap<u64, WaitingConnection>,
    next_turn: u64,
    /// Whether the limit was reached and the count has not dropped since.
    full: bool,
}

struct WaitingConnection {
    address: Option<IpAddr>,
    close: CancellationToken,
}

impl ConnectionsState {
    fn wait(&mut self, waiting: WaitingConnection) -> u64 {
        let turn = self.next_turn;
        self.next_turn += 1;
        self.waiting.insert(turn, waiting);
        turn
    }

    /// Closes the connection that has waited longest, of this address if one is given.
    fn make_room(&mut self, address: Option<IpAddr>) -> bool {
        let mut found = self.waiting.iter();
        let longest = found.find(|(_, one)| address.is_none() || one.address == address);
        let Some(turn) = longest.map(|(turn, _)| *turn) else { return false };
        let Some(waiting) = self.waiting.remove(&turn) else { return false };
        waiting.close.cancel();
        metrics::counter!("countersign_connections_closed_for_others_total").increment(1);
        true
    }
}

impl Connections {
    /// No connections yet.
    pub fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default() })
    }

    /// Admits a connection, if necessary in place of one that waits for a request.
    pub fn admit(self: &Arc<Self>, peer: SocketAddr) -> Result<Arc<Connection>, ConnectionRefused> {
        let address = self.limits.counted(peer);
        let mut state = self.state();
        let from_address =
            address.and_then(|address| state.by_address.get(&address)).copied().unwrap_or(0);
        if address.is_some() && from_address >= self.limits.per_address && !state.make_room(address)
        {
            return Err(refused(ConnectionRefused::Address));
        }
        if state.open >= self.limits.total && !state.make_room(None) {
            if !state.full {
                state.full = true;
                tracing::warn!(
                    limit = self.limits.total,
                    "connection limit reached, refusing new connections with 503"
                );
            }
            return Err(refused(ConnectionRefused::Total));
        }
        state.open += 1;
        if let Some(address) = address {
            *state.by_address.entry(address).or_default() += 1;
        }
        let close = CancellationToken::new();
        let turn = state.wait(WaitingConnection { address, close: close.clone() });
        drop(state);
        metrics::gauge!("countersign_connections").increment(1);
        let activity = Activity {
            in_flight: 0,
            turn: Some(turn),
            since: Instant::now(),
            served: false,
            upgraded: false,
        };
        Ok(Arc::new(Connection {
            connections: Arc::clone(self),
            address,
            close,
            activity: Mutex::new(activity),
        }))
    }

    /// Closes the connection that has waited longest for a request, if any. For use when the
    /// process cannot open another file.
    pub fn make_room(&self) -> bool {
        self.state().make_room(None)
    }

    /// The number of open connections.
    pub fn open(&self) -> usize {
        self.state().open
    }

    fn state(&self) -> MutexGuard<'_, ConnectionsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(why: ConnectionRefused) -> ConnectionRefused {
    metrics::counter!("countersign_connections_refused_total", "reason" => why.as_str())
        .increment(1);
    why
}

/// One open connection. It counts until it is dropped with its socket.
pub struct Connection {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
    close: CancellationToken,
    activity: Mutex<Activity>,
}

struct Activity {
    in_flight: u32,
    /// Its position among the waiting connections, while it waits.
    turn: Option<u64>,
    /// When it began to wait for a request.
    since: Instant,
    /// Whether it ever received a request.
    served: bool,
    /// Whether it was upgraded from HTTP to another protocol.
    upgraded: bool,
}

/// The activity of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPhase {
    /// Serving at least one request, or a WebSocket.
    Serving,
    /// Waiting for its first request.
    FirstWait(Instant),
    /// Waiting for another request.
    Idle(Instant),
}

impl Connection {
    /// Marks the beginning of a request. The request lasts until its response was sent or aborted.
    pub fn request(self: &Arc<Self>) -> InFlight {
        let mut activity = self.activity();
        activity.in_flight += 1;
        activity.served = true;
        if let Some(turn) = activity.turn.take() {
            self.connections.state().waiting.remove(&turn);
        }
        drop(activity);
        InFlight(Arc::clone(self))
    }

    /// Marks the connection as upgraded: it no longer waits for requests.
    pub fn upgraded(&self) {
        let mut activity = self.activity();
        activity.upgraded = true;
        if let Some(turn) = activity.turn.take() {
            self.connections.state().waiting.remove(&turn);
        }
    }

    /// The TLS handshake is done; the time limit for the first request starts.
    pub fn ready(&self) {
        self.activity().since = Instant::now();
    }

    pub fn phase(&self) -> ConnectionPhase {
        let activity = self.activity();
        if activity.upgraded || activity.in_flight > 0 {
            ConnectionPhase::Serving
        } else if activity.served {
            ConnectionPhase::Idle(activity.since)
        } else {
            ConnectionPhase::FirstWait(activity.since)
        }
    }

    /// Waits until the connection has to make room for another one.
    pub async fn must_close(&self) {
        self.close.cancelled().await;
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        metrics::gauge!("countersign_connections").decrement(1);
        let turn = self.activity().turn;
        let mut state = self.connections.state();
        if let Some(turn) = turn {
            state.waiting.remove(&turn);
        }
        state.open -= 1;
        // Not as soon as one closes: at the limit, a new connection replaces each closed one.
        if state.full && state.open * 10 <= self.connections.limits.total * 9 {
            state.full = false;
            tracing::info!(
                open = state.open,
                "below the connection limit again, accepting connections"
            );
        }
        if let Some(address) = self.address
            && let Some(count) = state.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                state.by_address.remove(&address);
            }
        }
    }
}

/// A request that is being served.
pub struct InFlight(Arc<Connection>);

impl Drop for InFlight {
    fn drop(&mut self) {
        let Self(connection) = self;
        let mut activity = connection.activity();
        activity.in_flight -= 1;
        if activity.in_flight == 0 && !activity.upgraded {
            activity.since = Instant::now();
            let waiting =
                WaitingConnection { address: connection.address, close: connection.close.clone() };
            activity.turn = Some(connection.connections.state().wait(waiting));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(total: usize, per_address: usize) -> Arc<Connections> {
        let exempt = vec!["10.0.0.0/8".parse().unwrap()];
        Connections::new(ConnectionLimits { total, per_address, exempt })
    }

    fn peer(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn the_one_that_waited_longest_makes_room() {
        let all = connections(2, 0);
        let first = all.admit(peer("192.0.2.1:1")).unwrap();
        let second = all.admit(peer("192.0.2.2:1")).unwrap();
        let request = first.request();
        let third = all.admit(peer("192.0.2.3:1")).unwrap();
        assert!(second.close.is_cancelled(), "it waited");
        assert!(!first.close.is_cancelled(), "it was serving a request");
        drop(second);
        assert_eq!(all.open(), 2);
        // An answered request moves it behind the one that has waited all the time.
        drop(request);
        let _fourth = all.admit(peer("192.0.2.4:1")).unwrap();
        assert!(third.close.is_cancelled() && !first.close.is_cancelled());
    }

    #[tokio::test]
    async fn a_new_one_is_refused_while_all_serve() {
        let all = connections(2, 0);
        let (one, two) =
            (all.admit(peer("192.0.2.1:1")).unwrap(), all.admit(peer("192.0.2.1:2")).unwrap());
        let request = one.request();
        two.upgraded();
        assert_eq!(all.admit(peer("192.0.2.1:3")).err(), Some(ConnectionRefused::Total));
        assert!(!all.make_room());
        drop((request, one));
        assert!(all.admit(peer("192.0.2.1:3")).is_ok());
        drop(two);
        assert_eq!(all.open(), 0);
        assert!(all.state().waiting.is_empty() && all.state().by_address.is_empty());
    }

    #[tokio::test]
    async fn each_address_has_its_share_but_proxies_and_loopback_are_many() {
        let all = connections(100, 1);
        for (text, other) in [
            ("192.0.2.1:1", "192.0.2.2:1"),
            ("[::ffff:192.0.2.3]:1", "192.0.2.4:1"),
            ("[2001:db8::1]:1", "[2001:db8:0:1::1]:1"),
        ] {
            let first = all.admit(peer(text)).unwrap();
            let request = first.request();
            assert_eq!(all.admit(peer(text)).err(), Some(ConnectionRefused::Address), "{text}");
            let other = all.admit(peer(other)).unwrap();
            // Only a waiting connection of the same address makes room.
            drop(request);
            let again = all.admit(peer(text)).unwrap();
            assert!(first.close.is_cancelled() && !other.close.is_cancelled());
            drop((first, again));
        }
        let same_network = all.admit(peer("[2001:db8::1]:1")).unwrap();
        let _request = same_network.request();
        assert_eq!(all.admit(peer("[2001:db8::2]:1")).err(), Some(ConnectionRefused::Address));
        for text in ["127.0.0.1:1", "[::1]:1", "10.1.2.3:1"] {
            let busy: Vec<_> = (0..5)
                .map(|_| all.admit(peer(text)).unwrap())
                .map(|connection| (connection.request(), connection))
                .collect();
            assert_eq!(busy.len(), 5, "{text}");
        }
    }
}
