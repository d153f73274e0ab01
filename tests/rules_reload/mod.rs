//! Rules that change while the service runs: when the new ones are in force, and what becomes of what was used.

#[cfg(feature = "redis")]
mod api;
#[cfg(feature = "redis")]
mod carried_over;
#[cfg(feature = "redis")]
mod denied;
mod fixture;
#[cfg(all(feature = "redis", feature = "axum"))]
mod load;
mod program;
#[cfg(feature = "redis")]
mod roll_out;
#[cfg(feature = "redis")]
mod terms;
mod thread;
#[cfg(feature = "redis")]
mod under_way;
mod watched;
mod wrong;
