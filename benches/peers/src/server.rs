//! A redis-server of one's own on a free port, without persistence, which ends with its owner.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tollgate::{
    RedisStore, RedisStoreBuilder,
    redis::{Client, Connection},
};

/// Kills the server as soon as standard input closes: on drop, on a panic, and when this process is killed.
const WATCHED: &str =
    r#""$@" </dev/null & server=$!; exec >&-; cat >/dev/null; kill -9 $server 2>/dev/null; wait $server"#;

pub struct RedisServer {
    watchdog: Child,
    port: u16,
}

impl RedisServer {
    pub fn start() -> Self {
        // Another process can take the port before Redis does: then it is tried on another one.
        for _ in 0..10 {
            let port = free_port();
            if let Some(watchdog) = launch(port) {
                return Self { watchdog, port };
            }
        }
        panic!("redis-server does not start: is it installed?");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A store by default, but for the deadline: a busy machine is no error here.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().url(&self.url()).deadline(Duration::from_secs(30))
    }

    /// A plain client, to look at what was left behind.
    pub fn client(&self) -> Connection {
        let client = Client::open(self.url()).expect("the address is ours");
        client.get_connection().expect("the server has just started")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        self.watchdog.wait().ok();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

fn launch(port: u16) -> Option<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", WATCHED, "sh", "redis-server", "--port", &port.to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("there is a shell");
    let mut log = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    while log.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line.contains("Ready to accept connections") {
            // Whoever stops reading a pipe stops its writer.
            std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
            return Some(child);
        }
        line.clear();
    }
    drop(child.stdin.take());
    child.wait().ok();
    None
}
