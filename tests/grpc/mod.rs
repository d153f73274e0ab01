//! The layer as gRPC clients meet it: a real tonic client, tonic services on axum and on tonic's own server, both stores,
//! and a clock that stands still.

mod answers;
mod failing;
mod fixture;
mod keys;
mod leaving;
mod one_port;
mod outcomes;
mod tonic_server;
mod wire;
