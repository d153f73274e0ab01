//! The commands of all pages, in blocks without output and in inline code. Those that need no network and change nothing outside of
//! their folder are run; of the others, the packages, targets, features, scripts and options exist.

use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use support::{
    page::{Block, Kind, Page},
    project::{program, root},
    redis::{RedisServer, keys, query},
};

/// The packages of the workspace, as cargo describes them.
struct Workspace(Vec<Value>);

impl Workspace {
    fn read() -> Self {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
        let output = cargo.current_dir(root()).output().unwrap();
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        Self(metadata["packages"].as_array().unwrap().clone())
    }

    fn package(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|package| package["name"] == name)
    }

    /// Whether a package of the workspace depends on a crate.
    fn uses(&self, name: &str) -> bool {
        let dependencies = self.0.iter().filter_map(|package| package["dependencies"].as_array());
        dependencies.flatten().any(|dependency| dependency["name"] == name)
    }
}

fn target<'a>(package: &'a Value, kind: &str, name: Option<&str>) -> Option<&'a Value> {
    let mut targets = package["targets"].as_array()?.iter();
    targets.find(|target| target["kind"][0] == kind && name.is_none_or(|name| target["name"] == name))
}

fn names(value: &Value) -> BTreeSet<&str> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// A command of cargo, by its options.
#[derive(Default)]
struct Cargo<'a> {
    packages: Vec<&'a str>,
    features: Vec<&'a str>,
    /// Kind and name.
    targets: Vec<(&'a str, &'a str)>,
    path: Option<&'a str>,
    /// Whether it tests the library itself.
    is_lib: bool,
    /// Names without an option.
    names: Vec<&'a str>,
    /// The arguments of the program.
    arguments: Vec<&'a str>,
}

impl<'a> Cargo<'a> {
    fn parse(words: &[&'a str]) -> Result<Self, String> {
        let mut cargo = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} has no value"));
            match word {
                "-p" | "--package" | "--exclude" => cargo.packages.push(value()?),
                "--features" => cargo.features.extend(value()?.split(',')),
                "--example" => cargo.targets.push(("example", value()?)),
                "--bin" => cargo.targets.push(("bin", value()?)),
                "--test" => cargo.targets.push(("test", value()?)),
                "--path" => cargo.path = Some(value()?),
                "--profile" | "-e" => drop(value()?),
                "--lib" => cargo.is_lib = true,
                "--release" | "--workspace" | "--dry-run" | "--all-features" | "--all-targets" => {}
                "--" => cargo.arguments = words.by_ref().collect(),
                word if word.starts_with('-') => return Err(format!("unknown option {word}")),
                word => cargo.names.push(word),
            }
        }
        Ok(cargo)
    }

    /// The packages exist, and have the targets and the features, which include those that the targets require.
    fn check(&self, workspace: &Workspace) -> Result<(), String> {
        for name in &self.packages {
            workspace.package(name).ok_or(format!("no package {name}"))?;
        }
        let package = self.packages.first().unwrap_or(&"tollgate");
        let package = workspace.package(package).unwrap();
        let mut enabled = names(&package["features"]["default"]);
        for feature in &self.features {
            package["features"]
                .get(feature)
                .ok_or(format!("no feature {feature}"))?;
            enabled.insert(feature);
        }
        for (kind, name) in &self.targets {
            let target = target(package, kind, Some(name)).ok_or(format!("no {kind} {name}"))?;
            let required = names(&target["required-features"]);
            if !required.is_subset(&enabled) {
                return Err(format!("{kind} {name} requires the features {required:?}"));
            }
        }
        Ok(())
    }
}

