//! The built-in upstream, which echoes every request.

use std::{fmt::Write, io, net::Ipv4Addr};

use axum::{Router, body::Body};
use futures_util::StreamExt;
use http::{Request, StatusCode, uri::Authority};
use tokio::net::TcpListener;

/// Starts the service on a free port of the loopback interface.
pub(crate) async fn start() -> io::Result<Authority> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async { axum::serve(listener, Router::new().fallback(echo)).await });
    Ok(address.parse().expect("a socket address is an authority"))
}

/// Responds with the request line, the headers and the length of the body.
async fn echo(request: Request<Body>) -> Result<String, StatusCode> {
    let (head, body) = request.into_parts();
    let mut text = format!("{} {}\n", head.method, head.uri);
    for (name, value) in &head.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        writeln!(text, "{name}: {value}").expect("writing to a string does not fail");
    }
    let mut bytes = 0;
    let mut body = body.into_data_stream();
    while let Some(chunk) = body.next().await {
        bytes += chunk.map_err(|_| StatusCode::BAD_REQUEST)?.len();
    }
    writeln!(text, "\n{bytes} bytes of body").expect("writing to a string does not fail");
    Ok(text)
}
