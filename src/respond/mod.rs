//! Responders: how decisions become responses.
//!
//! A responder implements [`Respond`] for a kind of service. [`HttpResponder`] returns 429 with headers and a machine-readable
//! body, or the equivalent gRPC status. [`GrpcResponder`] serves gRPC only. [`AsError`] returns errors, for services without a
//! rejection response. A closure returns any response for a [`Rejection`].

mod as_error;
mod effective_window;
mod http;
mod rejection;
mod respond;

pub use self::{
    as_error::AsError,
    http::{GrpcResponder, HeldBody, HttpResponder, IetfDraft, MapBody, ProblemType, RejectionBody, ResetUnit},
    rejection::Rejection,
    respond::Respond,
};
