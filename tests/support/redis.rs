//! A real redis-server on a free port, which ends with its owner, however that ends.

use std::{
    pin::Pin,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
    time::Duration,
};

use tollgate::{
    Charges, Decision, Micros, Operation, RedisDecision, RedisStore, RedisStoreBuilder, Store,
    redis::{Client, Cmd, Connection, FromRedisValue, ToRedisArgs, cmd},
};

use super::{port::Port, process::Process};

/// What a server says when clients may come, and what a sentinel says.
const READY: [&str; 2] = ["Ready to accept connections", "Sentinel ID is"];

/// Of the stores that tests use: the machine may be busy, and hardly a test is about the deadline.
pub const DEADLINE: Duration = Duration::from_secs(30);

pub struct RedisServer {
    process: Option<Process>,
    is_frozen: AtomicBool,
    command: Vec<String>,
    /// Nobody else gets it while the server is down.
    port: Port,
}

impl RedisServer {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With settings as redis-server takes them on its command line; `{port}` in them is the server's port.
    pub fn start_with(settings: &[&str]) -> Self {
        Self::start_at(Port::free(), settings)
    }

    pub fn start_at(port: Port, settings: &[&str]) -> Self {
        let installed = Command::new("redis-server").arg("--version").output();
        assert!(
            installed.is_ok(),
            "no redis-server on the PATH: install it (Debian: apt-get install redis-server)"
        );
        Self::launch(&["redis-server"], port, settings)
    }

    pub(super) fn launch(program: &[&str], port: Port, settings: &[&str]) -> Self {
        let common = [
            "--port",
            "{port}",
            "--save",
            "",
            "--appendonly",
            "no",
            "--bind",
            "127.0.0.1",
        ];
        let words = program.iter().chain(&common).chain(settings);
        let number = port.number().to_string();
        let mut server = Self {
            port,
            command: words.map(|word| word.replace("{port}", &number)).collect(),
            process: None,
            is_frozen: AtomicBool::new(false),
        };
        server.restart();
        server
    }

    /// Ends it at once, and leaves it no time to say so. Whoever connects meanwhile is refused.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, at the same port with the same settings. It has forgotten everything.
    pub fn restart(&mut self) {
        self.kill();
        let process = Process::start(&self.command, &READY);
        forget_names(process.pid());
        self.process = Some(process);
        self.is_frozen.store(false, Ordering::Relaxed);
    }

    /// Stops it in the middle of whatever it does: its connections stay, and it answers nobody.
    pub fn freeze(&self) {
        self.running().freeze();
        self.is_frozen.store(true, Ordering::Relaxed);
    }

    /// Goes on where it was frozen.
    pub fn thaw(&self) {
        self.running().thaw();
        self.is_frozen.store(false, Ordering::Relaxed);
    }

    pub fn pid(&self) -> u32 {
        self.running().pid()
    }

    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    fn running(&self) -> &Process {
        self.process.as_ref().expect("the server was killed")
    }

    pub fn name(&self) -> &'static str {
        let is_valkey = self.command.iter().any(|word| word.ends_with("valkey-server"));
        if is_valkey { "valkey" } else { "redis" }
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port())
    }

    /// A store at this server.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().url(&self.url()).deadline(DEADLINE)
    }

    /// A plain client, to look at what the store left behind.
    pub fn client(&self) -> Connection {
        Client::open(self.url()).unwrap().get_connection().unwrap()
    }

    /// The answer to a command, or none from a server that was killed or frozen.
    pub fn answer<T: FromRedisValue>(&self, command: &str) -> Option<T> {
        // How long it takes does not tell: the machine may be busy.
        if !self.is_running() || self.is_frozen.load(Ordering::Relaxed) {
            return None;
        }
        let mut redis = Client::open(self.url()).unwrap().get_connection().ok()?;
        typed(command).query(&mut redis).ok()
    }

    /// Whether INFO contains this.
    pub fn tells(&self, section: &str, words: &str) -> bool {
        let info: Option<String> = self.answer(&format!("INFO {section}"));
        info.is_some_and(|info| info.contains(words))
    }
}

