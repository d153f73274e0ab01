//! The layer as gRPC clients see it: a real tonic client, tonic services on axum and on tonic's own server, both stores, and a
//! manual clock.

mod cancellation;
mod details;
mod fixture;
mod keys;
mod one_port;
mod otlp;
mod outcomes;
mod responses;
mod store_failure;
mod tonic_server;
mod wire;
