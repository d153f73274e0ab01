//! Envoy, with its rate limit filter.

use support::folder::Folder;

use super::program::{APP, GRPC, PROXY, Program, unpacked};

pub(crate) static ENVOY: Program = Program {
    name: "envoy",
    files: &[("envoy.yaml", &[PROXY, APP, GRPC])],
    service: GRPC,
    rules: "envoy_rules.toml",
    command,
    patient: ("timeout: 1s", "timeout: 30s"),
    closed: &[("failure_mode_deny: false", "failure_mode_deny: true")],
    closed_status: 503,
    sends_headers: true,
};

/// Hot restarts need shared memory, which all processes with the same id use.
fn command(_: &Folder) -> Vec<String> {
    let options = ["-c", "envoy.yaml", "--disable-hot-restart", "--concurrency", "2"];
    [unpacked("envoy")]
        .into_iter()
        .chain(options.map(str::to_owned))
        .collect()
}
