//! The servers that tests start end with whoever started them, however that ends.
#![cfg(feature = "redis")]

mod support;

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    panic::{AssertUnwindSafe, catch_unwind},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use support::redis::RedisServer;

/// Tells a process of this test to start a server, to say where, and to wait.
const OWNER: &str = "TOLLGATE_TEST_OWNER";

fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_server_ends_with_a_test_that_panics() {
    let mut port = 0;
    let test = catch_unwind(AssertUnwindSafe(|| {
        let server = RedisServer::start();
        port = server.port();
        assert!(!answers(port), "it does answer, so this panics");
    }));
    assert!(test.is_err() && !answers(port));
}

#[test]
fn a_server_ends_with_a_process_that_is_killed() {
    if std::env::var(OWNER).is_ok() {
        let server = RedisServer::start();
        println!("\nport: {}", server.port());
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_server_ends_with_a_process_that_is_killed", "--nocapture"]);
    command.env(OWNER, "").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut owner = command.spawn().unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map(Result::unwrap);
    let port = lines.find_map(|line| line.strip_prefix("port: ").map(|port| port.parse().unwrap()));
    let port = port.expect("the owner says where its server is");
    assert!(answers(port));
    owner.kill().unwrap();
    owner.wait().unwrap();
    // Nobody but the watchdog is left to end it, and that needs a moment.
    let patience = Instant::now() + Duration::from_secs(60);
    while answers(port) {
        assert!(Instant::now() < patience, "the server outlives its owner");
        std::thread::yield_now();
    }
}
