//! The router: sends a batch to the node that serves its keys.
//!
//! A batch that may have been executed is never sent again. But a node replies with `MOVED`, `ASK`, `TRYAGAIN`, `NOPERM` or
//! `NOAUTH` before it executes anything, and then the batch is retried: on another node, after a delay, one request at a time,
//! or over a new connection.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{
    node::Node,
    round_trip::{Asking, RoundTrip},
    slot_map::Slot,
    topology::{ProbeTarget, Seeds, Topology},
};
use crate::{
    algorithm::FixedWindow,
    charge::Charge,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
    store::redis::{
        batcher::{Batch, Request},
        circuit_breaker::{Probe, ProbeFuture},
        error::StoreError,
        protocol::{CallEncoder, ErrorAction},
    },
};

/// The maximal number of redirects per batch, in case the cluster redirects in circles.
const MAX_REDIRECTS: usize = 8;

/// The delay before a retry, while keys are being migrated.
const TRYAGAIN_DELAY: Duration = Duration::from_millis(5);

/// The quota of a probe: it is never exhausted, so that a probe always writes, since a read-only Redis has not recovered.
const PROBE_QUOTA: Quota = Quota::per_second(u32::MAX);

pub(crate) struct Router {
    pub(crate) topology: Arc<Topology>,
    pub(crate) encoder: CallEncoder,
    /// The deadline of a probe's call.
    deadline: Duration,
}

impl Router {
    pub(crate) fn new(seeds: Seeds, encoder: CallEncoder, deadline: Duration) -> Arc<Self> {
        Arc::new_cyclic(|router: &Weak<Self>| {
            let router = Weak::clone(router);
            let probes = move |target| Self::probe(Weak::clone(&router), target);
            Self {
                topology: Topology::new(seeds, Box::new(probes)),
                encoder,
                deadline,
            }
        })
    }

    /// The slot of a charge's key.
    pub(crate) fn slot(&self, charge: &Charge) -> Slot {
        self.topology.slot(|| self.encoder.key(charge))
    }

    /// The slot of all charges of an operation, if they share one.
    pub(crate) fn common_slot(&self, operation: &Operation) -> Option<Slot> {
        let mut slots = operation.charges().map(|charge| self.slot(charge));
        let first = slots.next()?;
        slots.all(|slot| slot == first).then_some(first)
    }

    /// Sends a batch to the node that serves its keys, and answers its requests.
    pub(crate) async fn route(&self, slot: Slot, mut batch: Batch) {
        let (mut redirects, mut has_reauthenticated) = (0, false);
        // The target of an ASK redirect, which applies to this batch only.
        let mut ask_target: Option<Arc<Node>> = None;
        loop {
            let (node, asking) = match ask_target.take() {
                Some(node) => (node, Asking::Yes),
                None => match self.resolve_node(slot, &mut batch).await {
                    Some(node) => (node, Asking::No),
                    None => return,
                },
            };
            let call = self.round_trip(&node);
            let Err(rejected) = call.execute(asking, &mut batch).await else {
                return;
            };
            match rejected.action() {
                ErrorAction::Moved(to) if self.topology.is_cluster() && redirects < MAX_REDIRECTS => {
                    redirects += 1;
                    self.topology.moved(slot, &node, &to);
                }
                ErrorAction::Ask(to) if self.topology.is_cluster() && redirects < MAX_REDIRECTS => {
                    redirects += 1;
                    ask_target = self.topology.redirect_target(&node, &to);
                }
                // A request whose own keys are permitted and not being migrated succeeds if it is sent alone.
                ErrorAction::Split | ErrorAction::TryAgain if batch.len() > 1 => {
                    for single in batch.split() {
                        Box::pin(self.route(slot, single)).await;
                    }
                    return;
                }
                ErrorAction::TryAgain => {
                    if batch.run_until_deadline(sleep(TRYAGAIN_DELAY)).await.is_none() {
                        return;
                    }
                }
                ErrorAction::Reauthenticate if !has_reauthenticated => {
                    has_reauthenticated = true;
                    rejected.connection.invalidate();
                }
                _ => return call.fail(rejected, &mut batch),
            }
        }
    }

