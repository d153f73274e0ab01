//! What the command line asks for.

use std::{
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(crate) const HELP: &str = "\
Four server processes share one Redis, which fails in another way every few seconds. Meanwhile they are asked 400 times
a second, and what tollgate promises is checked: that everybody is answered, that no limit is exceeded, that Redis is
asked again within a second, and that nothing leaks.

  cargo run --release --example soak -- [--minutes M] [--seed N]

  --minutes M   for how long to break things, 5 unless told otherwise; 0.5 is half a minute, and 60 is the most
  --seed N      the same faults in the same order and the same load; every run says which seed it has

It needs redis-server 7 or later on the PATH (Debian: apt-get install redis-server). It starts one of its own, on a free
port of 127.0.0.1, and ends it. It exits with 0 if every promise was kept, with 1 if one was broken, and with 2 if it
could not be run.
";

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

pub(crate) struct Options {
    pub(crate) length: Duration,
    pub(crate) seed: u64,
}

impl Job {
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut minutes, mut seed) = (5.0, None);
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--help" | "-h" => return Ok(Self::Help),
                "--serve" => {
                    let port = value("--serve", "a port", arguments.next())?;
                    let redis = value("--serve", "an address", arguments.next())?;
                    return Ok(Self::Serve { port, redis });
                }
                "--minutes" => minutes = value("--minutes", "a number", arguments.next())?,
                "--seed" => seed = Some(value("--seed", "a whole number", arguments.next())?),
                unknown => return Err(format!("there is no option {unknown}")),
            }
        }
        if !(minutes > 0.0 && minutes <= LONGEST) {
            return Err(format!(
                "--minutes {minutes}: it must be more than 0 and at most {LONGEST}"
            ));
        }
        Ok(Self::Soak(Options {
            length: Duration::from_secs_f64(60.0 * minutes),
            seed: seed.unwrap_or_else(by_the_clock),
        }))
    }
}

fn value<T: FromStr>(option: &str, needed: &str, given: Option<String>) -> Result<T, String> {
    let given = given.ok_or_else(|| format!("{option} needs {needed}"))?;
    given
        .parse()
        .map_err(|_| format!("{option} needs {needed}, and {given:?} is none"))
}

/// Small, so that it is easily typed again.
fn by_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() % 100_000
}
