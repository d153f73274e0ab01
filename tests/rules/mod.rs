//! Rules files: what every field does, and what is said when it is wrong.

mod any_text;
mod charges;
mod documents;
mod in_force;
mod messages;
#[cfg(all(feature = "redis", feature = "axum"))]
mod over_http;
mod settings;
