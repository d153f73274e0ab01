//! WebSocket upgrades: after the handshake, bytes are copied in both directions.

use std::{pin::pin, time::Duration};

use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version,
    header::{CONNECTION, UPGRADE},
};
use hyper::{
    body::Body,
    upgrade::{self, OnUpgrade},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, split},
    time::timeout,
};
use tollgate::Permit;

use crate::{gateway::headers::list_contains, server::connection::ConnectionPermit};

const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// A client's request for a WebSocket.
pub(crate) struct WebSocketUpgrade {
    client: OnUpgrade,
    /// A tunnel counts as a client connection.
    connection: Option<ConnectionPermit>,
    /// A tunnel holds the slots of its request as long as it is open.
    slots: Option<Permit>,
}

impl WebSocketUpgrade {
    /// Other protocols are not upgraded: after an upgrade to HTTP/2, for example, requests would not be counted.
    pub(crate) fn from_request<B: Body>(request: &mut Request<B>) -> Option<Self> {
        let headers = request.headers();
        let is_requested =
            list_contains(headers, &CONNECTION, "upgrade") && headers.get(UPGRADE).is_some_and(is_websocket);
        let is_valid = request.method() == Method::GET && request.version() == Version::HTTP_11;
        let has_no_body = request.body().is_end_stream();
        (is_requested && is_valid && has_no_body).then(|| Self {
            client: upgrade::on(&mut *request),
            connection: request.extensions().get().cloned(),
            slots: request.extensions().get().cloned(),
        })
    }

    /// Sets the upgrade headers of a request or response.
    pub(crate) fn set_headers(headers: &mut HeaderMap) {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, WEBSOCKET);
    }

    /// Whether the upstream accepts the upgrade.
    pub(crate) fn is_accepted<B>(response: &Response<B>) -> bool {
        response.status() == StatusCode::SWITCHING_PROTOCOLS
            && response.headers().get(UPGRADE).is_some_and(is_websocket)
    }

    /// Connects both sides once the client has the response. When one side closes, the other has `drain_timeout` to finish.
    pub(crate) fn spawn_tunnel<B>(self, response: &mut Response<B>, drain_timeout: Duration) {
        let Self {
            client,
            connection,
            slots,
        } = self;
        let upstream = upgrade::on(&mut *response);
        tokio::spawn(async move {
            // Dropped in this order: when the last connection has closed at shutdown, all slots have been released.
            let _held = (slots, connection);
            if let (Ok(client), Ok(upstream)) = (client.await, upstream.await) {
                copy_both_ways(TokioIo::new(client), TokioIo::new(upstream), drain_timeout).await;
            }
        });
    }
}

async fn copy_both_ways(
    client: impl AsyncRead + AsyncWrite,
    upstream: impl AsyncRead + AsyncWrite,
    drain_timeout: Duration,
) {
    let (from_client, to_client) = split(client);
    let (from_upstream, to_upstream) = split(upstream);
    let mut upload = pin!(copy_one_way(from_client, to_upstream));
    let mut download = pin!(copy_one_way(from_upstream, to_client));
    tokio::select! {
        () = &mut upload => timeout(drain_timeout, download).await.unwrap_or_default(),
        () = &mut download => timeout(drain_timeout, upload).await.unwrap_or_default(),
    }
}

async fn copy_one_way(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    copy(&mut from, &mut to).await.ok();
    to.shutdown().await.ok();
}

fn is_websocket(protocol: &HeaderValue) -> bool {
    protocol.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes())
}
