//! Finds out at start-up what would fail later.

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

/// What is charged: so much that processes which start together do not get in each other's way.
const CHECK: Quota = Quota::per_second(10_000);

/// How long to wait: a first connection may take its time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Charges limits of its own, corrects the charge and forgets it, at every Redis there is.
pub(super) async fn check(shared: &Arc<Shared>) -> Result<(), StoreError> {
    for server in servers(shared).await? {
        within(server.address(), load(&server)).await?;
        // Between them, a string and a list need every command that the program knows.
        for rule in [FixedWindow::new(CHECK).rule(), SlidingLog::new(CHECK).rule()] {
            let limit = Limit::new("tollgate.check", rule);
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

/// Something to charge whose key belongs there.
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
        // Redis throws out whoever sends so much before he has logged in.
        line.retire();
        StoreError::after_sending(server.address(), error)
    })
}

async fn within<T>(address: &Arc<str>, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = || StoreError::late(address, PATIENCE, true);
    timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(late()))
}

/// Asks with more patience than a request has, and alone.
async fn ask(
    shared: &Arc<Shared>,
    server: &Server,
    charge: &Charge,
    operation: Operation,
) -> Result<Decision, StoreError> {
    let (request, answer) = Request::new(operation, Instant::now() + PATIENCE);
    let batch = Batch::new(vec![request], server.address(), PATIENCE);
    journey::send(shared, shared.slot(charge), batch).await;
    match answer.await.expect("who is in a batch is answered") {
        // Whoever starts wants to know why, and not that it was known.
        Err(StoreError::Down { source, .. }) => Err((*source).clone()),
        answer => answer,
    }
}
