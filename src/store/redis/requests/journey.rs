//! The router: sends a batch to the node that serves its keys.
//!
//! A batch that may have been executed is never sent again. But a node replies with `MOVED`, `ASK`, `TRYAGAIN`, `NOPERM` or
//! `NOAUTH` before it executes anything, and then the batch is retried: on another node, after a delay, one request at a time,
//! or over a new connection.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{
    batch::Batch,
    exchange::{self, Told},
    probe,
    remedy::Remedy,
    shared::Shared,
};
use crate::store::redis::{
    error::StoreError,
    servers::{Cluster, Server, Servers, Slot},
};

/// The maximal number of redirects per batch, in case the cluster redirects in circles.
const MAX_REDIRECTS: usize = 8;

/// The delay before a retry, while keys are being migrated.
const TRYAGAIN_DELAY: Duration = Duration::from_millis(5);

/// Sends a batch to the node that serves its keys, and answers its requests.
pub(crate) async fn send(shared: &Arc<Shared>, slot: Slot, mut batch: Batch) {
    let (mut redirects, mut logged_in) = (0, false);
    // The target of an ASK redirect, which applies to this batch only.
    let mut ask_target: Option<Arc<Server>> = None;
    loop {
        let (server, asking) = match ask_target.take() {
            Some(server) => (server, Told::ToAsk),
            None => match owner(shared, slot, &mut batch).await {
                Some(server) => (server, Told::Nothing),
                None => return,
            },
        };
        let asked = exchange::ask(shared, &server, asking, &mut batch).await;
        let Err(rejected) = asked else {
            // The call may have opened the circuit breaker.
            return probe::server(shared, &server);
        };
        match (rejected.remedy(), &shared.servers) {
            (Remedy::Moved(to), Servers::Cluster(cluster)) if redirects < MAX_REDIRECTS => {
                redirects += 1;
                cluster.moved(slot, &rejected.server, &to);
            }
            (Remedy::Ask(to), Servers::Cluster(cluster)) if redirects < MAX_REDIRECTS => {
                redirects += 1;
                ask_target = cluster.node(&rejected.server, &to);
            }
            // A request whose own keys are permitted and not being migrated succeeds if it is sent alone.
            (Remedy::Split | Remedy::TryAgain, _) if batch.requests.len() > 1 => {
                for alone in batch.split() {
                    Box::pin(send(shared, slot, alone)).await;
                }
                return;
            }
            (Remedy::TryAgain, _) => {
                if batch.within(sleep(TRYAGAIN_DELAY)).await.is_none() {
                    return;
                }
            }
            (Remedy::LogIn, _) if !logged_in => {
                logged_in = true;
                rejected.line.retire();
            }
            _ => {
                rejected.fail(shared, &mut batch);
                return probe::server(shared, &server);
            }
        }
    }
}

/// The node that serves a slot, if its circuit breaker is closed; otherwise fails the batch.
async fn owner(shared: &Arc<Shared>, slot: Slot, batch: &mut Batch) -> Option<Arc<Server>> {
    let found = match &shared.servers {
        Servers::One(server) => Ok(Arc::clone(server)),
        Servers::Cluster(cluster) => match cluster.owner(slot) {
            Some(server) => Ok(server),
            None => find(shared, cluster, slot, batch).await?,
        },
    };
    let available = found.and_then(|server| {
        batch.bound_for(&server);
        let checked = server.breaker.check(batch.requests.len());
        checked.inspect_err(|_| probe::server(shared, &server))?;
        Ok(server)
    });
    available.inspect_err(|error| batch.fail(error)).ok()
}

/// Discovers the node that serves a slot, while a request of the batch waits for it.
async fn find(
    shared: &Arc<Shared>,
    cluster: &Arc<Cluster>,
    slot: Slot,
    batch: &mut Batch,
) -> Option<Result<Arc<Server>, StoreError>> {
    let entrance = &cluster.entrance;
    if let Err(down) = entrance.check(batch.requests.len()) {
        probe::cluster(shared, cluster);
        return Some(Err(down));
    }
    let begun = Instant::now();
    let failure = match batch.within(cluster.refresh().wait()).await {
        Some(Ok(())) => {
            entrance.answered();
            return Some(cluster.owner(slot).ok_or_else(|| cluster.unserved(slot)));
        }
        Some(Err(error)) => StoreError::before_sending(cluster.address(), error),
        None if batch.is_silence(begun) => batch.late(),
        None => return None,
    };
    entrance.failed(&failure);
    probe::cluster(shared, cluster);
    Some(Err(failure))
}
