//! Programs that end with their owner.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// Kills the program as soon as standard input closes: on drop, on a panic, and when this process is killed.
const WATCHED: &str = r#""$@" </dev/null & program=$!; exec >&- 2>/dev/null; cat >/dev/null; kill -9 $program 2>/dev/null; wait $program"#;

pub struct Watched(Child);

impl Watched {
    /// Starts a program and reads what it says until a line has these words in it, which is returned. It is the last
    /// that is read; nothing is returned if the program ends before.
    pub fn start(program: impl AsRef<OsStr>, arguments: &[&str], words: &str) -> Option<(Self, String)> {
        let mut command = Command::new("sh");
        command.args(["-c", WATCHED, "sh"]).arg(program).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("there is a shell");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (program, mut line) = (Self(child), String::new());
        while output.read_line(&mut line).is_ok_and(|read| read > 0) {
            if line.contains(words) {
                // Whoever stops reading a pipe stops its writer.
                std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
                return Some((program, line));
            }
            line.clear();
        }
        None
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}
