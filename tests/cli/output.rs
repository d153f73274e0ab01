//! Output on a terminal and in a pipe: colours, `--quiet` and `--verbose`, Ctrl-C.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use support::{
    port::Port,
    project::{program_path, tollgate},
    redis::{RedisServer, query},
    terminal::on_a_terminal,
};

use super::{RULES, Run, folder_with};

const ESCAPE: char = '\u{1b}';

/// Valid and invalid arguments of each subcommand, with the exit code.
fn runs(store: &str) -> Vec<(Vec<&str>, i32)> {
    let key = ["--rules", "rules.toml", "--limit", "all", "--store", store];
    vec![
        (vec!["--help"], 0),
        (vec!["gateway", "--help"], 0),
        (vec!["gateway", "--listen", "nowhere"], 2),
        (vec!["gateway", "--listen", "0", "--rules", "wrong.toml"], 1),
        (vec!["simulate"], 0),
        (vec!["simulate", "--rules", "wrong.toml", "--log", "rules.toml"], 1),
        (vec!["playground", "--listen", "nowhere"], 2),
        (vec!["check", "rules.toml", "--store", store], 0),
        (vec!["check", "wrong.toml"], 1),
        ([&["peek"], &key[..]].concat(), 0),
        ([&["peek", "--json"], &key[..]].concat(), 0),
        ([&["reset"], &key[..]].concat(), 0),
        ([&["peek", "--key", "user=alice"], &key[..]].concat(), 1),
        (vec!["completions", "bash"], 0),
        (vec!["man"], 0),
    ]
}

#[test]
fn a_terminal_and_a_pipe_get_the_same_text_and_only_a_terminal_gets_colours() {
    let folder = folder_with(RULES);
    std::fs::write(folder.file("wrong.toml"), "[[limit]]\nname = 1\n").unwrap();
    let redis = RedisServer::start();
    let store = redis.url();
    let mut coloured = 0;
    for (arguments, code) in runs(&store) {
        let piped = Run::in_a_pipe(folder.path(), &arguments);
        assert_eq!(piped.code, Some(code), "{arguments:?}: {piped:?}");
        assert!(
            !piped.output.contains(ESCAPE) && !piped.errors.contains(ESCAPE),
            "{piped:?}"
        );
        let drawn = Run::on_a_terminal(folder.path(), &arguments, &[]);
        assert_eq!(drawn.code, Some(code), "{arguments:?}: {drawn:?}");
        coloured += usize::from(drawn.output.contains(ESCAPE));
        for (more, environment) in [(&[][..], &[("NO_COLOR", "1")][..]), (&["--color", "never"], &[])] {
            let plain = Run::on_a_terminal(folder.path(), &[&arguments[..], more].concat(), environment);
            let is_drawn = ["simulate"].contains(&arguments[0]);
            assert!(
                is_drawn || !plain.output.contains(ESCAPE),
                "{arguments:?}: {}",
                plain.output
            );
            let text = plain.output.replace("\r\n", "\n");
            assert!(
                text == format!("{}{}", piped.errors, piped.output)
                    || text == format!("{}{}", piped.output, piped.errors)
                    || is_drawn
                    || arguments.contains(&"--help"),
                "{arguments:?}: {text}"
            );
        }
    }
    // Help, usage errors, diagnostics, and other errors.
    assert!(coloured >= 6, "{coloured}");
    let forced = Run::in_a_pipe(folder.path(), &["check", "--color", "always", "wrong.toml"]);
    assert!(forced.errors.contains(ESCAPE), "{}", forced.errors);
}

#[test]
fn quiet_prints_results_only_and_verbose_logs() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    let store = redis.url();
    let report = Run::in_a_pipe(folder.path(), &["simulate"]);
    assert!(
        report.errors.contains("This is a sample") && report.errors.contains(" lines in "),
        "{}",
        report.errors
    );
    let quiet = Run::in_a_pipe(folder.path(), &["simulate", "--quiet"]);
    assert_eq!((&*quiet.output, &*quiet.errors), (&*report.output, ""));
    let peek = ["peek", "--rules", "rules.toml", "--limit", "all", "--store", &store];
    let plain = Run::in_a_pipe(folder.path(), &peek).success();
    let verbose = Run::in_a_pipe(folder.path(), &[&peek[..], &["--verbose"]].concat());
    assert_eq!(verbose.output, plain);
    assert!(verbose.errors.contains("DEBUG tollgate"), "{}", verbose.errors);
}

