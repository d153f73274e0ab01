//! Replies of any bytes: they say what a plain reading of them says, or nothing.
//!
//! The first byte of an input is what was asked, the second how the others become a reply.

mod plainly;
mod reply;
mod told;
mod written;

pub use self::reply::reply;
