//! The command line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Parser, Subcommand};

use crate::scenario::Scenario;

/// The records of a run are kept in memory, so its length is bounded.
const MAX_MINUTES: f64 = 60.0;

/// Inject faults into a Redis that four processes share, and check tollgate's invariants meanwhile
///
/// faults: Redis fails in a different way every few seconds, while the processes receive 400 requests a second. The soak checks that
/// every request is answered, that no limit is exceeded, that the processes use Redis again within a second of its recovery, and that
/// nothing leaks.
///
/// latency: every few seconds, the round trip to Redis changes, up to 0.7 of the deadline, and the rate of requests. Redis does not
/// fail, so the soak checks that it decides, instead of the recovery.
///
/// cluster: one of three nodes becomes slow, freezes or is killed, every few seconds. The soak also checks that the other nodes decide
/// about their users meanwhile, and the failure mode about those of this node.
///
/// It needs redis-server 7 or later on the PATH (Debian: apt-get install redis-server). It starts its own instances on free ports of
/// 127.0.0.1, and stops them. An invariant for which the run had no requests, since the machine stalled, is reported as not checked.
/// The soak exits with 0 if no invariant was violated, with 1 if one was, and with 2 if it could not run.
#[derive(Parser)]
#[command(
    name = "soak",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct SoakArgs {
    /// What happens to Redis
    #[arg(long, value_enum, value_name = "NAME", default_value = "faults")]
    pub(crate) scenario: Scenario,
    /// How long to inject faults, in minutes: 0.5 is half a minute, at most 60 [default: 5]
    #[arg(long, value_name = "M", value_parser = minutes, conflicts_with = "faults")]
    minutes: Option<Duration>,
    /// How many faults to inject, or round trips to set, instead of --minutes
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
    Serve {
        port: u16,
        /// The address of Redis, or of each node of a cluster.
        #[arg(required = true)]
        redis: Vec<String>,
    },
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

impl End {
    /// Describes the run, given what it consists of.
    pub(crate) fn describe(self, unit: &str) -> String {
        match self {
            Self::After(length) => format!("{unit} for {length:?}"),
            Self::Faults(count) => format!("{count} {unit}"),
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
