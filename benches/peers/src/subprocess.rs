//! Programs that this process starts, and that end with it.

use std::{
    env,
    ffi::OsStr,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// The path of another program that scripts/bench builds, beside this one.
pub fn sibling_program(name: &str) -> PathBuf {
    let this = env::current_exe().expect("the path of this program");
    this.with_file_name(name)
}

/// Kills the program as soon as standard input closes: on drop, on a panic, and when this process is killed.
const KILL_ON_EOF: &str = r#""$@" </dev/null & program=$!; exec >&- 2>/dev/null; cat >/dev/null; kill -9 $program 2>/dev/null; wait $program"#;

pub struct Subprocess(Child);

impl Subprocess {
    /// Starts a program and waits for a line of its output that contains `ready`, which is returned; `None` if the program ends
    /// first.
    pub fn start(program: impl AsRef<OsStr>, arguments: &[&str], ready: &str) -> Option<(Self, String)> {
        let mut command = Command::new("sh");
        command.args(["-c", KILL_ON_EOF, "sh"]).arg(program).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let mut output = BufReader::new(child.stdout.take().expect("a piped standard output"));
        let (program, mut line) = (Self(child), String::new());
        while output.read_line(&mut line).is_ok_and(|read| read > 0) {
            if line.contains(ready) {
                // A full pipe would block the program.
                std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
                return Some((program, line));
            }
            line.clear();
        }
        None
    }
}

impl Drop for Subprocess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}
