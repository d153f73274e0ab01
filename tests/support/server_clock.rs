//! A Valkey server with a clock that the test can set at runtime.

use std::{
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tollgate::redis::Client;

use super::{
    folder::Folder,
    port::Port,
    redis::{RedisServer, time},
    valkey,
    wait::until,
};

/// How far the reported time may lag behind the server's clock, in microseconds.
const MAX_LAG: i64 = 1000;

impl RedisServer {
    /// Only for Valkey: Debian's redis-server hangs under libfaketime.
    pub fn valkey_with_clock() -> (Self, ServerClock) {
        let port = Port::free();
        let clock = ServerClock {
            folder: Folder::new("clock"),
            url: format!("redis://127.0.0.1:{}", port.number()),
            ahead: 0,
        };
        clock.write();
        let preload = format!("LD_PRELOAD={}", library());
        let file = format!("FAKETIME_TIMESTAMP_FILE={}", clock.file());
        let mut program = vec!["env", &preload, &file, "FAKETIME_NO_CACHE=1"];
        // The monotonic clock, which timers use, stays real.
        program.push("FAKETIME_DONT_FAKE_MONOTONIC=1");
        let valkey = valkey::executable();
        program.push(&valkey);
        (Self::launch(&program, port, &[]), clock)
    }
}

/// The server's clock, which keeps running after it is set.
pub struct ServerClock {
    folder: Folder,
    url: String,
    /// The offset from the system clock, in microseconds.
    ahead: i64,
}

impl ServerClock {
    pub fn set_back(&mut self, by: Duration) {
        self.set(self.ahead - by.as_micros() as i64);
    }

    pub fn set_forward(&mut self, by: Duration) {
        self.set(self.ahead + by.as_micros() as i64);
    }

    fn set(&mut self, ahead: i64) {
        self.ahead = ahead;
        self.write();
        // The server caches the time.
        let mut redis = Client::open(self.url.as_str()).unwrap().get_connection().unwrap();
        until("the server reports the new time", || {
            let earliest = now() - MAX_LAG;
            let reported = time(&mut redis) as i64 - ahead;
            (earliest..=now()).contains(&reported)
        });
    }

    /// Replaces the file atomically, since the server reads it whenever it reads the clock.
    fn write(&self) {
        let draft = self.folder.file("draft");
        std::fs::write(&draft, format!("{:+.6}", self.ahead as f64 / 1e6)).unwrap();
        std::fs::rename(draft, self.file()).unwrap();
    }

    fn file(&self) -> String {
        self.folder.file("clock")
    }
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_micros() as i64
}

fn library() -> String {
    let output = Command::new("faketime")
        .args(["-f", "+0", "printenv", "LD_PRELOAD"])
        .output();
    let output = output.expect("no faketime on the PATH: install it (Debian: apt-get install faketime)");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
