//! The Redis that is shared, the way to it, and how each of them is broken and mended.

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
        proxy::{Proxy, Way},
        redis::{RedisServer, ask, keys},
    },
};

/// How far away a Redis is that is slow, as the fault's name says: farther than the deadline.
const FAR: Duration = Duration::from_millis(200);

/// How often to do what is over as soon as it is done.
const AGAIN: Duration = Duration::from_millis(100);

pub(crate) struct Rig {
    server: RedisServer,
    proxy: Proxy,
    /// What Redis was made to forget.
    pub(crate) forgotten: Vec<Forgotten>,
}

/// Redis forgot what it had counted, so what it admits starts over.
pub(crate) struct Forgotten {
    /// For whom. Nobody in particular is everybody.
    pub(crate) of: Option<(Mode, usize)>,
    /// Not before the first, and not after the second.
    pub(crate) between: (Micros, Micros),
}

impl Rig {
    pub(crate) fn start() -> Self {
        let server = RedisServer::start();
        let proxy = Proxy::to(server.port());
        let forgotten = Vec::new();
        Self {
            server,
            proxy,
            forgotten,
        }
    }

    /// Where the processes find it.
    pub(crate) fn url(&self) -> String {
        self.proxy.url()
    }

    /// Asks Redis for nothing but an answer, by the way that the processes take and on one connection, or connects anew.
    pub(crate) fn pulse(&self) -> impl FnMut() + Send + 'static {
        let to = (Ipv4Addr::LOCALHOST, self.proxy.port());
        let mut line: Option<TcpStream> = None;
        move || {
            line = line.take().or_else(|| TcpStream::connect(to).ok());
            line.take_if(|line| ping(line).is_err());
        }
    }

    /// How many connections the processes have to it, and the pulse.
    pub(crate) fn connections(&self) -> usize {
        self.proxy.open()
    }

    /// How many keys there are, and those that would stay for good.
    pub(crate) fn keys(&self) -> (usize, Vec<String>) {
        let redis = &mut self.server.client();
        let keys = keys(redis);
        let all = keys.len();
        let endless = |key: &String| ask::<i64>(redis, &format!("PTTL {key}")) == -1;
        (all, keys.into_iter().filter(endless).collect())
    }

    /// Breaks it for so long. When this returns, it has just been mended.
    pub(crate) fn inflict(&mut self, fault: Fault, lasting: Duration, mut random: Random) {
        match fault {
            Fault::Killed => self.kill(lasting),
            Fault::Frozen => {
                self.server.freeze();
                thread::sleep(lasting);
                self.server.thaw();
            }
            Fault::Flushed => self.command_again("SCRIPT FLUSH", lasting),
            Fault::ReadOnly => self.command_between("REPLICAOF 127.0.0.1 1", lasting, "REPLICAOF NO ONE"),
            Fault::OutOfMemory => self.command_between("CONFIG SET maxmemory 1", lasting, "CONFIG SET maxmemory 0"),
            Fault::Busy => self.keep_busy(lasting),
            Fault::Slow => {
                self.proxy.delay(Way::ToClient, FAR);
                thread::sleep(lasting);
                self.proxy.pass();
            }
            Fault::Cut => {
                again(lasting, || self.proxy.cut_after(1 + random.one_of(30)));
                self.proxy.pass();
            }
            Fault::Silent => {
                self.proxy.drop_bytes();
                thread::sleep(lasting);
                self.proxy.pass();
            }
            Fault::Disconnected => self.command_again("CLIENT KILL TYPE normal", lasting),
            Fault::Garbage => {
                let mut redis = self.server.client();
                again(lasting, || self.plant(&mut redis, &mut random));
            }
            Fault::Forbidden => {
                self.command_between("ACL SETUSER default -evalsha", lasting, "ACL SETUSER default +evalsha");
            }
        }
    }

    fn command_between(&self, breaks: &str, lasting: Duration, mends: &str) {
        let redis = &mut self.server.client();
        ask::<()>(redis, breaks);
        thread::sleep(lasting);
        ask::<()>(redis, mends);
    }

    fn command_again(&self, breaks: &str, lasting: Duration) {
        let redis = &mut self.server.client();
        again(lasting, || ask::<()>(redis, breaks));
    }

    fn kill(&mut self, lasting: Duration) {
        let before = now();
        self.server.kill();
        let between = (before, now());
        self.forgotten.push(Forgotten { of: None, between });
        thread::sleep(lasting);
        self.server.restart();
    }

    fn keep_busy(&self, lasting: Duration) {
        let redis = &mut self.server.client();
        ask::<()>(redis, "CONFIG SET busy-reply-threshold 50");
        let mut other = self.server.client();
        // It ends by being killed, which is an error.
        let busy = thread::spawn(move || cmd("EVAL").arg("while true do end").arg(0).query::<()>(&mut other));
        thread::sleep(lasting);
        while cmd("SCRIPT").arg("KILL").query::<()>(redis).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
        busy.join().expect("a script that was killed").unwrap_err();
    }

    /// Puts what no limit has written under a key of one.
    fn plant(&mut self, redis: &mut Connection, random: &mut Random) {
        let of = (Mode::ALL[random.one_of(Mode::ALL.len())], random.one_of(USERS));
        let key = key(of.0, of.1);
        let before = now();
        match random.one_of(3) {
            0 => ask::<()>(redis, &format!("SET {key} garbage")),
            1 => ask::<()>(redis, &format!("SET {key} 20")),
            // Nothing can be pushed to what is something else, but anything can be replaced.
            _ => {
                ask::<()>(redis, "RPUSH planted garbage");
                ask::<()>(redis, &format!("RENAME planted {key}"));
            }
        }
        let between = (before, now());
        let of = Some(of);
        self.forgotten.push(Forgotten { of, between });
    }
}

fn ping(line: &mut TcpStream) -> io::Result<()> {
    // A line that has fallen silent stays so.
    line.set_read_timeout(Some(Duration::from_secs(1)))?;
    line.write_all(b"PING\r\n")?;
    line.read_exact(&mut [0; b"+PONG\r\n".len()])
}

/// Does it again and again for so long, the last time when it is over.
fn again(lasting: Duration, mut act: impl FnMut()) {
    let end = Instant::now() + lasting;
    while Instant::now() < end {
        thread::sleep(AGAIN);
        act();
    }
}

/// By the clock that Redis goes by.
fn now() -> Micros {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_micros() as Micros
}
