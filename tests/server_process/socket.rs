//! Raw sockets, for what no HTTP library sends.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use support::wait::with_timeout;

/// One end of a connection.
pub(crate) struct Socket {
    stream: TcpStream,
    /// Received, and not yet read.
    buffer: Vec<u8>,
}

impl Socket {
    pub(crate) async fn connect_to(address: SocketAddr) -> Self {
        Self::new(with_timeout(TcpStream::connect(address)).await.unwrap())
    }

    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        let buffer = Vec::new();
        Self { stream, buffer }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        with_timeout(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Sends as much as the peer accepts before it closes.
    pub(crate) async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        with_timeout(self.stream.write_all(bytes.as_ref())).await
    }

    /// Reads to the end of this text.
    pub(crate) async fn read_until(&mut self, end: &str) -> String {
        let end = end.as_bytes();
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return text(self.buffer.drain(..at + end.len()).collect());
            }
            let read = self.fill().await.unwrap();
            assert!(read > 0, "closed after {:?}", text(self.buffer.clone()));
        }
    }

    pub(crate) async fn read_head(&mut self) -> String {
        self.read_until("\r\n\r\n").await
    }

    pub(crate) async fn read_exact(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count {
            let read = self.fill().await.unwrap();
            assert!(read > 0, "closed after {} of {count} bytes", self.buffer.len());
        }
        self.buffer.drain(..count).collect()
    }

    /// Reads a response with a content length: status and body.
    pub(crate) async fn response(&mut self) -> (u16, String) {
        let head = self.read_head().await;
        let body = self.read_exact(length(&head)).await;
        (status(&head), text(body))
    }

    /// Sends as much as the peer accepts, while reading the response until the peer closes.
    pub(crate) async fn send_and_receive(&mut self, bytes: &[u8]) -> (u16, String) {
        let (mut reader, mut writer) = self.stream.split();
        // After a reset, what was received before it counts.
        let receive = async { while reader.read_buf(&mut self.buffer).await.is_ok_and(|read| read > 0) {} };
        with_timeout(async { tokio::join!(receive, writer.write_all(bytes)) })
            .await
            .1
            .ok();
        self.response().await
    }

    /// Reads until the peer closes; a reset is an error.
    pub(crate) async fn read_to_end(&mut self) -> io::Result<String> {
        while self.fill().await? > 0 {}
        Ok(text(std::mem::take(&mut self.buffer)))
    }

    /// Reads until the peer closes or resets.
    pub(crate) async fn read_until_closed(&mut self) -> String {
        while self.fill().await.is_ok_and(|read| read > 0) {}
        text(std::mem::take(&mut self.buffer))
    }

    /// Waits until the peer closes or resets, and discards what it sends.
    pub(crate) async fn closed(mut self) {
        while self.fill().await.is_ok_and(|read| read > 0) {
            self.buffer.clear();
        }
    }

    /// Closes with a TCP reset.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }

    async fn fill(&mut self) -> io::Result<usize> {
        with_timeout(self.stream.read_buf(&mut self.buffer)).await
    }
}

pub(crate) fn status(head: &str) -> u16 {
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    status
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("{head:?}"))
}

fn length(head: &str) -> usize {
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.unwrap_or_else(|| panic!("{head:?}")).1.parse().unwrap()
}

/// A character for each byte (Latin-1), so that any bytes are kept.
fn text(bytes: Vec<u8>) -> String {
    bytes.into_iter().map(char::from).collect()
}
