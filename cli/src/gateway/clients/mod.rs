//! Those who ask.

mod connections;
mod leaving;

pub(crate) use self::connections::Connections;
