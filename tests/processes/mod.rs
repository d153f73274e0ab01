//! Several processes that share limits and queues on one Redis.

mod admitted;
mod concurrency;
mod departures;
mod leases;

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use tollgate::Micros;

use support::subprocess::rerun;

/// Lets one of the tests in real time run at a time: each keeps the machine busy, and what is used depends on it.
fn in_real_time() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> Micros {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as Micros
}

fn signal(process: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Runs a test again in a process for each file, with the URL and the file as its argument. Returns when all have printed `ready`. Their
/// output has to be kept: a process that cannot print fails.
fn start_all(test: &str, url: &str, files: &[String]) -> Vec<(Child, BufReader<ChildStdout>)> {
    let start = |file| {
        let mut process = rerun(test, &format!("{url} {file}")).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        (process, output)
    };
    let mut processes: Vec<_> = files.iter().map(start).collect();
    for (_, output) in &mut processes {
        assert!(output.lines().any(|line| line.unwrap() == "ready"));
    }
    processes
}