/// Without a banner, a response shows that the gateway is ready.
#[tokio::test]
async fn a_quiet_gateway_serves_without_output() {
    let folder = folder_with(RULES);
    let port = Port::free();
    let address = format!("127.0.0.1:{}", port.number());
    let mut command = tollgate("gateway");
    command.args(["-q", "--rules", &folder.file("rules.toml"), "--listen", &address]);
    let mut gateway = command.spawn().unwrap();
    support::wait::eventually("the gateway serves", async || {
        reqwest::get(format!("http://{address}/")).await.is_ok()
    })
    .await;
    let killed = Command::new("kill").args(["-INT", &gateway.id().to_string()]).status();
    assert!(killed.unwrap().success());
    assert_eq!(gateway.wait().unwrap().code(), Some(0));
    let (mut stdout, mut stderr) = (String::new(), String::new());
    gateway.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    gateway.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((&*stdout, &*stderr), ("", ""));
}

/// The error names the Redis that was killed.
#[test]
fn redis_killed_during_a_simulation() {
    let folder = folder_with(RULES);
    let mut redis = RedisServer::start();
    let line = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\",\"headers\":{\"x-user-id\":\"a\"}}\n";
    std::fs::write(folder.file("trace"), line.repeat(200_000)).unwrap();
    let mut command = tollgate("simulate");
    command.args(["--rules", "rules.toml", "--trace", "trace", "--store", &redis.url()]);
    let mut program = command
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = BufReader::new(program.stdout.take().unwrap());
    answers.read_line(&mut String::new()).unwrap();
    redis.kill();
    answers.read_to_string(&mut String::new()).unwrap();
    let mut errors = String::new();
    program.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(program.wait().unwrap().code(), Some(1), "{errors}");
    assert!(errors.contains("Redis at 127.0.0.1:"), "{errors}");
}

#[test]
fn ctrl_c_deletes_the_keys_of_a_simulation() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    let line = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\",\"headers\":{\"x-user-id\":\"a\"}}\n";
    std::fs::write(folder.file("trace"), line.repeat(1_000_000)).unwrap();
    let simulate = format!(
        "{} simulate --rules rules.toml --trace trace --store {} > answers",
        program_path("tollgate").display(),
        redis.url()
    );
    let mut script = on_a_terminal(&simulate);
    script.current_dir(folder.path());
    let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The progress bar shows that counting has begun.
    let mut drawn = BufReader::new(script.stdout.take().unwrap());
    let mut bar = Vec::new();
    drawn.read_until(b'%', &mut bar).unwrap();
    assert!(query::<usize>(&mut redis.client(), "DBSIZE") > 0);
    // Ctrl-C, as a terminal receives it.
    std::io::Write::write_all(script.stdin.as_mut().unwrap(), b"\x03").unwrap();
    assert_eq!(script.wait().unwrap().code(), Some(130));
    assert_eq!(query::<usize>(&mut redis.client(), "DBSIZE"), 0);
}

#[test]
fn ctrl_c_ends_servers_on_a_terminal() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    let gateway = ["gateway", "--rules", "rules.toml", "--listen", "0", "--store"];
    for (arguments, last_line) in [
        (&gateway[..], "  curl -i http://"),
        (&["playground", "--listen", "0", "--store"], "open http://"),
    ] {
        let command = format!(
            "{} {} {}",
            program_path("tollgate").display(),
            arguments.join(" "),
            redis.url()
        );
        let mut script = on_a_terminal(&command);
        script.current_dir(folder.path());
        let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(script.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        assert!(lines.any(|line| line.contains(last_line)), "{arguments:?}");
        std::io::Write::write_all(script.stdin.as_mut().unwrap(), b"\x03").unwrap();
        assert_eq!(script.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
    assert_eq!(query::<usize>(&mut redis.client(), "DBSIZE"), 0);
}
