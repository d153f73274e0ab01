//! The check at start-up, which finds errors before the first request does.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};

use super::{
    error::StoreError,
    requests::{Batch, Request, Shared, journey},
    servers::{Server, Servers},
    wire::program,
};
use crate::{
    algorithm::{Algorithm, FixedWindow, SlidingLog},
    charge::Charge,
    decision::Decision,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
};

/// The quota of the check: processes that start at the same time must not deny each other.
const CHECK_QUOTA: Quota = Quota::per_second(10_000);

/// The deadline of each call, long enough for a first connection.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Acquires, settles and resets a charge under limits for this purpose, on every node.
pub(super) async fn check(shared: &Arc<Shared>) -> Result<(), StoreError> {
    for server in servers(shared).await? {
        within(server.address(), load(&server)).await?;
        // A fixed window is a string and a sliding log a list: together they use every command of the script.
        for algorithm in [
            FixedWindow::new(CHECK_QUOTA).to_any(),
            SlidingLog::new(CHECK_QUOTA).to_any(),
        ] {
            let limit = Limit::new("tollgate.check", algorithm);
            let Some(name) = name_at(shared, &server, &limit) else {
                continue;
            };
            let charge = charge(&limit, &name);
            let mut decision = ask(shared, &server, &charge, Operation::Acquire(charge.clone().into())).await?;
            if let Some(receipt) = decision.take_receipt() {
                ask(shared, &server, &charge, Operation::Settle(receipt.settled(1))).await?;
            }
            ask(shared, &server, &charge, Operation::Reset(charge.clone().into())).await?;
        }
    }
    Ok(())
}

fn charge(limit: &Limit, name: &str) -> Charge {
    Charge::new(limit.clone(), Key::new(name.to_owned())).cost(2)
}

async fn servers(shared: &Shared) -> Result<Vec<Arc<Server>>, StoreError> {
    match &shared.servers {
        Servers::One(server) => Ok(vec![Arc::clone(server)]),
        Servers::Cluster(cluster) => {
            let found = cluster.refresh().wait().await;
            found.map_err(|error| StoreError::before_sending(cluster.address(), error))?;
            Ok(cluster.servers())
        }
    }
}

/// The name of a key that this node serves.
fn name_at(shared: &Shared, server: &Arc<Server>, limit: &Limit) -> Option<String> {
    match &shared.servers {
        Servers::One(_) => Some("check".into()),
        Servers::Cluster(cluster) => cluster.name_at(server, |name| shared.prefix.key(&charge(limit, name))),
    }
}

async fn load(server: &Server) -> Result<(), StoreError> {
    let line = server.line().await?;
    let loaded = program::load().query_async::<()>(&mut line.connection.clone()).await;
    loaded.map_err(|error| {
        // Redis closes unauthenticated connections that send this much.
        line.retire();
        StoreError::after_sending(server.address(), error)
    })
}

async fn within<T>(address: &Arc<str>, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = || StoreError::timeout(address, CHECK_TIMEOUT, true);
    timeout(CHECK_TIMEOUT, work).await.unwrap_or_else(|_| Err(late()))
}

/// Sends one operation alone, with a longer deadline than a request has.
async fn ask(
    shared: &Arc<Shared>,
    server: &Server,
    charge: &Charge,
    operation: Operation,
) -> Result<Decision, StoreError> {
    let (request, answer) = Request::new(operation, Instant::now() + CHECK_TIMEOUT);
    let batch = Batch::new(vec![request], server.address(), CHECK_TIMEOUT);
    journey::send(shared, shared.slot(charge), batch).await;
    match answer.await.expect("every request of a batch is answered") {
        // At start-up, the cause is more useful than the state of the circuit breaker.
        Err(StoreError::CircuitOpen { source, .. }) => Err((*source).clone()),
        answer => answer,
    }
}
