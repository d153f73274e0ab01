//! `serve SERVICE COUNT` sends `COUNT` requests to an axum router, for valgrind to count instructions.
//!
//! Every client has sent a request before, so that its state is in the store. Our clock stands still: the system clock is calibrated now
//! and then, which would move the count by a tenth.

#[path = "../axum/routers.rs"]
mod routers;

use std::hint::black_box;

use axum::Router;
use tollgate::{ClientIp, Global, HttpMethod, HttpResponder, ManualClock, MemoryStore, Quota, RateLimitLayer, Tier};

use self::routers::{CLIENTS, call, layer, plain, with_tower_governor, with_x_headers};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [service, count] = &arguments[..] else {
        panic!("serve SERVICE COUNT");
    };
    let count: u32 = count.parse().expect("COUNT is a number");
    // axum::serve does this once; without it, a router applies its layers to every request anew.
    let mut service = router(service).with_state(());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        for client in 0..CLIENTS + count {
            black_box(call(&mut service, client).await);
        }
    });
}

fn router(service: &str) -> Router {
    match service {
        "plain" => plain(),
        "tower_governor" => with_tower_governor(),
        "x_headers" => with_x_headers(store()),
        "default" => plain().layer(layer(store())),
        "three_tiers" => with_three_tiers(),
        other => panic!("no service {other}"),
    }
}

fn store() -> MemoryStore {
    MemoryStore::builder()
        .clock(ManualClock::at(1_700_000_000_000_000))
        .build()
}

/// Three tiers of different algorithms and keys, with the X- headers of the most restrictive one.
fn with_three_tiers() -> Router {
    let global = Quota::per_minute(1_000_000_000);
    let layer = RateLimitLayer::sliding_counter("global", global, Global, store())
        .tier(Tier::token_bucket("user", Quota::per_hour(999), ClientIp::peer()))
        .tier(Tier::sliding_log(
            "expensive",
            Quota::per_hour(10),
            (ClientIp::peer(), HttpMethod),
        ));
    plain().layer(layer.respond_with(HttpResponder::new().without_ietf_headers()))
}
