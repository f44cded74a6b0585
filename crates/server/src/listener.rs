//! Accepts connections and serves HTTP on them, with time limits.
//!
//! | what | limit |
//! |---|---|
//! | TLS handshake | 10 s |
//! | the first request's header, from the start of the connection | 10 s |
//! | the next request's header, from the end of the last response | 75 s |
//! | a response of which the client takes no byte | 60 s |
//!
//! A request that is being answered has no limit here: streams and WebSockets stay open. Accepting
//! never waits: slow work runs in a separate task.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::{self, HeaderValue, Version, header};
use axum::response::Response;
use axum_server::accept::Accept;
use axum_server::tls_rustls::RustlsAcceptor;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::connections::{Connection, ConnectionPhase, Connections, InFlight};
use crate::http::WithoutTrailingSlashes;

/// How long a connection may take for its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(10);
/// How long a connection may take for another request. Longer than proxies keep connections to us
/// (60 seconds with nginx and with AWS), so that they never send a request on one we are closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
/// How long a client may take no byte of a response.
const STALL_TIMEOUT: Duration = Duration::from_mins(1);
/// How often HTTP/2 connections are pinged, and how long the answer may take.
const PING: Duration = Duration::from_secs(20);
/// Concurrent requests on one HTTP/2 connection.
const STREAMS: u32 = 100;
/// How long requests in flight may take to end when the server stops.
const SHUTDOWN_GRACE_PERIOD: Duration = Duration::from_secs(10);
/// How long an idle HTTP/2 connection may take to receive the shutdown notice.
const SHUTDOWN_NOTICE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a refused connection may take to send its request and to receive the refusal.
const REFUSAL: Duration = Duration::from_secs(2);
/// How many connections are refused with a response at a time; the others are closed at once.
const REFUSALS: usize = 64;
/// How long to wait before accepting again when the process cannot open another file.
const NO_FILES: Duration = Duration::from_millis(50);

/// Everything a connection serves.
pub type Routes = WithoutTrailingSlashes<Router>;

/// A listening socket and its routes.
pub struct Listener {
    socket: TcpListener,
    tls: Option<RustlsAcceptor>,
    routes: Routes,
    refusal: Routes,
    connections: Arc<Connections>,
    refusals: Arc<Semaphore>,
    http: Arc<Builder<TokioExecutor>>,
}

impl Listener {
    /// Serves `routes` on a socket; `refusal` answers connections beyond the limits. Listeners that
    /// share `connections` share their limits: `localhost` is two sockets.
    pub fn new(
        socket: std::net::TcpListener,
        tls: Option<RustlsAcceptor>,
        routes: Router,
        refusal: Router,
        connections: Arc<Connections>,
    ) -> io::Result<Self> {
        Ok(Self {
            socket: TcpListener::from_std(socket)?,
            tls,
            routes: WithoutTrailingSlashes(routes),
            refusal: WithoutTrailingSlashes(refusal),
            connections,
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            http: Arc::new(http()),
        })
    }

    /// Accepts connections until the server stops. Each connection is a task of `tasks`.
    pub async fn run(self, tasks: TaskTracker, stop: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                accepted = self.socket.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => self.handle_accept(stream, peer, &tasks, &stop),
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection, will retry");
                    self.connections.make_room();
                    tokio::time::sleep(NO_FILES).await;
                }
            }
        }
    }

    fn handle_accept(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) {
        let (tls, http, stop) = (self.tls.clone(), Arc::clone(&self.http), stop.clone());
        if let Ok(connection) = self.connections.admit(peer) {
            let socket = Socket::new(stream, Some(Arc::clone(&connection)));
            let service = ConnectionService { routes: self.routes.clone(), peer, connection };
            tasks.spawn(async move {
                let closed = service.connection.clone();
                tokio::select! {
                    biased;
                    () = closed.must_close() => {}
                    () = serve_after_tls(tls, socket, service, &http, &stop) => {}
                }
            });
            return;
        }
        // Without this limit, a flood of connections would use as many open files for refusals as
        // it was refused.
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let routes = self.refusal.clone();
        tasks.spawn(async move {
            let _permit = permit;
            let socket = Socket::new(stream, None);
            let _ = timeout(REFUSAL, refuse(tls, socket, routes, &http)).await;
        });
    }
}

/// Whether the error concerns only the connection about to be accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn http() -> Builder<TokioExecutor> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(IDLE_TIMEOUT);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .max_concurrent_streams(STREAMS);
    http
}

/// Serves a connection, after its TLS handshake if there is one.
async fn serve_after_tls(
    tls: Option<RustlsAcceptor>,
    socket: Socket<TcpStream>,
    service: ConnectionService,
    http: &Builder<TokioExecutor>,
    stop: &CancellationToken,
) {
    match tls {
        None => serve(socket, service, http, stop).await,
        Some(tls) => {
            let handshake = stop.run_until_cancelled(tls.accept(socket, ())).await;
            if let Some(Ok((socket, ()))) = handshake {
                service.connection.ready();
                serve(socket, service, http, stop).await;
            }
        }
    }
}

