//! The application behind the proxies, which records its requests.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    routing::{any, get},
};

use support::http::{Headers, Server};

/// The requests so far: each line, like `GET /path`, and the rate limit headers.
type Requests = Arc<Mutex<Vec<(String, String)>>>;

/// Answers a request with its line and body; `/forbidden` with 403. Requests to `/healthz` are not recorded.
pub(crate) struct App {
    server: Server,
    requests: Requests,
}

impl App {
    pub(crate) async fn start() -> Self {
        let requests = Requests::default();
        let app = Router::new()
            .route("/healthz", get(async || "ready"))
            .route(
                "/forbidden",
                any((StatusCode::FORBIDDEN, "forbidden by the application")),
            )
            .fallback(receive)
            .with_state(Arc::clone(&requests));
        let server = Server::start(app).await;
        Self { server, requests }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.url().rsplit(':').next().unwrap().parse().unwrap()
    }

    /// How often it has received this request line.
    pub(crate) fn received(&self, line: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|(received, _)| received == line).count()
    }

    /// The rate limit headers of the last request.
    pub(crate) fn last_limits(&self) -> String {
        self.requests.lock().unwrap().last().unwrap().1.clone()
    }
}

async fn receive(
    State(requests): State<Requests>,
    method: Method,
    target: Uri,
    headers: HeaderMap,
    body: String,
) -> String {
    let line = format!("{method} {target}");
    let limits = Headers(headers).limits();
    requests.lock().unwrap().push((line.clone(), limits));
    format!("{line} {body}")
}
