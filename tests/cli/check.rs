//! `tollgate check`: errors of a rules file are shown in place, and an unsuitable Redis is reported.

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write, pipe},
    net::TcpListener,
    os::unix::ffi::OsStrExt,
    process::{Command, Stdio},
    thread,
};

use support::{
    folder::Folder,
    project::{self, root},
    redis::{RedisServer, query},
};

use super::{RULES, Run, folder_with};

/// The file with five mistakes in docs/cli.md.
const MISTAKES: &str = r#"[[limit]]
name = "user"
algorithm = "token_buckt"
limit = 100
window = 60
key = "header:x-user-id"
defalt = "ip"

[[limit]]
name = "login"
algorithm = "fixed_window"
limit = 0
window = "1m"
key = "ip"
pathh = "/login"
"#;

/// The diagnostics, without colours.
const SHOWN: &str = include_str!("check.txt");

/// The variable may be set for the servers on a machine.
#[test]
fn a_store_in_memory_is_not_checked() {
    let folder = folder_with(RULES);
    let check = |arguments: &[&str]| {
        let mut command = tollgate_in(&folder);
        Run::of(command.arg("check").args(arguments).env("TOLLGATE_STORE", "memory"))
    };
    assert_eq!(check(&["-q", "rules.toml"]).success(), "");
    assert_eq!(check(&[]).code, Some(2));
}

/// Bytes that are not valid UTF-8.
#[test]
fn a_file_may_have_any_name() {
    let folder = folder_with(RULES);
    let name = OsStr::from_bytes(b"caf\xe9.toml");
    fs::write(folder.path().join(name), RULES).unwrap();
    let checked = Run::of(tollgate_in(&folder).args(["check", "-q"]).arg(name));
    assert_eq!(checked.success(), "");
}

/// As in `tollgate check a.toml b.toml | head -1`.
#[test]
fn errors_count_although_the_output_is_closed() {
    let folder = folder_with(RULES);
    fs::write(folder.file("wrong.toml"), MISTAKES).unwrap();
    for files in [["wrong.toml", "rules.toml"], ["rules.toml", "wrong.toml"]] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = tollgate_in(&folder);
        command.arg("check").args(files).stdout(writer).stderr(Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(1), "{files:?}");
    }
}

fn tollgate_in(folder: &Folder) -> Command {
    let mut command = project::program("tollgate");
    command.current_dir(folder.path());
    command
}

#[test]
fn valid_rules_are_summarized() {
    let folder = folder_with(RULES);
    let printed = Run::in_a_pipe(folder.path(), &["check", "rules.toml"]).success();
    assert_eq!(
        printed,
        "rules.toml: valid, 5 limits
  all      1000 per 315360000s, fixed_window
  user     10 per 315360000s, fixed_window
  partner  10 per 315360000s, fixed_window
  tenant   10 per 315360000s, fixed_window
  pair     10 per 315360000s, fixed_window
"
    );
    assert_eq!(
        Run::in_a_pipe(folder.path(), &["check", "-q", "rules.toml"]).success(),
        ""
    );
}

/// A limit of 600 per minute with a lease.
fn leased(name: &str, algorithm: &str, lease: &str) -> String {
    format!(
        "[[limit]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\nlimit = 600\nwindow = \"1m\"\nkey = \"global\"\nlease = \"{lease}\"\n"
    )
}

#[test]
fn leases_are_listed() {
    let rules = [
        leased("everyone", "sliding_counter", "100ms"),
        leased("bucket", "token_bucket", "1s"),
        leased("log", "sliding_log", "2s"),
    ];
    let folder = folder_with(&rules.concat());
    assert_eq!(
        Run::in_a_pipe(folder.path(), &["check", "rules.toml"]).success(),
        "rules.toml: valid, 3 limits
  everyone  600 per 60s, sliding_counter, lease 100ms
  bucket    600 per 60s, token_bucket, lease 1s
  log       600 per 60s, sliding_log, lease 2s
"
    );
}

#[test]
fn outcomes_are_listed() {
    let limit = |name: &str, outcomes: &str| {
        let terms = "algorithm = \"token_bucket\"\nlimit = 5\nwindow = \"15m\"\nkey = \"ip\"";
        format!("[[limit]]\nname = \"{name}\"\n{terms}\n{outcomes}\n")
    };
    let rules = [
        limit("all", ""),
        limit("failures", "refund_status = \"2xx\""),
        limit("logins", "lease = \"1s\"\nrefund_status = [\"2xx\", 404, \"410\"]"),
        limit("tokens", "settle_json = \"usage.total_tokens\""),
        limit("both", "settle_json = [\"used\", \"usage.used\"]\nrefund_status = 500"),
    ];
    let folder = folder_with(&rules.concat());
    assert_eq!(
        Run::in_a_pipe(folder.path(), &["check", "rules.toml"]).success(),
        "rules.toml: valid, 5 limits
  all       5 per 900s, token_bucket
  failures  5 per 900s, token_bucket, refund_status 2xx
  logins    5 per 900s, token_bucket, lease 1s, refund_status 2xx or 404 or 410
  tokens    5 per 900s, token_bucket, settle_json usage.total_tokens
  both      5 per 900s, token_bucket, refund_status 500, settle_json used or usage.used
"
    );
}

