//! A cluster gives the same verdicts as memory: with the same state within a slot, and over several slots while the clock
//! does not step back.

use std::cell::RefCell;

use tollgate::{Decision, Key, Rule};

use support::{cluster::Cluster, stores::AnyStore};

use crate::parity::{play::Play, run, same_states, trace::Action};

#[test]
fn memory_and_a_slot_agree() {
    let cluster = Cluster::start();
    let redis = AnyStore::cluster(&cluster, "rate_limit");
    let client = RefCell::new(cluster.client_of(cluster.slot_of("{together}")));
    run(1000, async |number, tiers, steps| {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, redis.clone()];
        let key = Key::verbatim(format!("{{together}}{number}"));
        let mut look = |play: &Play<'_>, _: &Decision| same_states(&memory, &mut client.borrow_mut(), play);
        Play::with_key(&stores, tiers, number, key).run(&steps, &mut look).await;
    });
}

/// A refused request has charged some slots and given it back, which leaves a trace: a bucket has been drained until then.
/// It tells no difference until its rate changes, or a place in a queue is given back that was the last one.
#[test]
fn memory_and_several_slots_agree() {
    let cluster = Cluster::start();
    let redis = AnyStore::cluster(&cluster, "rate_limit");
    run(1000, async |number, tiers, mut steps| {
        let queues = tiers
            .iter()
            .any(|tier| matches!(tier.versions[0], Rule::LeakyBucket(_)));
        steps.retain(|(_, action)| match action {
            Action::Acquire(_) | Action::Reset(_) => true,
            Action::Refund(..) | Action::Settle(..) => !queues,
            Action::Change(_) | Action::Back(_) => false,
        });
        let stores = [AnyStore::memory().0, redis.clone()];
        Play::new(&stores, tiers, number).run(&steps, &mut |_, _| 0).await;
    });
}
