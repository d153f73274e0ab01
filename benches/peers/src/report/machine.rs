//! Where and when it was measured, in words.

use std::{fs, process::Command, thread};

pub fn described() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!(
        "Measured on {} by `scripts/bench`: {cores} cores ({}), {}, {}.",
        said("date", &["-u", "+%Y-%m-%d"]),
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

/// `Redis server v=7.0.15 sha=..` says more than anybody wants to know.
fn redis() -> String {
    let version = said("redis-server", &["--version"]);
    let version = version
        .split_once("v=")
        .map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
    format!("Redis {version}")
}

/// `rustc 1.88.0 (..)`, of which the first two words will do.
fn rust() -> String {
    let version = said("rustc", &["--version"]);
    version.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
