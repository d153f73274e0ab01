//! The arguments of `tollgate service`.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::Args;

use crate::{
    common::{duration::parse_duration, listen::parse_address},
    server::{ADMIN_ENDPOINTS, ServerArgs},
};

const DEFAULT_GRPC_PORT: u16 = 8081;
const DEFAULT_HTTP_PORT: u16 = 8082;

const ENDPOINTS: &str = "\
Endpoints of the HTTP address:
  GET    /check                    200 if the request may pass, 429 if a limit
                                   denies it. The proxy describes the request:
                                   X-Forwarded-Method, X-Forwarded-Uri, and the
                                   request's own headers
  GET    /check?deny=403           403 instead of 429, for nginx, whose
                                   auth_request accepts only 401 and 403
  GET    /healthz                  health of the server and its store

The gRPC address has Envoy's rate limit API, envoy.service.ratelimit.v3.";

const TRUST: &str = "\
List the proxies in [trust] of the rules file: the service ignores client
addresses in X-Forwarded-For, and headers that only proxies may set, from all
other peers. Both addresses are for proxies only: keep them private.

Ctrl-C, SIGTERM or SIGHUP shuts it down gracefully; a second signal ends
it immediately. Changes of the rules file take effect without a restart.";

/// Run a server that tells proxies which requests may pass: nginx, Traefik, Caddy and Envoy
///
/// Without arguments it uses built-in rules, to try it with curl.
#[derive(Args)]
#[command(after_help = format!("{ENDPOINTS}\n\n{ADMIN_ENDPOINTS}\n\n{TRUST}"))]
pub(crate) struct ServiceArgs {
    /// The rules file, reloaded whenever it changes [default: built-in sample rules]
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The address for Envoy [default: 127.0.0.1:8081, none if only --http is given]. A bare port listens on 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    grpc: Option<SocketAddr>,
    /// The address for nginx, Traefik and Caddy [default: 127.0.0.1:8082, none if only --grpc is given]. A bare port listens on
    /// 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// How long a graceful shutdown waits for requests in flight
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub(crate) drain_timeout: Duration,
}

/// The addresses to listen on, at least one.
pub(crate) struct Addresses {
    pub(crate) grpc: Option<SocketAddr>,
    pub(crate) http: Option<SocketAddr>,
}

impl ServiceArgs {
    pub(crate) fn addresses(&self) -> Addresses {
        let local = |port| Some((Ipv4Addr::LOCALHOST, port).into());
        match (self.grpc, self.http) {
            (None, None) => Addresses {
                grpc: local(DEFAULT_GRPC_PORT),
                http: local(DEFAULT_HTTP_PORT),
            },
            (grpc, http) => Addresses { grpc, http },
        }
    }
}
