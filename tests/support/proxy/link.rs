//! One connection through the proxy: a reader and a writer for each way.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::Instant,
};

use super::switches::{Switches, Way};

pub(super) struct Link {
    client: TcpStream,
    server: TcpStream,
    is_silent: AtomicBool,
    is_cut: AtomicBool,
    client_left: AtomicBool,
}

impl Link {
    /// Connects to the server too. If that refuses, the client is let go of.
    pub(super) fn make(client: TcpStream, server: u16, switches: &Arc<Switches>) {
        let server = TcpStream::connect(("127.0.0.1", server));
        switches.set(|set| {
            set.made += 1;
            let Ok(server) = server else { return };
            for end in [&client, &server] {
                end.set_nodelay(true).unwrap();
            }
            let link = Arc::new(Self {
                client,
                server,
                is_silent: set.drops.into(),
                is_cut: false.into(),
                client_left: false.into(),
            });
            for way in [Way::ToServer, Way::ToClient] {
                let (arrivals, departures) = mpsc::channel();
                let (reader, writer) = (Arc::clone(&link), Arc::clone(&link));
                let switches = Arc::clone(switches);
                set.threads.push(thread::spawn(move || reader.read(way, &arrivals)));
                set.threads
                    .push(thread::spawn(move || writer.write(way, departures, &switches)));
            }
            set.links.push(link);
        });
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client_left.load(SeqCst) && !self.is_cut.load(SeqCst)
    }

    pub(super) fn is_dead(&self) -> bool {
        self.is_cut.load(SeqCst) || self.is_silent.load(SeqCst)
    }

    pub(super) fn fall_silent(&self) {
        self.is_silent.store(true, SeqCst);
    }

    pub(super) fn cut(&self) {
        self.is_cut.store(true, SeqCst);
        for end in [&self.client, &self.server] {
            // Whoever has left already cannot be told.
            end.shutdown(Shutdown::Both).ok();
        }
    }

    fn ends(&self, way: Way) -> (&TcpStream, &TcpStream) {
        match way {
            Way::ToServer => (&self.client, &self.server),
            Way::ToClient => (&self.server, &self.client),
        }
    }

    fn read(&self, way: Way, arrivals: &mpsc::Sender<(Instant, Vec<u8>)>) {
        let (mut from, _) = self.ends(way);
        let mut buffer = [0; 16_384];
        loop {
            // A connection that was reset has ended too. The end comes as no bytes.
            let read = from.read(&mut buffer).unwrap_or(0);
            if read == 0 && way == Way::ToServer {
                self.client_left.store(true, SeqCst);
            }
            let sent = arrivals.send((Instant::now(), buffer[..read].to_vec()));
            if read == 0 || sent.is_err() {
                return;
            }
        }
    }

    fn write(&self, way: Way, departures: mpsc::Receiver<(Instant, Vec<u8>)>, switches: &Switches) {
        let (_, mut to) = self.ends(way);
        let mut cut_after = None;
        for (arrived, bytes) in departures {
            if !switches.let_through(self, way, arrived) {
                continue;
            }
            // The end of a connection is no reply.
            if way == Way::ToClient && !bytes.is_empty() {
                cut_after = cut_after.or_else(|| switches.set(|set| set.cut_after.take()));
            }
            let length = cut_after.map_or(bytes.len(), |left| bytes.len().min(left));
            let written = to.write_all(&bytes[..length]);
            cut_after = cut_after.map(|left| left - length);
            match way {
                _ if cut_after == Some(0) || written.is_err() => self.cut(),
                // The server may still have something to say.
                Way::ToServer if bytes.is_empty() => self.server.shutdown(Shutdown::Write).unwrap_or(()),
                Way::ToClient if bytes.is_empty() => self.cut(),
                _ => {}
            }
        }
        // What is cut takes no more room, and who waits for the other way learns of it.
        switches.set(|set| set.links.retain(|link| !link.is_cut.load(SeqCst)));
    }
}
