//! The end of a connection: the last answer arrives, half of one is never taken for the whole, and nobody is waited for long.

use std::{net::SocketAddr, pin::Pin, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    net::TcpStream,
    time::timeout,
};
use tokio_io_timeout::TimeoutStream;

/// How long, and how much, is read of what somebody sends who has been answered already.
const LINGER: Duration = Duration::from_secs(10);
const MOST_OF_THE_REST: u64 = 64 << 20;

/// What a client that stopped in the middle of a head is told.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A client whose connection is to be closed.
pub(super) struct Leaving {
    pub(super) socket: Pin<Box<TimeoutStream<TcpStream>>>,
    /// It has sent the beginning of a head.
    pub(super) began_a_head: bool,
    /// The body of its last request has not been read to the end.
    pub(super) is_sending: bool,
}

impl Leaving {
    pub(super) async fn leave(mut self, ended: hyper::Result<()>, peer: SocketAddr, patience: Duration) {
        let Err(error) = ended else {
            if self.is_sending {
                self.linger(patience).await;
            }
            return;
        };
        tracing::debug!(%peer, %error, "a connection has failed");
        if error.is_parse() {
            self.linger(patience).await;
        } else if !error.is_timeout() {
            // An answer may have been broken off, where nothing but its end would tell.
            self.socket.get_ref().set_zero_linger().ok();
        } else if self.began_a_head {
            // Who has not begun is not waiting for an answer.
            self.socket.write_all(TOO_SLOW).await.ok();
        }
    }

    /// Reads on for a while. A socket that is closed with something unread takes back what was answered.
    async fn linger(mut self, patience: Duration) {
        // Where nothing was answered, nothing has told the client yet that this is the end.
        self.socket.shutdown().await.ok();
        let mut rest = self.socket.take(MOST_OF_THE_REST);
        timeout(LINGER.min(patience), copy(&mut rest, &mut sink())).await.ok();
    }
}