fn check_cargo(words: &[&str], workspace: &Workspace) -> Result<(), String> {
    let (command, options) = words.split_first().ok_or("no command")?;
    // Crates that are added or new have features and names of their own.
    if *command == "add" {
        let cargo = Cargo::parse(options)?;
        let unknown = cargo
            .names
            .iter()
            .find(|name| workspace.package(name).is_none() && !workspace.uses(name));
        return unknown.map_or(Ok(()), |name| Err(format!("no crate {name}")));
    }
    if *command == "+nightly" {
        return match options {
            ["fuzz", ..] => Ok(()),
            _ => Err("unknown command of cargo".into()),
        };
    }
    let cargo = Cargo::parse(options)?;
    cargo.check(workspace)?;
    match *command {
        // Without arguments, it is the package of the reader.
        "run" if cargo.packages.is_empty() && cargo.targets.is_empty() => match options {
            [] => Ok(()),
            _ => Err("which program?".into()),
        },
        "run" => {
            let name = cargo.packages.first().unwrap_or(&"tollgate");
            let package = workspace.package(name).unwrap();
            let is_program = !cargo.targets.is_empty() || target(package, "bin", None).is_some();
            match name {
                _ if !is_program => Err(format!("{name} has no program")),
                &"tollgate-cli" => check_tollgate(&cargo.arguments),
                _ => Ok(()),
            }
        }
        "test" => {
            let exists = |filter: &&&str| match cargo.is_lib {
                true => sources(&root().join("src")).contains(&format!("mod {};", filter.rsplit("::").next().unwrap())),
                false => {
                    let path = root().join("tests").join(filter.split("::").next().unwrap());
                    path.exists() || path.with_extension("rs").exists()
                }
            };
            let missing = cargo.names.iter().find(|filter| !exists(filter));
            missing.map_or(Ok(()), |filter| Err(format!("no tests {filter}")))
        }
        "install" => {
            let manifest = root().join(cargo.path.ok_or("no path")?).join("Cargo.toml");
            let manifest = manifest.display().to_string();
            let package = workspace.0.iter().find(|package| package["manifest_path"] == *manifest);
            let program = package.and_then(|package| target(package, "bin", None));
            program.map(drop).ok_or(format!("{manifest} has no program"))
        }
        "publish" => {
            let unpublished = cargo
                .packages
                .iter()
                .find(|name| workspace.package(name).unwrap()["publish"].is_array());
            unpublished.map_or(Ok(()), |name| Err(format!("{name} is not published")))
        }
        "build" | "check" | "new" | "tree" | "audit" => Ok(()),
        command => Err(format!("unknown command {command} of cargo")),
    }
}

/// clap parses what is before `--help`, with the values of options.
fn check_tollgate(words: &[&str]) -> Result<(), String> {
    let output = program("tollgate").args(words).arg("--help").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(printed) }
}

/// The script is executable, and documents its arguments.
fn check_script(script: &str, arguments: &[&str]) -> Result<(), String> {
    let path = root().join(script);
    let mode = fs::metadata(&path).map_err(|_| "no such script")?.permissions().mode();
    if mode & 0o111 == 0 {
        return Err("it is not executable".into());
    }
    let text = fs::read_to_string(path).unwrap();
    if script == "scripts/bench" {
        // Benchmarks are selected by the beginning of their names, which are string literals with an underscore.
        let sources = sources(&root().join("benches/peers/src"));
        let help = fs::read_to_string(root().join("benches/peers/help.txt")).unwrap();
        let unknown = arguments.iter().find(|name| {
            let mut names = sources.split('"').filter(|literal| literal.starts_with(**name));
            let is_option = name.starts_with("--") && help.contains(&format!(" {name} "));
            !is_option && !names.any(|name| name.contains('_') && !name.contains(' '))
        });
        return unknown.map_or(Ok(()), |name| Err(format!("no benchmark {name}")));
    }
    let documents = |argument: &&str| text.contains(&format!(" {argument}")) || text.contains(&format!("{argument})"));
    let unknown = arguments.iter().find(|argument| !documents(argument));
    unknown.map_or(Ok(()), |argument| Err(format!("it does not document {argument}")))
}

/// The Rust files in a folder, recursively.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.map(|path| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(extension) if extension == "rs" => fs::read_to_string(path).unwrap(),
        _ => String::new(),
    });
    texts.collect()
}

/// Checks a command that is not run.
fn check(command: &str, workspace: &Workspace) -> Result<(), String> {
    let words: Vec<_> = command.split_whitespace().collect();
    // Variables of its environment.
    let start = words.iter().position(|word| !word.contains('=')).ok_or("no command")?;
    match &words[start..] {
        ["cargo", rest @ ..] => check_cargo(rest, workspace),
        ["tollgate", rest @ ..] => check_tollgate(rest),
        [script, rest @ ..] if script.starts_with("scripts/") => check_script(script, rest),
        ["cd", folder] if command == format!("cd {folder}") => Ok(()),
        _ => Err("no test runs or checks it".into()),
    }
}

/// The commands of a block.
fn commands(block: &Block) -> Vec<String> {
    let text = block.without_comments().replace("\\\n", " ");
    let commands = text.lines().flat_map(|line| line.split("&&"));
    let commands = commands.map(|command| command.trim().trim_end_matches(" &"));
    let commands = commands.filter(|command| !command.is_empty());
    commands.map(str::to_owned).collect()
}

fn is_command(code: &str) -> bool {
    let words = code.split_whitespace().find(|word| !word.contains('='));
    let is_alone = !code.contains(' ');
    words.is_some_and(|word| word.starts_with("scripts/") || !is_alone && ["cargo", "tollgate"].contains(&word))
}

/// Blocks with `redis-cli` or `printf` are run below, and those with `curl` by tests/examples/documented.rs.
fn is_run(block: &Block) -> bool {
    ["redis-cli ", "printf ", "curl "]
        .iter()
        .any(|program| block.without_comments().contains(program))
}

