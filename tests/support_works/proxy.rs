//! The faults that the proxy injects.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use support::{
    proxy::{Direction, Proxy},
    redis::{RedisServer, info, query},
    wait::until,
};

fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(("127.0.0.1", proxy.port())).unwrap()
}

fn ping(client: &mut TcpStream) {
    client.write_all(b"PING\r\n").unwrap();
}

/// The bytes received until the connection ends or the reply to a ping is complete.
fn reply(client: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    // A cut connection may end with a reset.
    client.take(7).read_to_end(&mut reply).ok();
    String::from_utf8(reply).unwrap()
}

/// Whether neither bytes nor the end of the connection have arrived.
fn received_nothing(client: &mut TcpStream) -> bool {
    client.set_nonblocking(true).unwrap();
    let nothing = client
        .read(&mut [0])
        .is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    client.set_nonblocking(false).unwrap();
    nothing
}

fn connected(server: &RedisServer) -> u64 {
    // Without the connection of this query.
    info(&mut server.client(), "clients", "connected_clients:") - 1
}

#[test]
fn the_proxy_forwards_bytes_and_counts_connections() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let mut clients: Vec<_> = (0..3).map(|_| connect(&proxy)).collect();
    for client in &mut clients {
        ping(client);
        assert_eq!(reply(client), "+PONG\r\n");
    }
    assert_eq!((proxy.total_connections(), proxy.open_connections()), (3, 3));
    clients.pop();
    until("the client is disconnected", || proxy.open_connections() == 2);
    until("the server has closed the connection", || connected(&server) == 2);
    drop(proxy);
    assert_eq!(reply(&mut clients[0]), "");
    until("the server has closed the connection", || connected(&server) == 0);
}

#[test]
fn latency_applies_per_direction_until_healed() {
    let server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let latency = Duration::from_millis(50);
    for direction in [Direction::ToServer, Direction::ToClient] {
        proxy.delay(direction, latency);
        let mut client = connect(&proxy);
        let start = Instant::now();
        ping(&mut client);
        assert_eq!(reply(&mut client), "+PONG\r\n");
        assert!(start.elapsed() >= latency);
        proxy.heal();
    }
    proxy.delay(Direction::ToClient, Duration::from_secs(3600));
    let mut client = connect(&proxy);
    ping(&mut client);
    proxy.heal();
    assert_eq!(reply(&mut client), "+PONG\r\n");
}

#[test]
fn stalled_bytes_are_delivered_when_healed() {
    let mut server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let (mut before, mut during) = (connect(&proxy), None);
    proxy.stall();
    for client in [&mut before, during.insert(connect(&proxy))] {
        ping(client);
        assert!(received_nothing(client));
    }
    proxy.heal();
    assert_eq!(reply(&mut before), "+PONG\r\n");
    assert_eq!(reply(&mut during.unwrap()), "+PONG\r\n");
    proxy.stall();
    server.kill();
    assert!(received_nothing(&mut before));
    proxy.heal();
    assert_eq!(reply(&mut before), "");
}

#[test]
fn a_blackholed_connection_loses_bytes_and_closes() {
    let mut server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let mut before = connect(&proxy);
    ping(&mut before);
    assert_eq!(reply(&mut before), "+PONG\r\n");
    proxy.blackhole();
    let mut during = connect(&proxy);
    ping(&mut before);
    ping(&mut during);
    until("both are connected", || proxy.total_connections() == 2);
    proxy.heal();
    let mut after = connect(&proxy);
    ping(&mut after);
    assert_eq!(reply(&mut after), "+PONG\r\n");
    assert_eq!((proxy.total_connections(), proxy.open_connections()), (3, 3));
    server.kill();
    assert_eq!(reply(&mut after), "");
    assert!(received_nothing(&mut before) && received_nothing(&mut during));
    proxy.cut();
    assert_eq!(reply(&mut before), "");
    assert_eq!(proxy.open_connections(), 0);
}

#[test]
fn a_cut_closes_every_connection_and_new_ones_are_accepted() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let mut clients: Vec<_> = (0..3).map(|_| connect(&proxy)).collect();
    until("all are connected", || proxy.open_connections() == 3);
    proxy.cut();
    assert!(clients.iter_mut().all(|client| reply(client).is_empty()));
    until("the server has closed the connection", || connected(&server) == 0);
    let mut client = connect(&proxy);
    ping(&mut client);
    assert_eq!(reply(&mut client), "+PONG\r\n");
}

#[test]
fn a_reply_is_cut_after_some_bytes_and_the_command_was_executed() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let redis = &mut server.client();
    for (number, bytes) in (1..).zip([0, 1, 3]) {
        let mut client = connect(&proxy);
        proxy.cut_after(bytes);
        client.write_all(b"INCR key\r\n").unwrap();
        assert_eq!(reply(&mut client), format!(":{number}\r\n")[..bytes]);
        assert_eq!(query::<u64>(redis, "GET key"), number);
        // Only one connection is cut.
        let mut client = connect(&proxy);
        ping(&mut client);
        assert_eq!(reply(&mut client), "+PONG\r\n");
    }
}

#[test]
fn new_connections_are_rejected_while_open_ones_stay() {
    let server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let mut old = connect(&proxy);
    until("the client is connected", || proxy.open_connections() == 1);
    proxy.stop_accepting();
    let error = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    ping(&mut old);
    assert_eq!(reply(&mut old), "+PONG\r\n");
    proxy.heal();
    ping(&mut connect(&proxy));
    until("the client is connected", || proxy.total_connections() == 2);
}

#[test]
fn the_proxy_connects_again_to_a_restarted_server() {
    let mut server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    server.kill();
    assert_eq!(reply(&mut connect(&proxy)), "");
    server.restart();
    let mut client = connect(&proxy);
    ping(&mut client);
    assert_eq!(reply(&mut client), "+PONG\r\n");
}
