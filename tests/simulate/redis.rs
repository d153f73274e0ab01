//! A run deletes its keys from a shared Redis.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use support::{
    project::tollgate,
    redis::{RedisServer, keys, query},
    wait::until_some,
};

use super::{Case, Run, limit, two_per_minute};

const REQUEST: &str = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\"}\n";

#[test]
fn a_run_deletes_its_keys_and_no_others() {
    let redis = RedisServer::start();
    query::<()>(&mut redis.client(), "SET simulate:other 1");
    let others = || keys(&mut redis.client());
    let store = ["--store", &redis.url()];
    let case = Case::trace(&two_per_minute(), REQUEST.repeat(3));
    for _ in 0..2 {
        // Each run starts with empty state.
        let answers = case.run(&store).success();
        let admitted = answers.lines().map(|line| line.starts_with("{\"admitted\":true"));
        assert_eq!(admitted.collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(others(), ["simulate:other"]);
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
    let log = Case::log(&two_per_minute(), clients);
    assert_eq!(log.run(&store).success(), log.run(&[]).success());
    assert_eq!(others(), ["simulate:other"]);
}

#[test]
fn a_failed_run_deletes_its_keys() {
    let redis = RedisServer::start();
    let case = Case::trace(&two_per_minute(), format!("{REQUEST}{{}}\n"));
    let error = case.run(&["--store", &redis.url()]).failure();
    assert!(error.contains("at_us is missing"), "{error}");
    assert_eq!(query::<usize>(&mut redis.client(), "DBSIZE"), 0);
}

/// A run that is fed line by line.
struct InteractiveRun {
    program: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl InteractiveRun {
    fn start(case: &Case, redis: &RedisServer) -> Self {
        let mut command = tollgate("simulate");
        command.args(["--rules", &case.folder.file("rules.toml"), "--trace", "-"]);
        command.args(["--store", &redis.url()]).stdin(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (input, output) = (program.stdin.take().unwrap(), program.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map(Result::unwrap);
            lines.try_for_each(|line| sender.send(line))
        });
        Self {
            program,
            input,
            answers,
        }
    }

    fn send(&mut self) {
        self.input.write_all(REQUEST.as_bytes()).unwrap();
    }

    /// A missing answer is a failure.
    fn is_admitted(&self) -> bool {
        let answer = self.answers.recv_timeout(Duration::from_secs(60)).unwrap();
        answer.starts_with("{\"admitted\":true")
    }
}

/// The run waits for input, after some answers.
#[test]
fn a_signal_deletes_the_keys() {
    let redis = RedisServer::start();
    let case = Case::trace(&two_per_minute(), "");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut run = InteractiveRun::start(&case, &redis);
        for is_admitted in [true, true, false] {
            run.send();
            assert_eq!(run.is_admitted(), is_admitted);
        }
        assert_eq!(query::<usize>(&mut redis.client(), "DBSIZE"), 1);
        let sent = Command::new("kill")
            .args([signal, &run.program.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ended = until_some("it has exited", || run.program.try_wait().unwrap());
        assert_eq!(ended.code(), Some(code), "{signal}");
        assert_eq!(query::<usize>(&mut redis.client(), "DBSIZE"), 0, "{signal}");
    }
}

#[test]
fn an_unreachable_redis_is_named() {
    let case = Case::trace(&two_per_minute(), REQUEST);
    let error = case.run(&["--store", "redis://127.0.0.1:1"]).failure();
    assert!(error.contains("no connection to Redis at"), "{error}");

    // Redis is killed during a run, and the keys are lost with it.
    let mut redis = RedisServer::start();
    let mut run = InteractiveRun::start(&case, &redis);
    run.send();
    assert!(run.is_admitted());
    redis.kill();
    run.send();
    let error = Run::from(run.program.wait_with_output().unwrap()).failure();
    assert!(error.contains("Redis at"), "{error}");
    assert!(
        error.contains(":* could not be deleted; they expire by themselves"),
        "{error}"
    );
}

/// Enough clients for a memory store to sweep expired entries, at times decades apart.
#[test]
fn expired_state_still_counts_when_time_goes_back() {
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
        let requests =
            clients.map(|(high, low)| format!("{{\"at_us\":{seconds}000000,\"ip\":\"10.{network}.{high}.{low}\"}}\n"));
        requests.collect()
    };
    let trace = [at(1_000, 1), at(1_000_000_000, 2), at(1_000, 1), at(2_000_000_000, 1)];
    let case = Case::trace(&rules, trace.concat());
    let memory = case.run(&[]).success();
    let admitted: Vec<_> = memory
        .lines()
        .map(|line| line.starts_with("{\"admitted\":true"))
        .collect();
    let expected = [true, true, false, true]
        .map(|is_admitted| vec![is_admitted; 600])
        .concat();
    assert_eq!(admitted, expected);
    assert_eq!(memory, case.run(&["--store", &redis.url()]).success());
}
