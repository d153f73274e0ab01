//! Probes: background calls that close an open circuit breaker when the node has recovered.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{
    batch::Batch,
    exchange::{self, Told},
    queue::Request,
    shared::Shared,
};
use crate::{
    algorithm::FixedWindow,
    charge::Charge,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
    store::redis::servers::{Breaker, Cluster, Probing, Server, Servers},
};

/// The interval between probes. Together with the default connect timeout it is less than a second.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// The quota of a probe: it is never exhausted, so that a probe always writes, since a read-only Redis has not recovered.
const PROBE_QUOTA: Quota = Quota::per_second(u32::MAX);

/// The target of a probe.
enum Patient {
    Server(Weak<Server>),
    /// A cluster whose slot map is not known yet.
    Cluster(Weak<Cluster>),
}

/// Probes a node if its circuit breaker is open.
pub(crate) fn server(shared: &Arc<Shared>, server: &Arc<Server>) {
    keep(shared, &server.breaker, || Patient::Server(Arc::downgrade(server)));
}

/// Probes a cluster if the circuit breaker of its discovery is open.
pub(crate) fn cluster(shared: &Arc<Shared>, cluster: &Arc<Cluster>) {
    keep(shared, &cluster.entrance, || Patient::Cluster(Arc::downgrade(cluster)));
}

/// Starts the probe task, unless it runs. The task ends when a probe succeeds, or when the store or the runtime is dropped.
fn keep(shared: &Arc<Shared>, breaker: &Arc<Breaker>, patient: impl FnOnce() -> Patient) {
    if let Some(probing) = breaker.probing() {
        tokio::spawn(probe(Arc::downgrade(shared), patient(), probing));
    }
}

async fn probe(shared: Weak<Shared>, patient: Patient, probing: Probing) {
    loop {
        sleep(PROBE_INTERVAL).await;
        let Some(shared) = shared.upgrade() else { return };
        let is_back = match &patient {
            Patient::Server(server) => match server.upgrade() {
                Some(server) => answers(&shared, &server).await,
                None => return,
            },
            Patient::Cluster(cluster) => match cluster.upgrade() {
                Some(cluster) => cluster.refresh().wait().await.is_ok(),
                None => return,
            },
        };
        if is_back {
            return probing.0.close();
        }
    }
}

/// Whether a call to the node succeeds, as a request's would. A cluster node without slots receives no requests, and counts as
/// recovered.
async fn answers(shared: &Arc<Shared>, server: &Arc<Server>) -> bool {
    let limit = Limit::new("tollgate.probe", FixedWindow::new(PROBE_QUOTA));
    let name = match &shared.servers {
        Servers::One(_) => Some("probe".into()),
        Servers::Cluster(cluster) => {
            // The node may be removed, and another one may serve its slots.
            let _ = cluster.refresh().wait().await;
            cluster.name_at(server, |name| shared.prefix.key(&charge(&limit, name)))
        }
    };
    let Some(name) = name else { return true };
    // Connecting may take longer than the deadline of a call.
    if server.line().await.is_err() {
        return false;
    }
    let charged = Operation::Acquire(charge(&limit, &name).into());
    let (request, answer) = Request::new(charged, Instant::now() + shared.deadline);
    let mut batch = Batch::new(vec![request], server.address(), shared.deadline);
    if let Err(rejected) = exchange::ask(shared, server, Told::Nothing, &mut batch).await {
        let is_server_wide = rejected.remedy().is_server_wide();
        rejected.fail(shared, &mut batch);
        return !is_server_wide;
    }
    matches!(answer.await, Ok(Ok(_)))
}

fn charge(limit: &Limit, name: &str) -> Charge {
    Charge::new(limit.clone(), Key::new(name.to_owned()))
}
