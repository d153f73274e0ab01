//! A process that ends with its owner, however that ends, together with those that it has started.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Says which process it becomes, before that says anything.
const NAMED: &str = r#"echo $$; exec "$@""#;
/// Kills the process and its group as soon as standard input closes: on drop, on a panic, and when the test process is
/// killed. The terminal's signals no longer reach that group, so the watchdog has to outlive them.
const WATCHED: &str = r#"trap '' HUP INT QUIT; named=$1; shift; setsid sh -c "$named" sh "$@" </dev/null & process=$!
exec >&-; cat >/dev/null; kill -9 -$process $process 2>/dev/null; wait $process"#;

pub struct Process {
    watchdog: Child,
    pid: u32,
    /// Reads the log, to the end that it has when nobody is left who could write it.
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a program, and returns as soon as its log says that it is ready, in one of these words.
    pub fn start(command: &[String], ready: &[&str]) -> Self {
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", WATCHED, "sh", NAMED]).args(command);
        watchdog
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut watchdog = watchdog.spawn().unwrap();
        let mut log = BufReader::new(watchdog.stdout.take().unwrap()).lines();
        let pid = log.next().unwrap().unwrap().parse().unwrap();
        // From here on it is stopped, should it not get ready.
        let mut process = Self {
            watchdog,
            pid,
            reader: None,
        };
        read_until(ready, &mut log, command);
        // Whoever stops reading a pipe stops its writer.
        process.reader = Some(thread::spawn(move || log.for_each(drop)));
        process
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Stops it in the middle of whatever it does: its connections stay, and it answers nobody.
    pub fn freeze(&self) {
        self.signal("-STOP");
        // The signal was sent, which does not mean that it has arrived. An example has this file without `patience`.
        let end = Instant::now() + Duration::from_secs(60);
        while self.state() != 'T' {
            assert!(Instant::now() < end, "{} is not frozen", self.pid);
            thread::yield_now();
        }
    }

    /// Goes on where it was frozen.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.pid.to_string()]).status();
        assert!(sent.unwrap().success(), "{signal} to {}", self.pid);
    }

    /// By the letter that Linux has for it. It follows the name, which may contain anything.
    fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        let (_, after_name) = stat.rsplit_once(") ").unwrap();
        after_name.chars().next().unwrap()
    }
}

fn read_until(ready: &[&str], log: &mut Lines<BufReader<ChildStdout>>, command: &[String]) {
    let mut said = Vec::new();
    for line in log {
        // What it logs may quote what it was given, in any encoding.
        let line = line.unwrap_or_default();
        if ready.iter().any(|ready| line.contains(ready)) {
            return;
        }
        said.push(line);
    }
    panic!("{command:?} did not start:\n{}", said.join("\n"));
}

/// Killed, frozen or not, and all gone when this returns.
impl Drop for Process {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        self.watchdog.wait().ok();
        self.reader.take().map(JoinHandle::join);
    }
}
