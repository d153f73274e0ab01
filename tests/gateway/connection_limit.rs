//! The connection limit: further clients wait until a connection closes.

use std::{fs, net::SocketAddr, process::Command, time::Duration};

use tokio::time::timeout;

use support::{
    folder::Folder,
    wait::{eventually, until},
};

use crate::{
    gateway::{
        fixture::{COUNT_ONLY, program},
        socket::Socket,
    },
    server_process::Running,
};

async fn get(admin: SocketAddr, path: &str) -> String {
    let mut operator = Socket::connect_to(admin).await;
    operator
        .send(format!(
            "GET {path} HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\n\r\n"
        ))
        .await;
    let (status, body) = operator.response().await;
    assert_eq!(status, 200, "{body}");
    body
}

/// The number of client connections, by the admin server's metrics.
async fn connected(admin: SocketAddr) -> usize {
    let page = get(admin, "/metrics").await;
    let mut lines = page.lines();
    let count = lines.find_map(|line| line.strip_prefix("gateway_connections "));
    count.unwrap().parse().unwrap()
}

pub(crate) async fn until_connected(admin: SocketAddr, count: usize) {
    let what = format!("{count} are connected");
    eventually(&what, async || connected(admin).await == count).await;
}

/// The limit on open files. The gateway reserves 64; a client needs two, its own connection and one to the service.
const MAX_OPEN_FILES: usize = 80;
const MAX_CONNECTIONS: usize = (MAX_OPEN_FILES - 64) / 2;

#[tokio::test]
async fn clients_above_the_limit_wait_until_a_connection_closes() {
    let service = crate::gateway::client::echo().await;
    let folder = Folder::new("connection-limit");
    fs::write(folder.file("rules.toml"), COUNT_ONLY).unwrap();
    let mut gateway = Command::new("sh");
    gateway
        .args(["-c", &format!("ulimit -n {MAX_OPEN_FILES}; exec \"$0\" \"$@\"")])
        .arg(program().get_program())
        .args(program().get_args())
        .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        .args(["--rules", &folder.file("rules.toml"), "--upstream", &service.url()])
        .args(["--client-timeout", "10m"])
        .stderr(fs::File::create(folder.file("log")).unwrap());
    let gateway = Running::start(&mut gateway);
    let address = gateway.address("listening on http://");
    let admin = gateway.address("admin     http://");

    let mut clients = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        clients.push(Socket::connect_to(address).await);
    }
    until_connected(admin, MAX_CONNECTIONS).await;
    let mut waiting = Socket::connect_to(address).await;
    waiting.send("GET /at-last HTTP/1.1\r\nhost: a\r\n\r\n").await;
    until("the limit is logged", || {
        let log = fs::read_to_string(folder.file("log")).unwrap();
        log.contains("connection limit reached")
    });
    // A response would arrive well within this time.
    let answer = timeout(Duration::from_millis(300), waiting.read_head()).await;
    assert!(answer.is_err(), "{answer:?}");
    for _ in 0..10 {
        assert!(get(admin, "/healthz").await.contains("\"ok\""));
        assert_eq!(connected(admin).await, MAX_CONNECTIONS);
    }

    drop(clients.pop());
    assert_eq!(waiting.response().await, (200, "/at-last".to_owned()));
    assert_eq!(connected(admin).await, MAX_CONNECTIONS);
}
