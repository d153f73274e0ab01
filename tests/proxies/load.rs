//! Many requests over persistent connections, without an error.

use tokio::task::JoinSet;

use super::{for_each_proxy, program::Program, stack::Stack};
use crate::server_process::socket::Socket;

const CLIENTS: usize = 16;
const EACH: usize = 625;
const REQUESTS: usize = CLIENTS * EACH;

/// A socket, since most of the time would be that of an HTTP client without optimisations.
const REQUEST: &str = "GET /items HTTP/1.1\r\nhost: app\r\nx-tenant: alice\r\n\r\n";

async fn ten_thousand_requests_pass(program: &'static Program) {
    let stack = Stack::start(program, &program.limit("tenant", REQUESTS, None), 1).await;
    let address = stack.proxy().address();
    let clients = (0..CLIENTS).map(|_| async move {
        let mut client = Socket::connect_to(address).await;
        for _ in 0..EACH {
            client.send(REQUEST).await;
            assert_eq!(client.response().await, (200, "GET /items ".to_owned()));
        }
    });
    clients.collect::<JoinSet<_>>().join_all().await;
    assert_eq!(stack.app.received("GET /items"), REQUESTS);
    // Each of them was counted.
    assert_eq!(stack.send_concurrently(1, "/items", "alice").await, (0, 1));
}

for_each_proxy!(ten_thousand_requests_pass);
