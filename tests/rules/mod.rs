//! Rules files: what every field does, and the diagnostics of invalid files.

mod any_text;
mod charges;
mod current_rules;
mod descriptors;
mod diagnostics;
mod documents;
#[cfg(all(feature = "redis", feature = "axum"))]
mod over_http;
#[cfg(feature = "axum")]
mod recipes;
mod settings;
