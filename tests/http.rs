//! The layer as clients meet it, over HTTP and gRPC.

mod grpc;
mod interop;
mod over_http;
mod threats;
