//! Our side: the store, called as a layer calls it.

use std::sync::Arc;

use tollgate::{Charge, Charges, Key, Limit, Operation, RedisStore, Store};

use crate::tier::Tier;

#[derive(Clone)]
pub struct Ours {
    store: RedisStore,
    tiers: Arc<[(Limit, Vec<Key>)]>,
}

impl Ours {
    pub fn new(store: RedisStore, tiers: &[Tier]) -> Self {
        let tiers = tiers.iter().map(|tier| {
            let keys = tier.identities().map(Key::new).collect();
            (tier.limit(), keys)
        });
        Self {
            store,
            tiers: tiers.collect(),
        }
    }

    /// Whether all tiers admit the request. `number` selects the keys.
    pub async fn acquire(self, number: usize) -> bool {
        let tiers = self.tiers.iter();
        self.admits(tiers.map(|(limit, keys)| (limit, &keys[number % keys.len()])))
            .await
    }

    /// Charges all users of all tiers in one request.
    pub async fn acquire_all(&self) -> bool {
        let tiers = self.tiers.iter();
        self.admits(tiers.flat_map(|(limit, keys)| keys.iter().map(move |key| (limit, key))))
            .await
    }

    async fn admits(&self, keys: impl Iterator<Item = (&Limit, &Key)>) -> bool {
        let mut charges = Charges::new();
        for (limit, key) in keys {
            let charge = Charge::new(limit.clone(), key.clone());
            charges
                .push(charge)
                .expect("no two charges are of the same limit and key");
        }
        let decision = self.store.apply(Operation::Acquire(charges)).await;
        decision.expect("Redis is up").admits()
    }
}
