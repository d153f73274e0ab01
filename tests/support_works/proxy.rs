//! A proxy that is slow, silent or broken when it is told to be.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use support::{
    patience::until,
    proxy::{Proxy, Way},
    redis::{RedisServer, ask, info},
};

fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(("127.0.0.1", proxy.port())).unwrap()
}

fn ping(client: &mut TcpStream) {
    client.write_all(b"PING\r\n").unwrap();
}

/// What arrives until the connection ends, or until there is a whole answer to a ping.
fn reply(client: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    // A connection that was cut may end by a reset.
    client.take(7).read_to_end(&mut reply).ok();
    String::from_utf8(reply).unwrap()
}

/// Nothing has arrived so far, the end of the connection included.
fn is_silent(client: &mut TcpStream) -> bool {
    client.set_nonblocking(true).unwrap();
    let nothing = client
        .read(&mut [0])
        .is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    client.set_nonblocking(false).unwrap();
    nothing
}

fn connected(server: &RedisServer) -> u64 {
    // Whoever asks is connected too.
    info(&mut server.client(), "clients", "connected_clients:") - 1
}

#[test]
fn it_passes_everything_on_and_counts() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let mut clients: Vec<_> = (0..3).map(|_| connect(&proxy)).collect();
    for client in &mut clients {
        ping(client);
        assert_eq!(reply(client), "+PONG\r\n");
    }
    assert_eq!((proxy.made(), proxy.open()), (3, 3));
    clients.pop();
    until("the client has left", || proxy.open() == 2);
    until("the server has learnt of it", || connected(&server) == 2);
    drop(proxy);
    assert_eq!(reply(&mut clients[0]), "");
    until("the server has learnt of it", || connected(&server) == 0);
}

#[test]
fn a_delay_is_kept_in_either_way_and_ends_when_it_passes_again() {
    let server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let late = Duration::from_millis(50);
    for way in [Way::ToServer, Way::ToClient] {
        proxy.delay(way, late);
        let mut client = connect(&proxy);
        let start = Instant::now();
        ping(&mut client);
        assert_eq!(reply(&mut client), "+PONG\r\n");
        assert!(start.elapsed() >= late);
        proxy.pass();
    }
    proxy.delay(Way::ToClient, Duration::from_secs(3600));
    let mut client = connect(&proxy);
    ping(&mut client);
    proxy.pass();
    assert_eq!(reply(&mut client), "+PONG\r\n");
}

#[test]
fn what_is_held_arrives_when_it_passes_again() {
    let mut server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let (mut before, mut meanwhile) = (connect(&proxy), None);
    proxy.hold();
    for client in [&mut before, meanwhile.insert(connect(&proxy))] {
        ping(client);
        assert!(is_silent(client));
    }
    proxy.pass();
    assert_eq!(reply(&mut before), "+PONG\r\n");
    assert_eq!(reply(&mut meanwhile.unwrap()), "+PONG\r\n");
    proxy.hold();
    server.kill();
    assert!(is_silent(&mut before));
    proxy.pass();
    assert_eq!(reply(&mut before), "");
}

#[test]
fn what_is_dropped_never_arrives_and_nobody_learns_who_has_left() {
    let mut server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let mut before = connect(&proxy);
    ping(&mut before);
    assert_eq!(reply(&mut before), "+PONG\r\n");
    proxy.drop_bytes();
    let mut meanwhile = connect(&proxy);
    ping(&mut before);
    ping(&mut meanwhile);
    until("both are connected", || proxy.made() == 2);
    proxy.pass();
    let mut after = connect(&proxy);
    ping(&mut after);
    assert_eq!(reply(&mut after), "+PONG\r\n");
    assert_eq!((proxy.made(), proxy.open()), (3, 3));
    server.kill();
    assert_eq!(reply(&mut after), "");
    assert!(is_silent(&mut before) && is_silent(&mut meanwhile));
    proxy.cut();
    assert_eq!(reply(&mut before), "");
    assert_eq!(proxy.open(), 0);
}

#[test]
fn a_cut_ends_every_connection_and_the_next_one_is_made() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let mut clients: Vec<_> = (0..3).map(|_| connect(&proxy)).collect();
    until("all are connected", || proxy.open() == 3);
    proxy.cut();
    assert!(clients.iter_mut().all(|client| reply(client).is_empty()));
    until("the server has learnt of it", || connected(&server) == 0);
    let mut client = connect(&proxy);
    ping(&mut client);
    assert_eq!(reply(&mut client), "+PONG\r\n");
}

#[test]
fn a_reply_is_cut_after_so_many_bytes_and_the_server_has_done_what_it_was_asked() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let redis = &mut server.client();
    for (number, bytes) in (1..).zip([0, 1, 3]) {
        let mut client = connect(&proxy);
        proxy.cut_after(bytes);
        client.write_all(b"INCR key\r\n").unwrap();
        assert_eq!(reply(&mut client), format!(":{number}\r\n")[..bytes]);
        assert_eq!(ask::<u64>(redis, "GET key"), number);
        // It was cut once, and not for good.
        let mut client = connect(&proxy);
        ping(&mut client);
        assert_eq!(reply(&mut client), "+PONG\r\n");
    }
}

#[test]
fn new_connections_are_refused_while_old_ones_stay() {
    let server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let mut old = connect(&proxy);
    until("it is connected", || proxy.open() == 1);
    proxy.refuse();
    let refused = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    ping(&mut old);
    assert_eq!(reply(&mut old), "+PONG\r\n");
    proxy.pass();
    ping(&mut connect(&proxy));
    until("it is connected", || proxy.made() == 2);
}

#[test]
fn a_server_that_is_away_is_asked_for_again() {
    let mut server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    server.kill();
    assert_eq!(reply(&mut connect(&proxy)), "");
    server.restart();
    let mut client = connect(&proxy);
    ping(&mut client);
    assert_eq!(reply(&mut client), "+PONG\r\n");
}
