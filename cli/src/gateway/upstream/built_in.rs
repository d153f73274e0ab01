//! A small service to try the gateway on. It answers any path, and says what it was sent.

use std::{fmt::Write, io, net::Ipv4Addr};

use axum::{Router, body::Body};
use futures_util::StreamExt;
use http::{Request, StatusCode, uri::Authority};
use tokio::net::TcpListener;

/// Starts it at a free port that only this machine can reach.
pub(crate) async fn start() -> io::Result<Authority> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async { axum::serve(listener, Router::new().fallback(tell)).await });
    Ok(address.parse().expect("an address is an authority"))
}

/// The request as it came, a line each, and how much came after it.
async fn tell(request: Request<Body>) -> Result<String, StatusCode> {
    let (head, body) = request.into_parts();
    let mut text = format!("{} {}\n", head.method, head.uri);
    for (name, value) in &head.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        writeln!(text, "{name}: {value}").expect("a text takes any text");
    }
    let mut bytes = 0;
    let mut body = body.into_data_stream();
    while let Some(piece) = body.next().await {
        bytes += piece.map_err(|_| StatusCode::BAD_REQUEST)?.len();
    }
    writeln!(text, "\n{bytes} bytes of body").expect("a text takes any text");
    Ok(text)
}
