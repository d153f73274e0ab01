//! What the command line asks for.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use http::HeaderName;

use crate::common::{
    given::{Given, Known},
    place::{Place, place},
};

pub(crate) const HELP: &str = "\
What would these rules have done? Puts recorded requests through a rules file, at the times they came. Nothing is sent
to anybody, and every run starts from nothing.

  cargo run --release -p tollgate-cli --bin simulate -- --rules FILE --log FILE [--user-header NAME] [--store STORE]
  cargo run --release -p tollgate-cli --bin simulate -- --rules FILE --trace FILE [--store STORE]

  --rules FILE         the rules to try
  --log FILE           an access log in the Common or the Combined Log Format: reports what was admitted and refused by
                       which limit, the top keys and the worst minutes
  --user-header NAME   sends the log's user as this header, so that rules can count by user; its sender is the log's
                       host, so rules that take the header from proxies only do without it
  --trace FILE         a JSON object a line, each a request; answers each with a line of JSON, in order
  --store STORE        memory, unless told otherwise, or redis://HOST:PORT, which answers the same; there everything is
                       kept under a prefix of its own and deleted at the end

FILE can be - for standard input. Only answers and reports go to standard output. There is no router here: limits by
route that name no path count all requests as one.

A request of a trace is {\"at_us\":1700000000000000,\"method\":\"GET\",\"path\":\"/api/x\",\"headers\":{\"x-user-id\":\"u1\"},
\"ip\":\"203.0.113.7\",\"cost\":1}. All but at_us may be left out: then it is a GET of / without headers or address, and
costs what the rules say. at_us is in microseconds since 1970 and may go back. A cost of 0 asks without spending.

Try it, from the folder that has Cargo.toml:

  cargo run -p tollgate-cli --bin simulate -- --rules cli/src/simulate/sample.toml --log cli/src/simulate/sample.log
  cargo run -p tollgate-cli --bin simulate -- --rules cli/src/simulate/sample.toml --trace cli/src/simulate/sample.jsonl

It exits with 0 when it is done, with 1 when something cannot be read or the store fails, and with 2 when it was called
the wrong way.
";

const OPTIONS: [Known; 5] = [
    ("--rules", "a file"),
    ("--log", "a file, or - for standard input"),
    ("--user-header", "a header's name, like x-user-id"),
    ("--trace", "a file, or - for standard input"),
    ("--store", "memory or redis://HOST:PORT"),
];

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/simulate/sample");

pub(crate) enum Job {
    Help,
    /// Nothing was given to try.
    Sample,
    Simulate(Options),
}

pub(crate) struct Options {
    pub(crate) rules: PathBuf,
    pub(crate) store: Place,
    pub(crate) recording: Recording,
}

/// What happened once.
pub(crate) enum Recording {
    Trace(PathBuf),
    Log {
        file: PathBuf,
        user_header: Option<HeaderName>,
    },
}

impl Recording {
    pub(crate) fn file(&self) -> &Path {
        match self {
            Self::Trace(file) | Self::Log { file, .. } => file,
        }
    }
}

impl Job {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.peekable();
        if arguments.peek().is_none() {
            return Ok(Self::Sample);
        }
        match Given::read(arguments, &OPTIONS)? {
            Some(given) => Options::read(given).map(Self::Simulate),
            None => Ok(Self::Help),
        }
    }
}

impl Options {
    fn read(mut given: Given) -> Result<Self, String> {
        let rules = given.take("--rules");
        let rules = rules.ok_or("which rules? give them with --rules FILE")?.into();
        let store = given.value("--store", place)?.unwrap_or(Place::Memory);
        let user_header = given.value("--user-header", header)?;
        let recording = match (given.take("--trace"), given.take("--log"), user_header) {
            (Some(_), Some(_), _) => return Err("--trace and --log are both given: give one of them".into()),
            (None, None, _) => return Err("which requests? give them with --log FILE or with --trace FILE".into()),
            (Some(_), None, Some(_)) => {
                return Err("--user-header is for --log: a trace has its headers in \"headers\"".into());
            }
            (Some(file), None, None) => Recording::Trace(file.into()),
            (None, Some(file), user_header) => Recording::Log {
                file: file.into(),
                user_header,
            },
        };
        Ok(Self {
            rules,
            store,
            recording,
        })
    }

    /// For whoever has nothing to try yet.
    pub(crate) fn sample() -> Self {
        Self {
            rules: format!("{SAMPLE}.toml").into(),
            store: Place::Memory,
            recording: Recording::Log {
                file: format!("{SAMPLE}.log").into(),
                user_header: None,
            },
        }
    }
}

fn header(given: &str) -> Result<HeaderName, String> {
    let name = HeaderName::from_bytes(given.as_bytes());
    name.map_err(|_| format!("needs a header's name, like x-user-id, and {given:?} is none"))
}
