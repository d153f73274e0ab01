//! A TCP proxy that injects network faults: latency, stalls, lost packets, closed connections.
//!
//! It runs on separate threads, so that it works while a test's clock is stopped or a test blocks. Faults apply to existing and
//! to new connections.

mod faults;
mod link;

use std::{
    net::{Shutdown, TcpListener},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

pub use faults::Direction;
use faults::Faults;
use link::Link;
use socket2::SockRef;

use super::port::Port;

/// The backlog of the listening socket.
const BACKLOG: i32 = 128;

pub struct Proxy {
    /// Keeps the port reserved.
    _port: Port,
    listener: Arc<TcpListener>,
    server: u16,
    faults: Arc<Faults>,
    acceptor: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Proxies to a port of 127.0.0.1. Each client connection opens a connection to the server, which may be down.
    pub fn to(server: u16) -> Self {
        let port = Port::free();
        let mut proxy = Self {
            listener: Arc::new(TcpListener::bind(("127.0.0.1", port.number())).unwrap()),
            _port: port,
            server,
            faults: Arc::default(),
            acceptor: None,
        };
        proxy.accept();
        proxy
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port())
    }

    /// Removes all faults and accepts new connections. Stalled bytes are delivered. Connections that have lost bytes stay
    /// blackholed, as if a firewall had dropped their state.
    pub fn heal(&mut self) {
        self.faults.with(|state| {
            state.delays = [Duration::ZERO; 2];
            (state.stalls, state.blackholes, state.cut_after) = (false, false, None);
        });
        self.accept();
    }

    /// Adds latency in one direction, without limiting the bandwidth.
    pub fn delay(&self, direction: Direction, by: Duration) {
        self.faults.with(|state| state.delays[direction as usize] = by);
    }

    /// Delays all bytes and closes until [`Self::heal`], like a network that is down for a while.
    pub fn stall(&self) {
        self.faults.with(|state| state.stalls = true);
    }

    /// Drops all bytes and closes in both directions, on existing and new connections. New connections are accepted.
    pub fn blackhole(&self) {
        self.faults.with(|state| {
            state.blackholes = true;
            state.links.iter().for_each(|link| link.blackhole());
        });
    }

    /// Closes every connection.
    pub fn cut(&self) {
        self.faults
            .with(|state| state.links.drain(..).for_each(|link| link.cut()));
    }

    /// Closes the connection of the next reply after this many bytes of it.
    pub fn cut_after(&self, bytes: usize) {
        self.faults.with(|state| state.cut_after = Some(bytes));
    }

    /// Rejects new connections and keeps existing ones.
    pub fn stop_accepting(&mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            // Closing is not enough: a process that another test is starting holds a copy of the socket until its exec.
            SockRef::from(&*self.listener).shutdown(Shutdown::Both).unwrap();
            acceptor.join().unwrap();
        }
    }

    /// The number of connections that clients have open.
    pub fn open_connections(&self) -> usize {
        self.faults
            .with(|state| state.links.iter().filter(|link| link.is_open()).count())
    }

    /// The number of connections accepted so far.
    pub fn total_connections(&self) -> usize {
        self.faults.with(|state| state.total_connections)
    }

    fn accept(&mut self) {
        if self.acceptor.is_some() {
            return;
        }
        SockRef::from(&*self.listener).listen(BACKLOG).unwrap();
        let (listener, faults, server) = (Arc::clone(&self.listener), Arc::clone(&self.faults), self.server);
        self.acceptor = Some(thread::spawn(move || {
            // An error means that the listener was shut down.
            while let Ok((client, _)) = listener.accept() {
                Link::make(client, server, &faults);
            }
        }));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop_accepting();
        self.cut();
        let threads = self.faults.with(|state| std::mem::take(&mut state.threads));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
