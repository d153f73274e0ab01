//! The gateway as a program: started with any options, and ended with its owner.

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

/// A gateway that serves.
pub(crate) struct Running {
    pub(crate) child: Child,
    /// All that it said when it started.
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
            assert!(read > 0, "{program:?} has ended: {}", running.banner);
        }
        // Whoever stops reading a pipe stops its writer.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        running
    }

    /// The address after these words of the banner.
    pub(crate) fn address(&self, words: &str) -> SocketAddr {
        let (_, rest) = self
            .banner
            .split_once(words)
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
