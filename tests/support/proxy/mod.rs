//! A way to a server that can be slow, silent or broken.
//!
//! It runs on threads of its own, so that it goes on while a test's clock stands still or a test blocks. All of its
//! switches act on the connections there are, and on those to come.

mod link;
mod switches;

use std::{
    net::{Shutdown, TcpListener},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use link::Link;
use socket2::SockRef;
use switches::Switches;
pub use switches::Way;

use super::port::Port;

/// How many may wait to be accepted.
const BACKLOG: i32 = 128;

pub struct Proxy {
    /// It was the first to be bound there, and nobody else gets the port while this is held.
    _port: Port,
    listener: Arc<TcpListener>,
    server: u16,
    switches: Arc<Switches>,
    acceptor: Option<JoinHandle<()>>,
}

impl Proxy {
    /// To a port of 127.0.0.1. Whether somebody listens there is asked anew for every connection.
    pub fn to(server: u16) -> Self {
        let port = Port::free();
        let mut proxy = Self {
            listener: Arc::new(TcpListener::bind(("127.0.0.1", port.number())).unwrap()),
            _port: port,
            server,
            switches: Arc::default(),
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

    /// Back to normal: nothing is late, held or dropped, nothing is about to be cut, and new connections are accepted.
    /// What was held arrives. Connections that have lost bytes stay silent, as they would if a firewall forgot them.
    pub fn pass(&mut self) {
        self.switches.set(|set| {
            set.delays = [Duration::ZERO; 2];
            (set.holds, set.drops, set.cut_after) = (false, false, None);
        });
        self.accept();
    }

    /// Everything that goes this way arrives so much later. As on a long line, it does not queue up.
    pub fn delay(&self, way: Way, by: Duration) {
        self.switches.set(|set| set.delays[way as usize] = by);
    }

    /// Holds everything back, and the end of connections too, as a network that is down for a while.
    pub fn hold(&self) {
        self.switches.set(|set| set.holds = true);
    }

    /// Nothing arrives any more at either end, and neither end learns that the other one is gone. New connections are
    /// accepted, and are as silent.
    pub fn drop_bytes(&self) {
        self.switches.set(|set| {
            set.drops = true;
            set.links.iter().for_each(|link| link.fall_silent());
        });
    }

    /// Closes every connection now.
    pub fn cut(&self) {
        self.switches.set(|set| set.links.drain(..).for_each(|link| link.cut()));
    }

    /// Closes the connection that is replied to next, after this many bytes of the reply.
    pub fn cut_after(&self, bytes: usize) {
        self.switches.set(|set| set.cut_after = Some(bytes));
    }

    /// Refuses new connections, and lets those be that there are.
    pub fn refuse(&mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            // To close it would not do: whatever process another test is just starting holds a copy until it runs.
            SockRef::from(&*self.listener).shutdown(Shutdown::Both).unwrap();
            acceptor.join().unwrap();
        }
    }

    /// How many connections its clients have open.
    pub fn open(&self) -> usize {
        self.switches
            .set(|set| set.links.iter().filter(|link| link.is_open()).count())
    }

    /// How many connections were made so far.
    pub fn made(&self) -> usize {
        self.switches.set(|set| set.made)
    }

    fn accept(&mut self) {
        if self.acceptor.is_some() {
            return;
        }
        SockRef::from(&*self.listener).listen(BACKLOG).unwrap();
        let (listener, switches, server) = (Arc::clone(&self.listener), Arc::clone(&self.switches), self.server);
        self.acceptor = Some(thread::spawn(move || {
            // An error is that it has been shut down.
            while let Ok((client, _)) = listener.accept() {
                Link::make(client, server, &switches);
            }
        }));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.refuse();
        self.cut();
        let threads = self.switches.set(|set| std::mem::take(&mut set.threads));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
