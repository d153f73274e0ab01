//! Finds out when a Redis that is not asked any more is back, so that no request has to.

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

/// How long to wait between two looks. Together with the patience for a connection it is less than a second.
const INTERVAL: Duration = Duration::from_millis(250);

/// What a look charges: so much is allowed that it always writes, since a Redis that only reads is not back.
const PROBE: Quota = Quota::per_second(u32::MAX);

/// Who is looked after.
enum Patient {
    Server(Weak<Server>),
    /// A cluster of which nobody has said yet who has which keys.
    Cluster(Weak<Cluster>),
}

/// Looks after a Redis that is not asked.
pub(crate) fn server(shared: &Arc<Shared>, server: &Arc<Server>) {
    keep(shared, &server.breaker, || Patient::Server(Arc::downgrade(server)));
}

/// Looks after a cluster that nobody could be found in.
pub(crate) fn cluster(shared: &Arc<Shared>, cluster: &Arc<Cluster>) {
    keep(shared, &cluster.entrance, || Patient::Cluster(Arc::downgrade(cluster)));
}

/// The task ends when Redis is back, and when the store or the runtime is gone.
fn keep(shared: &Arc<Shared>, breaker: &Arc<Breaker>, patient: impl FnOnce() -> Patient) {
    if let Some(probing) = breaker.probing() {
        tokio::spawn(probe(Arc::downgrade(shared), patient(), probing));
    }
}

async fn probe(shared: Weak<Shared>, patient: Patient, probing: Probing) {
    loop {
        sleep(INTERVAL).await;
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

/// Whether a call is answered as a request's would have to be. A node of a cluster that has no keys is not asked, and
/// nothing can be said against it.
async fn answers(shared: &Arc<Shared>, server: &Arc<Server>) -> bool {
    let limit = Limit::new("tollgate.probe", FixedWindow::new(PROBE));
    let name = match &shared.servers {
        Servers::One(_) => Some("probe".into()),
        Servers::Cluster(cluster) => {
            // It may be gone for good, and another have its keys.
            let _ = cluster.refresh().wait().await;
            cluster.name_at(server, |name| shared.prefix.key(&charge(&limit, name)))
        }
    };
    let Some(name) = name else { return true };
    // To connect may take longer than a call.
    if server.line().await.is_err() {
        return false;
    }
    let charged = Operation::Acquire(charge(&limit, &name).into());
    let (request, answer) = Request::new(charged, Instant::now() + shared.deadline);
    let mut batch = Batch::new(vec![request], server.address(), shared.deadline);
    if let Err(refused) = exchange::ask(shared, server, Told::Nothing, &mut batch).await {
        let speaks_of_all = refused.remedy().speaks_of_all();
        refused.fail(shared, &mut batch);
        return !speaks_of_all;
    }
    matches!(answer.await, Ok(Ok(_)))
}

fn charge(limit: &Limit, name: &str) -> Charge {
    Charge::new(limit.clone(), Key::new(name.to_owned()))
}
