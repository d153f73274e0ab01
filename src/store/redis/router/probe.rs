//! The probes of circuit breakers: a call to the node, as a request's would be, or the discovery of a cluster's nodes.

use std::sync::{Arc, Weak};

use tokio::time::Instant;

use super::{
    node::{Asking, CallEnd, Node},
    router::Router,
    topology::ProbeTarget,
};
use crate::{
    algorithm::FixedWindow,
    charge::Charge,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
    store::redis::{
        batch::{Batch, Request},
        circuit_breaker::{Probe, ProbeFuture},
        error::StoreError,
    },
};

/// The quota of a probe: it is never exhausted, so that a probe always writes, since a read-only Redis has not recovered.
const PROBE_QUOTA: Quota = Quota::per_second(u32::MAX);

impl Router {
    /// The probe of a circuit breaker.
    pub(super) fn probe(router: Weak<Self>, target: ProbeTarget) -> Probe {
        Box::new(move || -> ProbeFuture {
            let router = router.upgrade();
            match &target {
                ProbeTarget::Discovery => Box::pin(async move {
                    let router = router?;
                    let (refresh, address) = (router.topology.refresh()?, Arc::clone(router.topology.address()));
                    // The store may be dropped while the probe runs.
                    drop(router);
                    let refreshed = refresh.wait().await;
                    Some(refreshed.map_err(|error| StoreError::before_sending(&address, error)))
                }),
                ProbeTarget::Node(node) => {
                    let node = node.upgrade();
                    Box::pin(async move { Some(router?.call_node(&node?).await) })
                }
            }
        })
    }

    /// Calls the node. A cluster node without slots receives no requests, and counts as recovered.
    async fn call_node(&self, node: &Arc<Node>) -> Result<(), StoreError> {
        // The node may be removed, and another one may serve its slots.
        if let Some(refresh) = self.topology.refresh() {
            let _ = refresh.wait().await;
        }
        let limit = Limit::new("tollgate.probe", FixedWindow::new(PROBE_QUOTA));
        let charge = |name: &str| Charge::new(limit.clone(), Key::new(name.to_owned()));
        let key = |name: &str| self.encoder.key(&charge(name));
        let Some(name) = self.topology.name_served_by(node, "probe", key) else {
            return Ok(());
        };
        // Connecting may take longer than the timeout of a call.
        node.connection().await?;
        let operation = Operation::Acquire(charge(&name).into());
        let (request, response) = Request::new(operation, Instant::now() + self.timeout);
        let mut batch = Batch::new(vec![request], node.address(), self.timeout, None, None);
        if let CallEnd::Failed(failed) = node.call(&self.encoder, Asking::No, &mut batch).await {
            let is_server_wide = failed.action().is_server_wide();
            node.fail(failed, &mut batch);
            if !is_server_wide {
                return Ok(());
            }
        }
        response
            .await
            .expect("every request of a batch gets a response")
            .map(drop)
    }
}
