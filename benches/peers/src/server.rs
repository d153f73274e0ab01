//! A redis-server on a free port, without persistence, that stops on drop.

use std::{net::TcpListener, time::Duration};

use tollgate::{
    RedisStore, RedisStoreBuilder,
    redis::{Client, Connection},
};

use crate::subprocess::Subprocess;

pub struct RedisServer {
    _process: Subprocess,
    port: u16,
}

impl RedisServer {
    pub fn start() -> Self {
        // Another process may take the port before Redis does.
        for _ in 0..10 {
            let port = free_port();
            if let Some(process) = launch(port) {
                return Self {
                    _process: process,
                    port,
                };
            }
        }
        panic!("redis-server did not start: is it installed?");
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The default store, with a deadline long enough for a busy machine.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().url(&self.url()).deadline(Duration::from_secs(30))
    }

    /// A plain client, to inspect the server.
    pub fn client(&self) -> Connection {
        let client = Client::open(self.url()).expect("a valid address");
        client.get_connection().expect("the server is running")
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound listener").port()
}

fn launch(port: u16) -> Option<Subprocess> {
    let port = port.to_string();
    let arguments = [
        ["--port", &port],
        ["--bind", "127.0.0.1"],
        ["--save", ""],
        ["--appendonly", "no"],
    ];
    let (process, _) = Subprocess::start("redis-server", arguments.as_flattened(), "Ready to accept connections")?;
    Some(process)
}
