//! A Valkey whose clock a test can set while it runs.

use std::{
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tollgate::redis::Client;

use super::{
    folder::Folder,
    patience::until,
    port::Port,
    redis::{RedisServer, time},
    valkey,
};

/// How late a server may be to tell what its clock shows, in microseconds.
const LATE: i64 = 1000;

impl RedisServer {
    /// Only Valkey: Debian's redis-server hangs when its clock is taken from it.
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
        // Clocks that cannot be set, such as those that timers go by, go on as they are.
        program.push("FAKETIME_DONT_FAKE_MONOTONIC=1");
        let valkey = valkey::program();
        program.push(&valkey);
        (Self::launch(&program, port, &[]), clock)
    }
}

/// It goes on at its own pace from wherever it is set to.
pub struct ServerClock {
    folder: Folder,
    url: String,
    /// Of the clock of this machine, in microseconds.
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
        // The server looks at the clock no more often than it needs to.
        let mut redis = Client::open(self.url.as_str()).unwrap().get_connection().unwrap();
        until("the server has noticed", || {
            let earliest = now() - LATE;
            let shown = time(&mut redis) as i64 - ahead;
            (earliest..=now()).contains(&shown)
        });
    }

    /// The server looks into the file whenever it looks at the clock, and must never find it half written.
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
