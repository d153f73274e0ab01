//! A TCP proxy with latency, and with a bound on the bytes per second that all connections share.
//!
//! Latency and bound apply to what clients send. Threads forward the bytes, since the timers of tokio have a resolution of a
//! millisecond.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use crate::server::RedisServer;

const BUFFER_SIZE: usize = 16 * 1024;

#[derive(Clone, Copy)]
pub struct SlowNetwork {
    pub latency: Duration,
    pub bytes_per_second: Option<u64>,
}

impl SlowNetwork {
    /// The address of a proxy to this server, which runs until the process ends.
    pub fn url_to(self, server: &RedisServer) -> String {
        let server = SocketAddr::from(([127, 0, 0, 1], server.port()));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a bound listener").port();
        let idle_at = Arc::new(Mutex::new(Instant::now()));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                let idle_at = Arc::clone(&idle_at);
                forward(&client, &server, move |bytes| self.arrival(&idle_at, bytes));
                forward(&server, &client, |_| Instant::now());
            }
        });
        format!("redis://127.0.0.1:{port}")
    }

    /// When bytes that are sent now arrive.
    fn arrival(&self, idle_at: &Mutex<Instant>, bytes: usize) -> Instant {
        let mut idle_at = idle_at.lock().expect("no thread panics");
        let start = Instant::now().max(*idle_at);
        let time = |rate: u64| Duration::from_nanos(bytes as u64 * 1_000_000_000 / rate);
        *idle_at = start + self.bytes_per_second.map_or(Duration::ZERO, time);
        *idle_at + self.latency
    }
}

/// Forwards bytes at their time of arrival, until one side closes its connection.
fn forward(from: &TcpStream, to: &TcpStream, arrival: impl Fn(usize) -> Instant + Send + 'static) {
    to.set_nodelay(true).expect("an open socket");
    let [mut from, mut to] = [from, to].map(|stream| stream.try_clone().expect("an open socket"));
    let (sender, sent) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        for (arrival, bytes) in sent {
            thread::sleep(arrival.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        to.shutdown(Shutdown::Both).ok();
    });
    thread::spawn(move || {
        let mut buffer = vec![0; BUFFER_SIZE];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender.send((arrival(length), buffer[..length].to_vec())).is_err() {
                break;
            }
        }
    });
}
