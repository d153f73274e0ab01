//! Brings scenes to pages, and the pages to the browser.

mod page;
mod routes;
mod scenes;

pub(crate) use self::{routes::router, scenes::Scenes};
