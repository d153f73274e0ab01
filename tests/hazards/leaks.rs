//! Assertions that no key, task or connection is leaked.

use tollgate::redis::Connection;

use support::{
    leaks::tasks,
    proxy::Proxy,
    redis::{RedisServer, keys, query},
    wait::eventually,
};

use crate::hazards::fixture::Node;

pub(crate) fn assert_keys_expire(redis: &mut Connection) {
    for key in keys(redis) {
        // -1 means no expiry, -2 that the key has expired since.
        let ttl: i64 = query(redis, &format!("PTTL {key}"));
        assert_ne!(ttl, -1, "{key}");
    }
}

/// Drops the nodes, and asserts that their tasks and connections end; `clients` connections belong to the test.
pub(crate) async fn assert_no_leaks(nodes: impl IntoIterator<Item = Node>, server: &RedisServer, clients: usize) {
    assert_no_leaks_on(nodes, [server], clients).await;
}

/// The same for several servers.
pub(crate) async fn assert_no_leaks_on<'a>(
    nodes: impl IntoIterator<Item = Node>,
    servers: impl IntoIterator<Item = &'a RedisServer>,
    clients: usize,
) {
    nodes.into_iter().for_each(drop);
    let ports: Vec<u16> = servers.into_iter().map(RedisServer::port).collect();
    eventually("the tasks have ended", async || tasks() == 0).await;
    eventually("the connections are closed", async || {
        ports.iter().map(|port| sockets_to(*port)).sum::<usize>() == clients
    })
    .await;
}

/// The same for nodes that connect through a proxy, which is dropped too.
pub(crate) async fn assert_no_leaks_behind_proxy(
    nodes: impl IntoIterator<Item = Node>,
    proxy: Proxy,
    server: &RedisServer,
    clients: usize,
) {
    nodes.into_iter().for_each(drop);
    eventually("the connections to the proxy are closed", async || {
        proxy.open_connections() == 0
    })
    .await;
    drop(proxy);
    assert_no_leaks([], server, clients).await;
}

/// The number of sockets of this process to a port, including broken ones that are still open.
fn sockets_to(port: u16) -> usize {
    let remote = format!(":{port:04X}");
    let sockets = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let socket_to_port = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let number = fields.get(9).filter(|_| fields[2].ends_with(&remote))?;
        Some(format!("socket:[{number}]"))
    };
    let sockets: Vec<_> = sockets.lines().filter_map(socket_to_port).collect();
    let files = std::fs::read_dir("/proc/self/fd").unwrap();
    // A file that was closed since it was listed has no link.
    let files = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    files
        .filter(|file| sockets.iter().any(|socket| file.as_os_str() == socket.as_str()))
        .count()
}
