//! The HTTP server: the page's files, and a session per open page as an event stream.

mod assets;
mod routes;
mod running;
mod sessions;

pub(crate) use self::{routes::router, sessions::Sessions};
