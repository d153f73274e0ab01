//! The arguments of `tollgate playground`.

use std::net::SocketAddr;

use clap::Args;

use crate::common::{address::address, store::StoreArgs};

/// Try five algorithms side by side in the browser: press for requests, see which pass, and why
///
/// Every open page plays a scene of its own, on a time of its own. Its address holds the whole scene: send it to somebody, and they
/// see what you saw. What is written to Redis is under a prefix of its own, and deleted when the page is closed.
#[derive(Args)]
pub(crate) struct PlaygroundArgs {
    /// Where to serve the page. A bare port listens on 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:4000")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
