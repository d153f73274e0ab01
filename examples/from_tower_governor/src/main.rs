//! The same service twice: limited by tower_governor under `/before`, and by tollgate under `/after`.
//!
//! Run it with `cargo run -p example-from-tower-governor`, then for example
//!
//! ```sh
//! for i in $(seq 7); do curl -i http://127.0.0.1:3000/before/hello; done              # five are admitted, two rejected
//! for i in $(seq 7); do curl -i http://127.0.0.1:3000/after/hello; done               # the same
//!
//! curl -i -d milk http://127.0.0.1:3000/after/notes                                   # 400: no tenant
//! curl -i -d milk http://127.0.0.1:3000/after/notes -H 'x-tenant: acme'               # three an hour are admitted
//! curl -i http://127.0.0.1:3000/after/notes                                           # exempt
//! ```
//!
//! Both respond with the same status codes, and report the same limit and remaining quota. docs/guide/migrating.md maps each
//! setting, and lists the differences.

use std::{env, error::Error, net::SocketAddr, thread, time::Duration};

use axum::{Router, extract::Request, routing::get};
use http::{Method, StatusCode};
use tokio::net::TcpListener;
use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer, Store, Tier, TokenBucket};
use tower_governor::{
    GovernorError, GovernorLayer, governor::GovernorConfigBuilder, key_extractor::KeyExtractor as GovernorKey,
};

async fn read() -> &'static str {
    "hello\n"
}

async fn write() -> &'static str {
    "noted\n"
}

#[derive(Clone)]
struct Tenant;

impl GovernorKey for Tenant {
    type Key = String;

    fn extract<B>(&self, request: &http::Request<B>) -> Result<String, GovernorError> {
        let tenant = request.headers().get("x-tenant").and_then(|name| name.to_str().ok());
        tenant.map(str::to_owned).ok_or_else(|| GovernorError::Other {
            code: StatusCode::BAD_REQUEST,
            msg: Some("x-tenant is missing".into()),
            headers: None,
        })
    }
}

fn before() -> Router {
    // One every sixty seconds, with a burst of five.
    let hello = GovernorConfigBuilder::default()
        .per_second(60)
        .burst_size(5)
        .use_headers()
        .finish()
        .expect("a valid configuration");
    let notes = GovernorConfigBuilder::default()
        .period(Duration::from_secs(20 * 60))
        .burst_size(3)
        .methods(vec![Method::POST])
        .key_extractor(Tenant)
        .use_headers()
        .finish()
        .expect("a valid configuration");

    // Without this, addresses and tenants are never evicted.
    let (addresses, tenants) = (hello.limiter().clone(), notes.limiter().clone());
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(60));
            addresses.retain_recent();
            tenants.retain_recent();
        }
    });
    Router::new()
        .route("/hello", get(read).layer(GovernorLayer::new(hello)))
        .route("/notes", get(read).post(write).layer(GovernorLayer::new(notes)))
}

fn after(store: impl Store) -> Router {
    let hello = TokenBucket::new(Quota::per_minute(1)).capacity(5);
    let hello = RateLimitLayer::new(Tier::new("hello", hello, ClientIp::peer()), store.clone());
    let notes = RateLimitLayer::token_bucket("notes", Quota::per_hour(3), Header::new("x-tenant"), store)
        .exempt(|request: &Request| request.method() != Method::POST);
    Router::new()
        .route("/hello", get(read).layer(hello))
        .route("/notes", get(read).post(write).layer(notes))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    let app = Router::new()
        .nest("/before", before())
        .nest("/after", after(MemoryStore::new()));
    // Both need the peer address, which axum provides with this method.
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
