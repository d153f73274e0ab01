//! The command line.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Parser, Subcommand};

/// What is kept of a run takes memory, so there is an end to it.
const MAX_MINUTES: f64 = 60.0;

/// Break a Redis that four processes share, and check everything that tollgate promises meanwhile
///
/// Redis fails in another way every few seconds. Meanwhile the processes are asked 400 times a second, and what tollgate promises is
/// checked: that everybody is answered, that no limit is exceeded, that Redis is asked again within a second, and that nothing
/// leaks.
///
/// It needs redis-server 7 or later on the PATH (Debian: apt-get install redis-server). It starts one of its own, on a free port of
/// 127.0.0.1, and ends it. It exits with 0 if every promise was kept, with 1 if one was broken, and with 2 if it could not be run.
#[derive(Parser)]
#[command(
    name = "soak",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct SoakArgs {
    /// For how long to break things: 0.5 is half a minute, and 60 is the most [default: 5]
    #[arg(long, value_name = "M", value_parser = minutes, conflicts_with = "faults")]
    minutes: Option<Duration>,
    /// How many things to break, in place of --minutes
    #[arg(long, value_name = "N")]
    faults: Option<usize>,
    /// The same faults in the same order and the same load; every run prints which seed it has
    #[arg(long, value_name = "N", default_value_t = seed_by_the_clock(), hide_default_value = true)]
    pub(crate) seed: u64,
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
}

#[derive(Subcommand)]
pub(crate) enum Role {
    /// To be one of the four processes. Only this program says so.
    #[command(hide = true)]
    Serve { port: u16, redis: String },
}

/// When to break nothing more.
#[derive(Clone, Copy)]
pub(crate) enum End {
    After(Duration),
    Faults(usize),
}

impl SoakArgs {
    pub(crate) fn end(&self) -> End {
        match self.faults {
            Some(faults) => End::Faults(faults),
            None => End::After(self.minutes.unwrap_or(Duration::from_secs(300))),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(length) => write!(f, "faults for {length:?}"),
            Self::Faults(number) => write!(f, "{number} faults"),
        }
    }
}

fn minutes(given: &str) -> Result<Duration, String> {
    match given.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= MAX_MINUTES => Ok(Duration::from_secs_f64(60.0 * minutes)),
        _ => Err(format!("give a number, more than 0 and at most {MAX_MINUTES}")),
    }
}

/// Small, so that it is easily typed again.
fn seed_by_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() % 100_000
}
