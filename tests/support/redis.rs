//! A real redis-server on a free port, which ends with its owner, however that ends.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tollgate::{
    RedisStore, RedisStoreBuilder,
    redis::{Client, Connection, FromRedisValue, cmd},
};

/// Kills the server as soon as standard input closes: on drop, on a panic, and when the test process is killed.
const WATCHED: &str =
    r#""$@" </dev/null & server=$!; exec >&-; cat >/dev/null; kill -9 $server 2>/dev/null; wait $server"#;

pub struct RedisServer {
    watchdog: Child,
    port: u16,
}

impl RedisServer {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With settings as redis-server takes them on its command line; `{port}` in them is the server's port.
    pub fn start_with(settings: &[&str]) -> Self {
        let installed = Command::new("redis-server").arg("--version").output();
        assert!(
            installed.is_ok(),
            "no redis-server on the PATH: install it (Debian: apt-get install redis-server)"
        );
        loop {
            let port = free_port();
            // Another process can take the port before Redis does: then it is tried on another one.
            if let Some(watchdog) = launch(port, settings) {
                return Self { watchdog, port };
            }
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A store at this server. The machine may be busy, and hardly a test is about the deadline.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().url(&self.url()).deadline(Duration::from_secs(30))
    }

    /// A plain client, to look at what the store left behind.
    pub fn client(&self) -> Connection {
        Client::open(self.url()).unwrap().get_connection().unwrap()
    }
}

/// Sends a command as one would type it.
pub fn ask<T: FromRedisValue>(redis: &mut Connection, command: &str) -> T {
    let mut words = command.split_whitespace();
    let name = words.next().unwrap();
    cmd(name).arg(words.collect::<Vec<_>>()).query(redis).unwrap()
}

/// The state under a key as text, in the words of `State`'s Display: numbers that are separated by blanks.
pub fn stored(redis: &mut Connection, key: &str) -> Option<String> {
    const UNPACK: &str = "
        local numbers = { cmsgpack.unpack(redis.call('GET', KEYS[1])) }
        numbers[1] = -1 - numbers[1]
        return numbers";
    let numbers: Vec<u64> = match ask::<String>(redis, &format!("TYPE {key}")).as_str() {
        "none" => return None,
        "list" => ask(redis, &format!("LRANGE {key} 0 -1")),
        _ => cmd("EVAL").arg(UNPACK).arg(1).arg(key).query(redis).unwrap(),
    };
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    Some(numbers.join(" "))
}

/// Every key there is, in order.
pub fn keys(redis: &mut Connection) -> Vec<String> {
    let mut keys: Vec<String> = ask(redis, "KEYS *");
    keys.sort();
    keys
}

/// A number that INFO tells, or 0 when it does not.
pub fn info(redis: &mut Connection, section: &str, field: &str) -> u64 {
    let info: String = ask(redis, &format!("INFO {section}"));
    let line = info.lines().find_map(|line| line.strip_prefix(field));
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    line.map_or(0, |rest| digits(rest).parse().unwrap())
}

/// How often a command has been run.
pub fn calls(redis: &mut Connection, command: &str) -> u64 {
    info(redis, "commandstats", &format!("cmdstat_{command}:calls="))
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        self.watchdog.wait().ok();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn launch(port: u16, settings: &[&str]) -> Option<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", WATCHED, "sh", "redis-server", "--port", &port.to_string()]);
    command
        .args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"])
        .args(
            settings
                .iter()
                .map(|setting| setting.replace("{port}", &port.to_string())),
        );
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while log.read_line(&mut line).unwrap() > 0 {
        if line.contains("Ready to accept connections") {
            // Whoever stops reading a pipe stops its writer.
            std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
            return Some(child);
        }
        if line.contains("Address already in use") {
            break;
        }
        line.clear();
    }
    drop(child.stdin.take());
    child.wait().unwrap();
    if line.contains("Address already in use") {
        return None;
    }
    panic!("redis-server did not start with {settings:?}");
}
