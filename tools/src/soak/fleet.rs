//! The four processes.

use std::{env, fs};

use reqwest::Client;
use tokio::runtime::Handle;

use crate::{
    heartbeat::Stall,
    limits::PROCESSES,
    serve::READY,
    support::{port::Port, process::Process},
};

pub(crate) struct Fleet(Vec<Member>);

struct Member {
    port: Port,
    process: Process,
}

impl Fleet {
    pub(crate) fn start(redis: &str) -> Self {
        let program = env::current_exe().expect("a program knows where it is");
        let member = |_| {
            let port = Port::free();
            let (program, number) = (program.display().to_string(), port.number().to_string());
            let command = [program, "serve".into(), number, redis.into()];
            let process = Process::start(&command, &[READY]);
            Member { port, process }
        };
        Self((0..PROCESSES).map(member).collect())
    }

    pub(crate) fn urls(&self) -> impl Iterator<Item = String> {
        let url = |member: &Member| format!("http://127.0.0.1:{}", member.port.number());
        self.0.iter().map(url)
    }

    /// What each says of its Redis.
    pub(crate) fn health(&self, runtime: &Handle) -> Vec<String> {
        self.ask("health", runtime)
    }

    /// When each noticed that the machine stood still, since it was last asked.
    pub(crate) fn stalls(&self, runtime: &Handle) -> Vec<Stall> {
        let said = self.ask("stalls", runtime);
        let lines = said.iter().flat_map(|said| said.lines());
        lines.filter_map(|line| line.parse().ok()).collect()
    }

    /// The text at a route of each, or why there is none.
    fn ask(&self, route: &str, runtime: &Handle) -> Vec<String> {
        let get = async |url: String| Client::new().get(url).send().await?.text().await;
        let ask = |url: String| runtime.block_on(get(format!("{url}/{route}")));
        self.urls()
            .map(|url| ask(url).unwrap_or_else(|error| error.to_string()))
            .collect()
    }

    /// How many files, sockets and pipes each has open.
    pub(crate) fn open_files(&self) -> Vec<usize> {
        let count = |member: &Member| fs::read_dir(format!("/proc/{}/fd", member.process.pid())).map(Iterator::count);
        self.0.iter().map(|member| count(member).unwrap_or_default()).collect()
    }
}