    /// The node that serves a slot, if its circuit breaker is closed; otherwise fails the batch.
    async fn resolve_node(&self, slot: Slot, batch: &mut Batch) -> Option<Arc<Node>> {
        let found = match self.topology.owner(slot) {
            Some(node) => Ok(node),
            None => self.discover_node(slot, batch).await?,
        };
        let available = found.and_then(|node| {
            batch.set_target(node.address());
            node.breaker.check(batch.len())?;
            Ok(node)
        });
        available.inspect_err(|error| batch.fail(error)).ok()
    }

    /// Discovers the node that serves a slot, while a request of the batch waits for it.
    async fn discover_node(&self, slot: Slot, batch: &mut Batch) -> Option<Result<Arc<Node>, StoreError>> {
        let (Some(breaker), Some(refresh)) = (self.topology.discovery_breaker(), self.topology.refresh()) else {
            return Some(Err(self.topology.unserved(slot)));
        };
        if let Err(open) = breaker.check(batch.len()) {
            return Some(Err(open));
        }
        let started = Instant::now();
        let failure = match batch.run_until_deadline(refresh.wait()).await {
            Some(Ok(())) => {
                breaker.on_success();
                let owner = self.topology.owner(slot);
                return Some(owner.ok_or_else(|| self.topology.unserved(slot)));
            }
            Some(Err(error)) => StoreError::before_sending(self.topology.address(), error),
            None if batch.is_unresponsive(started) => batch.timeout_error(),
            None => return None,
        };
        breaker.on_failure(&failure);
        Some(Err(failure))
    }

    fn round_trip<'a>(&'a self, node: &'a Arc<Node>) -> RoundTrip<'a> {
        RoundTrip {
            topology: &self.topology,
            node,
            encoder: &self.encoder,
        }
    }

    /// The probe of a circuit breaker.
    fn probe(router: Weak<Self>, target: ProbeTarget) -> Probe {
        Box::new(move || -> ProbeFuture {
            let router = router.upgrade();
            match &target {
                ProbeTarget::Discovery => Box::pin(async move {
                    let refresh = router?.topology.refresh()?;
                    Some(refresh.wait().await.is_ok())
                }),
                ProbeTarget::Node(node) => {
                    let node = node.upgrade();
                    Box::pin(async move { Some(router?.has_recovered(&node?).await) })
                }
            }
        })
    }

    /// Whether a call to the node succeeds, as a request's would. A cluster node without slots receives no requests, and counts as
    /// recovered.
    async fn has_recovered(&self, node: &Arc<Node>) -> bool {
        // The node may be removed, and another one may serve its slots.
        if let Some(refresh) = self.topology.refresh() {
            let _ = refresh.wait().await;
        }
        let limit = Limit::new("tollgate.probe", FixedWindow::new(PROBE_QUOTA));
        let charge = |name: &str| Charge::new(limit.clone(), Key::new(name.to_owned()));
        let Some(name) = self
            .topology
            .name_at(node, "probe", |name| self.encoder.key(&charge(name)))
        else {
            return true;
        };
        // Connecting may take longer than the deadline of a call.
        if node.connection().await.is_err() {
            return false;
        }
        let operation = Operation::Acquire(charge(&name).into());
        let (request, answer) = Request::new(operation, Instant::now() + self.deadline);
        let mut batch = Batch::new(vec![request], node.address(), self.deadline, None);
        let call = self.round_trip(node);
        if let Err(rejected) = call.execute(Asking::No, &mut batch).await {
            let is_server_wide = rejected.action().is_server_wide();
            call.fail(rejected, &mut batch);
            return !is_server_wide;
        }
        matches!(answer.await, Ok(Ok(_)))
    }
}
