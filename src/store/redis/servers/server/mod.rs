//! One node: its connection pool and its circuit breaker.

mod breaker;
mod lane;
mod lanes;
mod sentinels;
mod server;
mod way;

pub(crate) use self::{
    breaker::{Breaker, Probing},
    lane::Line,
    sentinels::Sentinels,
    server::Server,
    way::Way,
};
