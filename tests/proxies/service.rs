//! `tollgate service` as a process, which can be killed and started again on the same port.

use std::fs;

use support::{folder::Folder, port::Port, process::Process, project::program_path, redis::RedisServer};

use super::program::{GRPC, Program};

pub(crate) struct Service {
    command: Vec<String>,
    process: Option<Process>,
    /// Stays reserved while the service is down.
    port: Port,
    /// Contains the rules.
    _folder: Folder,
}

impl Service {
    /// With a store timeout that a busy machine does not exceed.
    pub(crate) fn start(program: &Program, rules: &str, redis: &RedisServer, options: &[&str]) -> Self {
        let (folder, port) = (Folder::new("service"), Port::free());
        fs::write(folder.file("rules.toml"), rules).unwrap();
        let tollgate = program_path("tollgate").display().to_string();
        let protocol = if program.service == GRPC { "--grpc" } else { "--http" };
        let address = format!("127.0.0.1:{}", port.number());
        let (rules, redis) = (folder.file("rules.toml"), redis.url());
        let common = [
            &tollgate,
            "service",
            protocol,
            &address,
            "--rules",
            &rules,
            "--store",
            &redis,
            "--store-timeout",
            "30s",
        ];
        let mut service = Self {
            command: common.iter().chain(options).map(ToString::to_string).collect(),
            process: None,
            port,
            _folder: folder,
        };
        service.restart();
        service
    }

    pub(crate) fn port(&self) -> u16 {
        self.port.number()
    }

    /// Kills the service with SIGKILL. Its port then rejects connections.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn restart(&mut self) {
        self.kill();
        self.process = Some(Process::start(&self.command, &["listening"]));
    }

    /// Stops the service with SIGSTOP: it accepts connections, and does not respond.
    pub(crate) fn freeze(&self) {
        self.process.as_ref().expect("the service was killed").freeze();
    }
}
