//! The limit that every limiter enforces, and the number of nodes that share it.

use std::time::Duration;

/// Requests per window.
pub const LIMIT: u32 = 100;
pub const WINDOW: Duration = Duration::from_secs(1);
/// Operating system processes, in the scenarios with several nodes.
pub const NODES: usize = 4;
