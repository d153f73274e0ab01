//! What must not be left behind.

use tollgate::redis::Connection;

use support::{
    leaks::tasks,
    patience::eventually,
    proxy::Proxy,
    redis::{RedisServer, ask, keys},
};

use crate::hazards::fixture::Node;

pub(crate) fn every_key_ends(redis: &mut Connection) {
    for key in keys(redis) {
        // -1 stands for ever. One that has ended since is as good as any.
        let left: i64 = ask(redis, &format!("PTTL {key}"));
        assert_ne!(left, -1, "{key}");
    }
}

/// When the last of a service is gone, so are its tasks and its connections; of those that remain, `clients` are the
/// test's own.
pub(crate) async fn nothing_is_left(nodes: impl IntoIterator<Item = Node>, server: &RedisServer, clients: usize) {
    nothing_is_left_at(nodes, [server], clients).await;
}

/// The same, of several servers together.
pub(crate) async fn nothing_is_left_at<'a>(
    nodes: impl IntoIterator<Item = Node>,
    servers: impl IntoIterator<Item = &'a RedisServer>,
    clients: usize,
) {
    nodes.into_iter().for_each(drop);
    let ports: Vec<u16> = servers.into_iter().map(RedisServer::port).collect();
    eventually("its tasks are gone", async || tasks() == 0).await;
    eventually("its connections are gone", async || {
        ports.iter().map(|port| sockets_to(*port)).sum::<usize>() == clients
    })
    .await;
}

/// The same, of a service that gets to its Redis through a proxy, which ends here.
pub(crate) async fn nothing_is_left_behind(
    nodes: impl IntoIterator<Item = Node>,
    proxy: Proxy,
    server: &RedisServer,
    clients: usize,
) {
    nodes.into_iter().for_each(drop);
    eventually("the proxy is left", async || proxy.open() == 0).await;
    drop(proxy);
    nothing_is_left([], server, clients).await;
}

/// How many sockets of this process lead to a port, broken ones that it still holds included.
fn sockets_to(port: u16) -> usize {
    let remote = format!(":{port:04X}");
    let sockets = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let leads_there = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let number = fields.get(9).filter(|_| fields[2].ends_with(&remote))?;
        Some(format!("socket:[{number}]"))
    };
    let leading_there: Vec<_> = sockets.lines().filter_map(leads_there).collect();
    let held = std::fs::read_dir("/proc/self/fd").unwrap();
    // One that was closed since it was listed is not held.
    let held = held.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    held.filter(|file| leading_there.iter().any(|socket| file.as_os_str() == socket.as_str()))
        .count()
}
