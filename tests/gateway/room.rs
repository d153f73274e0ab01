//! As many clients as there is room for: whoever comes then waits until one leaves.

use std::{fs, net::SocketAddr, process::Command, time::Duration};

use tokio::time::timeout;

use support::{
    folder::Folder,
    patience::{eventually, until},
};

use crate::gateway::{
    fixture::ANY_NUMBER,
    program::{Running, program},
    wire::Wire,
};

async fn ask(admin: SocketAddr, path: &str) -> String {
    let mut operator = Wire::at(admin).await;
    operator
        .say(format!(
            "GET {path} HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\n\r\n"
        ))
        .await;
    let (status, body) = operator.answer().await;
    assert_eq!(status, 200, "{body}");
    body
}

/// How many clients are connected, by what this admin address tells.
async fn connected(admin: SocketAddr) -> usize {
    let page = ask(admin, "/metrics").await;
    let mut lines = page.lines();
    let count = lines.find_map(|line| line.strip_prefix("gateway_connections "));
    count.unwrap().parse().unwrap()
}

pub(crate) async fn until_connected(admin: SocketAddr, count: usize) {
    let what = format!("{count} are connected");
    eventually(&what, async || connected(admin).await == count).await;
}

/// So many files may be open, of which 64 are not for clients. A client needs two: the service may be asked for each.
const FILES: usize = 80;
const PLACES: usize = (FILES - 64) / 2;

#[tokio::test]
async fn who_comes_when_all_places_are_taken_waits_until_one_leaves() {
    let service = crate::gateway::client::echo().await;
    let folder = Folder::new("room");
    fs::write(folder.file("rules.toml"), ANY_NUMBER).unwrap();
    let mut gateway = Command::new("sh");
    gateway
        .args(["-c", &format!("ulimit -n {FILES}; exec \"$0\" \"$@\"")])
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
    for _ in 0..PLACES {
        clients.push(Wire::at(address).await);
    }
    until_connected(admin, PLACES).await;
    let mut waiting = Wire::at(address).await;
    waiting.say("GET /at-last HTTP/1.1\r\nhost: a\r\n\r\n").await;
    until("it says that there is no room", || {
        let log = fs::read_to_string(folder.file("log")).unwrap();
        log.contains("there is no room")
    });
    // However long one looks: where there is an answer, a moment is enough to see it.
    let answer = timeout(Duration::from_millis(300), waiting.head()).await;
    assert!(answer.is_err(), "{answer:?}");
    for _ in 0..10 {
        assert!(ask(admin, "/healthz").await.contains("\"ok\""));
        assert_eq!(connected(admin).await, PLACES);
    }

    drop(clients.pop());
    assert_eq!(waiting.answer().await, (200, "/at-last".to_owned()));
    assert_eq!(connected(admin).await, PLACES);
}
