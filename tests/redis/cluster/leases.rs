//! Leases on a cluster: a limit for everyone takes no call to its slot from most requests.

use std::time::Duration;

use tollgate::{Charge, Charges, FixedWindow, Key, Limit, Operation, Quota, RedisStore, Store};

use support::{cluster::Cluster, redis::calls};

const USERS: u64 = 100;
const NODES: usize = 2;

fn everyone() -> Charge {
    let limit = Limit::new("everyone", FixedWindow::new(Quota::per_day(100_000)).anchored());
    Charge::new(limit.lease(Duration::from_secs(30)), Key::GLOBAL)
}

fn request(user: u64) -> Charges {
    let limit = Limit::new("user", FixedWindow::new(Quota::per_day(3)).anchored());
    let mut charges = Charges::from(everyone());
    charges.push(Charge::new(limit, Key::named("user", user))).unwrap();
    charges
}

/// The calls of all nodes of the cluster.
fn all_calls(cluster: &Cluster) -> u64 {
    let nodes = cluster.nodes.iter();
    nodes.map(|node| calls(&mut node.client(), "evalsha")).sum()
}

#[tokio::test]
async fn a_leased_tier_is_decided_without_its_slot() {
    let cluster = Cluster::start();
    let nodes: [RedisStore; NODES] = std::array::from_fn(|_| cluster.store().build().unwrap());
    let (mut admitted, mut denied) = (0, 0);
    for round in 0..5 {
        let before = all_calls(&cluster);
        for user in 0..USERS {
            let request = Operation::Acquire(request(user));
            let decision = nodes[user as usize % NODES].apply(request).await.unwrap();
            assert_eq!(decision.admits(), round < 3, "{round}");
            assert_eq!(decision.tiers()[0].limit().name(), "everyone");
            *if decision.admits() { &mut admitted } else { &mut denied } += 1;
        }
        // In the first round, the key has yet to be seen often enough.
        let calls = all_calls(&cluster) - before;
        assert!(round == 0 || calls < USERS + USERS / 5, "{calls} in round {round}");
    }
    assert_eq!((admitted, denied), (3 * USERS, 2 * USERS));
    for node in &nodes {
        node.return_leases().await;
    }
    let peek = Operation::Peek(everyone().with_cost(0).into());
    let peeked = nodes[0].apply(peek).await.unwrap();
    assert_eq!(peeked.tiers()[0].verdict().remaining(), 100_000 - admitted);
}
