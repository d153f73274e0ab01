// Requests to the services of docs/recipes.md, and the statuses that they must get. Its examples and the test of its rules include
// this file, so that both are sent the same.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{ConnectInfo, Request},
    http::StatusCode,
    middleware::Next,
    response::Response,
};
use tollgate::{ManualClock, MemoryStore};
use tower::ServiceExt;

/// A store whose clock stands still, so that no quota recovers.
pub(crate) fn store() -> MemoryStore {
    MemoryStore::builder().clock(ManualClock::at(0)).build()
}

/// Sends each request as often as its number says, and requires the status.
///
/// A request is a method, a path, and any number of `from=ADDRESS`, which is the peer, `body=TEXT` and `HEADER=VALUE`. `{n}` is the number
/// of the repetition, from 1.
pub(crate) async fn send<'r>(app: &Router, requests: impl IntoIterator<Item = (usize, &'r str, u16)>) {
    for (count, line, expected) in requests {
        for n in 1..=count {
            let response = app.clone().oneshot(request(&line.replace("{n}", &n.to_string()))).await;
            let (head, body) = response.expect("a service that cannot fail").into_parts();
            // A tier that reads the body settles its charge when the body ends.
            to_bytes(body, 10_000).await.expect("a short body");
            assert_eq!(
                head.status.as_u16(),
                expected,
                "{line}, request {n}: {:?}",
                head.headers
            );
        }
    }
}

fn request(line: &str) -> Request {
    let mut words = line.split(' ');
    let mut word = || words.next().expect("a method and a path");
    let mut request = Request::builder().method(word()).uri(word());
    let (mut peer, mut body) = (IpAddr::from([192, 0, 2, 1]), String::new());
    for word in words {
        let (name, value) = word.split_once('=').expect("a name and a value");
        match name {
            "from" => peer = value.parse().expect("an address"),
            "body" => value.clone_into(&mut body),
            header => request = request.header(header, value),
        }
    }
    let peer = ConnectInfo(SocketAddr::new(peer, 4711));
    request.extension(peer).body(Body::from(body)).expect("a valid request")
}

/// What the authentication of an example finds out about a client.
#[derive(Clone)]
pub(crate) struct Customer {
    pub(crate) id: String,
    pub(crate) plan: String,
}

/// Authenticates by `authorization=ID`, or `authorization=ID:PLAN`. `authorization=forged` is invalid.
pub(crate) async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let header = request
        .headers()
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let token = header
        .filter(|token| *token != "forged")
        .ok_or(StatusCode::UNAUTHORIZED)?;
    let (id, plan) = token.split_once(':').unwrap_or((token, "free"));
    let (id, plan) = (id.to_owned(), plan.to_owned());
    request.extensions_mut().insert(Customer { id, plan });
    Ok(next.run(request).await)
}
