//! The arguments of `tollgate gateway`.

use std::{net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use clap::Args;
use http::{Uri, uri::Authority};

use crate::{
    common::{duration::parse_duration, listen::parse_address},
    server::{ADMIN_ENDPOINTS, ServerArgs},
};

const FORWARDING: &str = "\
Requests are forwarded as they are, except that
- the path is normalized: dot segments, double slashes, percent-encoding;
- X-Forwarded-For gets the address of the client, X-Forwarded-Host and -Proto
  are set unless a trusted proxy has set them, and headers that only trusted
  proxies may set ([trust] in the rules file) are removed from other requests;
- headers that concern only one connection are removed, and Via is added.

Clients and upstream use HTTP/1.1, including WebSockets; TLS is not supported.
Ctrl-C, SIGTERM or SIGHUP shuts it down gracefully; a second signal ends
it immediately. Changes of the rules file take effect without a restart.";

/// Run a reverse proxy that enforces rate limits in front of any service
///
/// Without arguments it uses built-in rules and a built-in upstream, to try it with curl.
#[derive(Args)]
#[command(after_help = format!("{ADMIN_ENDPOINTS}\n\n{FORWARDING}"))]
pub(crate) struct GatewayArgs {
    /// The rules file, reloaded whenever it changes [default: built-in sample rules]
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The address for clients. A bare port listens on 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = parse_address, default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// The upstream service, like http://127.0.0.1:3000 [default: a built-in service that echoes requests]
    #[arg(long, value_name = "URL", value_parser = parse_upstream)]
    pub(crate) upstream: Option<Authority>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// How long the upstream may take to connect, or to send the response head or the next part of a body. It also bounds a
    /// graceful shutdown
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub(crate) upstream_timeout: Duration,
    /// Forward all requests without counting them, to measure the overhead of the limits
    #[arg(long)]
    pub(crate) no_limits: bool,
}

/// Clap prefixes errors with the option and the value.
fn parse_upstream(value: &str) -> Result<Authority, String> {
    let invalid = |reason: &str| format!("{reason}; expected a service, like http://127.0.0.1:3000");
    let uri = Uri::from_str(value).map_err(|error| invalid(&format!("not a URL ({error})")))?;
    match (uri.scheme_str(), uri.path_and_query().map(|path| path.as_str())) {
        (Some("http"), None | Some("/")) => {}
        (Some("http"), Some(_)) => return Err(invalid("a path is not supported: requests have their own")),
        (Some("https"), _) => return Err(invalid("the gateway does not support TLS")),
        _ => return Err(invalid("the URL must begin with http://")),
    }
    match uri.into_parts().authority {
        Some(authority) if authority.as_str().contains('@') => Err(invalid("user information is not supported")),
        Some(authority) if authority.port_u16().is_none() && authority.as_str() != authority.host() => {
            Err(invalid("the port must be a number from 1 to 65535"))
        }
        Some(authority) => Ok(authority),
        None => Err(invalid("the host is missing")),
    }
}
