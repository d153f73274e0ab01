//! Several limits on one request, charged all or none, with a quota per plan.
//!
//! Run it with `cargo run --example tiers`, then for example
//! `for i in $(seq 6); do curl -i http://127.0.0.1:3000/ -H 'x-user-id: alice'; done`. The sixth is denied by `burst`, and
//! not charged to `user`. The sixth of `paula`, who is on a paid plan, is denied too, but she has 9,995 remaining in `user`, and
//! alice has 95.

use std::{env, error::Error};

use axum::{
    Router,
    extract::Request,
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use tokio::net::TcpListener;
use tollgate::{Decision, Global, Header, MemoryStore, Quota, RateLimitLayer, Store, Tier, TokenBucket};

#[derive(Clone, Copy, PartialEq)]
enum Plan {
    Free,
    Pro,
}

/// Looks up the plan before the limit needs it, so the lookup may be asynchronous.
async fn find_plan(mut request: Request, next: Next) -> Response {
    let paying = request.headers().get("x-user-id").is_some_and(|user| user == "paula");
    let plan = if paying { Plan::Pro } else { Plan::Free };
    request.extensions_mut().insert(plan);
    next.run(request).await
}

/// Responds with the remaining quota of each tier.
async fn remaining(decision: Decision) -> String {
    let tier =
        |tier: &tollgate::TierDecision| format!("{}: {} remaining\n", tier.limit().name(), tier.verdict().remaining());
    decision.tiers().iter().map(tier).collect()
}

fn app(store: impl Store) -> Router {
    let user = Header::new("x-user-id").label("user").or("anonymous");
    // Clients do not see the total load.
    let all = Tier::sliding_counter("global", Quota::per_minute(10_000), Global).hidden();
    let burst = TokenBucket::new(Quota::per_second(1)).capacity(5);
    let by_plan = |request: &Request| match request.extensions().get() {
        Some(Plan::Pro) => Some(Quota::per_hour(10_000)),
        _ => None,
    };
    let limit = RateLimitLayer::new(all, store)
        .tier(Tier::new("burst", burst, user.clone()))
        .tier(Tier::sliding_counter("user", Quota::per_hour(100), user).quota(by_plan));
    // The layer that is added last runs first.
    Router::new()
        .route("/", get(remaining))
        .layer(limit)
        .layer(middleware::from_fn(find_plan))
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
