//! A batch's way to whoever has its keys.
//!
//! What may have been done is never sent again. But a Redis that says `MOVED`, `ASK`, `TRYAGAIN`, `NOPERM` or `NOAUTH`
//! says so before it does anything, and then the batch goes on: to somebody else, a little later, or one by one.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    Shared,
    batch::Batch,
    cluster::Slot,
    exchange::{self, Told},
    probe,
    remedy::Remedy,
    server::Server,
    servers::Servers,
};

/// How often a batch is sent on: a cluster that sends it in circles is no help.
const HOPS: usize = 8;

/// How long to wait for keys that are on their way before they are asked for again.
const ON_THEIR_WAY: Duration = Duration::from_millis(5);

/// Sends a batch to whoever has its keys, and answers everybody in it.
pub(super) async fn send(shared: &Arc<Shared>, slot: Slot, mut batch: Batch) {
    let (mut hops, mut logged_in) = (0, false);
    // Whom this batch has been referred to, and nobody else.
    let mut referred: Option<Arc<Server>> = None;
    loop {
        let told = match referred.take() {
            Some(server) => exchange::ask(shared, &server, Told::ToAsk, &mut batch).await,
            None => {
                let Some(server) = owner(shared, slot, &mut batch).await else {
                    return;
                };
                exchange::ask(shared, &server, Told::Nothing, &mut batch).await
            }
        };
        let Err(refused) = told else { return };
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
            _ => return refused.fail(shared, &mut batch),
        }
    }
}

/// Whoever has the keys, if it is worth asking; otherwise everybody is told why not.
async fn owner(shared: &Arc<Shared>, slot: Slot, batch: &mut Batch) -> Option<Arc<Server>> {
    let found = match &shared.servers {
        Servers::One { server, .. } => Ok(Arc::clone(server)),
        Servers::Cluster(cluster) => match cluster.owner(slot) {
            Some(server) => Ok(server),
            None => cluster.find(shared, slot, batch).await?,
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
