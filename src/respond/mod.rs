//! What a request is told, and who tells it.
//!
//! [`Respond`] stands between a decision and a kind of service. [`HttpAnswers`] makes responses: 429 with headers and a
//! body that clients can act on, and what gRPC has for that. [`GrpcAnswers`] makes those of gRPC alone. [`AsError`] makes
//! errors, for services that have no response to make. A closure makes whatever response it likes of a [`Rejection`].

mod as_error;
mod http;
mod rejection;
mod respond;

pub use self::{
    as_error::AsError,
    http::{AnswerBody, GrpcAnswers, HttpAnswers, ResetUnit},
    rejection::Rejection,
    respond::Respond,
};