#[test]
fn descriptors_are_listed() {
    let limit = "[[limit]]\nname = \"search\"\nalgorithm = \"token_bucket\"\nlimit = 10\nwindow = \"1m\"\n\
                 domain = \"edge\"\ndescriptor = [\"tenant\", \"path=/search\"]\n";
    let folder = folder_with(limit);
    assert_eq!(
        Run::in_a_pipe(folder.path(), &["check", "rules.toml"]).success(),
        "rules.toml: valid, 1 limit\n  search  10 per 60s, token_bucket, domain edge, descriptor tenant path=/search\n"
    );
}

#[test]
fn an_invalid_lease_is_shown_with_its_line() {
    for (algorithm, lease, message) in [
        ("token_bucket", "61s", "it must be from 1ms to 1m"),
        ("token_bucket", "1m", "it must be shorter"),
        (
            "leaky_bucket",
            "1s",
            "lease has no effect on a leaky_bucket that queues",
        ),
    ] {
        let folder = folder_with(&leased("all", algorithm, lease));
        let run = Run::in_a_pipe(folder.path(), &["check", "rules.toml"]);
        assert_eq!((run.code, &*run.output), (Some(1), ""));
        assert!(
            run.errors.contains(message) && run.errors.contains(&format!("\n7 | lease = \"{lease}\"\n")),
            "{}",
            run.errors
        );
    }
}

#[test]
fn mistakes_are_shown_with_their_lines() {
    let folder = folder_with(MISTAKES);
    let run = Run::in_a_pipe(folder.path(), &["check", "rules.toml"]);
    assert_eq!((run.code, &*run.output, &*run.errors), (Some(1), "", SHOWN));
    for (place, meant) in [
        ("rules.toml:3:13", "did you mean token_bucket?"),
        ("rules.toml:7:1", "did you mean default?"),
        ("rules.toml:15:1", "did you mean path?"),
    ] {
        assert!(SHOWN.contains(place) && SHOWN.contains(meant), "{place}");
    }
}

#[test]
fn every_subcommand_shows_the_same_diagnostics() {
    let folder = folder_with(MISTAKES);
    let key = ["--store", "redis://127.0.0.1:1", "--limit", "user"];
    for arguments in [
        &["gateway", "--listen", "0", "--rules", "rules.toml"][..],
        &["simulate", "--rules", "rules.toml", "--log", "rules.toml"],
        &[&["peek", "--rules", "rules.toml"], &key[..]].concat(),
        &[&["reset", "--rules", "rules.toml"], &key[..]].concat(),
    ] {
        let run = Run::in_a_pipe(folder.path(), arguments);
        assert_eq!(
            (run.code, &*run.output, &*run.errors),
            (Some(1), "", SHOWN),
            "{arguments:?}"
        );
    }
}

/// `OVERWRITE=1` updates the picture.
#[test]
fn the_picture_in_the_docs_matches_a_terminal() {
    let folder = folder_with(RULES);
    fs::write(folder.file("wrong.toml"), MISTAKES).unwrap();
    let run = Run::on_a_terminal(folder.path(), &["check", "wrong.toml"], &[]);
    assert_eq!(run.code, Some(1));
    let drawn = run.output.replace("\r\n", "\n");
    let svg = anstyle_svg::Term::new().render_svg(&drawn);
    let file = root().join("docs/check.svg");
    if std::env::var_os("OVERWRITE").is_some() {
        fs::write(&file, &svg).unwrap();
    }
    assert!(
        fs::read_to_string(file).unwrap() == svg,
        "docs/check.svg is outdated: OVERWRITE=1 updates it"
    );
}

