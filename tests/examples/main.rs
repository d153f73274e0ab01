//! Every example is run, as its first lines say, and asked what it says one should try.
#![cfg(all(feature = "redis", feature = "axum"))]

mod grpc;
mod outcomes;
mod plots;
mod rules;
mod simulate;
mod soak;
#[path = "../support/mod.rs"]
mod support;
mod waiting;

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use reqwest::{Client, Response};
use support::redis::{RedisServer, keys};

/// An example, as a program of its own.
fn example(name: &str) -> Command {
    let test = env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(
        program.exists(),
        "no example {name}: `cargo build --examples` builds them"
    );
    let mut command = Command::new(program);
    command
        .env_remove("REDIS_URL")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// An example that serves until it is killed, and where.
struct Server {
    program: Child,
    at: String,
}

impl Server {
    fn start(mut example: Command) -> Self {
        let mut program = example.env("LISTEN", "127.0.0.1:0").spawn().unwrap();
        let mut output = BufReader::new(program.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let at = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("{line:?}"));
        let at = at.split(',').next().unwrap().to_owned();
        // Whoever stops reading a pipe stops its writer.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Self { program, at }
    }

    async fn get(&self, path: &str, header: (&str, &str)) -> Response {
        let request = Client::new().get(format!("{}{path}", self.at));
        request.header(header.0, header.1).send().await.unwrap()
    }

    /// The statuses of so many requests in a row.
    async fn statuses(&self, times: usize, path: &str, header: (&str, &str)) -> Vec<u16> {
        let mut statuses = Vec::new();
        for _ in 0..times {
            statuses.push(self.get(path, header).await.status().as_u16());
        }
        statuses
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
    }
}

fn header(response: &Response, name: &str) -> String {
    response.headers()[name].to_str().unwrap().to_owned()
}

#[test]
fn every_example_is_told_of_and_opens_with_how_to_run_it() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("examples/README.md")).unwrap();
    for entry in fs::read_dir(root.join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let main = match path.is_dir() {
            true => path.join("main.rs"),
            false if path.extension().is_some_and(|extension| extension == "rs") => path.clone(),
            false => continue,
        };
        let run = format!("--example {}", path.file_stem().unwrap().display());
        let text = fs::read_to_string(&main).unwrap();
        let opening = text.lines().take_while(|line| line.starts_with("//!"));
        assert!(opening.collect::<String>().contains(&run), "{path:?}");
        assert!(readme.contains(&run), "{path:?}");
    }
}

/// The numbers that hold whenever the minute turns while this runs: no window is waited for.
async fn the_classic_case(server: &Server) {
    for path in ["/api/hello", "/api/some/where?else=1"] {
        let plain = server.get(path, ("x-user-id", "alice")).await;
        assert_eq!(plain.status(), 200);
        assert_eq!(
            header(&plain, "ratelimit-policy"),
            r#""global";q=10000;w=60, "user";q=100;w=60"#
        );
        assert_eq!(header(&plain, "x-ratelimit-limit"), "100");
    }
    let expensive = server.get("/api/expensive", ("x-user-id", "alice")).await;
    let policy = r#""global";q=10000;w=60, "user";q=100;w=60, "expensive";q=10;w=60"#;
    assert_eq!(header(&expensive, "ratelimit-policy"), policy);

    // A burst of thirty, of which not even the turn of a minute would let twenty pass.
    let mut refused = Vec::new();
    for _ in 0..30 {
        let response = server.get("/api/expensive", ("x-user-id", "bob")).await;
        refused.extend((response.status() == 429).then_some(response));
    }
    assert!(refused.len() >= 10);
    for refused in refused {
        let wait = header(&refused, "retry-after");
        let message = format!("Too many requests. Please retry after {wait} seconds.");
        let message = message.replace(" 1 seconds", " 1 second");
        let body = format!(r#"{{"error":"rate_limit_exceeded","message":"{message}","retry_after":{wait}}}"#);
        assert_eq!(refused.text().await.unwrap(), body);
    }

    // Bob's other requests, and those of others, pass.
    assert_eq!(server.get("/api/hello", ("x-user-id", "bob")).await.status(), 200);
    assert_eq!(server.get("/api/expensive", ("x-other", "")).await.status(), 200);
}

#[tokio::test]
async fn quickstart_in_memory() {
    the_classic_case(&Server::start(example("quickstart"))).await;
}

#[tokio::test]
async fn quickstart_on_redis_is_shared_by_as_many_as_are_started() {
    let redis = RedisServer::start();
    let start = || {
        let mut quickstart = example("quickstart");
        quickstart.env("REDIS_URL", redis.url());
        Server::start(quickstart)
    };
    let [first, second] = [start(), start()];
    the_classic_case(&first).await;
    // What the first has admitted is spent at the second. (At the turn of a minute, one more passes.)
    let statuses = second.statuses(3, "/api/expensive", ("x-user-id", "bob")).await;
    assert!(statuses.contains(&429), "{statuses:?}");
    assert!(keys(&mut redis.client()).contains(&"rate_limit:sliding_counter:user:60000000:1:user:bob".to_owned()));
}

#[test]
fn quickstart_says_what_is_wrong() {
    for (variable, value, words) in [
        ("REDIS_URL", "redis://127.0.0.1:1", "is it running"),
        ("REDIS_URL", "127.0.0.1", "it must be like redis://HOST:PORT"),
        ("LISTEN", "nowhere", "LISTEN=ADDRESS:PORT says where"),
    ] {
        let output = example("quickstart").env(variable, value).output().unwrap();
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(words) && error.lines().count() == 1, "{error}");
    }
}

