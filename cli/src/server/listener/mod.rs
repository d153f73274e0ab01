//! Accepts client connections up to a maximum, and drains them at shutdown.

mod closing;

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use futures_util::FutureExt;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1::{self, Parts},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;

use self::closing::ClosingConnection;
use super::{
    connection::{ConnectionPermit, MAX_HEAD_BYTES, TCP_KEEPALIVE_INTERVAL, UnreadBody},
    log_throttle::LogThrottle,
    metrics::ServerMetrics,
    response::ServerResponse,
    shutdown_requested,
};

/// The maximum if the limit of open files allows more.
const MAX_CONNECTIONS: usize = 20_000;

/// File descriptors for the store, the rules file and the admin address.
const RESERVED_FILES: u64 = 64;

/// The pause after a failed accept, which fails when memory or file descriptors are exhausted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

pub(crate) struct Listener {
    permits: Arc<Semaphore>,
    max_connections: usize,
    client_timeout: Duration,
    drain: Drain,
    metrics: ServerMetrics,
    full: LogThrottle,
}

/// How long requests in flight may take after `shutdown`.
#[derive(Clone, Copy)]
pub(crate) struct Drain {
    pub(crate) timeout: Duration,
    /// The option that sets it.
    pub(crate) option: &'static str,
}

impl Drain {
    pub(crate) fn warn_elapsed(self) {
        tracing::warn!(
            target: "tollgate::server",
            timeout = ?self.timeout,
            option = self.option,
            "drain timeout elapsed: closing connections with requests in flight; the option sets the timeout"
        );
    }
}

impl Listener {
    pub(crate) fn new(client_timeout: Duration, drain: Drain, metrics: ServerMetrics) -> Self {
        // Each client of the gateway may need an upstream connection.
        let max = raise_file_limit().saturating_sub(RESERVED_FILES) / 2;
        let max_connections = usize::try_from(max).map_or(MAX_CONNECTIONS, |max| max.clamp(1, MAX_CONNECTIONS));
        Self {
            permits: Arc::new(Semaphore::new(max_connections)),
            max_connections,
            client_timeout,
            drain,
            metrics,
            full: LogThrottle::default(),
        }
    }

    /// Accepts connections until `shutdown`. Then it closes the listening socket and idle connections, and drains the others
    /// for at most the drain timeout.
    pub(crate) async fn serve<S, F>(self, listener: TcpListener, service: S, shutdown: watch::Receiver<bool>)
    where
        S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = ServerResponse> + Send + 'static,
    {
        tokio::select! {
            () = self.accept(&listener, &service, &shutdown) => {}
            () = shutdown_requested(shutdown.clone()) => {}
        }
        drop(listener);
        let max = u32::try_from(self.max_connections).expect("MAX_CONNECTIONS fits");
        let all_closed = self.permits.acquire_many(max);
        if timeout(self.drain.timeout, all_closed).await.is_err() {
            self.drain.warn_elapsed();
        }
    }

    async fn accept<S, F>(&self, listener: &TcpListener, service: &S, shutdown: &watch::Receiver<bool>)
    where
        S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = ServerResponse> + Send + 'static,
    {
        loop {
            let permit = self.acquire_permit().await;
            let (socket, peer) = accept_connection(listener).await;
            let permit = ConnectionPermit::new(permit, self.metrics.connection_opened());
            let (service, shutdown) = (service.clone(), shutdown.clone());
            tokio::spawn(serve_connection(
                socket,
                peer,
                permit,
                service,
                self.client_timeout,
                shutdown,
            ));
        }
    }

    /// Waits for a connection to close if the maximum is reached.
    async fn acquire_permit(&self) -> OwnedSemaphorePermit {
        let permits = Arc::clone(&self.permits);
        match Arc::clone(&permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let connections = self.max_connections;
                self.full.record(|times| {
                    tracing::warn!(
                        target: "tollgate::server",
                        connections,
                        times,
                        "connection limit reached: new clients wait until a connection closes"
                    );
                });
                permits.acquire_owned().await.expect("the semaphore is never closed")
            }
        }
    }
}

/// Serves a connection until it closes, or at shutdown until its response is sent.
async fn serve_connection<S, F>(
    socket: TcpStream,
    peer: SocketAddr,
    permit: ConnectionPermit,
    service: S,
    client_timeout: Duration,
    shutdown: watch::Receiver<bool>,
) where
    S: Fn(Request<Incoming>) -> F,
    F: Future<Output = ServerResponse>,
{
    let (request_permit, unread) = (permit.clone(), UnreadBody::default());
    let request_unread = unread.clone();
    let hyper_service = service_fn(move |mut request: Request<Incoming>| {
        request_unread.start(request.body());
        let extensions = request.extensions_mut();
        extensions.insert(peer);
        extensions.insert(request_permit.clone());
        extensions.insert(request_unread.clone());
        service(request).map(Ok::<_, Infallible>)
    });
    let mut socket = TimeoutStream::new(socket);
    socket.set_write_timeout(Some(client_timeout));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(client_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(socket)), hyper_service)
        .with_upgrades();
    let result = tokio::select! {
        result = &mut connection => result,
        () = shutdown_requested(shutdown) => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    if let Some(Parts { io, read_buf, .. }) = connection.into_parts() {
        let closing = ClosingConnection {
            socket: io.into_inner(),
            has_partial_head: !read_buf.is_empty(),
            has_unread_body: unread.is_unread(),
        };
        closing.close(result, peer, client_timeout).await;
    }
    drop(permit);
}

/// Raises the limit of open files to its maximum, which is returned.
pub(crate) fn raise_file_limit() -> u64 {
    rlimit::increase_nofile_limit(u64::MAX).unwrap_or(1024)
}

/// Accepts a connection. After a failure it waits, since accepting fails again at once while file descriptors are exhausted.
pub(crate) async fn accept_connection(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                set_socket_options(&socket);
                return (socket, peer);
            }
            Err(error) => {
                tracing::warn!(target: "tollgate::server", %error, "accepting a client connection failed; retrying");
                sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Disables Nagle's algorithm and enables keepalive probes.
fn set_socket_options(socket: &TcpStream) {
    socket.set_nodelay(true).ok();
    let keepalive = TcpKeepalive::new()
        .with_time(TCP_KEEPALIVE_INTERVAL)
        .with_interval(TCP_KEEPALIVE_INTERVAL);
    SockRef::from(socket).set_tcp_keepalive(&keepalive).ok();
}
