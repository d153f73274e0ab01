//! The shared Redis behind a proxy, and how each fault is injected and repaired.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpStream},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tollgate::{
    Micros,
    redis::{Connection, cmd},
};

use crate::{
    faults::Fault,
    limits::{Mode, USERS, key},
    support::random::Random,
    support::{
        proxy::{Direction, Proxy},
        redis::{RedisServer, keys, query},
    },
};

/// The latency of a slow Redis, as in the fault's name: longer than the deadline.
const SLOW_DELAY: Duration = Duration::from_millis(200);

/// How often an instantaneous fault is repeated.
const REPEAT_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct FaultInjector {
    server: RedisServer,
    proxy: Proxy,
    pub(crate) state_losses: Vec<StateLoss>,
}

/// A fault that erased counts in Redis, so that their windows start over.
pub(crate) struct StateLoss {
    /// The user whose count was lost; `None` for all users.
    pub(crate) of: Option<(Mode, usize)>,
    /// The earliest and the latest possible time.
    pub(crate) between: (Micros, Micros),
}

impl FaultInjector {
    pub(crate) fn start() -> Self {
        let server = RedisServer::start();
        let proxy = Proxy::to(server.port());
        Self {
            server,
            proxy,
            state_losses: Vec::new(),
        }
    }

    /// The address of the proxy, which the processes connect to.
    pub(crate) fn url(&self) -> String {
        self.proxy.url()
    }

    /// A function that pings Redis through the proxy on one connection, and reconnects after an error.
    pub(crate) fn pinger(&self) -> impl FnMut() + Send + 'static {
        let address = (Ipv4Addr::LOCALHOST, self.proxy.port());
        let mut connection: Option<TcpStream> = None;
        move || {
            connection = connection.take().or_else(|| TcpStream::connect(address).ok());
            connection.take_if(|connection| ping(connection).is_err());
        }
    }

    /// The number of connections to Redis, the pinger's included.
    pub(crate) fn connections(&self) -> usize {
        self.proxy.open_connections()
    }

    /// The number of keys, and the keys without a time-to-live.
    pub(crate) fn keys(&self) -> (usize, Vec<String>) {
        let redis = &mut self.server.client();
        let keys = keys(redis);
        let all = keys.len();
        let is_persistent = |key: &String| query::<i64>(redis, &format!("PTTL {key}")) == -1;
        (all, keys.into_iter().filter(is_persistent).collect())
    }

    /// Injects a fault, and returns as soon as it has been repaired.
    pub(crate) fn inject(&mut self, fault: Fault, duration: Duration, mut random: Random) {
        match fault {
            Fault::Killed => self.kill(duration),
            Fault::Frozen => {
                self.server.freeze();
                thread::sleep(duration);
                self.server.thaw();
            }
            Fault::Flushed => self.repeat_command("SCRIPT FLUSH", duration),
            Fault::ReadOnly => self.set_and_reset("REPLICAOF 127.0.0.1 1", duration, "REPLICAOF NO ONE"),
            Fault::OutOfMemory => self.set_and_reset("CONFIG SET maxmemory 1", duration, "CONFIG SET maxmemory 0"),
            Fault::Busy => self.keep_busy(duration),
            Fault::Slow => {
                self.proxy.delay(Direction::ToClient, SLOW_DELAY);
                thread::sleep(duration);
                self.proxy.heal();
            }
            Fault::Cut => {
                repeat(duration, || self.proxy.cut_after(1 + random.index(30)));
                self.proxy.heal();
            }
            Fault::Silent => {
                self.proxy.blackhole();
                thread::sleep(duration);
                self.proxy.heal();
            }
            Fault::Disconnected => self.repeat_command("CLIENT KILL TYPE normal", duration),
            Fault::Garbage => {
                let mut redis = self.server.client();
                repeat(duration, || self.write_garbage(&mut redis, &mut random));
            }
            Fault::Forbidden => {
                self.set_and_reset("ACL SETUSER default -evalsha", duration, "ACL SETUSER default +evalsha");
            }
        }
    }

    fn set_and_reset(&self, set: &str, duration: Duration, reset: &str) {
        let redis = &mut self.server.client();
        query::<()>(redis, set);
        thread::sleep(duration);
        query::<()>(redis, reset);
    }

    fn repeat_command(&self, command: &str, duration: Duration) {
        let redis = &mut self.server.client();
        repeat(duration, || query::<()>(redis, command));
    }

    fn kill(&mut self, duration: Duration) {
        let before = now();
        self.server.kill();
        let between = (before, now());
        self.state_losses.push(StateLoss { of: None, between });
        thread::sleep(duration);
        self.server.restart();
    }

    fn keep_busy(&self, duration: Duration) {
        let redis = &mut self.server.client();
        query::<()>(redis, "CONFIG SET busy-reply-threshold 50");
        let mut other = self.server.client();
        let busy = thread::spawn(move || cmd("EVAL").arg("while true do end").arg(0).query::<()>(&mut other));
        thread::sleep(duration);
        while cmd("SCRIPT").arg("KILL").query::<()>(redis).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
        busy.join()
            .expect("the thread did not panic")
            .expect_err("the script was killed");
    }

    /// Overwrites a random limit's key with a value that is no state.
    fn write_garbage(&mut self, redis: &mut Connection, random: &mut Random) {
        let of = (Mode::ALL[random.index(Mode::ALL.len())], random.index(USERS));
        let key = key(of.0, of.1);
        let before = now();
        match random.index(3) {
            0 => query::<()>(redis, &format!("SET {key} garbage")),
            1 => query::<()>(redis, &format!("SET {key} 20")),
            // RPUSH fails on a key of another type; RENAME replaces any.
            _ => {
                query::<()>(redis, "RPUSH planted garbage");
                query::<()>(redis, &format!("RENAME planted {key}"));
            }
        }
        let between = (before, now());
        let of = Some(of);
        self.state_losses.push(StateLoss { of, between });
    }
}

fn ping(connection: &mut TcpStream) -> io::Result<()> {
    // A black-holed connection never recovers, so it has to fail.
    connection.set_read_timeout(Some(Duration::from_secs(1)))?;
    connection.write_all(b"PING\r\n")?;
    connection.read_exact(&mut [0; b"+PONG\r\n".len()])
}

/// Calls `act` at intervals, the last time at the end of `duration`.
fn repeat(duration: Duration, mut act: impl FnMut()) {
    let end = Instant::now() + duration;
    while Instant::now() < end {
        thread::sleep(REPEAT_INTERVAL);
        act();
    }
}

/// The time by the clock that Redis uses.
fn now() -> Micros {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_micros() as Micros
}
