//! An HTTP server and a client of it.

use std::{future::Future, net::SocketAddr};

use axum::{
    Router,
    http::{HeaderMap, Method},
};
use reqwest::{Client, RequestBuilder};
use tokio::{net::TcpListener, task::JoinHandle};

use super::wait::TEST_TIMEOUT;

/// A server on a free port, with a client.
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

    /// Serves an app without `ConnectInfo`, so that the peer address is unknown.
    pub async fn start_without_peers(app: Router) -> Self {
        Self::serve(async |listener| axum::serve(listener, app).await.unwrap()).await
    }

    /// Runs any server on the listener.
    pub async fn serve<F>(serve: impl FnOnce(TcpListener) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            address: listener.local_addr().unwrap(),
            client: Client::builder().no_proxy().timeout(TEST_TIMEOUT).build().unwrap(),
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

/// A response as the client received it.
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

    /// The remaining units of the most restrictive tier.
    pub fn remaining(&self) -> String {
        self.headers.x("remaining")
    }

    /// The status, `Retry-After`, and all rate limit headers.
    pub fn all(&self) -> (u16, String, String) {
        (self.status, self.header("retry-after"), self.limits())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Response headers.
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

    /// All rate limit headers: `Limit Remaining Reset | RateLimit-Policy | RateLimit`.
    pub fn limits(&self) -> String {
        let [limit, remaining, reset] = ["limit", "remaining", "reset"].map(|name| self.x(name));
        let [policy, state] = ["ratelimit-policy", "ratelimit"].map(|name| self.line(name));
        format!("{limit} {remaining} {reset} | {policy} | {state}")
    }

    fn x(&self, name: &str) -> String {
        self.line(&format!("x-ratelimit-{name}"))
    }
}

/// [`Headers::limits`] of a response without rate limit headers.
pub const NOTHING: &str = "- - - | - | -";