/// Serves HTTP on a connection until it ends, is idle for too long, or the server stops.
async fn serve<S>(
    socket: S,
    service: ConnectionService,
    http: &Builder<TokioExecutor>,
    stop: &CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = Arc::clone(&service.connection);
    let served = http
        .serve_connection_with_upgrades(TokioIo::new(socket), TowerToHyperService::new(service));
    tokio::pin!(served);
    let patience = tokio::select! {
        biased;
        () = stop.cancelled() => SHUTDOWN_GRACE_PERIOD,
        () = idle_for_too_long(&connection) => SHUTDOWN_NOTICE_TIMEOUT,
        _ = &mut served => {
            connection.upgraded();
            return;
        }
    };
    served.as_mut().graceful_shutdown();
    let _ = timeout(patience, served).await;
}

/// Waits until a connection has waited too long for a request.
async fn idle_for_too_long(connection: &Connection) {
    loop {
        let deadline = match connection.phase() {
            // Check again at the earliest time it could have been idle for too long.
            ConnectionPhase::Serving => Instant::now() + IDLE_TIMEOUT,
            ConnectionPhase::FirstWait(since) => since + FIRST_REQUEST,
            ConnectionPhase::Idle(since) => since + IDLE_TIMEOUT,
        };
        if deadline <= Instant::now() {
            return;
        }
        sleep_until(deadline).await;
    }
}

async fn refuse(
    tls: Option<RustlsAcceptor>,
    socket: Socket<TcpStream>,
    routes: Routes,
    http: &Builder<TokioExecutor>,
) {
    let service = TowerToHyperService::new(RefusalService(routes));
    match tls {
        None => drop(http.serve_connection(TokioIo::new(socket), service).await),
        Some(tls) => {
            if let Ok((socket, ())) = tls.accept(socket, ()).await {
                drop(http.serve_connection(TokioIo::new(socket), service).await);
            }
        }
    }
}

/// The requests of one connection.
#[derive(Clone)]
struct ConnectionService {
    routes: Routes,
    peer: SocketAddr,
    connection: Arc<Connection>,
}

type ResponseFuture<B> =
    Pin<Box<dyn Future<Output = Result<http::Response<B>, Infallible>> + Send>>;

impl<B> Service<http::Request<B>> for ConnectionService
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = http::Response<InFlightBody>;
    type Error = Infallible;
    type Future = ResponseFuture<InFlightBody>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<B>) -> Self::Future {
        let in_flight = self.connection.request();
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let answer = self.routes.call(request);
        Box::pin(async move {
            let Ok(answer) = answer.await;
            Ok(answer.map(|body| InFlightBody { body, _in_flight: in_flight }))
        })
    }
}

/// The body of a response; while it is being sent, its connection serves a request.
struct InFlightBody {
    body: Body,
    _in_flight: InFlight,
}

impl HttpBody for InFlightBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Answers a connection beyond the limits once, then closes it.
#[derive(Clone)]
struct RefusalService(Routes);

impl<B> Service<http::Request<B>> for RefusalService
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture<Body>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        // HTTP/2 has no such header; its connection ends when the time for refusals expires.
        let closes = request.version() < Version::HTTP_2;
        let answer = self.0.call(request);
        Box::pin(async move {
            let Ok(mut answer) = answer.await;
            if closes {
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(header::CONNECTION, close);
            }
            Ok(answer)
        })
    }
}

