//! Starts the playground and shuts it down.

use std::{
    io::{Write, stdout},
    net::SocketAddr,
    time::Duration,
};

use clap::Args;
use tokio::{sync::watch, time::timeout};
use tollgate::StoreError;
use tracing::level_filters::LevelFilter;

use super::serve::{self, Sessions};
use crate::{
    args::OutputArgs,
    common::{
        listen::{bind, parse_address},
        output::Failure,
        runtime::{self, Signals},
        store::{RedisConfig, StoreArgs, StoreConfig},
    },
};

const AFTER_HELP: &str = "\
With --store redis://HOST:PORT, counters have a prefix of their own for each
session, below --prefix if that is given.";

/// Try six algorithms side by side in the browser: send requests, see which are admitted, and why
///
/// Every open page has its own session with a simulated clock. The page's URL contains the whole session, so that a link shows
/// others the same. Keys in Redis have a prefix per session, and are deleted when the page is closed.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PlaygroundArgs {
    /// The address of the page. A bare port listens on 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = parse_address, default_value = "127.0.0.1:4000")]
    listen: SocketAddr,
    #[command(flatten)]
    store: StoreArgs,
}

/// The time that sessions have at shutdown to delete their keys.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &PlaygroundArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    let store = args.store.config()?;
    runtime::multi_thread()?.block_on(serve(args, store, output))
}

async fn serve(args: &PlaygroundArgs, store: StoreConfig, output: OutputArgs) -> Result<(), Failure> {
    let signals = Signals::install();
    let location = match &store {
        StoreConfig::Memory => "in memory".to_owned(),
        StoreConfig::Redis(redis) => check(redis)
            .await
            .map_err(|error| format!("--store cannot be used: {error}"))?,
    };
    let (listener, address) = bind(args.listen, "--listen")?;
    if !output.quiet {
        // A closed pipe must not stop the playground.
        writeln!(
            stdout(),
            "playground: open http://{address} in a browser; counters are {location}"
        )
        .ok();
    }

    let shutdown = watch::Sender::new(false);
    let router = serve::router(Sessions::new(store, shutdown.clone()), address.ip().is_loopback());
    tokio::select! {
        served = axum::serve(listener, router) => return Ok(served?),
        _ = signals.recv() => {}
    }
    shutdown.send_replace(true);
    // A session that waits for a stopped Redis has nothing to delete there.
    timeout(SHUTDOWN_TIMEOUT, shutdown.closed()).await.ok();
    Ok(())
}

/// Calls Redis once, so that a wrong address fails here rather than in six lanes.
async fn check(redis: &RedisConfig) -> Result<String, StoreError> {
    let store = redis.builder().build()?;
    store.check().await?;
    Ok(format!("on Redis at {}", store.health().nodes()[0].address()))
}
