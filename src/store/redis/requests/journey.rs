//! A batch's way to whoever has its keys.
//!
//! What may have been done is never sent again. But a Redis that says `MOVED`, `ASK`, `TRYAGAIN`, `NOPERM` or `NOAUTH`
//! says so before it does anything, and then the batch goes on: to somebody else, a little later, or one by one.

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

/// How often a batch is sent on: a cluster that sends it in circles is no help.
const HOPS: usize = 8;

/// How long to wait for keys that are on their way before they are asked for again.
const ON_THEIR_WAY: Duration = Duration::from_millis(5);

/// Sends a batch to whoever has its keys, and answers everybody in it.
pub(crate) async fn send(shared: &Arc<Shared>, slot: Slot, mut batch: Batch) {
    let (mut hops, mut logged_in) = (0, false);
    // Whom this batch has been referred to, and nobody else.
    let mut referred: Option<Arc<Server>> = None;
    loop {
        let (server, told) = match referred.take() {
            Some(server) => (server, Told::ToAsk),
            None => match owner(shared, slot, &mut batch).await {
                Some(server) => (server, Told::Nothing),
                None => return,
            },
        };
        let asked = exchange::ask(shared, &server, told, &mut batch).await;
        let Err(refused) = asked else {
            // It may be the call that was one failure too many.
            return probe::server(shared, &server);
        };
        match (refused.remedy(), &shared.servers) {
            (Remedy::Moved(to), Servers::Cluster(cluster)) if hops < HOPS => {
                hops += 1;
                cluster.moved(slot, &refused.server, &to);
            }
            (Remedy::Ask(to), Servers::Cluster(cluster)) if hops < HOPS => {
                hops += 1;
                referred = cluster.node(&refused.server, &to);
            }
            // Whoever asks for nothing that is forbidden, or on its way, need not suffer for those who do.
            (Remedy::Split | Remedy::TryAgain, _) if batch.requests.len() > 1 => {
                for alone in batch.split() {
                    Box::pin(send(shared, slot, alone)).await;
                }
                return;
            }
            (Remedy::TryAgain, _) => {
                if batch.within(sleep(ON_THEIR_WAY)).await.is_none() {
                    return;
                }
            }
            (Remedy::LogIn, _) if !logged_in => {
                logged_in = true;
                refused.line.retire();
            }
            _ => {
                refused.fail(shared, &mut batch);
                return probe::server(shared, &server);
            }
        }
    }
}

/// Whoever has the keys, if it is worth asking; otherwise everybody is told why not.
async fn owner(shared: &Arc<Shared>, slot: Slot, batch: &mut Batch) -> Option<Arc<Server>> {
    let found = match &shared.servers {
        Servers::One(server) => Ok(Arc::clone(server)),
        Servers::Cluster(cluster) => match cluster.owner(slot) {
            Some(server) => Ok(server),
            None => find(shared, cluster, slot, batch).await?,
        },
    };
    let worth_asking = found.and_then(|server| {
        batch.bound_for(&server);
        let checked = server.breaker.check(batch.requests.len());
        checked.inspect_err(|_| probe::server(shared, &server))?;
        Ok(server)
    });
    worth_asking.inspect_err(|error| batch.fail(error)).ok()
}

/// Finds out who has a slot, while anybody in the batch waits for it.
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
            return Some(cluster.owner(slot).ok_or_else(|| cluster.nobody(slot)));
        }
        Some(Err(error)) => StoreError::before_sending(cluster.address(), error),
        None if batch.is_silence(begun) => batch.late(),
        None => return None,
    };
    entrance.failed(&failure);
    probe::cluster(shared, cluster);
    Some(Err(failure))
}
