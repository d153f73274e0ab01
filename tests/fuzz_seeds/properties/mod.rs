//! What is held against inputs that nobody thought of, as far as it can be asked from outside.
//!
//! What needs the inside, keys in Redis and its replies, is in `src/fuzzing` of the crate itself.

mod client_ip;
mod laws;
mod rules;

pub use self::{client_ip::client_ip, laws::laws, rules::rules};
