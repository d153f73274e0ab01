//! Describes the machine, the date and the versions of a measurement.

use std::{fs, process::Command, thread};

use crate::limits::{LIMIT, NODES, WINDOW};

const CARGO_LOCK: &str = include_str!("../Cargo.lock");
const NPM_LOCK: &str = include_str!("limiters/rate_limiter_flexible/package-lock.json");

/// Names and values.
pub fn describe() -> Vec<(String, String)> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let crates = ["axum-limit", "governor", "limitador", "redis"].map(|name| format!("{name} {}", crate_version(name)));
    let packages = ["rate-limiter-flexible", "ioredis"].map(|name| format!("{name} {}", npm_version(name)));
    let rows = [
        ("date", run("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        ("command", "scripts/exactness".to_owned()),
        ("limit", format!("{LIMIT} requests in {} s", WINDOW.as_secs())),
        ("nodes", format!("{NODES} processes; 1 in the scenario `edge`")),
        (
            "machine",
            format!("{cores} cores ({}), one machine for all processes", processor()),
        ),
        ("load average at the start", load()),
        ("Redis", redis()),
        ("tollgate", crate_version("tollgate")),
        ("crates", crates.join(", ")),
        ("npm packages", packages.join(", ")),
        (
            "compilers",
            format!("{}, Node.js {}", rust(), run("node", &["--version"])),
        ),
    ];
    rows.map(|(name, value)| (name.to_owned(), value)).into()
}

/// From a lock file of cargo, in which `version` follows `name`. Of several versions, the newest is ours.
fn crate_version(name: &str) -> &'static str {
    let (_, after) = CARGO_LOCK
        .rsplit_once(&format!("name = \"{name}\"\nversion = \""))
        .expect("a crate of the lock file");
    after.split('"').next().unwrap_or_default()
}

/// From a lock file of npm, in which `version` follows the path of the package.
fn npm_version(name: &str) -> &'static str {
    let (_, after) = NPM_LOCK
        .split_once(&format!("\"node_modules/{name}\": {{"))
        .expect("a package of the lock file");
    let (_, after) = after.split_once("\"version\": \"").expect("a version");
    after.split('"').next().unwrap_or_default()
}

fn processor() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|model| model.trim_start_matches([' ', '\t', ':']).to_owned());
    model.unwrap_or_else(|| "unknown processor".to_owned())
}

/// Of the last minute.
fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// The version from `Redis server v=7.0.15 sha=..`.
fn redis() -> String {
    let version = run("redis-server", &["--version"]);
    let version = version
        .split_once("v=")
        .map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
    version.to_owned()
}

/// The first two words of `rustc 1.88.0 (..)`.
fn rust() -> String {
    let version = run("rustc", &["--version"]);
    version.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
