//! Whole axum services: what a layer adds to a request, and what a server on Redis gets through.

mod axum_limit;
mod http;
mod overhead;

use crate::figure::{Figure, Group};

/// What bounds the time that a layer adds.
const ADDED: &str = "By callgrind, a layer that does nothing (which in axum is a box around the route), three constant headers and one value in \
    the request's extensions take 2,640 instructions: two thirds of all that tower_governor takes, which writes two headers and leaves \
    no decision for handlers. On top of these come the key as text (300), the decision (600), and the numbers, clones and futures (900). \
    It was half as much again, while every request took a clone of the inner route and numbers were formatted. Since these were \
    counted, costs, outcomes, waiting and gRPC, which any request may turn out to need, have taken the ratio from 1.1 to 1.25, and \
    spans and metrics to 1.3, as measured on one day at the commits that brought them.";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("axum_overhead", "ns", "tower_governor", overhead::against_tower_governor).at_most(0.6).bound(ADDED),
    Figure::new("axum_rules", "ns", "the limit in code", overhead::of_rules),
    Figure::new("axum_redis_http", "req/s", "axum-limit", http::against_axum_limit).at_least(2.0),
    Figure::new("axum_redis_http_plain", "req/s", "no limit", http::against_plain),
];

pub const GROUP: Group = Group {
    title: "axum",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};
