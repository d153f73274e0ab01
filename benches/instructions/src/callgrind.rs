//! Runs this program under valgrind's callgrind.

use std::process::Command;

use crate::services::MEASURED_REQUESTS;

/// The instructions of one request, on average. Callgrind counts only inside of `serve_measured`.
pub(crate) fn instructions_per_request(service: &str) -> u64 {
    let program = std::env::current_exe().expect("this program has a path");
    let mut valgrind = Command::new("valgrind");
    valgrind.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=*serve_measured*",
    ]);
    let output = valgrind
        .arg(program)
        .arg(service)
        .output()
        .expect("valgrind is installed");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let collected = log.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.expect("callgrind prints its count");
    let count: u64 = count.trim().parse().expect("the count is a number");
    assert!(count > 0, "callgrind did not find serve_measured");
    count / u64::from(MEASURED_REQUESTS)
}
