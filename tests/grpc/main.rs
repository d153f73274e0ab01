//! The layer as gRPC clients meet it: a real tonic client, tonic services on axum and on tonic's own server, both stores,
//! and a clock that stands still.
#![cfg(all(feature = "redis", feature = "axum"))]

mod answers;
mod failing;
mod fixture;
mod keys;
mod leaving;
mod one_port;
mod outcomes;
#[path = "../support/mod.rs"]
mod support;
mod tonic_server;
mod wire;