/// A socket that fails if the client takes no bytes. It holds its connection, so the connection
/// counts even after an upgrade, when HTTP has released the socket.
struct Socket<S> {
    stream: S,
    _connection: Option<Arc<Connection>>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Socket<S> {
    fn new(stream: S, connection: Option<Arc<Connection>>) -> Self {
        Self { stream, _connection: connection, stalled: None }
    }

    /// The outcome of a write, or an error if writes have been pending for too long.
    fn check_stall<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stalled = None;
            return outcome;
        }
        let stalled =
            self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL_TIMEOUT)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_stall(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.check_stall(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.check_stall(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check_stall(context, outcome)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use axum::routing::get;
    use futures_util::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::task::JoinHandle;

    use super::*;
    use crate::connections::ConnectionLimits;

    const HOUR: Duration = Duration::from_hours(1);

    /// A connection to a server in paused time, which advances only while all tasks wait.
    fn connected(buffer: usize) -> (DuplexStream, JoinHandle<()>, Arc<Connections>) {
        let endless = |every: Duration, bytes: Bytes| {
            Body::from_stream(stream::unfold((), move |()| {
                let bytes = bytes.clone();
                async move {
                    tokio::time::sleep(every).await;
                    Some((Ok::<_, Infallible>(bytes), ()))
                }
            }))
        };
        let beats = move || async move { endless(Duration::from_secs(50), Bytes::from("beat\n")) };
        let flood = move || async move { endless(Duration::ZERO, Bytes::from(vec![b'x'; 65536])) };
        let routes = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/beats", get(beats))
            .route("/flood", get(flood));
        let limits = ConnectionLimits { total: 4, per_address: 0, exempt: Vec::new() };
        let connections = Connections::new(limits);
        let peer = "192.0.2.1:1".parse().unwrap();
        let connection = connections.admit(peer).unwrap();
        let (client, server) = duplex(buffer);
        let socket = Socket::new(server, Some(Arc::clone(&connection)));
        let service =
            ConnectionService { routes: WithoutTrailingSlashes(routes), peer, connection };
        let served = TaskTracker::new().spawn(async move {
            serve(socket, service, &http(), &CancellationToken::new()).await;
        });
        (client, served, connections)
    }

    /// After how many seconds the server closes the connection.
    async fn closed_after(client: &mut DuplexStream) -> u64 {
        let begun = Instant::now();
        let mut rest = Vec::new();
        timeout(HOUR, client.read_to_end(&mut rest)).await.unwrap().unwrap();
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_whole_request_is_closed() {
        for sent in ["", "G", "GET / HTTP/1.1\r\nHost: x\r\n", "PRI * HTTP/2"] {
            let (mut client, served, connections) = connected(1024);
            client.write_all(sent.as_bytes()).await.unwrap();
            let seconds = closed_after(&mut client).await;
            assert!((10..12).contains(&seconds), "{sent:?}: {seconds}");
            served.await.unwrap();
            assert_eq!(connections.open(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_byte_now_and_then_does_not_help() {
        let (mut client, served, _) = connected(1024);
        let begun = Instant::now();
        while client.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(begun.elapsed() < Duration::from_secs(14), "{:?}", begun.elapsed());
        served.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed_and_a_used_one_is_not() {
        let (mut client, served, _) = connected(1024);
        let mut buffer = [0; 1024];
        for _ in 0..3 {
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            let read = client.read(&mut buffer).await.unwrap();
            assert!(buffer[..read].starts_with(b"HTTP/1.1 200"));
            tokio::time::sleep(Duration::from_secs(70)).await;
        }
        let seconds = closed_after(&mut client).await;
        assert!((4..8).contains(&seconds), "{seconds}");
        served.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_lives_on() {
        let (mut client, served, connections) = connected(1024);
        client.write_all(b"GET /beats HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let begun = Instant::now();
        let mut buffer = [0; 1024];
        while begun.elapsed() < HOUR {
            assert!(client.read(&mut buffer).await.unwrap() > 0, "{:?}", begun.elapsed());
        }
        assert!(!connections.make_room(), "it is serving a request");
        drop(client);
        served.await.unwrap();
        assert_eq!(connections.open(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_given_up() {
        let (mut client, served, connections) = connected(1024);
        client.write_all(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let begun = Instant::now();
        served.await.unwrap();
        let seconds = begun.elapsed().as_secs();
        assert!((60..62).contains(&seconds), "{seconds}");
        assert_eq!(connections.open(), 0);
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn http_2_has_the_same_limits() {
        for requests in [0_u32, 1] {
            let (client, served, _) = connected(65536);
            let (mut send, connection) = h2::client::handshake(client).await.unwrap();
            let begun = Instant::now();
            let ended = TaskTracker::new().spawn(async move {
                // It answers pings until the server ends the connection.
                let _ = connection.await;
            });
            for _ in 0..requests {
                let request = http::Request::builder().method(Method::GET).uri("http://x/");
                let (answer, _) = send.send_request(request.body(()).unwrap(), true).unwrap();
                assert_eq!(answer.await.unwrap().status(), 200);
            }
            timeout(HOUR, ended).await.unwrap().unwrap();
            let seconds = begun.elapsed().as_secs();
            let expected = if requests == 0 { 10..12 } else { 75..77 };
            assert!(expected.contains(&seconds), "{requests}: {seconds}");
            served.await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_http_2_stream_lives_on() {
        let (client, _served, _) = connected(65536);
        let (mut send, connection) = h2::client::handshake(client).await.unwrap();
        let connection = TaskTracker::new().spawn(connection);
        let request = http::Request::builder().uri("http://x/beats").body(()).unwrap();
        let (answer, _) = send.send_request(request, true).unwrap();
        let mut body = answer.await.unwrap().into_body();
        let begun = Instant::now();
        while begun.elapsed() < HOUR {
            let piece = body.data().await.unwrap().unwrap();
            body.flow_control().release_capacity(piece.len()).unwrap();
        }
        connection.abort();
    }
}
