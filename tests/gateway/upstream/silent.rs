//! Services that keep the gateway waiting: 504 once that takes too long.

use std::{fs, net::SocketAddr};

use tokio::net::{TcpSocket, TcpStream};

use super::{Moody, SLOW, others_are_answered};
use support::patience::{until, until_some};

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, patiently, status},
};

/// Accepts, says what the path says, and then nothing any more.
async fn mood(path: String, mut wire: Wire) {
    match &*path {
        "/nothing" => {}
        "/half-a-head" => wire.say("HTTP/1.1 200 OK\r\ncontent-le").await,
        "/only-an-interim" => wire.say("HTTP/1.1 103 Early Hints\r\n\r\n").await,
        path => panic!("{path}"),
    }
    wire.gone().await;
}

const SILENT: [&str; 3] = ["/nothing", "/half-a-head", "/only-an-interim"];

#[tokio::test]
async fn one_that_does_not_answer_is_a_504_and_is_let_go_of() {
    let upstream = Moody::start(mood).await;
    let gateway = Gateway::to(&upstream.url, ANY_NUMBER, &["--upstream-timeout", "200ms"]);
    for path in SILENT {
        let reply = gateway.get(path).await;
        assert_eq!((reply.status, &*reply.body), (504, SLOW), "{path}");
        assert_eq!(reply.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn nobody_else_waits_for_it() {
    let upstream = Moody::start(mood).await;
    let gateway = Gateway::to(&upstream.url, ANY_NUMBER, &["--upstream-timeout", "10m"]);
    let mut waiting = Vec::new();
    for number in 0..100 {
        let mut client = Wire::to(&gateway).await;
        client
            .say(format!("GET {} HTTP/1.1\r\nhost: a\r\n\r\n", SILENT[number % 3]))
            .await;
        waiting.push(client);
    }
    others_are_answered(&gateway).await;
}

/// How many are connected to a service that it has not accepted yet, as the system sees it.
fn not_accepted(service: SocketAddr) -> usize {
    let SocketAddr::V4(service) = service else {
        panic!("{service}")
    };
    let ip = u32::from_ne_bytes(service.ip().octets());
    let listens = format!(" {ip:08X}:{:04X} 00000000:0000 0A ", service.port());
    // While others come and go, the table may miss one.
    let line = until_some("the service is in the table", || {
        let sockets = fs::read_to_string("/proc/net/tcp").unwrap();
        sockets.lines().find(|line| line.contains(&listens)).map(str::to_owned)
    });
    let (_, queue) = line.split_whitespace().nth(4).unwrap().split_once(':').unwrap();
    usize::from_str_radix(queue, 16).unwrap()
}

#[tokio::test]
async fn one_that_takes_no_more_connections_is_a_504() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody accepts. A queue of one holds two, and whoever comes then is not heard.
    let mut queue = Vec::new();
    for _ in 0..2 {
        queue.push(patiently(TcpStream::connect(address)).await.unwrap());
    }
    until("the queue is full", || not_accepted(address) == 2);
    let gateway = Gateway::to(
        &format!("http://{address}"),
        ANY_NUMBER,
        &["--upstream-timeout", "200ms"],
    );
    let reply = gateway.get("/").await;
    assert_eq!((reply.status, &*reply.body), (504, SLOW));
    assert_eq!(not_accepted(address), 2, "the gateway has got in");
    for connection in queue {
        let (_, peer) = patiently(listener.accept()).await.unwrap();
        assert_eq!(peer, connection.local_addr().unwrap());
    }
}

/// A client that is still sending keeps the gateway from waiting for an answer: the service has any time to begin one.
const STILL_SENDING: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n12345";

#[tokio::test]
async fn one_that_stops_in_the_middle_of_a_body_is_broken_off() {
    for (framing, piece) in [
        ("content-length: 10", "12345"),
        ("transfer-encoding: chunked", "5\r\n12345\r\n"),
    ] {
        let upstream = Upstream::start().await;
        let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--upstream-timeout", "2s"]);
        let mut client = Wire::to(&gateway).await;
        client.say(STILL_SENDING).await;
        let mut service = upstream.accept().await;
        service.until("\r\n\r\n12345").await;
        // The head and the first piece at once: there is no time between them that could be too long.
        service
            .say(format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{piece}"))
            .await;
        let head = client.until("12345").await;
        assert_eq!(status(&head), 200);
        // What ends a chunked body does not come.
        assert!(!client.rest().await.unwrap_or_default().contains("0\r\n"));
        service.gone().await;
    }
}

#[tokio::test]
async fn one_that_does_not_take_an_upload_is_a_504() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--upstream-timeout", "500ms"]);
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000\r\n\r\n")
        .await;
    let _service = upstream.accept().await;
    let answer = client.say_and_hear(&vec![b'a'; 100_000_000]).await;
    assert_eq!(answer, (504, SLOW.to_owned()));
}
