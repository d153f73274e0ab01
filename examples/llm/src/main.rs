//! Token budgets for AI traffic: a proxy in front of an OpenAI-style API that limits requests, tokens and concurrent requests, per
//! API key and model. A request reserves its estimated prompt and the longest answer that it allows, and is settled to the usage that
//! its answer states.
//!
//! Run it with `cargo run -p example-llm`, then for example
//!
//! ```sh
//! # Reserves 11 + 100 tokens, and is settled to the 6 that its answer states.
//! curl -i http://127.0.0.1:3000/v1/chat/completions -H 'authorization: Bearer sk-alice' \
//!     --json '{"model": "small", "max_tokens": 100, "messages": [{"role": "user", "content": "one two three"}]}'
//! # The same as a stream. With --max-time 0.2 it is broken off, and settled to what was sent.
//! curl -N http://127.0.0.1:3000/v1/chat/completions -H 'authorization: Bearer sk-alice' \
//!     --json '{"model": "small", "stream": true, "messages": [{"role": "user", "content": "one two three"}]}'
//! # The upstream fails: all tokens are refunded.
//! curl -i http://127.0.0.1:3000/v1/chat/completions -H 'authorization: Bearer sk-alice' \
//!     --json '{"model": "broken", "messages": [{"role": "user", "content": "one two three"}]}'
//! ```
//!
//! The upstream is a fake, in this program. `UPSTREAM=https://api.openai.com` proxies to a real one. `TOKENS=1000`, `REQUESTS=10` and
//! `IN_FLIGHT=2` set the limits, and `WINDOW_SECONDS=60` the time that the first two are for. `REDIS_URL=redis://127.0.0.1:6379`
//! stores them in Redis, for several proxies. `LISTEN=127.0.0.1:3001` changes the address.

mod api_error;
mod chat_request;
mod fake_upstream;
mod limits;
mod proxy;

use std::{env, error::Error, str::FromStr, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, middleware, routing::post};
use tokio::net::TcpListener;
use tollgate::{MemoryStore, RedisStore, Store};

use crate::{chat_request::estimate, limits::Limits, proxy::Proxy};

/// Other endpoints are not proxied, since their costs would have to be estimated in another way.
const CHAT_COMPLETIONS: &str = "/v1/chat/completions";

/// The largest request body. It is read before the limits apply, since it determines the cost.
const MAX_BODY: usize = 1 << 20;

type AnyError = Box<dyn Error + Send + Sync>;

fn app(limits: &Limits, proxy: Proxy, store: impl Store) -> Router {
    // The layer that is added last runs first.
    Router::new()
        .route(CHAT_COMPLETIONS, post(proxy::forward))
        .with_state(proxy)
        .route_layer(limits.layer(store))
        .route_layer(middleware::from_fn(estimate))
        .route_layer(DefaultBodyLimit::max(MAX_BODY))
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let limits = Limits {
        requests: variable("REQUESTS", 10)?,
        tokens: variable("TOKENS", 1000)?,
        in_flight: variable("IN_FLIGHT", 2)?,
        window: Duration::from_secs(variable("WINDOW_SECONDS", 60)?),
    };
    let upstream = match env::var("UPSTREAM") {
        Ok(url) => url,
        Err(_) => fake_upstream::start().await?,
    };
    let proxy = Proxy::to(&upstream, CHAT_COMPLETIONS)?;
    let app = match env::var("REDIS_URL") {
        Ok(url) => {
            let store = RedisStore::connect(&url)?;
            store.check().await?; // fail at start-up, not on the first request
            app(&limits, proxy, store)
        }
        Err(_) => app(&limits, proxy, MemoryStore::new()),
    };
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}, upstream is {upstream}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

/// A number from the environment.
fn variable<T: FromStr>(name: &str, default: T) -> Result<T, String> {
    match env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name}={text} is not a number")),
        Err(_) => Ok(default),
    }
}
