//! A redis-server on a free port, killed on drop.

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

/// The log messages of a ready server and of a ready sentinel.
const READY: [&str; 2] = ["Ready to accept connections", "Sentinel ID is"];

/// The default deadline of stores in tests, generous because the machine may be busy.
pub const DEADLINE: Duration = Duration::from_secs(30);

pub struct RedisServer {
    process: Option<Process>,
    is_frozen: AtomicBool,
    command: Vec<String>,
    /// Stays reserved while the server is down.
    port: Port,
}

impl RedisServer {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with command-line settings; `{port}` in them is replaced by the server's port.
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
        let arguments = program.iter().chain(&common).chain(settings);
        let number = port.number().to_string();
        let mut server = Self {
            port,
            command: arguments.map(|argument| argument.replace("{port}", &number)).collect(),
            process: None,
            is_frozen: AtomicBool::new(false),
        };
        server.restart();
        server
    }

    /// Kills the server with SIGKILL. Its port then rejects connections.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Restarts the server with the same port and settings, and without data.
    pub fn restart(&mut self) {
        self.kill();
        let process = Process::start(&self.command, &READY);
        remove_faketime_files(process.pid());
        self.process = Some(process);
        self.is_frozen.store(false, Ordering::Relaxed);
    }

    /// Restarts the server with further command-line settings.
    pub fn restart_with(&mut self, settings: &[&str]) {
        self.command.extend(settings.iter().map(ToString::to_string));
        self.restart();
    }

    /// Stops the server with SIGSTOP: its connections stay open, and it does not respond.
    pub fn freeze(&self) {
        self.running().freeze();
        self.is_frozen.store(true, Ordering::Relaxed);
    }

    /// Continues the server with SIGCONT.
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
        let is_valkey = self.command.iter().any(|argument| argument.ends_with("valkey-server"));
        if is_valkey { "valkey" } else { "redis" }
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port())
    }

    /// A store on this server.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().url(&self.url()).deadline(DEADLINE)
    }

    /// A plain client, to inspect the keys of the store.
    pub fn client(&self) -> Connection {
        Client::open(self.url()).unwrap().get_connection().unwrap()
    }

    /// The reply to a command, or none from a server that was killed or frozen.
    pub fn try_query<T: FromRedisValue>(&self, command: &str) -> Option<T> {
        // A timeout would not distinguish a frozen server from a busy machine.
        if !self.is_running() || self.is_frozen.load(Ordering::Relaxed) {
            return None;
        }
        let mut redis = Client::open(self.url()).unwrap().get_connection().ok()?;
        parse(command).query(&mut redis).ok()
    }

    /// Whether a section of INFO contains this text.
    pub fn info_contains(&self, section: &str, text: &str) -> bool {
        let info: Option<String> = self.try_query(&format!("INFO {section}"));
        info.is_some_and(|info| info.contains(text))
    }
}

/// Removes the shared memory files of libfaketime. A killed process leaves them behind, and a later process with the same id
/// could not start.
fn remove_faketime_files(pid: u32) {
    for name in ["faketime_shm", "sem.faketime_sem"] {
        // Most servers run without libfaketime.
        std::fs::remove_file(format!("/dev/shm/{name}_{pid}")).ok();
    }
}

/// The store's decision; panics on a store error.
pub async fn acquire(store: &RedisStore, charges: impl Into<Charges>) -> Decision {
    store.apply(Operation::Acquire(charges.into())).await.unwrap()
}

/// Polls a decision once, which starts it.
pub async fn poll_once(decision: &mut RedisDecision) {
    let is_pending = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *decision).poll(context).is_pending()));
    assert!(is_pending.await);
}

/// Runs a command, given as it is typed in redis-cli.
pub fn query<T: FromRedisValue>(redis: &mut Connection, command: &str) -> T {
    parse(command).query(redis).unwrap()
}

fn parse(command: &str) -> Cmd {
    let mut arguments = command.split_whitespace();
    let mut parsed = cmd(arguments.next().unwrap());
    parsed.arg(arguments.collect::<Vec<_>>());
    parsed
}

/// The state under a key in the format of `State`'s Display: numbers separated by spaces.
pub fn stored(redis: &mut Connection, key: &str) -> Option<String> {
    stored_all(redis, &[key]).remove(0)
}

/// The states under several keys in one round trip. In a cluster, the keys have to be in one slot.
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
                -- A concurrency limit with many holders has their number, and an array.
                states[index] = tonumber(numbers[2]) and numbers or numbers[2]
            end
        end
        return states";
    let mut read = cmd("EVAL");
    read.arg(READ).arg(keys.len()).arg(keys);
    let states: Vec<Option<Vec<u64>>> = read.query(redis).unwrap();
    let text = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    states.into_iter().map(|state| state.map(text)).collect()
}

/// All keys, sorted.
pub fn keys(redis: &mut Connection) -> Vec<String> {
    let mut keys: Vec<String> = query(redis, "KEYS *");
    keys.sort();
    keys
}

/// All keys with their values and expiry times.
pub fn dump_all(redis: &mut Connection) -> Vec<(String, Vec<u8>, i64)> {
    const READ: &str = "
        local keys = redis.call('KEYS', '*')
        table.sort(keys)
        for index, key in ipairs(keys) do
            keys[index] = { key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key) }
        end
        return keys";
    cmd("EVAL").arg(READ).arg(0).query(redis).unwrap()
}

/// A number in a section of INFO, or 0 without such a field.
pub fn info(redis: &mut Connection, section: &str, field: &str) -> u64 {
    let info: String = query(redis, &format!("INFO {section}"));
    let line = info.lines().find_map(|line| line.strip_prefix(field));
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    line.map_or(0, |rest| digits(rest).parse().unwrap())
}

/// The server's clock, in microseconds.
pub fn time(redis: &mut Connection) -> Micros {
    let (seconds, micros): (Micros, Micros) = query(redis, "TIME");
    seconds * 1_000_000 + micros
}

/// How often a command was executed.
pub fn calls(redis: &mut Connection, command: &str) -> u64 {
    info(redis, "commandstats", &format!("cmdstat_{command}:calls="))
}
