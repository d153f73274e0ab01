//! Raw sockets on both sides of the gateway.

use tokio::net::{TcpListener, TcpSocket};

use crate::gateway::fixture::Gateway;
pub(crate) use crate::server_process::socket::{Socket, status};
pub(crate) use support::wait::with_timeout;

impl Socket {
    /// A client of the gateway.
    pub(crate) async fn connect(gateway: &Gateway) -> Self {
        Self::connect_to(gateway.address).await
    }

    /// A client with a small receive buffer.
    pub(crate) async fn with_small_buffer(gateway: &Gateway) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        Self::new(with_timeout(socket.connect(gateway.address)).await.unwrap())
    }

    /// Sends a GET on a new connection.
    pub(crate) async fn get(gateway: &Gateway, path: &str) -> (u16, String) {
        let mut client = Self::connect(gateway).await;
        client
            .send(format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
            .await;
        client.response().await
    }
}

/// A service that the test controls, connection by connection.
pub(crate) struct Upstream(TcpListener);

impl Upstream {
    pub(crate) async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    pub(crate) async fn accept(&self) -> Socket {
        Socket::new(with_timeout(self.0.accept()).await.unwrap().0)
    }

    /// Serves the connections concurrently.
    pub(crate) async fn serve<F>(self, serve: impl Fn(Socket) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        loop {
            let (stream, _) = self.0.accept().await.unwrap();
            tokio::spawn(serve(Socket::new(stream)));
        }
    }
}
