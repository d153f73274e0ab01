//! Failing services: their clients get an error, and other clients are unaffected.

mod invalid_responses;
mod recovery;
mod responses;
mod timeouts;

use tokio::task::JoinHandle;

use crate::gateway::{
    fixture::Gateway,
    socket::{Socket, Upstream},
};

/// The body for a service that cannot be reached or sends no valid HTTP.
const BAD_UPSTREAM: &str =
    r#"{"error":"bad_upstream","message":"The upstream service cannot be reached or sent an invalid response."}"#;
/// The body for a service that exceeds the timeout.
const UPSTREAM_TIMEOUT: &str =
    r#"{"error":"upstream_timeout","message":"The upstream service did not respond in time."}"#;

/// A service that answers `/well` correctly, and any other path with a fault.
struct FaultyUpstream {
    url: String,
    task: JoinHandle<()>,
}

impl FaultyUpstream {
    async fn start<F>(fault: impl Fn(String, Socket) -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let upstream = Upstream::start().await;
        let url = upstream.url();
        let serve = upstream.serve(move |mut socket| {
            let fault = fault.clone();
            async move {
                let head = socket.read_head().await;
                let path = head.split(' ').nth(1).unwrap();
                if path == "/well" {
                    socket
                        .send("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nwell")
                        .await;
                } else {
                    fault(path.to_owned(), socket).await;
                }
            }
        });
        let task = tokio::spawn(serve);
        Self { url, task }
    }
}

impl Drop for FaultyUpstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn other_clients_are_served(gateway: &Gateway) {
    for _ in 0..10 {
        assert_eq!(Socket::get(gateway, "/well").await, (200, "well".to_owned()));
    }
}