/// Whoever is killed leaves the names behind by which others could share a clock that was set, and whoever gets the same
/// process id then cannot start. Nobody shares it.
fn forget_names(pid: u32) {
    for name in ["faketime_shm", "sem.faketime_sem"] {
        // Most servers have no such clock.
        std::fs::remove_file(format!("/dev/shm/{name}_{pid}")).ok();
    }
}

/// What the store decides, which it can.
pub async fn acquire(store: &RedisStore, charges: impl Into<Charges>) -> Decision {
    store.apply(Operation::Acquire(charges.into())).await.unwrap()
}

/// Polls once, which begins it.
pub async fn begin(decision: &mut RedisDecision) {
    let begun = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *decision).poll(context).is_pending()));
    assert!(begun.await);
}

/// Sends a command as one would type it.
pub fn ask<T: FromRedisValue>(redis: &mut Connection, command: &str) -> T {
    typed(command).query(redis).unwrap()
}

fn typed(command: &str) -> Cmd {
    let mut words = command.split_whitespace();
    let mut typed = cmd(words.next().unwrap());
    typed.arg(words.collect::<Vec<_>>());
    typed
}

/// The state under a key as text, in the words of `State`'s Display: numbers that are separated by blanks.
pub fn stored(redis: &mut Connection, key: &str) -> Option<String> {
    stored_all(redis, &[key]).remove(0)
}

/// The same of several keys, which a cluster has in one slot: in one round trip.
pub fn stored_all(redis: &mut Connection, keys: &[impl ToRedisArgs]) -> Vec<Option<String>> {
    const READ: &str = "
        local states = {}
        for index, key in ipairs(KEYS) do
            local type = redis.call('TYPE', key).ok
            if type == 'none' then
                states[index] = false
            elseif type == 'list' then
                states[index] = redis.call('LRANGE', key, 0, -1)
            else
                local numbers = { cmsgpack.unpack(redis.call('GET', key)) }
                numbers[1] = -1 - numbers[1]
                states[index] = numbers
            end
        end
        return states";
    let mut read = cmd("EVAL");
    read.arg(READ).arg(keys.len()).arg(keys);
    let states: Vec<Option<Vec<u64>>> = read.query(redis).unwrap();
    let text = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    states.into_iter().map(|state| state.map(text)).collect()
}

/// Every key there is, in order.
pub fn keys(redis: &mut Connection) -> Vec<String> {
    let mut keys: Vec<String> = ask(redis, "KEYS *");
    keys.sort();
    keys
}

/// Everything there is: keys, values, and when they end.
pub fn everything(redis: &mut Connection) -> Vec<(String, Vec<u8>, i64)> {
    const READ: &str = "
        local keys = redis.call('KEYS', '*')
        table.sort(keys)
        for index, key in ipairs(keys) do
            keys[index] = { key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key) }
        end
        return keys";
    cmd("EVAL").arg(READ).arg(0).query(redis).unwrap()
}

/// A number that INFO tells, or 0 when it does not.
pub fn info(redis: &mut Connection, section: &str, field: &str) -> u64 {
    let info: String = ask(redis, &format!("INFO {section}"));
    let line = info.lines().find_map(|line| line.strip_prefix(field));
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    line.map_or(0, |rest| digits(rest).parse().unwrap())
}

/// Redis's own clock, in microseconds.
pub fn time(redis: &mut Connection) -> Micros {
    let (seconds, micros): (Micros, Micros) = ask(redis, "TIME");
    seconds * 1_000_000 + micros
}

/// How often a command has been run.
pub fn calls(redis: &mut Connection, command: &str) -> u64 {
    info(redis, "commandstats", &format!("cmdstat_{command}:calls="))
}
