//! The four processes.

use std::{env, fs};

use reqwest::Client;
use tokio::runtime::Handle;

use crate::{
    limits::PROCESSES,
    serve::READY,
    stall_detector::Stall,
    support::{port::Port, process::Process},
};

pub(crate) struct Fleet(Vec<Member>);

struct Member {
    port: Port,
    process: Process,
}

impl Fleet {
    /// Starts the processes on these nodes of Redis.
    pub(crate) fn start(redis: &[String]) -> Self {
        let program = env::current_exe().expect("the path of this program");
        let member = |_| {
            let port = Port::free();
            let mut command = vec![program.display().to_string(), "serve".into(), port.number().to_string()];
            command.extend_from_slice(redis);
            let process = Process::start(&command, &[READY]);
            Member { port, process }
        };
        Self((0..PROCESSES).map(member).collect())
    }

    pub(crate) fn urls(&self) -> impl Iterator<Item = String> {
        let url = |member: &Member| format!("http://127.0.0.1:{}", member.port.number());
        self.0.iter().map(url)
    }

    /// The health of the Redis store of each process: that of each node, separated by semicolons.
    pub(crate) fn health(&self, runtime: &Handle) -> Vec<String> {
        self.get("health", runtime)
    }

    /// The stalls that each process detected since the last call.
    pub(crate) fn stalls(&self, runtime: &Handle) -> Vec<Stall> {
        let bodies = self.get("stalls", runtime);
        let lines = bodies.iter().flat_map(|body| body.lines());
        lines.filter_map(|line| line.parse().ok()).collect()
    }

    /// The response body of each process at a route, or the error.
    fn get(&self, route: &str, runtime: &Handle) -> Vec<String> {
        let get = async |url: String| Client::new().get(url).send().await?.text().await;
        let get = |url: String| runtime.block_on(get(format!("{url}/{route}")));
        self.urls()
            .map(|url| get(url).unwrap_or_else(|error| error.to_string()))
            .collect()
    }

    /// The number of open file descriptors of each process.
    pub(crate) fn open_files(&self) -> Vec<usize> {
        let count = |member: &Member| fs::read_dir(format!("/proc/{}/fd", member.process.pid())).map(Iterator::count);
        self.0.iter().map(|member| count(member).unwrap_or_default()).collect()
    }
}
