//! A process that is killed on drop together with its children, even if the test process is killed.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Prints its process id, then becomes the program.
const WITH_PID: &str = r#"echo $$; exec "$@""#;
/// Kills the process and its group as soon as standard input closes: on drop, on a panic, and when the test process is
/// killed. The terminal's signals no longer reach that group, so the watchdog has to outlive them.
const WATCHDOG: &str = r#"trap '' HUP INT QUIT; with_pid=$1; shift; setsid sh -c "$with_pid" sh "$@" </dev/null & process=$!
exec >&-; cat >/dev/null; kill -9 -$process $process 2>/dev/null; wait $process"#;

pub struct Process {
    watchdog: Child,
    pid: u32,
    /// Reads the log until every process that writes it has exited.
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a program, and returns once its log contains one of the ready messages.
    pub fn start(command: &[String], ready: &[&str]) -> Self {
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", WATCHDOG, "sh", WITH_PID]).args(command);
        watchdog
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut watchdog = watchdog.spawn().unwrap();
        let mut log = BufReader::new(watchdog.stdout.take().unwrap()).lines();
        let pid = log.next().unwrap().unwrap().parse().unwrap();
        // From here on, drop kills the process if it does not get ready.
        let mut process = Self {
            watchdog,
            pid,
            reader: None,
        };
        read_until(ready, &mut log, command);
        // A full pipe would block the process.
        process.reader = Some(thread::spawn(move || log.for_each(drop)));
        process
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Stops the process with SIGSTOP: its connections stay open, and it does not respond.
    pub fn freeze(&self) {
        self.signal("-STOP");
        // The signal is delivered asynchronously. `wait` is not used here because the soak includes this file without it.
        let end = Instant::now() + Duration::from_secs(60);
        while self.state() != 'T' {
            assert!(Instant::now() < end, "{} is not frozen", self.pid);
            thread::yield_now();
        }
    }

    /// Continues the process with SIGCONT.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.pid.to_string()]).status();
        assert!(sent.unwrap().success(), "{signal} to {}", self.pid);
    }

    /// The state letter of /proc/PID/stat. It follows the process name, which may contain any character.
    fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        let (_, after_name) = stat.rsplit_once(") ").unwrap();
        after_name.chars().next().unwrap()
    }
}

fn read_until(ready: &[&str], log: &mut Lines<BufReader<ChildStdout>>, command: &[String]) {
    let mut lines = Vec::new();
    for line in log {
        // A line may quote an argument that is not UTF-8.
        let line = line.unwrap_or_default();
        if ready.iter().any(|ready| line.contains(ready)) {
            return;
        }
        lines.push(line);
    }
    panic!("{command:?} did not start:\n{}", lines.join("\n"));
}

/// Kills the process, frozen or not, and returns once it and its children have exited.
impl Drop for Process {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        self.watchdog.wait().ok();
        self.reader.take().map(JoinHandle::join);
    }
}
