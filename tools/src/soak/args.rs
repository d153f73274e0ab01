//! The command line.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Parser, Subcommand};

/// The records of a run are kept in memory, so its length is bounded.
const MAX_MINUTES: f64 = 60.0;

/// Inject faults into a Redis that four processes share, and check tollgate's invariants meanwhile
///
/// Redis fails in a different way every few seconds, while the processes receive 400 requests a second. The soak checks that every
/// request is answered, that no limit is exceeded, that the processes use Redis again within a second of its recovery, and that
/// nothing leaks.
///
/// It needs redis-server 7 or later on the PATH (Debian: apt-get install redis-server). It starts its own instance on a free port of
/// 127.0.0.1, and stops it. It exits with 0 if every invariant held, with 1 if one was violated, and with 2 if it could not run.
#[derive(Parser)]
#[command(
    name = "soak",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct SoakArgs {
    /// How long to inject faults, in minutes: 0.5 is half a minute, at most 60 [default: 5]
    #[arg(long, value_name = "M", value_parser = minutes, conflicts_with = "faults")]
    minutes: Option<Duration>,
    /// How many faults to inject, instead of --minutes
    #[arg(long, value_name = "N")]
    faults: Option<usize>,
    /// The seed of the faults, their order and the load; every run prints its seed
    #[arg(long, value_name = "N", default_value_t = seed_from_clock(), hide_default_value = true)]
    pub(crate) seed: u64,
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
}

#[derive(Subcommand)]
pub(crate) enum Role {
    /// Run as one of the four processes; used internally.
    #[command(hide = true)]
    Serve { port: u16, redis: String },
}

/// When to stop injecting faults.
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
            Self::Faults(count) => write!(f, "{count} faults"),
        }
    }
}

fn minutes(given: &str) -> Result<Duration, String> {
    match given.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= MAX_MINUTES => Ok(Duration::from_secs_f64(60.0 * minutes)),
        _ => Err(format!("give a number, more than 0 and at most {MAX_MINUTES}")),
    }
}

/// Short, so that it is easy to type.
fn seed_from_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() % 100_000
}
