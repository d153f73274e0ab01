//! The gateway's process, killed on drop.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use support::project;

pub(crate) fn program() -> Command {
    let mut program = Command::new(project::program_path("tollgate"));
    program.arg("gateway");
    program
}

/// A gateway that accepts connections.
pub(crate) struct Running {
    pub(crate) child: Child,
    /// Its output at startup.
    pub(crate) banner: String,
}

impl Running {
    pub(crate) fn start(program: &mut Command) -> Self {
        let mut child = program.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self {
            child,
            banner: String::new(),
        };
        while !running.banner.contains("curl") {
            let read = output.read_line(&mut running.banner).unwrap();
            assert!(read > 0, "{program:?} has exited: {}", running.banner);
        }
        // A full pipe would block the gateway.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        running
    }

    /// The address after this label in the banner.
    pub(crate) fn address(&self, label: &str) -> SocketAddr {
        let (_, rest) = self
            .banner
            .split_once(label)
            .unwrap_or_else(|| panic!("{}", self.banner));
        let end = rest.find([',', '\n']).unwrap();
        rest[..end].parse().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
