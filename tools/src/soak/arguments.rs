//! What the command line asks for.

use std::{
    ffi::OsString,
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::common::given::{Given, Known};

pub(crate) const HELP: &str = "\
Four server processes share one Redis, which fails in another way every few seconds. Meanwhile they are asked 400 times
a second, and what tollgate promises is checked: that everybody is answered, that no limit is exceeded, that Redis is
asked again within a second, and that nothing leaks.

  cargo run --release -p tollgate-tools --bin soak -- [--minutes M | --faults N] [--seed N]

  --minutes M   for how long to break things, 5 unless told otherwise; 0.5 is half a minute, and 60 is the most
  --faults N    how many things to break, in place of --minutes
  --seed N      the same faults in the same order and the same load; every run says which seed it has

It needs redis-server 7 or later on the PATH (Debian: apt-get install redis-server). It starts one of its own, on a free
port of 127.0.0.1, and ends it. It exits with 0 if every promise was kept, with 1 if one was broken, and with 2 if it
could not be run.
";

const OPTIONS: [Known; 3] = [
    ("--minutes", "a number"),
    ("--faults", "a whole number"),
    ("--seed", "a whole number"),
];

/// What is kept of a run takes memory, so there is an end to it.
const LONGEST: f64 = 60.0;

pub(crate) enum Job {
    Help,
    /// To be one of the four processes. Nobody but this program says so.
    Serve {
        port: u16,
        redis: String,
    },
    Soak(Options),
}

/// When to break nothing more.
#[derive(Clone, Copy)]
pub(crate) enum End {
    After(Duration),
    Faults(usize),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(length) => write!(f, "faults for {length:?}"),
            Self::Faults(number) => write!(f, "{number} faults"),
        }
    }
}

pub(crate) struct Options {
    pub(crate) end: End,
    pub(crate) seed: u64,
}

impl Job {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.peekable();
        if arguments.next_if(|first| first == "--serve").is_some() {
            return Self::serve(arguments).ok_or_else(|| "--serve needs a port and an address".into());
        }
        let Some(mut given) = Given::read(arguments, &OPTIONS)? else {
            return Ok(Self::Help);
        };
        let length = given.value("--minutes", minutes)?;
        let faults = given.value("--faults", whole)?;
        Ok(Self::Soak(Options {
            end: match (length, faults) {
                (Some(_), Some(_)) => return Err("--minutes and --faults are given: give one of them".into()),
                (_, Some(faults)) => End::Faults(faults as usize),
                (length, None) => End::After(length.unwrap_or(Duration::from_secs(300))),
            },
            seed: given.value("--seed", whole)?.unwrap_or_else(by_the_clock),
        }))
    }

    fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let port = arguments.next()?.to_str()?.parse().ok()?;
        let redis = arguments.next()?.into_string().ok()?;
        Some(Self::Serve { port, redis })
    }
}

fn minutes(given: &str) -> Result<Duration, String> {
    match given.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= LONGEST => Ok(Duration::from_secs_f64(60.0 * minutes)),
        _ => Err(format!(
            "needs a number, more than 0 and at most {LONGEST}, and {given:?} is none"
        )),
    }
}

fn whole(given: &str) -> Result<u64, String> {
    given
        .parse()
        .map_err(|_| format!("needs a whole number, and {given:?} is none"))
}

/// Small, so that it is easily typed again.
fn by_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() % 100_000
}
