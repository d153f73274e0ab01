//! A cluster returns the same verdicts as memory: with the same state within one slot, and over several slots as long as the
//! clock does not go back.

use std::cell::RefCell;

use tollgate::{AnyAlgorithm, Decision, Key};

use support::{cluster::Cluster, stores::AnyStore};

use crate::parity::{assert_same_states, replay::Replay, run, trace::Action};

#[test]
fn memory_and_one_cluster_slot_agree() {
    let cluster = Cluster::start();
    let redis = AnyStore::cluster(&cluster, "rate_limit");
    let client = RefCell::new(cluster.client_of(cluster.slot_of("{together}")));
    run(1000, async |number, tiers, steps| {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, redis.clone()];
        let key = Key::verbatim(format!("{{together}}{number}"));
        let mut inspect =
            |replay: &Replay<'_>, _: &Decision| assert_same_states(&memory, &mut client.borrow_mut(), replay);
        Replay::with_key(&stores, tiers, number, key)
            .run(&steps, &mut inspect)
            .await;
    });
}

/// A denied request has charged some slots and been refunded, which drains a bucket up to that time. The difference shows only
/// if the rate changes or the last place of a queue is refunded, so such steps are left out.
#[test]
fn memory_and_several_cluster_slots_agree() {
    let cluster = Cluster::start();
    let redis = AnyStore::cluster(&cluster, "rate_limit");
    run(1000, async |number, tiers, mut steps| {
        let queues = tiers
            .iter()
            .any(|tier| matches!(tier.versions[0], AnyAlgorithm::LeakyBucket(_)));
        steps.retain(|(_, action)| match action {
            Action::Acquire(_) | Action::Reset(_) => true,
            Action::Refund(..) | Action::Settle(..) => !queues,
            Action::Change(_) | Action::Back(_) => false,
        });
        let stores = [AnyStore::memory().0, redis.clone()];
        Replay::new(&stores, tiers, number).run(&steps, &mut |_, _| 0).await;
    });
}
