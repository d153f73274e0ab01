//! What is said to Redis and what it says: operations as a command, a reply as decisions, by the program in `lua/`.
//!
//! lua/README.md documents it for callers in any language.

pub(crate) mod call;
mod packed;
pub(super) mod program;
mod reply;

pub(crate) use self::{call::Prefix, reply::Reply};