#[test]
fn several_files_are_all_checked() {
    let folder = folder_with(RULES);
    fs::write(folder.file("wrong.toml"), MISTAKES).unwrap();
    let run = Run::in_a_pipe(folder.path(), &["check", "wrong.toml", "missing.toml", "rules.toml"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.output.starts_with("rules.toml: valid, 5 limits\n"),
        "{}",
        run.output
    );
    assert!(
        run.errors
            .contains("\nerror: wrong.toml: 5 errors\nerror: missing.toml: "),
        "{}",
        run.errors
    );
}

#[test]
fn the_number_of_shown_errors_is_bounded() {
    let folder = folder_with(&"[[limit]]\n".repeat(100));
    let run = Run::in_a_pipe(folder.path(), &["check", "rules.toml"]);
    assert!(
        run.errors
            .ends_with("error: rules.toml: 500 errors, 450 of them not shown\n"),
        "{}",
        run.errors
    );
}

#[test]
fn rules_from_standard_input() {
    let folder = folder_with(RULES);
    let mut command = support::project::tollgate("check");
    command
        .arg("-")
        .stdin(fs::File::open(folder.file("rules.toml")).unwrap());
    assert!(
        Run::of(&mut command)
            .success()
            .starts_with("standard input: valid, 5 limits\n")
    );
}

#[test]
fn a_suitable_redis_and_a_suitable_valkey() {
    let folder = folder_with(RULES);
    for (server, name) in RedisServer::each().iter().zip(["Redis", "Valkey"]) {
        let url = server.url();
        let printed = Run::in_a_pipe(folder.path(), &["check", "--store", &url]).success();
        let address = url.strip_prefix("redis://").unwrap();
        assert!(printed.starts_with(&format!("{address}: usable, {name} ")), "{printed}");
        assert!(
            printed.ends_with("; scripts run and the user has the permissions that limits need\n"),
            "{printed}"
        );
        // The check deletes its keys.
        assert_eq!(query::<usize>(&mut server.client(), "DBSIZE"), 0);
    }
}

#[test]
fn an_evicting_redis_is_a_warning() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start_with(&["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    let check = || Run::in_a_pipe(folder.path(), &["check", "--store", &redis.url()]);
    let run = check();
    assert_eq!(run.code, Some(0));
    let warning = format!(
        "warning: 127.0.0.1:{}: maxmemory-policy allkeys-lru evicts counters",
        redis.port()
    );
    assert!(run.errors.starts_with(&warning), "{}", run.errors);
    query::<()>(&mut redis.client(), "CONFIG SET maxmemory-policy volatile-ttl");
    check().success();
}

/// Limits do not need INFO, but a check without it is incomplete.
#[test]
fn an_eviction_policy_that_cannot_be_read_is_a_warning() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    let rights = "ACL SETUSER limits on >secret ~rate_limit:* +@all -info";
    query::<()>(&mut redis.client(), rights);
    let store = redis.url().replace("redis://", "redis://limits:secret@");
    let run = Run::in_a_pipe(folder.path(), &["check", "--store", &store]);
    assert_eq!(run.code, Some(0));
    let warning = format!(
        "warning: 127.0.0.1:{}: the version and maxmemory-policy were not checked, since INFO failed: ",
        redis.port()
    );
    assert!(run.errors.starts_with(&warning), "{}", run.errors);
    assert!(
        run.output.contains("usable, Redis of unknown version"),
        "{}",
        run.output
    );
}

#[test]
fn an_address_that_is_not_a_redis_is_named_in_one_line() {
    let folder = folder_with(RULES);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            _ = client.read(&mut [0; 1024]).unwrap();
            client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        }
    });
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &format!("redis://{address}")]).failure();
    assert!(
        line.starts_with(&format!("{address} does not answer like a Redis ("))
            && line.ends_with("); is this its address?"),
        "{line}"
    );
}

#[test]
fn rules_are_accepted_as_by_other_subcommands() {
    let folder = folder_with(RULES);
    let of = |arguments: &[&str]| Run::in_a_pipe(folder.path(), arguments).success();
    assert_eq!(of(&["check", "--rules", "rules.toml"]), of(&["check", "rules.toml"]));
}

/// A file in Latin-1.
#[test]
fn a_file_that_is_not_utf_8() {
    let folder = folder_with(RULES);
    fs::write(folder.file("latin1.toml"), b"# Zo\xeb\n").unwrap();
    let line = Run::in_a_pipe(folder.path(), &["check", "latin1.toml"]).failure();
    assert!(line.starts_with("latin1.toml:1:5: "), "{line}");
}

#[test]
fn a_valkey_without_lua_is_reported() {
    let folder = folder_with(RULES);
    let valkey = RedisServer::valkey_with(&["--enable-module-command", "yes"]);
    query::<()>(&mut valkey.client(), "MODULE UNLOAD lua");
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &valkey.url()]).failure();
    assert!(
        line.contains("this Valkey was built without Lua, or it was unloaded"),
        "{line}"
    );
}

#[test]
fn a_user_without_rights_is_reported_with_the_missing_commands() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    let rights = "ACL SETUSER limits on >secret ~rate_limit:* +evalsha +script|load";
    query::<()>(&mut redis.client(), rights);
    let store = redis.url().replace("redis://", "redis://limits:secret@");
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &store]).failure();
    assert!(
        line.contains("allow the user the commands and keys in docs/security.md, Other users of Redis")
            && !line.contains("secret"),
        "{line}"
    );
    let store = redis.url().replace("redis://", "redis://limits:wrong@");
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &store]).failure();
    assert!(line.contains("check the user name and the password"), "{line}");
}

/// The Redis user may access keys of one prefix only.
#[test]
fn every_subcommand_keeps_to_its_prefix() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    query::<()>(&mut redis.client(), "ACL SETUSER limits on >secret ~mine:* +@all");
    let store = redis.url().replace("redis://", "redis://limits:secret@");
    assert_eq!(
        Run::in_a_pipe(folder.path(), &["check", "--store", &store]).code,
        Some(1)
    );
    let with = ["--store", &*store, "--prefix", "mine"];
    for arguments in [
        &["check"][..],
        &["simulate", "--quiet"],
        &["peek", "--rules", "rules.toml", "--limit", "all"],
        &["reset", "--rules", "rules.toml", "--limit", "all"],
    ] {
        Run::in_a_pipe(folder.path(), &[arguments, &with].concat()).success();
    }
    assert_eq!(query::<usize>(&mut redis.client(), "DBSIZE"), 0);
}
