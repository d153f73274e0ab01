//! Responders for HTTP and gRPC.

mod base64;
mod body;
#[cfg(feature = "axum")]
mod decision_extractor;
mod denial;
mod grpc;
mod header_list;
mod header_values;
mod headers;
mod held_body;
mod ietf;
#[cfg(feature = "axum")]
mod permit_extractor;
mod responder;
mod rpc_status;

pub use self::{
    body::{ProblemType, RejectionBody},
    grpc::GrpcResponder,
    header_values::ResetUnit,
    held_body::HeldBody,
    ietf::IetfDraft,
    responder::{HttpResponder, MapBody},
};
