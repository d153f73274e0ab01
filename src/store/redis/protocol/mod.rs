//! The protocol: encodes operations as a call of the script in `lua/`, decodes its reply into decisions, and classifies errors.
//!
//! lua/README.md documents it for callers in any language.

pub(crate) mod encode;
pub(crate) mod script;

mod decode;
mod error_action;
mod msgpack;

pub(crate) use self::{
    decode::{OperationError, Reply},
    encode::Prefix,
};
pub(super) use self::{
    encode::{CallEncoder, CallPart},
    error_action::ErrorAction,
};
