//! Whole axum services: what a layer adds to a request, and what a server on Redis gets through.

mod axum_limit;
mod http;
mod overhead;

use crate::figure::{Figure, Group};

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("axum_overhead", "ns", "tower_governor", overhead::added).at_most(0.6),
    Figure::new("axum_redis_http", "req/s", "axum-limit", http::against_axum_limit).at_least(2.0),
    Figure::new("axum_redis_http_plain", "req/s", "no limit", http::against_plain),
];

pub const GROUP: Group = Group {
    title: "axum",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};
