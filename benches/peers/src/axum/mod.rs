//! Whole axum services: what a layer adds to a request, and what a server on Redis gets through.

mod axum_limit;
mod http;
mod overhead;

use crate::figure::{Figure, Group};

/// What bounds the time that a layer adds.
const ADDED: &str = "By perf, of what it adds: a third goes to three headers (tower_governor writes two), whose names the response's map \
    hashes byte by byte; a seventh each to the decision and to a route of its own in axum, which a layer that does nothing takes too; a \
    tenth each to the key as text and to the decision in the request's extensions, which tower_governor has not. It was nearly half as \
    much again while every request took a clone of the inner route and numbers were formatted.";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("axum_overhead", "ns", "tower_governor", overhead::added).at_most(0.6).bound(ADDED),
    Figure::new("axum_redis_http", "req/s", "axum-limit", http::against_axum_limit).at_least(2.0),
    Figure::new("axum_redis_http_plain", "req/s", "no limit", http::against_plain),
];

pub const GROUP: Group = Group {
    title: "axum",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};
