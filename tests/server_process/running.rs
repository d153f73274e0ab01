//! A process that has printed its banner, killed on drop.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, ExitStatus, Stdio},
};

use support::{project, wait::until_some};

/// A subcommand of `tollgate`.
pub(crate) fn subcommand(name: &str) -> Command {
    let mut program = Command::new(project::program_path("tollgate"));
    program.arg(name).env_remove("TOLLGATE_STORE");
    program
}

/// A server that accepts connections.
pub(crate) struct Running {
    pub(crate) child: Child,
    /// Its output at startup.
    pub(crate) banner: String,
}

impl Running {
    pub(crate) fn start(program: &mut Command) -> Self {
        Self::start_until("curl", program)
    }

    /// Reads the banner to the line with this text.
    pub(crate) fn start_until(last: &str, program: &mut Command) -> Self {
        Self::try_start(last, program).unwrap_or_else(|exited| panic!("{program:?} has exited: {exited:?}"))
    }

    /// A running server, or its exit code and its errors if these are piped.
    pub(crate) fn try_start(last: &str, program: &mut Command) -> Result<Self, (Option<i32>, String)> {
        let mut child = program.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut errors = child.stderr.take();
        let mut running = Self {
            child,
            banner: String::new(),
        };
        while !running.banner.contains(last) {
            if output.read_line(&mut running.banner).unwrap() == 0 {
                assert_eq!(running.banner, "");
                let mut why = String::new();
                if let Some(errors) = &mut errors {
                    errors.read_to_string(&mut why).unwrap();
                }
                return Err((running.child.wait().unwrap().code(), why));
            }
        }
        // A full pipe would block the server.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        std::thread::spawn(move || errors.map(|mut errors| errors.read_to_end(&mut Vec::new())));
        Ok(running)
    }

    /// The address after this label in the banner.
    pub(crate) fn address(&self, label: &str) -> SocketAddr {
        let (_, rest) = self
            .banner
            .split_once(label)
            .unwrap_or_else(|| panic!("{}", self.banner));
        let end = rest.find([',', '/', '\n']).unwrap();
        rest[..end].parse().unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        until_some("it has exited", || self.child.try_wait().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
