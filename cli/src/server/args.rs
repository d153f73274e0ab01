//! The arguments that all servers have.

use std::{fmt, net::SocketAddr, time::Duration};

use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;

use crate::common::{duration::parse_duration, listen::parse_address, store::StoreArgs};

/// For `--help`.
pub(crate) const ADMIN_ENDPOINTS: &str = "\
Endpoints of the admin address:
  GET    /healthz                  health of the server and its store
  GET    /metrics                  metrics for Prometheus
  GET    /limits                   the current rules, as JSON
  GET    /keys/<limit>/<identity>  the state of one key, for example
                                   /keys/user/x-user-id:alice?plan=pro
  DELETE /keys/<limit>/<identity>  resets the key to its full quota";

#[derive(Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// What to do with requests while Redis fails
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) on_store_failure: OnStoreFailure,
    /// How long a request may wait for Redis [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) store_timeout: Option<Duration>,
    /// The address for operators [default: none]. A bare port listens on 127.0.0.1. There is no authentication, and clients of
    /// this address can reset keys: keep it private
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub(crate) admin: Option<SocketAddr>,
    /// How long a client may take to send a request head, or to send or receive the next part of a body, and how long its
    /// connection may be idle
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub(crate) client_timeout: Duration,
    /// The log level, in place of -q or -v. debug logs every denied request [default: info]
    #[arg(long, value_name = "LEVEL", value_enum, conflicts_with_all = ["quiet", "verbose"])]
    pub(crate) log: Option<LogLevel>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum OnStoreFailure {
    /// Admit them without checking limits
    #[default]
    Open,
    /// Reject them with 503
    Closed,
    /// Count them in the memory of each process
    Local,
}

impl fmt::Display for OnStoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open: requests are admitted unchecked while it fails",
            Self::Closed => "closed: requests are rejected while it fails",
            Self::Local => "local: each process counts in memory while it fails",
        })
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}
