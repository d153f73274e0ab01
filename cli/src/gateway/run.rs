//! Starts the gateway and shuts it down.

use std::io::{Write, stdout};

use tokio::sync::watch;
use tollgate::{NodeHealth, RuleSet};

use super::{
    admin::{self, AdminState},
    args::{GatewayArgs, LogLevel, OnStoreFailure},
    banner::{Banner, StoreLine},
    connection::Timeouts,
    listener::Listener,
    metrics::GatewayMetrics,
    service::GatewayService,
    store::GatewayStore,
    upstream::{Proxy, echo},
};
use crate::{
    args::OutputArgs,
    common::{
        listen::bind,
        output::{self, Failure},
        rules,
        runtime::{self, Signals},
        store::StoreConfig,
    },
};

const SAMPLE_RULES: &str = include_str!("rules.toml");

pub(crate) fn run(args: GatewayArgs, output: OutputArgs) -> Result<(), Failure> {
    match args.log {
        Some(level) => output::start_log(level.into()),
        None => output.start_log(LogLevel::default().into()),
    }
    let store = args.store.config()?;
    runtime::multi_thread()?.block_on(serve(args, store, output))
}

async fn serve(args: GatewayArgs, store: StoreConfig, output: OutputArgs) -> Result<(), Failure> {
    let signals = Signals::install();
    let rules = match &args.rules {
        Some(file) => rules::watch(file)?,
        None => RuleSet::parse(SAMPLE_RULES)?,
    };
    let metrics = GatewayMetrics::install();
    let store = GatewayStore::new(&store, args.on_store_failure, args.store_timeout)?;
    let (listener, listen_address) = bind(args.listen, "--listen")?;
    let admin_listener = match args.admin {
        Some(address) => Some(bind(address, "--admin")?),
        None => None,
    };
    let (is_built_in, upstream) = match args.upstream {
        Some(upstream) => (false, upstream),
        None => (
            true,
            echo::start()
                .await
                .map_err(|error| format!("cannot start the built-in upstream: {error}"))?,
        ),
    };
    if !output.quiet {
        let banner = Banner {
            listen: listen_address,
            rules_file: args.rules.as_deref(),
            rules: &rules,
            has_limits: !args.no_limits,
            store: store_line(&store, args.on_store_failure).await,
            upstream: &upstream,
            is_built_in,
            admin: admin_listener.as_ref().map(|(_, address)| *address),
        };
        // A closed pipe must not stop the gateway.
        write!(stdout(), "{banner}").ok();
    }

    let (shutdown_sender, shutdown) = watch::channel(false);
    tokio::spawn(metrics.clone().run_upkeep());
    if let Some((listener, _)) = admin_listener {
        let state = AdminState {
            rules: rules.clone(),
            store: store.clone(),
            metrics: metrics.clone(),
            shutdown: shutdown.clone(),
        };
        tokio::spawn(admin::serve(listener, state));
    }
    let timeouts = Timeouts {
        client: args.client_timeout,
        upstream: args.upstream_timeout,
    };
    let proxy = Proxy::new(upstream, timeouts, rules.clone(), metrics.clone());
    let limits = (!args.no_limits).then_some((&store, rules));
    let service = GatewayService::new(proxy, limits, metrics.clone());
    let mut server = tokio::spawn(Listener::new(timeouts, metrics).serve(listener, service, shutdown));
    tokio::select! {
        _ = &mut server => return Ok(()),
        _ = signals.recv() => tracing::info!(
            target: "tollgate::gateway",
            "shutting down: draining requests in flight; a second signal ends the gateway immediately"
        ),
    }
    let second = Signals::install();
    shutdown_sender.send_replace(true);
    let drain = async {
        _ = server.await;
        store.return_held().await;
    };
    tokio::select! {
        () = drain => {}
        _ = second.recv() => {}
    }
    Ok(())
}

/// Calls Redis once, so that the banner shows a wrong address. The gateway starts without Redis too.
async fn store_line(store: &GatewayStore, on_failure: OnStoreFailure) -> StoreLine {
    let Some(redis) = store.redis() else {
        return StoreLine::Memory;
    };
    let health = match redis.check().await {
        Ok(()) => redis.health().to_string(),
        Err(error) => {
            let health = redis.health();
            let addresses: Vec<_> = health.nodes().iter().map(NodeHealth::address).collect();
            format!("{}: Redis is unavailable: {error}", addresses.join(", "))
        }
    };
    StoreLine::Redis { health, on_failure }
}
