//! `tollgate check`: what is wrong with a rules file is shown where it is, and a Redis that cannot count is found out.

use std::fs;

use support::{
    project::root,
    redis::{RedisServer, ask},
};

use super::{RULES, Run, folder_with};

/// As docs/cli.md has it: a file with five mistakes.
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

/// The mistakes as they are shown, without colours.
const SHOWN: &str = include_str!("check.txt");

#[test]
fn nothing_is_wrong() {
    let folder = folder_with(RULES);
    let printed = Run::in_a_pipe(folder.path(), &["check", "rules.toml"]).done();
    assert_eq!(
        printed,
        "rules.toml: nothing is wrong: 5 limits
  all      1000 per 315360000s, fixed_window
  user     10 per 315360000s, fixed_window
  partner  10 per 315360000s, fixed_window
  tenant   10 per 315360000s, fixed_window
  pair     10 per 315360000s, fixed_window
"
    );
    assert_eq!(Run::in_a_pipe(folder.path(), &["check", "-q", "rules.toml"]).done(), "");
}

#[test]
fn each_mistake_is_shown_in_its_line() {
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

/// The gateway and the others show the same.
#[test]
fn every_subcommand_shows_what_is_wrong_with_its_rules() {
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

/// The picture in docs/cli.md is what a terminal shows. `OVERWRITE=1` draws it anew.
#[test]
fn the_picture_in_the_docs_is_what_a_terminal_shows() {
    let folder = folder_with(MISTAKES);
    let run = Run::on_a_terminal(folder.path(), &["check", "rules.toml"], &[]);
    assert_eq!(run.code, Some(1));
    let drawn = run.output.replace("\r\n", "\n");
    let svg = anstyle_svg::Term::new().render_svg(&drawn);
    let file = root().join("docs/check.svg");
    if std::env::var_os("OVERWRITE").is_some() {
        fs::write(&file, &svg).unwrap();
    }
    assert!(
        fs::read_to_string(file).unwrap() == svg,
        "docs/check.svg is old: OVERWRITE=1 draws it anew"
    );
}

#[test]
fn several_files_are_all_checked() {
    let folder = folder_with(RULES);
    fs::write(folder.file("wrong.toml"), MISTAKES).unwrap();
    let run = Run::in_a_pipe(folder.path(), &["check", "wrong.toml", "gone.toml", "rules.toml"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.output.starts_with("rules.toml: nothing is wrong: 5 limits\n"),
        "{}",
        run.output
    );
    assert!(
        run.errors
            .contains("\nerror: wrong.toml: 5 things are wrong\nerror: gone.toml: "),
        "{}",
        run.errors
    );
}

#[test]
fn a_file_that_is_no_rules_file_does_not_fill_the_terminal() {
    let folder = folder_with(&"[[limit]]\n".repeat(100));
    let run = Run::in_a_pipe(folder.path(), &["check", "rules.toml"]);
    assert!(
        run.errors
            .ends_with("error: rules.toml: 500 things are wrong, and 450 of them are not shown\n"),
        "{}",
        run.errors
    );
}

#[test]
fn standard_input() {
    let folder = folder_with(RULES);
    let mut command = support::project::tollgate("check");
    command
        .arg("-")
        .stdin(fs::File::open(folder.file("rules.toml")).unwrap());
    assert!(
        Run::of(&mut command)
            .done()
            .starts_with("standard input: nothing is wrong: 5 limits\n")
    );
}

#[test]
fn a_redis_and_a_valkey_that_are_fit() {
    let folder = folder_with(RULES);
    for (server, name) in RedisServer::each().iter().zip(["Redis", "Valkey"]) {
        let url = server.url();
        let printed = Run::in_a_pipe(folder.path(), &["check", "--store", &url]).done();
        let address = url.strip_prefix("redis://").unwrap();
        assert!(
            printed.starts_with(&format!("{address}: nothing is wrong: {name} ")),
            "{printed}"
        );
        assert!(
            printed.ends_with(", scripts run, and this user has the rights that limits need\n"),
            "{printed}"
        );
        // Nothing is left there.
        assert_eq!(ask::<usize>(&mut server.client(), "DBSIZE"), 0);
    }
}

#[test]
fn a_redis_that_would_evict_limits_is_warned_of() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start_with(&["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    let check = || Run::in_a_pipe(folder.path(), &["check", "--store", &redis.url()]);
    let run = check();
    assert_eq!(run.code, Some(0));
    let warning = format!(
        "warning: 127.0.0.1:{}: maxmemory-policy allkeys-lru evicts limits",
        redis.port()
    );
    assert!(run.errors.starts_with(&warning), "{}", run.errors);
    ask::<()>(&mut redis.client(), "CONFIG SET maxmemory-policy volatile-ttl");
    check().done();
}

/// As other editors save it.
#[test]
fn a_file_that_is_no_text() {
    let folder = folder_with(RULES);
    fs::write(folder.file("latin1.toml"), b"# Zo\xeb\n").unwrap();
    let line = Run::in_a_pipe(folder.path(), &["check", "latin1.toml"]).failed();
    assert!(line.starts_with("latin1.toml:1:5: "), "{line}");
}

#[test]
fn a_valkey_without_lua_is_named_as_such() {
    let folder = folder_with(RULES);
    let valkey = RedisServer::valkey_with(&["--enable-module-command", "yes"]);
    ask::<()>(&mut valkey.client(), "MODULE UNLOAD lua");
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &valkey.url()]).failed();
    assert!(
        line.contains("this Valkey was built without Lua, or it was unloaded"),
        "{line}"
    );
}

#[test]
fn a_user_without_rights_is_told_what_is_missing() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    let rights = "ACL SETUSER limits on >secret ~rate_limit:* +evalsha +script|load";
    ask::<()>(&mut redis.client(), rights);
    let store = redis.url().replace("redis://", "redis://limits:secret@");
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &store]).failed();
    assert!(
        line.contains("allow the user the commands that lua/README.md lists") && !line.contains("secret"),
        "{line}"
    );
    let store = redis.url().replace("redis://", "redis://limits:wrong@");
    let line = Run::in_a_pipe(folder.path(), &["check", "--store", &store]).failed();
    assert!(line.contains("check the user name and the password"), "{line}");
}

/// A user who may use keys of one prefix only.
#[test]
fn a_prefix_is_kept_to() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start();
    ask::<()>(&mut redis.client(), "ACL SETUSER limits on >secret ~mine:* +@all");
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
        Run::in_a_pipe(folder.path(), &[arguments, &with].concat()).done();
    }
    assert_eq!(ask::<usize>(&mut redis.client(), "DBSIZE"), 0);
}
