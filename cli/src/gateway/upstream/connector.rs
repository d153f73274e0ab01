//! Connections to the upstream, with a write timeout: a stalled connection fails, and with it the requests that use it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection, HttpConnector},
    rt::TokioIo,
};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;
use tower::Service;

use crate::server::connection::TCP_KEEPALIVE_INTERVAL;

#[derive(Clone)]
pub(crate) struct Connector {
    http: HttpConnector,
    write_timeout: Duration,
}

impl Connector {
    pub(crate) fn new(write_timeout: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.set_keepalive(Some(TCP_KEEPALIVE_INTERVAL));
        Self { http, write_timeout }
    }
}

impl Service<Uri> for Connector {
    type Response = UpstreamConnection;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<UpstreamConnection, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.http.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, write_timeout) = (self.http.call(uri), self.write_timeout);
        Box::pin(async move {
            let mut stream = TimeoutStream::new(connecting.await?.into_inner());
            stream.set_write_timeout(Some(write_timeout));
            Ok(UpstreamConnection(TokioIo::new(Box::pin(stream))))
        })
    }
}

pub(crate) struct UpstreamConnection(TokioIo<Pin<Box<TimeoutStream<TcpStream>>>>);

impl Connection for UpstreamConnection {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for UpstreamConnection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buf)
    }
}

impl Write for UpstreamConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, slices)
    }
}
