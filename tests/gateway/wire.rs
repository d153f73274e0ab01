//! Sockets, byte by byte, on both sides of the gateway: for whatever no client library and no server would do.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
};

use crate::gateway::fixture::Gateway;
pub(crate) use support::patience::patiently;

/// One end of a connection.
pub(crate) struct Wire {
    stream: TcpStream,
    /// Come, and not yet asked for.
    ahead: Vec<u8>,
}

impl Wire {
    /// A client's.
    pub(crate) async fn to(gateway: &Gateway) -> Self {
        Self::at(gateway.address).await
    }

    pub(crate) async fn at(address: SocketAddr) -> Self {
        Self::over(patiently(TcpStream::connect(address)).await.unwrap())
    }

    /// A client's that has little room for what it does not take.
    pub(crate) async fn small_to(gateway: &Gateway) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        Self::over(patiently(socket.connect(gateway.address)).await.unwrap())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        let ahead = Vec::new();
        Self { stream, ahead }
    }

    /// Asks on a connection of its own, which nobody can have closed meanwhile.
    pub(crate) async fn get(gateway: &Gateway, path: &str) -> (u16, String) {
        let mut client = Self::to(gateway).await;
        client
            .say(format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
            .await;
        client.answer().await
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        patiently(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Says as much as the other side takes, which may close meanwhile.
    pub(crate) async fn try_say(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        patiently(self.stream.write_all(bytes.as_ref())).await
    }

    /// All that comes until these words have come, and the words.
    pub(crate) async fn until(&mut self, words: &str) -> String {
        let words = words.as_bytes();
        loop {
            if let Some(at) = self.ahead.windows(words.len()).position(|window| window == words) {
                return text(self.ahead.drain(..at + words.len()).collect());
            }
            let more = self.more().await.unwrap();
            assert!(more > 0, "closed after {:?}", text(self.ahead.clone()));
        }
    }

    pub(crate) async fn head(&mut self) -> String {
        self.until("\r\n\r\n").await
    }

    /// As many bytes.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.ahead.len() < count {
            let more = self.more().await.unwrap();
            assert!(more > 0, "closed after {} of {count} bytes", self.ahead.len());
        }
        self.ahead.drain(..count).collect()
    }

    /// An answer whose length is written on it.
    pub(crate) async fn answer(&mut self) -> (u16, String) {
        let head = self.head().await;
        let body = self.take(length(&head)).await;
        (status(&head), text(body))
    }

    /// Says all of it, or as much as the other side takes, and hears meanwhile what is answered until that closes.
    pub(crate) async fn say_and_hear(&mut self, bytes: &[u8]) -> (u16, String) {
        let (mut reader, mut writer) = self.stream.split();
        // Whether it was reset: what came before counts.
        let hear = async { while reader.read_buf(&mut self.ahead).await.is_ok_and(|more| more > 0) {} };
        patiently(async { tokio::join!(hear, writer.write_all(bytes)) })
            .await
            .1
            .ok();
        self.answer().await
    }

    /// All that comes until the other side closes.
    pub(crate) async fn rest(&mut self) -> io::Result<String> {
        while self.more().await? > 0 {}
        Ok(text(std::mem::take(&mut self.ahead)))
    }

    /// All that comes until the other side closes or resets.
    pub(crate) async fn last_words(&mut self) -> String {
        while self.more().await.is_ok_and(|more| more > 0) {}
        text(std::mem::take(&mut self.ahead))
    }

    /// Waits until the other side has closed or reset, whatever it says until then.
    pub(crate) async fn gone(mut self) {
        while self.more().await.is_ok_and(|more| more > 0) {
            self.ahead.clear();
        }
    }

    /// Leaves without a word, and without taking what is still on its way.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }

    async fn more(&mut self) -> io::Result<usize> {
        patiently(self.stream.read_buf(&mut self.ahead)).await
    }
}

/// A service that is told what to do, connection by connection.
pub(crate) struct Upstream(TcpListener);

impl Upstream {
    pub(crate) async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    pub(crate) async fn accept(&self) -> Wire {
        Wire::over(patiently(self.0.accept()).await.unwrap().0)
    }

    /// Serves each connection like that, at the same time as the others.
    pub(crate) async fn serve<F>(self, serve: impl Fn(Wire) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        loop {
            let (stream, _) = self.0.accept().await.unwrap();
            tokio::spawn(serve(Wire::over(stream)));
        }
    }
}

pub(crate) fn status(head: &str) -> u16 {
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    status
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("{head:?}"))
}

fn length(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.unwrap_or_else(|| panic!("{head:?}")).parse().unwrap()
}

/// A character for each byte, so that nothing is lost whatever it is.
fn text(bytes: Vec<u8>) -> String {
    bytes.into_iter().map(char::from).collect()
}
