//! The properties that the fuzz targets check. The tests check them on the inputs in `seeds/`.

mod client_ip;
#[cfg(feature = "redis")]
mod keys;
mod laws;
#[cfg(feature = "redis")]
mod reply;
mod rules;

pub use self::{
    client_ip::client_ip,
    laws::{assert_within_bound, laws},
    rules::rules,
};
#[cfg(feature = "redis")]
pub use self::{keys::keys, reply::reply};
