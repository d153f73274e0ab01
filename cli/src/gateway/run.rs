//! Puts the gateway together, and takes it down again.

use std::io::{Write, stdout};

use tokio::sync::watch;
use tollgate::{RuleSet, ServerHealth};

use crate::{
    admin::{self, Admin},
    arguments::{OnStoreFailure, Options},
    banner::{self, Banner},
    clients::Connections,
    common::{listening::listen, signals::Signals},
    counting::Counting,
    measures::Measures,
    stack::Stack,
    upstream::{Proxy, built_in},
};

pub(crate) async fn run(options: Options) -> Result<(), String> {
    let signals = Signals::listen();
    let rules = RuleSet::watch(&options.rules).map_err(|error| error.to_string())?;
    let measures = Measures::start();
    let counting = Counting::at(options.store, options.on_store_failure);
    let (listener, listening) = listen(options.listen, "--listen")?;
    let administered = match options.admin {
        Some(address) => Some(listen(address, "--admin")?),
        None => None,
    };
    let (is_built_in, upstream) = match options.upstream {
        Some(upstream) => (false, upstream),
        None => (
            true,
            built_in::start()
                .await
                .map_err(|error| format!("nothing to pass on to: {error}"))?,
        ),
    };
    let banner = Banner {
        listening,
        rules: (options.rules.display().to_string(), &rules),
        limited: options.limited,
        store: store(&counting, options.on_store_failure).await,
        upstream: &upstream,
        is_built_in,
        admin: administered.as_ref().map(|(_, address)| *address),
    };
    // Whoever has read enough may close the pipe.
    write!(stdout(), "{banner}").ok();

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
    let proxy = Proxy::new(upstream, options.timeouts, rules.clone(), measures.clone());
    let limits = options.limited.then_some((&counting, rules));
    let stack = Stack::new(proxy, limits, measures.clone());
    let connections = Connections::new(options.timeouts, measures);
    let mut serving = tokio::spawn(connections.serve(listener, stack, ending));
    tokio::select! {
        _ = &mut serving => return Ok(()),
        _ = signals.any() => tracing::info!("ending: those who are served are served to the end"),
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