#[tokio::test]
async fn per_route() {
    let server = Server::start(example("per_route"));
    let login = || Client::new().post(format!("{}/login", server.at)).send();
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(login().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429]);
    assert_eq!(server.statuses(9, "/login", ("x-none", "")).await, [200; 9]);
    assert_eq!(server.statuses(9, "/healthz", ("x-none", "")).await, [200; 9]);
    for (path, policy) in [
        ("/search", r#""search";q=5;w=1"#),
        ("/notes/1", r#""default";q=60;w=60"#),
    ] {
        assert_eq!(
            header(&server.get(path, ("x-none", "")).await, "ratelimit-policy"),
            policy
        );
    }
}

#[tokio::test]
async fn tiers() {
    let server = Server::start(example("tiers"));
    for (user, policy) in [
        ("alice", r#""burst";q=5;w=5, "user";q=100;w=3600"#),
        ("paula", r#""burst";q=5;w=5, "user";q=10000;w=3600"#),
    ] {
        let response = server.get("/", ("x-user-id", user)).await;
        assert_eq!(header(&response, "ratelimit-policy"), policy);
        assert!(response.text().await.unwrap().starts_with("global: "));
    }
}

#[tokio::test]
async fn custom_key() {
    let server = Server::start(example("custom_key"));
    let user = |name| server.statuses(9, "/me", ("authorization", name));
    assert_eq!(user("Bearer token-of-root").await, [200; 9]);
    assert!(user("Bearer token-of-alice").await.contains(&429));
    let nameless = server.get("/tenant", ("host", "localhost")).await;
    assert_eq!(nameless.status(), 400);
    assert!(nameless.text().await.unwrap().contains("call it as TENANT.example.com"));
    assert_eq!(server.get("/tenant", ("host", "acme.example.com")).await.status(), 200);
    assert_eq!(server.get("/reports/1", ("x-none", "")).await.status(), 400);
    assert!(
        server
            .statuses(9, "/reports/1", ("x-api-key", "secret"))
            .await
            .contains(&429)
    );
}

#[test]
fn not_http() {
    let output = example("not_http").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["acme: 1 became 2", "acme: 2 became 4"]);
    assert!(lines[2].starts_with("acme: Too many requests."), "{text}");
    assert_eq!(lines[3], "initech: 4 became 8");
    assert_eq!(lines.len(), 9);
}

#[test]
fn compare_is_the_same_on_both_stores() {
    let memory = example("compare").output().unwrap();
    assert!(memory.status.success());
    let redis = RedisServer::start();
    let shared = example("compare").env("REDIS_URL", redis.url()).output().unwrap();
    let [memory, shared] = [memory, shared].map(|output| String::from_utf8(output.stdout).unwrap());
    assert_eq!(memory, shared);
    assert!(
        memory.contains("fixed_window          10      10   go ahead"),
        "{memory}"
    );
}
