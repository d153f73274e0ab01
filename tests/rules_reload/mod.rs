//! Rules that change while the service runs: when they apply, and what happens to existing usage.

#[cfg(feature = "redis")]
mod api;
#[cfg(feature = "redis")]
mod denial_cache;
mod file_changes;
mod fixture;
#[cfg(feature = "redis")]
mod in_flight;
mod invalid_files;
#[cfg(all(feature = "redis", feature = "axum"))]
mod load;
mod replace;
#[cfg(feature = "redis")]
mod roll_out;
#[cfg(feature = "redis")]
mod shadow_and_exempt;
#[cfg(feature = "redis")]
mod usage;
mod watcher_thread;
