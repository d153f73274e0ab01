//! A load generator on one thread, whose every request has to be answered with success.

use std::{process::Command, time::Duration};

/// What wrk sends, requests of many users, and what it says in the end.
const USERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/wrk/users.lua");

/// What wrk saw.
pub struct Load {
    /// Requests a second.
    pub rate: f64,
    /// How long an answer took, in microseconds: half of them at most the first, all but a hundredth at most the second.
    pub median: f64,
    pub p99: f64,
}

/// Asks for an address by so many connections, each of which asks again as soon as it is answered. It takes whole seconds,
/// and one at least.
///
/// # Panics
///
/// If a single request fails: what is lost or refused costs less than what is answered, and would be counted as speed.
pub fn load(url: &str, connections: usize, span: Duration) -> Load {
    let seconds = span.as_secs().max(1);
    let mut wrk = Command::new("wrk");
    wrk.args(["--threads", "1", "--connections", &connections.to_string()]);
    wrk.args(["--duration", &format!("{seconds}s"), "--script", USERS, url]);
    let output = wrk.output().expect("wrk is installed");
    let said = String::from_utf8_lossy(&output.stdout);
    let whole = || format!("{url}: {said}{}", String::from_utf8_lossy(&output.stderr));
    let all_is_well = output.status.success() && !said.lines().any(|line| line.starts_with("failed: "));
    assert!(all_is_well, "{}", whole());
    let number = |name: &str| -> f64 {
        let number = said
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let number = number.and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("wrk does not say {name}: {}", whole()))
    };
    let requests = number("requests");
    assert!(requests > 0.0, "nothing was answered: {}", whole());
    Load {
        rate: requests / number("duration") * 1e6,
        median: number("median"),
        p99: number("p99"),
    }
}
