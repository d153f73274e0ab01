//! Answers to HTTP requests: 429, headers, and a body that a client can act on.

mod answers;
mod body;
#[cfg(feature = "axum")]
mod extractor;
mod fields;
mod forward;
mod grpc;
mod headers;
mod settings;
mod status;

pub use self::{answers::HttpAnswers, body::AnswerBody, fields::ResetUnit, grpc::GrpcAnswers};
