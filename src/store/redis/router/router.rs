//! The router: sends a batch to the node that serves its keys.
//!
//! A batch that may have been executed is never sent again. But a node replies with `MOVED`, `ASK`, `TRYAGAIN`, `NOPERM` or
//! `NOAUTH` before it executes anything, and then the batch is retried: on another node, after a delay, each request alone,
//! or over a new connection.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{
    join_all::join_all,
    node::{Asking, CallEnd, Node},
    slot_map::Slot,
    topology::{Seeds, Topology},
};
use crate::{
    charge::Charge,
    operation::Operation,
    store::redis::{
        batch::Batch,
        error::StoreError,
        protocol::{CallEncoder, ErrorAction},
    },
};

/// The maximal number of redirects per batch, in case the cluster redirects in circles.
const MAX_REDIRECTS: usize = 8;

/// The delay before a retry, while keys are being migrated.
const TRYAGAIN_DELAY: Duration = Duration::from_millis(5);

pub(crate) struct Router {
    pub(crate) topology: Arc<Topology>,
    pub(crate) encoder: CallEncoder,
    /// The timeout of calls that have no caller: probes, and refunds of parts.
    pub(super) timeout: Duration,
}

impl Router {
    pub(crate) fn new(seeds: Seeds, encoder: CallEncoder, timeout: Duration) -> Arc<Self> {
        Arc::new_cyclic(|router: &Weak<Self>| {
            let router = Weak::clone(router);
            let new_probe = move |target| Self::probe(Weak::clone(&router), target);
            Self {
                topology: Topology::new(seeds, Box::new(new_probe)),
                encoder,
                timeout,
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

    /// Sends a batch to the node that serves its keys, and responds to its requests.
    pub(crate) async fn route(&self, slot: Slot, batch: &mut Batch) {
        let (mut redirects, mut has_reauthenticated) = (0, false);
        // The target of an ASK redirect, which applies to this batch only.
        let mut ask_target: Option<Arc<Node>> = None;
        loop {
            let asking = match ask_target {
                Some(_) => Asking::Yes,
                None => Asking::No,
            };
            let Some(node) = self.resolve_node(slot, ask_target.take(), batch).await else {
                return;
            };
            let failed = match node.call(&self.encoder, asking, batch).await {
                CallEnd::Failed(failed) => failed,
                end => return self.finish(end),
            };
            match failed.action() {
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
                    // Concurrently: a request whose keys are being migrated is retried until its deadline.
                    join_all(batch.split().into_iter().map(|single| self.route_single(slot, single))).await;
                    return;
                }
                ErrorAction::TryAgain => {
                    // A migration may take until the deadline, with an ASK redirect before each attempt.
                    redirects = 0;
                    if batch.run_until_deadline(sleep(TRYAGAIN_DELAY)).await.is_none() {
                        return;
                    }
                }
                ErrorAction::Reauthenticate if !has_reauthenticated => {
                    has_reauthenticated = true;
                    failed.invalidate_connection();
                }
                _ => return self.finish(node.fail(failed, batch)),
            }
        }
    }

    /// Routes one request of a batch. Boxed, since the future of [`Self::route`] cannot contain itself.
    fn route_single(&self, slot: Slot, mut single: Batch) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move { self.route(slot, &mut single).await })
    }

    /// Refreshes the slot map if the node is unavailable, since another node may serve its slots by now.
    fn finish(&self, end: CallEnd) {
        if let CallEnd::Unavailable = end {
            self.topology.refresh();
        }
    }

    /// The target of an ASK redirect or the node that serves the slot, if its circuit breaker is closed; otherwise fails the batch.
    async fn resolve_node(&self, slot: Slot, ask_target: Option<Arc<Node>>, batch: &mut Batch) -> Option<Arc<Node>> {
        let found = match ask_target.or_else(|| self.topology.owner(slot)) {
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
        let Some(breaker) = self.topology.discovery_breaker() else {
            return Some(Err(self.topology.unserved(slot)));
        };
        if let Err(open) = breaker.check(batch.len()) {
            return Some(Err(open));
        }
        let started = Instant::now();
        let refresh = self.topology.refresh()?;
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
}
