//! Responders for HTTP and gRPC.

mod body;
#[cfg(feature = "axum")]
mod decision_extractor;
mod grpc;
mod header_values;
mod headers;
mod responder;
mod rpc_status;

pub use self::{body::RejectionBody, grpc::GrpcResponder, header_values::ResetUnit, responder::HttpResponder};
