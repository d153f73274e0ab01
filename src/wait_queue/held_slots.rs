//! The slots that a request holds. Releasing them wakes a request that waits for one.

use std::sync::Arc;

use super::WaitQueues;
use crate::{cancellation::RefundGuard, decision::Decision, permit::Permit, store::Store};

/// Releases slots when it is dropped, before its fields are: the store knows of it before a waiting request asks again.
struct HeldSlots<St: Store> {
    _guard: RefundGuard<St>,
    _wake: Wake,
}

/// Wakes the requests at the heads of the queues when it is dropped.
struct Wake(Option<Arc<WaitQueues>>);

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.iter().for_each(|queues| queues.wake_for_slots());
    }
}

/// The permit of the slots that a decision has acquired, if it has any.
#[inline]
pub(crate) fn permit<St: Store>(
    store: &St,
    decision: &mut Decision,
    queues: Option<&Arc<WaitQueues>>,
) -> Option<Permit> {
    let receipt = decision.take_held()?;
    Some(Permit::new(HeldSlots {
        _guard: RefundGuard::new(store.clone(), receipt),
        _wake: Wake(queues.cloned()),
    }))
}
