//! The wire protocol: encodes operations as a call of the script in `lua/`, and decodes its reply into decisions.
//!
//! lua/README.md documents it for callers in any language.

pub(crate) mod call;
mod packed;
pub(super) mod program;
mod reply;

pub(crate) use self::{call::Prefix, reply::Reply};
