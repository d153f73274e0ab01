//! Puts the gateway together, and takes it down again.

use std::io::{Write, stdout};

use tokio::sync::watch;
use tollgate::{RuleSet, ServerHealth};

use super::{
    admin::{self, Admin},
    args::{GatewayArgs, LogLevel, OnStoreFailure},
    banner::{self, Banner},
    bounds::Timeouts,
    clients::Connections,
    counting::Counting,
    measures::Measures,
    stack::Stack,
    upstream::{Proxy, built_in},
};
use crate::{
    args::OutputArgs,
    common::{failure::Failure, listening::listen, log, rules, runtime, signals::Signals, store::Place},
};

/// For a first try.
const RULES: &str = include_str!("rules.toml");

pub(crate) fn run(args: GatewayArgs, output: OutputArgs) -> Result<(), Failure> {
    match args.log {
        Some(level) => log::start(level.into()),
        None => output.start_log(LogLevel::default().into()),
    }
    let place = args.store.place()?;
    runtime::of_all_cores()?.block_on(serve(args, place, output))
}

async fn serve(args: GatewayArgs, place: Place, output: OutputArgs) -> Result<(), Failure> {
    let signals = Signals::listen();
    let rules = match &args.rules {
        Some(file) => rules::watch(file)?,
        None => RuleSet::parse(RULES)?,
    };
    let measures = Measures::start();
    let counting = Counting::at(&place, args.on_store_failure, args.store_timeout)?;
    let (listener, listening) = listen(args.listen, "--listen")?;
    let administered = match args.admin {
        Some(address) => Some(listen(address, "--admin")?),
        None => None,
    };
    let (is_built_in, upstream) = match args.upstream {
        Some(upstream) => (false, upstream),
        None => (
            true,
            built_in::start()
                .await
                .map_err(|error| format!("nothing to pass on to: {error}"))?,
        ),
    };
    if !output.quiet {
        let banner = Banner {
            listening,
            rules: (args.rules.as_deref(), &rules),
            limited: !args.no_limits,
            store: store(&counting, args.on_store_failure).await,
            upstream: &upstream,
            is_built_in,
            admin: administered.as_ref().map(|(_, address)| *address),
        };
        // A reader that closes the pipe has read enough.
        write!(stdout(), "{banner}").ok();
    }

    let (end, ending) = watch::channel(false);
    tokio::spawn(measures.clone().upkeep());
    if let Some((listener, _)) = administered {
        let (rules, counting, measures, ending) = (rules.clone(), counting.clone(), measures.clone(), ending.clone());
        let admin = Admin {
            rules,
            counting,
            measures,
            ending,
        };
        tokio::spawn(admin::serve(listener, admin));
    }
    let timeouts = Timeouts {
        client: args.client_timeout,
        upstream: args.upstream_timeout,
    };
    let proxy = Proxy::new(upstream, timeouts, rules.clone(), measures.clone());
    let limits = (!args.no_limits).then_some((&counting, rules));
    let stack = Stack::new(proxy, limits, measures.clone());
    let connections = Connections::new(timeouts, measures);
    let mut serving = tokio::spawn(connections.serve(listener, stack, ending));
    tokio::select! {
        _ = &mut serving => return Ok(()),
        _ = signals.any() => tracing::info!("shutting down: requests in flight are finished"),
    }
    // Whoever is asked a second time ends at once.
    let again = Signals::listen();
    end.send_replace(true);
    tokio::select! {
        _ = serving => {}
        _ = again.any() => {}
    }
    Ok(())
}

/// Asked once, so that whoever starts the gateway learns of a wrong address. It may also come later.
async fn store(counting: &Counting, on_failure: OnStoreFailure) -> banner::Store {
    let Some(redis) = counting.redis() else {
        return banner::Store::Memory;
    };
    let health = match redis.check().await {
        Ok(()) => redis.health().to_string(),
        Err(error) => {
            let health = redis.health();
            let addresses: Vec<_> = health.servers().iter().map(ServerHealth::address).collect();
            format!("{}: Redis cannot be asked now: {error}", addresses.join(", "))
        }
    };
    banner::Store::Redis { health, on_failure }
}
