//! The check at start-up, which finds errors before the first request does.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};

use super::{
    batch::{Batch, Request},
    error::StoreError,
    protocol::script,
    router::{Node, Router},
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

/// The timeout of each call, long enough for a first connection.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Acquires, settles and resets a charge under limits for this purpose, on every node.
pub(super) async fn check(router: &Router) -> Result<(), StoreError> {
    for node in nodes(router).await? {
        with_timeout(node.address(), load(&node)).await?;
        // A fixed window is a string and a sliding log a list: together they use every command of the script.
        for algorithm in [
            FixedWindow::new(CHECK_QUOTA).to_any(),
            SlidingLog::new(CHECK_QUOTA).to_any(),
        ] {
            let limit = Limit::new("tollgate.check", algorithm);
            let Some(name) = name_served_by(router, &node, &limit) else {
                continue;
            };
            let charge = charge(&limit, &name);
            let mut decision = execute(router, &node, &charge, Operation::Acquire(charge.clone().into())).await?;
            if let Some(receipt) = decision.take_receipt() {
                execute(router, &node, &charge, Operation::Settle(receipt.settled(1))).await?;
            }
            execute(router, &node, &charge, Operation::Reset(charge.clone().into())).await?;
        }
    }
    Ok(())
}

fn charge(limit: &Limit, name: &str) -> Charge {
    Charge::new(limit.clone(), Key::new(name.to_owned())).with_cost(2)
}

async fn nodes(router: &Router) -> Result<Vec<Arc<Node>>, StoreError> {
    if let Some(refresh) = router.topology.refresh() {
        let refreshed = refresh.wait().await;
        refreshed.map_err(|error| StoreError::before_sending(router.topology.address(), error))?;
    }
    Ok(router.topology.nodes())
}

/// The name of a key that this node serves.
fn name_served_by(router: &Router, node: &Arc<Node>, limit: &Limit) -> Option<String> {
    let key = |name: &str| router.encoder.key(&charge(limit, name));
    router.topology.name_served_by(node, "check", key)
}

async fn load(node: &Node) -> Result<(), StoreError> {
    let handle = node.connection().await?;
    let loaded = script::load().query_async::<()>(&mut handle.connection.clone()).await;
    loaded.map_err(|error| {
        // Redis closes unauthenticated connections that send this much.
        handle.invalidate();
        StoreError::after_sending(node.address(), error)
    })
}

async fn with_timeout<T>(
    address: &Arc<str>,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = || StoreError::timeout(address, CHECK_TIMEOUT, true);
    timeout(CHECK_TIMEOUT, work).await.unwrap_or_else(|_| Err(late()))
}

/// Sends one operation alone, with a longer timeout than a request has.
async fn execute(router: &Router, node: &Node, charge: &Charge, operation: Operation) -> Result<Decision, StoreError> {
    let (request, response) = Request::new(operation, Instant::now() + CHECK_TIMEOUT);
    let mut batch = Batch::new(vec![request], node.address(), CHECK_TIMEOUT, None, None);
    router.route(router.slot(charge), &mut batch).await;
    match response.await.expect("every request of a batch gets a response") {
        // At start-up, the cause is more useful than the state of the circuit breaker.
        Err(StoreError::CircuitOpen { source, .. }) => Err((*source).clone()),
        response => response,
    }
}
