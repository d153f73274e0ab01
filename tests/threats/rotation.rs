//! Whoever has more addresses than can be counted.

use std::net::{Ipv6Addr, SocketAddr};

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode},
    routing::get,
};
use tollgate::{ClientIp, FixedWindow, Quota, RateLimitLayer};
use tower::ServiceExt;

use support::each_store::{TestStore, on_both_stores};

on_both_stores![
    every_address_of_a_network_is_one_client,
    whoever_takes_the_next_network_meets_the_limit_of_a_wider_one,
];

/// What a customer is given, and what one with many networks is.
const CUSTOMER: Quota = Quota::per_minute(5);
const SITE: Quota = Quota::per_minute(20);

fn app<St: TestStore>() -> Router {
    let (store, _) = St::fresh();
    let client = ClientIp::peer();
    let layer = RateLimitLayer::fixed_window("customer", CUSTOMER, client.clone(), store).tier(
        "site",
        FixedWindow::new(SITE),
        client.ipv6_prefix(48),
    );
    Router::new().route("/", get(async || "done")).layer(layer)
}

/// How many requests pass of a hundred, each from another address.
async fn pass(app: &Router, address: impl Fn(u128) -> Ipv6Addr) -> usize {
    let mut passed = 0;
    for n in 0..100 {
        let mut request = Request::new(Body::empty());
        let peer = SocketAddr::new(address(n).into(), 4711);
        request.extensions_mut().insert(peer);
        let answer = app.clone().oneshot(request).await.unwrap();
        passed += usize::from(answer.status() == StatusCode::OK);
    }
    passed
}

fn site(name: &str) -> u128 {
    name.parse::<Ipv6Addr>().unwrap().to_bits()
}

async fn every_address_of_a_network_is_one_client<St: TestStore>() {
    let (app, here) = (app::<St>(), site("2001:db8:1::"));
    assert_eq!(pass(&app, |n| Ipv6Addr::from_bits(here + n)).await, 5);
    // So is the last one.
    assert_eq!(
        pass(&app, |n| Ipv6Addr::from_bits(here + u128::from(u64::MAX) - n)).await,
        0
    );
}

async fn whoever_takes_the_next_network_meets_the_limit_of_a_wider_one<St: TestStore>() {
    let (app, here) = (app::<St>(), site("2001:db8:1::"));
    assert_eq!(pass(&app, |n| Ipv6Addr::from_bits(here + (n << 64))).await, 20);
    // Another site has not been touched.
    let elsewhere = site("2001:db8:2::");
    assert_eq!(pass(&app, |n| Ipv6Addr::from_bits(elsewhere + (n << 64))).await, 20);
}
