//! What is said to Redis and what it says: operations as a command, a reply as decisions, by the program in `lua/`.
//!
//! lua/README.md documents it for callers in any language.

pub(super) mod call;
#[cfg(all(any(fuzzing, test), feature = "rules"))]
#[allow(unreachable_pub, reason = "fuzz targets reach it, tests need not")]
pub mod fuzzing;
mod packed;
pub(super) mod program;
mod reply;

pub(super) use self::{call::Prefix, reply::Reply};
