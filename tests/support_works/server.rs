//! Servers that are killed, restarted, frozen and thawed, and that end with the test or its process.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use support::{
    redis::{RedisServer, info, query},
    subprocess::{argument, rerun},
    test_path,
    wait::until,
};

fn connect(server: &RedisServer) -> std::io::Result<TcpStream> {
    TcpStream::connect(("127.0.0.1", server.port()))
}

#[test]
fn a_killed_server_rejects_connections_and_restarts_on_its_port() {
    for start in [RedisServer::start_with, RedisServer::valkey_with] {
        restarts(start(&["--maxclients", "77"]));
    }
}

fn restarts(mut server: RedisServer) {
    let port = server.port();
    query::<()>(&mut server.client(), "SET key value");
    let first = server.pid();
    server.kill();
    assert_eq!(connect(&server).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    server.restart();
    assert_eq!(server.port(), port);
    assert_ne!(server.pid(), first);
    let redis = &mut server.client();
    assert_eq!(query::<Option<String>>(redis, "GET key"), None);
    assert_eq!(info(redis, "clients", "maxclients:"), 77);
}

#[test]
fn a_frozen_server_keeps_its_connections_and_replies_when_thawed() {
    let server = RedisServer::start();
    let mut redis = connect(&server).unwrap();
    redis.set_nonblocking(true).unwrap();
    server.freeze();
    redis.write_all(b"PING\r\n").unwrap();
    assert_eq!(redis.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    server.thaw();
    redis.set_nonblocking(false).unwrap();
    let mut reply = [0; 7];
    redis.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"+PONG\r\n");
}

#[test]
fn a_frozen_server_can_be_killed() {
    let mut server = RedisServer::start();
    server.freeze();
    server.restart();
    assert_eq!(query::<String>(&mut server.client(), "PING"), "PONG");
}

#[test]
fn valkey_is_a_different_server() {
    let name = |server: RedisServer| query::<String>(&mut server.client(), "INFO server");
    assert!(name(RedisServer::valkey()).contains("server_name:valkey"));
    assert!(!name(RedisServer::start()).contains("valkey"));
}

/// Checks the process id: the port may belong to another test by now.
fn runs(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[test]
fn a_server_ends_with_a_test_that_panics() {
    let mut pid = 0;
    let test = catch_unwind(AssertUnwindSafe(|| {
        let server = RedisServer::start();
        pid = server.pid();
        assert!(!runs(pid), "the server runs, so this panics");
    }));
    assert!(test.is_err() && pid != 0 && !runs(pid));
}

#[test]
fn a_server_ends_with_a_process_that_is_killed() {
    if argument().is_some() {
        let server = RedisServer::start();
        println!("\npid: {}", server.pid());
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    let mut owner = rerun(test_path!("a_server_ends_with_a_process_that_is_killed"), "")
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map(Result::unwrap);
    let pid = lines.find_map(|line| line.strip_prefix("pid: ").map(|pid| pid.parse().unwrap()));
    let pid = pid.expect("the child process prints the server's process id");
    assert!(runs(pid));
    owner.kill().unwrap();
    owner.wait().unwrap();
    // The watchdog kills the server shortly after.
    until("the server has ended", || !runs(pid));
}
