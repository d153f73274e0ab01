//! Several limits on one request, charged all or none, with a quota by plan.
//!
//! Run it with `cargo run --example tiers`, then for example
//! `for i in $(seq 6); do curl -i http://127.0.0.1:3000/ -H 'x-user-id: alice'; done`. The sixth is refused by `burst`, and
//! costs `user` nothing. The same for `paula`, who pays: her sixth is refused too, but she has 9,995 left of `user`, and alice
//! has 95.

use std::{env, error::Error};

use axum::{
    Router,
    extract::Request,
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use tokio::net::TcpListener;
use tollgate::{Decision, Global, Header, MemoryStore, Quota, RateLimitLayer, SlidingCounter, Store, TokenBucket};

#[derive(Clone, Copy, PartialEq)]
enum Plan {
    Free,
    Pro,
}

/// Looks a plan up before the limit needs it, so this may take its time.
async fn find_plan(mut request: Request, next: Next) -> Response {
    let paying = request.headers().get("x-user-id").is_some_and(|user| user == "paula");
    let plan = if paying { Plan::Pro } else { Plan::Free };
    request.extensions_mut().insert(plan);
    next.run(request).await
}

/// What the tiers have left, by the handler's own account.
async fn left(decision: Decision) -> String {
    let tier = |tier: &tollgate::Tier| format!("{}: {} left\n", tier.limit().name(), tier.verdict().remaining());
    decision.tiers().iter().map(tier).collect()
}

fn app(store: impl Store) -> Router {
    let user = Header::new("x-user-id").label("user").or("anonymous");
    let limit = RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
        // How busy the service is stays in the house.
        .unlisted()
        .tier(
            "burst",
            TokenBucket::new(Quota::per_second(1)).capacity(5),
            user.clone(),
        )
        .tier("user", SlidingCounter::new(Quota::per_hour(100)), user)
        .quota(|request: &Request| match request.extensions().get() {
            Some(Plan::Pro) => Some(Quota::per_hour(10_000)),
            _ => None,
        });
    // Of axum's layers, the one that is added last comes first.
    Router::new()
        .route("/", get(left))
        .layer(limit)
        .layer(middleware::from_fn(find_plan))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (LISTEN=ADDRESS:PORT says where): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app(MemoryStore::new())).await?)
}
