//! Describes the machine and the date of the measurement.

use std::{fs, process::Command, thread};

pub fn describe() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!(
        "Measured on {} by `scripts/bench`: {cores} cores ({}), {}, {}.",
        run("date", &["-u", "+%Y-%m-%d"]),
        processor(),
        redis(),
        rust(),
    )
}

fn processor() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|model| model.trim_start_matches([' ', '\t', ':']).to_owned());
    model.unwrap_or_else(|| "unknown processor".to_owned())
}

/// The version from `Redis server v=7.0.15 sha=..`.
fn redis() -> String {
    let version = run("redis-server", &["--version"]);
    let version = version
        .split_once("v=")
        .map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
    format!("Redis {version}")
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
