//! Attackers with more addresses than can be counted.

use std::net::{Ipv6Addr, SocketAddr};

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode},
    routing::get,
};
use tollgate::{ClientIp, Quota, RateLimitLayer, Tier};
use tower::ServiceExt;

use support::each_store::{TestStore, on_both_stores};

on_both_stores![
    every_address_of_a_network_is_one_client,
    rotating_networks_exhausts_the_limit_of_the_wider_network,
];

/// The limits of one network, and of a site with many networks.
const CUSTOMER: Quota = Quota::per_minute(5);
const SITE: Quota = Quota::per_minute(20);

fn app<St: TestStore>() -> Router {
    let (store, _) = St::fresh();
    let client = ClientIp::peer();
    let layer = RateLimitLayer::fixed_window("customer", CUSTOMER, client.clone(), store).tier(Tier::fixed_window(
        "site",
        SITE,
        client.ipv6_prefix(48),
    ));
    Router::new().route("/", get(async || "done")).layer(layer)
}

/// How many of a hundred requests are admitted, each from another address.
async fn pass(app: &Router, address: impl Fn(u128) -> Ipv6Addr) -> usize {
    let mut passed = 0;
    for n in 0..100 {
        let mut request = Request::new(Body::empty());
        let peer = SocketAddr::new(address(n).into(), 4711);
        request.extensions_mut().insert(peer);
        let response = app.clone().oneshot(request).await.unwrap();
        passed += usize::from(response.status() == StatusCode::OK);
    }
    passed
}

fn site(name: &str) -> u128 {
    name.parse::<Ipv6Addr>().unwrap().to_bits()
}

async fn every_address_of_a_network_is_one_client<St: TestStore>() {
    let (app, here) = (app::<St>(), site("2001:db8:1::"));
    assert_eq!(pass(&app, |n| Ipv6Addr::from_bits(here + n)).await, 5);
    // The last addresses of the network are the same client.
    assert_eq!(
        pass(&app, |n| Ipv6Addr::from_bits(here + u128::from(u64::MAX) - n)).await,
        0
    );
}

async fn rotating_networks_exhausts_the_limit_of_the_wider_network<St: TestStore>() {
    let (app, here) = (app::<St>(), site("2001:db8:1::"));
    assert_eq!(pass(&app, |n| Ipv6Addr::from_bits(here + (n << 64))).await, 20);
    // Another site is not affected.
    let elsewhere = site("2001:db8:2::");
    assert_eq!(pass(&app, |n| Ipv6Addr::from_bits(elsewhere + (n << 64))).await, 20);
}
