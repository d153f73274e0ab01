//! Closes a client connection so that the last response arrives and a truncated response is recognizable.

use std::{net::SocketAddr, pin::Pin, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    net::TcpStream,
    time::timeout,
};
use tokio_io_timeout::TimeoutStream;

/// Bounds of a lingering close, which reads the rest of a request that is already answered.
const MAX_LINGER_TIME: Duration = Duration::from_secs(10);
const MAX_LINGER_BYTES: u64 = 64 << 20;

/// The response to a client that stopped in the middle of a head.
const REQUEST_TIMEOUT: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A client connection that hyper has finished with.
pub(super) struct ClosingConnection {
    pub(super) socket: Pin<Box<TimeoutStream<TcpStream>>>,
    /// The client has sent a part of a head.
    pub(super) has_partial_head: bool,
    /// The body of the last request is not read to its end.
    pub(super) has_unread_body: bool,
}

impl ClosingConnection {
    pub(super) async fn close(mut self, result: hyper::Result<()>, peer: SocketAddr, client_timeout: Duration) {
        let Err(error) = result else {
            if self.has_unread_body {
                self.linger(client_timeout).await;
            }
            return;
        };
        tracing::debug!(target: "tollgate::server", %peer, %error, "client connection failed");
        if error.is_parse() {
            self.linger(client_timeout).await;
        } else if !error.is_timeout() {
            // A reset marks a truncated response whose end is otherwise the close of the connection.
            self.socket.get_ref().set_zero_linger().ok();
        } else if self.has_partial_head {
            // An idle client has sent no request to respond to.
            self.socket.write_all(REQUEST_TIMEOUT).await.ok();
        }
    }

    /// Lingering close: closing a socket with unread data resets the connection and discards the response in flight.
    async fn linger(mut self, client_timeout: Duration) {
        // If there was no response, the FIN is the only signal of the close.
        self.socket.shutdown().await.ok();
        let mut rest = self.socket.take(MAX_LINGER_BYTES);
        timeout(MAX_LINGER_TIME.min(client_timeout), copy(&mut rest, &mut sink()))
            .await
            .ok();
    }
}
