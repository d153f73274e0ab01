//! The body of a check, which the decision does not use. It is read so that the proxy can reuse the connection.

use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt;
use http::{HeaderMap, header::EXPECT};
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::server::connection::UnreadBody;

/// A connection with a longer body is closed after the response.
const MAX_DRAINED_BYTES: usize = 1 << 20;

/// Whether the client waits for a 100 before it sends the body.
pub(super) fn expects_continue(headers: &HeaderMap) -> bool {
    let expect = headers.get(EXPECT).map(|expect| expect.as_bytes());
    expect.is_some_and(|expect| expect.eq_ignore_ascii_case(b"100-continue"))
}

/// Reads a body to its end, unless it is long or slow. The listener closes connections whose body is unread.
pub(super) async fn drain(body: Incoming, unread: Option<UnreadBody>, client_timeout: Duration) {
    if body.size_hint().lower() > MAX_DRAINED_BYTES as u64 {
        return;
    }
    if let Ok(true) = timeout(client_timeout, read_to_end(body)).await
        && let Some(unread) = unread
    {
        unread.finish();
    }
}

/// Whether the body ended within the maximum.
async fn read_to_end(body: Incoming) -> bool {
    let mut chunks = Body::new(body).into_data_stream();
    let mut read = 0;
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) if read + chunk.len() <= MAX_DRAINED_BYTES => read += chunk.len(),
            _ => return false,
        }
    }
    true
}
