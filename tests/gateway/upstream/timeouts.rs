//! Services that do not answer in time: 504 after the upstream timeout.

use std::{fs, net::SocketAddr};

use tokio::net::{TcpSocket, TcpStream};

use super::{FaultyUpstream, UPSTREAM_TIMEOUT, other_clients_are_served};
use support::wait::{until, until_some};

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status, with_timeout},
};

/// Sends the start of a response, by path, and then nothing.
async fn fault(path: String, mut socket: Socket) {
    match &*path {
        "/nothing" => {}
        "/half-a-head" => socket.send("HTTP/1.1 200 OK\r\ncontent-le").await,
        "/only-an-interim" => socket.send("HTTP/1.1 103 Early Hints\r\n\r\n").await,
        path => panic!("{path}"),
    }
    socket.closed().await;
}

const FAULTS: [&str; 3] = ["/nothing", "/half-a-head", "/only-an-interim"];

#[tokio::test]
async fn an_unresponsive_service_is_a_504() {
    let upstream = FaultyUpstream::start(fault).await;
    let gateway = Gateway::with_upstream(&upstream.url, COUNT_ONLY, &["--upstream-timeout", "200ms"]);
    for path in FAULTS {
        let reply = gateway.get(path).await;
        assert_eq!((reply.status, &*reply.body), (504, UPSTREAM_TIMEOUT), "{path}");
        assert_eq!(reply.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn an_unresponsive_service_does_not_delay_other_clients() {
    let upstream = FaultyUpstream::start(fault).await;
    let gateway = Gateway::with_upstream(&upstream.url, COUNT_ONLY, &["--upstream-timeout", "10m"]);
    let mut waiting = Vec::new();
    for number in 0..100 {
        let mut client = Socket::connect(&gateway).await;
        client
            .send(format!("GET {} HTTP/1.1\r\nhost: a\r\n\r\n", FAULTS[number % 3]))
            .await;
        waiting.push(client);
    }
    other_clients_are_served(&gateway).await;
}

/// The length of a service's accept queue, from /proc.
fn accept_queue(service: SocketAddr) -> usize {
    let SocketAddr::V4(service) = service else {
        panic!("{service}")
    };
    let ip = u32::from_ne_bytes(service.ip().octets());
    let listens = format!(" {ip:08X}:{:04X} 00000000:0000 0A ", service.port());
    // The table may miss a socket while others open and close.
    let line = until_some("the service is in the table", || {
        let sockets = fs::read_to_string("/proc/net/tcp").unwrap();
        sockets.lines().find(|line| line.contains(&listens)).map(str::to_owned)
    });
    let (_, queue) = line.split_whitespace().nth(4).unwrap().split_once(':').unwrap();
    usize::from_str_radix(queue, 16).unwrap()
}

#[tokio::test]
async fn a_full_accept_queue_is_a_504() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // A backlog of one holds two connections; the kernel drops further SYNs.
    let mut queue = Vec::new();
    for _ in 0..2 {
        queue.push(with_timeout(TcpStream::connect(address)).await.unwrap());
    }
    until("the queue is full", || accept_queue(address) == 2);
    let gateway = Gateway::with_upstream(
        &format!("http://{address}"),
        COUNT_ONLY,
        &["--upstream-timeout", "200ms"],
    );
    let reply = gateway.get("/").await;
    assert_eq!((reply.status, &*reply.body), (504, UPSTREAM_TIMEOUT));
    assert_eq!(accept_queue(address), 2, "the gateway is connected");
    for connection in queue {
        let (_, peer) = with_timeout(listener.accept()).await.unwrap();
        assert_eq!(peer, connection.local_addr().unwrap());
    }
}

/// The timeout for a response does not run while the client still sends its body.
const STILL_SENDING: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n12345";

#[tokio::test]
async fn a_response_body_that_stalls_is_aborted() {
    for (framing, piece) in [
        ("content-length: 10", "12345"),
        ("transfer-encoding: chunked", "5\r\n12345\r\n"),
    ] {
        let upstream = Upstream::start().await;
        let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--upstream-timeout", "2s"]);
        let mut client = Socket::connect(&gateway).await;
        client.send(STILL_SENDING).await;
        let mut service = upstream.accept().await;
        service.read_until("\r\n\r\n12345").await;
        // The head and the first piece at once, so that no timeout can expire between them.
        service
            .send(format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{piece}"))
            .await;
        let head = client.read_until("12345").await;
        assert_eq!(status(&head), 200);
        // A chunked body does not get its last chunk.
        assert!(!client.read_to_end().await.unwrap_or_default().contains("0\r\n"));
        service.closed().await;
    }
}

#[tokio::test]
async fn a_service_that_does_not_read_an_upload_is_a_504() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--upstream-timeout", "500ms"]);
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000\r\n\r\n")
        .await;
    let _service = upstream.accept().await;
    let answer = client.send_and_receive(&vec![b'a'; 100_000_000]).await;
    assert_eq!(answer, (504, UPSTREAM_TIMEOUT.to_owned()));
}
