//! What must not be left behind.

use std::time::Duration;

use tokio::{runtime::Handle, time::sleep};
use tollgate::redis::Connection;

use crate::{
    fixture::{Node, until},
    support::redis::{RedisServer, ask, info, keys},
};

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
    nodes.into_iter().for_each(drop);
    until(|| Handle::current().metrics().num_alive_tasks() == 0).await;
    until(|| sockets_to(server.port()) == clients).await;
    let redis = &mut server.client();
    while info(redis, "clients", "connected_clients:") > clients as u64 + 1 {
        sleep(Duration::from_millis(1)).await;
    }
}

/// How many sockets of this machine lead to a port, closed ones that somebody still holds included.
fn sockets_to(port: u16) -> usize {
    /// Of sockets that nobody holds any more.
    const TIME_WAIT: &str = "06";
    let remote = format!(":{port:04X}");
    let sockets = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let is_one = |line: &&str| {
        let mut fields = line.split_whitespace().skip(2);
        let leads_there = fields.next().is_some_and(|field| field.ends_with(&remote));
        leads_there && fields.next() != Some(TIME_WAIT)
    };
    sockets.lines().filter(is_one).count()
}
