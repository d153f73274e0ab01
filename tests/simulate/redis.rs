//! What a run leaves behind at a Redis that others use: nothing.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use support::{
    patience::until_some,
    project::tollgate,
    redis::{RedisServer, ask, keys},
};

use super::{Case, Run, limit, two_a_minute};

const ASKED: &str = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\"}\n";

#[test]
fn nothing_is_left_when_it_is_done_and_nobody_else_is_disturbed() {
    let redis = RedisServer::start();
    ask::<()>(&mut redis.client(), "SET simulate:of-somebody-else 1");
    let others = || keys(&mut redis.client());
    let store = ["--store", &redis.url()];
    let case = Case::trace(&two_a_minute(), ASKED.repeat(3));
    for _ in 0..2 {
        // Each run starts from nothing.
        let answers = case.run(&store).done();
        let admitted = answers.lines().map(|line| line.starts_with("{\"admitted\":true"));
        assert_eq!(admitted.collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(others(), ["simulate:of-somebody-else"]);
    }
    let clients: String = (0..3000)
        .map(|client| {
            format!(
                "10.0.{}.{} - - [02/Nov/2026:09:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n",
                client / 250,
                client % 250
            )
        })
        .collect();
    let log = Case::log(&two_a_minute(), clients);
    assert_eq!(log.run(&store).done(), log.run(&[]).done());
    assert_eq!(others(), ["simulate:of-somebody-else"]);
}

#[test]
fn nothing_is_left_when_it_fails() {
    let redis = RedisServer::start();
    let case = Case::trace(&two_a_minute(), format!("{ASKED}{{}}\n"));
    let error = case.run(&["--store", &redis.url()]).failed();
    assert!(error.contains("at_us is missing"), "{error}");
    assert_eq!(ask::<usize>(&mut redis.client(), "DBSIZE"), 0);
}

/// A run that is asked line by line.
struct Dialogue {
    program: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Dialogue {
    fn begin(case: &Case, redis: &RedisServer) -> Self {
        let mut command = tollgate("simulate");
        command.args(["--rules", &case.folder.file("rules.toml"), "--trace", "-"]);
        command.args(["--store", &redis.url()]).stdin(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (input, output) = (program.stdin.take().unwrap(), program.stdout.take().unwrap());
        let (said, answers) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map(Result::unwrap);
            lines.try_for_each(|line| said.send(line))
        });
        Self {
            program,
            input,
            answers,
        }
    }

    fn ask(&mut self) {
        self.input.write_all(ASKED.as_bytes()).unwrap();
    }

    /// An answer that would never come is a failure.
    fn is_admitted(&self) -> bool {
        let answer = self.answers.recv_timeout(Duration::from_secs(60)).unwrap();
        answer.starts_with("{\"admitted\":true")
    }
}

/// While it waits for its input, and has been answering.
#[test]
fn nothing_is_left_when_it_is_asked_to_end() {
    let redis = RedisServer::start();
    let case = Case::trace(&two_a_minute(), "");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut run = Dialogue::begin(&case, &redis);
        for is_admitted in [true, true, false] {
            run.ask();
            assert_eq!(run.is_admitted(), is_admitted);
        }
        assert_eq!(ask::<usize>(&mut redis.client(), "DBSIZE"), 1);
        let sent = Command::new("kill")
            .args([signal, &run.program.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ended = until_some("it has ended", || run.program.try_wait().unwrap());
        assert_eq!(ended.code(), Some(code), "{signal}");
        assert_eq!(ask::<usize>(&mut redis.client(), "DBSIZE"), 0, "{signal}");
    }
}

#[test]
fn a_redis_that_cannot_be_used_is_named() {
    let case = Case::trace(&two_a_minute(), ASKED);
    let error = case.run(&["--store", "redis://127.0.0.1:1"]).failed();
    assert!(error.contains("no connection to Redis at"), "{error}");

    // It goes away in the middle of a run, and what was written there with it.
    let mut redis = RedisServer::start();
    let mut run = Dialogue::begin(&case, &redis);
    run.ask();
    assert!(run.is_admitted());
    redis.kill();
    run.ask();
    let error = Run::from(run.program.wait_with_output().unwrap()).failed();
    assert!(error.contains("Redis at"), "{error}");
    assert!(
        error.contains(":* could not be deleted, and will expire by themselves"),
        "{error}"
    );
}

/// So many clients that a memory store would sweep what has lapsed, asked at times that lie decades apart.
#[test]
fn what_has_lapsed_still_counts_when_time_goes_back() {
    let redis = RedisServer::start();
    let rest = "limit = 1\nwindow = \"1s\"\nkey = \"ip\"";
    let algorithms = [
        "token_bucket",
        "leaky_bucket",
        "fixed_window",
        "sliding_log",
        "sliding_counter",
    ];
    let rules = algorithms.map(|algorithm| limit(algorithm, algorithm, rest)).concat();
    let at = |seconds: u64, network: u8| -> String {
        let clients = (0..600).map(|client| (client / 250, client % 250));
        let asked =
            clients.map(|(high, low)| format!("{{\"at_us\":{seconds}000000,\"ip\":\"10.{network}.{high}.{low}\"}}\n"));
        asked.collect()
    };
    let trace = [at(1_000, 1), at(1_000_000_000, 2), at(1_000, 1), at(2_000_000_000, 1)];
    let case = Case::trace(&rules, trace.concat());
    let memory = case.run(&[]).done();
    let admitted: Vec<_> = memory
        .lines()
        .map(|line| line.starts_with("{\"admitted\":true"))
        .collect();
    let expected = [true, true, false, true]
        .map(|is_admitted| vec![is_admitted; 600])
        .concat();
    assert_eq!(admitted, expected);
    assert_eq!(memory, case.run(&["--store", &redis.url()]).done());
}
