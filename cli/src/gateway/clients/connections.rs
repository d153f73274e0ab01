//! Clients' connections: as many as there is room for, each bounded in what it holds and in how long it may do nothing.

use std::{future, net::SocketAddr, sync::Arc, time::Duration};

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

use super::leaving::Leaving;
use crate::gateway::{
    bounds::{MOST_OF_A_HEAD, PULSE, Timeouts},
    guest::{Room, Unread},
    measures::Measures,
    seldom::Seldom,
    stack::Stack,
};

/// The most connections, where the system would let us have more.
const MOST_CONNECTIONS: usize = 20_000;

/// What the gateway opens beside its clients and the service: the store, the rules, the admin address.
const OTHER_FILES: u64 = 64;

pub(crate) struct Connections {
    room: Arc<Semaphore>,
    most: usize,
    timeouts: Timeouts,
    measures: Measures,
    full: Seldom,
}

impl Connections {
    pub(crate) fn new(timeouts: Timeouts, measures: Measures) -> Self {
        // Each client may need a connection to the service.
        let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(1024);
        let most = files.saturating_sub(OTHER_FILES) / 2;
        let most = usize::try_from(most).map_or(MOST_CONNECTIONS, |most| most.clamp(1, MOST_CONNECTIONS));
        Self {
            room: Arc::new(Semaphore::new(most)),
            most,
            timeouts,
            measures,
            full: Seldom::default(),
        }
    }

    /// Takes clients until it is told to end. Then it takes no more, lets those who are served be served, though not for
    /// longer than the service may take, and closes the rest.
    pub(crate) async fn serve(self, listener: TcpListener, stack: Stack, ending: watch::Receiver<bool>) {
        tokio::select! {
            () = self.accept(&listener, &stack, &ending) => {}
            () = told(ending.clone()) => {}
        }
        drop(listener);
        let most = u32::try_from(self.most).expect("thousands");
        let all_gone = self.room.acquire_many(most);
        if timeout(self.timeouts.upstream, all_gone).await.is_err() {
            tracing::warn!("some are still served, and are cut off");
        }
    }

    async fn accept(&self, listener: &TcpListener, stack: &Stack, ending: &watch::Receiver<bool>) {
        loop {
            let place = self.find_place().await;
            match listener.accept().await {
                Ok((socket, peer)) => {
                    let room = Room::new(place, self.measures.connection());
                    tokio::spawn(serve(socket, peer, room, stack.clone(), self.timeouts, ending.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a client cannot be taken");
                    // What is short now, memory or files, may be there a little later.
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Waits until somebody leaves, if there are too many.
    async fn find_place(&self) -> OwnedSemaphorePermit {
        let room = Arc::clone(&self.room);
        match Arc::clone(&room).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                let connections = self.most;
                self.full.tell(|times| {
                    tracing::warn!(
                        connections,
                        times,
                        "there is no room: who comes waits until somebody leaves"
                    );
                });
                room.acquire_owned().await.expect("it is never closed")
            }
        }
    }
}

/// Serves a client until it leaves, or until it is time to end and it has been answered.
async fn serve(
    socket: TcpStream,
    peer: SocketAddr,
    room: Room,
    stack: Stack,
    timeouts: Timeouts,
    ending: watch::Receiver<bool>,
) {
    let (guest, unread) = (room.clone(), Unread::default());
    let sent = unread.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        sent.begins(request.body());
        let extensions = request.extensions_mut();
        extensions.insert(peer);
        extensions.insert(guest.clone());
        extensions.insert(sent.clone());
        stack.clone().answer(request)
    });
    prepare(&socket);
    let mut socket = TimeoutStream::new(socket);
    socket.set_write_timeout(Some(timeouts.client));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.client)
        .max_buf_size(MOST_OF_A_HEAD)
        .serve_connection(TokioIo::new(Box::pin(socket)), service)
        .with_upgrades();
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = told(ending) => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    if let Some(Parts { io, read_buf, .. }) = connection.into_parts() {
        let leaving = Leaving {
            socket: io.into_inner(),
            began_a_head: !read_buf.is_empty(),
            is_sending: unread.is_left(),
        };
        leaving.leave(ended, peer, timeouts.client).await;
    }
    drop(room);
}

/// Small answers are not held back to go with others, and whoever is gone without a word is found out.
fn prepare(socket: &TcpStream) {
    socket.set_nodelay(true).ok();
    let keepalive = TcpKeepalive::new().with_time(PULSE).with_interval(PULSE);
    SockRef::from(socket).set_tcp_keepalive(&keepalive).ok();
}

/// Returns when it is time to end.
async fn told(mut ending: watch::Receiver<bool>) {
    if ending.wait_for(|ending| *ending).await.is_err() {
        future::pending().await
    }
}
