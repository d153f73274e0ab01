//! The arguments of `tollgate gateway`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use http::uri::Authority;
use tracing::level_filters::LevelFilter;

use super::values;
use crate::common::{address::address, store::StoreArgs};

const AFTER_HELP: &str = "\
The admin address answers
  GET    /healthz                  whether the gateway and its store work
  GET    /metrics                  metrics for Prometheus
  GET    /limits                   the rules in force, as JSON
  GET    /keys/<limit>/<identity>  how one key stands, as in
                                   /keys/user/x-user-id:alice?plan=pro
  DELETE /keys/<limit>/<identity>  gives it all of its quota back

The service gets the request as it was sent, except that X-Forwarded-For names
the client, headers that only proxies may set ([trust] of the rules) are
removed from all other requests, and the path is normalised: no dots, no
doubled slashes, nothing escaped that need not be.

Both sides speak HTTP/1.1, WebSockets included, and neither TLS. Ctrl-C, SIGTERM
or SIGHUP ends it once the requests in flight are answered; a second one ends it
at once. To change rules, change their file.";

/// Limit any service: a reverse proxy that passes requests on, unless the rules deny them
///
/// Without arguments it tries itself out: rules and a small service are built in, and the lines it prints can be tried with curl.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct GatewayArgs {
    /// The rules file, read again whenever it changes [default: rules to try, which are built in]
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Where clients connect. A bare port listens on 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// The service, like http://127.0.0.1:3000 [default: a small one, which is built in and answers what it was sent]
    #[arg(long, value_name = "URL", value_parser = values::upstream)]
    pub(crate) upstream: Option<Authority>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// What happens to requests while Redis fails
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) on_store_failure: OnStoreFailure,
    /// How long Redis may take to decide about a request [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) store_timeout: Option<Duration>,
    /// Where operators look; without it, nowhere. A bare port listens on 127.0.0.1. Anyone who can reach it can
    /// reset keys: keep it private
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) admin: Option<SocketAddr>,
    /// How long a client may take to send a head, or to send or take the next piece of a body, and how long it may rest in
    /// between
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "60s")]
    pub(crate) client_timeout: Duration,
    /// How long the service may take to connect, to answer, or for the next piece of an answer, and how long answers may still
    /// take when the gateway shuts down
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "30s")]
    pub(crate) upstream_timeout: Duration,
    /// How much is logged: at debug, one line per denied request [default: info]
    #[arg(long, value_name = "LEVEL", value_enum, conflicts_with_all = ["quiet", "verbose"])]
    pub(crate) log: Option<LogLevel>,
    /// Count nothing and deny nothing, to see what limits cost
    #[arg(long)]
    pub(crate) no_limits: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum OnStoreFailure {
    /// They are passed on, unchecked
    #[default]
    Open,
    /// They are rejected, with 503
    Closed,
    /// Each gateway counts for itself
    Local,
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