#[test]
fn commands_name_what_exists() {
    let workspace = Workspace::read();
    let blocks = Page::blocks_of(Kind::Shell);
    let blocks = blocks.iter().filter(|block| !is_run(block));
    let shown = blocks.flat_map(|block| {
        commands(block)
            .into_iter()
            .map(|command| (block.location.clone(), command))
    });
    let pages = Page::current();
    let inline = pages.iter().flat_map(|page| {
        page.inline_code()
            .into_iter()
            .map(|code| (page.path.display().to_string(), code))
    });
    // What follows a pipe is another program.
    let inline = inline
        .filter(|(_, code)| is_command(code))
        .map(|(page, code)| (page, code.split(" | ").next().unwrap().to_owned()));
    let (mut count, mut wrong) = (0, Vec::new());
    for (location, command) in shown.chain(inline) {
        count += 1;
        if let Err(error) = check(&command, &workspace) {
            wrong.push(format!("{location}: {command}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 50, "only {count} commands were found");
}

#[test]
fn a_command_that_names_what_does_not_exist_is_found() {
    let workspace = Workspace::read();
    for command in [
        "cargo run --example quickstart",
        "cargo run --example rules --features rules",
        "cargo run -p tollgate-cli -- playground --listen 4000",
        "cargo install --path cli",
        "cargo add tollgate --features metrics,rules",
        "tollgate gateway --rules rules.toml --listen 8080",
        "REDIS_URL=redis://127.0.0.1:6379 cargo run --example quickstart",
        "scripts/docs hosted",
        "scripts/bench --quick redis_bytes",
        "cargo test --release --lib holder::simulation",
    ] {
        assert_eq!(check(command, &workspace), Ok(()), "{command}");
    }
    for command in [
        "cargo run --example unknown",
        "cargo run --example rules",
        "cargo run --example rules --features unknown",
        "cargo run -p tollgate-cli -- unknown",
        "cargo run -p tollgate-conformance",
        "cargo run -p unknown",
        "cargo run --unknown",
        "cargo install --path conformance",
        "cargo add unknown",
        "cargo test -p tollgate-tests --test core unknown",
        "cargo test --lib unknown",
        "cargo publish -p tollgate-tests",
        "cargo unknown",
        "tollgate unknown",
        "tollgate gateway --unknown",
        "tollgate gateway --listen unknown",
        "scripts/unknown",
        "scripts/need.sh",
        "scripts/docs unknown",
        "scripts/bench unknown",
        "scripts/bench --unknown",
        "unknown",
    ] {
        assert!(check(command, &workspace).is_err(), "{command}");
    }
}

fn shell(script: &str) -> Output {
    Command::new("sh").args(["-c", script]).output().unwrap()
}

fn printed(script: &str) -> String {
    let output = shell(script);
    assert!(
        output.status.success(),
        "{script}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A command with `printf` shows what it prints in a comment.
#[test]
fn commands_print_what_their_comment_says() {
    let blocks = Page::blocks_of(Kind::Shell)
        .into_iter()
        .filter(|block| block.text.contains("printf "));
    let lines = blocks.flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>());
    let mut count = 0;
    for line in lines {
        let (command, comment) = line.split_once(" # ").expect("a comment");
        assert_eq!(printed(command).trim(), comment.trim(), "{command}");
        count += 1;
    }
    assert_eq!(count, 1);
}

/// A key with its time to live in milliseconds.
fn set(server: &RedisServer, key: &str, milliseconds: u64) {
    query::<()>(&mut server.client(), &format!("SET {key} 1 PX {milliseconds}"));
}

#[test]
fn commands_for_redis_do_what_their_pages_say() {
    let blocks = Page::blocks_of(Kind::Shell)
        .into_iter()
        .filter(|block| block.text.contains("redis-cli "));
    let mut ran = BTreeSet::new();
    for block in blocks {
        let server = RedisServer::start();
        let port = server.url().rsplit(':').next().unwrap().to_owned();
        let script = block.text.replace("redis-cli ", &format!("redis-cli -p {port} "));
        if script.contains("ACL SETUSER") {
            // tests/threats/acl.rs compares the rights of this user with those that the store needs.
            assert_eq!(printed(&script), "OK\n", "{}", block.location);
            ran.insert("acl");
        } else if script.contains("-gt 7200000") {
            for (key, milliseconds) in [
                ("rate_limit:long", 9_000_000),
                ("rate_limit:short", 7_100_000),
                ("other", 9_000_000),
            ] {
                set(&server, key, milliseconds);
            }
            shell(&script);
            let mut left = keys(&mut server.client());
            left.sort();
            assert_eq!(left, ["other", "rate_limit:short"], "{}", block.location);
            ran.insert("leap");
        } else {
            panic!("{}: no test runs this block", block.location);
        }
    }
    assert_eq!(ran, BTreeSet::from(["acl", "leap"]));
}
