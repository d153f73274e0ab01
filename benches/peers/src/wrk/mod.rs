//! The load generator wrk, on one thread. Every request has to succeed.

use std::{process::Command, time::Duration};

/// The script that generates requests of many users and prints the results.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/wrk/users.lua");

/// The results of wrk.
pub struct Load {
    /// Requests per second.
    pub rate: f64,
    /// Latency percentiles in microseconds.
    pub median: f64,
    pub p99: f64,
}

/// Sends requests to an address over this many closed-loop connections, for whole seconds, at least one.
///
/// # Panics
///
/// If a single request fails: a lost or rejected request is cheaper than a successful one, and would look like throughput.
pub fn load(url: &str, connections: usize, span: Duration) -> Load {
    let seconds = span.as_secs().max(1);
    let mut wrk = Command::new("wrk");
    wrk.args(["--threads", "1", "--connections", &connections.to_string()]);
    wrk.args(["--duration", &format!("{seconds}s"), "--script", SCRIPT, url]);
    let output = wrk.output().expect("wrk is installed");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let report = || format!("{url}: {stdout}{}", String::from_utf8_lossy(&output.stderr));
    let all_succeeded = output.status.success() && !stdout.lines().any(|line| line.starts_with("failed: "));
    assert!(all_succeeded, "{}", report());
    let number = |name: &str| -> f64 {
        let number = stdout
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let number = number.and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("wrk did not print {name}: {}", report()))
    };
    let requests = number("requests");
    assert!(requests > 0.0, "no request was answered: {}", report());
    Load {
        rate: requests / number("duration") * 1e6,
        median: number("median"),
        p99: number("p99"),
    }
}
