//! A redis-server of one's own on a free port, without persistence, which ends with its owner.

use std::{net::TcpListener, time::Duration};

use tollgate::{
    RedisStore, RedisStoreBuilder,
    redis::{Client, Connection},
};

use crate::watched::Watched;

pub struct RedisServer {
    _process: Watched,
    port: u16,
}

impl RedisServer {
    pub fn start() -> Self {
        // Another process can take the port before Redis does: then it is tried on another one.
        for _ in 0..10 {
            let port = free_port();
            if let Some(process) = launch(port) {
                return Self {
                    _process: process,
                    port,
                };
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

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

fn launch(port: u16) -> Option<Watched> {
    let port = port.to_string();
    let arguments = [
        ["--port", &port],
        ["--bind", "127.0.0.1"],
        ["--save", ""],
        ["--appendonly", "no"],
    ];
    let (process, _) = Watched::start("redis-server", arguments.as_flattened(), "Ready to accept connections")?;
    Some(process)
}
