//! One proxied connection: a reader and a writer thread per direction.

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

use super::faults::{Direction, Faults};

pub(super) struct Link {
    client: TcpStream,
    server: TcpStream,
    is_blackholed: AtomicBool,
    is_cut: AtomicBool,
    client_closed: AtomicBool,
}

impl Link {
    /// Connects to the server. If that fails, the client's connection is closed.
    pub(super) fn make(client: TcpStream, server: u16, faults: &Arc<Faults>) {
        let server = TcpStream::connect(("127.0.0.1", server));
        faults.with(|state| {
            state.total_connections += 1;
            let Ok(server) = server else { return };
            for end in [&client, &server] {
                end.set_nodelay(true).unwrap();
            }
            let link = Arc::new(Self {
                client,
                server,
                is_blackholed: state.blackholes.into(),
                is_cut: false.into(),
                client_closed: false.into(),
            });
            for direction in [Direction::ToServer, Direction::ToClient] {
                let (arrivals, departures) = mpsc::channel();
                let (reader, writer) = (Arc::clone(&link), Arc::clone(&link));
                let faults = Arc::clone(faults);
                state
                    .threads
                    .push(thread::spawn(move || reader.read(direction, &arrivals)));
                state
                    .threads
                    .push(thread::spawn(move || writer.write(direction, departures, &faults)));
            }
            state.links.push(link);
        });
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client_closed.load(SeqCst) && !self.is_cut.load(SeqCst)
    }

    pub(super) fn is_dead(&self) -> bool {
        self.is_cut.load(SeqCst) || self.is_blackholed.load(SeqCst)
    }

    pub(super) fn blackhole(&self) {
        self.is_blackholed.store(true, SeqCst);
    }

    pub(super) fn cut(&self) {
        self.is_cut.store(true, SeqCst);
        for end in [&self.client, &self.server] {
            // A socket that the peer has closed already returns an error.
            end.shutdown(Shutdown::Both).ok();
        }
    }

    fn ends(&self, direction: Direction) -> (&TcpStream, &TcpStream) {
        match direction {
            Direction::ToServer => (&self.client, &self.server),
            Direction::ToClient => (&self.server, &self.client),
        }
    }

    fn read(&self, direction: Direction, arrivals: &mpsc::Sender<(Instant, Vec<u8>)>) {
        let (mut from, _) = self.ends(direction);
        let mut buffer = [0; 16_384];
        loop {
            // A reset connection has ended too. An empty chunk marks the end.
            let read = from.read(&mut buffer).unwrap_or(0);
            if read == 0 && direction == Direction::ToServer {
                self.client_closed.store(true, SeqCst);
            }
            let sent = arrivals.send((Instant::now(), buffer[..read].to_vec()));
            if read == 0 || sent.is_err() {
                return;
            }
        }
    }

    fn write(&self, direction: Direction, departures: mpsc::Receiver<(Instant, Vec<u8>)>, faults: &Faults) {
        let (_, mut to) = self.ends(direction);
        let mut cut_after = None;
        for (arrived, bytes) in departures {
            if !faults.wait_to_forward(self, direction, arrived) {
                continue;
            }
            // The end of a connection is not a reply.
            if direction == Direction::ToClient && !bytes.is_empty() {
                cut_after = cut_after.or_else(|| faults.with(|state| state.cut_after.take()));
            }
            let length = cut_after.map_or(bytes.len(), |left| bytes.len().min(left));
            let written = to.write_all(&bytes[..length]);
            cut_after = cut_after.map(|left| left - length);
            match direction {
                _ if cut_after == Some(0) || written.is_err() => self.cut(),
                // The server may still reply on a half-closed connection.
                Direction::ToServer if bytes.is_empty() => self.server.shutdown(Shutdown::Write).unwrap_or(()),
                Direction::ToClient if bytes.is_empty() => self.cut(),
                _ => {}
            }
        }
        // Removes cut connections, and wakes the writer of the other direction.
        faults.with(|state| state.links.retain(|link| !link.is_cut.load(SeqCst)));
    }
}
