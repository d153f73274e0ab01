//! A redis-server on a free port, without persistence, that ends with this process.

use std::{net::TcpListener, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

pub struct RedisServer {
    process: Child,
    port: u16,
}

impl RedisServer {
    pub async fn start() -> Self {
        // Another process may take the port before Redis does.
        for _ in 0..10 {
            if let Some(server) = Self::launch(free_port()).await {
                return server;
            }
        }
        panic!("redis-server did not start: is it installed?");
    }

    async fn launch(port: u16) -> Option<Self> {
        // The kernel kills Redis if this process dies, even while Redis is paused.
        let mut process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "redis-server"])
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
            .arg(port.to_string())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("setpriv is installed");
        let output = process.stdout.take().expect("a piped standard output");
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if line.contains("Ready to accept connections") {
                // Redis must be able to write its log.
                tokio::task::spawn_local(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Some(Self { process, port });
            }
        }
        None
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Stops the process with SIGSTOP: connections stay open, and nothing is answered.
    pub async fn pause(&self) {
        self.signal("-STOP").await;
    }

    pub async fn resume(&self) {
        self.signal("-CONT").await;
    }

    async fn signal(&self, signal: &str) {
        let process = self.process.id().expect("Redis is running").to_string();
        let status = Command::new("kill").args([signal, &process]).status().await;
        assert!(status.is_ok_and(|status| status.success()), "kill {signal} {process}");
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound listener").port()
}
