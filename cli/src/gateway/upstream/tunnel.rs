//! WebSockets: once both sides agree, what they send each other is passed on as it is.

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

use crate::gateway::{forwarding::lists, guest::Room};

const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// A client that asks for a WebSocket.
pub(crate) struct Wish {
    client: OnUpgrade,
    /// A tunnel takes as much room as the connection it began as.
    room: Option<Room>,
}

impl Wish {
    /// Nothing but WebSockets: who is let through to HTTP/2, say, could send requests there that nobody counts.
    pub(crate) fn of<B: Body>(request: &mut Request<B>) -> Option<Self> {
        let headers = request.headers();
        let wished = lists(headers, &CONNECTION, "upgrade") && headers.get(UPGRADE).is_some_and(is_websocket);
        let may_wish = request.method() == Method::GET && request.version() == Version::HTTP_11;
        let is_all_there = request.body().is_end_stream();
        (wished && may_wish && is_all_there).then(|| Self {
            client: upgrade::on(&mut *request),
            room: request.extensions().get().cloned(),
        })
    }

    /// Passes the wish on.
    pub(crate) fn express(headers: &mut HeaderMap) {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, WEBSOCKET);
    }

    /// Whether the service fulfils it.
    pub(crate) fn is_fulfilled<B>(response: &Response<B>) -> bool {
        response.status() == StatusCode::SWITCHING_PROTOCOLS
            && response.headers().get(UPGRADE).is_some_and(is_websocket)
    }

    /// Connects both sides as soon as the client has been answered, until one of them ends it. What is then still on its way
    /// back has as long as this to arrive.
    pub(crate) fn connect<B>(self, response: &mut Response<B>, farewell: Duration) {
        let Self { client, room } = self;
        let upstream = upgrade::on(&mut *response);
        tokio::spawn(async move {
            let _room = room;
            if let (Ok(client), Ok(upstream)) = (client.await, upstream.await) {
                pass(TokioIo::new(client), TokioIo::new(upstream), farewell).await;
            }
        });
    }
}

async fn pass(client: impl AsyncRead + AsyncWrite, upstream: impl AsyncRead + AsyncWrite, farewell: Duration) {
    let (from_client, to_client) = split(client);
    let (from_upstream, to_upstream) = split(upstream);
    let mut there = pin!(pass_one_way(from_client, to_upstream));
    let mut back = pin!(pass_one_way(from_upstream, to_client));
    tokio::select! {
        () = &mut there => timeout(farewell, back).await.unwrap_or_default(),
        () = &mut back => timeout(farewell, there).await.unwrap_or_default(),
    }
}

async fn pass_one_way(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    copy(&mut from, &mut to).await.ok();
    to.shutdown().await.ok();
}

fn is_websocket(protocol: &HeaderValue) -> bool {
    protocol.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes())
}
