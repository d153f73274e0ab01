//! Starts a server, and shuts it down after a signal.

use std::{
    future,
    io::{Write, stdout},
    net::SocketAddr,
    path::Path,
};

use tokio::{net::TcpListener, sync::watch};
use tollgate::RuleSet;

use super::{
    ServerArgs,
    admin::{self, AdminState},
    args::LogLevel,
    metrics::ServerMetrics,
    store::ServerStore,
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

/// Starts the log, and runs a server on a runtime of its own.
pub(crate) fn start<F>(
    args: &ServerArgs,
    output: OutputArgs,
    serve: impl FnOnce(StoreConfig) -> F,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    match args.log {
        Some(level) => output::start_log(level.into()),
        None => output.start_log(LogLevel::default().into()),
    }
    let store = args.store.config()?;
    runtime::multi_thread()?.block_on(serve(store))
}

/// What a server has before it listens.
pub(crate) struct Server {
    pub(crate) rules: RuleSet,
    pub(crate) store: ServerStore,
    pub(crate) metrics: ServerMetrics,
    admin: Option<(TcpListener, SocketAddr)>,
    signals: Signals,
    shutdown: watch::Sender<bool>,
}

impl Server {
    /// Loads the rules, watches their file, and binds the admin address. `name` is the prefix of metrics.
    pub(crate) fn new(
        name: &str,
        args: &ServerArgs,
        store: &StoreConfig,
        rules_file: Option<&Path>,
        sample_rules: &str,
    ) -> Result<Self, Failure> {
        let signals = Signals::install();
        let rules = match rules_file {
            Some(file) => rules::watch(file)?,
            None => RuleSet::parse(sample_rules)?,
        };
        let metrics = ServerMetrics::install(name);
        let store = ServerStore::new(store, args.on_store_failure, args.store_timeout)?;
        let admin = match args.admin {
            Some(address) => Some(bind(address, "--admin")?),
            None => None,
        };
        Ok(Self {
            rules,
            store,
            metrics,
            admin,
            signals,
            shutdown: watch::Sender::new(false),
        })
    }

    /// The bound admin address.
    pub(crate) fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|(_, address)| *address)
    }

    /// Becomes true when the server has to end.
    pub(crate) fn shutdown(&self) -> watch::Receiver<bool> {
        self.shutdown.subscribe()
    }

    /// Prints the banner, serves operators, and runs `serving`, which ends after `shutdown` once requests in flight are drained.
    pub(crate) async fn run(self, banner: Option<String>, serving: impl Future<Output = ()> + Send + 'static) {
        if let Some(banner) = banner {
            // A closed pipe must not stop the server.
            stdout().write_all(banner.as_bytes()).ok();
        }
        tokio::spawn(self.metrics.clone().run_upkeep());
        if let Some((listener, _)) = self.admin {
            let state = AdminState {
                rules: self.rules,
                store: self.store.clone(),
                metrics: self.metrics,
                shutdown: self.shutdown.subscribe(),
            };
            tokio::spawn(admin::serve(listener, state));
        }
        let mut serving = tokio::spawn(serving);
        tokio::select! {
            _ = &mut serving => return,
            _ = self.signals.recv() => tracing::info!(
                target: "tollgate::server",
                "shutting down: draining requests in flight; a second signal ends the process immediately"
            ),
        }
        let second = Signals::install();
        self.shutdown.send_replace(true);
        let drain = async {
            _ = serving.await;
            self.store.return_held().await;
        };
        tokio::select! {
            () = drain => {}
            _ = second.recv() => {}
        }
    }
}

/// Returns when the server has to end.
pub(crate) async fn shutdown_requested(mut shutdown: watch::Receiver<bool>) {
    if shutdown.wait_for(|shutdown| *shutdown).await.is_err() {
        future::pending().await
    }
}
