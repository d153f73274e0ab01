//! What the targets hold against inputs that nobody thought of. The tests hold it against the inputs in `seeds/`.

mod client_ip;
#[cfg(feature = "redis")]
mod keys;
mod laws;
#[cfg(feature = "redis")]
mod reply;
mod rules;

pub use self::{client_ip::client_ip, laws::laws, rules::rules};
#[cfg(feature = "redis")]
pub use self::{keys::keys, reply::reply};
