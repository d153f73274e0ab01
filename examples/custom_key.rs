//! Custom keys: an authenticated user, a tenant by host name, an API key, or a combination of these.
//!
//! Run it with `cargo run --example custom_key`, then for example
//!
//! ```sh
//! for i in $(seq 4); do curl -i http://127.0.0.1:3000/me -H 'authorization: Bearer token-of-alice'; done
//! for i in $(seq 4); do curl -i http://127.0.0.1:3000/tenant -H 'host: acme.example.com'; done   # without a tenant: 400
//! for i in $(seq 4); do curl -i http://127.0.0.1:3000/reports/1 -H 'x-api-key: secret'; done     # one route for all ids
//! ```

use std::{env, error::Error};

use axum::{
    Router,
    extract::Request,
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use http::header::{AUTHORIZATION, HOST};
use tokio::net::TcpListener;
use tollgate::{ApiKey, FromExtension, Key, KeyError, MemoryStore, Quota, RateLimitLayer, Route, Store};

#[derive(Clone)]
struct User {
    name: String,
    is_admin: bool,
}

/// Authenticates the user before the rate limit, which runs inside of this middleware.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let token = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    if let Some(name) = token.and_then(|token| token.strip_prefix("Bearer token-of-")) {
        let (name, is_admin) = (name.to_owned(), name == "root");
        request.extensions_mut().insert(User { name, is_admin });
    }
    next.run(request).await
}

/// A tenant per host name. A request without one is rejected with 400 and this message.
fn tenant(request: &Request) -> Result<Key, KeyError> {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    // Host names are case-insensitive, and the port is not part of them.
    let name = host
        .unwrap_or_default()
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    name.strip_suffix(".example.com")
        .map(|tenant| Key::named("tenant", tenant))
        .ok_or_else(|| KeyError::missing("a tenant: call it as TENANT.example.com"))
}

fn app(store: impl Store) -> Router {
    // All unauthenticated requests share one limit, and administrators are exempt.
    let user = FromExtension::new(|user: &User| Key::named("user", &user.name)).or("anonymous");
    let is_admin = |request: &Request| request.extensions().get::<User>().is_some_and(|user| user.is_admin);
    let me = RateLimitLayer::fixed_window("me", Quota::per_minute(3), user, store.clone()).exempt(is_admin);
    let tenants = RateLimitLayer::fixed_window("tenant", Quota::per_minute(3), tenant, store.clone());
    // Only a digest of the API key is stored and logged.
    let per_key_and_route = (ApiKey::header("x-api-key"), Route);
    let reports = RateLimitLayer::fixed_window("reports", Quota::per_minute(3), per_key_and_route, store);
    Router::new()
        .route("/reports/{id}", get(async || "a report\n").layer(reports))
        .route("/tenant", get(async || "a tenant\n").layer(tenants))
        .route("/me", get(async || "you\n").layer(me))
        .layer(middleware::from_fn(authenticate))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app(MemoryStore::new())).await?)
}
