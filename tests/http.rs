//! The layer as HTTP and gRPC clients see it.

mod grpc;
mod interop;
mod meters;
mod over_http;
mod threats;
