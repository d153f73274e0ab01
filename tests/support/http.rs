//! A server, and a client that tells what it was answered.

use std::{future::Future, net::SocketAddr};

use axum::{
    Router,
    http::{HeaderMap, Method},
};
use reqwest::{Client, RequestBuilder};
use tokio::{net::TcpListener, task::JoinHandle};

use super::patience::PATIENCE;

/// A server on a port of its own, and a client that knows it.
pub struct Server {
    address: SocketAddr,
    client: Client,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(app: Router) -> Self {
        let service = app.into_make_service_with_connect_info::<SocketAddr>();
        Self::serve(async |listener| axum::serve(listener, service).await.unwrap()).await
    }

    /// Nobody tells the app who is at the other end.
    pub async fn start_without_peers(app: Router) -> Self {
        Self::serve(async |listener| axum::serve(listener, app).await.unwrap()).await
    }

    /// Whatever serves at a socket.
    pub async fn serve<F>(serve: impl FnOnce(TcpListener) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            address: listener.local_addr().unwrap(),
            client: Client::builder().no_proxy().timeout(PATIENCE).build().unwrap(),
            task: tokio::spawn(serve(listener)),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn request(&self, path: &str) -> RequestBuilder {
        self.request_by(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request_by(Method::POST, path)
    }

    pub fn request_by(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url() + path)
    }

    pub fn get(&self, path: &str) -> impl Future<Output = Reply> + Send + use<> {
        Reply::to(self.request(path))
    }

    /// A request to `/` by the user of this id.
    pub fn get_as(&self, user: &str) -> impl Future<Output = Reply> + Send + use<> {
        Reply::to(self.request("/").header("x-user-id", user))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a client was answered.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: String,
    headers: Headers,
}

impl Reply {
    pub async fn to(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        Self {
            status: response.status().as_u16(),
            headers: Headers(response.headers().clone()),
            body: response.text().await.unwrap(),
        }
    }

    pub fn header(&self, name: &str) -> String {
        self.headers.line(name)
    }

    pub fn limits(&self) -> String {
        self.headers.limits()
    }

    /// What is left of the tightest tier.
    pub fn remaining(&self) -> String {
        self.headers.x("remaining")
    }

    /// The status, `Retry-After`, and all that it says of limits.
    pub fn all(&self) -> (u16, String, String) {
        (self.status, self.header("retry-after"), self.limits())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// What a client is told beside the answer itself.
#[derive(Debug)]
pub struct Headers(pub HeaderMap);

impl Headers {
    /// Every line of a header, with ` + ` between two; `-` where there is none.
    pub fn line(&self, name: &str) -> String {
        let lines = self.0.get_all(name).iter();
        let lines: Vec<_> = lines.map(|line| line.to_str().unwrap()).collect();
        if lines.is_empty() {
            "-".into()
        } else {
            lines.join(" + ")
        }
    }

    /// All that it says of limits: `Limit Remaining Reset | RateLimit-Policy | RateLimit`.
    pub fn limits(&self) -> String {
        let [limit, remaining, reset] = ["limit", "remaining", "reset"].map(|name| self.x(name));
        let [policy, state] = ["ratelimit-policy", "ratelimit"].map(|name| self.line(name));
        format!("{limit} {remaining} {reset} | {policy} | {state}")
    }

    fn x(&self, name: &str) -> String {
        self.line(&format!("x-ratelimit-{name}"))
    }
}

/// No header speaks of limits.
pub const NOTHING: &str = "- - - | - | -";
